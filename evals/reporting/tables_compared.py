"""Tables of rows against their baselines."""

from __future__ import annotations

from dialectree.evals.bootstrap import Figure
from dialectree.evals.paired import FEWEST
from dialectree.evals.proportions import corrected
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.tabled import Column, Table, Value


def paired_table(analysis: Analysis) -> Table | None:
    compared = analysis.compared
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
        Column("p, exact McNemar", "p"),
        Column("Bonferroni", "p"),
        Column("Holm", "p"),
        Column("smallest difference to be noticed, points", "rise"),
    ]
    notes = [
        "Every question is its own control, which makes this the sharper test. The interval is "
        "Tango's score interval; where it and the exact test disagree, the test counts.",
        "The last column: what these questions would show four times in five at a level of 5%, "
        "given how often the two differ; where they never do, as if all differences went one way. "
        "Below 0: only a fall is possible.",
        _family(len(compared)),
        *analysis.left_out,
    ]
    return Table("mcnemar", "Against the baseline, question by question", columns, rows, notes)


def apart_table(analysis: Analysis) -> Table | None:
    compared = analysis.compared
    if not compared:
        return None
    ps = [one.apart.p for one in compared]
    bonferroni, holm = corrected(ps, "bonferroni"), corrected(ps, "holm")
    rows: list[list[Value]] = []
    for one, by_bonferroni, by_holm in zip(compared, bonferroni, holm, strict=True):
        apart = one.apart
        n = analysis.counts[one.row.name].parsed.n
        rows.append(
            [
                one.row.name,
                one.baseline.name,
                Figure(apart.difference, apart.low, apart.high, n),
                apart.z,
                apart.p,
                by_bonferroni,
                by_holm,
                apart.h,
                one.detectable_apart,
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
        "each answer taken as a draw of its own, as the TSD paper does. The last column: the "
        "smallest difference from the baseline that so many would show four times in five; below "
        "0: only a fall is possible.",
        _family(len(compared)),
        *analysis.left_out,
    ]
    return Table(
        "z-tests", "Against the baseline, by the z-test of the papers", columns, rows, notes
    )


def _family(made: int) -> str:
    if made == 1:
        return "One comparison: there is nothing to correct for."
    return f"Bonferroni and Holm correct for the {made} comparisons of the table."


def holm_of(made: int) -> str:
    """What the column of Holm in a table of so many comparisons corrects for."""
    return _family(made) if made == 1 else f"Holm corrects for the {made} comparisons of the table."


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
        holm_of(len(marked)),
    ]
    return Table("rubric-paired", "Summaries against the baseline", columns, rows, notes)
