"""Preferences between two summaries of the same papers: the judge is asked in both orders.

Pairs are judged after the questions, when both summaries are there, and each pair once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from dialectree.errors import PartFailed
from dialectree.evals import scorers, scoring
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import Plan
from dialectree.evals.question_runs import run_id
from dialectree.evals.results import Preferred, Result, Score
from dialectree.evals.results_file import Folder
from dialectree.evals.tasks import unmarked
from dialectree.models.limits import Budget
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Usage, from_cache, usage
from dialectree.records.folder import RunFolder
from dialectree.running.runner import calling
from dialectree.system import clock
from dialectree.system.loop import finish_all


class Pair(NamedTuple):
    """Two results of one item, both with a summary."""

    item: Item
    own: Result
    other: Result
    texts: tuple[str, str]
    """Both summaries, as their authors wrote them."""

    @property
    def beside(self) -> str:
        """The place of the judge's journal, under the runs."""
        own, other = (run_id(one.row, self.item.id) for one in (self.own, self.other))
        return f"{own}/beside/{other}"


def pairs(folder: Folder, plan: Plan, against: str) -> list[Pair]:
    """Return the pairs to judge; where one of the two has no summary there is no pair."""
    known = folder.evaluation()
    methods = {row.name: method(row.method) for row in known.rows} if known else {}
    judged = {(one.row, one.item) for one in folder.preferences() if one.against == against}
    results = {(one.row, one.item): one for one in folder.results() if one.status != "failed"}
    beside: list[Pair] = []
    for item, row in product(plan.items, plan.rows):
        own, other = (results.get((name, item.id)) for name in (row.row.name, against))
        if own is None or other is None or own is other or (own.row, own.item) in judged:
            continue
        first, second = (
            unmarked(methods[one.row], (one.verdict and one.verdict.answer) or "").strip()
            for one in (own, other)
        )
        if first and second:
            beside.append(Pair(item, own, other, (first, second)))
    return beside


async def prefer(
    folder: Folder,
    plan: Plan,
    against: str,
    budget: Budget,
    count: Callable[[Usage], object],
) -> None:
    """Judge every pair and write each preference; raise the first error when all have ended.

    ``count`` receives what the reply cache answered of each pair's new calls.
    """
    judge = plan.judge
    assert judge is not None
    slots = asyncio.Semaphore(plan.at_once)
    with folder.preferring() as keep:

        async def one(pair: Pair) -> None:
            async with slots:
                budget.check()
                keep(await _preferred(folder, pair, judge, budget, count))

        await finish_all(map(one, pairs(folder, plan, against)))


async def _preferred(
    folder: Folder,
    pair: Pair,
    judge: ProtocolSettings,
    budget: Budget,
    count: Callable[[Usage], object],
) -> Preferred:
    beside = RunFolder(folder.runs / pair.beside)
    beside.path.mkdir(0o700, parents=True, exist_ok=True)
    before = beside.calls()
    try:
        async with calling(beside, judge, (), budget) as run:
            score = await scorers.preference(scoring.judge_of(run, judge), pair.item, pair.texts)
    except PartFailed as error:
        score = Score(key="preference", score=None, value="failed", comment=str(error))
    finally:
        after = beside.calls()
        count(from_cache(after[len(before) :]))
    return Preferred(
        row=pair.own.row,
        against=pair.other.row,
        item=pair.item.id,
        score=score,
        judging=usage(after),
        ended=clock.stamp(),
    )
