"""Models of other providers and live ones: their structured output, decoding and wrappers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientResponseError, RequestInfo
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphInterrupt
from multidict import CIMultiDict, CIMultiDictProxy
from pydantic import PrivateAttr, SecretStr
from yarl import URL

from dialectree.errors import CallError, KeyRefused, RequestError, SettingsError, Unreachable
from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.models import specs
from dialectree.models.chat_models import text_of
from dialectree.models.endpoints import ATTEMPTS
from dialectree.models.specs import resolve
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.protocols.settings import ProtocolSettings, build_settings
from tests.graphs.role_switching_debate.switching import QUESTION, TWO, given
from tests.models.asking import GOOD, RULE, QuickClock, Rule, kept, lines, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, fails, says, sends
from tests.scripted import ScriptedModel

pytestmark = pytest.mark.anyio


USAGE: Any = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


class ToolModel(BaseChatModel):
    """A model that replies by calling the tool that it is given."""

    model: str = "tools"
    temperature: float = 1.0
    seed: int | None = None
    num_predict: int | None = None
    base_url: str = ""
    fails_with: str = ""
    _calls: list[Mapping[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "tools"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=tools, tool_choice=tool_choice, **kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the door asks without blocking")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        own = {"seed": self.seed, "temperature": self.temperature, "limit": self.num_predict}
        self._calls.append({**own, **kwargs, "stop": stop, "messages": messages})
        if self.fails_with and kwargs.get("tools"):
            raise RuntimeError(self.fails_with)
        message = AIMessage(GOOD, usage_metadata=USAGE)
        if kwargs.get("tools"):
            call: Any = {"name": "Rule", "args": json.loads(GOOD), "id": "1"}
            message = AIMessage("", tool_calls=[call], usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])


MADE: list[ToolModel] = []


class ChatOllama(ToolModel):
    """Stands in for the model of a provider's package."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        MADE.append(self)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> list[ToolModel]:
    """The package langchain-ollama, as far as it is needed."""
    package = ModuleType("langchain_ollama")
    package.ChatOllama = ChatOllama  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain_ollama", package)
    specs.require.cache_clear()
    MADE.clear()
    return MADE


def test_a_provider_is_asked_by_its_own_structured_output(ollama: list[ToolModel], tmp_path: Any) -> None:
    context = build_settings(ProtocolSettings, model="ollama:llama@http://127.0.0.1:1", cache=False)
    with kept(tmp_path / "calls.jsonl", context) as run:
        assert asyncio.run(question(context, run, max_tokens=99)) == RULE
    (asked,) = [call for model in ollama for call in model._calls]
    assert (asked["limit"], asked["temperature"], type(asked["seed"])) == (99, 0.7, int)
    assert asked["tools"][0]["title"] == "Rule"
    assert {model.base_url for model in ollama} == {"http://127.0.0.1:1"}
    (call,) = lines(tmp_path / "calls.jsonl")
    assert (call.model, call.prompt_tokens, call.completion_tokens) == ("ollama:llama", 11, 7)
    assert json.loads(call.reply or "") == json.loads(GOOD)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (HumanMessage("größer als 水"), "größer als 水"),
        (
            AIMessage([{"type": "text", "text": "größer"}, {"type": "text", "text": " als 水"}]),
            "größer als 水",
        ),
        (
            AIMessage("", tool_calls=[{"name": "r", "args": {"a": "größer als 水"}, "id": "1"}]),
            '{"a": "größer als 水"}',
        ),
        (
            AIMessage(
                "", invalid_tool_calls=[{"name": "r", "args": '{"a": "größer', "id": "1", "error": None}]
            ),
            '{"a": "größer',
        ),
    ],
)
def test_a_reply_is_its_text_or_what_its_tool_was_called_with_letter_by_letter(
    message: BaseMessage, text: str
) -> None:
    assert text_of(message) == text


@pytest.mark.parametrize(
    ("spec", "says_"),
    [
        ("cohere:command", "command needs a package .*: pip install langchain-cohere"),
        ("opnai:gpt", r"no provider 'opnai'; did you mean openai:gpt\?"),
        ("nosuch:gpt", "no provider 'nosuch': write openai:NAME, .*anthropic.*ollama"),
    ],
)
def test_what_a_provider_lacks_is_said_before_anything_runs(spec: str, says_: str) -> None:
    with pytest.raises(SettingsError, match=says_):
        resolve(spec, build_settings(ProtocolSettings, model=spec))


def test_the_key_of_a_provider_goes_to_no_address_of_a_stranger(
    ollama: list[ToolModel], tmp_path: Any
) -> None:
    (tmp_path / "dialectree.toml").write_text('model = "ollama:llama@http://evil.example"')
    context = build_settings(ProtocolSettings, cache=False)
    with pytest.raises(SettingsError, match=r"not sent to http://evil\.example: .*toml"):
        asyncio.run(question(context))
    assert not ollama


# Live models


def live(model: Any, **more: Any) -> ProtocolSettings:
    return ProtocolSettings(model=model, cache=False, **more)


def test_a_live_model_keeps_its_decoding_and_gets_a_seed() -> None:
    model = ToolModel(temperature=0.2)
    assert asyncio.run(question(live(model))) == RULE
    (asked,) = model._calls
    assert (asked["temperature"], type(asked["seed"])) == (0.2, int)
    seeded = ToolModel(seed=5)
    assert asyncio.run(question(live(seeded))) == RULE
    assert seeded._calls[0]["seed"] == 5


def test_a_live_model_whose_tools_are_refused_is_asked_in_words(quick: QuickClock) -> None:
    class Refused(Exception):
        status_code = 400

    class Plain(ToolModel):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
            if kwargs.get("tools"):
                raise Refused("tool_choice is not supported")
            return await super()._agenerate(*args, **kwargs)

    model = Plain()
    context = live(model)
    for node in ("0.0", "0.1"):
        assert asyncio.run(question(context, node=node)) == RULE
    assert len(model._calls) == 2
    assert "JSON Schema" in model._calls[0]["messages"][0].text


async def test_a_live_chat_openai_keeps_its_arguments_and_survives_a_reply_that_is_cut_off() -> None:

    async with ScriptedEndpoint(fails(500), says(GOOD[:20], "length"), says(GOOD)) as served:
        model = ChatOpenAI(
            model="o-any-pro",
            base_url=served.url,
            api_key=SecretStr("none"),
            max_retries=0,
            extra_body={"own": 1},
        )
        assert await question(live(model.bind(top_p=0.5))) == RULE
        assert served.formats == ["json_schema"] * 3
        assert {(body["own"], body["top_p"]) for body in served.bodies} == {(1, 0.5)}
        assert {*served.paths} == {"/v1/chat/completions"}


def test_a_model_without_a_key_and_what_is_no_model_are_refused() -> None:
    with pytest.raises(KeyRefused, match="lacks a valid key"):
        asyncio.run(question(live(ToolModel(fails_with="Could not resolve authentication method"))))
    with pytest.raises(SettingsError, match="RunnableLambda is no chat model"):
        asyncio.run(question(live(RunnableLambda(lambda text: text))))


def test_a_live_model_keeps_what_was_bound_to_it_and_its_fallbacks() -> None:
    first, second = ToolModel(fails_with="overloaded"), ToolModel()
    chat = first.bind(extra="kept").with_fallbacks([second.bind(stop=["END"])])
    assert asyncio.run(question(live(chat))) == RULE
    assert [call["extra"] for call in first._calls] == ["kept"]
    assert [call["stop"] for call in second._calls] == [["END"]]
    assert first._calls[0]["tools"] and second._calls[0]["tools"]


# Their errors mean what an endpoint's mean, and none is lost


class ProviderError(Exception):
    """An error as a library that is not OpenAI's tells of a status."""

    def __init__(self, status: int, text: str = "no", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = SimpleNamespace(headers={k.replace("_", "-"): v for k, v in headers.items()})


def client_response_error(status: int) -> ClientResponseError:
    """The error of aiohttp's raise_for_status, by which some libraries tell of a status."""
    url = URL("http://127.0.0.1/")
    request = RequestInfo(url, "POST", CIMultiDictProxy(CIMultiDict()), url)
    return ClientResponseError(request, (), status=status, message="no")


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
    return asyncio.run(question(build_settings(ProtocolSettings, model=model))), len(model.calls)


@pytest.mark.parametrize(
    "error",
    [ProviderError(500), client_response_error(500), ConnectError("refused"), ValueError("no generations")],
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
        (client_response_error(401), KeyRefused),
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


# The mark behind which Anthropic's API need not read a prompt again


CLAUDE_SAYS: dict[str, dict[str, Any]] = {
    "ProposalReply": {"argument": "So it is.", "answer": TWO[0]},
    "RebuttalReply": {"errors": [], "defence": "It still is."},
    "SwitchReply": {"argument": "It is otherwise."},
    "UncertaintyReply": {"unsure_of": "Little.", "would_settle": "A look.", "percent": 70},
    "JudgeReply": {"rationale": "Sound.", "label": "A", "answer": TWO[0], "confidence": 0.8},
}


def claude_says(body: Any) -> Answer:
    """A reply in Anthropic's API: a call of the tool that stands for the schema.

    The first rebuttal has to be repaired.
    """
    (tool,) = body["tools"]
    filled = CLAUDE_SAYS[tool["name"]]
    if tool["name"] == "RebuttalReply" and len(body["messages"]) == 1:
        filled = {}
    used = {"type": "tool_use", "id": "1", "name": tool["name"], "input": filled}
    usage = {"input_tokens": 9, "output_tokens": 5}
    message = {"id": "1", "type": "message", "role": "assistant", "model": "claude"}
    return sends({**message, "content": [used], "stop_reason": "tool_use", "usage": usage})


async def test_anthropics_models_are_told_where_the_shared_part_of_a_prompt_ends() -> None:
    langchain_anthropic = pytest.importorskip("langchain_anthropic")
    async with ScriptedEndpoint(choose=claude_says) as served:
        url = served.url.removesuffix("/v1")
        claude = langchain_anthropic.ChatAnthropic(model="claude-any", base_url=url, api_key="none")
        await graph.ainvoke(given(TWO), context=build_settings(Settings, model=claude, cache=False))
    assert len(served.bodies) == 9 + 2
    shared = []
    for body in served.bodies:
        marked, rest = body["messages"][0]["content"]
        assert marked["cache_control"] == {"type": "ephemeral"} and "cache_control" not in rest
        shared.append(marked["text"])
    assert {*shared[:2]} == {f"<question>\n{QUESTION}\n</question>"}
    assert all(text.endswith("\n</transcript>") for text in shared[2:])
    crossed, repaired, *_ = shared[2:]
    assert crossed == repaired and len({*shared[2:]}) == 5
