"""The tables of a report on what a debate adds to a baseline, a vote or more samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dialectree.evals.comparisons import FEWEST, Paired, mcnemar_counts, tango
from dialectree.evals.debate_gain import Sampled, Spent
from dialectree.evals.intervals import Figure, Proportion, design, share_of
from dialectree.evals.reporting.analysis import Analysis, Compared, Marked, change
from dialectree.evals.reporting.formatting import Columns, Table, probability, table
from dialectree.evals.reporting.measures import handed
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Preferred
from dialectree.evals.tasks import is_baseline
from dialectree.text import listed


def compared_tables(analysis: Analysis) -> Sequence[Table | None]:
    """Return the tables of comparisons, in the order of the page."""
    return [
        _paired(analysis),
        _as_many(analysis),
        _marked(analysis),
        _preferred(analysis.study),
        _turned(analysis),
        _sampled(analysis),
        _placed(analysis),
        _spent(analysis),
    ]


def _test(analysis: Analysis) -> str:
    """Return the heading of the column of p values."""
    return "p, clustered sign flips" if analysis.study.clustered else "p, exact McNemar"


def _paired(analysis: Analysis) -> Table | None:
    columns: Columns[Compared] = [
        ("row", "text", lambda one: one.row.name),
        ("baseline", "text", lambda one: one.baseline.name),
        ("questions of both", "count", lambda one: one.ledger.n),
        ("difference, points", "points", lambda one: one.difference),
        ("only the row right", "count", lambda one: one.ledger.first_only),
        ("only the baseline right", "count", lambda one: one.ledger.second_only),
        (_test(analysis), "p", lambda one: one.p),
        ("Bonferroni", "p", lambda one: one.bonferroni),
        ("Holm", "p", lambda one: one.holm),
        ("smallest difference to be noticed, points", "rise", lambda one: one.detectable),
        ("failed", "count", lambda one: one.failed),
    ]
    notes = [
        "A withheld answer is not right. Intervals are Tango's; where interval and test disagree, "
        f"the test counts. Bonferroni and Holm correct for the {analysis.family} tests of the "
        "report. The smallest difference is noticed four times in five; below 0 only a fall is "
        "possible."
    ]
    if any(one.failed for one in analysis.compared):
        columns.extend(
            [
                ("at worst, points", "rise", lambda one: one.bounds[0]),
                ("at best, points", "rise", lambda one: one.bounds[1]),
            ]
        )
        notes.append("At worst all that failed spoke against the row, at best for it.")
    title = "Against the baseline, question by question"
    notes += _debates(analysis.compared)
    return table("mcnemar", title, analysis.compared, columns, " ".join(notes), *analysis.unread)


def _debates(over: Iterable[Compared | Marked]) -> list[str]:
    """Name what stands in the column of baselines and is a debate, as where no baseline ran."""
    names = dict.fromkeys(o.baseline.name for o in over if not is_baseline(o.baseline.method))
    return [f"No baseline but a debate: {listed(names)}."] if names else []


class _AsMany(NamedTuple):
    """A comparison on as many answers, for a row that withheld some."""

    row: str
    beside: str
    withheld: int
    test: Paired


def _as_many(analysis: Analysis) -> Table | None:
    tested = [
        *((one.row.name, one.baseline.name, one) for one in analysis.compared),
        *((one.debate.name, one.row.name, one) for one in analysis.sampled),
        *((one.row.name, "the vote before it", one) for one in analysis.turned),
    ]
    made = {
        (row, beside): _AsMany(row, beside, one.withheld, one.as_many)
        for row, beside, one in tested
        if one.as_many
    }
    return table(
        "as-many",
        "Among as many answers",
        made.values(),
        [
            ("row", "text", lambda one: one.row),
            ("beside", "text", lambda one: one.beside),
            ("withheld", "count", lambda one: one.withheld),
            ("right", "count", lambda one: one.test.shares[0].right),
            ("right beside it", "count", lambda one: one.test.shares[1].right),
            ("difference, points", "points", lambda one: one.test.difference),
            (_test(analysis), "p", lambda one: one.test.p),
            ("Holm", "p", lambda one: one.test.holm),
        ],
        "What stands beside a row keeps only as many answers as the row gave: its surest ones, and "
        "draws among ties and where it has no confidence. The rest count as withheld. Points are "
        "of all questions of both.",
    )


def _marked(analysis: Analysis) -> Table | None:
    return table(
        "rubric-paired",
        "Summaries against the baseline",
        analysis.marked,
        [
            ("row", "text", lambda one: one.row.name),
            ("baseline", "text", lambda one: one.baseline.name),
            ("pairs of papers", "count", lambda one: one.difference.n),
            ("overall, difference", "marks", lambda one: one.difference),
            ("p, sign flips", "p", lambda one: one.p),
            ("Holm", "p", lambda one: one.holm),
        ],
        "p says whether one is better, the interval (a bootstrap over the pairs of papers) how "
        f"far. There is no interval below {FEWEST} pairs, or where all differences are alike.",
        *_debates(analysis.marked),
    )


class _Preferences(NamedTuple):
    """How often a row's summaries were preferred to another row's."""

    row: str
    against: str
    counts: Counter[str]
    won: Proportion
    difference: Figure


def _preferred(study: Study) -> Table | None:
    pairs: dict[tuple[str, str], list[Preferred]] = {}
    for one in study.preferences:
        pairs.setdefault((one.row, one.against), []).append(one)
    return table(
        "preferred",
        "Summaries side by side",
        [_preferences(study, *names, judged) for names, judged in pairs.items()],
        [
            ("row", "text", lambda one: one.row),
            ("against", "text", lambda one: one.against),
            ("pairs", "count", lambda one: one.difference.n),
            ("wins", "count", lambda one: one.counts["wins"]),
            ("ties", "count", lambda one: one.counts["ties"] + one.counts["swayed"]),
            ("of these by position", "count", lambda one: one.counts["swayed"]),
            ("losses", "count", lambda one: one.counts["losses"]),
            ("wins of wins and losses", "share", lambda one: one.won),
            ("wins less losses, points", "points", lambda one: one.difference),
            ("not judged", "count", lambda one: one.counts["not judged"]),
        ],
        "A model judged each pair of summaries in both orders. Where the orders disagree it went "
        "by the position, and that is a tie.",
    )


def _preferences(study: Study, row: str, against: str, judged: Sequence[Preferred]) -> _Preferences:
    points = {one.item: 2 * score - 1 for one in judged if (score := one.score.score) is not None}
    names = {1.0: "wins", 0.0: "ties", -1.0: "losses"}
    counts = Counter(names[point] for point in points.values())
    swayed = {one.item: 0.0 for one in judged if one.score.value == "swayed"}
    counts["swayed"] = len(swayed)
    counts["not judged"] = len(judged) - len(points) - len(swayed)
    points |= swayed
    ties = counts["ties"] + counts["swayed"]
    pairs = mcnemar_counts(0, counts["wins"], counts["losses"], ties)
    difference = tango(pairs, design=design([*points.values()], study.groups(points)))
    clear = {item: point > 0 for item, point in points.items() if point}
    won = share_of([*clear.values()], study.groups(clear))
    return _Preferences(row, against, counts, won, difference)


def _turned(analysis: Analysis) -> Table | None:
    notes = [
        "The vote is the plurality of direct answers before the debate. A withheld answer is not "
        "right."
    ]
    if any(not one.alike for one in analysis.turned):
        notes.append("A debate that was handed two options does not compare with a vote among all.")
    return table(
        "turned",
        "Before and after the debate",
        analysis.turned,
        [
            ("row", "text", lambda one: one.row.name),
            ("vote before", "share", lambda one: one.shares[0]),
            ("after the debate", "share", lambda one: one.shares[1]),
            ("change, points", "points", change),
            ("right → wrong", "count", lambda one: one.ledger.first_only - one.withheld_right),
            ("wrong → right", "count", lambda one: one.ledger.second_only),
            ("right → withheld", "count", lambda one: one.withheld_right),
            ("wrong → withheld", "count", lambda one: one.withheld_wrong),
            ("p", "p", lambda one: one.p),
            ("Holm", "p", lambda one: one.holm),
            ("tokens of the vote", "mean", lambda one: one.vote_tokens if one.first else None),
            ("no vote, or no right answer", "count", lambda one: one.without),
            ("judgement not read", "count", lambda one: one.unread),
        ],
        *notes,
    )


def _sampled(analysis: Analysis) -> Table | None:
    def budget(one: Sampled) -> str:
        return "about the same" if one.fair else "not the same" if one.ratio else "unknown"

    return table(
        "sampled",
        "More samples instead of a debate",
        analysis.sampled,
        [
            ("debate", "text", lambda one: one.debate.name),
            ("samples instead", "text", lambda one: one.row.name),
            ("questions of both", "count", lambda one: one.ledger.n),
            ("debate right", "share", lambda one: one.shares[0]),
            ("samples right", "share", lambda one: one.shares[1]),
            ("difference, points", "points", lambda one: one.difference),
            (_test(analysis), "p", lambda one: one.p),
            ("Holm", "p", lambda one: one.holm),
            ("tokens, samples by debate", "number", lambda one: one.ratio),
            ("budget", "text", budget),
        ],
        "From 0.8 to 1.25 times the debate's tokens the budgets are called the same.",
        *analysis.unread,
    )


def _placed(analysis: Analysis) -> Table | None:
    leanings = [
        f"{one.row.name} by {one.by}: p = {probability(one.p)}, {probability(one.holm)} after Holm"
        for one in analysis.leanings
    ]
    return table(
        "places",
        "By the side and the place of the right answer",
        analysis.placed,
        [
            ("row", "text", lambda one: one.row.name),
            ("right where the first debater held it", "share", lambda one: one.a),
            ("right where the second held it", "share", lambda one: one.b),
            ("right where neither held it", "share", lambda one: one.neither),
            ("right where shown first", "share", lambda one: one.first),
            ("right where shown second", "share", lambda one: one.second),
            ("judge flips with the order", "share", lambda one: one.flipped),
        ],
        f"Side or place was drawn. {listed(leanings)}."
        if leanings
        else "The side was not drawn, so these shares do not tell whether the judge leans.",
        *analysis.unread,
    )


def _spent(analysis: Analysis) -> Table | None:
    if len(analysis.spent) < 2:
        return None
    columns: Columns[Spent] = [
        ("row", "text", lambda one: one.row.name),
        ("tokens a question", "mean", lambda one: one.cost.tokens),
        ("accuracy", "share", lambda one: one.right),
        ("a cheaper one is as good", "text", lambda one: one.beaten_by or "no: on the front"),
        ("kind", "text", _kind),
    ]
    if any(one.cost.cost is not None for one in analysis.spent):
        columns.insert(2, ("cost a question", "mean", lambda one: one.cost.cost))
    by = "money" if analysis.in_money else "tokens, as not every row has a price"
    note = f"By the point figures and by {by}; where intervals overlap chance may order them."
    return table("front", "Cost and accuracy", analysis.spent, columns, note, *analysis.unread)


def _kind(one: Spent) -> str:
    kind = "baseline" if one.baseline else "debate"
    return f"{kind}, handed the right answer" if handed(one.row) else kind
