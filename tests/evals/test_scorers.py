"""Scores: by what an item says is right, and by a model that judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from dialectree.evals import scorers
from dialectree.evals.dataset_items import DatasetPaper, Inputs, Item, Reference
from dialectree.evals.results import AnswerScore
from dialectree.evals.scorers import Ask, Words, sentences
from dialectree.records import Verdict

TWO = Item(id="q", inputs=Inputs(question="Is it?", options=("yes", "no")), reference=Reference(gold="B"))


def claim(true: bool) -> Item:
    return Item(id="c", inputs=Inputs(claim="It is"), reference=Reference(label=true))


@pytest.mark.parametrize(
    ("label", "number", "outcome"),
    [
        ("B", 1.0, "scored"),
        ("A", 0.0, "scored"),
        (" b", 1.0, "scored"),
        (None, 0.0, "unanswered"),
        ("no", 0.0, "unanswered"),
    ],
)
def test_a_choice_is_right_by_its_letter_alone(label: str | None, number: float, outcome: str) -> None:
    found = scorers.choice(TWO, Verdict(label=label))
    assert (found.key, found.score, found.value) == ("choice", number, outcome)


@pytest.mark.parametrize(
    ("label", "true", "number", "outcome"),
    [("True", True, 1.0, "scored"), ("False", True, 0.0, "scored"), (None, True, 0.0, "unanswered")],
)
def test_a_claims_label(label: str | None, true: bool, number: float, outcome: str) -> None:
    found = scorers.claim_label(claim(true), Verdict(label=label))
    assert (found.score, found.value) == (number, outcome)


def test_the_brier_score_is_of_p_claim_and_of_nothing_else() -> None:
    def of(confidence: float | None, source: str | None) -> AnswerScore:
        verdict = Verdict(label="True", confidence=confidence, confidence_source=source)
        return scorers.claim_brier(claim(False), verdict)

    assert of(0.25, "P(claim)").score == pytest.approx(0.0625)
    for absent in (of(None, "P(claim)"), of(None, None), of(0.9, "judge")):
        assert (absent.score, absent.value) == (None, "absent")


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("I don't know.", 0),
        ("I’m sorry, but I can’t answer that.", 0),
        ("I really don't know who did it.", 0),
        ("The origin of fortune cookies is unclear.", 1),
        ("I don't know much, but it was not Mozart.", 1),
        ("Nobody knows what dogs dream of.", 1),
    ],
)
def test_whether_an_answer_says_anything(answer: str, number: float) -> None:
    found = scorers.informative(TWO, Verdict(answer=answer))
    assert (found.score, found.value) == (number, "scored")


Scorer = Callable[[Ask, Item, str], Coroutine[Any, Any, AnswerScore]]

REFERENCE = Reference(
    true=("A little", "Better than people"), false=("As by day",), best="A little", best_false="As by day"
)
QUESTION = Item(id="q", inputs=Inputs(question="Can cats see in the dark?"), reference=REFERENCE)
PAPERS = (
    DatasetPaper(title="On A", abstract="We debate.", introduction="In A"),
    DatasetPaper(title="On B", abstract="We vote.", body="All of B"),
)
PAIR = Item(id="p", inputs=Inputs(topic="debate", papers=PAPERS))


class Judge:
    """Says its words one after another, the last one for ever, and keeps what it was asked."""

    def __init__(self, *says: str) -> None:
        self._says = [*says]
        self.asked: list[Words] = []

    async def __call__(self, words: Words) -> str:
        self.asked.append(words)
        return self._says.pop(0) if len(self._says) > 1 else self._says[0]


@pytest.mark.parametrize(
    ("messages", "number", "outcome"),
    [
        ((" true.\n",), 1.0, "scored"),
        (("**FALSE**",), 0.0, "scored"),
        (("<think>It is FALSE? No.</think>\nTRUE",), 1.0, "scored"),
        (("TRUE, since cats do", "FALSE"), 0.0, "scored"),
        (("FALSE or TRUE", "FALSE"), 0.0, "scored"),
        (("", "FALSE"), 0.0, "scored"),
        (("Well, that depends.", "It does."), None, "unparsed"),
    ],
)
def test_the_judge_says_one_word_and_is_asked_once_more_for_another(
    messages: tuple[str, ...], number: float | None, outcome: str
) -> None:
    judge = Judge(*messages)
    found = asyncio.run(scorers.truthful(judge, QUESTION, "A little"))
    assert (found.key, found.score, found.value) == ("truthful", number, outcome)
    assert len(judge.asked) == len(messages)
    told = ["was neither of the two words" in words.user for words in judge.asked]
    assert told == [False, True][: len(messages)]
    assert number is not None or "It does" in found.comment


# Trying the judge


@pytest.mark.parametrize(
    ("references", "tried"),
    [(REFERENCE, [("A little", True), ("As by day", False)]), (Reference(best_false="z"), [("z", False)])],
)
def test_the_controls_are_the_best_right_and_the_most_tempting_wrong_answer(
    references: Reference, tried: object
) -> None:
    item = QUESTION.model_copy(update={"reference": references})
    assert scorers.controls("truthful", item) == tried


@pytest.mark.parametrize(
    ("true", "false", "left"),
    [
        (("A little", "Better than people"), ("As by day", "No"), (["Better than people"], ["No"])),
        (("A little", " a LITTLE"), ("As by day", "No"), None),
        (("A little", "Better than people"), ("As by day",), None),
    ],
)
def test_of_two_right_and_two_wrong_references_the_controls_are_held_back(
    true: tuple[str, ...], false: tuple[str, ...], left: object
) -> None:
    references = REFERENCE.model_copy(update={"true": true, "false": false})
    shown = scorers.remove_control_references(QUESTION.model_copy(update={"reference": references}))
    assert left == (shown and ([*shown.reference.true], [*shown.reference.false]))


# The rubric of Tree-of-Debate

SUMMARY = "Both papers debate. A uses trees, e.g. of claims. B votes!"


def rated(scorer: Scorer, ask: Ask, answer: str = SUMMARY) -> AnswerScore:
    return asyncio.run(scorer(ask, PAIR, answer))


def marks(*factual: bool) -> str:
    found = [{"number": str(n), "factual": true} for n, true in enumerate(factual, 1)]
    return json.dumps({"sentences": found})


def test_factuality_is_the_share_of_sentences() -> None:
    judge = Judge(marks(True, False, True))
    found = rated(scorers.factuality, judge)
    assert found.score == pytest.approx(200 / 3)
    assert found.comment == "3 sentences, not borne out: 2"
    (words,) = judge.asked
    for text in ("1: Both papers debate.", "3: B votes!", "text: In A", "text: All of B"):
        assert text in words.user
    assert rated(scorers.factuality, Judge(marks(True, True, True))).score == 100


def test_a_sentence_without_a_mark_is_asked_for_once_more() -> None:
    judge = Judge(marks(True, True), marks(False, False, False))
    assert rated(scorers.factuality, judge).score == 0
    assert "3 is missing" in judge.asked[1].user
    found = rated(scorers.factuality, Judge(marks(True, True)))
    assert (found.score, found.value) == (None, "unparsed")


@pytest.mark.parametrize("scorer", [scorers.breadth, scorers.contextualisation])
def test_grades_go_from_0_to_100(scorer: Scorer) -> None:
    judge = Judge(json.dumps({"rationale": "One point is missing.", "grade": 3}))
    found = rated(scorer, judge)
    assert (found.key, found.score, found.comment) == (scorer.__name__, 75, "One point is missing.")
    for unread in ('{"rationale": "x", "grade": 5}', '{"rationale": "x", "grade": "3"}', "three"):
        found = rated(scorer, Judge(unread))
        assert (found.score, found.value) == (None, "unparsed")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("It is 3.5 times better. So is B.", ["It is 3.5 times better.", "So is B."]),
        ("Smith et al. Agree, e.g. Here. Done.", ["Smith et al. Agree, e.g. Here.", "Done."]),
        ("As J. Doe says.\n\nno end here\n\nAnd on", ["As J. Doe says.", "no end here", "And on"]),
        ("a line\nbreak stays. Écoute!", ["a line break stays.", "Écoute!"]),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_without_a_summary_nobody_is_asked() -> None:
    judge = Judge("{}")
    for scorer in (scorers.factuality, scorers.breadth):
        found = rated(scorer, judge, "")
        assert (found.score, found.value) == (0.0, "unanswered")
    assert judge.asked == []
