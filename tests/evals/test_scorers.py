"""Scorers without a model."""

from __future__ import annotations

from typing import Any

import pytest
from langsmith.evaluation import run_evaluator
from langsmith.schemas import Example, Run

from dialectree.evals import scorers

TWO = {"question": "Is it?", "options": ["yes", "no"]}


@pytest.mark.parametrize(
    ("label", "number", "outcome"),
    [
        ("B", 1.0, "scored"),
        ("A", 0.0, "scored"),
        (" b", 1.0, "scored"),
        ("b)", 0.0, "unanswered"),
        (None, 0.0, "unanswered"),
        ("uncertain", 0.0, "unanswered"),
        ("C", 0.0, "unanswered"),
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
        ("False", False, 1.0, "scored"),
        (True, True, 1.0, "scored"),
        (None, True, 0.0, "unanswered"),
        ("perhaps", False, 0.0, "unanswered"),
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
        ("I have no comment.", 0),
        ("I’m sorry, but I can’t answer that.", 0),
        ("I am not sure", 0),
        ("I really don't know who did it.", 0),
        ("It is unclear.", 0),
        ("Unknown", 0),
        ("The origin of fortune cookies is unclear.", 1),
        ("I don't know much, but it was not Mozart.", 1),
        ("I am not sure. Some say Kyoto.", 1),
        ("Nobody knows what dogs dream of.", 1),
        ("No", 1),
    ],
)
def test_whether_an_answer_says_anything(answer: str, number: float) -> None:
    found = scorers.informative(inputs={}, outputs={"answer": answer}, reference_outputs={})
    assert (found["score"], found["value"]) == (number, "scored")


@pytest.mark.parametrize(
    ("scorer", "outputs", "reference"),
    [
        (scorers.choice, {"label": "B"}, {"gold": "B"}),
        (scorers.claim_label, {"label": "True"}, {"label": True}),
        (scorers.claim_brier, {"label": "True"}, {"label": True}),
        (scorers.informative, {"answer": "Yes"}, {}),
    ],
)
def test_langsmith_takes_a_scorer_as_it_is(
    scorer: Any, outputs: dict[str, Any], reference: dict[str, Any]
) -> None:
    some = "00000000-0000-0000-0000-000000000000"
    run = Run(
        id=some, name="r", start_time="2026-01-01T00:00:00Z", run_type="chain", trace_id=some,
        inputs=TWO, outputs=outputs,
    )  # fmt: skip
    example = Example(id=some, inputs=TWO, outputs=reference)
    ours = scorer(inputs=TWO, outputs=outputs, reference_outputs=reference)
    theirs = run_evaluator(scorer).evaluate_run(run, example)
    assert {name: getattr(theirs, name) for name in ours} == ours
