"""Live models of any library: their errors mean what an endpoint's mean, and none is lost."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from langgraph.errors import GraphInterrupt
from pydantic import SecretStr

from dialectree.errors import CallError, KeyRefused, RequestError, Unreachable
from dialectree.models.endpoints import ATTEMPTS
from dialectree.protocols.settings import ProtocolSettings, build
from tests.models.asking import RULE, QuickClock, Rule, question
from tests.scripted import ScriptedModel


class ProviderError(Exception):
    """An error as a library that is not OpenAI's tells of a status."""

    def __init__(self, status: int, text: str = "no", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = SimpleNamespace(
            headers={k.replace("_", "-"): v for k, v in headers.items()}
        )


class ConnectError(Exception):
    """Nobody is there, by the name that HTTP clients give it."""


class KeyedModel(ScriptedModel):
    """A model that has its key."""

    api_key: SecretStr = SecretStr("sk-own-key")


def failing(*errors: BaseException) -> ScriptedModel:
    """A model that raises ``errors``, one a call, and answers then."""
    model = KeyedModel()
    model.will_say(*errors, to=Rule)
    model.will_say(RULE)
    return model


def ask(*errors: BaseException) -> tuple[Rule, int]:
    """The reply of a model that fails at first, and how often it was asked."""
    model = failing(*errors)
    return asyncio.run(question(build(ProtocolSettings, model=model))), len(model.calls)


@pytest.mark.parametrize(
    "error",
    [ProviderError(500), ConnectError("refused"), ValueError("no generations")],
    ids=repr,
)
def test_what_may_pass_is_tried_again(error: Exception, quick: QuickClock) -> None:
    assert ask(error) == (RULE, 2)


def test_a_rate_limit_is_waited_for_as_long_as_is_asked(quick: QuickClock) -> None:
    assert ask(*[ProviderError(429, retry_after="7")] * 9) == (RULE, 10)
    assert sum(quick.slept) >= 9 * 7


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError(401), KeyRefused),
        (ProviderError(400), RequestError),
        (ProviderError(404), RequestError),
        (ConnectError("refused"), Unreachable),
    ],
)
def test_a_status_that_ends_a_run_is_said_as_an_endpoints(
    error: Exception, kind: type[Exception], quick: QuickClock
) -> None:
    with pytest.raises(kind, match="live:KeyedModel") as said:
        ask(*[error] * 99)
    assert "OPENAI_API_KEY" not in str(said.value)


def test_an_unknown_error_is_the_failure_of_its_part_and_names_no_key(quick: QuickClock) -> None:
    with pytest.raises(CallError, match=f"in {ATTEMPTS} attempts.*RuntimeError: no: ") as said:
        ask(*[RuntimeError("no: sk-own-key")] * ATTEMPTS)
    assert "sk-own-key" not in str(said.value)


@pytest.mark.parametrize("error", [GraphInterrupt(), KeyRefused("no"), ZeroDivisionError("slip")])
def test_what_is_no_failure_of_the_model_passes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        ask(error)
