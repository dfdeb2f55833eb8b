"""Scorers without a model."""

from __future__ import annotations

from typing import Any

import pytest
from langsmith.evaluation import run_evaluator
from langsmith.schemas import Example, Run

from dialectree.evals import scorers
from dialectree.evals.proportions import wilson
from dialectree.evals.scorers import Score, Tally, tally

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
    def of(confidence: float | None, source: str | None) -> Score:
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


def test_no_answer_says_nothing() -> None:
    found = scorers.informative(inputs={}, outputs={"answer": None}, reference_outputs={})
    assert (found["score"], found["value"]) == (0.0, "unanswered")


def one(number: float | None, outcome: str = "scored") -> Score:
    return {"key": "k", "score": number, "value": outcome, "comment": ""}  # type: ignore[typeddict-item]


def test_answers_are_counted_each_in_one_place() -> None:
    found = tally([one(1), one(0), one(1), one(0, "unanswered"), one(None, "unparsed")])
    assert found == Tally(right=2, wrong=1, unanswered=1, unparsed=1)
    assert (found.n, found.judged) == (5, 4)
    assert tally([]).n == 0
    for none in (one(0.5), one(None, "absent"), one(None, "swayed")):
        with pytest.raises(ValueError, match="not right or wrong"):
            tally([none])
    assert scorers.numbers([one(0.5), one(None, "swayed")]) == [0.5]


def test_always_declining_and_always_being_wrong_are_plain_to_see() -> None:
    declined = [{"answer": "I don't know."}] * 20
    says = tally(
        scorers.informative(inputs={}, outputs=outputs, reference_outputs={})
        for outputs in declined
    )
    assert (says.right, says.n) == (0, 20)
    wrong = tally(
        scorers.choice(inputs=TWO, outputs={"label": "A"}, reference_outputs={"gold": "B"})
        for _ in range(20)
    )
    share = wilson(wrong.right, wrong.n)
    assert share.low == 0 and share.high is not None and share.high < 0.2


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
