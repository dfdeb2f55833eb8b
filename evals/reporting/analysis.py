"""The comparisons that the tables, plots and sentences of a report share.

A debate is compared with its baseline, with more samples of the same model, and with the plurality
of direct answers before it, on all questions that both were asked. A withheld answer is not right.
So that a debate is not called worse for withholding alone, a second test compares it with as many
answers of the other: its surest ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scipy.stats import fisher_exact

from dialectree.evals import tasks
from dialectree.evals.comparisons import ALPHA, Comparison, correct, corrected, exact_flips
from dialectree.evals.intervals import Proportion, shared, sums
from dialectree.evals.reporting.answers import ASKED, Answers, per_row, tokens
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Result
from dialectree.protocols.protocol import method
from dialectree.system import chance


class Leaning(NamedTuple):
    """Whether a judge was right more often by the side or the place of the right answer."""

    row: str
    by: Literal["side", "place"]
    first: Proportion
    """Where the first debater held the right answer, or where the judge was shown it first."""
    second: Proportion
    p: float
    """If neither side nor place mattered, as they were drawn."""
    holm: float = 1.0
    """The p, corrected for all such tests of the report."""

    @property
    def shown(self) -> bool:
        """Whether a leaning is asserted."""
        return self.holm < ALPHA


class Priced(NamedTuple):
    """A row between cost and accuracy."""

    row: Answers
    price: float
    """Of a question: money where all rows have prices, else tokens."""
    beaten_by: str | None
    """A row that is no dearer and no worse, and better in one of the two; None: on the front.

    It chooses among the same answers: a debate that was handed the right one has a front apart.
    """


@dataclass(frozen=True)
class Analysis:
    """The comparisons and figures of a report."""

    study: Study
    beside: Sequence[tuple[Answers, Answers]]
    """Each row that has a baseline, with it."""
    comparisons: Sequence[Comparison]
    """Rows with their baselines, debates with samples, with votes, and marks of summaries."""
    leanings: Sequence[Leaning]
    priced: Sequence[Priced]
    """The rows with a share and a price, the cheapest first."""
    family: int
    """The comparisons between methods that Holm corrects for."""

    @property
    def unread(self) -> list[str]:
        """A note on judgements that are in no figure, where there are any."""
        what = "Left out, without a judgement that could be read"
        return per_row(what, self.study.rows.values(), lambda row: len(row.unread))

    @property
    def in_money(self) -> bool:
        """Whether every row has a price, so that cost is money and not tokens."""
        return all(one.price == one.row.mean("cost") for one in self.priced)


def analysed(study: Study, wanted: str | None = None) -> Analysis:
    """Return all that a report needs; the caller raises InputError on an unknown baseline."""
    of, rows = baseline(study, wanted), [*study.rows.values()]
    beside = [(row, against) for row in rows if (against := of(row)) is not None]
    pairs = {(one.name, against.name): True for one, against in beside}
    for one, other in ((one, other) for one in rows for other in rows):
        if _is_sampled(study, one, other):
            pairs.setdefault((one.name, other.name), False)
    made = [paired(study, study.rows[a], study.rows[b], main) for (a, b), main in pairs.items()]
    made += [_voted(study, row) for row in rows]
    made += [marked(study, *pair) for pair in beside]
    comparisons = [one for one in made if one is not None]
    return Analysis(
        study, beside, comparisons, leanings(study), _priced(rows), correct(comparisons)
    )


def paired(study: Study, row: Answers, beside: Answers, main: bool) -> Comparison | None:
    """Return a row beside its baseline (``main``), or a debate beside samples of its model."""
    first, second, withheld = row.right(*ASKED), beside.right(*ASKED), row.withheld
    both = [item for item in study.items if item in first and item in second]
    if not first or not second or not (both or main):
        return None
    ratio = None
    if _is_sampled(study, row, beside):
        spent, debated = (sum(tokens(one.results[i].usage) for i in both) for one in (beside, row))
        ratio = spent / debated if debated else None
    failed, other = ({*one.ended("failed")} for one in (row, beside))
    lost = [i for i in failed | other if i in failed | first.keys() and i in other | second.keys()]
    known = sum(first[item] - second[item] for item in both)
    least = known + sum(first.get(i, False) - second.get(i, True) for i in lost)
    most = known + sum(first.get(i, True) - second.get(i, False) for i in lost)
    n = max(len(both) + len(lost), 1)
    return Comparison(
        kind="row",
        row=row.name,
        beside=beside.name,
        first=[first[item] for item in both],
        second=[second[item] for item in both],
        clusters=study.groups(both),
        against_baseline=beside.baseline and not row.baseline,
        withheld=sum(item in withheld for item in both),
        as_many=_as_many(
            study, row, beside.name, first, second, _confidence(beside), beside.withheld
        )
        if withheld
        else None,
        failed=len(lost),
        bounds=(least / n, most / n) if lost else None,
        main=main,
        ratio=ratio,
    )


def _confidence(row: Answers) -> dict[str, float]:
    confidence: dict[str, float] = row.surest.answers.confidence.to_dict()
    return confidence


def _as_many(
    study: Study,
    row: Answers,
    beside: str,
    first: Mapping[str, bool],
    second: Mapping[str, bool],
    confidence: Mapping[str, float],
    withheld: Collection[str],
) -> Comparison | None:
    """Return the test on as many answers beside the row as it gave.

    They are the surest; ties, and answers without a confidence, are drawn from the seed. None where
    there are no more answers beside the row: then the test on all questions is the same.
    """
    both = [item for item in study.items if item in first and item in second]
    own = row.withheld
    count = sum(item not in own for item in both)
    given = [item for item in both if item not in withheld]
    if len(given) <= count:
        return None

    def surest_first(item: str) -> tuple[float, int]:
        drawn = chance.seed(study.evaluations[0].seed, "as many", beside, item)
        return -confidence.get(item, -1.0), drawn

    kept = set(sorted(given, key=surest_first)[:count])
    return Comparison(
        kind="as many",
        row=row.name,
        beside=beside,
        first=[first[item] for item in both],
        second=[second[item] and item in kept for item in both],
        clusters=study.groups(both),
    )


def _voted(study: Study, row: Answers) -> Comparison | None:
    """Return a row's debates beside the votes before them, on the questions that have both."""
    after, unread = row.right(*ASKED), row.unread
    judged = after.keys() | unread
    voted = {
        item: result.vote
        for item, result in row.results.items()
        if result.vote and result.vote.given and item in judged
    }
    hazy = {item for item, vote in voted.items() if vote.right is None} | (unread & voted.keys())
    before = {item: vote.right is True for item, vote in voted.items() if item not in hazy}
    if not before and not hazy:
        return None
    withheld = row.withheld
    lost = [before[item] for item in before if item in withheld]
    sure = {item: vote.confidence for item, vote in voted.items() if vote.confidence is not None}
    same = all(vote.pair or not row.handed for vote in voted.values())
    first, second = [after[item] for item in before], [*before.values()]
    spoilt = sum(b and not a for a, b in zip(first, second, strict=True))
    return Comparison(
        kind="vote",
        row=row.name,
        beside="the vote before it",
        first=first,
        second=second,
        clusters=study.groups(before),
        same_options=same,
        withheld=len(lost),
        as_many=_as_many(study, row, f"the vote before {row.name}", after, before, sure, ())
        if same
        else None,
        details={
            "right → wrong": spoilt - sum(lost),
            "wrong → right": sum(a and not b for a, b in zip(first, second, strict=True)),
            "right → withheld": sum(lost),
            "wrong → withheld": len(lost) - sum(lost),
            "tokens of the vote": sum(tokens(voted[item].usage) for item in before) / len(before)
            if before
            else None,
            "no vote, or no right answer": len(row.results)
            - len(before)
            - len(hazy)
            - row.counts["failed"],
            "judgement not read": len(hazy),
        },
    )


def marked(study: Study, row: Answers, beside: Answers) -> Comparison | None:
    first, second = row.marks("overall"), beside.marks("overall")
    both = [item for item in study.items if item in first and item in second]
    if not both:
        return None
    return Comparison(
        kind="marks",
        row=row.name,
        beside=beside.name,
        first=[first[item] for item in both],
        second=[second[item] for item in both],
        clusters=study.groups(both),
        against_baseline=beside.baseline and not row.baseline,
    )


# What a row is compared with


def alike(first: Answers, second: Answers) -> bool:
    """Return whether two rows choose among the same answers, so that they compare."""
    if first.handed is None or first.handed != second.handed:
        return first.handed == second.handed
    ours, theirs = first.row.settings, second.row.settings
    return ours.get("distractor", "first") == theirs.get("distractor", "first")


def baseline(study: Study, wanted: str | None = None) -> Callable[[Answers], Answers | None]:
    """Return a function from a row to what it is compared with: the plainest of the same models.

    Where no baseline was run it is the first row of the same protocol. ``wanted`` names a row or a
    method. A row is not compared with itself, nor with one that chooses among other answers.
    """

    def of(row: Answers) -> Answers | None:
        rows = [one for one in study.rows.values() if alike(one, row)]
        plainest = tasks.baselines(study.task, on_a_pair=row.handed is not None)
        matching = [
            one
            for name in ([wanted] if wanted else plainest)
            for one in rows
            if name == one.row.method or one.name == wanted
        ]
        protocol = method(row.row.method).protocol
        same = [one for one in rows if method(one.row.method).protocol is protocol]
        candidates = matching or ([] if wanted else same[:1])

        def same_models(one: Answers) -> bool:
            models = row.row.models
            common = {models[role] for role in one.row.models if role in models}
            return {*one.row.models.values()} == (common or {*models.values()})

        best = [one for one in candidates if one.row.method == candidates[0].row.method]
        nearest = max(best, key=same_models, default=None)
        return None if nearest is None or nearest.name == row.name else nearest

    return of


def _is_sampled(study: Study, debate: Answers, row: Answers) -> bool:
    """Return whether ``row`` asks models that argue in the debate for samples, and no others."""
    if debate.baseline or row.row.method not in tasks.equal_tokens(study.task):
        return False
    argue = tasks.arguers(method(debate.row.method), debate.row.models)
    return alike(row, debate) and set(row.row.models.values()) <= argue


class Missing(NamedTuple):
    """A debate that no row of samples comes close to in tokens."""

    debate: str
    method: str
    """The method that would spend as many."""
    nearest: Comparison | None
    """The row whose tokens come closest."""
    samples: int | None
    """The number of its samples that would about match the debate's tokens."""


def missing(analysis: Analysis) -> list[Missing]:
    """Return the debates that lack a row of samples for as many tokens, of tasks that have some."""
    study, gaps = analysis.study, list[Missing]()
    sampling = next(iter(tasks.equal_tokens(study.task)), None)
    for debate in study.rows.values():
        if not sampling or debate.baseline or debate.handed or not debate.results:
            continue
        rows = [row for row in study.rows.values() if row.results]
        beside = {row.name for row in rows if _is_sampled(study, debate, row)}
        own = [
            one
            for one in analysis.comparisons
            if one.kind == "row" and one.row == debate.name and one.beside in beside and one.first
        ]
        if (beside and not own) or any(one.fair for one in own):
            continue
        known = [one for one in own if one.ratio]
        nearest = min(known, key=lambda one: abs(math.log(one.ratio or 1)), default=None)
        samples = None
        if nearest and nearest.ratio:
            row = study.rows[nearest.beside].row
            asked_for, usual = row.settings.get("samples"), tasks.evaluated(method(row.method))
            spent = asked_for if isinstance(asked_for, int) else usual.samples
            samples = max(1, round(spent / nearest.ratio))
        gaps.append(Missing(debate.name, sampling, nearest, samples))
    return gaps


# Where a judge leans


def leanings(study: Study) -> list[Leaning]:
    """Return a test for each row in which the side or the place of the right answer was drawn.

    Where the debaters chose their sides, the side tells how hard the question was, and not where
    the judge leans.
    """
    tests = list[Leaning]()
    for row in study.rows.values():
        balanced, right = row.handed == "balanced", row.right("right", "wrong")
        drawn = {
            item: result.sides
            for item, result in row.results.items()
            if item in right and result.sides and result.sides.gold_side
            if balanced or _sides_drawn(study, row, result)
        }
        places: dict[Literal["side", "place"], list[bool]] = {
            "side": [sides.gold_side == "a" for sides in drawn.values()]
        }
        if balanced:  # elsewhere side a always stands first
            places["place"] = [sides.gold_position == "first" for sides in drawn.values()]
        for by, came_first in places.items():
            if len(set(came_first)) < 2:
                continue
            ways = [*zip(drawn, came_first, strict=True)]
            first, second = (
                row.share({item: right[item] for item, first in ways if first is way})
                for way in (True, False)
            )
            groups = [row.results[item].group for item in drawn]
            p = _leaning_p([right[item] for item in drawn], came_first, groups)
            tests.append(Leaning(row.name, by, first, second, p))
    holm = corrected([one.p for one in tests], "holm")
    return [one._replace(holm=p) for one, p in zip(tests, holm, strict=True)]


def _sides_drawn(study: Study, row: Answers, result: Result) -> bool:
    """Return whether the seed drew who holds which option: only of two that nobody chose."""
    item = study.texts.get(result.item)
    return row.handed != "oracle" and item is not None and len(item.inputs.options) == 2


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


# Cost and accuracy


def _priced(rows: Sequence[Answers]) -> list[Priced]:
    judged = [row for row in rows if row.n and row.mean("tokens")]
    price = "cost" if all(row.mean("cost") for row in judged) else "tokens"
    own = [(row, row.mean(price) or 0.0, row.accuracy.share or 0.0) for row in judged]
    own.sort(key=lambda one: (one[1], -one[2]))

    def beaten_by(row: Answers, cost: float, share: float) -> str | None:
        for other, spent, right in own:
            gain, saving = right - share, cost - spent
            if alike(row, other) and min(gain, saving) >= 0 and max(gain, saving) > 0:
                return other.name
        return None

    return [Priced(row, cost, beaten_by(row, cost, share)) for row, cost, share in own]
