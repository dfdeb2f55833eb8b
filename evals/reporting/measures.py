"""Measures of a row's results: outcomes, shares, means and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from dialectree.evals import tasks
from dialectree.evals.calibration import RiskCoverage, risk_coverage
from dialectree.evals.intervals import (
    RESAMPLES,
    Figure,
    Proportion,
    design,
    resampled,
    share_of,
    wilson,
)
from dialectree.evals.reporting.study import RIGHT_OR_WRONG, RUBRIC, Study
from dialectree.evals.results import Result, Row, Score
from dialectree.evals.scorers import labelled
from dialectree.evals.standing import Spent
from dialectree.protocols.protocol import method
from dialectree.records import Usage

Outcome = Literal["right", "wrong", "unanswered", "unparsed", "failed", "unscored"]

CONTROLS_PASSED = 0.8
"""The share of its controls that a judge must rule on rightly to be trusted."""


def score_of(result: Result, key: str | None) -> Score | None:
    """Return what one scorer made of a result."""
    return next((score for score in result.scores if score.key == key), None)


def number(result: Result, key: str) -> float | None:
    """Return a score as a number, where there is one and the run came to its end."""
    score = score_of(result, key)
    return None if score is None or result.status == "failed" else score.score


def right_key(results: Iterable[Result]) -> str | None:
    """Return the scorer of right and wrong that a row was measured by."""
    keys = {score.key for result in results for score in result.scores}
    return next((key for key in RIGHT_OR_WRONG if key in keys), None)


def outcome(result: Result, key: str | None) -> Outcome:
    """Return how a question ended; every result has exactly one outcome."""
    if result.status == "failed":
        return "failed"
    score = score_of(result, key)
    if score is None:
        return "unscored"
    if score.value == "unanswered" or score.value == "unparsed":
        return "unanswered" if score.value == "unanswered" else "unparsed"
    return "unscored" if score.score is None else "right" if score.score == 1 else "wrong"


def endings(results: Sequence[Result]) -> dict[str, Outcome]:
    """Return how each question of a row ended."""
    key = right_key(results)
    return {result.item: outcome(result, key) for result in results}


def scored(results: Sequence[Result]) -> dict[str, bool]:
    """Return whether each answer is right whose judgement could be read."""
    ends = endings(results).items()
    return {item: end == "right" for item, end in ends if end in ("right", "wrong")}


def all_asked(results: Sequence[Result]) -> dict[str, bool]:
    """Return whether each question was answered rightly; a withheld answer is not right.

    Questions whose run failed, or whose judgement could not be read, are left out.
    """
    ends = endings(results).items()
    return {item: end == "right" for item, end in ends if end in ("right", "wrong", "unanswered")}


def ended(results: Sequence[Result], how: Outcome) -> set[str]:
    """Return the questions that ended in one way."""
    return {item for item, end in endings(results).items() if end == how}


def unread(results: Sequence[Result]) -> set[str]:
    """Return the questions with an answer whose judgement could not be read, or was not given."""
    key = right_key(results)
    return {
        result.item
        for result in results
        if result.status != "failed"
        and (score := score_of(result, key)) is not None
        and score.score is None
    }


def unread_in_all(study: Study) -> int:
    """Return how many judgements of all kinds could not be read, or were not given.

    They are those of answers, summaries, votes and controls, and of two summaries side by side.
    """
    ended_well = [r for row in study.rows for r in study.of(row.name) if r.status != "failed"]
    rulings = [score.value for result in ended_well for score in result.scores]
    rulings += [control.value for result in ended_well for control in result.controls]
    rulings += [one.score.value for one in study.preferences]
    votes = [r.vote for r in ended_well if r.vote and right_key([r])]
    unread_votes = sum(vote.given and vote.right is None for vote in votes)
    return sum(value in ("unparsed", "failed") for value in rulings) + unread_votes


class Outcomes(NamedTuple):
    """A row's questions, counted by how they ended."""

    right: int
    wrong: int
    unanswered: int
    """Answers that were withheld: neither right nor wrong."""
    unparsed: int
    failed: int
    """Runs that failed for good. They are in no share."""
    unscored: int
    degraded: int
    """Runs that answered although a part of them failed."""
    design: float = 1.0
    """The design effect, where questions come in clusters."""

    @property
    def n(self) -> int:
        """The answers that a judgement was read of."""
        return self.right + self.wrong

    @property
    def share(self) -> Proportion:
        """The share of right answers among those that a judgement was read of."""
        return self._of(self.right, self.n)

    @property
    def share_of_asked(self) -> Proportion:
        """The same where withheld answers are not right, as the papers count."""
        return self._of(self.right, self.n + self.unanswered)

    @property
    def answered(self) -> Proportion:
        """The share of questions whose answer was not withheld."""
        given = self.n + self.unparsed
        return self._of(given, given + self.unanswered)

    @property
    def bounds(self) -> tuple[float, float]:
        """The share if all failed runs were wrong, and if all were right."""
        n = max(self.n + self.failed, 1)
        return self.right / n, (self.right + self.failed) / n

    def _of(self, count: int, n: int) -> Proportion:
        return wilson(count, n, design=min(self.design, max(n, 1)))


def outcomes(results: Sequence[Result]) -> Outcomes:
    """Count how a row's questions ended."""
    ends = endings(results)
    counted = Counter(ends.values())
    judged = [r for r in results if ends[r.item] in ("right", "wrong")]
    effect = design([ends[r.item] == "right" for r in judged], [r.group for r in judged])
    degraded = sum(result.status == "degraded" for result in results)
    return Outcomes._make([*(counted[end] for end in get_args(Outcome)), degraded, effect])


class Cost(NamedTuple):
    """The mean cost of a question; failed ones are left out."""

    n: int
    calls: float | None
    tokens: float | None
    cost: float | None
    """None where any question has no price."""
    path: float | None
    seconds: float | None
    judging: float | None
    """Tokens of the scorers' judge."""
    judging_cost: float | None
    """None where any judgement has no price."""


def cost(results: Iterable[Result]) -> Cost:
    """Return the means over a row's questions."""
    every = [result for result in results if result.status != "failed"]
    return Cost(
        len(every),
        _mean([result.usage.calls for result in every]),
        _mean([tokens(result.usage) for result in every]),
        _mean([result.usage.cost for result in every]),
        _mean([result.usage.critical_path_calls for result in every]),
        _mean([result.seconds for result in every]),
        _mean([tokens(result.judging) for result in every]),
        _mean([result.judging.cost for result in every if result.judging.calls]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def total(usages: Iterable[Usage]) -> Spent:
    """Return the sums of calls, tokens and money."""
    used = [one for one in usages if one.calls or tokens(one)]
    costs = [one.cost for one in used if one.cost is not None]
    money = sum(costs) if len(costs) == len(used) else None
    return Spent(sum(one.calls for one in used), sum(map(tokens, used)), money)


def totals(study: Study, rows: Sequence[Row]) -> tuple[Spent, Spent]:
    """Return what rows took in all, votes and judging included, and what their judges took."""
    names = {row.name for row in rows}
    results = [result for row in rows for result in study.of(row.name)]
    debates = [used for r in results for used in (r.usage, r.vote.usage if r.vote else Usage())]
    judges = [used for r in results for used in (r.judging, r.controlling)]
    judges += [one.judging for one in study.preferences if one.row in names]
    return total([*debates, *judges]), total(judges)


def tokens(usage: Usage) -> int:
    """Return prompt and completion tokens together."""
    return usage.prompt_tokens + usage.completion_tokens


def resamples(n: int) -> int:
    """Return how often to resample: less often where many questions steady the figure."""
    return int(min(RESAMPLES, max(200, 1_000_000 // max(n, 1))))


class Marks(NamedTuple):
    """The marks of a figure of summaries, and the cluster of each."""

    values: Sequence[float]
    clusters: Sequence[str]

    @property
    def mean(self) -> Figure:
        """The mean with its interval over the questions."""
        array = np.asarray(self.values, dtype=np.float64)
        again = resamples(len(array))
        return resampled(np.mean, [array], resamples=again, clusters=self.clusters)


def rubric(results: Iterable[Result]) -> dict[str, Marks]:
    """Return the figures of summaries, and ``overall``: their mean where all three are there."""
    by_key: dict[str, list[tuple[float, str]]] = {key: [] for key in (*RUBRIC, "overall")}
    for result in results:
        marks = {key: mark for key in RUBRIC if (mark := number(result, key)) is not None}
        if len(marks) == len(RUBRIC):
            marks["overall"] = sum(marks.values()) / len(marks)
        for key, mark in marks.items():
            by_key[key].append((mark, result.group))
    return {key: Marks([m for m, _ in own], [g for _, g in own]) for key, own in by_key.items()}


def overall(results: Iterable[Result]) -> dict[str, float]:
    """Return the mean of the three figures of each summary that has all of them."""
    return {r.item: marks[0] for r in results if (marks := rubric([r])["overall"].values)}


def handed(row: Row) -> str | None:
    """Return how a debate was given the right answer and a wrong one to choose between."""
    candidates = row.settings.get("candidates")
    return str(candidates) if candidates in ("oracle", "balanced") else None


def alike(first: Row, second: Row) -> bool:
    """Return whether two rows choose among the same answers, so that they compare."""
    if handed(first) is None or handed(first) != handed(second):
        return handed(first) == handed(second)
    return first.settings.get("distractor", "first") == second.settings.get("distractor", "first")


def baseline(study: Study, wanted: str | None = None) -> Callable[[Row], Row | None]:
    """Return a function from a row to what it is compared with: the plainest of the same models.

    Where no baseline was run it is the first row of the same protocol. ``wanted`` names a row or a
    method. A row is not compared with itself, nor with one that chooses among other answers.
    """

    def of(row: Row) -> Row | None:
        rows = [one for one in study.rows if alike(one, row)]
        plainest = tasks.baselines(study.task, on_a_pair=handed(row) is not None)
        order = [wanted] if wanted else plainest
        matching = [
            one for name in order for one in rows if name == one.method or one.name == wanted
        ]
        same = [one for one in rows if method(one.method).protocol is method(row.method).protocol]
        candidates = matching or ([] if wanted else same[:1])

        def same_models(one: Row) -> bool:
            shared = {row.models[role] for role in one.models if role in row.models}
            return {*one.models.values()} == (shared or {*row.models.values()})

        best = [one for one in candidates if one.method == candidates[0].method]
        nearest = max(best, key=same_models, default=None)
        return None if nearest is None or nearest.name == row.name else nearest

    return of


class Answer(NamedTuple):
    """An answer whose confidence can be measured."""

    confidence: float
    true: bool
    """Whether the claim is true; for other tasks, whether the answer is right."""
    item: str
    cluster: str


class Calibrated(NamedTuple):
    """The answers of a row that have a confidence and are known to be right or wrong."""

    answers: list[Answer]
    missing: int
    """Answers without a confidence."""
    unmeasured: int
    """Answers that have one, and no right answer or no judgement to measure it by."""

    @property
    def confidences(self) -> list[float]:
        """The confidence of each answer."""
        return [answer.confidence for answer in self.answers]

    @property
    def true(self) -> list[bool]:
        """Whether each came true."""
        return [answer.true for answer in self.answers]


def calibrated(study: Study, row: str) -> Calibrated:
    """Return P(claim) against the claim's truth, or confidence against being right."""
    of_claim = study.task == "verify"
    withheld = ended(study.of(row), "unanswered")
    results = [
        result
        for result in study.of(row)
        if result.status != "failed" and (of_claim or result.item not in withheld)
    ]
    right = scored(results)
    answers: list[Answer] = []
    unmeasured = 0
    for result in results:
        verdict = result.verdict
        if verdict is None or verdict.confidence is None:
            continue
        if verdict.confidence_source != "P(claim)" if of_claim else verdict.answer is None:
            continue
        true = truth(study, result) if of_claim else right.get(result.item)
        if true is None:
            unmeasured += 1
        else:
            cluster = study.groups([result.item])[0]
            answers.append(Answer(verdict.confidence, true, result.item, cluster))
    return Calibrated(answers, len(results) - len(answers) - unmeasured, unmeasured)


class Surest(NamedTuple):
    """A row's answers, the surest first; ``true`` says whether each is right."""

    answers: list[Answer]
    curve: RiskCoverage
    asked: int
    """The questions that coverage is of: those with such an answer, and the withheld ones."""

    def at(self, coverage: float) -> Proportion | None:
        """Return the share of right answers among the surest that make at least this coverage."""
        reached = (one.coverage for one in self.curve.points if one.coverage >= coverage - 1e-9)
        if (covered := next(reached, None)) is None:
            return None
        answers = self.answers[: round(covered * self.asked)]
        return share_of([one.true for one in answers], [one.cluster for one in answers])


def surest_first(study: Study, row: str) -> list[Answer]:
    """Return the answers of a row that have a confidence, the surest first; none is withheld.

    The confidence of a claim's verdict is that of its label, which is true above one half.
    """
    withheld = ended(study.of(row), "unanswered")
    answers = [one for one in calibrated(study, row).answers if one.item not in withheld]
    if study.task == "verify":
        answers = [
            one._replace(
                confidence=max(one.confidence, 1 - one.confidence),
                true=(one.confidence > 0.5) == one.true,
            )
            for one in answers
        ]
    return sorted(answers, key=lambda one: -one.confidence)


def surest(study: Study, row: str) -> Surest:
    """Return how often a row is right if only its surest answers count.

    Withheld answers are not covered.
    """
    answers = surest_first(study, row)
    asked = len(answers) + len(ended(study.of(row), "unanswered"))
    confidences, right = [one.confidence for one in answers], [one.true for one in answers]
    return Surest(answers, risk_coverage(confidences, right, asked), asked)


def truth(study: Study, result: Result) -> bool | None:
    """Return whether a claim is true: by the data set, else by its label and score."""
    if result.item in study.texts:
        return study.texts[result.item].reference.label
    label, score = labelled(result.verdict), number(result, "claim_label")
    return None if label is None or score is None else label == bool(score)


class Controlled(NamedTuple):
    """How a judge ruled on answers that the data set calls right or wrong."""

    key: str
    """The score that it gives."""
    right: Proportion
    """Known right answers that it called right."""
    wrong: Proportion
    """Known wrong answers that it called wrong."""
    unread: int
    """Controls without a ruling that can be read."""
    questions: int
    """The questions beside which the judge was tried."""
    held_back: int | None
    """Those of them whose known answers were not among the references that the judge read. None
    for a score that needs no references."""

    @property
    def informedness(self) -> float | None:
        """Youden's J, −1 to 1: 0 is a judge that pays no heed to the answer."""
        if self.right.share is None or self.wrong.share is None:
            return None
        return self.right.share + self.wrong.share - 1

    @property
    def failed(self) -> bool:
        """Whether too many known answers were ruled on wrongly."""
        shares = (self.right.share, self.wrong.share)
        return any(share is not None and share < CONTROLS_PASSED for share in shares)


def controlled(study: Study) -> list[Controlled]:
    """Return how the judge ruled on its controls, by score."""
    results = [result for row in study.rows for result in study.of(row.name)]
    every = [(one, result.group) for result in results for one in result.controls]
    by_question: dict[str, list[bool | None]] = {}
    for result in results:
        for key, held in {one.key: one.held_back for one in result.controls}.items():
            by_question.setdefault(key, []).append(held)

    def share(key: str, truthful: bool) -> Proportion:
        known = [
            (one.passed, group)
            for one, group in every
            if one.key == key and one.truthful is truthful and one.passed is not None
        ]
        return share_of([passed for passed, _ in known], [group for _, group in known])

    return [
        Controlled(
            key,
            share(key, True),
            share(key, False),
            sum(one.key == key and one.passed is None for one, _ in every),
            len(by_question[key]),
            None if None in by_question[key] else by_question[key].count(True),
        )
        for key in by_question
    ]
