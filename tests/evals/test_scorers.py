"""Scorers without a model."""

from __future__ import annotations

import pytest

from dialectree.evals import scorers

TWO = {"question": "Is it?", "options": ["yes", "no"]}


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
    found = scorers.choice(inputs=TWO, outputs={"label": label}, reference_outputs={"gold": "B"})
    assert (found["key"], found["score"], found["value"]) == ("choice", number, outcome)


@pytest.mark.parametrize(
    ("label", "true", "number", "outcome"),
    [
        ("True", True, 1.0, "scored"),
        ("False", True, 0.0, "scored"),
        (None, True, 0.0, "unanswered"),
    ],
)
def test_a_claims_label(label: object, true: bool, number: float, outcome: str) -> None:
    found = scorers.claim_label(
        inputs={"claim": "It is"}, outputs={"label": label}, reference_outputs={"label": true}
    )
    assert (found["score"], found["value"]) == (number, outcome)


def test_the_brier_score_is_of_p_claim_and_of_nothing_else() -> None:
    def of(confidence: float | None, source: str | None) -> scorers.Score:
        outputs = {"label": "True", "confidence": confidence, "confidence_source": source}
        return scorers.claim_brier(inputs={}, outputs=outputs, reference_outputs={"label": False})

    assert of(0.25, "P(claim)")["score"] == pytest.approx(0.0625)
    for absent in (of(None, "P(claim)"), of(None, None), of(0.9, "judge")):
        assert (absent["score"], absent["value"]) == (None, "absent")


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
    found = scorers.informative(inputs={}, outputs={"answer": answer}, reference_outputs={})
    assert (found["score"], found["value"]) == (number, "scored")
