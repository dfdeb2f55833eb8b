"""The transcript: what of it is read, in which order, and whose words are whose."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import pytest

from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.state import (
    TITLES,
    Block,
    FivePhases,
    Phase,
    Side,
    Turn,
    blocks,
    written,
)

PHASES: tuple[Phase, ...] = (*TITLES,)
LOST = [("missing", "this part is lost; that counts against nobody")]


def turn(speaker: Side, phase: Phase, **fields: Any) -> Turn:
    return {"speaker": speaker, "phase": phase, "fields": fields}


WHOLE = [  # b's words came first, as they may
    turn("b", "proposals", answer="animals", argument="Animals eat."),
    turn("a", "proposals", answer="plants", argument="Plants grow."),
    turn(
        "a",
        "cross_examination",
        errors=[
            {"quote": "Animals eat.", "fault": "Not all.", "occurs": True},
            {"quote": "Animals sing.", "fault": "They cannot.", "occurs": False},
        ],
        defence="Plants do.",
    ),
    turn("b", "cross_examination", errors=[], defence="Animals do."),
    turn("b", "role_switch", argument="For plants."),
    turn("a", "role_switch", argument="For animals."),
    turn("a", "uncertainty", percent=0, unsure_of="This.", would_settle="That."),
    turn("b", "uncertainty", percent=100, unsure_of="Much.", would_settle="Little."),
]
"""Side a defends B, plants; side b defends A, animals."""


def read(turns: list[Turn] = WHOLE, until: Phase = "uncertainty", **how: Any) -> list[Block]:
    candidates = {"a": {"label": "B", "text": "plants"}, "b": {"label": "A", "text": "animals"}}
    return blocks(cast(FivePhases, {"candidates": candidates, "turns": turns}), until=until, **how)


def order(transcript: list[Block]) -> list[tuple[str, str]]:
    return [(block.label, block.phase) for block in transcript]


@pytest.mark.parametrize(("phase", "side"), [*product(PHASES[1:], ("a", "b"))])
def test_a_lost_part_is_marked_once_its_phase_is_over(phase: Phase, side: Side) -> None:
    rest = [t for t in WHOLE if (t["speaker"], t["phase"]) != (side, phase)]
    label, others = ("B", "A") if side == "a" else ("A", "B")
    assert [(b.label, b.phase) for b in read(rest) if b.lines == LOST] == [(label, TITLES[phase])]
    under_way = read(rest, until=phase, under_way=True)
    assert [b.label for b in under_way if b.phase == TITLES[phase]] == [others]


@pytest.mark.parametrize(
    ("quote", "side", "stands"),
    [
        ("Plants grow", "a", True),
        ("plants", "a", True),
        ("Plants do.", "a", True),
        ("Not all", "a", True),
        ("Animals sing.", "a", True),  # a claimed that b had written it
        ("Animals eat.", "a", False),  # a quoted b
        ("Animals eat.", "b", True),
        ("Plants grow", "b", False),
        ("Plants grow ... plants do", "a", True),
        ("plants Plants grow", "a", False),  # the end of one text and the beginning of another
        ("For animals", "a", False),  # an argument for the other's answer is not one's own case
        ("", "a", False),
    ],
)
def test_a_quotation_stands_in_one_text_of_its_author(quote: str, side: Side, stands: bool) -> None:
    assert occurs(quote, written(WHOLE, side)) == stands
