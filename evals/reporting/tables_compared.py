"""The tables of a report that compare methods with a baseline, samples, a vote or a summary."""

from __future__ import annotations

from dialectree.evals.agreement import effective_votes, krippendorff_alpha
from dialectree.evals.comparisons import FEWEST, RowComparison
from dialectree.evals.intervals import Proportion
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import Line, Table, probability, table
from dialectree.evals.reporting.study import Study
from dialectree.text import format_list


def make_comparison_tables(analysis: Analysis) -> list[Table | None]:
    """Return the tables of comparisons, in the order of the page."""
    study = analysis.study
    comparison_tables = [
        _make_comparisons_table(analysis),
        _make_before_after_table(analysis),
        _places(analysis),
    ]
    return [*comparison_tables, _juries(study)]


def _make_comparisons_table(analysis: Analysis) -> Table | None:
    """Return the table of all comparisons, each followed by its comparison at equal coverage."""
    comparisons = [
        comparison
        for main_comparison in analysis.comparisons
        for comparison in (main_comparison, main_comparison.as_many)
        if comparison is not None
    ]
    marks = any(comparison.kind == "marks" for comparison in comparisons)
    notes = [
        "A bootstrap over the pairs of papers gives the intervals. There is no interval below "
        f"{FEWEST} pairs, or if all differences are equal."
        if marks
        else "A withheld answer is not right. At equal coverage, the other method keeps only its "
        "surest answers, as many as this one gave, and ties are drawn. Intervals are Tango's; where interval "
        "and test disagree, the test counts.",
        f"Bonferroni and Holm correct for the {analysis.family} tests of the report. The smallest "
        "difference is noticed four times in five; below 0 only a fall is possible.",
    ]
    if any(comparison.bounds for comparison in comparisons):
        notes.append("At worst every failed run counts against the method, at best for it.")
    if any(comparison.ratio for comparison in comparisons):
        notes.append("A budget of 0.8 to 1.25 times a debate's tokens is called the same.")
    debates = [against.name for _, against in analysis.baseline_pairs if not against.baseline]
    if debates:
        notes.append(f"Compared with a debate, not a baseline: {format_list(dict.fromkeys(debates))}.")
    return table(
        "compared",
        "Against baselines, samples and votes, question by question",
        map(_comparison, comparisons),
        " ".join(notes),
        *analysis.unread,
        kinds={
            "paired difference, points": "points",
            "paired difference": "marks",
            **dict.fromkeys(("p", "Bonferroni", "Holm"), "p"),
            **dict.fromkeys(("smallest to be noticed, points", "at worst, points"), "rise"),
            "at best, points": "rise",
        },
    )


def _comparison(comparison: RowComparison) -> Line:
    tested: Line = {"p": comparison.p, "Bonferroni": comparison.bonferroni, "Holm": comparison.holm}
    rival = f"{comparison.rival}, at equal coverage" if comparison.kind == "as many" else comparison.rival
    cells: Line = {"method": comparison.row, "compared with": rival, "questions": len(comparison.first)}
    if comparison.kind == "marks":
        return cells | {"paired difference": comparison.difference, "test": comparison.test, **tested}
    first, second = comparison.shares
    at_worst, at_best = comparison.bounds or (None, None)
    same = "the same" if comparison.fair else "another"
    return cells | {
        "right": first,
        "right, other": second,
        "paired difference, points": comparison.difference,
        "only this one right": comparison.ledger.first_only,
        "only the other right": comparison.ledger.second_only,
        "withheld": None if comparison.kind == "as many" else comparison.withheld,
        "test": comparison.test,
        **tested,
        "smallest to be noticed, points": comparison.detectable,
        "tokens, samples by debate": comparison.ratio,
        "budget": same if comparison.ratio else None,
        "failed": comparison.failed if comparison.kind == "row" else None,
        "at worst, points": at_worst,
        "at best, points": at_best,
    }


def _make_before_after_table(analysis: Analysis) -> Table | None:
    votes = [comparison for comparison in analysis.comparisons if comparison.kind == "vote"]
    note = "The vote is the plurality of direct answers before the debate."
    if not all(comparison.same_options for comparison in votes):
        note += " A debate that was handed two options does not compare with a vote among all."
    lines = [
        {
            "method": comparison.row,
            "vote before": comparison.shares[1],
            "after the debate": comparison.shares[0],
        }
        | {**comparison.details}
        for comparison in votes
    ]
    title = "Before and after the debate"
    return table("turned", title, lines, note, kinds={"tokens of the vote": "mean"})


def _juries(study: Study) -> Table | None:
    """Return the table of juries: agreement, effective votes, and the best judge alone."""
    rows = [row for row in study.rows.values() if row.rulings]
    has_golds = any(row.golds for row in rows)

    def line(row: Answers) -> Line:
        ruled, golds = row.rulings, row.golds
        cells: Line = {
            "method": row.name,
            "judges": max(map(len, ruled.values())),
            "questions": len(ruled),
            "Krippendorff's alpha": krippendorff_alpha(
                [[*item_rulings.values()] for item_rulings in ruled.values()]
            ),
        }
        if not golds:
            return cells
        errors = [
            [None if label is None else float(label != gold) for label in ruled[item].values()]
            for item, gold in golds.items()
        ]
        right = {
            judge: {item: ruled[item].get(judge) == gold for item, gold in golds.items()}
            for judge in next(iter(ruled.values()))
        }
        best = max(right, key=lambda judge: sum(right[judge].values()))
        models = [model for role, model in row.row.models.items() if role.endswith(f"_{best}")]
        labels = {item: (verdict := row.results[item].verdict) and verdict.label for item in golds}
        return cells | {
            "effective votes": effective_votes(errors),
            "right by the jury": row.share({item: labels[item] == golds[item] for item in golds}),
            "best judge": ", ".join([best, *models[:1]]),
            "right by the best judge": row.share(right[best]),
        }

    votes = (
        "Effective votes (Kish): the number of judges with independent errors that would be worth "
        "as much. No majority, and no ruling, count as not right. The best judge is chosen in "
        "hindsight, by the same questions."
    )
    return table(
        "juries",
        "Juries",
        map(line, rows),
        "Alpha: 1 where judges always agree, 0 where they agree as by chance. "
        "Agreement is not accuracy: judges who share an error agree, too.",
        *([votes] if has_golds else []),
    )


def _places(analysis: Analysis) -> Table | None:
    def line(row: Answers) -> Line:
        right = row.right("right", "wrong")
        sides = {item: result.sides for item, result in row.results.items() if result.sides}

        def share(part: str, value: str | None) -> Proportion:
            item_ids = [item for item, item_sides in sides.items() if getattr(item_sides, part) == value]
            return row.share({item: right[item] for item in item_ids if item in right})

        flips = {
            item: item_sides.flipped for item, item_sides in sides.items() if item_sides.flipped is not None
        }
        return {
            "method": row.name,
            "right where the first debater held it": share("gold_side", "a"),
            "right where the second held it": share("gold_side", "b"),
            "right where neither held it": share("gold_side", None),
            "right where shown first": share("gold_position", "first"),
            "right where shown second": share("gold_position", "second"),
            "judge flips with the order": row.share(flips),
        }

    leanings = [
        f"{leaning.row} by {leaning.by}: p = {probability(leaning.p)}, {probability(leaning.holm)} after Holm"
        for leaning in analysis.leanings
    ]
    rows = analysis.study.rows.values()
    return table(
        "places",
        "By the side and the place of the right answer",
        [line(row) for row in rows if any(result.sides for result in row.results.values())],
        f"Side or place was drawn. {format_list(leanings)}."
        if leanings
        else "The side was not drawn, so these shares do not tell whether the judge leans.",
        *analysis.unread,
    )
