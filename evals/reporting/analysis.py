"""The comparisons and figures that the tables, plots and sentences of a report share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dialectree.evals import debate_gain
from dialectree.evals.all_asked import Asked, as_many, asked
from dialectree.evals.comparisons import Comparison, Paired, correct, difference, sign_flips
from dialectree.evals.intervals import Figure
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Row
from dialectree.evals.tasks import is_baseline
from dialectree.text import listed


@dataclass(kw_only=True)
class Compared(Paired):
    """A row and its baseline, on the questions that both were asked; the row comes first."""

    row: Row
    baseline: Row
    failed: int
    """Questions left out because one of the two failed for good."""
    bounds: tuple[float, float]
    """The difference if all that failed spoke against the row, and if all spoke for it."""


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
    beside: Sequence[tuple[Row, Row]]
    """Each row that has a baseline, with it."""
    compared: Sequence[Compared]
    marked: Sequence[Marked]
    turned: Sequence[debate_gain.Turned]
    sampled: Sequence[debate_gain.Sampled]
    placed: Sequence[debate_gain.Placed]
    leanings: Sequence[debate_gain.Leaning]
    spent: Sequence[debate_gain.Spent]
    family: int
    """The comparisons between methods that Holm corrects for."""

    @property
    def judged(self) -> bool:
        """Whether answers are judged right or wrong, and not marked; some may not be read."""
        return any(measures.right_key(self.study.of(row.name)) for row in self.study.rows)

    @property
    def main(self) -> Sequence[Compared]:
        """The comparisons of debates, or all where no debate is compared."""
        debates = [one for one in self.compared if not is_baseline(one.row.method)]
        return debates or self.compared

    @property
    def unread(self) -> list[str]:
        """A note on judgements that are in no other table, where there are any."""
        what = "Left out, without a judgement that could be read"
        return per_row(what, self.study, lambda row: len(measures.unread(self.study.of(row))))

    @property
    def in_money(self) -> bool:
        """Whether every row has a price, so that cost is money and not tokens."""
        return all(one.price == one.cost.cost for one in self.spent)


def change(one: debate_gain.Turned) -> Figure:
    """Return the share after the debate less that of the vote, where the two compare."""
    value, low, high, n = one.difference
    if not one.alike or value is None or low is None or high is None:
        return Figure(None, None, None, n)
    return Figure(-value, -high, -low, n)


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
    every = {row.name: asked(study, row.name) for row in study.rows}
    comparisons = [made for pair in beside if (made := _compared(study, every, *pair))]
    marked = [mark for pair in beside if (mark := _marked(study, *pair))]
    votes, samples = debate_gain.turned(study), debate_gain.sampled(study)
    return Analysis(
        study=study,
        counts={row.name: measures.outcomes(study.of(row.name)) for row in study.rows},
        costs={row.name: measures.cost(study.of(row.name)) for row in study.rows},
        beside=beside,
        compared=comparisons,
        marked=marked,
        turned=votes,
        sampled=samples,
        placed=debate_gain.placed(study),
        leanings=debate_gain.leanings(study),
        spent=debate_gain.spent(study),
        family=correct([*comparisons, *samples, *votes, *marked]),
    )


def _compared(study: Study, every: Mapping[str, Asked], row: Row, baseline: Row) -> Compared | None:
    rows = study.of(row.name), study.of(baseline.name)
    ours, theirs = every[row.name], every[baseline.name]
    first, second = ours.right, theirs.right
    if not first or not second:
        return None
    both = [item for item in study.items if item in first and item in second]
    failed, other = (measures.ended(results, "failed") for results in rows)
    lost = [i for i in failed | other if i in failed | first.keys() and i in other | second.keys()]
    known = sum(first[item] - second[item] for item in both)
    least = known + sum(first.get(i, False) - second.get(i, True) for i in lost)
    most = known + sum(first.get(i, True) - second.get(i, False) for i in lost)
    n = max(len(both) + len(lost), 1)
    return Compared(
        key=frozenset({row.name, baseline.name}),
        first=[first[item] for item in both],
        second=[second[item] for item in both],
        clusters=study.groups(both),
        withheld=sum(item in ours.withheld for item in both),
        as_many=as_many(study, ours, theirs, both),
        row=row,
        baseline=baseline,
        failed=len(lost),
        bounds=(least / n, most / n),
    )


def _marked(study: Study, row: Row, baseline: Row) -> Marked | None:
    first, second = (measures.overall(study.of(one.name)) for one in (row, baseline))
    both = [item for item in study.items if item in first and item in second]
    if not both:
        return None
    ours, theirs = [first[item] for item in both], [second[item] for item in both]
    groups = study.groups(both)
    return Marked(
        key=("marks", row.name),
        p=sign_flips(ours, theirs, clusters=groups),
        row=row,
        baseline=baseline,
        difference=difference(ours, theirs, clusters=groups),
    )
