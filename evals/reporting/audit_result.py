"""Decide whether a debate is worth it, compared with every cheaper method of an audit.

A debate must be better than every fair rival, after one correction for all tests. The answer "not
worth it" needs evidence, too: an interval that rules out a gain worth having.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

from scipy.stats import norm, t

from dialectree.evals.audit import Layout
from dialectree.evals.comparisons import ALPHA, POWER, SAME_BUDGET, RowComparison, correct, tango
from dialectree.evals.intervals import Figure, design, error
from dialectree.evals.reporting.analysis import compare_marks, compare_rows
from dialectree.evals.reporting.answers import ASKED, Answers, tokens
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import strip_address
from dialectree.system import chance
from dialectree.text import count

POINTS = 5.0
"""The default of the smallest gain that is worth a debate."""
SINGLE, SAMPLES = "best single model", "equal-token samples"
Answer = Literal["worth it", "not worth it", "cannot be told"]
UNKNOWN_SPREAD = 0.5
"""The standard deviation of a difference before there are answers: as if a quarter of them differed."""


@dataclass(frozen=True)
class RivalComparison:
    """A debate compared with one rival."""

    debate: str
    rival: str
    test: RowComparison
    tests: int
    """The number of comparisons in the audit; they share the chance of an error."""
    hindsight: RowComparison | None = None
    """The comparison with the model that did best on all questions; None if it would be the same test."""
    debates: int = 1
    """The number of debates in the audit."""

    @property
    def alpha(self) -> float:
        """This comparison's share of the chance of an error."""
        return ALPHA / self.tests

    @property
    def enough(self) -> bool:
        """True if the rival spent enough tokens for a win over it to count."""
        return self.rival != SAMPLES or (self.test.ratio or 0.0) >= SAME_BUDGET[0]

    @property
    def no_more(self) -> bool:
        """True if the rival spent few enough tokens for a loss to it to count."""
        return self.rival != SAMPLES or (self.test.ratio or math.inf) <= SAME_BUDGET[1]

    @property
    def better(self) -> bool:
        """True if the debate is shown to be better, on all questions and at equal coverage.

        The best model of each half of the questions is chosen on the other half, so chance may miss it.
        A debate must therefore also be better than the best model in hindsight.
        """
        if (best := self.hindsight) is not None:
            value, p = best.difference.value or 0.0, 1.0 if best.p is None else best.p
            if value <= 0 or p >= ALPHA / self.debates:
                return False
        return self.enough and self.test.verdict == "better"

    def no_gain(self, smallest_gain: float) -> bool:
        """Return whether the intervals rule out a gain of ``smallest_gain``."""
        highs = [interval.high for interval in self.intervals]
        return self.no_more and all(high is not None and high < smallest_gain for high in highs)

    @cached_property
    def intervals(self) -> list[Figure]:
        """The differences on all questions and at equal coverage, at the corrected level."""
        tests = [self.test, *([self.test.as_many] if self.test.as_many else [])]
        return [_interval(test, 1 - self.alpha) for test in tests]

    def questions(self, smallest_gain: float, outcome: Literal["better", "no gain"]) -> float:
        """Return by what factor questions must grow until ``POWER`` of audits would show ``outcome``.

        The observed difference is taken as the true one. The factor is ((z + z') w / (z d))²: w is
        half the interval at the corrected level, z the quantile of that level, z' the quantile of the
        power, and d the distance of the difference from 0 or from ``smallest_gain``. The factor is
        infinite if the difference is on the wrong side.
        """
        z, more = float(norm.isf(self.alpha / 2)), float(norm.ppf(POWER))
        factors: list[float] = []
        best = [_interval(self.hindsight, 1 - self.alpha)] if self.hindsight else []
        for value, low, high, _ in (*self.intervals, *(best if outcome == "better" else ())):
            if value is None or low is None or high is None:
                spread = UNKNOWN_SPREAD / max(1, len(self.test.first)) ** 0.5
                value, low, high = 0.0, -z * spread, z * spread
            away, half = (
                (value, value - low) if outcome == "better" else (smallest_gain - value, high - value)
            )
            factors.append(((z + more) * half / (z * away)) ** 2 if away > 0 else math.inf)
        return max(factors)


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit."""

    study: Study
    layout: Layout
    points: float
    debates: Sequence[Answers]
    rivals: Mapping[str, Answers]
    """The methods that a debate must beat, by their names on the page."""
    chosen: Mapping[str, Mapping[str, int]]
    """By rival (best single model, samples) and model: the number of questions that the model answers."""
    comparisons: Sequence[RivalComparison]

    @property
    def marks(self) -> bool:
        """True if the audit marks summaries instead of judging answers right or wrong."""
        return self.study.task == "compare"

    @property
    def least(self) -> float:
        """The smallest gain that is worth a debate: 0 to 1, or in marks."""
        return self.points if self.marks else self.points / 100

    @property
    def answer(self) -> Answer:
        """The decision on the debates, as far as the tests show it."""
        if any(self.stands(debate.name) for debate in self.debates):
            return "worth it"
        tests_by_debate = [self.comparisons_for(debate.name) for debate in self.debates]
        if tests_by_debate and all(
            any(comparison.no_gain(self.least) for comparison in tests) for tests in tests_by_debate
        ):
            return "not worth it"
        return "cannot be told"

    def comparisons_for(self, debate: str) -> list[RivalComparison]:
        """Return a debate's comparisons."""
        return [comparison for comparison in self.comparisons if comparison.debate == debate]

    def stands(self, debate: str) -> bool:
        """Return whether a debate beats every rival; a single model and samples must be among them."""
        tests = self.comparisons_for(debate)
        return {SINGLE, SAMPLES} <= {comparison.rival for comparison in tests} and all(
            t.better for t in tests
        )

    @property
    def asked(self) -> int:
        """The number of questions."""
        return self.study.questions

    @property
    def needed(self) -> int:
        """The number of questions that would decide the audit, to two digits.

        See :meth:`RivalComparison.questions`.
        """
        factor = self._find_growth_factor()
        if math.isinf(factor):
            z = float(norm.isf(ALPHA / 2) + norm.ppf(POWER))
            scale = 100 if self.marks else 1
            return _round_up_to_two_digits((z * UNKNOWN_SPREAD * scale / self.least) ** 2)
        return max(self.asked + 1, _round_up_to_two_digits(max(self.asked, 1) * factor))

    def _find_growth_factor(self) -> float:
        """Return by what factor questions must grow until the audit decides.

        One debate that beats all its rivals decides it, and so do debates that each fail to gain over one.
        """
        tests_by_debate = [tests for debate in self.debates if (tests := self.comparisons_for(debate.name))]
        if not tests_by_debate:
            return math.inf
        better = [max(test.questions(self.least, "better") for test in tests) for tests in tests_by_debate]
        none = [min(test.questions(self.least, "no gain") for test in tests) for tests in tests_by_debate]
        return min([*better, max(none)])

    @property
    def sentence(self) -> str:
        """The answer of the audit in one sentence."""
        if self.answer != "cannot be told":
            return f"with these models a debate is {self.answer}"
        questions = count(self.asked, "question")
        return f"cannot be told from {questions}; that needs about {count(self.needed, 'question')}"


def analyse_audit(study: Study, layout: Layout, points: float = POINTS) -> AuditResult:
    """Return the result of an audit; ``points`` (of 100) is the smallest gain worth a debate."""
    rows = study.rows
    rivals, chosen = dict[str, Answers](), dict[str, Mapping[str, int]]()
    hindsight: dict[str, Answers] = {}
    for title, names in ((SINGLE, layout.alone), (SAMPLES, layout.samples)):
        rows_by_model = {strip_address(model): rows[name] for model, name in names.items() if name in rows}
        if rows_by_model:
            rivals[title], chosen[title] = best_of(study, title, rows_by_model)
            if len(chosen[title]) > 1:
                hindsight[title] = max(rows_by_model.values(), key=lambda row: _mean(study, row))
    for name in (layout.critique, layout.consultancy):
        if name in rows:
            rivals[name] = rows[name]
    debates = [rows[name] for name in layout.debates if name in rows]
    tests: list[tuple[str, str, RowComparison, RowComparison | None]] = []
    for debate in debates:
        for name, rival in rivals.items():
            comparison, best = _compare_with_rival(study, debate, rival), hindsight.get(name)
            if comparison is not None and comparison.first:
                comparison.ratio = _ratio(debate, rival) if name == SAMPLES else None
                further = _compare_with_rival(study, debate, best) if best else None
                tests.append((debate.name, name, comparison, further))
    correct(comparison for _, _, comparison, _ in tests)
    comparisons = [
        RivalComparison(debate, rival, comparison, len(tests), further, len(debates))
        for debate, rival, comparison, further in tests
    ]
    return AuditResult(study, layout, points, debates, rivals, chosen, comparisons)


def _compare_with_rival(study: Study, debate: Answers, rival: Answers) -> RowComparison | None:
    marks = study.task == "compare"
    return compare_marks(study, debate, rival) if marks else compare_rows(study, debate, rival, True)


def _ratio(debate: Answers, rival: Answers) -> float | None:
    """Return the rival's tokens divided by the debate's, over questions that both finished."""
    both = {*debate.results} - {*debate.list_questions_with_outcome("failed")}
    both &= {*rival.results} - {*rival.list_questions_with_outcome("failed")}
    spent, debated = (sum(tokens(row.results[i].usage) for i in both) for row in (rival, debate))
    return spent / debated if debated else None


# The best of the pool


def best_of(study: Study, title: str, rows: Mapping[str, Answers]) -> tuple[Answers, dict[str, int]]:
    """Return the answers of the best row for each half of the questions, chosen on the other half.

    No question then helps to choose its own row, so the estimate is unbiased. Clusters stay whole.
    The seed draws the halves. The first row wins a tie. Also return the number of questions for
    which each row was chosen, by the row's name in ``rows``.
    """
    halves = _draw_halves(study)
    values = {name: _values(study, row) for name, row in rows.items()}

    def mean(name: str, chosen_half: int) -> float:
        scores = [float(value) for item, value in values[name].items() if halves[item] == chosen_half]
        return fmean(scores) if scores else -1.0

    best = {half_index: max(rows, key=lambda name: mean(name, 1 - half_index)) for half_index in (0, 1)}
    first = next(iter(rows.values()))
    picked = Answers(
        first.row.model_copy(update={"name": title}), first.of_claims, first.texts, first.as_asked
    )
    chosen: dict[str, int] = {}
    for item in study.items:
        row = rows[best[halves[item]]]
        if item in row.results:
            picked.results[item] = row.results[item].model_copy(update={"row": title})
            picked.homes[item] = row.homes[item]
            name = best[halves[item]]
            chosen[name] = chosen.get(name, 0) + 1
    return picked, chosen


def _draw_halves(study: Study) -> dict[str, int]:
    """Return the half of each question, 0 or 1, drawn by the evaluation's seed."""
    seed, groups_of_items = study.evaluations[0].seed, study.groups(study.items)
    groups = sorted({*groups_of_items}, key=lambda cluster: (chance.seed(seed, "half", cluster), cluster))
    halves = {group: place % 2 for place, group in enumerate(groups)}
    return {item: halves[group] for item, group in zip(study.items, groups_of_items, strict=True)}


def _values(study: Study, row: Answers) -> Mapping[str, float]:
    """Return the marks of a row's summaries, or 1 for each right answer and 0 for others."""
    return row.marks("overall") if study.task == "compare" else row.right(*ASKED)


def _mean(study: Study, row: Answers) -> float:
    values = _values(study, row).values()
    return fmean(values) if values else -1.0


# Intervals


def _interval(comparison: RowComparison, level: float) -> Figure:
    """Return the difference with its interval at ``level``: Tango's, or Student's for marks."""
    if comparison.kind != "marks":
        differences = [float(a) - float(b) for a, b in zip(comparison.first, comparison.second, strict=True)]
        return tango(comparison.ledger, level, design(differences, comparison.clusters, level))
    differences = [a - b for a, b in zip(comparison.first, comparison.second, strict=True)]
    groups, value = len(set(comparison.clusters)), fmean(differences)
    spread = error(differences, comparison.clusters)
    if groups < 2 or not spread:
        return Figure(value, None, None, len(differences))
    half = float(t.isf((1 - level) / 2, groups - 1)) * spread
    return Figure(value, value - half, value + half, len(differences))


def _round_up_to_two_digits(number: float) -> int:
    """Round a number up to two significant digits."""
    size = int(10 ** max(0, math.floor(math.log10(max(number, 1))) - 1))
    return int(math.ceil(number / size) * size)
