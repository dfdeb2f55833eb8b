"""Did debating help? What a debate added to the answers that were there before it.

Before it stands the plurality of direct answers to the same question; beside it, more samples of
the same model for as many tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dialectree.evals.bootstrap import Figure
from dialectree.evals.items import Task
from dialectree.evals.paired import McNemar, mcnemar, tango
from dialectree.evals.proportions import Proportion, corrected, wilson
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
from dialectree.graphs import best_of_n, self_consistency

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
    ledger: McNemar
    """``first_only`` was right and became wrong, ``second_only`` was wrong and became right."""
    without: int
    """Questions without a vote that says something, or of which nobody knows what is right."""
    unread: int
    """Questions left out because one of their two judgements could not be read."""
    vote_tokens: float
    """Of a question's vote; they are not among the debate's. 0 without a question."""
    holm: float | None = None
    """The ledger's p, corrected for all rows that have one; None where the debate was handed the
    right answer, and where there is no question."""


class Sampled(NamedTuple):
    """More samples of the debaters' model instead of a debate."""

    row: Row
    debate: Row
    right: Proportion
    debate_right: Proportion
    ratio: float | None
    """Its tokens a question, by those of the debate."""
    paired: McNemar
    """``first_only``: just the debate is right."""
    difference: Figure
    """Of the debate's share less that of the samples."""
    holm: float | None = None
    """The exact test's p, corrected for all rows of samples and debates of the report."""

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


class Spent(NamedTuple):
    """A row between cost and accuracy."""

    row: Row
    right: Proportion
    cost: Cost
    beaten_by: str | None
    """A row that is no dearer and no worse, and better in one of the two; None: on the front.

    It chooses among the same answers: a debate that was handed the right one has a front apart.
    """
    baseline: bool


def turned(study: Study) -> list[Turned]:
    """Every row that voted before it debated."""
    made = (_turned(row, study.of(row.name)) for row in study.rows)
    found = [one for one in made if one.ledger.n or one.unread]
    ps = [one.ledger.p if one.ledger.n and not handed(one.row) else None for one in found]
    return [one._replace(holm=p) for one, p in zip(found, corrected(ps, "holm"), strict=True)]


def _turned(row: Row, results: Sequence[Result]) -> Turned:
    after, unread = scored(results), measures.unread(results)
    judged = after.keys() | unread
    before: list[bool] = []
    later: list[bool] = []
    spent = hazy = 0
    for result in results:
        vote = result.vote
        if vote is None or not vote.given or result.item not in judged:
            continue
        if vote.right is None or result.item in unread:
            hazy += 1
            continue
        before.append(vote.right)
        later.append(after[result.item])
        spent += vote.usage.prompt_tokens + vote.usage.completion_tokens
    return Turned(
        row,
        wilson(sum(before), len(before)),
        wilson(sum(later), len(later)),
        mcnemar(before, later),
        len(results) - len(before) - hazy,
        hazy,
        spent / max(len(before), 1),
    )


def sampled(study: Study) -> list[Sampled]:
    """Every debate beside every row of samples of its debaters, on the questions of both."""
    found: list[Sampled] = []
    for debate in study.rows:
        for row in study.rows:
            if debate.method in BASELINES or handed(debate) or not _asks_again(row, debate):
                continue
            first, second = scored(study.of(row.name)), scored(study.of(debate.name))
            both = [item for item in first if item in second]
            if both:
                ours, theirs = [second[item] for item in both], [first[item] for item in both]
                found.append(_sampled(row, debate, ours, theirs, _ratio(study, row, debate, both)))
    holm = corrected([one.paired.p for one in found], "holm")
    return [one._replace(holm=p) for one, p in zip(found, holm, strict=True)]


def _sampled(
    row: Row, debate: Row, ours: Sequence[bool], theirs: Sequence[bool], ratio: float | None
) -> Sampled:
    paired = mcnemar(ours, theirs)
    n = paired.n
    right, debate_right = wilson(sum(theirs), n), wilson(sum(ours), n)
    return Sampled(row, debate, right, debate_right, ratio, paired, tango(paired))


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
    return row.method in SAMPLED and set(row.models.values()) <= arguers(debate)


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
    """Every row of which some result tells sides."""
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
            return wilson(sum(right[r.item] for r in these), len(these))

        orders = [r.sides.flipped for r in told if r.sides and r.sides.flipped is not None]
        found.append(
            Placed(
                row,
                share(told, "gold_side", "a"),
                share(told, "gold_side", "b"),
                share(told, "gold_side", None),
                share(told, "gold_position", "first"),
                share(told, "gold_position", "second"),
                wilson(sum(orders), len(orders)),
            )
        )
    return found


def spent(study: Study) -> list[Spent]:
    """Every row with a share and tokens, the cheapest first."""
    measured = [(row, outcomes(study.of(row.name)), cost(study.of(row.name))) for row in study.rows]
    known = [
        (row, counts.parsed, took.tokens, took)
        for row, counts, took in measured
        if counts.parsed.n and took.tokens
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
        found.append(
            Spent(row, right, took, better[0] if better else None, row.method in BASELINES)
        )
    return found
