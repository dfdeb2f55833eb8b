"""The tables of a report on rows beside a baseline, samples, a vote or another summary."""

from __future__ import annotations

from dialectree.evals.agreement import effective_votes, krippendorff_alpha
from dialectree.evals.comparisons import FEWEST, Comparison
from dialectree.evals.intervals import Proportion
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import Line, Table, probability, table
from dialectree.evals.reporting.study import Study
from dialectree.text import listed


def compared_tables(analysis: Analysis) -> list[Table | None]:
    """Return the tables of comparisons, in the order of the page."""
    study = analysis.study
    made = [_compared(analysis), _turned(analysis), _places(analysis)]
    return [*made, _juries(study)]


def _compared(analysis: Analysis) -> Table | None:
    """Show every comparison, and after it the one on as many answers."""
    every = [one for own in analysis.comparisons for one in (own, own.as_many) if one is not None]
    marks = any(one.kind == "marks" for one in every)
    notes = [
        "A bootstrap over the pairs of papers gives the intervals. There is none below "
        f"{FEWEST} pairs, or where all differences are alike."
        if marks
        else "A withheld answer is not right. Among as many answers, what stands beside a row "
        "keeps its surest ones only, and draws among ties. Intervals are Tango's; where interval "
        "and test disagree, the test counts.",
        f"Bonferroni and Holm correct for the {analysis.family} tests of the report. The smallest "
        "difference is noticed four times in five; below 0 only a fall is possible.",
    ]
    if any(one.bounds for one in every):
        notes.append("At worst all that failed spoke against the row, at best for it.")
    if any(one.ratio for one in every):
        notes.append("From 0.8 to 1.25 times a debate's tokens its budget is called the same.")
    debates = [against.name for _, against in analysis.beside if not against.baseline]
    if debates:
        notes.append(f"No baseline but a debate: {listed(dict.fromkeys(debates))}.")
    return table(
        "compared",
        "Against baselines, samples and votes, question by question",
        map(_comparison, every),
        " ".join(notes),
        *analysis.unread,
        kinds={
            "difference, points": "points",
            "difference": "marks",
            **dict.fromkeys(("p", "Bonferroni", "Holm"), "p"),
            **dict.fromkeys(("smallest to be noticed, points", "at worst, points"), "rise"),
            "at best, points": "rise",
        },
    )


def _comparison(one: Comparison) -> Line:
    tested: Line = {"p": one.p, "Bonferroni": one.bonferroni, "Holm": one.holm}
    beside = f"{one.beside}, as many answers" if one.kind == "as many" else one.beside
    own: Line = {"row": one.row, "beside": beside, "questions": len(one.first)}
    if one.kind == "marks":
        return own | {"difference": one.difference, "test": one.test, **tested}
    first, second = one.shares
    at_worst, at_best = one.bounds or (None, None)
    same = "the same" if one.fair else "another"
    return own | {
        "right": first,
        "right beside it": second,
        "difference, points": one.difference,
        "only the row right": one.ledger.first_only,
        "only the other right": one.ledger.second_only,
        "withheld": None if one.kind == "as many" else one.withheld,
        "test": one.test,
        **tested,
        "smallest to be noticed, points": one.detectable,
        "tokens, samples by debate": one.ratio,
        "budget": same if one.ratio else None,
        "failed": one.failed if one.kind == "row" else None,
        "at worst, points": at_worst,
        "at best, points": at_best,
    }


def _turned(analysis: Analysis) -> Table | None:
    votes = [one for one in analysis.comparisons if one.kind == "vote"]
    note = "The vote is the plurality of direct answers before the debate."
    if not all(one.same_options for one in votes):
        note += " A debate that was handed two options does not compare with a vote among all."
    lines = [
        {"row": one.row, "vote before": one.shares[1], "after the debate": one.shares[0]}
        | {**one.details}
        for one in votes
    ]
    title = "Before and after the debate"
    return table("turned", title, lines, note, kinds={"tokens of the vote": "mean"})


def _juries(study: Study) -> Table | None:
    """Show how far the judges of a jury agree, what they are worth, and the best of them alone."""
    rows = [row for row in study.rows.values() if row.rulings]
    known = any(row.golds for row in rows)

    def line(row: Answers) -> Line:
        ruled, golds = row.rulings, row.golds
        told: Line = {
            "row": row.name,
            "judges": max(map(len, ruled.values())),
            "questions": len(ruled),
            "Krippendorff's alpha": krippendorff_alpha([[*own.values()] for own in ruled.values()]),
        }
        if not golds:
            return told
        errors = [
            [None if label is None else float(label != gold) for label in ruled[item].values()]
            for item, gold in golds.items()
        ]
        right = {
            judge: {item: ruled[item].get(judge) == gold for item, gold in golds.items()}
            for judge in next(iter(ruled.values()))
        }
        best = max(right, key=lambda judge: sum(right[judge].values()))
        models = [one for role, one in row.row.models.items() if role.endswith(f"_{best}")]
        labels = {item: (one := row.results[item].verdict) and one.label for item in golds}
        return told | {
            "effective votes": effective_votes(errors),
            "right by the jury": row.share({item: labels[item] == golds[item] for item in golds}),
            "best judge": ", ".join([best, *models[:1]]),
            "right by the best judge": row.share(right[best]),
        }

    votes = (
        "Effective votes (Kish): as many judges whose errors are independent would be worth as "
        "much. No majority, and no ruling, count as not right. The best judge is chosen in "
        "hindsight, by the same questions."
    )
    return table(
        "juries",
        "Juries",
        map(line, rows),
        "Alpha: 1 where judges always agree, 0 where they agree as by chance. "
        "Agreement is not accuracy: judges who share an error agree, too.",
        *([votes] if known else []),
    )


def _places(analysis: Analysis) -> Table | None:
    def line(row: Answers) -> Line:
        right = row.right("right", "wrong")
        sides = {item: one.sides for item, one in row.results.items() if one.sides}

        def share(part: str, value: str | None) -> Proportion:
            own = [item for item, one in sides.items() if getattr(one, part) == value]
            return row.share({item: right[item] for item in own if item in right})

        flips = {item: one.flipped for item, one in sides.items() if one.flipped is not None}
        return {
            "row": row.name,
            "right where the first debater held it": share("gold_side", "a"),
            "right where the second held it": share("gold_side", "b"),
            "right where neither held it": share("gold_side", None),
            "right where shown first": share("gold_position", "first"),
            "right where shown second": share("gold_position", "second"),
            "judge flips with the order": row.share(flips),
        }

    leanings = [
        f"{one.row} by {one.by}: p = {probability(one.p)}, {probability(one.holm)} after Holm"
        for one in analysis.leanings
    ]
    rows = analysis.study.rows.values()
    return table(
        "places",
        "By the side and the place of the right answer",
        [line(row) for row in rows if any(one.sides for one in row.results.values())],
        f"Side or place was drawn. {listed(leanings)}."
        if leanings
        else "The side was not drawn, so these shares do not tell whether the judge leans.",
        *analysis.unread,
    )
