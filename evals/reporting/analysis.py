"""The comparisons that the tables, plots and sentences of a report share.

A debate is compared with its baseline, with more samples of the same model, and with the plurality
of direct answers before the debate, on all questions that both methods were asked. A withheld
answer counts as not right. A debate must not look worse only because it withheld answers. So a
second test counts only as many of the rival's answers as the debate gave: the surest ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scipy.stats import fisher_exact

from dialectree.evals import tasks
from dialectree.evals.comparisons import ALPHA, RowComparison, adjust_p_values, correct, exact_flips
from dialectree.evals.intervals import Proportion, shared, sums
from dialectree.evals.reporting.answers import ASKED, Answers, FirstChoices, per_row, tokens
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Result
from dialectree.protocols.protocol import method
from dialectree.system import chance


class Leaning(NamedTuple):
    """A test of whether the side or the place of the right answer changes a judge's accuracy."""

    row: str
    by: Literal["side", "place"]
    first: Proportion
    """The share right if the first debater held the right answer, or if the judge read it first."""
    second: Proportion
    p: float
    """The probability of so large a difference if the side or the place does not matter."""
    holm: float = 1.0
    """The p value, corrected for all tests of leanings in the report."""

    @property
    def significant(self) -> bool:
        """True if the leaning is significant after correction."""
        return self.holm < ALPHA


class ChoiceLeaning(NamedTuple):
    """A test of whether a row chooses the first option, True or yes more or less often than by chance."""

    row: str
    choices: FirstChoices
    holm: float
    """The p value, corrected for all such tests in the report."""

    @property
    def significant(self) -> bool:
        """True if the leaning is significant after correction."""
        return self.holm < ALPHA


class PricedRow(NamedTuple):
    """A row with its price, for the comparison of cost and accuracy."""

    row: Answers
    price: float
    """The price of a question: money if all rows have prices, else tokens."""
    beaten_by: str | None
    """Another row that is at least as cheap and as accurate, and better in one of the two.

    None if no row is: then this row is on the front. Only rows that choose among the same answers are
    compared, so debates that were handed the right answer have a front of their own.
    """


@dataclass(frozen=True)
class Analysis:
    """The comparisons and figures of a report."""

    study: Study
    baseline_pairs: Sequence[tuple[Answers, Answers]]
    """Pairs of a row and its baseline."""
    comparisons: Sequence[RowComparison]
    """Comparisons of rows with baselines, of debates with samples and votes, and of summaries' marks."""
    leanings: Sequence[Leaning]
    choice_leanings: Sequence[ChoiceLeaning]
    priced: Sequence[PricedRow]
    """The rows with an accuracy and a price, the cheapest first."""
    family: int
    """The number of comparisons between methods that Holm corrects for."""

    @property
    def unread(self) -> list[str]:
        """A note on the unreadable judgements, which the figures leave out; empty if there are none."""
        heading = "Left out, without a judgement that could be read"
        return per_row(heading, self.study.rows.values(), lambda row: len(row.unread))

    @property
    def in_money(self) -> bool:
        """True if every row has a price, so that cost is money instead of tokens."""
        return all(priced_row.price == priced_row.row.mean("cost") for priced_row in self.priced)


def analyse_study(study: Study, baseline_name: str | None = None) -> Analysis:
    """Return the comparisons of a report; the caller checks ``baseline_name``."""
    of, rows = baseline(study, baseline_name), [*study.rows.values()]
    baseline_pairs = [(row, rival) for row in rows if (rival := of(row)) is not None]
    pairs = {(row.id, rival.id): True for row, rival in baseline_pairs}
    for debate, other_row in ((debate, other_row) for debate in rows for other_row in rows):
        if _is_sampled(study, debate, other_row):
            pairs.setdefault((debate.id, other_row.id), False)
    optional_comparisons = [
        compare_rows(study, study.rows[a], study.rows[b], main) for (a, b), main in pairs.items()
    ]
    optional_comparisons += [_compare_with_votes(study, row) for row in rows]
    optional_comparisons += [compare_marks(study, *pair) for pair in baseline_pairs]
    comparisons = [comparison for comparison in optional_comparisons if comparison is not None]
    return Analysis(
        study=study,
        baseline_pairs=baseline_pairs,
        comparisons=comparisons,
        leanings=leanings(study),
        choice_leanings=find_choice_leanings(study),
        priced=_rank_by_cost(rows),
        family=correct(comparisons),
    )


def compare_rows(study: Study, row: Answers, rival: Answers, main: bool) -> RowComparison | None:
    """Compare a row with ``rival``: its baseline if ``main``, else samples of the debate's own model."""
    first, second, withheld = row.right(*ASKED), rival.right(*ASKED), row.withheld
    both = [item for item in study.items if item in first and item in second]
    if not first or not second or not (both or main):
        return None
    ratio = None
    if _is_sampled(study, row, rival):
        spent, debated = (sum(tokens(answers.results[i].usage) for i in both) for answers in (rival, row))
        ratio = spent / debated if debated else None
    failed, rival_failures = ({*answers.list_questions_with_outcome("failed")} for answers in (row, rival))
    excluded_ids = [
        i
        for i in failed | rival_failures
        if i in failed | first.keys() and i in rival_failures | second.keys()
    ]
    difference = sum(first[item] - second[item] for item in both)
    lowest_difference = difference + sum(first.get(i, False) - second.get(i, True) for i in excluded_ids)
    highest_difference = difference + sum(first.get(i, True) - second.get(i, False) for i in excluded_ids)
    n = max(len(both) + len(excluded_ids), 1)
    return RowComparison(
        kind="row",
        row=row.name,
        rival=rival.name,
        first=[first[item] for item in both],
        second=[second[item] for item in both],
        clusters=study.groups(both),
        against_baseline=rival.baseline and not row.baseline,
        withheld=sum(item in withheld for item in both),
        as_many=_as_many(study, row, rival, first, second, _confidence(rival), rival.withheld)
        if withheld
        else None,
        failed=len(excluded_ids),
        bounds=(lowest_difference / n, highest_difference / n) if excluded_ids else None,
        main=main,
        ratio=ratio,
    )


def _confidence(row: Answers) -> dict[str, float]:
    confidence: dict[str, float] = row.surest.answers.confidence.to_dict()
    return confidence


def _as_many(
    study: Study,
    row: Answers,
    rival: Answers | None,
    first: Mapping[str, bool],
    second: Mapping[str, bool],
    confidence: Mapping[str, float],
    withheld: Collection[str],
) -> RowComparison | None:
    """Compare the row with as many of its rival's answers as the row gave.

    The rival keeps its surest answers; the seed draws among ties and answers without a confidence.
    The rival is None for the vote before the row's debates. Return None if the rival gave no more
    answers than the row: then this test is the same as the test on all questions.
    """
    both = [item for item in study.items if item in first and item in second]
    withheld_ids = row.withheld
    count = sum(item not in withheld_ids for item in both)
    answered_ids = [item for item in both if item not in withheld]
    if len(answered_ids) <= count:
        return None

    drawn_for = f"the vote before {row.id}" if rival is None else rival.id

    def surest_first(item: str) -> tuple[float, int]:
        tie_break = chance.seed(study.evaluations[0].seed, "as many", drawn_for, item)
        return -confidence.get(item, -1.0), tie_break

    surest_ids = set(sorted(answered_ids, key=surest_first)[:count])
    return RowComparison(
        kind="as many",
        row=row.name,
        rival=f"the vote before {row.name}" if rival is None else rival.name,
        first=[first[item] for item in both],
        second=[second[item] and item in surest_ids for item in both],
        clusters=study.groups(both),
    )


def _compare_with_votes(study: Study, row: Answers) -> RowComparison | None:
    """Compare a row's debates with the votes before them, on questions with a debate and a vote."""
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
    withheld_votes = [before[item] for item in before if item in withheld]
    sure = {item: vote.confidence for item, vote in voted.items() if vote.confidence is not None}
    same = all(vote.pair or not row.handed for vote in voted.values())
    first, second = [after[item] for item in before], [*before.values()]
    spoilt = sum(b and not a for a, b in zip(first, second, strict=True))
    return RowComparison(
        kind="vote",
        row=row.name,
        rival="the vote before it",
        first=first,
        second=second,
        clusters=study.groups(before),
        same_options=same,
        withheld=len(withheld_votes),
        as_many=_as_many(study, row, None, after, before, sure, ()) if same else None,
        details={
            "right → wrong": spoilt - sum(withheld_votes),
            "wrong → right": sum(a and not b for a, b in zip(first, second, strict=True)),
            "right → withheld": sum(withheld_votes),
            "wrong → withheld": len(withheld_votes) - sum(withheld_votes),
            "tokens of the vote": sum(tokens(voted[item].usage) for item in before) / len(before)
            if before
            else None,
            "no vote, or no right answer": len(row.results) - len(before) - len(hazy) - row.counts["failed"],
            "judgement not read": len(hazy),
        },
    )


def compare_marks(study: Study, row: Answers, rival: Answers) -> RowComparison | None:
    first, second = row.marks("overall"), rival.marks("overall")
    both = [item for item in study.items if item in first and item in second]
    if not both:
        return None
    return RowComparison(
        kind="marks",
        row=row.name,
        rival=rival.name,
        first=[first[item] for item in both],
        second=[second[item] for item in both],
        clusters=study.groups(both),
        against_baseline=rival.baseline and not row.baseline,
    )


# Baselines and samples


def alike(first: Answers, second: Answers) -> bool:
    """Return whether two rows are comparable: whether they choose among the same answers."""
    if first.handed is None or first.handed != second.handed:
        return first.handed == second.handed
    ours, theirs = first.row.settings, second.row.settings
    return ours.get("distractor", "first") == theirs.get("distractor", "first")


def baseline(study: Study, baseline_name: str | None = None) -> Callable[[Answers], Answers | None]:
    """Return a function that finds a row's baseline: the plainest method with the same models.

    If no row has a plain method, the function returns the first row of the same protocol.
    ``baseline_name`` names a row or a method to use instead. A row is never its own baseline, and its
    baseline chooses among the same answers.
    """

    def find_baseline(row: Answers) -> Answers | None:
        rows = [other_row for other_row in study.rows.values() if alike(other_row, row)]
        plainest = tasks.baselines(study.task, on_a_pair=row.handed is not None)
        matching = [
            other_row
            for name in ([baseline_name] if baseline_name else plainest)
            for other_row in rows
            if name in (other_row.row.method, other_row.id, other_row.name)
        ]
        protocol = method(row.row.method).protocol
        same = [other_row for other_row in rows if method(other_row.row.method).protocol is protocol]
        candidates = matching or ([] if baseline_name else same[:1])

        def same_models(other_row: Answers) -> bool:
            models = row.row.models
            common = {models[role] for role in other_row.row.models if role in models}
            return {*other_row.row.models.values()} == (common or {*models.values()})

        best = [other_row for other_row in candidates if other_row.row.method == candidates[0].row.method]
        nearest = max(best, key=same_models, default=None)
        return None if nearest is None or nearest.id == row.id else nearest

    return find_baseline


def _is_sampled(study: Study, debate: Answers, row: Answers) -> bool:
    """Return whether ``row`` samples only models that argue in the debate."""
    if debate.baseline or row.row.method not in tasks.equal_tokens(study.task):
        return False
    argue = tasks.arguers(method(debate.row.method), debate.row.models)
    return alike(row, debate) and set(row.row.models.values()) <= argue


class Missing(NamedTuple):
    """A debate that lacks a fair rival: no row of samples spent about as many tokens."""

    debate: str
    method: str
    """The method whose samples could spend as many tokens as the debate."""
    nearest: RowComparison | None
    """The comparison with the row of samples whose tokens are closest to the debate's."""
    samples: int | None
    """The number of samples at which the nearest row would about match the debate's tokens."""


def missing(analysis: Analysis) -> list[Missing]:
    """Return the debates that no row of samples matches in tokens; none if the task has no samples."""
    study, gaps = analysis.study, list[Missing]()
    sampling = next(iter(tasks.equal_tokens(study.task)), None)
    for debate in study.rows.values():
        if not sampling or debate.baseline or debate.handed or not debate.results:
            continue
        rows = [row for row in study.rows.values() if row.results]
        sampled = {row.name for row in rows if _is_sampled(study, debate, row)}
        comparisons = [
            comparison
            for comparison in analysis.comparisons
            if comparison.kind == "row"
            and comparison.row == debate.name
            and comparison.rival in sampled
            and comparison.first
        ]
        if (sampled and not comparisons) or any(comparison.fair for comparison in comparisons):
            continue
        ratio_comparisons = [comparison for comparison in comparisons if comparison.ratio]
        nearest = min(
            ratio_comparisons, key=lambda comparison: abs(math.log(comparison.ratio or 1)), default=None
        )
        samples = None
        if nearest and nearest.ratio:
            row = study.find_row(nearest.rival).row
            asked_for, usual = (
                row.settings.get("samples"),
                tasks.require_declared_evaluation(method(row.method)),
            )
            spent = asked_for if isinstance(asked_for, int) else usual.samples
            samples = max(1, round(spent / nearest.ratio))
        gaps.append(Missing(debate.name, sampling, nearest, samples))
    return gaps


# Leanings of a judge


def leanings(study: Study) -> list[Leaning]:
    """Return a test for each row in which the side or the place of the right answer was drawn.

    Sides that the debaters chose are not tested: a chosen side shows how hard the question was, not
    how the judge leans.
    """
    tests = list[Leaning]()
    for row in study.rows.values():
        balanced, right = row.handed == "balanced", row.right("right", "wrong")
        sides_by_item = {
            item: result.sides
            for item, result in row.results.items()
            if item in right and result.sides and result.sides.gold_side
            if balanced or _sides_drawn(study, row, result)
        }
        places: dict[Literal["side", "place"], list[bool]] = {
            "side": [sides.gold_side == "a" for sides in sides_by_item.values()]
        }
        if balanced:  # otherwise the judge always reads side a first
            places["place"] = [sides.gold_position == "first" for sides in sides_by_item.values()]
        for by, came_first in places.items():
            if len(set(came_first)) < 2:
                continue
            draws = [*zip(sides_by_item, came_first, strict=True)]
            first, second = (
                row.share({item: right[item] for item, first in draws if first is is_first})
                for is_first in (True, False)
            )
            groups = [row.results[item].group for item in sides_by_item]
            p = _leaning_p([right[item] for item in sides_by_item], came_first, groups)
            tests.append(Leaning(row.name, by, first, second, p))
    holm = adjust_p_values([test.p for test in tests], "holm")
    return [test._replace(holm=p) for test, p in zip(tests, holm, strict=True)]


def _sides_drawn(study: Study, row: Answers, result: Result) -> bool:
    """Return whether the seed drew the sides: it does so for two options, unless ``oracle`` sets them."""
    item = study.texts.get(result.item)
    return row.handed != "oracle" and item is not None and len(item.inputs.options) == 2


def _leaning_p(right: Sequence[bool], draws: Sequence[bool], groups: Sequence[str]) -> float:
    """Return the probability of so large a difference if the draw does not matter.

    The test is Fisher's exact test. With clusters, it flips the draws of each cluster together.
    """
    if not shared(groups):
        pairs = list(zip(right, draws, strict=True))
        table = [[pairs.count((r, d)) for r in (True, False)] for d in (True, False)]
        exact: Any = fisher_exact(table)
        return float(exact.pvalue)
    level = round(10 * sum(right) / len(right))  # about their mean, in tenths: any level is valid
    pulls = [(10 * r - level) * (1 if d else -1) for r, d in zip(right, draws, strict=True)]
    return exact_flips([round(pull) for pull in sums(pulls, groups)])


def find_choice_leanings(study: Study) -> list[ChoiceLeaning]:
    """Return a test for each row and kind of choice: of the first option, of True and of yes."""
    counts = [(row.name, choices) for row in study.rows.values() for choices in row.first_choices]
    holm = adjust_p_values([choices.p for _, choices in counts], "holm")
    return [ChoiceLeaning(*count, p) for count, p in zip(counts, holm, strict=True)]


# Cost and accuracy


def _rank_by_cost(rows: Sequence[Answers]) -> list[PricedRow]:
    judged = [row for row in rows if row.n and row.mean("tokens")]
    price = "cost" if all(row.mean("cost") for row in judged) else "tokens"
    points = [(row, row.mean(price) or 0.0, row.accuracy.share or 0.0) for row in judged]
    points.sort(key=lambda point: (point[1], -point[2]))

    def beaten_by(row: Answers, cost: float, share: float) -> str | None:
        for other_row, spent, right in points:
            gain, saving = right - share, cost - spent
            if alike(row, other_row) and min(gain, saving) >= 0 and max(gain, saving) > 0:
                return other_row.name
        return None

    return [PricedRow(row, cost, beaten_by(row, cost, share)) for row, cost, share in points]
