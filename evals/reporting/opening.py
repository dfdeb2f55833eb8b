"""The three lines that a report opens with: the answer, its price, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dialectree.evals.power import ALPHA
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.findings_compared import main, span
from dialectree.evals.reporting.measures import BASELINES, Total, total
from dialectree.evals.reporting.tabled import mean, probability
from dialectree.evals.results import Row
from dialectree.records import Usage
from dialectree.report.words import count, listed

MOST = 3
"""Comparisons that the answer names, of those that tell something and of the others."""
FEW = 30
"""Fewer questions than this are said to be few."""


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a line each."""
    if not any(analysis.study.results.values()):
        return ["There is no result yet."]
    return [_answer(analysis), _price(analysis), _missing(analysis)]


class Told(NamedTuple):
    """One comparison of a debate with something else."""

    way: int
    """1 where the debate is better, -1 where it is worse, 0 where that cannot be told."""
    text: str


def _answer(analysis: Analysis) -> str:
    found = [*_shares(analysis), *_marks(analysis), *_ledgers(analysis)]
    if not found:
        return "It cannot be told whether debating helped: no debate is compared with a baseline."
    clear = [one.text for one in found if one.way]
    open_ones = [one.text for one in found if not one.way]
    if not clear:
        return f"It cannot be told whether debating helped: {_some(open_ones)}."
    of = f" in {len(clear)} of {len(found)} comparisons" if open_ones else ""
    ways = {one.way for one in found if one.way}
    said = {1: "helped", -1: "did harm"}
    how = (
        f"{said[ways.pop()]}{of}"
        if len(ways) == 1
        else "helped in some rows and did harm in others"
    )
    more = f". No difference can be shown elsewhere: {_some(open_ones)}" if open_ones else ""
    return f"Debating {how}: {_some(clear)}{more}."


def _some(texts: Sequence[str]) -> str:
    more = [count(len(texts) - MOST, "more", "more")] if len(texts) > MOST else []
    return "; ".join([*texts[:MOST], *more])


def _told(value: float, holm: float | None, text: str, width: str, n: str) -> Told:
    sure = holm is not None and holm < ALPHA and value
    way = 0 if not sure else 1 if value > 0 else -1
    return Told(way, f"{text} ({width}; {n}; p = {probability(holm)})")


def _shares(analysis: Analysis) -> Iterator[Told]:
    for one in main(analysis):
        value, low, high, n = one.difference
        if one.row.method in BASELINES or value is None or low is None or high is None:
            continue
        place = f"{abs(100 * value):.1f} points {'above' if value > 0 else 'below'}"
        text = f"{one.row.name} is {place if value else 'level with'} {one.baseline.name}"
        yield _told(value, one.holm, text, span(100 * low, 100 * high), count(n, "question"))


def _marks(analysis: Analysis) -> Iterator[Told]:
    for one in analysis.marked:
        value, low, high, n = one.difference
        if one.row.method in BASELINES or value is None:
            continue
        place = f"{abs(value):.1f} of 100 {'above' if value > 0 else 'below'}"
        width = "no interval" if low is None or high is None else span(low, high)
        text = (
            f"the summaries of {one.row.name} are {place if value else 'level with'} those of "
            f"{one.baseline.name}"
        )
        yield _told(value, one.holm, text, width, f"{count(n, 'pair')} of papers")


def _ledgers(analysis: Analysis) -> Iterator[Told]:
    for one in analysis.turned:
        before, low, high, n = one.pairs.difference
        if not one.alike or before is None or low is None or high is None:
            continue
        place = f"{abs(100 * before):.1f} points {'below' if before > 0 else 'above'}"
        text = f"{one.row.name} is {place if before else 'level with'} the vote before it"
        yield _told(-before, one.holm, text, span(-100 * high, -100 * low), count(n, "question"))


def _price(analysis: Analysis) -> str:
    debates, judges = totals(analysis, analysis.study.rows)
    whole = total([*debates, *judges])
    results = [r for row in analysis.study.rows for r in analysis.study.of(row.name)]
    cached = sum(result.cached.calls for result in results)
    judging = total(judges)
    of_judges = f", of which {_sum(judging)} for judging" if judging.calls else ""
    again = f" {count(cached, 'call')} came from the cache." if cached else ""
    return f"Its price: {_sum(whole)}{of_judges}.{again}{_times(analysis)}"


def totals(analysis: Analysis, rows: Sequence[Row]) -> tuple[list[Usage], list[Usage]]:
    """Return what rows' debates with their votes took, and what judges with their controls took."""
    study = analysis.study
    names = {row.name for row in rows}
    results = [result for row in rows for result in study.of(row.name)]
    debates = [used for r in results for used in (r.usage, r.vote.usage if r.vote else Usage())]
    judges = [used for r in results for used in (r.judging, r.controlling)]
    return debates, [*judges, *(one.judging for one in study.preferences if one.row in names)]


def _sum(one: Total) -> str:
    money = "" if one.cost is None else f"{one.cost:,.4g} in money, "
    return f"{money}{count(one.calls, 'call')} and {one.tokens:,} tokens"


def _times(analysis: Analysis) -> str:
    """How many times as much a question costs by the first debate as by its baseline."""
    pairs: list[Compared | Marked] = [*main(analysis), *analysis.marked]
    one = next((one for one in pairs if one.row.method not in BASELINES), None)
    if one is None:
        return ""
    own, other = analysis.costs[one.row.name], analysis.costs[one.baseline.name]
    for what, first, second in (
        ("in money", own.cost, other.cost),
        ("tokens", own.tokens, other.tokens),
    ):
        if first and second:
            times = first / second
            much = "as much" if abs(times - 1) < 0.05 else f"{mean(times)} times as much"
            return (
                f" A question takes {much} by {one.row.name} as by {one.baseline.name} "
                f"({mean(first)} against {mean(second)} {what})."
            )
    return ""


def _missing(analysis: Analysis) -> str:
    parts = [*_gaps(analysis)]
    return f"What is missing: {'; '.join(parts)}." if parts else "Nothing is missing."


def _gaps(analysis: Analysis) -> Iterator[str]:
    study, counts = analysis.study, analysis.counts
    gaps: Sequence[tuple[str, str, Callable[[str], int]]] = (
        ("run", "failed", lambda name: counts[name].failed),
        ("answer", "withheld", lambda name: counts[name].unanswered),
        ("judgement", "not read", lambda name: len(measures.unread(study.of(name)))),
    )
    for one, what, number in gaps:
        found = {row.name: n for row in study.rows if (n := number(row.name))}
        if found:
            rows = listed(f"{name} {n}" for name, n in found.items())
            yield f"{count(sum(found.values()), one)} {what} ({rows})"
    if any(evaluation.ended is None for evaluation in study.evaluations):
        yield "the evaluation has not come to its end"
    groups = len(set(study.groups(study.items)))
    if groups < FEW:
        unit = "cluster" if study.clustered else "pair" if study.task == "compare" else "question"
        yield f"there are too few questions ({count(groups, unit)})"
    for one_score in controlled(study):
        if one_score.failed:
            yield (
                f"the judge failed its controls of {one_score.key} ({one_score.right.right} of "
                f"{one_score.right.n} right answers and {one_score.wrong.right} of "
                f"{one_score.wrong.n} wrong ones were seen)"
            )
