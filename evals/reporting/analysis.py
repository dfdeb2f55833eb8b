"""What the tables, the plots and the sentences of a report are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import McNemar, difference, mcnemar, sign_flips, tango
from dialectree.evals.power import smallest_change, smallest_one_way, smallest_paired
from dialectree.evals.proportions import Comparison, compare, corrected
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Row
from dialectree.evals.worth import Placed, Sampled, Spent, Turned, placed, sampled, spent, turned
from dialectree.report.words import listed


class Compared(NamedTuple):
    """A row and its baseline."""

    row: Row
    baseline: Row
    apart: Comparison
    """As if the questions were different ones."""
    paired: McNemar
    """``first_only``: just the row is right."""
    difference: Figure
    """Of the shares of right answers on the questions of both."""
    detectable: float | None
    """The smallest difference on these questions that would probably be noticed; see
    :func:`noticed`."""
    detectable_apart: float | None
    """The same by the z-test of the papers."""
    bonferroni: float | None = None
    """The exact test's p, corrected for all comparisons of the report."""
    holm: float | None = None


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
    spent: Sequence[Spent]
    left_out: Sequence[str]
    """A note to tables that take the judgements that were read; none where all were."""

    @property
    def judged(self) -> bool:
        """Whether any answer is right or wrong."""
        return any(counts.n for counts in self.counts.values())


def analysed(study: Study, baseline: str | None = None) -> Analysis:
    """All that needs the results; InputError is for the caller to raise on an unknown baseline."""
    of = measures.baseline(study, baseline)
    return Analysis(
        study,
        {row.name: measures.outcomes(study.of(row.name)) for row in study.rows},
        {row.name: measures.cost(study.of(row.name)) for row in study.rows},
        _compared(study, of),
        _marked(study, of),
        turned(study),
        sampled(study),
        placed(study),
        spent(study),
        _left_out(study),
    )


def _left_out(study: Study) -> list[str]:
    found = [
        f"{row.name} {len(hazy)} of {len(results)}"
        for row in study.rows
        if (hazy := measures.unread(results := study.of(row.name)))
    ]
    return [f"Left out, without a judgement that could be read: {listed(found)}."] * bool(found)


def noticed(paired: McNemar) -> float | None:
    """The smallest difference from the second that these questions would probably show, 0 to 1.

    Given how often the two differ; where they never do, as if all differences went one way. Below
    0 where the second is right so often that only a fall is possible.
    """
    differing = paired.first_only + paired.second_only
    if differing:
        return smallest_paired(paired.n, differing / paired.n)
    least = smallest_one_way(paired.n)
    full = least is not None and paired.both / paired.n + least > 1
    return -least if least is not None and full else least


def _compared(study: Study, of: Callable[[Row], Row | None]) -> list[Compared]:
    found: list[Compared] = []
    right = {row.name: measures.scored(study.of(row.name)) for row in study.rows}
    for row in study.rows:
        against = of(row)
        if against is None or not right[row.name] or not right[against.name]:
            continue
        first, second = right[row.name], right[against.name]
        both = [item for item in study.items if item in first and item in second]
        ours, theirs = [first[item] for item in both], [second[item] for item in both]
        paired = mcnemar(ours, theirs)
        counts = (sum(first.values()), len(first), sum(second.values()), len(second))
        found.append(
            Compared(
                row,
                against,
                compare(*counts),
                paired,
                tango(paired),
                noticed(paired),
                smallest_change(counts[2] / counts[3], counts[1], counts[3]),
            )
        )
    ps = [one.paired.p if one.paired.n else None for one in found]
    both_ways = zip(found, corrected(ps, "bonferroni"), corrected(ps, "holm"), strict=True)
    return [one._replace(bonferroni=first, holm=second) for one, first, second in both_ways]


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
            apart, p = difference(ours, theirs), sign_flips(ours, theirs)
            found.append(Marked(row, against, apart, p))
    holm = corrected([one.p for one in found], "holm")
    return [one._replace(holm=p) for one, p in zip(found, holm, strict=True)]
