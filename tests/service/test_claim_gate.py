"""``ClaimGate`` in an agent: what becomes of an answer whose claims are not probable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

import dialectree
from dialectree.errors import InputError, SettingsError
from dialectree.interfaces.agents.claims import Finding
from dialectree.records import Event
from tests.endpoint import LocalEndpoint

SPLIT = "List the claims that it makes.*"
SCORE = "Say how likely it is to be true.*"
HOT, WARM = "Fire is hot.", "Ice is warm."


def split(text: str, *claims: str) -> dict[str, Any]:
    """Return the rule that splits an answer with ``text`` in it into ``claims``."""
    listed = [{"lines": ["1"], "claim": claim} for claim in claims]
    return {"match": f"{SPLIT}{text}", "set": {"claims": listed}}


RULES = [
    {"match": "", "set": {"truth": 0.5, "weight": 0.5}},
    split("Fire", HOT),
    split("Ice", WARM),
    split("Fire.*Ice", HOT, WARM),
    split("Hello"),
    {"match": f"{SCORE}Fire", "set": {"truth": 0.9}},
    {"match": f"{SCORE}Ice", "set": {"truth": 0.2}},
]
"""Arguments weigh alike on both sides, so that a claim stays as probable as its scorer says."""


@pytest.fixture(scope="module")
def settings() -> Iterator[dict[str, Any]]:
    with LocalEndpoint(rules=RULES) as endpoint:
        yield {
            "model": f"openai:any@{endpoint.url}",
            "root_strength": "estimated",
            "blend": 0,
            "cache": False,
        }


class Agent(GenericFakeChatModel):
    """Gives answers one after another, and takes tools."""

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        return self


def agent(gate: dialectree.ClaimGate, *answers: str) -> Any:
    messages = iter(AIMessage(answer) for answer in answers)
    return create_agent(Agent(messages=messages), middleware=[gate])


def asynchronous(agent: Any, given: Any) -> dict[str, Any]:
    result: dict[str, Any] = asyncio.run(agent.ainvoke(given))
    return result


def synchronous(agent: Any, given: Any) -> dict[str, Any]:
    result: dict[str, Any] = agent.invoke(given)
    return result


ASKED: dict[str, Any] = {"messages": [HumanMessage("What is hot?")]}
both = pytest.mark.parametrize("ask", [asynchronous, synchronous])
Ask = Callable[[Any, Any], dict[str, Any]]


@both
def test_an_answer_passes_as_it_is_and_its_findings_lie_in_the_state(
    ask: Ask, settings: dict[str, Any]
) -> None:
    result = ask(agent(dialectree.ClaimGate(**settings), HOT), ASKED)
    assert [message.text for message in result["messages"]] == ["What is hot?", HOT]
    (finding,) = map(Finding.model_validate, result["claim_findings"])
    assert (finding.passed, finding.claim, finding.line) == (True, HOT, 1)
    verdict = dialectree.load(str(finding.run)).verdict
    assert verdict is not None and verdict.probability == finding.probability == 0.9


@both
def test_an_answer_with_an_improbable_claim_is_replaced_by_a_refusal(
    ask: Ask, settings: dict[str, Any]
) -> None:
    result = ask(agent(dialectree.ClaimGate(**settings), f"{HOT} {WARM}"), ASKED)
    _, answer = result["messages"]
    assert answer.text.startswith("The answer is withheld") and HOT not in answer.text
    assert f"✗ 0.20 {WARM} (run {result['claim_findings'][1]['run']})" in answer.text


def test_an_answer_can_be_marked_instead(settings: dict[str, Any]) -> None:
    gate = dialectree.ClaimGate(action="mark", **settings)
    _, answer = asynchronous(agent(gate, f"{HOT} {WARM}"), ASKED)["messages"]
    first, _, heading, hot, warm = answer.text.splitlines()
    assert (first, heading) == (f"{HOT} {WARM}", "Claims, each with its probability:")
    assert hot.startswith(f"✓ 0.90 {HOT}") and warm.startswith(f"✗ 0.20 {WARM}")


@both
def test_an_answer_can_be_sent_back_with_what_was_found(ask: Ask, settings: dict[str, Any]) -> None:
    gate = dialectree.ClaimGate(action="revise", **settings)
    result = ask(agent(gate, f"{HOT} {WARM}", HOT), ASKED)
    _, first, told, second = result["messages"]
    assert (first.text, second.text) == (f"{HOT} {WARM}", HOT)
    assert f"✗ 0.20 {WARM} The strongest argument" in told.text and HOT not in told.text
    assert [one["claim"] for one in result["claim_findings"]] == [HOT]


def test_an_answer_that_fails_after_the_last_revision_is_withheld(settings: dict[str, Any]) -> None:
    gate = dialectree.ClaimGate(action="revise", rounds=1, **settings)
    begun = agent(gate, WARM, WARM, WARM, HOT)
    result = asynchronous(begun, ASKED)
    assert [one.type for one in result["messages"]] == ["human", "ai", "human", "ai"]
    assert result["messages"][-1].text.startswith("The answer is withheld")
    again = {"messages": [*result["messages"], HumanMessage("Once more?")]}
    assert asynchronous(begun, again)["messages"][-1].text == HOT  # its revisions count anew


def test_an_answer_without_a_claim_passes(settings: dict[str, Any]) -> None:
    result = asynchronous(agent(dialectree.ClaimGate(**settings), "Hello!"), ASKED)
    assert (result["messages"][-1].text, result["claim_findings"]) == ("Hello!", [])


def test_runs_that_are_not_kept_leave_no_folder_and_events_are_told(settings: dict[str, Any]) -> None:
    events: list[Event] = []
    gate = dialectree.ClaimGate(runs=None, watch=events.append, **settings)
    found = asynchronous(agent(gate, f"{HOT} {WARM}"), ASKED)["claim_findings"]
    assert {one["run"] for one in found} == {event.run_id for event in events}
    assert not Path("runs").exists()


def test_the_words_of_debates_stay_out_of_the_chat(settings: dict[str, Any]) -> None:
    call = {"name": "check", "args": {"claim": WARM}, "id": "1"}
    said = iter([AIMessage("", tool_calls=[call]), AIMessage(HOT)])
    check = dialectree.as_tool("art", name="check", **settings)
    chat = Agent(messages=said, disable_streaming=True)
    talk: Any = create_agent(chat, tools=[check], middleware=[dialectree.ClaimGate(**settings)])

    async def streamed() -> list[str]:
        parts: Any = talk.astream(ASKED, stream_mode="messages", subgraphs=True)
        return [message.type async for _, (message, _) in parts]

    assert asyncio.run(streamed()) == ["ai", "tool", "ai"]


def test_wrong_settings_are_refused_when_the_gate_is_made() -> None:
    with pytest.raises(SettingsError, match="did you mean breadth"):
        dialectree.ClaimGate(bredth=2)
    with pytest.raises(InputError, match="it gives no probability of a claim"):
        dialectree.ClaimGate(method="tsd")
    wrong: tuple[dict[str, Any], ...] = ({"min": 7}, {"action": "blok"}, {"rounds": -1})
    for given in wrong:
        with pytest.raises(InputError, match=f"^{next(iter(given))} is .*, not "):
            dialectree.ClaimGate(**given)
