"""The judge of a role-switching debate: no ruling is read as the other candidate's, ever.

A model's reply may name a label and a text that do not fit together, and may be broken JSON
besides; a person may type anything. What comes of it is the candidate that both name, or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from dialectree.answers import ruling
from dialectree.flow.human_input import payload_of
from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.nodes.role_switching_debate.judge import find_common_label
from tests.graphs.role_switching_debate import switching
from tests.graphs.role_switching_debate.switching import FIVE, TWO, context, debaters
from tests.scripted import ScriptedModel

NEITHER = ("uncertain", "uncertain")


def ruled(label: str, answer: str) -> dict[str, Any]:
    texts = {"A": TWO[0], "B": TWO[1], "uncertain": "uncertain"}
    return {"label": label, "answer": answer, "candidate": ruling(label, answer, texts)}


@pytest.mark.parametrize(
    ("rulings", "label", "why"),
    [
        ([ruled("A", TWO[0])], "A", ""),
        ([ruled("A", "x")], None, "do not name the same candidate"),
        ([ruled(*NEITHER)], "uncertain", "neither side convinced"),
        ([ruled("uncertain", TWO[0])], None, "do not name the same candidate"),
        ([ruled("", "")], None, "the person gave no ruling"),
        ([ruled("B", TWO[1]), ruled("B", TWO[1])], "B", ""),
        ([ruled("B", TWO[1]), ruled("A", TWO[0])], None, "position bias"),
        ([ruled("B", TWO[1]), ruled("B", "x")], None, "do not name the same"),
        ([ruled("B", TWO[1]), ruled(*NEITHER)], None, "position bias"),
        ([ruled(*NEITHER), ruled("B", "x")], None, "do not name the same"),
        ([ruled(*NEITHER), ruled(*NEITHER)], "uncertain", "neither side convinced"),
    ],
)
def test_rulings_decide_a_debate_or_a_note_says_why_not(
    rulings: list[dict[str, Any]], label: str | None, why: str
) -> None:
    named, notes = find_common_label(rulings)
    assert (named, bool(notes)) == (label, bool(why))
    assert why in " ".join(notes)


# A person as the judge


CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Host:
    """Someone with a checkpointer, who answers what the graph stops for."""

    def __init__(self, model: ScriptedModel, options: tuple[str, ...] = TWO, **settings: Any):
        self.context = context(model, judge="me", **settings)
        self.graph = graph.copy({"checkpointer": InMemorySaver()})
        self.given: Any = switching.given(options)
        self.asked: list[Mapping[str, str]] = []

    async def step(self, given: Any) -> dict[str, Any]:
        """On to the next stop or to the end."""
        out: dict[str, Any] = await self.graph.ainvoke(given, CONFIG, context=self.context)
        self.asked += [payload_of(stop.value) for stop in out.get("__interrupt__", ())]
        return out

    def answers(self, *answers: Any) -> dict[str, Any]:
        """Drives a debate with these answers; the last state."""

        async def drive() -> dict[str, Any]:
            out = await self.step(self.given)
            for answer in answers:
                (stop,) = out["__interrupt__"]
                out = await self.step(Command(resume={stop.id: answer}))
            return out

        return asyncio.run(drive())


def test_a_person_is_asked_after_phase_four_with_the_transcript() -> None:
    model = debaters()
    host = Host(model)
    out = host.answers()
    assert out["verdict"] is None
    assert len(model.calls) == 8
    (asked,) = host.asked
    assert (asked["node"], asked["kind"], asked["question"]) == ("0", "judge", switching.QUESTION)
    assert asked["request"] == "Which answer is right? Reply with one of: A, B"
    for said in ("why plant materials", "defence by A", "switch by B", "doubt of A", "60 %"):
        assert said in asked["transcript"]
    heads = [line for line in asked["transcript"].splitlines() if line.startswith("Debater ")]
    assert heads[:2] == ["Debater B, proposal", "Debater A, proposal"]


def test_a_person_may_be_uncertain_where_that_is_allowed() -> None:
    host = Host(debaters(), allow_uncertain=True)
    assert host.answers("Uncertain")["verdict"]["label"] == "uncertain"
    assert host.asked[0]["request"].endswith("A, B, uncertain")


@pytest.mark.parametrize(("ruling", "source"), [("B", "person"), ("uncertain", "person"), ("", None)])
def test_the_verdict_says_that_a_person_ruled(ruling: str, source: str | None) -> None:
    verdict = Host(debaters(), allow_uncertain=True).answers(ruling)["verdict"]
    assert (verdict["confidence"], verdict["confidence_source"]) == (None, source)
    assert ("a person ruled, and gave no confidence" in verdict["notes"]) == bool(ruling)


def test_a_person_judges_every_debate_of_a_knockout() -> None:
    model = debaters()
    host = Host(model, FIVE, candidates="knockout")

    def ruled(asked: Mapping[str, str]) -> str:
        labels = asked["request"][-4:].split(", ")
        return "B" if "B" in labels else labels[0]

    async def drive() -> dict[str, Any]:
        out = await host.step(host.given)
        while stops := out.get("__interrupt__"):
            rulings = {stop.id: ruled(payload_of(stop.value)) for stop in stops}
            out = await host.step(Command(resume=rulings))
        return out

    assert asyncio.run(drive())["verdict"]["label"] == "B"
    assert [asked["node"] for asked in host.asked] == ["0.0", "0.1", "0.2", "0.3"]
    assert len(model.calls) == len(set(model.calls)) == 32
