"""Fit calibrations of confidence to an evaluation's answers, and test them on held-out answers.

A calibration belongs to one row of the matrix and one source of confidence. Answers of several rows
or sources are never pooled. No model is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dialectree.errors import InputError
from dialectree.evals.confidence_measures import gap, risk_area
from dialectree.evals.dataset_items import Item
from dialectree.evals.intervals import RESAMPLES, Floats, bootstrap_interval, floats
from dialectree.evals.results import Result, Row, measure, outcome
from dialectree.evals.results_file import Folder, replace_file
from dialectree.protocols.calibrated_figure import CLIP, BeforeAndAfter, CalibratedInterval, Calibration
from dialectree.protocols.calibrations import CalibrationFile
from dialectree.protocols.protocol import method
from dialectree.protocols.routes import without_address
from dialectree.system import chance
from dialectree.text import count

LEAST = 50
"""The fewest answers for a calibration."""
LEAST_GROUPS = 20
"""The fewest questions, or clusters of questions, for a calibration. With fewer the interval is too
narrow: in 400 evaluations it held for fresh questions in 92 % with 15 clusters, and in 96 % with 20."""
FOLDS = 10
Measure = Callable[[Floats, Floats], float]
"""Computes a figure from confidences and outcomes (1 for true, 0 for false)."""


class AnswersWithOutcome(NamedTuple):
    """Answers of one row that have a confidence of one source and a known outcome."""

    confidences: Floats
    true: Floats
    """1 if the answer is right (for a probability: if the claim is true), else 0."""
    groups: list[str]
    """The group of each answer. Answers of one group are not independent; see :attr:`Result.group`."""
    probable: bool = False
    """True if the confidences are probabilities of claims."""


class CalibrationFit(NamedTuple):
    """The calibration of one row and one source, or the reason not to save one."""

    row: str
    source: str
    n: int
    groups: int
    calibration: Calibration | None
    """None if there are too few answers."""
    refusal: str
    """The reason not to save the calibration; empty if it is saved."""

    @property
    def inverted(self) -> bool:
        """True if the surer answers came true less often."""
        return self.calibration is not None and self.calibration.a < 0


def calibrate(path: Path, row: str | None = None) -> list[CalibrationFit]:
    """Fit a calibration to each row and source of the evaluation in ``path``, or to one ``row``.

    Raises InputError for an unknown row, if no answer has a confidence and a known outcome, and if
    every row and source has too few answers.
    """
    folder = Folder(path)
    evaluation = folder.require_evaluation()
    rows = [eval_row for eval_row in evaluation.rows if row in (None, eval_row.name)]
    if not rows:
        row_names = ", ".join(eval_row.name for eval_row in evaluation.rows)
        raise InputError(f"--row {row}: the evaluation has no such row; known: {row_names}")
    last = {(result.row, result.item): result for result in folder.results()}
    items = {item.id: item for item in folder.items()}
    fits: list[CalibrationFit] = []
    for eval_row in rows:
        results = [result for (name, _), result in last.items() if name == eval_row.name]
        for source, answered in sorted(by_source(results, items).items()):
            fits.append(fit(eval_row, source, answered))
    if not fits:
        raise InputError(f"{path}: no answer has a confidence whose outcome is known")
    if all(row_fit.calibration is None for row_fit in fits):
        lines = (f"{row_fit.row} ({row_fit.source}): {row_fit.refusal}" for row_fit in fits)
        raise InputError("; ".join(lines))
    return fits


def by_source(results: Sequence[Result], items: dict[str, Item]) -> dict[str, AnswersWithOutcome]:
    """Return the answers of one row by the source of their confidence."""
    key = measure(results)
    lines: dict[str, list[tuple[float, bool, str]]] = {}
    probable: set[str] = set()
    for result in sorted(results, key=lambda answer: answer.item):
        verdict = result.verdict
        if verdict is None or verdict.confidence is None or not verdict.confidence_source:
            continue
        true = {"right": True, "wrong": False}.get(outcome(result, key))
        if verdict.probable:
            item = items.get(result.item)
            true = None if item is None else item.reference.label
            probable.add(verdict.confidence_source)
        if true is not None:
            line = verdict.confidence, true, result.group
            lines.setdefault(verdict.confidence_source, []).append(line)
    answers: dict[str, AnswersWithOutcome] = {}
    for source, source_lines in lines.items():
        confidences, came_true, groups = zip(*source_lines, strict=True)
        columns = floats(confidences), floats(came_true)
        answers[source] = AnswersWithOutcome(*columns, [*groups], source in probable)
    return answers


def fit(row: Row, source: str, answered: AnswersWithOutcome) -> CalibrationFit:
    """Fit the answers of one row and source, and measure the fit on answers that it has not seen.

    The groups are split into folds, and each fold is calibrated by a fit to the others
    (cross-fitting). So figures before and after calibration are about the same answers. A paired
    bootstrap of whole groups gives their difference an interval. The calibration is saved only if
    the interval of the difference in Brier scores lies below 0.
    """
    n, groups = len(answered.true), len({*answered.groups})
    about = row.name, source, n, groups
    if n < LEAST:
        return CalibrationFit(*about, None, f"{count(n, 'answer')}; a calibration needs {LEAST}")
    if groups < LEAST_GROUPS:
        few = f"answers to {groups} questions or clusters; a calibration needs {LEAST_GROUPS}"
        return CalibrationFit(*about, None, few)
    a, b = platt(answered.confidences, answered.true)
    changes = measure_before_and_after(answered, cross_fitted(answered))
    calibration = Calibration(
        row=row.name,
        protocol=method(row.method).protocol.name,
        method=row.method,
        models={role: without_address(spec) for role, spec in row.models.items()},
        source=source,
        a=a,
        b=b,
        n=n,
        groups=groups,
        **changes,
    )
    better = improves(calibration.brier.difference)
    return CalibrationFit(*about, calibration, "" if better else "no better Brier score is shown")


def platt(confidences: Floats, true: Floats) -> tuple[float, float]:
    """Return a and b of 1 / (1 + exp(−(a · logit(confidence) + b))) by maximum likelihood.

    Platt 1999, "Probabilistic outputs for support vector machines". Its targets (N₊ + 1) / (N₊ + 2)
    and 1 / (N₋ + 2), in place of 1 and 0, keep a and b finite. Newton's method finds a and b,
    with each step halved until it helps (Lin, Lin and Weng 2007). Confidences are first clipped to
    0.01 and 0.99. If all are equal, a is 0, and each is calibrated to the share of true answers.
    """
    sure = np.clip(confidences, CLIP, 1 - CLIP)
    scores, positive = np.log(sure / (1 - sure)), float(true.sum())
    targets = np.where(true == 1, (positive + 1) / (positive + 2), 1 / (len(true) - positive + 2))
    share = float(targets.mean())
    centre, spread = float(scores.mean()), float(scores.std())
    weights = np.array([0.0, np.log(share / (1 - share))])
    if spread < 1e-9:
        return 0.0, float(weights[1])
    columns = np.column_stack([(scores - centre) / spread, np.ones_like(scores)])

    def loss(weights: Floats) -> float:
        return float((np.logaddexp(0, columns @ weights) - targets * (columns @ weights)).sum())

    now = loss(weights)
    for _ in range(100):
        expected = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (expected - targets)
        if np.abs(slope).max() < 1e-9 * len(true):
            break
        curvature = (columns.T * (expected * (1 - expected))) @ columns
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), slope)
        part = 1.0
        while part > 1e-10 and loss(weights - part * step) > now - 1e-4 * part * (slope @ step):
            part /= 2
        weights = weights - part * step
        now = loss(weights)
    a = float(weights[0]) / spread
    return a, float(weights[1]) - a * centre


def apply_platt_scaling(a: float, b: float, confidences: Floats) -> Floats:
    """Return ``confidences`` calibrated by the a and b of :func:`platt`."""
    sure = np.clip(confidences, CLIP, 1 - CLIP)
    return 1 / (1 + np.exp(-(a * np.log(sure / (1 - sure)) + b)))


def cross_fitted(answered: AnswersWithOutcome) -> Floats:
    """Return each answer's confidence, calibrated by a fit to the folds without this answer.

    All answers of a group are in one fold. A fixed seed draws the folds, so the same answers get the
    same folds.
    """
    groups = sorted({*answered.groups})
    chance.draws(0, "folds", len(groups)).shuffle(groups)
    folds = {group: place % FOLDS for place, group in enumerate(groups)}
    fold = np.array([folds[group] for group in answered.groups])
    after = np.empty_like(answered.confidences)
    for test_fold in {*folds.values()}:
        a, b = platt(answered.confidences[fold != test_fold], answered.true[fold != test_fold])
        after[fold == test_fold] = apply_platt_scaling(a, b, answered.confidences[fold == test_fold])
    return after


def measure_before_and_after(answered: AnswersWithOutcome, after: Floats) -> dict[str, BeforeAndAfter]:
    """Return the Brier score, ECE and AURC before and after calibration.

    For claims, the AURC takes max(p, 1 − p) as the confidence: the probability of the chosen label.
    """
    before, true, groups = answered.confidences, answered.true, answered.groups
    risk = _area_of_claims if answered.probable else risk_area
    return {
        name: BeforeAndAfter(
            before=_estimate(figure, [before, true], groups),
            after=_estimate(figure, [after, true], groups),
            difference=difference(figure, answered, after),
        )
        for name, figure in (("brier", squares), ("ece", gap), ("aurc", risk))
    }


def difference(figure: Measure, answered: AnswersWithOutcome, after: Floats) -> CalibratedInterval:
    """Return ``figure`` of the calibrated confidences minus ``figure`` of the original ones."""

    def between(before: Floats, after: Floats, true: Floats) -> float:
        return figure(after, true) - figure(before, true)

    return _estimate(between, [answered.confidences, after, answered.true], answered.groups)


def improves(interval: CalibratedInterval) -> bool:
    """Return whether the interval of a difference in Brier scores lies below 0."""
    return interval.high is not None and interval.high < 0


def _estimate(
    measure: Callable[..., float], columns: Sequence[Floats], groups: Sequence[str]
) -> CalibratedInterval:
    figure = bootstrap_interval(measure, columns, resamples=RESAMPLES, clusters=groups)
    return CalibratedInterval(value=figure.value or 0.0, low=figure.low, high=figure.high)


def squares(sure: Floats, true: Floats) -> float:
    """Return the Brier score."""
    return float(np.mean((sure - true) ** 2))


def _area_of_claims(sure: Floats, true: Floats) -> float:
    return risk_area(np.maximum(sure, 1 - sure), ((sure > 0.5) == (true == 1)).astype(np.float64))


def save(path: Path, folder: Path, fitted: Sequence[CalibrationFit]) -> bool:
    """Write the calibrations that improve the Brier score to a file; return whether there are any.

    Raises InputError if two rows share method, models and source: a run could not choose between
    their calibrations.
    """
    calibrations = [
        row_fit.calibration for row_fit in fitted if row_fit.calibration is not None and not row_fit.refusal
    ]
    for place, calibration in enumerate(calibrations):
        same = ("method", "models", "source")
        for earlier_calibration in calibrations[:place]:
            if all(getattr(calibration, name) == getattr(earlier_calibration, name) for name in same):
                raise InputError(
                    f"{earlier_calibration.row} and {calibration.row} have the same method, models and "
                    f"source ({calibration.source}): choose one with --row"
                )
    if not calibrations:
        return False
    file = CalibrationFile(data=Folder(folder).require_evaluation().data.name, calibrations=calibrations)
    text = file.model_dump_json(indent=1, by_alias=True) + "\n"
    replace_file(path, text, "write the file again")
    return True


def as_json(fitted: Sequence[CalibrationFit]) -> str:
    """Return the calibration of each row and source as JSON; ``refusal`` is empty for a saved one."""
    plain = [
        {**row_fit._asdict(), "calibration": row_fit.calibration and row_fit.calibration.model_dump()}
        for row_fit in fitted
    ]
    return json.dumps(plain, indent=1)


def lines(fitted: Sequence[CalibrationFit]) -> Iterator[str]:
    """Yield lines for a person on the calibration of each row and source."""
    for row_fit in fitted:
        of = "" if row_fit.groups == row_fit.n else f" of {row_fit.groups:,} questions or clusters"
        yield f"{row_fit.row} · source: {row_fit.source} · {count(row_fit.n, 'answer')}{of}"
        if (calibration := row_fit.calibration) is not None:
            for name, change in (
                ("Brier", calibration.brier),
                ("ECE", calibration.ece),
                ("AURC", calibration.aurc),
            ):
                before, after = _figure(change.before), _figure(change.after)
                yield f"  {name:<5} {before} -> {after}; {_figure(change.difference, '+')}"
        if row_fit.inverted:
            yield "  surer answers came true less often: the calibration reverses their order"
        yield (f"  not saved: {row_fit.refusal}" if row_fit.refusal else "  better by its Brier score")


def _figure(interval: CalibratedInterval, sign: str = "") -> str:
    """Return value and interval, as in ``0.251 [0.214, 0.290]``; ``sign`` "+" writes every sign."""
    if interval.low is None or interval.high is None:
        return f"{interval.value:{sign}.3f}"
    return f"{interval.value:{sign}.3f} [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"
