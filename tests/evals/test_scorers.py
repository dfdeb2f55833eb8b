"""Scorers without a model."""

from __future__ import annotations

import pytest

from dialectree.evals import scorers
from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.results import Score
from dialectree.records import Verdict

TWO = Item(
    id="q",
    inputs=Inputs(question="Is it?", options=("yes", "no")),
    reference=Reference(gold="B"),
)


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
def test_a_choice_is_right_by_its_letter_alone(
    label: str | None, number: float, outcome: str
) -> None:
    found = scorers.choice(TWO, Verdict(label=label))
    assert (found.key, found.score, found.value) == ("choice", number, outcome)


@pytest.mark.parametrize(
    ("label", "true", "number", "outcome"),
    [
        ("True", True, 1.0, "scored"),
        ("False", True, 0.0, "scored"),
        (None, True, 0.0, "unanswered"),
    ],
)
def test_a_claims_label(label: str | None, true: bool, number: float, outcome: str) -> None:
    found = scorers.claim_label(claim(true), Verdict(label=label))
    assert (found.score, found.value) == (number, outcome)


def test_the_brier_score_is_of_p_claim_and_of_nothing_else() -> None:
    def of(confidence: float | None, source: str | None) -> Score:
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
