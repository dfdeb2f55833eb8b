"""The comparisons and figures that the tables, plots and sentences of a report share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dialectree.evals.bootstrap import Figure
from dialectree.evals.comparisons import Comparison, Paired, correct
from dialectree.evals.debate_gain import (
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
from dialectree.evals.paired import McNemar, compared, difference, sign_flips
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Row
from dialectree.report.words import listed


@dataclass(kw_only=True)
class Compared(Paired):
    """A row and its baseline, on the questions that both answered; the row comes first."""

    row: Row
    baseline: Row
    failed: int
    """Questions left out because one of the two failed for good."""
    bounds: tuple[float, float]
    """The difference if all that failed spoke against the row, and if all spoke for it."""

    @property
    def paired(self) -> McNemar:
        """``first_only``: just the row is right."""
        return self.pairs.ledger


@dataclass(kw_only=True)
class Marked(Comparison):
    """A row of summaries and its baseline."""

    row: Row
    baseline: Row
    difference: Figure
    """Of their overall marks on the pairs of papers of both, 0 to 100."""


@dataclass(frozen=True)
class Analysis:
    """The comparisons and figures of a report."""

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

    @property
    def judged(self) -> bool:
        """Whether any answer is right or wrong."""
        return any(counts.n for counts in self.counts.values())

    @property
    def main(self) -> Sequence[Compared]:
        """The comparisons that the sentences speak of: those of debates, where there are any."""
        debates = [one for one in self.compared if one.row.method not in measures.BASELINES]
        return debates or self.compared

    @property
    def left_out(self) -> list[str]:
        """A note for tables without the judgements that could not be read; none where all were."""
        what = "Left out, without a judgement that could be read"
        return per_row(what, self.study, lambda row: len(measures.unread(self.study.of(row))))

    @property
    def in_money(self) -> bool:
        """Whether every row has a price, so that cost is money and not tokens."""
        return all(one.price == one.cost.cost for one in self.spent)


def per_row(what: str, study: Study, number: Callable[[str], int]) -> list[str]:
    """Return ``what: rsd 2 of 10 and tsd 1 of 10.``, or nothing where every number is 0."""
    texts = [
        f"{row.name} {n} of {len(study.results[row.name])}"
        for row in study.rows
        if (n := number(row.name))
    ]
    return [f"{what}: {listed(texts)}."] if texts else []


def analysed(study: Study, baseline: str | None = None) -> Analysis:
    """Return all that a report needs; the caller raises InputError on an unknown baseline."""
    of = measures.baseline(study, baseline)
    beside = [(row, against) for row in study.rows if (against := of(row)) is not None]
    compared, marked = _compared(study, beside), _marked(study, beside)
    votes, samples = turned(study), sampled(study)
    return Analysis(
        study,
        {row.name: measures.outcomes(study.of(row.name)) for row in study.rows},
        {row.name: measures.cost(study.of(row.name)) for row in study.rows},
        compared,
        marked,
        votes,
        samples,
        placed(study),
        leanings(study),
        spent(study),
        correct([*compared, *samples, *votes, *marked]),
    )


def _both(study: Study, first: Mapping[str, object], second: Mapping[str, object]) -> list[str]:
    return [item for item in study.items if item in first and item in second]


def _compared(study: Study, beside: Sequence[tuple[Row, Row]]) -> list[Compared]:
    comparisons: list[Compared] = []
    right = {row.name: measures.scored(study.of(row.name)) for row in study.rows}
    failed = {row.name: measures.ended(study.of(row.name), "failed") for row in study.rows}
    for row, against in beside:
        first, second = right[row.name], right[against.name]
        if not first or not second:
            continue
        both = _both(study, first, second)
        pairs = compared(
            [first[item] for item in both], [second[item] for item in both], study.groups(both)
        )
        lost, other = failed[row.name], failed[against.name]
        lost_here = [
            i for i in lost | other if i in lost | first.keys() and i in other | second.keys()
        ]
        least = sum(first.get(i, False) - second.get(i, True) for i in lost_here)
        most = sum(first.get(i, True) - second.get(i, False) for i in lost_here)
        known = pairs.ledger.first_only - pairs.ledger.second_only
        n = max(len(both) + len(lost_here), 1)
        comparisons.append(
            Compared(
                key=frozenset({row.name, against.name}),
                p=pairs.ledger.p if both else None,
                row=row,
                baseline=against,
                pairs=pairs,
                failed=len(lost_here),
                bounds=((known + least) / n, (known + most) / n),
            )
        )
    return comparisons


def _marked(study: Study, beside: Sequence[tuple[Row, Row]]) -> list[Marked]:
    comparisons: list[Marked] = []
    marks = {row.name: measures.overall(study.of(row.name)) for row in study.rows}
    for row, against in beside:
        both = _both(study, marks[row.name], marks[against.name])
        ours, theirs = ([marks[one.name][item] for item in both] for one in (row, against))
        if both:
            groups = study.groups(both)
            comparisons.append(
                Marked(
                    key=("marks", row.name),
                    p=sign_flips(ours, theirs, clusters=groups),
                    row=row,
                    baseline=against,
                    difference=difference(ours, theirs, clusters=groups),
                )
            )
    return comparisons
