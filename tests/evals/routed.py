"""Votes and debates whose truth is known: how often each is right where the votes agree so far."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.stats import norm

from dialectree.evals.dataset_items import Inputs, Item
from dialectree.evals.intervals import Floats, floats
from dialectree.evals.results import AnswerScore, DataUsed, EvaluationFile, Result, Row, Vote
from dialectree.evals.results_file import Folder
from dialectree.evals.route_choice import Routing, Sample
from dialectree.protocols.routes import ALWAYS
from dialectree.records import Usage, Verdict
from tests.evals.sample import SHA, STAMP

SHARES, OFTEN = np.array([1 / 3, 2 / 3, 1.0]), np.array([0.2, 0.35, 0.45])
"""The shares of the largest of three votes, and how often each comes."""
VOTE = np.array([0.35, 0.6, 0.85])
"""How often the vote is right at each."""
Truth = Literal["helps below", "helps everywhere", "changes nothing", "harms", "helps and harms"]
TRUTHS: dict[Truth, tuple[float, float, float]] = {
    "helps below": (0.65, 0.7, 0.85),
    "helps everywhere": (0.5, 0.75, 0.93),
    "changes nothing": (0.35, 0.6, 0.85),
    "harms": (0.3, 0.5, 0.75),
    "helps and harms": (0.65, 0.65, 0.75),
}
"""How often the debate is right at each."""
SIZE = 6
"""Questions of a cluster."""


def sample(truth: Truth, seed: int, n: int = 120, *, clustered: bool = False) -> Sample:
    """Return ``n`` questions of which hard ones are hard for the vote and for the debate.

    In clusters each of the two has clusters that suit it.
    """
    rng = np.random.default_rng([seed, n, clustered, [*TRUTHS].index(truth)])
    level, groups = rng.choice(3, n, p=OFTEN), n // SIZE
    ease = rng.normal(0, 1, n)
    if clustered:
        ease = 0.7 * ease + 0.71 * np.repeat(rng.normal(0, 1, groups), SIZE)

    def right(often: Floats) -> Floats:
        own = rng.normal(0, 1, n)
        if clustered:
            own = 0.8 * own + 0.6 * np.repeat(rng.normal(0, 1, groups), SIZE)
        return floats(np.sqrt(0.5) * (ease + own) < norm.ppf(often[level]))

    return Sample(
        SHARES[level],
        right(VOTE),
        right(np.array(TRUTHS[truth])),
        rng.integers(250, 350, n).astype(float),
        rng.integers(900, 1500, n).astype(float),
        [f"topic {k // SIZE if clustered else k}" for k in range(n)],
    )


def accuracy(truth: Truth, at: float) -> float:
    """Return how often the rule that debates below ``at`` is right on fresh questions."""
    return float((OFTEN * np.where(at > SHARES, TRUTHS[truth], VOTE)).sum())


def covers(routing: Routing, truth: Truth) -> tuple[bool, bool]:
    """Return whether the stated intervals have the rule's true accuracy, and true difference."""
    right, less = accuracy(truth, routing.at), accuracy(truth, ALWAYS)
    (_, low, high, _), (_, least, most, _) = routing.accuracy, routing.difference
    assert low is not None and high is not None and least is not None and most is not None
    return low <= right <= high, least - 1e-9 <= right - less <= most + 1e-9


ROLES = ("debater_a", "debater_b", "judge")
VOTERS = ("voter_1", "voter_2", "voter_3")
ENDS = {0.0: "B", 1.0: "A"}
"""The label that is right, and one that is wrong; the right one is A."""


def written(
    path: Path, own: Sample, *, method: str = "rsd", changed: Mapping[str, Result] | None = None
) -> Path:
    """Write an evaluation of one row whose votes and debates are ``own``, and return its folder.

    ``rsd`` is voted on beside its debates; another method has its votes inside. ``changed`` are
    results by item that stand in the place of others.
    """
    inside, items = method != "rsd", [f"q{n}" for n in range(own.n)]
    roles = (*VOTERS, *ROLES) if inside else ROLES
    row = Row(
        name=method,
        method=method,
        models=dict.fromkeys(roles, "openai:small@http://localhost:1/v1"),
        settings={"agree_at": 1.01} if inside else {},
    )
    evaluation = EvaluationFile(
        data=DataUsed(name="made up", sha256=SHA, count=own.n),
        task="decide",
        items=items,
        rows=[row],
        scorers=["choice"],
        vote_first=0 if inside else 3,
        started=STAMP,
        ended=STAMP,
    )
    folder = Folder(path)
    with folder.hold_lock():
        asked = Inputs(question="Why?", options=("w", "x", "y", "z"))
        folder.begin(evaluation, [Item(id=item, inputs=asked) for item in items])
        with folder.appending() as results:
            for n, item in enumerate(items):
                results.add((changed or {}).get(item) or result(method, item, own, n))
    return path


def result(method: str, item: str, own: Sample, n: int) -> Result:
    """Return the result of the question at place ``n``."""
    inside, label, count = method != "rsd", ENDS[own.votes[n]], round(3 * own.shares[n])
    before, after = int(own.vote_tokens[n]), int(own.debate_tokens[n])
    return Result(
        row=method,
        item=item,
        run=f"run-{item}",
        cluster=own.clusters[n],
        status="answered",
        verdict=Verdict(answer="w", label=ENDS[own.debates[n]]),
        scores=[AnswerScore(key="choice", score=float(own.debates[n]), value="scored")],
        usage=Usage(calls=6, prompt_tokens=after + before * inside),
        vote=Vote(
            answers=[label] * count + ["C", "D"][: 3 - count],
            label=label,
            right=bool(own.votes[n]),
            usage=Usage(calls=3, prompt_tokens=before),
            inside=inside,
        ),
        ended=STAMP,
    )
