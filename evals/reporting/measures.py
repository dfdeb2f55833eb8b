"""What a row's results come to: outcomes, shares, means, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dialectree.evals.bootstrap import RESAMPLES, Figure, resampled
from dialectree.evals.clustered import design
from dialectree.evals.proportions import Proportion, share_of, wilson
from dialectree.evals.ranking import RiskCoverage, risk_coverage
from dialectree.evals.reporting.study import RIGHT_OR_WRONG, RUBRIC, Study
from dialectree.evals.results import Result, Row, Score
from dialectree.records import Usage
from dialectree.report.words import listed

Outcome = Literal["right", "wrong", "unanswered", "unparsed", "failed", "unscored"]
OUTCOMES: tuple[Outcome, ...] = ("right", "wrong", "unanswered", "unparsed", "failed", "unscored")

BASELINES = (
    *("single_shot", "best_of_n", "two_round"),
    *("self_consistency", "judge_alone", "direct", "cot", "argllm"),
    *("single_stage", "two_stage"),
)
"""Methods that debates are measured against."""
SAMPLED = ("self_consistency", "best_of_n")
"""Methods that spend their tokens on more samples of one model."""
_FIRST = {
    "answer": ("single_shot", "best_of_n", "two_round"),
    "decide": ("self_consistency", "basic"),
    "verify": ("direct", "cot", "argllm"),
    "compare": ("single_stage", "two_stage"),
}
"""The baselines of each task, the plainest first."""
_ON_A_PAIR = ("judge_alone", "self_consistency")
"""The baselines of debates that are handed two options, chosen among the same two."""


def given(result: Result, key: str) -> Score | None:
    """What one scorer said of a result."""
    return next((score for score in result.scores if score.key == key), None)


def number(result: Result, key: str) -> float | None:
    """A score, where there is one and the run came to its end."""
    found = given(result, key)
    return None if found is None or result.status == "failed" else found.score


def right_key(results: Iterable[Result]) -> str | None:
    """The scorer of right and wrong that a row was measured by."""
    keys = {score.key for result in results for score in result.scores}
    return next((key for key in RIGHT_OR_WRONG if key in keys), None)


def outcome(result: Result, key: str | None) -> Outcome:
    """How a question ended; every result is in just one."""
    if result.status == "failed":
        return "failed"
    if key is None:
        return "unscored"
    score = given(result, key)
    if score is None:
        return "unscored"
    if score.value in ("unanswered", "unparsed"):
        return "unanswered" if score.value == "unanswered" else "unparsed"
    return "unscored" if score.score is None else "right" if score.score == 1 else "wrong"


def lost(results: Iterable[Result], key: str) -> int:
    """How many answers of a scorer have no score: not read, or not given to the last try."""
    return sum(
        result.status != "failed"
        and (score := given(result, key)) is not None
        and score.value in ("unparsed", "failed")
        for result in results
    )


def unasked(results: Sequence[Result]) -> int:
    """How many answers there was nothing to measure by: the data says nothing of what is right."""
    key = right_key(results)
    return sum(r.status != "failed" and (not key or given(r, key) is None) for r in results)


class Outcomes(NamedTuple):
    """A row's questions, counted."""

    key: str | None
    """The scorer that says right or wrong."""
    right: int
    wrong: int
    unanswered: int
    """Answers that were withheld: neither right nor wrong."""
    unparsed: int
    failed: int
    """Runs that failed for good. They are in no share."""
    unscored: int
    unresolved: int
    """Runs that ended without an answer of their own; they are among the unanswered."""
    degraded: int
    """Runs that answered although a part of them failed."""
    design: float = 1.0
    """The design effect, where questions come in clusters."""

    @property
    def n(self) -> int:
        """The answers that were given and judged, whether or not the judgement can be read."""
        return self.right + self.wrong + self.unparsed

    @property
    def asked(self) -> int:
        """The questions that were answered or withheld."""
        return self.n + self.unanswered

    @property
    def share(self) -> Proportion:
        """The share of right answers; a judgement that cannot be read is not right."""
        return self._of(self.right, self.n)

    @property
    def parsed(self) -> Proportion:
        """The share where unreadable judgements are left out."""
        return self._of(self.right, self.right + self.wrong)

    @property
    def coverage(self) -> Proportion:
        """The share of the questions that were answered and not withheld."""
        return self._of(self.n, self.asked)

    @property
    def of_all(self) -> Proportion:
        """The share of right answers among all questions, withheld ones included."""
        return self._of(self.right, self.asked)

    @property
    def bounds(self) -> tuple[float, float]:
        """The share if all failed runs were wrong, and if all were right."""
        n = max(self.right + self.wrong + self.failed, 1)
        return self.right / n, (self.right + self.failed) / n

    def _of(self, count: int, n: int) -> Proportion:
        return wilson(count, n, design=min(self.design, max(n, 1)))


def outcomes(results: Sequence[Result]) -> Outcomes:
    """Count how a row's questions ended."""
    key = right_key(results)
    ends = [outcome(result, key) for result in results]
    counted = Counter(ends)
    status = Counter(result.status for result in results)
    judged = [
        (end == "right", result.group)
        for end, result in zip(ends, results, strict=True)
        if end in ("right", "wrong", "unparsed")
    ]
    effect = design([right for right, _ in judged], [group for _, group in judged])
    ended = [counted[name] for name in OUTCOMES]
    return Outcomes._make([key, *ended, status["unresolved"], status["degraded"], effect])


def scored(results: Iterable[Result]) -> dict[str, bool]:
    """Return of each question with an answer and a judgement that was read, whether it is right."""
    listed = list(results)
    key = right_key(listed)
    found = {result.item: outcome(result, key) for result in listed}
    return {item: ended == "right" for item, ended in found.items() if ended in ("right", "wrong")}


def withheld(results: Iterable[Result]) -> set[str]:
    """Return the questions whose answer was withheld."""
    listed = list(results)
    key = right_key(listed)
    return {result.item for result in listed if outcome(result, key) == "unanswered"}


def failed(results: Iterable[Result]) -> set[str]:
    """Return the questions that failed for good."""
    return {result.item for result in results if result.status == "failed"}


def unread(results: Iterable[Result]) -> set[str]:
    """Questions with an answer whose judgement could not be read, or was not given."""
    listed = list(results)
    key = right_key(listed)
    return {
        result.item
        for result in listed
        if key is not None and result.status != "failed"
        if (score := given(result, key)) is not None and score.score is None
    }


class Cost(NamedTuple):
    """What a question takes on average; failed ones are left out."""

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
    """The means over a row's questions."""
    ended = [result for result in results if result.status != "failed"]
    return Cost(
        len(ended),
        _mean([result.usage.calls for result in ended]),
        _mean([tokens(result) for result in ended]),
        _priced([result.usage for result in ended]),
        _mean([result.usage.critical_path_calls for result in ended]),
        _mean([result.seconds for result in ended]),
        _mean([r.judging.prompt_tokens + r.judging.completion_tokens for r in ended]),
        _priced([result.judging for result in ended if result.judging.calls]),
    )


def _priced(used: Sequence[Usage]) -> float | None:
    """The mean cost; None where one has no price."""
    costs = [one.cost for one in used if one.cost is not None]
    return _mean(costs) if len(costs) == len(used) else None


class Total(NamedTuple):
    """What calls came to, all together."""

    calls: int
    tokens: int
    cost: float | None
    """None where any call has no price."""


def total(used: Iterable[Usage]) -> Total:
    """Return the sums of calls, tokens and money."""
    known = [one for one in used if one.calls or one.prompt_tokens or one.completion_tokens]
    costs = [one.cost for one in known if one.cost is not None]
    return Total(
        sum(one.calls for one in known),
        sum(one.prompt_tokens + one.completion_tokens for one in known),
        sum(costs) if len(costs) == len(known) else None,
    )


def tokens(result: Result) -> int:
    """Prompt and completion tokens of a question."""
    return result.usage.prompt_tokens + result.usage.completion_tokens


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def resamples(n: int) -> int:
    """How often to resample: fewer times where many questions steady the figure by themselves."""
    return int(min(RESAMPLES, max(200, 1_000_000 // max(n, 1))))


def mean(values: Sequence[float], clusters: Sequence[str] | None = None) -> Figure:
    """Return a mean with its interval over the questions."""
    array = np.asarray(values, dtype=np.float64)
    return resampled(np.mean, [array], resamples=resamples(len(array)), clusters=clusters)


class Marks(NamedTuple):
    """The marks of a figure of summaries, and the cluster of each."""

    values: list[float]
    clusters: list[str]

    @property
    def mean(self) -> Figure:
        """The mean with its interval."""
        return mean(self.values, self.clusters)


def rubric(results: Sequence[Result]) -> dict[str, Marks]:
    """Return the figures of summaries, and ``overall``: their mean where all three are there."""
    found = {key: Marks([], []) for key in (*RUBRIC, "overall")}
    for result in results:
        marks = {key: number(result, key) for key in RUBRIC}
        known = {key: mark for key, mark in marks.items() if mark is not None}
        if len(known) == len(RUBRIC):
            known["overall"] = sum(known.values()) / len(known)
        for key, mark in known.items():
            found[key].values.append(mark)
            found[key].clusters.append(result.group)
    return found


def overall(results: Iterable[Result]) -> dict[str, float]:
    """The mean of the three figures of each summary that has all of them."""
    return {r.item: marks[0] for r in results if (marks := rubric([r])["overall"].values)}


def handed(row: Row) -> str | None:
    """How a debate was given the right answer and a wrong one to choose between; else None."""
    candidates = row.settings.get("candidates")
    return str(candidates) if candidates in ("oracle", "balanced") else None


def alike(first: Row, second: Row) -> bool:
    """Whether two rows choose among the same answers, so that they compare."""
    if handed(first) != handed(second):
        return False
    return not handed(first) or _distractor(first) == _distractor(second)


def _distractor(row: Row) -> object:
    return row.settings.get("distractor", "first")


def baseline(study: Study, wanted: str | None = None) -> Callable[[Row], Row | None]:
    """What each row is compared with: the plainest baseline of the same models, else the first.

    ``wanted`` names a row or a method. A row is not compared with itself, nor with one that chooses
    among other answers.
    """

    def of(row: Row) -> Row | None:
        order = [wanted] if wanted else [*(_ON_A_PAIR if handed(row) else ()), *_FIRST[study.task]]
        rows = [one for one in study.rows if alike(one, row)]
        named = [one for name in order for one in rows if name in (one.name, one.method)]
        candidates = named or ([] if wanted else rows[:1])
        best = [one for one in candidates if one.method == candidates[0].method]
        own = {*row.models.values()}
        judge = {row.models.get("judge")}
        same = [
            one
            for one in best
            if {*one.models.values()} == (judge if one.method == "judge_alone" else own)
        ]
        here = [one for one in same if _addresses(study, one) == _addresses(study, row)]
        found = next(iter(here or same or best), None)
        return None if found is None or found.name == row.name else found

    return of


def _addresses(study: Study, row: Row) -> set[str]:
    """Where the row's models were asked: two of one name may be two models after all."""
    return {spec for asked in study.asked[row.name] for spec in asked.models.values()}


class Calibrated(NamedTuple):
    """Confidences of a row's answers and whether each came true."""

    confidences: list[float]
    right: list[bool]
    of_claim: bool
    """True where they are P(claim), measured against the truth of the claim."""
    missing: int
    """Answers without one."""
    unmeasured: int
    """Answers that have one, and no right answer or no judgement to measure it by."""
    items: list[str]
    """The question of each."""
    clusters: list[str]
    """The cluster of each."""


def calibrated(study: Study, row: str) -> Calibrated:
    """P(claim) against the claim's truth; for other tasks, confidence against being right."""
    of_claim = study.task == "verify"
    sure: list[float] = []
    came_true: list[bool] = []
    items: list[str] = []
    unmeasured = 0
    held = withheld(study.of(row))
    results = [
        result
        for result in study.of(row)
        if result.status != "failed" and (of_claim or result.item not in held)
    ]
    right = scored(results)
    for result in results:
        verdict = result.verdict
        confidence = None if verdict is None else verdict.confidence
        if of_claim:
            true = truth(study, result)
            if verdict is None or verdict.confidence_source != "P(claim)":
                confidence = None
        else:
            true = right.get(result.item)
            if verdict is None or verdict.answer is None:
                confidence = None
        if confidence is not None and true is not None:
            sure.append(confidence)
            came_true.append(true)
            items.append(result.item)
        unmeasured += confidence is not None and true is None
    missing = len(results) - len(sure) - unmeasured
    groups = study.groups(items)
    return Calibrated(sure, came_true, of_claim, missing, unmeasured, items, groups)


def unmeasured(study: Study) -> list[str]:
    """A note on confidences that nothing can be measured by; none where there are none."""
    counts = {row.name: calibrated(study, row.name).unmeasured for row in study.rows}
    found = [f"{name} {n}" for name, n in counts.items() if n]
    why = "Left out, with a confidence but without a right answer or a judgement that could be read"
    return [f"{why}: {listed(found)}."] * bool(found)


class Surest(NamedTuple):
    """A row's answers, the surest first."""

    right: list[bool]
    clusters: list[str]
    curve: RiskCoverage
    asked: int
    """The questions that coverage is of: those with such an answer, and the withheld ones."""

    @property
    def covers(self) -> float:
        """The largest coverage, 0 to 1."""
        return self.curve.points[-1].coverage if self.curve.points else 0.0

    def at(self, coverage: float) -> Proportion | None:
        """Return the share of right answers among the surest that make at least this coverage."""
        reached = (point for point in self.curve.points if point.coverage >= coverage - 1e-9)
        if (point := next(reached, None)) is None:
            return None
        given = round(point.coverage * self.asked)
        return share_of(self.right[:given], self.clusters[:given])


def surest(study: Study, row: str) -> Surest:
    """Return how often a row is right if only its surest answers are given.

    Of a claim, the confidence is that of its label, which is true above one half. Withheld answers
    are not covered.
    """
    found, held = calibrated(study, row), withheld(study.of(row))
    answers = [
        (max(chance, 1 - chance), (chance > 0.5) == true) if found.of_claim else (chance, true)
        for chance, true in zip(found.confidences, found.right, strict=True)
    ]
    known = [
        (sure, right, group)
        for (sure, right), item, group in zip(answers, found.items, found.clusters, strict=True)
        if item not in held
    ]
    known.sort(key=lambda one: -one[0])
    right = [one[1] for one in known]
    asked = len(known) + len(held)
    curve = risk_coverage([one[0] for one in known], right, asked)
    return Surest(right, [one[2] for one in known], curve, asked)


def truth(study: Study, result: Result) -> bool | None:
    """Whether a claim is true: as the data set says, else as its label and its score imply."""
    if result.item in study.texts:
        return study.texts[result.item].reference.label
    said, score = said_label(result), number(result, "claim_label")
    return None if said is None or score is None else said == bool(score)


def said_label(result: Result) -> bool | None:
    """What a verdict labels a claim."""
    label = None if result.verdict is None else result.verdict.label
    return {"true": True, "false": False}.get(str(label).strip().casefold())
