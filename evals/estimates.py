"""Estimate a whole evaluation from rehearsals of a few questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from statistics import fmean, pvariance
from typing import Any

from dialectree.errors import InputError
from dialectree.evals import tasks, votes
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import Plan
from dialectree.evals.results_file import Folder
from dialectree.evals.rows import Ready
from dialectree.protocols.protocol import Method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records.estimate import Estimate, Span
from dialectree.records.folder import RunFolder
from dialectree.running.estimates import MOST_CALLS, Size, name_price_sources, pace_of, rehearse_debates
from dialectree.running.recorded_settings import speakers

ITEMS = 3
"""Questions of each row to rehearse."""
Part = tuple[int, Sequence[Size]]
"""The number of debates that a row or a vote needs, and the sizes of those rehearsed."""


async def estimate(folder: Folder, plan: Plan) -> Estimate | None:
    """Estimate the questions without a result, and their votes; None if all questions have a result.

    The estimate leaves out the calls of the judge that scores, since that judge reads answers.
    """
    done = {
        (result.row, result.item)
        for result in folder.results()
        if not (plan.retry_failed and result.incomplete)
    }
    items_by_row = [(row, [i for i in plan.items if (row.row.name, i.id) not in done]) for row in plan.rows]
    todo = [(row, items) for row, items in items_by_row if items]
    specs = [spec for row, _ in todo for spec in speakers(row.method, row.context).values()]
    pace = pace_of(RunFolder.all(folder.runs), {spec.name for spec in specs})
    parts: list[Part] = []
    for row, items in todo:
        votings = votes.voters(row, plan.evaluation.vote_first)
        debates = [(row.method, row.context), *((method, context) for _, method, context in votings)]
        for method, context in debates:
            sizes: list[Size] = []
            for graph_input in islice(inputs(row, method, context, items), ITEMS):
                calls = MOST_CALLS // (ITEMS * len(debates) * len(todo))
                sizes += await rehearse_debates(method, graph_input, context, pace.words, calls)
            if sizes:  # else the method takes none of the items, and they fail without a call
                parts.append((len(items), sizes))
    if not parts:
        return None
    chains = [size.in_a_row for _, sizes in parts for size in sizes]
    in_a_row = Span(least=min(chains), median=max(chains), most=max(chains))
    calls_of = _total(parts, lambda size: size.calls)
    slots = max(row.slots for row, _ in todo)
    costs = [size.cost for _, sizes in parts for size in sizes]
    return Estimate(
        calls=calls_of,
        in_a_row=in_a_row,
        tokens=_total(parts, lambda size: size.tokens),
        seconds=Span(
            least=pace.seconds * max(calls_of.least / slots, in_a_row.least),
            median=pace.seconds * max(calls_of.median / slots, in_a_row.median),
            most=pace.seconds * max(calls_of.most / slots, in_a_row.most),
        ),
        seconds_per_call=pace.seconds,
        measured_in=pace.run,
        cost=None if None in costs else _total(parts, lambda size: size.cost or 0.0),
        rehearsals=len(chains),
        **name_price_sources(size for _, sizes in parts for size in sizes),
    )


def inputs(
    row: Ready, method: Method, context: ProtocolSettings, items: Sequence[Item]
) -> Iterator[dict[str, Any]]:
    """Yield the graph input of ``method`` for each item; skip items that the method refuses."""
    for item in items:
        try:
            graph_input = tasks.graph_input(method, item, row.gold(item), context)
        except InputError:
            continue
        yield {name: value for name, value in graph_input.items() if value is not None}


def _total(parts: Sequence[Part], amount: Callable[[Size], float]) -> Span:
    """Return the estimated total of ``amount``, plus or minus two standard errors."""
    lower_bound = mean = upper_bound = variance = 0.0
    for debates, sizes in parts:
        amounts = [amount(size) for size in sizes]
        lower_bound, upper_bound = (
            lower_bound + debates * min(amounts),
            upper_bound + debates * max(amounts),
        )
        mean += debates * fmean(amounts)
        variance += pvariance(amounts) * (debates + debates**2 / len(amounts))
    error = 2 * math.sqrt(variance)
    return Span(least=max(lower_bound, mean - error), median=mean, most=min(upper_bound, mean + error))
