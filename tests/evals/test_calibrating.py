"""What confidences are worth: the fit, what is saved of it, and what holds for fresh questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.random import Generator

from dialectree.errors import InputError
from dialectree.evals import calibration_fit
from dialectree.evals.calibration_fit import (
    LEAST,
    AnswersWithOutcome,
    apply_platt_scaling,
    calibrate,
    cross_fitted,
    difference,
    improves,
    platt,
    save,
    squares,
)
from dialectree.evals.confidence_measures import risk_area, risk_coverage
from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.intervals import Floats
from dialectree.evals.results import AnswerScore, DataUsed, EvaluationFile, Result, Row
from dialectree.evals.results_file import Folder
from dialectree.protocols.calibrated_figure import CalibratedInterval
from dialectree.protocols.calibrations import calibrations_for, read_calibrations
from dialectree.records import Verdict
from tests.cli.commands import command, refused
from tests.evals import sample

OUT, FILE = Path("out"), Path("calibration.json")
ROW = sample.row("rsd")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_fit, "RESAMPLES", 100)


def sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


class Truth(NamedTuple):
    """Draws of a known truth."""

    confidences: Floats
    chances: Floats
    """How probably each comes true."""
    true: Floats
    groups: list[str]


def independent(confidence: Callable[[Floats], Floats], chance: float | None = None) -> Any:
    def drawn(rng: Generator, n: int) -> Truth:
        ease = rng.normal(0.8, 1, n)
        chances = sigmoid(ease) if chance is None else np.full(n, chance)
        true = (rng.random(n) < chances).astype(float)
        return Truth(confidence(ease), chances, true, [f"{place}" for place in range(n)])

    return drawn


def clustered(rng: Generator, n: int) -> Truth:
    """Five answers a cluster, which are as sure as one another and come true together."""
    chances = sigmoid(np.repeat(rng.normal(0.8, 1, -(-n // 5)), 5)[:n])
    true = (np.repeat(rng.random(-(-n // 5)), 5)[:n] < chances).astype(float)
    return Truth(chances, chances, true, [f"{place // 5}" for place in range(n)])


TRUTHS: dict[str, Callable[[Generator, int], Truth]] = {
    "well calibrated": independent(lambda ease: sigmoid(ease)),
    "over-confident": independent(lambda ease: sigmoid(2.5 * ease + 0.5)),
    "under-confident": independent(lambda ease: sigmoid(0.4 * ease)),
    "constant": independent(lambda ease: np.full_like(ease, 0.9), 0.6),
    "constant and right": independent(lambda ease: np.full_like(ease, 0.8), 0.8),
    "inverted": independent(lambda ease: 1 - sigmoid(ease)),
    "in tens": independent(lambda ease: np.round(sigmoid(1.5 * ease + 1), 1)),
    "noise": independent(lambda ease: sigmoid(ease), 0.7),
    "clustered": clustered,
}
USELESS = ("well calibrated", "constant and right", "clustered")
"""Truths in which no calibration can improve anything."""


def drawn(name: str, n: int, seed: int = 1) -> Truth:
    return TRUTHS[name](np.random.default_rng(seed), n)


def outcomes(name: str, evaluations: int, n: int) -> Iterator[tuple[CalibratedInterval, float]]:
    """Yield the difference that each evaluation shows, and the true one on fresh questions."""
    for seed in range(evaluations):
        answers = drawn(name, n, seed)
        answered = AnswersWithOutcome(answers.confidences, answers.true, answers.groups)
        a, b = platt(answered.confidences, answered.true)
        fresh = drawn(name, 5000, 10**6 + seed)
        after = apply_platt_scaling(a, b, fresh.confidences)
        errors = [(one - fresh.chances) ** 2 for one in (after, fresh.confidences)]
        shown = difference(squares, answered, cross_fitted(answered))
        yield shown, float(np.mean(errors[0] - errors[1]))


def judged(name: str, evaluations: int, n: int) -> tuple[float, float, float]:
    """Return shares: saved, saved although it harms, and within the interval's upper end."""
    found = [*outcomes(name, evaluations, n)]
    saved = [true for shown, true in found if improves(shown)]
    within = [true <= shown.high for shown, true in found if shown.high is not None]
    harms = sum(true > 0 for true in saved)
    return len(saved) / len(found), harms / len(found), float(np.mean(within))


@pytest.mark.parametrize("name", TRUTHS)
def test_no_calibration_that_is_saved_harms_fresh_answers(name: str) -> None:
    saved, harms, within = judged(name, 8, 150)
    assert harms == 0 and within >= 7 / 8
    assert saved <= 1 / 8 if name in USELESS else True
    assert saved == 1 if name == "inverted" else True


@pytest.mark.slow
@pytest.mark.parametrize(("evaluations", "n"), [(300, 100), (100, 300)])
@pytest.mark.parametrize("name", TRUTHS)
def test_of_many_calibrations_few_harm_fresh_answers(
    name: str, evaluations: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration_fit, "RESAMPLES", 400)
    saved, harms, within = judged(name, evaluations, n)
    print(f"{name}, n = {n}: saved {saved:.3f}, harms {harms:.3f}, within {within:.3f}")
    assert harms <= 0.025 and within >= 0.91
    assert saved <= 0.025 if name in USELESS else True


# The fit


def test_the_fit_finds_the_line_that_the_answers_were_drawn_by() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1.5, 20_000)
    true = (rng.random(20_000) < sigmoid(0.5 * scores - 0.7)).astype(float)
    assert platt(sigmoid(scores), true) == pytest.approx((0.5, -0.7), abs=0.06)


@pytest.mark.parametrize("true", [np.ones(60), np.zeros(60), np.arange(60) % 2, np.arange(60) < 30])
@pytest.mark.parametrize("sure", [np.full(60, 1.0), np.linspace(0, 1, 60), np.linspace(0.9, 1, 60)])
def test_the_fit_is_finite_whatever_the_answers(sure: Floats, true: Floats) -> None:
    a, b = platt(sure, true.astype(float))
    assert np.isfinite([a, b]).all()
    assert ((apply_platt_scaling(a, b, sure) > 0) & (apply_platt_scaling(a, b, sure) < 1)).all()


def test_the_same_answers_in_another_order_get_the_same_figures() -> None:
    answers = TRUTHS["over-confident"](np.random.default_rng(1), 100)
    write(answers)
    first = calibrate(OUT)
    write(answers, order=np.random.default_rng(2).permutation(100).tolist())
    assert calibrate(OUT) == first


def test_the_area_is_that_of_the_curve() -> None:
    rng = np.random.default_rng(1)
    for sure in (rng.random(40), np.round(rng.random(40), 1), np.full(40, 0.5)):
        true = (rng.random(40) < 0.6).astype(float)
        curve = risk_coverage([*sure], [bool(one) for one in true])
        assert risk_area(sure, true) == pytest.approx(curve[1])


# An evaluation's folder


def results(row: str, answers: Truth, source: str, first: int = 0, **fields: Any) -> list[Result]:
    """Return the results of a row whose verdicts have confidences of one source."""
    lines = zip(answers.confidences, answers.true, answers.groups, strict=True)
    return [
        Result(
            row=row,
            item=f"q{place}",
            cluster=group,
            status="answered",
            verdict=Verdict(
                answer="w", label="A", confidence=round(float(sure), 6), confidence_source=source
            ),
            scores=[AnswerScore(key="choice", score=float(true), value="scored")],
            ended=sample.STAMP,
            **fields,
        )
        for place, (sure, true, group) in enumerate(lines, first)
    ]


def write(
    answers: Truth, *rows: Row, more: list[Result] | None = None, order: list[int] | None = None
) -> None:
    """Write an evaluation in which each row has the same answers."""
    rows = rows or (ROW,)
    lines = [one for row in rows for one in results(row.name, answers, "judge")] + (more or [])
    lines = lines if order is None else [lines[place] for place in order]
    count = len({one.item for one in lines})
    items = [
        Item(
            id=f"q{place}",
            inputs=Inputs(question=f"What is {place}?", options=("w", "x")),
            reference=Reference(gold="A"),
        )
        for place in range(count)
    ]
    evaluation = EvaluationFile(
        data=DataUsed(name="mine", sha256=sample.SHA, count=count),
        task="decide",
        items=[item.id for item in items],
        rows=[*rows],
        started=sample.STAMP,
    )
    OUT.mkdir(exist_ok=True)
    Folder(OUT).begin(evaluation, items)
    text = "".join(one.model_dump_json() + "\n" for one in lines)
    (OUT / "results.jsonl").write_text(text)


def test_the_command_saves_what_improves_and_prints_both_figures() -> None:
    write(drawn("over-confident", 200))
    done = command("eval", "calibrate", str(OUT), "--save", str(FILE))
    assert done.status == 0 and "saved: calibration.json" in done.err
    assert "rsd · source: judge · 200 answers" in done.out and "Brier" in done.out
    (one,) = read_calibrations(FILE).calibrations
    assert (one.protocol, one.method, one.source, one.n) == ("rsd", "rsd", "judge", 200)
    assert one.models == ROW.models and one.brier.after.value < one.brier.before.value
    told = json.loads(command("eval", "calibrate", str(OUT), "--json").out)
    assert told[0]["refusal"] == "" and told[0]["calibration"] == one.model_dump()


def test_nothing_is_saved_that_improves_nothing() -> None:
    write(drawn("well calibrated", 200))
    done = command("eval", "calibrate", str(OUT), "--save", str(FILE))
    assert done.status == 1 and "nothing is saved" in done.err and not FILE.exists()
    assert "not saved: no better Brier score is shown" in done.out


def test_too_few_answers_are_refused_with_their_number() -> None:
    write(drawn("over-confident", LEAST - 1))
    done = command("eval", "calibrate", str(OUT))
    refused(done, "rsd (judge): 49 answers; a calibration needs 50")
    write(drawn("clustered", 60))
    with pytest.raises(InputError, match="to 12 questions or clusters; a calibration needs 20"):
        calibrate(OUT)
    with pytest.raises(InputError, match="--row tsd: the evaluation has no such row; known: rsd"):
        calibrate(OUT, "tsd")


def test_rows_and_sources_are_never_put_together() -> None:
    other = sample.row("rsd", sample.OTHER, name="other")
    more = results("other", drawn("inverted", 80), "agreement", first=60)
    write(drawn("inverted", 60), ROW, other, more=more)
    found = {(one.row, one.source): one.n for one in calibrate(OUT)}
    assert found == {("rsd", "judge"): 60, ("other", "judge"): 60, ("other", "agreement"): 80}
    assert all(one.inverted for one in calibrate(OUT))
    assert save(FILE, OUT, calibrate(OUT))
    models = {role: f"{spec}@http://localhost:1/v1" for role, spec in other.models.items()}
    own = calibrations_for(FILE, "rsd", "rsd", models)
    assert [(one.row, one.source) for one in own] == [("other", "agreement"), ("other", "judge")]


def test_rows_of_the_same_method_and_models_are_refused_by_name() -> None:
    write(drawn("inverted", 60), ROW, sample.row("rsd", name="again", rounds=2))
    with pytest.raises(InputError, match="rsd and again have the same method, models and source"):
        save(FILE, OUT, calibrate(OUT))
    assert save(FILE, OUT, calibrate(OUT, "again"))


def test_a_probability_is_measured_by_the_truth_of_its_claim() -> None:
    """A claim that is false and called false is right, and its probability did not come true."""
    answers = drawn("well calibrated", 60)
    write(answers)
    items = [
        Item(id=f"q{n}", inputs=Inputs(claim="So."), reference=Reference(label=bool(true)))
        for n, true in enumerate(answers.true)
    ]
    lines = results("rsd", answers, "P(claim)")
    for line in lines:
        assert line.verdict is not None and line.verdict.confidence is not None
        line.verdict.label = str(line.verdict.confidence > 0.5)
    Folder(OUT).begin(Folder(OUT).require_evaluation(), items)
    (OUT / "results.jsonl").write_text("".join(line.model_dump_json() + "\n" for line in lines))
    (one,) = calibrate(OUT)
    assert one.source == "P(claim)" and one.calibration is not None
    squares = np.mean((answers.confidences - answers.true) ** 2)
    assert one.calibration.brier.before.value == pytest.approx(squares, abs=1e-5)


# The file


@pytest.mark.parametrize(
    ("protocol", "models", "differs"),
    [
        ("tsd", ROW.models, "it is for rsd, but this run uses tsd"),
        ("rsd", {**ROW.models, "judge": "openai:x"}, "judge openai:plain-8b, and this is openai:x"),
        ("rsd", {**ROW.models, "checker": "openai:x"}, "checker none, and this is openai:x"),
    ],
)
def test_a_file_does_not_hold_for_others(protocol: str, models: dict[str, str], differs: str) -> None:
    write(drawn("inverted", 60))
    save(FILE, OUT, calibrate(OUT))
    with pytest.raises(InputError, match=differs):
        calibrations_for(FILE, protocol, protocol, models)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"schema": "dialectree.calibration/2", "calibrations": []}', "is not a file of"),
        ("nothing", "cannot be read"),
        (None, "No such file"),
    ],
)
def test_another_file_is_refused_in_one_line(text: str | None, fault: str) -> None:
    if text is not None:
        FILE.write_text(text)
    with pytest.raises(InputError, match=fault) as error:
        read_calibrations(FILE)
    assert "\n" not in str(error.value)
