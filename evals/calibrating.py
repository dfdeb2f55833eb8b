"""Fit what confidences are worth to an evaluation's answers, and see whether it holds for others.

A calibration is of one row of the matrix and of one source of its verdicts' confidences. Answers of
several rows or sources are never put together. No call is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dialectree.errors import InputError
from dialectree.evals.calibration import gap, risk_area
from dialectree.evals.dataset_items import Item
from dialectree.evals.intervals import RESAMPLES, Floats, floats, resampled
from dialectree.evals.results import Result, Row, measure, outcome
from dialectree.evals.results_file import Folder, replace_file
from dialectree.protocols.calibrated_figure import CLIP, BeforeAndAfter, Calibration, Figure
from dialectree.protocols.calibrations import CalibrationFile
from dialectree.protocols.protocol import method
from dialectree.protocols.routes import without_address
from dialectree.system import chance
from dialectree.text import count

LEAST = 50
"""Answers that a calibration takes at least."""
LEAST_GROUPS = 20
"""Questions, or clusters of them, that these answers are of at least. The interval is too narrow on
fewer: of 400 evaluations of 15 clusters it held for fresh questions in 92 %, of 20 in 96 %."""
FOLDS = 10
Measure = Callable[[Floats, Floats], float]
"""Computes a figure of confidences and of what came true."""


class Answered(NamedTuple):
    """The answers of one row with a confidence of one source, whose outcome is known."""

    confidences: Floats
    true: Floats
    """1 where the answer is right, or the claim of a probability true; else 0."""
    groups: list[str]
    """Those of one group are not independent; see :attr:`Result.group`."""
    probable: bool = False
    """Whether the confidences are probabilities of claims."""


class Fitted(NamedTuple):
    """What came of one row and one source."""

    row: str
    source: str
    n: int
    groups: int
    calibration: Calibration | None
    """None where there are too few answers."""
    refusal: str
    """Why it is not saved; empty where it is."""

    @property
    def inverted(self) -> bool:
        """Whether the surer answers came true less often."""
        return self.calibration is not None and self.calibration.a < 0


def calibrate(path: Path, row: str | None = None) -> list[Fitted]:
    """Fit a calibration to each row and source of the evaluation in ``path``, or to one ``row``.

    Raises InputError where there is no such row, no confidence whose outcome is known, or where no
    row and source has as many answers as it takes.
    """
    folder = Folder(path)
    evaluation = folder.begun()
    rows = [one for one in evaluation.rows if row in (None, one.name)]
    if not rows:
        known = ", ".join(one.name for one in evaluation.rows)
        raise InputError(f"--row {row}: the evaluation has no such row; known: {known}")
    last = {(result.row, result.item): result for result in folder.results()}
    items = {item.id: item for item in folder.items()}
    found: list[Fitted] = []
    for one in rows:
        results = [result for (name, _), result in last.items() if name == one.name]
        for source, answered in sorted(by_source(results, items).items()):
            found.append(fit(one, source, answered))
    if not found:
        raise InputError(f"{path}: no answer has a confidence whose outcome is known")
    if all(one.calibration is None for one in found):
        lines = (f"{one.row} ({one.source}): {one.refusal}" for one in found)
        raise InputError("; ".join(lines))
    return found


def by_source(results: Sequence[Result], items: dict[str, Item]) -> dict[str, Answered]:
    """Return the answers of one row by the source of their confidence."""
    key = measure(results)
    lines: dict[str, list[tuple[float, bool, str]]] = {}
    probable: set[str] = set()
    for result in sorted(results, key=lambda one: one.item):
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
    found: dict[str, Answered] = {}
    for source, own in lines.items():
        confidences, came_true, groups = zip(*own, strict=True)
        columns = floats(confidences), floats(came_true)
        found[source] = Answered(*columns, [*groups], source in probable)
    return found


def fit(row: Row, source: str, answered: Answered) -> Fitted:
    """Fit the answers of one row and source, and measure the fit on answers that it has not seen.

    Each fold of the groups is calibrated by a fit to all others (cross-fitting), so that before and
    after are compared on the same answers. The interval of the difference is of the pairs, by a
    bootstrap of whole groups. It is not saved unless that interval of the Brier score lies below 0.
    """
    n, groups = len(answered.true), len({*answered.groups})
    about = row.name, source, n, groups
    if n < LEAST:
        return Fitted(*about, None, f"{count(n, 'answer')}, and it takes {LEAST}")
    if groups < LEAST_GROUPS:
        few = f"the answers are of {groups} questions or clusters, and it takes {LEAST_GROUPS}"
        return Fitted(*about, None, few)
    a, b = platt(answered.confidences, answered.true)
    changes = measured(answered, cross_fitted(answered))
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
    return Fitted(*about, calibration, "" if better else "no better Brier score is shown")


def platt(confidences: Floats, true: Floats) -> tuple[float, float]:
    """Return a and b of 1 / (1 + exp(−(a · logit(confidence) + b))) by maximum likelihood.

    Platt 1999, "Probabilistic outputs for support vector machines", with its targets (N₊ + 1) /
    (N₊ + 2) and 1 / (N₋ + 2) in place of 1 and 0, by which a and b stay finite; by Newton's method
    with steps that are halved until they help (Lin, Lin and Weng 2007). The score is the logit of
    the confidence, clipped to 0.01 and 0.99. Confidences that are all alike get the share of true
    ones: a is 0.
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


def applied(a: float, b: float, confidences: Floats) -> Floats:
    """Return calibrated confidences."""
    sure = np.clip(confidences, CLIP, 1 - CLIP)
    return 1 / (1 + np.exp(-(a * np.log(sure / (1 - sure)) + b)))


def cross_fitted(answered: Answered) -> Floats:
    """Return each answer's confidence, calibrated by a fit to the other folds of the groups.

    A seed draws the folds of the groups, which stay whole: the same answers get the same folds.
    """
    groups = sorted({*answered.groups})
    chance.draws(0, "folds", len(groups)).shuffle(groups)
    folds = {group: place % FOLDS for place, group in enumerate(groups)}
    fold = np.array([folds[group] for group in answered.groups])
    after = np.empty_like(answered.confidences)
    for own in {*folds.values()}:
        a, b = platt(answered.confidences[fold != own], answered.true[fold != own])
        after[fold == own] = applied(a, b, answered.confidences[fold == own])
    return after


def measured(answered: Answered, after: Floats) -> dict[str, BeforeAndAfter]:
    """Return the Brier score, ECE and AURC of confidences as said and as calibrated.

    The AURC of claims takes a probability as the confidence of the label that it gives.
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


def difference(figure: Measure, answered: Answered, after: Floats) -> Figure:
    """Return a figure of the calibrated confidences less that of those that were said."""

    def between(before: Floats, after: Floats, true: Floats) -> float:
        return figure(after, true) - figure(before, true)

    return _estimate(between, [answered.confidences, after, answered.true], answered.groups)


def improves(one: Figure) -> bool:
    """Return whether the interval of a difference in Brier scores lies below 0."""
    return one.high is not None and one.high < 0


def _estimate(
    measure: Callable[..., float], columns: Sequence[Floats], groups: Sequence[str]
) -> Figure:
    found = resampled(measure, columns, resamples=RESAMPLES, clusters=groups)
    return Figure(value=found.value or 0.0, low=found.low, high=found.high)


def squares(sure: Floats, true: Floats) -> float:
    """Return the Brier score."""
    return float(np.mean((sure - true) ** 2))


def _area_of_claims(sure: Floats, true: Floats) -> float:
    return risk_area(np.maximum(sure, 1 - sure), ((sure > 0.5) == (true == 1)).astype(np.float64))


def save(path: Path, folder: Path, fitted: Sequence[Fitted]) -> bool:
    """Write the calibrations that improve the Brier score to a file; return whether there are any.

    Raises InputError where two rows have the same method and models: a run could not tell which of
    their calibrations holds for it.
    """
    kept = [one.calibration for one in fitted if one.calibration is not None and not one.refusal]
    for place, one in enumerate(kept):
        same = ("method", "models", "source")
        for other in kept[:place]:
            if all(getattr(one, name) == getattr(other, name) for name in same):
                raise InputError(
                    f"{other.row} and {one.row} have the same method, models and source "
                    f"({one.source}): choose one with --row"
                )
    if not kept:
        return False
    file = CalibrationFile(data=Folder(folder).begun().data.name, calibrations=kept)
    text = file.model_dump_json(indent=1, by_alias=True) + "\n"
    replace_file(path, text, "write the file again")
    return True


def as_json(fitted: Sequence[Fitted]) -> str:
    """Return what came of each row and source as JSON; ``refusal`` is empty where it is saved."""
    plain = [
        {**one._asdict(), "calibration": one.calibration and one.calibration.model_dump()}
        for one in fitted
    ]
    return json.dumps(plain, indent=1)


def lines(fitted: Sequence[Fitted]) -> Iterator[str]:
    """Put what came of each row and source into lines for a person."""
    for one in fitted:
        of = "" if one.groups == one.n else f" of {one.groups:,} questions or clusters"
        yield f"{one.row} · source: {one.source} · {count(one.n, 'answer')}{of}"
        if (made := one.calibration) is not None:
            for name, change in (("Brier", made.brier), ("ECE", made.ece), ("AURC", made.aurc)):
                before, after = _figure(change.before), _figure(change.after)
                yield f"  {name:<5} {before} -> {after}; {_figure(change.difference, '+')}"
        if one.inverted:
            yield "  the surer answers come true less often: the calibration turns them round"
        yield f"  not saved: {one.refusal}" if one.refusal else "  better by its Brier score"


def _figure(one: Figure, sign: str = "") -> str:
    """``0.251 [0.214, 0.290]``, with a sign for a difference."""
    if one.low is None or one.high is None:
        return f"{one.value:{sign}.3f}"
    return f"{one.value:{sign}.3f} [{one.low:{sign}.3f}, {one.high:{sign}.3f}]"
