"""Evaluations of methods that are equally good: whatever a report asserts of them is false."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.reporting.analysis import analysed
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import DataUsed, Evaluation, Result, Row, Score, Sides, Status, Vote
from dialectree.records import Usage, Verdict
from tests.evals import sample

METHODS = ("rsd", "no_uncertainty", "basic", "self_consistency")
CLUSTERS, SIZE = 20, 6
ASSERTED = (" is better than ", " is worse than ", " leaves fewer questions right ")

USAGE = Usage(calls=3, prompt_tokens=900, completion_tokens=100)
VOTES = {right: Vote(answers=["A"], right=right, pair=True) for right in (True, False)}
SIDES = {
    (side, place): Sides(
        gold_side="b" if side else "a", gold_position="second" if place else "first"
    )
    for side in (0, 1)
    for place in (0, 1)
}
REFERENCE = Reference(gold="A")
ANSWER: Verdict | None = Verdict(answer="w", label="A")


def equals(seed: int, *, clustered: bool = False, balanced: bool = False) -> Study:
    """Four methods on 120 questions, with a vote before each debate.

    In clusters each method has clusters that suit it, and none suits more than another. A debater
    finds the right answer to an easy question, so that its side tells how hard the question was;
    ``balanced`` draws side and place instead.
    """
    rng = np.random.default_rng([seed, clustered, balanced])
    candidates = {"candidates": "balanced"} if balanced else {}
    rows = [sample.row(method, **candidates) for method in METHODS]
    n = CLUSTERS * SIZE
    hardness = np.repeat(rng.normal(0, 1, CLUSTERS), SIZE) * 0.5 + rng.normal(0, 1, n)
    evaluation = Evaluation(
        data=DataUsed(name="equal methods", sha256=sample.SHA, count=n),
        task="decide",
        items=[f"q{place}" for place in range(n)],
        rows=rows,
        vote_first=3,
        started=sample.STAMP,
        ended=sample.STAMP,
        cluster="topic" if clustered else None,
    )
    found = Study([Path()], [evaluation], rows, {row.name: [row] for row in rows}, evaluation.items)
    for place, item in enumerate(found.items):
        inputs = Inputs.model_construct(question=f"What is {place}?", options=("w", "x", "y", "z"))
        found.texts[item] = Item.model_construct(id=item, inputs=inputs, reference=REFERENCE)
        if clustered:
            found.group[item] = f"topic {place // SIZE}"
    for row in rows:
        suits = np.repeat(rng.normal(0, 1.5, CLUSTERS), SIZE) * clustered
        before = np.repeat(rng.normal(0, 1.5, CLUSTERS), SIZE) * clustered
        lines = zip(
            found.items,
            rng.random(n) < _chance(hardness + suits),
            rng.random(n) < _chance(hardness + before),
            rng.random(n),
            _sides(rng, hardness, balanced),
            strict=True,
        )
        found.results[row.name] = {
            item: _result(
                row,
                item,
                found.groups([item])[0] if clustered else None,
                bool(right),
                bool(voted),
                float(drawn),
                sides,
            )
            for item, right, voted, drawn, sides in lines
        }
    return found


def asserted(study: Study) -> tuple[bool, bool]:
    """Whether a report asserts a difference between methods, and that a judge leans."""
    analysis = analysed(study)
    said = [*opening(analysis)[:1], *findings(analysis)]
    differs = said[0].startswith("Debating") or any(w in text for text in said for w in ASSERTED)
    return differs, any("leans" in text for text in said)


def _chance(
    logits: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return 1 / (1 + np.exp(-0.8 - logits))


def _sides(
    rng: np.random.Generator, hardness: np.ndarray[tuple[int], np.dtype[np.float64]], drawn: bool
) -> Iterator[Sides]:
    for ease in hardness:
        if drawn:
            side, place = int(rng.integers(2)), int(rng.integers(2))
        else:
            side = place = int(rng.random() > 1 / (1 + np.exp(-2 * ease)))
        yield SIDES[side, place]


def _result(
    row: Row, item: str, cluster: str | None, right: bool, before: bool, drawn: float, sides: Sides
) -> Result:
    debate = row.method != "self_consistency"
    score = Score.model_construct(key="choice", score=float(right), value="scored")
    status: Status = "answered"
    verdict, scores = ANSWER, [score]
    if drawn < 0.02:
        status, verdict, scores = "failed", None, []
    elif drawn < 0.06 and debate:
        none = Score.model_construct(key="choice", score=0.0, value="unanswered")
        status, verdict, scores = "unresolved", None, [none]
    return Result.model_construct(
        row=row.name,
        item=item,
        cluster=cluster,
        status=status,
        verdict=verdict,
        scores=scores,
        usage=USAGE,
        vote=VOTES[before] if debate else None,
        sides=sides if debate else None,
        ended=sample.STAMP,
    )
