"""Several debates in one run of a host: each has settings, a budget and an end of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from dialectree.errors import BudgetReached, SettingsError
from dialectree.flow.state import Debate
from dialectree.graphs.tree_structured_debate.baselines import single_shot
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.settings import build, settings
from tests.scripted import ScriptedModel

QUESTION: Any = {"question": "Is it so?"}


def answering(*first: BaseException) -> ScriptedModel:
    """A model that raises ``first``, one a call, and answers then."""
    model = ScriptedModel()
    model.will_say(*first, to=AnswererReply)
    model.will_say(AnswererReply(answer="Yes.", explanation="So.", confidence=0.9))
    return model


async def debate(context: Any) -> Any:
    return (await single_shot.ainvoke(QUESTION, context=context))["verdict"]["answer"]


def hosted(work: Any, **node: Any) -> Any:
    """What a host's graph comes to that does ``work`` in its only node."""
    builder = StateGraph(Debate)
    builder.add_node("work", work, **node)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    return asyncio.run(builder.compile().ainvoke(QUESTION))


def test_each_settings_have_a_budget_of_their_own_in_a_hosts_run() -> None:
    async def work(_: Debate) -> None:
        small, large = (build(Settings, model=answering(), max_calls=calls) for calls in (1, 100))
        assert await debate(small) == await debate(large) == "Yes."
        with pytest.raises(BudgetReached):
            await debate(small)

    hosted(work)


# A host with a context of its own


@dataclass
class Own:
    user: str = "somebody"
    dialectree: Settings | dict[str, Any] | None = None


def within(context: Any, schema: Any = None) -> Any:
    """The answer of a debate that is a node of a host with ``context``."""
    builder = StateGraph(Debate, context_schema=schema)
    builder.add_node("debate", single_shot)
    builder.add_edge(START, "debate")
    builder.add_edge("debate", END)
    found = asyncio.run(builder.compile().ainvoke(QUESTION, context=context))
    return found["verdict"]["answer"]


def test_what_a_host_hands_on_may_be_a_mapping_as_it_comes_from_json() -> None:
    given = {"model": answering(), "max_calls": 1}
    assert within(Own(dialectree=given), Own) == "Yes."
    assert within({"user": "somebody", "dialectree": given}) == "Yes."
    assert within({"user": "somebody", "dialectree": given}, Own) == "Yes."
    for context in (Own(dialectree=given), {"user": "somebody", "dialectree": given}):
        assert settings(given_as(context), Settings) is settings(given_as(context), Settings)
    with pytest.raises(SettingsError, match="user: there is no such setting"):
        within({"dialectree": {**given, "user": "somebody"}})


def test_a_hosts_context_without_settings_is_refused_in_one_line() -> None:
    with pytest.raises(SettingsError, match=r"\(Own\) holds no settings") as said:
        within(Own(), Own)
    assert "\n" not in str(said.value)
    with pytest.raises(SettingsError, match=r"\(dict\) holds no settings"):
        within({"user": "somebody", "dialectree": None})
    with pytest.raises(SettingsError, match="user: there is no such setting"):
        within({"user": "somebody"})


def given_as(context: Any) -> Any:
    """What a node is given where its caller passed ``context``."""
    return type("Runtime", (), {"context": context})


@pytest.mark.parametrize("given", [None, {"max_depth": 1}], ids=["nothing", "a mapping"])
def test_what_a_host_does_not_set_follows_the_environment_and_the_file(
    given: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runtime = given_as(given)
    seen = []
    for name in ("one", "two"):
        monkeypatch.setenv("DIALECTREE_MODEL", f"openai:{name}")
        seen.append(settings(runtime, Settings))
        assert settings(runtime, Settings) is seen[-1]
    monkeypatch.delenv("DIALECTREE_MODEL")
    for text in ('model = "openai:three"', 'model = "openai:fourth"'):
        (tmp_path / "dialectree.toml").write_text(text)
        seen.append(settings(runtime, Settings))
        assert settings(runtime, Settings) is seen[-1]
    assert [str(made.model).partition(":")[2] for made in seen] == ["one", "two", "three", "fourth"]
