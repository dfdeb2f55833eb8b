"""Did debating help? What a debate added to the answers that were there before it.

Before it stands the plurality of direct answers to the same question; beside it, more samples of
the same model for as many tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from scipy.stats import fisher_exact

from dialectree.evals.bootstrap import Figure
from dialectree.evals.clustered import shared, sums
from dialectree.evals.items import Task
from dialectree.evals.paired import McNemar, Pairs, compared, exact_flips
from dialectree.evals.proportions import Proportion, corrected, share_of
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.measures import (
    BASELINES,
    SAMPLED,
    Cost,
    alike,
    cost,
    handed,
    outcomes,
    scored,
    tokens,
)
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Result, Row
from dialectree.graphs.role_switching_debate import self_consistency
from dialectree.graphs.tree_structured_debate import best_of_n

SAME_BUDGET = (0.8, 1.25)
"""Tokens of a question against the debate's, from which on two budgets are called the same."""
SAMPLES = {"self_consistency": self_consistency.SAMPLES, "best_of_n": best_of_n.SAMPLES}
"""Samples of a question, where a row does not say how many."""
SAMPLING: dict[Task, str] = {"decide": "self_consistency", "answer": "best_of_n"}
"""What spends the tokens of a debate on samples instead, by task."""


ARGUERS = (
    ("debater_a", "debater_b"),
    ("supporter", "attacker"),
    ("leaf_debater_a", "leaf_debater_b"),
    ("leaf_debater",),
)
"""The roles that argue; where another protocol settles the leaves of TSD, they are its own. An
evaluation of an earlier version has one role for both leaf debaters."""


class Turned(NamedTuple):
    """A row's answers before and after its debates, on the questions that have both."""

    row: Row
    before: Proportion
    after: Proportion
    pairs: Pairs
    """The vote first, then the debate."""
    withheld_right: int
    """Questions that the vote had right and the debate withheld its answer to."""
    withheld_wrong: int
    without: int
    """Questions without a vote that says something, or of which nobody knows what is right."""
    unread: int
    """Questions left out because one of their two judgements could not be read."""
    vote_tokens: float
    """Of a question's vote; they are not among the debate's. 0 without a question."""
    alike: bool
    """Whether vote and debate chose among the same options."""
    holm: float | None = None
    """The ledger's p, corrected for all comparisons of the report; None where nothing compares."""
    detectable: float | None = None
    """The smallest difference that these questions would probably show."""

    @property
    def ledger(self) -> McNemar:
        """``first_only`` was right and became wrong, ``second_only`` was wrong and became right."""
        return self.pairs.ledger


class Sampled(NamedTuple):
    """More samples of the debaters' model instead of a debate."""

    row: Row
    debate: Row
    right: Proportion
    debate_right: Proportion
    ratio: float | None
    """Its tokens a question, by those of the debate."""
    pairs: Pairs
    """The debate first, then the samples."""
    holm: float | None = None
    """The exact test's p, corrected for all comparisons of the report."""
    detectable: float | None = None
    """The smallest difference that these questions would probably show."""

    @property
    def paired(self) -> McNemar:
        """``first_only``: just the debate is right."""
        return self.pairs.ledger

    @property
    def difference(self) -> Figure:
        """Of the debate's share less that of the samples."""
        return self.pairs.difference

    @property
    def fair(self) -> bool:
        """Whether the two spend about as many tokens."""
        low, high = SAME_BUDGET
        return self.ratio is not None and low <= self.ratio <= high


class Wanted(NamedTuple):
    """What is missing beside a debate: as many tokens spent on samples."""

    debate: Row
    method: str
    """What would spend them."""
    nearest: Sampled | None
    """The row whose tokens come closest; None where there is no row of samples."""
    samples: int | None
    """How many would about match, by what they cost in that row; None where that is not known."""


class Placed(NamedTuple):
    """Whether it mattered who held the right answer, and where the judge read it."""

    row: Row
    a: Proportion
    b: Proportion
    neither: Proportion
    first: Proportion
    second: Proportion
    flipped: Proportion
    """Of the questions that the judge ruled on in both orders, those with two rulings."""


class Leaning(NamedTuple):
    """Whether a judge was right more often by the side or the place of the right answer."""

    row: Row
    by: Literal["side", "place"]
    first: Proportion
    """Where the first debater held the right answer, or where the judge was shown it first."""
    second: Proportion
    p: float
    """If neither side nor place mattered, as they were drawn."""
    holm: float | None = None
    """The same, corrected for all such tests of the report."""


class Spent(NamedTuple):
    """A row between cost and accuracy."""

    row: Row
    right: Proportion
    cost: Cost
    price: float
    """Of a question: money where all rows have prices, else tokens."""
    beaten_by: str | None
    """A row that is no dearer and no worse, and better in one of the two; None: on the front.

    It chooses among the same answers: a debate that was handed the right one has a front apart.
    """
    baseline: bool


def turned(study: Study) -> list[Turned]:
    """Return every row that voted before it debated."""
    made = (_turned(study, row) for row in study.rows)
    return [
        one
        for one in made
        if one.ledger.n or one.unread or one.withheld_right or one.withheld_wrong
    ]


def _turned(study: Study, row: Row) -> Turned:
    results = study.of(row.name)
    after, unread = scored(results), measures.unread(results)
    held, lost = measures.withheld(results), measures.failed(results)
    judged = after.keys() | unread | held
    items: list[str] = []
    before: list[bool] = []
    withheld = {True: 0, False: 0}
    spent = hazy = 0
    alike = True
    for result in results:
        vote, item = result.vote, result.item
        if vote is None or not vote.given or item not in judged:
            continue
        alike &= vote.pair or not handed(row)
        if vote.right is None or item in unread:
            hazy += 1
        elif item in held:
            withheld[vote.right] += 1
        else:
            before.append(vote.right)
            items.append(item)
            spent += vote.usage.prompt_tokens + vote.usage.completion_tokens
    later, groups = [after[item] for item in items], study.groups(items)
    return Turned(
        row,
        share_of(before, groups),
        share_of(later, groups),
        compared(before, later, groups),
        withheld[True],
        withheld[False],
        len(results) - len(items) - hazy - sum(withheld.values()) - len(lost),
        hazy,
        spent / max(len(items), 1),
        alike,
    )


def sampled(study: Study) -> list[Sampled]:
    """Return every debate beside every row of samples of its debaters, on the questions of both."""
    found: list[Sampled] = []
    for debate in study.rows:
        for row in study.rows:
            if debate.method in BASELINES or not _asks_again(row, debate):
                continue
            first, second = scored(study.of(row.name)), scored(study.of(debate.name))
            both = [item for item in first if item in second]
            if both:
                ours, theirs = [second[item] for item in both], [first[item] for item in both]
                groups = study.groups(both)
                found.append(
                    Sampled(
                        row,
                        debate,
                        share_of(theirs, groups),
                        share_of(ours, groups),
                        _ratio(study, row, debate, both),
                        compared(ours, theirs, groups),
                    )
                )
    return found


def wanted(study: Study, beside: Sequence[Sampled]) -> list[Wanted]:
    """Every debate that no row of samples comes close to in tokens, of the tasks that have some."""
    found: list[Wanted] = []
    for debate in study.rows:
        if debate.method in BASELINES or handed(debate) or not study.of(debate.name):
            continue
        own = [one for one in beside if one.debate == debate]
        asked = [row for row in study.rows if _asks_again(row, debate) and study.of(row.name)]
        unread = not own and bool(asked)
        if study.task not in SAMPLING or unread or any(one.fair for one in own):
            continue
        known = [(abs(math.log(one.ratio)), place) for place, one in enumerate(own) if one.ratio]
        nearest = own[min(known)[1]] if known else None
        found.append(Wanted(debate, SAMPLING[study.task], nearest, nearest and _matching(nearest)))
    return found


def _asks_again(row: Row, debate: Row) -> bool:
    """Whether ``row`` asks models that argue in the debate for samples, and no others."""
    same = row.method in SAMPLED and set(row.models.values()) <= arguers(debate)
    return same and alike(row, debate)


def arguers(debate: Row) -> set[str]:
    """The models that argue in a debate: what its judge would say alone is another question."""
    roles = next((roles for roles in ARGUERS if roles[0] in debate.models), tuple(debate.models))
    return {debate.models[role] for role in roles}


def samples(row: Row) -> int:
    """How many answers a row of samples asks for."""
    given = row.settings.get("samples")
    return given if isinstance(given, int) else SAMPLES[row.method]


def _matching(one: Sampled) -> int | None:
    return max(1, round(samples(one.row) / one.ratio)) if one.ratio else None


def _ratio(study: Study, row: Row, debate: Row, items: Sequence[str]) -> float | None:
    own, other = (
        sum(tokens(study.results[one.name][item]) for item in items) for one in (row, debate)
    )
    return own / other if other else None


def placed(study: Study) -> list[Placed]:
    """Return every row of which some result tells sides."""
    found: list[Placed] = []
    for row in study.rows:
        results = study.of(row.name)
        told = [result for result in results if result.sides is not None]
        if not told:
            continue
        right = scored(results)

        def share(
            of: Sequence[Result], by: str, value: object, right: dict[str, bool] = right
        ) -> Proportion:
            these = [r for r in of if r.item in right and getattr(r.sides, by) == value]
            return share_of([right[r.item] for r in these], [r.group for r in these])

        ruled = [r for r in told if r.sides and r.sides.flipped is not None]
        flips = [r.sides is not None and bool(r.sides.flipped) for r in ruled]
        found.append(
            Placed(
                row,
                share(told, "gold_side", "a"),
                share(told, "gold_side", "b"),
                share(told, "gold_side", None),
                share(told, "gold_position", "first"),
                share(told, "gold_position", "second"),
                share_of(flips, [r.group for r in ruled]),
            )
        )
    return found


def leanings(study: Study) -> list[Leaning]:
    """Return a test for each row in which the side or the place of the right answer was drawn.

    Where the debaters chose their sides, the side tells how hard the question was, and not where
    the judge leans.
    """
    found: list[Leaning] = []
    for row in study.rows:
        balanced = row.settings.get("candidates") == "balanced"
        right = scored(study.of(row.name))
        told = [r for r in study.of(row.name) if r.item in right and r.sides and r.sides.gold_side]
        if not balanced:
            told = [result for result in told if _sides_drawn(study, row, result)]
        sides = [(r, r.sides.gold_side == "a") for r in told if r.sides]
        places = [
            (r, r.sides.gold_position == "first") for r in told if balanced and r.sides
        ]  # elsewhere side a always stands first
        for by, drawn in (("side", sides), ("place", places)):
            groups = [
                [result for result, place in drawn if place is first] for first in (True, False)
            ]
            if all(groups):
                first, second = (
                    share_of([right[r.item] for r in own], [r.group for r in own]) for own in groups
                )
                p = _leaning_p(
                    [right[result.item] for result, _ in drawn],
                    [place for _, place in drawn],
                    [result.group for result, _ in drawn],
                )
                found.append(Leaning(row, "side" if by == "side" else "place", first, second, p))
    holm = corrected([one.p for one in found], "holm")
    return [one._replace(holm=p) for one, p in zip(found, holm, strict=True)]


def _sides_drawn(study: Study, row: Row, result: Result) -> bool:
    """Whether the seed drew who holds which option: only of two options that nobody chose."""
    item = study.texts.get(result.item)
    handed_to_a = row.settings.get("candidates") == "oracle"
    return not handed_to_a and item is not None and len(item.inputs.options) == 2


def _leaning_p(right: Sequence[bool], drawn: Sequence[bool], groups: Sequence[str]) -> float:
    """How probable so large a difference is if the draw did not matter.

    Fisher's exact test; in clusters, flips of each cluster's draws.
    """
    if not shared(groups):
        pairs = list(zip(right, drawn, strict=True))
        table = [[pairs.count((r, d)) for r in (True, False)] for d in (True, False)]
        return float(fisher_exact(table).pvalue)
    level = round(10 * sum(right) / len(right))  # about their mean, in tenths: any level is valid
    pulls = [(10 * r - level) * (1 if d else -1) for r, d in zip(right, drawn, strict=True)]
    return exact_flips([round(one) for one in sums(pulls, groups)])


def spent(study: Study) -> list[Spent]:
    """Return every row with a share and a price, the cheapest first."""
    measured = [(row, outcomes(study.of(row.name)), cost(study.of(row.name))) for row in study.rows]
    judged = [one for one in measured if one[1].parsed.n and one[2].tokens]
    money = all(took.cost for _, _, took in judged)
    known = [
        (row, counts.parsed, float((took.cost if money else took.tokens) or 0), took)
        for row, counts, took in judged
    ]
    known.sort(key=lambda one: (one[2], -(one[1].share or 0)))
    found: list[Spent] = []
    for row, right, price, took in known:
        better = [
            other.name
            for other, share, other_price, _ in known
            if alike(row, other)
            and other_price <= price
            and (share.share or 0) >= (right.share or 0)
            and (other_price < price or (share.share or 0) > (right.share or 0))
        ]
        beaten = better[0] if better else None
        found.append(Spent(row, right, took, price, beaten, row.method in BASELINES))
    return found
