"""The tables of a report on what a debate adds to a baseline, a vote or more samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.clustered import design
from dialectree.evals.debate_gain import Spent, Turned
from dialectree.evals.paired import FEWEST, mcnemar_counts, tango
from dialectree.evals.proportions import Proportion, share_of
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.formatting import Columns, Table, probability, table
from dialectree.evals.reporting.measures import handed
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Preferred
from dialectree.report.words import listed


def compared_tables(analysis: Analysis) -> Sequence[Table | None]:
    """Return the tables of comparisons, in the order of the page."""
    return [
        _paired(analysis),
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


def _correction(made: int, correct: str = "Holm corrects") -> str:
    """Return what the corrected p values are corrected for."""
    if made == 1:
        return "One comparison: there is nothing to correct for."
    return f"{correct} for the {made} comparisons of the report."


def _paired(analysis: Analysis) -> Table | None:
    notes = [
        "The questions that both rows answered, each its own control. Where the interval (Tango's "
        "score interval) and the test disagree, the test counts.",
        "The last column: the difference that this test, after the correction, would show four "
        "times in five. Below 0: only a fall is possible.",
        _correction(analysis.family, "Bonferroni and Holm correct"),
        *analysis.left_out,
    ]
    if analysis.study.clustered:
        notes.insert(1, "The test flips the sign of each cluster's difference as a whole.")
    return table(
        "mcnemar",
        "Against the baseline, question by question",
        analysis.compared,
        [
            ("row", "text", lambda one: one.row.name),
            ("baseline", "text", lambda one: one.baseline.name),
            ("questions of both", "count", lambda one: one.paired.n),
            ("difference, points", "points", lambda one: one.difference),
            ("only the row right", "count", lambda one: one.paired.first_only),
            ("only the baseline right", "count", lambda one: one.paired.second_only),
            (_test(analysis), "p", lambda one: one.p),
            ("Bonferroni", "p", lambda one: one.bonferroni),
            ("Holm", "p", lambda one: one.holm),
            ("failed", "count", lambda one: one.failed),
            ("smallest difference to be noticed, points", "rise", lambda one: one.detectable),
        ],
        notes,
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
        [
            "p: how often so large a difference comes about if each pair's is as likely to have "
            "the other sign. It says whether one is better; the interval, a bootstrap over the "
            f"pairs of papers, how far. There is none below {FEWEST} pairs and where all "
            "differences are alike.",
            _correction(analysis.family),
        ],
    )


class Preferences(NamedTuple):
    """How often a row's summaries were preferred to another row's."""

    row: str
    against: str
    wins: int
    ties: int
    swayed: int
    """Ties because the judge went by the place."""
    losses: int
    won: Proportion
    difference: Figure
    unjudged: int

    @property
    def n(self) -> int:
        """Pairs that were judged."""
        return self.wins + self.ties + self.losses


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
            ("pairs", "count", lambda one: one.n),
            ("wins", "count", lambda one: one.wins),
            ("ties", "count", lambda one: one.ties),
            ("of these by position", "count", lambda one: one.swayed),
            ("losses", "count", lambda one: one.losses),
            ("wins of wins and losses", "share", lambda one: one.won),
            ("wins less losses, points", "points", lambda one: one.difference),
            ("not judged", "count", lambda one: one.unjudged),
        ],
        [
            "A model judged each pair of summaries in both orders. A preference counts where both "
            "orders agree; where they do not, the judge went by the place, and it is a tie.",
            "Intervals: Wilson's for the share, Tango's for the difference; one that holds 50%, or "
            "0, shows no preference.",
        ],
    )


def _preferences(study: Study, row: str, against: str, judged: list[Preferred]) -> Preferences:
    swayed = sum(one.score.value == "swayed" for one in judged)
    counts = Counter(one.score.score for one in judged)
    wins, ties, losses = counts[1.0], counts[0.5] + swayed, counts[0.0]
    points = {one.item: 2 * score - 1 for one in judged if (score := one.score.score) is not None}
    points |= {one.item: 0.0 for one in judged if one.score.value == "swayed"}
    effect = design([*points.values()], study.groups(points))
    difference = tango(mcnemar_counts(0, wins, losses, ties), design=effect)
    clear = {item: point > 0 for item, point in points.items() if point}
    won = share_of([*clear.values()], study.groups(clear))
    unjudged = len(judged) - wins - ties - losses
    return Preferences(row, against, wins, ties, swayed, losses, won, difference, unjudged)


def _turned(analysis: Analysis) -> Table | None:
    notes = [
        "The vote: the plurality of direct answers to the same question before the debate. p: as "
        "uneven a ledger if the debate turned answers either way alike. A withheld answer is "
        "neither right nor wrong, and in no share here.",
    ]
    if any(one.holm is not None for one in analysis.turned):
        notes.append(_correction(analysis.family))
    if any(not one.alike for one in analysis.turned):
        notes.append(
            "Where a debate was handed the right answer and the vote was among all options, they "
            "do not compare."
        )
    return table(
        "turned",
        "Before and after the debate",
        analysis.turned,
        [
            ("row", "text", lambda one: one.row.name),
            ("vote before", "share", lambda one: one.before),
            ("after the debate", "share", lambda one: one.after),
            ("change, points", "points", _change),
            ("right → wrong", "count", lambda one: one.ledger.first_only),
            ("wrong → right", "count", lambda one: one.ledger.second_only),
            ("right → withheld", "count", lambda one: one.withheld_right),
            ("wrong → withheld", "count", lambda one: one.withheld_wrong),
            ("p", "p", lambda one: one.p),
            ("Holm", "p", lambda one: one.holm),
            (
                "tokens of the vote",
                "mean",
                lambda one: one.vote_tokens if one.ledger.n else None,
            ),
            ("no vote, or no right answer", "count", lambda one: one.without),
            ("judgement not read", "count", lambda one: one.unread),
        ],
        notes,
    )


def _change(one: Turned) -> Figure:
    """Return the share after the debate less that of the vote, where the two compare."""
    value, low, high, n = one.difference
    if not one.alike or value is None or low is None or high is None:
        return Figure(None, None, None, n)
    return Figure(-value, -high, -low, n)


def _sampled(analysis: Analysis) -> Table | None:
    return table(
        "sampled",
        "More samples instead of a debate",
        analysis.sampled,
        [
            ("debate", "text", lambda one: one.debate.name),
            ("samples instead", "text", lambda one: one.row.name),
            ("questions of both", "count", lambda one: one.debate_right.n),
            ("debate right", "share", lambda one: one.debate_right),
            ("samples right", "share", lambda one: one.right),
            ("difference, points", "points", lambda one: one.difference),
            (_test(analysis), "p", lambda one: one.p),
            ("Holm", "p", lambda one: one.holm),
            ("tokens, samples by debate", "number", lambda one: one.ratio),
            (
                "budget",
                "text",
                lambda one: (
                    "about the same" if one.fair else "not the same" if one.ratio else "unknown"
                ),
            ),
        ],
        [
            "The debaters' model spends its tokens on more answers and a vote. From 0.8 to 1.25 "
            "times the tokens the budgets are called the same. Difference: the debate's share less "
            "that of the samples.",
            _correction(analysis.family),
            *analysis.left_out,
        ],
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
        [
            "Where the right answer stood. The first debater is the role debater_a, the second is "
            "debater_b.",
            "Side or place was drawn: a judge that weighs arguments only is right as often in "
            f"both. {listed(leanings)}."
            if leanings
            else "The side was not drawn, so these shares do not tell whether the judge leans: the "
            "questions of one side may have been easier.",
            *analysis.left_out,
        ],
    )


def _spent(analysis: Analysis) -> Table | None:
    if len(analysis.spent) < 2:
        return None
    columns: Columns[Spent] = [
        ("row", "text", lambda one: one.row.name),
        ("tokens a question", "mean", lambda one: one.cost.tokens),
    ]
    if any(one.cost.cost is not None for one in analysis.spent):
        columns.append(("cost a question", "mean", lambda one: one.cost.cost))
    columns.extend(
        [
            ("accuracy", "share", lambda one: one.right),
            ("a cheaper one is as good", "text", lambda one: one.beaten_by or "no: on the front"),
            (
                "kind",
                "text",
                lambda one: (
                    ("baseline" if one.baseline else "debate")
                    + (", handed the right answer" if handed(one.row) else "")
                ),
            ),
        ]
    )
    by = "money" if analysis.in_money else "tokens, as not every row has a price"
    notes = [f"By the point figures and by {by}; where intervals overlap chance may order them."]
    if any(handed(one.row) for one in analysis.spent):
        notes.append("Rows that were handed the right answer have a front of their own.")
    notes += analysis.left_out
    return table("front", "Cost and accuracy", analysis.spent, columns, notes)
