"""Evaluations of a debate that withholds answers, beside samples that answer everything."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import DataUsed, Evaluation, Result, Score
from dialectree.records import Verdict
from tests.evals import sample
from tests.evals.equals import USAGE

Kind = Literal["equal and selective", "equal and random", "worse and random"]
KINDS: dict[Kind, str] = {
    "equal and selective": "Debating helped in 1",
    "equal and random": "because it withheld",
    "worse and random": "its answers are worse",
}
"""What a report must not say of the first, and must say of the others."""
RIGHT, WORSE = 0.71, 0.47
"""Shares of right answers: of the samples and of an equal debate, and of a worse one."""


def withholding(seed: int, n: int, kind: Kind) -> Study:
    """Return a debate and samples on n questions, hard and easy ones.

    Selective: half of the wrong and a tenth of the right answers are withheld, and the confidence
    of the samples tells as much of theirs. Random: a third is withheld, whatever it is.
    """
    rng = np.random.default_rng([seed, n, [*KINDS].index(kind)])
    rows = [sample.row("rsd"), sample.row("self_consistency")]
    evaluation = Evaluation(
        data=DataUsed(name=kind, sha256=sample.SHA, count=n),
        task="decide",
        items=[f"q{place}" for place in range(n)],
        rows=rows,
        seed=seed,
        started=sample.STAMP,
        ended=sample.STAMP,
    )
    found = Study([Path()], [evaluation], rows, {row.name: [row] for row in rows}, evaluation.items)
    ease = rng.normal(0, 1, n)
    selective = kind == "equal and selective"
    for row in rows:
        share = WORSE if kind == "worse and random" and row.method == "rsd" else RIGHT
        luck = ease + rng.normal(0, 1, n)
        right = luck > np.sqrt(2) * _quantile(1 - share)
        unsure = rng.random(n) < (np.where(right, 0.1, 0.5) if selective else 1 / 3)
        debate = row.method == "rsd"
        found.results[row.name] = {
            item: _result(row.name, item, bool(is_right), bool(doubts), debate)
            for item, is_right, doubts in zip(found.items, right, unsure, strict=True)
        }
    return found


def _quantile(share: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(share))


def _result(row: str, item: str, right: bool, unsure: bool, debate: bool) -> Result:
    score = Score.model_construct(key="choice", score=float(right), value="scored")
    verdict: Verdict | None = Verdict(
        answer="w", label="A", confidence=0.5 if unsure else 0.9, confidence_source="share"
    )
    if debate and unsure:
        score = Score.model_construct(key="choice", score=0.0, value="unanswered")
        verdict = None
    return Result.model_construct(
        row=row,
        item=item,
        status="unresolved" if debate and unsure else "answered",
        verdict=verdict,
        scores=[score],
        usage=USAGE,
        ended=sample.STAMP,
    )


def says(study: Study, kind: Kind) -> bool:
    """Return whether a report says of a debate what its kind is looked at for."""
    analysis = analysed(study)
    return any(KINDS[kind] in text for text in (*opening(analysis)[:1], *findings(analysis)))
