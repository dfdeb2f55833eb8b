"""The three lines that a report opens with: the answer, its price, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dialectree.evals.power import ALPHA
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.findings_compared import main, span
from dialectree.evals.reporting.measures import BASELINES, Total, total
from dialectree.evals.reporting.tabled import mean
from dialectree.evals.results import Row
from dialectree.records import Usage
from dialectree.report.words import count, listed

MOST = 3
"""Rows that the answer names."""
FEW = 30
"""Fewer questions than this are said to be few."""


def opening(analysis: Analysis) -> list[str]:
    """Return the answer, its price, and what is missing, a line each."""
    if not any(analysis.study.results.values()):
        return ["There is no result yet."]
    return [_answer(analysis), _price(analysis), _missing(analysis)]


def _answer(analysis: Analysis) -> str:
    found = [*_shares(analysis), *_marks(analysis)] or [*_ledgers(analysis)]
    if not found:
        return "It cannot be told whether debating helped: no debate is compared with a baseline."
    clear = [one for one in found if one[0]]
    said = "; ".join(text for _, text in (clear or found)[:MOST])
    if (more := len(clear or found) - MOST) > 0:
        said += f"; and {count(more, 'row')} more"
    if not clear:
        return f"It cannot be told whether debating helped: {said}."
    of = f" in {len(clear)} of {len(found)} rows" if len(clear) < len(found) else ""
    if {way for way, _ in clear} == {1, -1}:
        return f"Debating helped in some rows and did harm in others: {said}."
    return f"Debating {'helped' if clear[0][0] > 0 else 'did harm'}{of}: {said}."


def _way(value: float, holm: float | None) -> int:
    """1 where a debate is better, -1 where it is worse, 0 where that cannot be told."""
    if holm is None or holm >= ALPHA or not value:
        return 0
    return 1 if value > 0 else -1


def _shares(analysis: Analysis) -> Iterator[tuple[int, str]]:
    for one in main(analysis):
        value, low, high, n = one.difference
        if one.row.method in BASELINES or value is None or low is None or high is None:
            continue
        place = f"{abs(100 * value):.1f} points {'above' if value > 0 else 'below'}"
        yield (
            _way(value, one.holm),
            f"{one.row.name} is {place if value else 'level with'} {one.baseline.name} "
            f"({span(100 * low, 100 * high)}; {count(n, 'question')})",
        )


def _marks(analysis: Analysis) -> Iterator[tuple[int, str]]:
    for one in analysis.marked:
        value, low, high, n = one.difference
        if one.row.method in BASELINES or value is None:
            continue
        place = f"{abs(value):.1f} of 100 {'above' if value > 0 else 'below'}"
        width = "no interval" if low is None or high is None else span(low, high)
        yield (
            _way(value, one.holm),
            f"the summaries of {one.row.name} are {place if value else 'level with'} those of "
            f"{one.baseline.name} ({width}; {count(n, 'pair')} of papers)",
        )


def _ledgers(analysis: Analysis) -> Iterator[tuple[int, str]]:
    for one in analysis.turned:
        value, low, high, n = one.pairs.difference
        if not one.alike or value is None or low is None or high is None:
            continue
        place = f"{abs(100 * value):.1f} points {'below' if value > 0 else 'above'}"
        yield (
            _way(-value, one.holm),
            f"{one.row.name} is {place if value else 'level with'} the vote before it "
            f"({span(-100 * high, -100 * low)}; {count(n, 'question')})",
        )


def _price(analysis: Analysis) -> str:
    debates, judges = totals(analysis, analysis.study.rows)
    whole = total([*debates, *judges])
    judging = total(judges)
    of_judges = f", of which {_sum(judging)} for judging" if judging.calls else ""
    return f"Its price: {_sum(whole)}{of_judges}.{_times(analysis)}"


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
            return (
                f" A question takes {mean(first / second)} times as much by {one.row.name} as by "
                f"{one.baseline.name} ({mean(first)} against {mean(second)} {what})."
            )
    return ""


def _missing(analysis: Analysis) -> str:
    parts = [*_gaps(analysis)]
    return f"What is missing: {'; '.join(parts)}." if parts else "Nothing is missing."


def _gaps(analysis: Analysis) -> Iterator[str]:
    study, counts = analysis.study, analysis.counts
    gaps: Sequence[tuple[str, str, Callable[[str], int]]] = (
        ("debate", "failed", lambda name: counts[name].failed),
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
