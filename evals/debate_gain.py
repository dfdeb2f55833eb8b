"""The gain of a debate over the answers that were there before it.

A debate is compared with the plurality of direct answers before it, and with more samples of the
same model for as many tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scipy.stats import fisher_exact

from dialectree.evals.all_asked import Asked, as_many, asked
from dialectree.evals.comparisons import Comparison, Paired, correct, exact_flips
from dialectree.evals.intervals import Proportion, share_of, shared, sums
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.measures import (
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
from dialectree.evals.tasks import arguers, equal_tokens, evaluated, is_baseline
from dialectree.protocols.protocol import method

SAME_BUDGET = (0.8, 1.25)
"""Tokens of a question against the debate's, from which on two budgets are called the same."""


@dataclass(kw_only=True)
class Turned(Paired):
    """A row's votes and its debates after them, on the questions that have both.

    The vote comes first, then the debate; an answer that the debate withheld is not right.
    """

    row: Row
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


def turned(study: Study) -> list[Turned]:
    """Return every row that voted before it debated."""
    made = (_turned(study, row) for row in study.rows)
    return [one for one in made if one.first or one.unread]


def _turned(study: Study, row: Row) -> Turned:
    results = study.of(row.name)
    after, unread = asked(study, row.name), measures.unread(results)
    judged = after.right.keys() | unread
    voted = {r.item: r.vote for r in results if r.vote and r.vote.given and r.item in judged}
    hazy = {item for item, vote in voted.items() if vote.right is None} | (unread & voted.keys())
    right = {item: vote.right is True for item, vote in voted.items() if item not in hazy}
    lost = [right[item] for item in right if item in after.withheld]
    both = [*right]
    sure = {i: vote.confidence for i, vote in voted.items() if vote.confidence is not None}
    alike = all(vote.pair or not handed(row) for vote in voted.values())
    votes = Asked(f"the vote before {row.name}", right, (), sure)
    one = Turned(
        key=("vote", row.name),
        first=[right[item] for item in both],
        second=[after.right[item] for item in both],
        clusters=study.groups(both),
        withheld=len(lost),
        as_many=as_many(study, after, votes, both) if alike else None,
        row=row,
        withheld_right=sum(lost),
        withheld_wrong=len(lost) - sum(lost),
        without=len(results) - len(right) - len(hazy) - len(measures.ended(results, "failed")),
        unread=len(hazy),
        vote_tokens=sum(tokens(voted[item].usage) for item in both) / max(len(both), 1),
        alike=alike,
    )
    one.p = one.p if one.alike else None
    return one


@dataclass(kw_only=True)
class Sampled(Paired):
    """More samples of the debaters' model instead of a debate.

    The debate comes first, then the samples.
    """

    row: Row
    debate: Row
    ratio: float | None
    """Its tokens a question, by those of the debate."""

    @property
    def fair(self) -> bool:
        """Whether the two spend about as many tokens."""
        low, high = SAME_BUDGET
        return self.ratio is not None and low <= self.ratio <= high

    @property
    def matching(self) -> int | None:
        """The number of samples that would about match the debate's tokens."""
        asked_for = self.row.settings.get("samples")
        usual = evaluated(method(self.row.method)).samples
        samples = asked_for if isinstance(asked_for, int) else usual
        return max(1, round(samples / self.ratio)) if self.ratio else None


def sampled(study: Study) -> list[Sampled]:
    """Return every debate beside every row of samples of its debaters, on the questions of both."""
    rows_of_samples: list[Sampled] = []
    every = {row.name: asked(study, row.name) for row in study.rows}
    for debate, row in ((debate, row) for debate in study.rows for row in study.rows):
        if is_baseline(debate.method) or not _asks_again(study, row, debate):
            continue
        samples, debated = every[row.name], every[debate.name]
        both = [item for item in study.items if item in samples.right and item in debated.right]
        if not both:
            continue
        spent, beside = (
            sum(tokens(study.results[one.name][item].usage) for item in both)
            for one in (row, debate)
        )
        rows_of_samples.append(
            Sampled(
                key=frozenset({row.name, debate.name}),
                first=[debated.right[item] for item in both],
                second=[samples.right[item] for item in both],
                clusters=study.groups(both),
                withheld=sum(item in debated.withheld for item in both),
                as_many=as_many(study, debated, samples, both),
                row=row,
                debate=debate,
                ratio=spent / beside if beside else None,
            )
        )
    return rows_of_samples


class Missing(NamedTuple):
    """A debate that no row of samples comes close to in tokens."""

    debate: Row
    method: str
    """The method that would spend as many."""
    nearest: Sampled | None
    """The row whose tokens come closest."""


def missing(study: Study, beside: Sequence[Sampled]) -> list[Missing]:
    """Return the debates that lack a row of samples for as many tokens, of tasks that have some."""
    gaps: list[Missing] = []
    sampling = next(iter(equal_tokens(study.task)), None)
    for debate in study.rows:
        if is_baseline(debate.method) or handed(debate) or not study.of(debate.name):
            continue
        own = [one for one in beside if one.debate == debate]
        asked = any(_asks_again(study, row, debate) and study.of(row.name) for row in study.rows)
        if not sampling or (asked and not own) or any(one.fair for one in own):
            continue
        known = [one for one in own if one.ratio]
        nearest = min(known, key=lambda one: abs(math.log(one.ratio or 1)), default=None)
        gaps.append(Missing(debate, sampling, nearest))
    return gaps


def _asks_again(study: Study, row: Row, debate: Row) -> bool:
    """Return whether ``row`` asks models that argue in the debate for samples, and no others."""
    if row.method not in equal_tokens(study.task) or not alike(row, debate):
        return False
    return set(row.models.values()) <= arguers(method(debate.method), debate.models)


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


def placed(study: Study) -> list[Placed]:
    """Return every row some of whose results have sides."""
    placements: list[Placed] = []
    for row in study.rows:
        right = scored(study.of(row.name))
        sided = [(r, r.sides) for r in study.of(row.name) if r.sides is not None]
        if not sided:
            continue
        a, b, neither = (
            _share([r for r, sides in sided if sides.gold_side == side], right)
            for side in ("a", "b", None)
        )
        first, second = (
            _share([r for r, sides in sided if sides.gold_position == place], right)
            for place in ("first", "second")
        )
        ruled = [(sides.flipped, r.group) for r, sides in sided if sides.flipped is not None]
        flipped = share_of([flip for flip, _ in ruled], [group for _, group in ruled])
        placements.append(Placed(row, a, b, neither, first, second, flipped))
    return placements


def _share(results: Sequence[Result], right: dict[str, bool]) -> Proportion:
    known = [r for r in results if r.item in right]
    return share_of([right[r.item] for r in known], [r.group for r in known])


@dataclass(kw_only=True)
class Leaning(Comparison):
    """Whether a judge was right more often by the side or the place of the right answer.

    ``p`` is if neither side nor place mattered, as they were drawn. It is corrected for all such
    tests of the report.
    """

    row: Row
    by: Literal["side", "place"]
    first: Proportion
    """Where the first debater held the right answer, or where the judge was shown it first."""
    second: Proportion


def leanings(study: Study) -> list[Leaning]:
    """Return a test for each row in which the side or the place of the right answer was drawn.

    Where the debaters chose their sides, the side tells how hard the question was, and not where
    the judge leans.
    """
    tests: list[Leaning] = []
    for row in study.rows:
        balanced = row.settings.get("candidates") == "balanced"
        right = scored(study.of(row.name))
        drawn = [
            (r, r.sides)
            for r in study.of(row.name)
            if r.item in right and r.sides and r.sides.gold_side
            if balanced or _sides_drawn(study, row, r)
        ]
        places: dict[Literal["side", "place"], list[bool]] = {
            "side": [sides.gold_side == "a" for _, sides in drawn]
        }
        if balanced:  # elsewhere side a always stands first
            places["place"] = [sides.gold_position == "first" for _, sides in drawn]
        for by, first in places.items():
            if len(set(first)) == 2:
                share, other = (
                    _share([r for (r, _), f in zip(drawn, first, strict=True) if f is way], right)
                    for way in (True, False)
                )
                answers = [right[r.item] for r, _ in drawn]
                p = _leaning_p(answers, first, [r.group for r, _ in drawn])
                key = row.name, by
                tests.append(Leaning(key=key, p=p, row=row, by=by, first=share, second=other))
    correct(tests)
    return tests


def _sides_drawn(study: Study, row: Row, result: Result) -> bool:
    """Return whether the seed drew who holds which option: only of two that nobody chose."""
    item = study.texts.get(result.item)
    handed_to_a = row.settings.get("candidates") == "oracle"
    return not handed_to_a and item is not None and len(item.inputs.options) == 2


def _leaning_p(right: Sequence[bool], drawn: Sequence[bool], groups: Sequence[str]) -> float:
    """Return how probable so large a difference is if the draw did not matter.

    Fisher's exact test; in clusters, flips of each cluster's draws.
    """
    if not shared(groups):
        pairs = list(zip(right, drawn, strict=True))
        table = [[pairs.count((r, d)) for r in (True, False)] for d in (True, False)]
        exact: Any = fisher_exact(table)
        return float(exact.pvalue)
    level = round(10 * sum(right) / len(right))  # about their mean, in tenths: any level is valid
    pulls = [(10 * r - level) * (1 if d else -1) for r, d in zip(right, drawn, strict=True)]
    return exact_flips([round(one) for one in sums(pulls, groups)])


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


def spent(study: Study) -> list[Spent]:
    """Return every row with a share and a price, the cheapest first."""
    measured = [(row, outcomes(study.of(row.name)), cost(study.of(row.name))) for row in study.rows]
    judged = [one for one in measured if one[1].n and one[2].tokens]
    money = all(took.cost for _, _, took in judged)
    rows = [
        Spent(
            row,
            counts.share,
            took,
            float((took.cost if money else took.tokens) or 0),
            None,
            is_baseline(row.method),
        )
        for row, counts, took in judged
    ]
    rows.sort(key=lambda one: (one.price, -(one.right.share or 0)))

    def beats(other: Spent, one: Spent) -> bool:
        gain, saving = (other.right.share or 0) - (one.right.share or 0), one.price - other.price
        return alike(one.row, other.row) and min(gain, saving) >= 0 and max(gain, saving) > 0

    return [
        one._replace(beaten_by=next((o.row.name for o in rows if beats(o, one)), None))
        for one in rows
    ]
