"""Tables of what a debate added, and at what price."""

from __future__ import annotations

from dialectree.evals.bootstrap import Figure
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.measures import handed
from dialectree.evals.reporting.tabled import Column, Table, Value, probability
from dialectree.evals.reporting.tables_compared import holm_of
from dialectree.evals.worth import Turned
from dialectree.report.words import listed


def turned_table(analysis: Analysis) -> Table | None:
    rows: list[list[Value]] = [
        [
            one.row.name,
            one.before,
            one.after,
            _change(one),
            one.ledger.first_only,
            one.ledger.second_only,
            one.withheld_right,
            one.withheld_wrong,
            None if one.holm is None else one.ledger.p,
            one.holm,
            one.vote_tokens if one.ledger.n else None,
            one.without,
            one.unread,
        ]
        for one in analysis.turned
    ]
    if not rows:
        return None
    columns = [
        Column("row"),
        Column("vote before", "share"),
        Column("after the debate", "share"),
        Column("change, points", "points"),
        Column("right → wrong", "count"),
        Column("wrong → right", "count"),
        Column("right → withheld", "count"),
        Column("wrong → withheld", "count"),
        Column("p", "p"),
        Column("Holm", "p"),
        Column("tokens of the vote", "mean"),
        Column("no vote, or no right answer", "count"),
        Column("judgement not read", "count"),
    ]
    notes = [
        "The vote: the plurality of direct answers to the same question before the debate. p: as "
        "uneven a ledger if the debate turned answers either way alike. A withheld answer is "
        "neither right nor wrong, and in no share here.",
    ]
    if any(one.holm is not None for one in analysis.turned):
        notes.append(holm_of(analysis.family))
    if any(not one.alike for one in analysis.turned):
        notes.append(
            "Where a debate was handed the right answer and the vote was among all options, they "
            "do not compare."
        )
    return Table("turned", "Before and after the debate", columns, rows, notes)


def _change(one: Turned) -> Figure:
    """The share after the debate less that of the vote, where the two compare."""
    value, low, high, n = one.pairs.difference
    if not one.alike or value is None or low is None or high is None:
        return Figure(None, None, None, n)
    return Figure(-value, -high, -low, n)


def sampled_table(analysis: Analysis) -> Table | None:
    rows: list[list[Value]] = [
        [
            one.debate.name,
            one.row.name,
            one.debate_right.n,
            one.debate_right,
            one.right,
            one.difference,
            one.paired.p,
            one.holm,
            one.ratio,
            "about the same" if one.fair else "not the same" if one.ratio else "unknown",
        ]
        for one in analysis.sampled
    ]
    if not rows:
        return None
    columns = [
        Column("debate"),
        Column("samples instead"),
        Column("questions of both", "count"),
        Column("debate right", "share"),
        Column("samples right", "share"),
        Column("difference, points", "points"),
        Column("p, clustered sign flips" if analysis.study.clustered else "p, exact McNemar", "p"),
        Column("Holm", "p"),
        Column("tokens, samples by debate", "number"),
        Column("budget"),
    ]
    notes = [
        "The debaters' model spends its tokens on more answers and a vote. From 0.8 to 1.25 times "
        "the tokens the budgets are called the same. Difference: the debate's share less that of "
        "the samples.",
        holm_of(analysis.family),
        *analysis.left_out,
    ]
    return Table("sampled", "More samples instead of a debate", columns, rows, notes)


def placed_table(analysis: Analysis) -> Table | None:
    rows: list[list[Value]] = [[one.row.name, *one[1:]] for one in analysis.placed]
    if not rows:
        return None
    columns = [
        Column("row"),
        *(
            Column(f"right where {where} it", "share")
            for where in ("the first debater held", "the second held", "neither held")
        ),
        *(Column(f"right where shown {place}", "share") for place in ("first", "second")),
        Column("judge flips with the order", "share"),
    ]
    notes = [
        "Where the right answer stood. The first debater is the role debater_a, the second is "
        "debater_b.",
        *_leanings(analysis),
        *analysis.left_out,
    ]
    return Table("places", "By the side and the place of the right answer", columns, rows, notes)


def _leanings(analysis: Analysis) -> list[str]:
    """Notes on the tests of where a judge leans; else why there is none."""
    if not analysis.leanings:
        return [
            "The side was not drawn, so these shares do not tell whether the judge leans: the "
            "questions of one side may have been easier."
        ]
    return [
        "Side or place was drawn: a judge that weighs arguments only is right as often in both. "
        + listed(
            f"{one.row.name} by {one.by}: p = {probability(one.p)}, "
            f"{probability(one.holm)} after Holm"
            for one in analysis.leanings
        )
        + "."
    ]


def spent_table(analysis: Analysis) -> Table | None:
    if len(analysis.spent) < 2:
        return None
    priced = any(one.cost.cost is not None for one in analysis.spent)
    columns = [Column("row"), Column("tokens a question", "mean")]
    columns += [Column("cost a question", "mean")] if priced else []
    columns += [Column("accuracy", "share"), Column("a cheaper one is as good"), Column("kind")]
    rows: list[list[Value]] = []
    for one in analysis.spent:
        line: list[Value] = [one.row.name, one.cost.tokens]
        line += [one.cost.cost] if priced else []
        kind = "baseline" if one.baseline else "debate"
        kind += ", handed the right answer" if handed(one.row) else ""
        rows.append([*line, one.right, one.beaten_by or "no: on the front", kind])
    by = "money" if _money(analysis) else "tokens, as not every row has a price"
    notes = [f"By the point figures and by {by}; where intervals overlap chance may order them."]
    if any(handed(one.row) for one in analysis.spent):
        notes.append("Rows that were handed the right answer have a front of their own.")
    notes += analysis.left_out
    return Table("front", "Cost and accuracy", columns, rows, notes)


def _money(analysis: Analysis) -> bool:
    return all(one.price == one.cost.cost for one in analysis.spent)
