"""Candidates: options that a debate can choose between, and draws that favour nobody."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from dialectree.answers import (
    LONGEST,
    distinct_options,
    offered,
    shortened,
    tokens,
)
from dialectree.errors import InputError
from dialectree.nodes.role_switching_debate.candidates import drawn, labelled, shuffled
from dialectree.nodes.role_switching_debate.state import Candidate

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
        (["x", None], "option 2 is no text"),
        ([OIL, CLAY], "option 1 is no text"),
    ],
)
def test_what_a_debate_cannot_choose_between_is_refused(options: list[object], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        distinct_options(options)


def test_no_options_are_an_open_question_and_options_keep_their_words() -> None:
    assert distinct_options([]) == []
    assert labelled([]) == []
    assert distinct_options([1, 2.5]) == ["1", "2.5"]
    assert distinct_options([" C++ ", "C", "-5", "5", "y" * LONGEST])[:4] == ["C++", "C", "-5", "5"]
    pairs = [("[0, 1]", "(0, 1)"), ("5", "5!"), ("x", "X"), ("mW", "MW")]
    assert all(distinct_options(pair) == [*pair] for pair in pairs)


def test_both_assignments_occur_over_seeds_and_over_questions() -> None:
    held = [drawn(OIL, CLAY, n, "0", "What?")["a"]["label"] for n in range(400)]
    assert 160 < held.count("A") < 240
    asked = [drawn(OIL, CLAY, 0, "0", f"What of {n}?")["a"]["label"] for n in range(400)]
    assert 160 < asked.count("A") < 240
    for n in range(20):
        pair = drawn(OIL, CLAY, n, "0", "What?")
        assert pair == drawn(OIL, CLAY, n, "0", "What?")
        assert sorted(c["label"] for c in pair.values()) == ["A", "C"]


def test_every_order_of_a_knockout_occurs() -> None:
    options = labelled(["clay", "oil", "hay"])

    def order(seed: int, question: str = "What?") -> str:
        return "".join(option["label"] for option in shuffled(options, seed, "0", question))

    seen = Counter(order(n) for n in range(300))
    assert set(seen) == {"".join(labels) for labels in permutations("ABC")}
    assert min(seen.values()) > 25
    assert len({order(0, f"{n}?") for n in range(40)}) == 6


def test_long_answers_are_shortened_where_they_are_only_named_and_get_room_to_be_written() -> None:
    short, long = "x" * 200, "x" * 3000
    assert (shortened(short), shortened(long)) == (short, "x" * 200 + "…")
    assert (tokens(), tokens(short), tokens(short, long)) == (0, 0, 1000)
    assert offered([short, "y", "y"]) == {"answer": [short, "y"]}
    assert offered([short, long]) == offered([]) == {}
