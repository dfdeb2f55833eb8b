"""Tables of what a debate added, and at what price."""

from __future__ import annotations

from dialectree.evals.bootstrap import Figure
from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.measures import handed
from dialectree.evals.reporting.tabled import Column, Table, Value
from dialectree.evals.reporting.tables_compared import holm_of


def turned_table(analysis: Analysis) -> Table | None:
    rows: list[list[Value]] = [
        [
            one.row.name,
            one.before,
            one.after,
            Figure(
                None if handed(one.row) else _apart_by(one.after, one.before),
                None,
                None,
                one.ledger.n,
            ),
            one.ledger.first_only,
            one.ledger.second_only,
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
        Column("p, exact", "p"),
        Column("Holm", "p"),
        Column("tokens of the vote", "mean"),
        Column("no vote, or no right answer", "count"),
        Column("judgement not read", "count"),
    ]
    notes = [
        "The vote: the plurality of direct answers to the same question before the debate. "
        "p: as uneven a ledger, or more so, if the debate turned answers either way alike. Only "
        "questions count of which both judgements were read."
    ]
    if ledgers := sum(one.holm is not None for one in analysis.turned):
        notes.append(holm_of(ledgers))
    if any(handed(one.row) for one in analysis.turned):
        notes.append(
            "Where a debate was handed the right answer it chose between two, and the vote among "
            "all: they do not compare."
        )
    return Table("turned", "Before and after the debate", columns, rows, notes)


def _apart_by(first: Proportion, second: Proportion) -> float | None:
    if first.share is None or second.share is None:
        return None
    return first.share - second.share


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
        Column("p, exact McNemar", "p"),
        Column("Holm", "p"),
        Column("tokens, samples by debate", "number"),
        Column("budget"),
    ]
    notes = [
        "What the debaters' model reaches when it spends its tokens on more answers and a vote. "
        "Between 0.8 and 1.25 times the tokens the two budgets are called the same. The "
        "difference is the debate's share less that of the samples, with Tango's score interval.",
        holm_of(len(rows)),
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
            for where in ("side a held", "side b held", "neither held")
        ),
        *(Column(f"right where shown {place}", "share") for place in ("first", "second")),
        Column("judge flips with the order", "share"),
    ]
    notes = [
        "Where the right answer stood. A judge that weighs arguments and not places has like "
        "figures for both sides and both places, and few flips.",
        *analysis.left_out,
    ]
    return Table("places", "By the side and the place of the right answer", columns, rows, notes)


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
    notes = ["By the point figures; where intervals overlap the order may be chance."]
    if any(handed(one.row) for one in analysis.spent):
        notes.append("Rows that were handed the right answer have a front of their own.")
    notes += analysis.left_out
    return Table("front", "Cost and accuracy", columns, rows, notes)
