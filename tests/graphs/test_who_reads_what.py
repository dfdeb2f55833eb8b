"""Whose words, and what of the question and the papers, each role is shown: a table a protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contesting import words
from tests.graphs.role_switching_debate.switching import FIVE, TWO
from tests.graphs.test_every_protocol import COMPARED, PAPERS, SHORT, Way
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.scripted import Asked

AGREED = Path(__file__).with_name("reads.yaml")
OPTIONS = {"options": [*TWO]}
ONE: dict[str, Any] = {"max_subtopics": 1, "max_depth": 1, "max_claims": 1}
WAYS = {
    "tsd": Way("tsd", {"leaf_rounds": 2, "second_pass_below": 1.0}),
    "tsd with rsd": Way("tsd", {**SHORT, "leaf_protocol": "rsd"}),
    "rsd": Way("rsd", {"judge_orders": "both"}, OPTIONS),
    "rsd at once": Way("rsd", {"cross_examination": "simultaneous"}, OPTIONS),
    "rsd with a gate": Way("rsd", {"gate": 2}, {"options": [*FIVE]}),
    "no_role_switch": Way("no_role_switch", {}, OPTIONS),
    "no_uncertainty": Way("no_uncertainty", {}, OPTIONS),
    "basic": Way("basic", {}, OPTIONS),
    "art": Way("art", {"depth": 2, "root_strength": "estimated"}),
    "tod": Way("tod", {**COMPARED, **ONE, "max_depth": 2}, PAPERS),
    "tod in turn": Way("tod", {**COMPARED, **ONE, "turns": "alternating"}, PAPERS),
    "no_self_deliberation": Way("no_self_deliberation", {**ONE, "max_depth": 2}, PAPERS),
    "single_stage": Way("single_stage", {}, PAPERS),
    "two_stage": Way("two_stage", {}, PAPERS),
    "two_round": Way("two_round"),
    "direct_samples": Way("direct_samples", {"samples": 2}),
    "best_comparison": Way("best_comparison", {"samples": 2}, PAPERS),
}
SHOWN = {
    "the question": "It is so.",
    **{
        f"{part} of {letter}": paper[part]
        for letter, paper in (("a", PAPER_A), ("b", PAPER_B))
        for part in ("title", "abstract", "introduction")
    },
    "segments of a": "\na:",
    "segments of b": "\nb:",
    "claims of a": "a on accuracy",
    "claims of b": "b on accuracy",
}


def name(call: Asked, reader: Asked | None = None) -> str:
    """Return where and by whom a call is made; without the node where the ``reader`` is there."""
    node = "" if reader and reader.node == call.node else f"{call.node} "
    again = " in the second pass" if call.take == 2 else ""
    return f"{node}{call.phase}: {call.speaker or call.role} {call.round or ''}".strip() + again


def reads(way: Way) -> dict[str, list[str]]:
    """Return what each call of a debate shows: parts of the input, and the words of other calls."""
    model = way.speakers()
    asyncio.run(way.debate(model))
    return {
        name(call): [
            *(part for part, text in SHOWN.items() if text in call.prompt),
            *(name(one, call) for one in model.calls if words(one) in call.prompt),
        ]
        for call in sorted(model.calls, key=name)
    }


@pytest.mark.parametrize("way", WAYS)
def test_each_role_reads_what_was_agreed_and_nothing_else(way: str) -> None:
    agreed = yaml.safe_load(AGREED.read_text(encoding="utf-8"))
    assert reads(WAYS[way]) == agreed[way]
