"""Tables of rows against their baselines."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import FEWEST
from dialectree.evals.power import ALPHA, smallest_change
from dialectree.evals.proportions import corrected
from dialectree.evals.reporting.analysis import Analysis, Compared
from dialectree.evals.reporting.tabled import Column, Table, Value, shown
from dialectree.report.words import listed


def paired_table(analysis: Analysis) -> Table | None:
    compared, clustered = analysis.compared, analysis.study.clustered
    if not compared:
        return None
    rows: list[list[Value]] = [
        [
            one.row.name,
            one.baseline.name,
            one.paired.n,
            one.difference,
            one.paired.first_only,
            one.paired.second_only,
            one.paired.p if one.paired.n else None,
            one.bonferroni,
            one.holm,
            one.failed,
            one.detectable,
        ]
        for one in compared
    ]
    columns = [
        Column("row"),
        Column("baseline"),
        Column("questions of both", "count"),
        Column("difference, points", "points"),
        Column("only the row right", "count"),
        Column("only the baseline right", "count"),
        Column("p, clustered sign flips" if clustered else "p, exact McNemar", "p"),
        Column("Bonferroni", "p"),
        Column("Holm", "p"),
        Column("failed", "count"),
        Column("smallest difference to be noticed, points", "rise"),
    ]
    notes = [
        "The questions that both rows answered, each its own control. Where the interval (Tango's "
        "score interval) and the test disagree, the test counts.",
        "The last column: the difference that this test, after the correction, would show four "
        "times in five. Below 0: only a fall is possible.",
        holm_of(analysis.family, "Bonferroni and Holm correct"),
        *_bounds(compared),
        *analysis.left_out,
    ]
    if clustered:
        notes.insert(1, "The test flips the sign of each cluster's difference as a whole.")
    return Table("mcnemar", "Against the baseline, question by question", columns, rows, notes)


def _bounds(compared: Sequence[Compared]) -> list[str]:
    """A note on what the questions left out as failed could have made of the differences."""
    found = [
        f"{one.row.name} {shown('rise', one.bounds[0])} to {shown('rise', one.bounds[1])}"
        for one in compared
        if one.failed
    ]
    if not found:
        return []
    said = "Failed: questions left out because a run failed. The differences, were all of them"
    return [f"{said} against the row or all for it: {listed(found)}."]


def apart_table(analysis: Analysis) -> Table | None:
    """Show the papers' test; None in clusters, where its answers are no draws of their own."""
    compared = analysis.compared
    if not compared or analysis.study.clustered:
        return None
    ps = [one.apart.p for one in compared]
    bonferroni, holm = corrected(ps, "bonferroni"), corrected(ps, "holm")
    rows: list[list[Value]] = []
    for one, by_bonferroni, by_holm in zip(compared, bonferroni, holm, strict=True):
        apart = one.apart
        own, other = (analysis.counts[row.name].parsed for row in (one.row, one.baseline))
        share = other.share or 0.0
        rows.append(
            [
                one.row.name,
                one.baseline.name,
                Figure(apart.difference, apart.low, apart.high, own.n),
                apart.z,
                apart.p,
                by_bonferroni,
                by_holm,
                apart.h,
                smallest_change(share, own.n, other.n, ALPHA / len(compared)),
            ]
        )
    columns = [
        Column("row"),
        Column("baseline"),
        Column("difference, points", "points"),
        Column("z", "number"),
        Column("p", "p"),
        Column("Bonferroni", "p"),
        Column("Holm", "p"),
        Column("Cohen's h", "number"),
        Column("smallest difference to be noticed, points", "rise"),
    ]
    notes = [
        "Pooled two-proportion z-tests, two-sided, with Newcombe's interval of the difference: "
        "each answer taken as a draw of its own, as the TSD paper does. The sentences above rest "
        "on the test of pairs.",
        holm_of(len(compared), "Bonferroni and Holm correct"),
        *analysis.left_out,
    ]
    return Table(
        "z-tests", "Against the baseline, by the z-test of the papers", columns, rows, notes
    )


def holm_of(made: int, correct: str = "Holm corrects") -> str:
    """Say what the columns of corrected p values correct for."""
    if made == 1:
        return "One comparison: there is nothing to correct for."
    return f"{correct} for the {made} comparisons of the report."


def rubric_paired_table(analysis: Analysis) -> Table | None:
    marked = analysis.marked
    if not marked:
        return None
    rows: list[list[Value]] = [
        [one.row.name, one.baseline.name, one.difference.n, one.difference, one.p, one.holm]
        for one in marked
    ]
    columns = [
        Column("row"),
        Column("baseline"),
        Column("pairs of papers", "count"),
        Column("overall, difference", "marks"),
        Column("p, sign flips", "p"),
        Column("Holm", "p"),
    ]
    notes = [
        "p: how often so large a difference comes about if each pair's is as likely to have the "
        "other sign. It says whether one is better; the interval, a bootstrap over the pairs of "
        f"papers, how far. There is none below {FEWEST} pairs and where all differences are alike.",
        holm_of(analysis.family),
    ]
    return Table("rubric-paired", "Summaries against the baseline", columns, rows, notes)
