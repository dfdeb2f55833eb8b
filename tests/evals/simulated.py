"""Evaluations in memory whose truth is known: equally good methods, and debates that withhold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from dialectree.evals.audit import Layout
from dialectree.evals.dataset_items import Inputs, Item, Reference
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.audit_result import AuditResult, analyse_audit
from dialectree.evals.reporting.findings import findings, opening
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import AnswerScore, DataUsed, EvaluationFile, Result, Row, Sides, Status, Vote
from dialectree.records import Usage, Verdict
from tests.evals import sample

CLUSTERS, SIZE = 20, 6
ASSERTED = (" is better than ", " is worse than ", " leaves fewer questions right ")
Kind = Literal["equal and selective", "equal and random", "worse and random"]
KINDS: dict[Kind, str] = {
    "equal and selective": "Debating helped in 1",
    "equal and random": "because it withheld",
    "worse and random": "its answers are worse",
}
"""What a report must not say of the first, and must say of the others."""
RIGHT, WORSE = 0.71, 0.47
"""Shares of right answers: of the samples and of an equal debate, and of a worse one."""

USAGE = Usage(calls=3, prompt_tokens=900, completion_tokens=100)
NOTHING = dict.fromkeys(("judging", "controlling", "cached", "cached_judging"), Usage())
"""Defaults that need not be copied for each of a million results."""
VOTES = {right: Vote(answers=["A"], right=right, pair=True) for right in (True, False)}
SIDES = {
    (side, place): Sides(gold_side="b" if side else "a", gold_position="second" if place else "first")
    for side in (0, 1)
    for place in (0, 1)
}
OPTIONS, GOLD = ("w", "x", "y", "z"), Reference(gold="A")
ANSWERS = {sure: Verdict(answer="w", label="A", confidence=sure) for sure in (0.5, 0.9)}
BARE = Verdict(answer="w", label="A")


def _study(rows: list[Row], n: int, results: list[Result], **fields: Any) -> Study:
    """Return results of n questions with options."""
    evaluation = EvaluationFile(
        data=DataUsed(name="simulated", sha256=sample.SHA, count=n),
        task="decide",
        items=[f"q{place}" for place in range(n)],
        rows=rows,
        started=sample.STAMP,
        ended=sample.STAMP,
        **fields,
    )
    asked = [
        Item.model_construct(
            id=f"q{place}",
            reference=GOLD,
            inputs=Inputs.model_construct(question=f"What is {place}?", options=OPTIONS),
        )
        for place in range(n)
    ]
    study = Study([Path()], [evaluation])
    study.add(Path(), asked, results)
    return study


def _result(row: str, place: int, end: str, verdict: Verdict, **fields: Any) -> Result:
    """Return a result that is right, wrong, unanswered or failed."""
    score = AnswerScore.model_construct(
        key="choice", score=float(end == "right"), value="unanswered" if end == "unanswered" else "scored"
    )
    statuses: dict[str, Status] = {"failed": "failed", "unanswered": "unresolved"}
    return Result.model_construct(
        row=row,
        item=f"q{place}",
        status=statuses.get(end, "answered"),
        verdict=None if end in statuses else verdict,
        scores=[] if end == "failed" else [score],
        usage=USAGE,
        ended=sample.STAMP,
        **{**NOTHING, "controls": [], "rulings": {}, **fields},
    )


def equals(seed: int, *, clustered: bool = False, balanced: bool = False) -> Study:
    """Four equally good methods on 120 questions, with a vote before each debate.

    In clusters each method has clusters that suit it, and none suits more than another. A debater
    finds the right answer to an easy question, so that its side tells how hard the question was;
    ``balanced`` draws side and place instead.
    """
    rng = np.random.default_rng([seed, clustered, balanced])
    candidates = {"candidates": "balanced"} if balanced else {}
    methods = ("rsd", "no_uncertainty", "basic", "self_consistency")
    rows, n = [sample.row(method, **candidates) for method in methods], CLUSTERS * SIZE
    hardness = np.repeat(rng.normal(0, 1, CLUSTERS), SIZE) * 0.5 + rng.normal(0, 1, n)

    def luck() -> Any:
        suits = np.repeat(rng.normal(0, 1.5, CLUSTERS), SIZE) * clustered
        return 1 / (1 + np.exp(-0.8 - hardness - suits))

    def sides(ease: float) -> Sides:
        if balanced:
            return SIDES[int(rng.integers(2)), int(rng.integers(2))]
        side = int(rng.random() > 1 / (1 + np.exp(-2 * ease)))
        return SIDES[side, side]

    results: list[Result] = []
    for row in rows:
        suited, before = luck(), luck()
        right, voted, drawn = rng.random(n) < suited, rng.random(n) < before, rng.random(n)
        for place in range(n):
            debate, own = row.method != "self_consistency", sides(hardness[place])
            end = "right" if right[place] else "wrong"
            end = "unanswered" if drawn[place] < 0.06 and debate else end
            end = "failed" if drawn[place] < 0.02 else end
            more = {"vote": VOTES[bool(voted[place])], "sides": own} if debate else {}
            cluster = f"topic {place // SIZE}" if clustered else None
            results.append(_result(row.name, place, end, BARE, cluster=cluster, **more))
    return _study(rows, n, results, vote_first=3, cluster="topic" if clustered else None)


def asserted(study: Study) -> tuple[bool, bool]:
    """Return whether a report asserts a difference between methods, and that a judge leans."""
    analysis = analyse_study(study)
    said = [*opening(analysis)[:1], *findings(analysis)]
    differs = said[0].startswith("Debating") or any(w in text for text in said for w in ASSERTED)
    return differs, any("leans" in text for text in said)


def withholding(seed: int, n: int, kind: Kind) -> Study:
    """Return a debate that withholds, and samples, on n questions, hard and easy ones.

    Selective: half of the wrong and a tenth of the right answers are withheld, and the confidence
    of the samples tells as much of theirs. Random: a third is withheld, whatever it is.
    """
    rng = np.random.default_rng([seed, n, [*KINDS].index(kind)])
    rows, ease = [sample.row("rsd"), sample.row("self_consistency")], rng.normal(0, 1, n)
    results: list[Result] = []
    for row in rows:
        debate = row.method == "rsd"
        share = WORSE if kind == "worse and random" and debate else RIGHT
        right = ease + rng.normal(0, 1, n) > np.sqrt(2) * norm.ppf(1 - share)
        doubts = np.where(right, 0.1, 0.5) if kind == "equal and selective" else 1 / 3
        unsure = rng.random(n) < doubts
        for place in range(n):
            end = "right" if right[place] else "wrong"
            end = "unanswered" if debate and unsure[place] else end
            sure = ANSWERS[0.5 if unsure[place] else 0.9]
            results.append(_result(row.name, place, end, sure))
    return _study(rows, n, results, seed=seed)


def says(study: Study, kind: Kind) -> bool:
    """Return whether a report says of a debate what its kind is looked at for."""
    analysis = analyse_study(study)
    return any(KINDS[kind] in text for text in (*opening(analysis)[:1], *findings(analysis)))


# Audits


def decided(rows: list[Row], n: int, right: Callable[[str, int], bool]) -> Study:
    """Return rows that answered n questions, ``right`` by the row's name and the question."""
    ends = {True: "right", False: "wrong"}
    results = [
        _result(row.name, place, ends[right(row.name, place)], BARE) for row in rows for place in range(n)
    ]
    return _study(rows, n, results)


MODELS = ("openai:a", "openai:b", "openai:c")
Shape = Literal["alike", "clustered", "unlike", "strongest", "withholding", "helps", "harms"]
SHAPES: dict[Shape, dict[str, float]] = {
    "alike": {},
    "clustered": {},
    "unlike": {"b": 0.4, "c": 0.8, "debate, unlike models": 0.4},
    # As good as the best model, which has to be found out; everything else is weak.
    "strongest": {
        **{"b": 0.5, "c": 1.0, "samples": -1.0, "one critique": -1.0, "consultancy": -1.0},
        **{"debate, one model": 1.0, "debate, unlike models": 1.0},
    },
    "withholding": {},
    "helps": {"debate, one model": 0.0, "debate, unlike models": 1.6},
    "harms": {"debate, one model": -0.6, "debate, unlike models": -0.6},
}
"""By how much a model or a row is better than the plainest, in logits. Debating changes something
in ``helps`` and ``harms`` alone."""


def audit(seed: int, shape: Shape, n: int = 120) -> AuditResult:
    """Return an audit of three models, whose answers share how hard a question is."""
    rng = np.random.default_rng([seed, n, [*SHAPES].index(shape)])
    skill, clustered = SHAPES[shape], shape == "clustered"
    layout = Layout(
        alone={model: f"alone, {model}" for model in MODELS},
        samples={model: f"samples, {model}" for model in MODELS},
        critique="one critique",
        consultancy="consultancy",
        one_model="debate, one model",
        unlike="debate, unlike models",
    )
    size = SIZE if clustered else 1
    places = np.arange(n) // size

    def luck(scale: float) -> Any:
        return rng.normal(0, scale, n // size + 1)[places]

    hardness = luck(0.8) + rng.normal(0, 1, n)
    rows: list[Row] = []
    results: list[Result] = []
    made: dict[Any, Result] = {}
    of_models = {**{name: model for model, name in layout.alone.items()}}
    of_models |= {name: model for model, name in layout.samples.items()}
    methods = {layout.critique: "consultancy", layout.consultancy: "consultancy"}
    for name in (*of_models, layout.critique, layout.consultancy, *layout.debates):
        assert name is not None
        model, part = of_models.get(name, ""), name.partition(",")[0]
        usual = {"alone": "judge_alone", "samples": "self_consistency", "debate": "rsd"}
        method = usual.get(part) or str(methods[name])
        rows.append(sample.row(method, model or MODELS[0], name=name))
        better = skill.get(name, 0.0) + skill.get(part, 0.0) + skill.get(model.rpartition(":")[2], 0.0)
        right = rng.random(n) < 1 / (1 + np.exp(-0.4 - better - hardness - luck(1.2) * clustered))
        withheld = rng.random(n) < np.where(right, 0.1, 0.5)
        failed = rng.random(n) < 0.02
        for place in range(n):
            end = "right" if right[place] else "wrong"
            if shape == "withholding" and part == "debate" and withheld[place]:
                end = "unanswered"
            end = "failed" if failed[place] else end
            sure = ANSWERS[0.5 if withheld[place] else 0.9]
            cluster = f"topic {places[place]}" if clustered else None
            if (kind := (name, end, id(sure))) not in made:
                made[kind] = _result(name, place, end, sure)
            results.append(made[kind].model_copy(update={"item": f"q{place}", "cluster": cluster}))
    fields = {"cluster": "topic"} if clustered else {}
    return analyse_audit(_study(rows, n, results, seed=seed, **fields), layout)
