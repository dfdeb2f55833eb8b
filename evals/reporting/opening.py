"""The three lines that a report opens with: the answer, its price, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.comparisons import Comparison
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.findings import interval, of
from dialectree.evals.reporting.formatting import mean, probability
from dialectree.evals.reporting.measures import BASELINES, Total, total, usages
from dialectree.report.words import count, listed

MOST = 3
"""Comparisons that the answer names, of those that tell something and of the others."""
FEW = 30
"""Fewer questions than this are said to be few."""


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a line each."""
    if not any(analysis.study.results.values()):
        return ["There is no result yet."]
    gaps = [*_gaps(analysis)]
    missing = f"What is missing: {'; '.join(gaps)}." if gaps else "Nothing is missing."
    return [_answer(analysis), _price(analysis), missing]


class Difference(NamedTuple):
    """One comparison of a debate with something else."""

    way: int
    """1 where the debate is better, -1 where it is worse, 0 where that cannot be told."""
    text: str


def _answer(analysis: Analysis) -> str:
    differences = [*_differences(analysis)]
    if not differences:
        return "It cannot be told whether debating helped: no debate is compared with a baseline."
    clear = [one.text for one in differences if one.way]
    unclear = [one.text for one in differences if not one.way]
    if not clear:
        return f"It cannot be told whether debating helped: {_some(unclear)}."
    ways = {one.way for one in differences if one.way}
    how = "helped in some rows and did harm in others"
    if len(ways) == 1:
        among = f" in {len(clear)} of {len(differences)} comparisons" if unclear else ""
        how = f"{'helped' if 1 in ways else 'did harm'}{among}"
    more = f". No difference can be shown elsewhere: {_some(unclear)}" if unclear else ""
    return f"Debating {how}: {_some(clear)}{more}."


def _some(texts: Sequence[str]) -> str:
    more = [count(len(texts) - MOST, "more", "more")] if len(texts) > MOST else []
    return "; ".join([*texts[:MOST], *more])


def _differences(analysis: Analysis) -> Iterator[Difference]:
    for one in analysis.main:
        if one.row.method not in BASELINES and (n := one.difference.n):
            first, second = f"{one.row.name} is", one.baseline.name
            figure = _in_points(one.difference)
            yield _difference(one, first, second, figure, "points", count(n, "question"))
    for mark in analysis.marked:
        if mark.row.method not in BASELINES:
            first = f"the summaries of {mark.row.name} are"
            second, pairs = f"those of {mark.baseline.name}", count(mark.difference.n, "pair")
            figure = mark.difference
            yield _difference(mark, first, second, figure, "of 100", f"{pairs} of papers")
    for turned in analysis.turned:
        if turned.alike and (n := turned.ledger.n):
            first, figure = f"{turned.row.name} is", _in_points(turned.difference, -1)
            second = "the vote before it"
            yield _difference(turned, first, second, figure, "points", count(n, "question"))


def _in_points(figure: Figure, sign: int = 1) -> Figure:
    ends = [None if end is None else 100 * sign * end for end in figure[:3]]
    low, high = ends[1:] if sign > 0 else ends[:0:-1]
    return Figure(ends[0], low, high, figure.n)


def _difference(
    one: Comparison, first: str, second: str, figure: Figure, unit: str, n: str
) -> Difference:
    value, low, high, _ = figure
    value = value or 0.0
    way = 0 if not one.shown or not value else 1 if value > 0 else -1
    place = (
        f"{abs(value):.1f} {unit} {'above' if value > 0 else 'below'}" if value else "level with"
    )
    p = probability(one.holm)
    return Difference(way, f"{first} {place} {second} ({interval(low, high)}; {n}; p = {p})")


def _price(analysis: Analysis) -> str:
    study = analysis.study
    debates, judges = usages(study, study.rows)
    whole, judging = total([*debates, *judges]), total(judges)
    cached = sum(r.cached.calls for row in study.rows for r in study.of(row.name))
    for_judges = f", of which {_sum(judging)} for judging" if judging.calls else ""
    from_cache = f" {count(cached, 'call')} came from the cache." if cached else ""
    return f"Its price: {_sum(whole)}{for_judges}.{from_cache}{_times(analysis)}"


def _sum(one: Total) -> str:
    money = "" if one.cost is None else f"{one.cost:,.4g} in money, "
    return f"{money}{count(one.calls, 'call')} and {one.tokens:,} tokens"


def _times(analysis: Analysis) -> str:
    """Say how many times as much a question costs by the first debate as by its baseline."""
    pairs: list[Compared | Marked] = [*analysis.main, *analysis.marked]
    one = next((one for one in pairs if one.row.method not in BASELINES), None)
    if one is None:
        return ""
    own, other = analysis.costs[one.row.name], analysis.costs[one.baseline.name]
    for unit, first, second in (
        ("in money", own.cost, other.cost),
        ("tokens", own.tokens, other.tokens),
    ):
        if first and second:
            times = first / second
            much = "as much" if abs(times - 1) < 0.05 else f"{mean(times)} times as much"
            return (
                f" A question takes {much} by {one.row.name} as by {one.baseline.name} "
                f"({mean(first)} against {mean(second)} {unit})."
            )
    return ""


def _gaps(analysis: Analysis) -> Iterator[str]:
    study, counts = analysis.study, analysis.counts
    for what, state, numbers in (
        ("run", "failed", {name: one.failed for name, one in counts.items()}),
        ("answer", "withheld", {name: one.unanswered for name, one in counts.items()}),
        ("judgement", "not read", {name: len(measures.unread(study.of(name))) for name in counts}),
    ):
        if any(numbers.values()):
            rows = listed(f"{name} {n}" for name, n in numbers.items() if n)
            yield f"{count(sum(numbers.values()), what)} {state} ({rows})"
    if any(evaluation.ended is None for evaluation in study.evaluations):
        yield "the evaluation has not come to its end"
    groups = len(set(study.groups(study.items)))
    if groups < FEW:
        unit = "cluster" if study.clustered else "pair" if study.task == "compare" else "question"
        yield f"there are too few questions ({count(groups, unit)})"
    for control in controlled(study):
        if control.failed:
            yield (
                f"the judge failed its controls of {control.key} ({of(control.right)} right "
                f"answers and {of(control.wrong)} wrong ones were seen)"
            )
