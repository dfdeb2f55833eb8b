"""The exchange: what of it is read, in which order, and whose words are whose."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.candidates import Side
from dialectree.nodes.role_switching_debate.exchange import (
    Exchange,
    Phase,
    blocks,
    proposal_of,
    written,
)

TITLES = ("proposal", "cross-examination", "switched sides", "uncertainty")
PHASES: tuple[Phase, ...] = ("proposals", "cross_examination", "role_switch", "uncertainty")
LOST = [("missing", "this part is lost; that counts against nobody")]


def exchange() -> Exchange:
    """A whole one; b's words came first, as they may."""
    return {
        "candidates": {
            "a": {"label": "B", "text": "plants"},
            "b": {"label": "A", "text": "animals"},
        },
        "proposals": [
            {"side": "b", "answer": "animals", "argument": "Animals eat."},
            {"side": "a", "answer": "plants", "argument": "Plants grow."},
        ],
        "rebuttals": [
            {
                "side": "a",
                "errors": [
                    {"quote": "Animals eat.", "fault": "Not all.", "occurs": True},
                    {"quote": "Animals sing.", "fault": "They cannot.", "occurs": False},
                ],
                "defence": "Plants do.",
            },
            {"side": "b", "errors": [], "defence": "Animals do."},
        ],
        "switches": [
            {"side": "b", "argument": "For plants."},
            {"side": "a", "argument": "For animals."},
        ],
        "reports": [
            {"side": "a", "percent": 0, "unsure_of": "This.", "would_settle": "That."},
            {"side": "b", "percent": 100, "unsure_of": "Much.", "would_settle": "Little."},
        ],
    }


def read(**how: Any) -> list[tuple[str, str]]:
    whole = {"until": "uncertainty", **how}
    return [(block["label"], block["phase"]) for block in blocks(exchange(), **whole)]


@pytest.mark.parametrize("count", range(1, 5))
def test_a_transcript_ends_with_the_phase_that_is_named(count: int) -> None:
    assert read(until=PHASES[count - 1]) == [(s, t) for t in TITLES[:count] for s in "BA"]


def test_the_side_that_comes_first_does_so_in_every_phase_but_the_cross_examination() -> None:
    kept = [(s, t) for t in TITLES for s in ("BA" if t == "cross-examination" else "AB")]
    assert read(first="b") == kept


def test_the_lines_of_each_phase_say_what_they_are() -> None:
    lines = {(b["label"], b["phase"]): b["lines"] for b in blocks(exchange(), until="uncertainty")}
    assert lines["B", "proposal"] == [("answer", "plants"), ("argument", "Plants grow.")]
    assert lines["B", "cross-examination"] == [
        ("quotation 1", "Animals eat."),
        ("what is wrong with it 1", "Not all."),
        ("quotation 2 (the opponent wrote no such words)", "Animals sing."),
        ("what is wrong with it 2", "They cannot."),
        ("defence", "Plants do."),
    ]
    assert lines["A", "cross-examination"] == [("defence", "Animals do.")]
    assert lines["B", "switched sides"] == [("argument for answer A", "For animals.")]
    assert lines["A", "uncertainty"] == [
        ("confidence in its own answer", "100 %"),
        ("unsure of", "Much."),
        ("would settle it", "Little."),
    ]


@pytest.mark.parametrize(("phase", "side"), [*product(range(1, 4), ("a", "b"))])
def test_what_one_side_lost_is_marked_once_its_phase_is_over(phase: int, side: Side) -> None:
    said = exchange()
    phases: list[list[Any]] = [said["rebuttals"], said["switches"], said["reports"]]
    lost = phases[phase - 1]
    lost[:] = [turn for turn in lost if turn["side"] != side]
    found = blocks(said, until=PHASES[phase])
    assert [b["lines"] == LOST for b in found if b["phase"] == TITLES[phase]] == [
        side == "a", side == "b",
    ]  # fmt: skip
    under_way = blocks(said, until=PHASES[phase], under_way=True)
    assert [b["label"] for b in under_way if b["phase"] == TITLES[phase]] == [
        "A" if side == "a" else "B"
    ]
    later = [b for b in found if b["phase"] != TITLES[phase]]
    assert all(b["lines"] != LOST for b in later)


def test_a_phase_that_nobody_spoke_in_is_no_loss() -> None:
    said = exchange()
    said["switches"] = []
    assert [b["phase"] for b in blocks(said, until="uncertainty")] == [
        title for title in TITLES for _ in "ab" if title != "switched sides"
    ]


def test_of_two_proposals_the_last_one_counts() -> None:
    said = exchange()
    said["proposals"].append({"side": "b", "answer": "stones", "argument": "Stones lie."})
    found = proposal_of(said["proposals"], "b")
    assert found is not None and found["answer"] == "stones"
    (block,) = (b for b in blocks(said, until="proposals") if b["label"] == "A")
    assert block["lines"] == [("answer", "stones"), ("argument", "Stones lie.")]
    assert not occurs("Animals eat", written(said, "b"))
    assert occurs("Stones lie", written(said, "b"))
    assert proposal_of([], "a") is None


@pytest.mark.parametrize(
    ("quote", "side", "found"),
    [
        ("Plants grow", "a", True),
        ("plants", "a", True),
        ("Plants do.", "a", True),
        ("Not all", "a", True),
        ("Animals sing.", "a", True),  # a said that b had written it
        ("Animals eat.", "a", False),  # a quoted b
        ("Animals eat.", "b", True),
        ("Plants grow", "b", False),
        ("Plants grow ... plants do", "a", True),
        ("plants Plants grow", "a", False),  # the end of one text and the beginning of another
        ("For animals", "a", False),  # what one says for the other's answer is not one's own case
        ("", "a", False),
    ],
)
def test_a_quotation_stands_in_one_text_of_its_author(quote: str, side: Side, found: bool) -> None:
    assert occurs(quote, written(exchange(), side)) == found
