"""What the tables, the plots and the sentences of a report are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import McNemar, Pairs, compared, difference, sign_flips
from dialectree.evals.power import ALPHA
from dialectree.evals.proportions import Comparison, compare, corrected
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Row
from dialectree.evals.worth import (
    Leaning,
    Placed,
    Sampled,
    Spent,
    Turned,
    leanings,
    placed,
    sampled,
    spent,
    turned,
)
from dialectree.report.words import listed


class Compared(NamedTuple):
    """A row and its baseline."""

    row: Row
    baseline: Row
    apart: Comparison
    """As if the questions were different ones."""
    pairs: Pairs
    """The row first, then the baseline, on the questions that both answered."""
    failed: int
    """Questions left out because one of the two failed for good."""
    bounds: tuple[float, float]
    """The difference if all that failed spoke against the row, and if all spoke for it."""
    detectable: float | None = None
    """The smallest difference on these questions that would probably be noticed."""
    bonferroni: float | None = None
    """The p of the pairs, corrected for all comparisons of the report."""
    holm: float | None = None

    @property
    def paired(self) -> McNemar:
        """``first_only``: just the row is right."""
        return self.pairs.ledger

    @property
    def difference(self) -> Figure:
        """Of the shares of right answers."""
        return self.pairs.difference


class Marked(NamedTuple):
    """A row of summaries and its baseline."""

    row: Row
    baseline: Row
    difference: Figure
    """Of their overall marks on the pairs of papers of both, 0 to 100."""
    p: float | None
    """By :func:`dialectree.evals.paired.sign_flips`."""
    holm: float | None = None
    """The same, corrected for all such comparisons of the report."""


class Analysis(NamedTuple):
    """What the tables, the plots and the sentences of a report are made of."""

    study: Study
    counts: Mapping[str, measures.Outcomes]
    costs: Mapping[str, measures.Cost]
    compared: Sequence[Compared]
    marked: Sequence[Marked]
    turned: Sequence[Turned]
    sampled: Sequence[Sampled]
    placed: Sequence[Placed]
    leanings: Sequence[Leaning]
    spent: Sequence[Spent]
    family: int
    """The comparisons between methods that Holm corrects for."""
    left_out: Sequence[str]
    """A note to tables that take the judgements that were read; none where all were."""

    @property
    def judged(self) -> bool:
        """Whether any answer is right or wrong."""
        return any(counts.n for counts in self.counts.values())


def analysed(study: Study, baseline: str | None = None) -> Analysis:
    """Return all that needs the results; the caller raises InputError on an unknown baseline."""
    of = measures.baseline(study, baseline)
    analysis = Analysis(
        study,
        {row.name: measures.outcomes(study.of(row.name)) for row in study.rows},
        {row.name: measures.cost(study.of(row.name)) for row in study.rows},
        _compared(study, of),
        _marked(study, of),
        turned(study),
        sampled(study),
        placed(study),
        leanings(study),
        spent(study),
        0,
        _left_out(study),
    )
    return _corrected(analysis)


def _corrected(analysis: Analysis) -> Analysis:
    """With one correction over all comparisons: a report that asserts anything asserts it once.

    Two tables may hold the same pair of rows: it is one comparison.
    """
    ps: dict[object, float] = {}
    for one in analysis.compared:
        if one.paired.n:
            ps[frozenset({one.row.name, one.baseline.name})] = one.paired.p
    for beside in analysis.sampled:
        ps[frozenset({beside.row.name, beside.debate.name})] = beside.paired.p
    for ledger in analysis.turned:
        if ledger.alike and ledger.ledger.n:
            ps[ledger.row.name] = ledger.ledger.p
    for mark in analysis.marked:
        if mark.p is not None:
            ps["marks", mark.row.name] = mark.p
    holm = dict(zip(ps, corrected([*ps.values()], "holm"), strict=True))
    bonferroni = dict(zip(ps, corrected([*ps.values()], "bonferroni"), strict=True))
    alpha = ALPHA / max(len(ps), 1)

    def pair(first: Row, second: Row) -> object:
        return frozenset({first.name, second.name})

    return analysis._replace(
        family=len(ps),
        compared=[
            one._replace(
                detectable=one.pairs.noticed(alpha) if one.paired.n else None,
                bonferroni=bonferroni.get(pair(one.row, one.baseline)),
                holm=holm.get(pair(one.row, one.baseline)),
            )
            for one in analysis.compared
        ],
        sampled=[
            one._replace(
                detectable=one.pairs.noticed(alpha), holm=holm.get(pair(one.row, one.debate))
            )
            for one in analysis.sampled
        ],
        turned=[
            one._replace(
                detectable=one.pairs.noticed(alpha) if one.ledger.n else None,
                holm=holm.get(one.row.name),
            )
            for one in analysis.turned
        ],
        marked=[one._replace(holm=holm.get(("marks", one.row.name))) for one in analysis.marked],
    )


def _left_out(study: Study) -> list[str]:
    found = [
        f"{row.name} {len(hazy)} of {len(results)}"
        for row in study.rows
        if (hazy := measures.unread(results := study.of(row.name)))
    ]
    return [f"Left out, without a judgement that could be read: {listed(found)}."] * bool(found)


def _compared(study: Study, of: Callable[[Row], Row | None]) -> list[Compared]:
    found: list[Compared] = []
    right = {row.name: measures.scored(study.of(row.name)) for row in study.rows}
    failed = {row.name: measures.failed(study.of(row.name)) for row in study.rows}
    for row in study.rows:
        against = of(row)
        if against is None or not right[row.name] or not right[against.name]:
            continue
        first, second = right[row.name], right[against.name]
        both = [item for item in study.items if item in first and item in second]
        ours, theirs = [first[item] for item in both], [second[item] for item in both]
        counts = (sum(first.values()), len(first), sum(second.values()), len(second))
        lost, other = failed[row.name], failed[against.name]
        lost_here = [
            i for i in lost | other if i in lost | first.keys() and i in other | second.keys()
        ]
        least = sum(first.get(i, False) - second.get(i, True) for i in lost_here)
        most = sum(first.get(i, True) - second.get(i, False) for i in lost_here)
        known, n = sum(ours) - sum(theirs), max(len(both) + len(lost_here), 1)
        found.append(
            Compared(
                row,
                against,
                compare(*counts),
                compared(ours, theirs, study.groups(both)),
                len(lost_here),
                ((known + least) / n, (known + most) / n),
            )
        )
    return found


def _marked(study: Study, of: Callable[[Row], Row | None]) -> list[Marked]:
    found: list[Marked] = []
    marks = {row.name: measures.overall(study.of(row.name)) for row in study.rows}
    for row in study.rows:
        against = of(row)
        if against is None:
            continue
        first, second = marks[row.name], marks[against.name]
        both = [item for item in study.items if item in first and item in second]
        ours, theirs = [first[item] for item in both], [second[item] for item in both]
        if both:
            groups = study.groups(both)
            apart = difference(ours, theirs, clusters=groups)
            found.append(Marked(row, against, apart, sign_flips(ours, theirs, clusters=groups)))
    return found
