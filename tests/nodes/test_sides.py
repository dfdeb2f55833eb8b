"""Sides and openers: a table of questions, and draws that favour nobody."""

import pytest

from dialectree.nodes.tree_structured_debate.answer_writer import highlights
from dialectree.nodes.tree_structured_debate.sides import (
    CLARIFIED,
    concise_is_a,
    is_asked,
    is_polar,
    leading,
    opener,
    side,
)
from dialectree.nodes.tree_structured_debate.state import Finding, merge_findings, standing

SEEDS = range(2000)


@pytest.mark.parametrize(
    "question",
    [
        "Is Paris the capital of France?",
        "is it so",
        "Does water boil at 100 °C?",
        "Can’t penguins fly?",
        "Won't it rain?",
        "  Have we met?",
        "“Should one vote?”",
        "'Are they equal?'",
        "Would a storm, the floor and an orchard do?",
    ],
)
def test_a_question_that_begins_with_an_auxiliary_is_polar(question: str) -> None:
    assert is_polar(question)


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Yes", "YES"),
        ("no.", "NO"),
        ("**Yes**, always", "YES"),
        ("\n“No, it is not.”", "NO"),
        ("No language is.", "NO"),
        ("Nobody knows", None),
        ("Yesterday", None),
        ("It is so, yes", None),
        ("", None),
    ],
)
def test_yes_or_no_is_told_by_the_first_word(text: str, side: str | None) -> None:
    assert leading(text) == side


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "What is 2+2?",
        "Which language do all people in Europe speak?",
        "Is it red or blue?",
        "Is it red OR blue?",
        "Isolated tribes speak what?",
        "Island or not?",
        "Do-it-yourself or buy?",
        "Who is it?",
        "2 + 2 is 4, is it not?",
    ],
)
def test_every_other_question_is_open(question: str) -> None:
    assert not is_polar(question)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        *((text, True) for text in ("?", "Is it blue? ", "Is it blue?!", "是吗？", "هل السماء زرقاء؟")),
        *((text, False) for text in ("", "!", "Is it blue", "It is blue!", "She asked: why? So.")),
        *((text, False) for text in ("The book is called “Who am I?”.", "She asked: “Why?”")),
    ],
)
def test_a_text_that_ends_in_a_question_mark_is_asked(text: str, asked: bool) -> None:
    assert is_asked(text) == asked


@pytest.mark.parametrize("question", ["Is it so?", "What is it?"])
def test_the_debaters_of_a_leaf_always_defend_opposite_sides(question: str) -> None:
    polar = {"YES", "NO"} if is_polar(question) else {"SPAN", "OTHER"}
    for seed in range(50):
        assert {side(seed, "0.1", 1, question, who) for who in ("A", "B")} == polar
        opens = side(seed, "0.1", 1, question, opener(seed, "0.1", 1, question))
        assert opens == "SPAN" or is_polar(question)


@pytest.mark.parametrize(
    "drawn",
    [[(seed, "Is it so?") for seed in SEEDS], [(0, f"Is it so, in case {number}?") for number in SEEDS]],
    ids=["over seeds", "over the questions of one seed"],
)
def test_no_draw_favours_a_name_a_place_or_a_pass(drawn: list[tuple[int, str]]) -> None:
    a_opens = [opener(seed, "0", 1, question) == "A" for seed, question in drawn]
    others = [[opener(seed, *at, q) == "A" for seed, q in drawn] for at in (("0", 2), ("0.1", 1))]
    as_before = [[a == b for a, b in zip(a_opens, other, strict=True)] for other in others]
    a_says_yes = [side(seed, "0", 1, question, "A") == "YES" for seed, question in drawn]
    concise_first = [concise_is_a(seed, "0", 1, question) for seed, question in drawn]
    opener_says_yes = [a == b for a, b in zip(a_opens, a_says_yes, strict=True)]
    for draw in (a_opens, a_says_yes, concise_first, opener_says_yes, *as_before):
        assert 0.46 < sum(draw) / len(draw) < 0.54


def test_what_a_person_said_of_a_question_draws_nobody_anew() -> None:
    said = f"Is it so?{CLARIFIED}in spring)"
    for seed in range(50):
        assert opener(seed, "0", 1, said) == opener(seed, "0", 1, "Is it so?")
        assert concise_is_a(seed, "0", 1, said) == concise_is_a(seed, "0", 1, "Is it so?")
        assert side(seed, "0", 1, said, "A") == side(seed, "0", 1, "Is it so?", "A")


def finding(node: str, answer: str | None = "so", confidence: float | None = 0.5, take: int = 1) -> Finding:
    return {
        "id": node,
        "question": f"what of {node}?",
        "answer": answer,
        "rationale": "Because.",
        "confidence": confidence,
        "leaves": [node] if answer else [],
        "unclear": [],
        "take": take,
        "side": None,
    }


def test_findings_stand_in_the_order_of_the_tree_whoever_came_first() -> None:
    ids = ["0.10", "0.2", "0.0", "0.1.5"]
    merged = merge_findings([finding("0.3")], [finding(i) for i in ids])
    assert [f["id"] for f in merged] == ["0.0", "0.1.5", "0.2", "0.3", "0.10"]


def test_a_newer_answer_replaces_an_older_one_but_no_answer_replaces_none() -> None:
    old, new, none = finding("0"), finding("0", "else", take=2), finding("0", None, take=2)
    assert standing(old, new) == new
    assert standing(old, none) == old
    assert standing(finding("0", None), none) == none
    assert merge_findings([old], [none]) == [old]
    assert merge_findings([old], [new]) == [new]
    assert merge_findings([], [none]) == [none]


def test_the_writer_is_shown_the_surest_branches_first_and_none_without_an_answer() -> None:
    found = [
        finding("0.0", confidence=0.2),
        finding("0.1", None, None),
        finding("0.2", confidence=None),
        finding("0.3", confidence=0.9),
        finding("0.4", confidence=0.3),
    ]
    shown = highlights(finding("0"), found)
    assert shown == ["what of 0.3? so", "what of 0.4? so", "what of 0.0? so"]


def test_the_writer_is_shown_the_judges_reasons_where_there_are_no_branches() -> None:
    assert highlights(finding("0"), []) == ["Because."]
