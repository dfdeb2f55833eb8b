"""The transcript: what of it is read, in which order, and whose words are whose."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from typing import Any, cast

import pytest

from dialectree.answers import LONGEST, distinct_options, shorten_answer, suggest_answers, tokens
from dialectree.errors import InputError
from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.candidates import assign_sides, label_options, shuffle_options
from dialectree.nodes.role_switching_debate.state import (
    TITLES,
    Candidate,
    FivePhases,
    Phase,
    Side,
    Turn,
    blocks,
    collect_side_text,
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


def read(turns: list[Turn] = WHOLE, until: Phase = "uncertainty", **how: Any) -> list[dict[str, Any]]:
    candidates = {"a": {"label": "B", "text": "plants"}, "b": {"label": "A", "text": "animals"}}
    return blocks(cast(FivePhases, {"candidates": candidates, "turns": turns}), until=until, **how)


def order(transcript: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(block["label"], block["phase"]) for block in transcript]


@pytest.mark.parametrize(("phase", "side"), [*product(PHASES[1:], ("a", "b"))])
def test_a_lost_part_is_marked_once_its_phase_is_over(phase: Phase, side: Side) -> None:
    rest = [t for t in WHOLE if (t["speaker"], t["phase"]) != (side, phase)]
    label, others = ("B", "A") if side == "a" else ("A", "B")
    assert [(b["label"], b["phase"]) for b in read(rest) if b["lines"] == LOST] == [(label, TITLES[phase])]
    under_way = read(rest, until=phase, under_way=True)
    assert [b["label"] for b in under_way if b["phase"] == TITLES[phase]] == [others]


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
    assert occurs(quote, collect_side_text(WHOLE, side)) == stands


OIL: Candidate = {"label": "C", "text": "oil"}
CLAY: Candidate = {"label": "A", "text": "clay"}


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["one"], "one option is no choice"),
        (["x", " x\u200b"], "options 1 and 2 are the same"),
        (["a  “plant”", 'a "plant"'], "options 1 and 2 are the same"),
        (["é-1", "e\u0301−1"], "options 1 and 2 are the same"),
        (["x", "y", "x "], "options 1 and 3 are the same"),
        (["x", "\u200b"], "option 2 is empty"),
        ([" ", "y"], "option 1 is empty"),
        ([str(n) for n in range(27)], "27 options"),
        (["x", "y" * (LONGEST + 1)], "option 2 is longer than 6,000 characters"),
        ("xy", "give a list of texts"),
        (["x", None], "option 2 is not text"),
        ([OIL, CLAY], "option 1 is not text"),
    ],
)
def test_what_a_debate_cannot_choose_between_is_refused(options: list[object], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        distinct_options(options)


def test_no_options_are_an_open_question_and_options_keep_their_words() -> None:
    assert distinct_options([]) == []
    assert label_options([]) == []
    assert distinct_options([1, 2.5]) == ["1", "2.5"]
    assert distinct_options([" C++ ", "C", "-5", "5", "y" * LONGEST])[:4] == ["C++", "C", "-5", "5"]
    pairs = [("[0, 1]", "(0, 1)"), ("5", "5!"), ("x", "X"), ("mW", "MW")]
    assert all(distinct_options(pair) == [*pair] for pair in pairs)


def test_both_assignments_occur_over_seeds_and_over_questions() -> None:
    held = [assign_sides(OIL, CLAY, n, "0", "What?")["a"]["label"] for n in range(400)]
    assert 160 < held.count("A") < 240
    asked = [assign_sides(OIL, CLAY, 0, "0", f"What of {n}?")["a"]["label"] for n in range(400)]
    assert 160 < asked.count("A") < 240
    for n in range(20):
        pair = assign_sides(OIL, CLAY, n, "0", "What?")
        assert pair == assign_sides(OIL, CLAY, n, "0", "What?")
        assert sorted(c["label"] for c in pair.values()) == ["A", "C"]


def test_every_order_of_a_knockout_occurs() -> None:
    options = label_options(["clay", "oil", "hay"])

    def order(seed: int, question: str = "What?") -> str:
        return "".join(option["label"] for option in shuffle_options(options, seed, "0", question))

    seen = Counter(order(n) for n in range(300))
    assert set(seen) == {"".join(labels) for labels in permutations("ABC")}
    assert min(seen.values()) > 25
    assert len({order(0, f"{n}?") for n in range(40)}) == 6


def test_long_answers_are_shortened_where_they_are_only_named_and_get_room_to_be_written() -> None:
    short, long = "x" * 200, "x" * 3000
    assert (shorten_answer(short), shorten_answer(long)) == (short, "x" * 200 + "…")
    assert (tokens(), tokens(short), tokens(short, long)) == (0, 0, 1000)
    assert suggest_answers([short, "y", "y"]) == {"answer": [short, "y"]}
    assert suggest_answers([short, long]) == suggest_answers([]) == {}
