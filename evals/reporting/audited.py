"""Say whether a debate is worth it: against everything cheaper that an audit set beside it.

A debate must be better than every fair rival, after one correction for all tests. That it is not
worth it needs evidence as well: an interval that leaves out a gain worth having.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

from scipy.stats import norm, t

from dialectree.evals.audit import Layout
from dialectree.evals.comparisons import (
    ALPHA,
    POWER,
    SAME_BUDGET,
    Comparison,
    correct,
    tango,
)
from dialectree.evals.intervals import Figure, design, error
from dialectree.evals.reporting.analysis import marked, paired
from dialectree.evals.reporting.answers import ASKED, Answers, tokens
from dialectree.evals.reporting.formatting import Line, Table, probability, signed, table
from dialectree.evals.reporting.study import Study, models
from dialectree.evals.results import bare
from dialectree.system import chance
from dialectree.text import count, listed

POINTS = 5.0
"""A gain of fewer points is not worth a debate, unless somebody says otherwise."""
SINGLE, SAMPLES = "best single model", "equal-token samples"
Answer = Literal["worth it", "not worth it", "cannot be told"]
UNKNOWN_SPREAD = 0.5
"""The standard deviation of a difference where no answers show it: as if a quarter differed."""


@dataclass(frozen=True)
class Beside:
    """A debate beside one rival."""

    debate: str
    rival: str
    test: Comparison
    tests: int
    """The comparisons of the audit, which share the chance of an error."""
    hindsight: Comparison | None = None
    """The debate beside the model that did best on all questions, where that is another test."""
    debates: int = 1
    """The debates of the audit."""

    @property
    def alpha(self) -> float:
        """The chance of an error that is left to this comparison."""
        return ALPHA / self.tests

    @property
    def enough(self) -> bool:
        """Whether the rival spent so many tokens that a win over it counts."""
        return self.rival != SAMPLES or (self.test.ratio or 0.0) >= SAME_BUDGET[0]

    @property
    def no_more(self) -> bool:
        """Whether the rival spent so few tokens that a debate should not lose to it."""
        return self.rival != SAMPLES or (self.test.ratio or math.inf) <= SAME_BUDGET[1]

    @property
    def better(self) -> bool:
        """Whether the debate is shown to be better, on all questions and among as many answers.

        The best model for each half may be missed by chance. So a debate must be better than the
        best in hindsight, too.
        """
        if (best := self.hindsight) is not None:
            value, p = best.difference.value or 0.0, 1.0 if best.p is None else best.p
            if value <= 0 or p >= ALPHA / self.debates:
                return False
        return self.enough and self.test.verdict == "better"

    def no_gain(self, least: float) -> bool:
        """Whether a gain of ``least`` is shown to be too much to hope for."""
        highs = [one.high for one in self.intervals]
        return self.no_more and all(high is not None and high < least for high in highs)

    @cached_property
    def intervals(self) -> list[Figure]:
        """The difference on all questions, and among as many answers, at the corrected level."""
        tests = [self.test, *([self.test.as_many] if self.test.as_many else [])]
        return [_interval(one, 1 - self.alpha) for one in tests]

    def questions(self, least: float, way: Literal["better", "no gain"]) -> float:
        """Return by what to multiply the questions so that ``POWER`` of audits would show it.

        The difference seen is taken for the true one: with the half interval w at the corrected
        level, z of it and z' of the power, n ((z + z') w / (z d))², where d is how far the
        difference lies from 0, or from ``least``. Infinite if it lies on the other side.
        """
        z, more = float(norm.isf(self.alpha / 2)), float(norm.ppf(POWER))
        factors: list[float] = []
        best = [_interval(self.hindsight, 1 - self.alpha)] if self.hindsight else []
        for value, low, high, _ in (*self.intervals, *(best if way == "better" else ())):
            if value is None or low is None or high is None:
                spread = UNKNOWN_SPREAD / max(1, len(self.test.first)) ** 0.5
                value, low, high = 0.0, -z * spread, z * spread
            away, half = (value, value - low) if way == "better" else (least - value, high - value)
            factors.append(((z + more) * half / (z * away)) ** 2 if away > 0 else math.inf)
        return max(factors)


@dataclass(frozen=True)
class Audited:
    """What came of an audit."""

    study: Study
    layout: Layout
    points: float
    debates: Sequence[Answers]
    rivals: Mapping[str, Answers]
    """What a debate must be better than, by its name on the page."""
    chosen: Mapping[str, Mapping[str, int]]
    """Of the best single model and its samples: by model, the questions it was chosen for."""
    beside: Sequence[Beside]

    @property
    def marks(self) -> bool:
        """Whether summaries are marked, and not answers right or wrong."""
        return self.study.task == "compare"

    @property
    def least(self) -> float:
        """The smallest gain that is worth a debate: 0 to 1, or in marks."""
        return self.points if self.marks else self.points / 100

    @property
    def answer(self) -> Answer:
        """Whether a debate is worth it, as far as the tests show."""
        if any(self.stands(one.name) for one in self.debates):
            return "worth it"
        own = [self.of(one.name) for one in self.debates]
        if own and all(any(one.no_gain(self.least) for one in tests) for tests in own):
            return "not worth it"
        return "cannot be told"

    def of(self, debate: str) -> list[Beside]:
        """Return a debate's comparisons."""
        return [one for one in self.beside if one.debate == debate]

    def stands(self, debate: str) -> bool:
        """Return whether a debate is better than every rival; samples must be among them."""
        tests = self.of(debate)
        return {SINGLE, SAMPLES} <= {one.rival for one in tests} and all(t.better for t in tests)

    @property
    def asked(self) -> int:
        """The number of questions."""
        return self.study.questions

    @property
    def needed(self) -> int:
        """About how many questions would tell, to two digits; see :meth:`Beside.questions`."""
        own = [tests for one in self.debates if (tests := self.of(one.name))]
        better = [max(one.questions(self.least, "better") for one in tests) for tests in own]
        none = [min(one.questions(self.least, "no gain") for one in tests) for tests in own]
        factor = min([math.inf, *better, *([max(none)] if none else [])])
        if math.isinf(factor):
            z = float(norm.isf(ALPHA / 2) + norm.ppf(POWER))
            scale = 100 if self.marks else 1
            return _rounded((z * UNKNOWN_SPREAD * scale / self.least) ** 2)
        return max(self.asked + 1, _rounded(max(self.asked, 1) * factor))

    @property
    def sentence(self) -> str:
        """The audit's one answer."""
        if self.answer != "cannot be told":
            return f"with these models a debate is {self.answer}"
        asked = count(self.asked, "question")
        return f"cannot be told from {asked}; that needs about {count(self.needed, 'question')}"


def audited(study: Study, layout: Layout, points: float = POINTS) -> Audited:
    """Return what came of an audit; ``points`` (of 100) is the smallest gain worth a debate."""
    rows = study.rows
    rivals, chosen = dict[str, Answers](), dict[str, Mapping[str, int]]()
    hindsight: dict[str, Answers] = {}
    for title, names in ((SINGLE, layout.alone), (SAMPLES, layout.samples)):
        known = {bare(model): rows[name] for model, name in names.items() if name in rows}
        if known:
            rivals[title], chosen[title] = best_of(study, title, known)
            if len(chosen[title]) > 1:
                hindsight[title] = max(known.values(), key=lambda row: _mean(study, row))
    for name in (layout.critique, layout.consultancy):
        if name in rows:
            rivals[name] = rows[name]
    debates = [rows[name] for name in layout.debates if name in rows]
    tests: list[tuple[str, str, Comparison, Comparison | None]] = []
    for debate in debates:
        for name, rival in rivals.items():
            one, best = _compared(study, debate, rival), hindsight.get(name)
            if one is not None and one.first:
                one.ratio = _ratio(debate, rival) if name == SAMPLES else None
                further = _compared(study, debate, best) if best else None
                tests.append((debate.name, name, one, further))
    correct(one for _, _, one, _ in tests)
    beside = [
        Beside(debate, rival, one, len(tests), further, len(debates))
        for debate, rival, one, further in tests
    ]
    return Audited(study, layout, points, debates, rivals, chosen, beside)


def _compared(study: Study, debate: Answers, rival: Answers) -> Comparison | None:
    marks = study.task == "compare"
    return marked(study, debate, rival) if marks else paired(study, debate, rival, True)


def _ratio(debate: Answers, rival: Answers) -> float | None:
    """Return the rival's tokens by the debate's, over the questions that both ended."""
    both = {*debate.results} - {*debate.ended("failed")}
    both &= {*rival.results} - {*rival.ended("failed")}
    spent, debated = (sum(tokens(row.results[i].usage) for i in both) for row in (rival, debate))
    return spent / debated if debated else None


# The best of the pool


def best_of(
    study: Study, title: str, rows: Mapping[str, Answers]
) -> tuple[Answers, dict[str, int]]:
    """Return the answers of the best row for each half of the questions, chosen on the other half.

    So no question helps to choose who answers it, and the estimate is honest. Clusters stay whole;
    the halves are drawn by the seed. Of equals the first row counts. Also returns for how many
    questions each row was chosen, by its name in ``rows``.
    """
    seed = study.evaluations[0].seed
    groups = sorted(
        {*study.groups(study.items)}, key=lambda one: (chance.seed(seed, "half", one), one)
    )
    half = {group: place % 2 for place, group in enumerate(groups)}
    of_items = zip(study.items, study.groups(study.items), strict=True)
    halves = {item: half[group] for item, group in of_items}
    values = {name: _values(study, row) for name, row in rows.items()}

    def mean(name: str, wanted: int) -> float:
        own = [float(value) for item, value in values[name].items() if halves[item] == wanted]
        return fmean(own) if own else -1.0

    best = {way: max(rows, key=lambda name: mean(name, 1 - way)) for way in (0, 1)}
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


def _values(study: Study, row: Answers) -> Mapping[str, float]:
    """Return the marks of a row's summaries, or 1 for each right answer and 0 for others."""
    return row.marks("overall") if study.task == "compare" else row.right(*ASKED)


def _mean(study: Study, row: Answers) -> float:
    own = _values(study, row).values()
    return fmean(own) if own else -1.0


# Intervals


def _interval(one: Comparison, level: float) -> Figure:
    """Return the difference with its interval at ``level``: Tango's, or Student's of marks."""
    if one.kind != "marks":
        differences = [float(a) - float(b) for a, b in zip(one.first, one.second, strict=True)]
        return tango(one.ledger, level, design(differences, one.clusters, level))
    differences = [a - b for a, b in zip(one.first, one.second, strict=True)]
    groups, value = len(set(one.clusters)), fmean(differences)
    spread = error(differences, one.clusters)
    if groups < 2 or not spread:
        return Figure(value, None, None, len(differences))
    half = float(t.isf((1 - level) / 2, groups - 1)) * spread
    return Figure(value, value - half, value + half, len(differences))


def _rounded(number: float) -> int:
    """Return a number with two digits that count, rounded up."""
    size = int(10 ** max(0, math.floor(math.log10(max(number, 1))) - 1))
    return int(math.ceil(number / size) * size)


# The page's words


def method_table(one: Audited) -> Table | None:
    """Return the table of methods: what each got right, and what a question took."""
    rows = one.study.rows
    lines: list[tuple[str, Answers]] = []
    several = len(one.layout.alone) > 1
    for place, (model, name) in enumerate(one.layout.alone.items()):
        if name in rows:
            judge = "judge alone" if not place else "alone"
            lines.append((f"{judge}: {bare(model)}" if several else judge, rows[name]))
    for name, rival in one.rivals.items():
        if name == SINGLE and not several:
            continue
        lines.append((_titled(one, name), rival))
    lines += [(row.name, row) for row in one.debates]
    what = "mark of 100" if one.marks else "right"
    return table(
        "methods",
        "What each method got right, and what it took",
        [
            {
                "method": title,
                what: row.mark("overall") if one.marks else row.right_of_asked,
                "tokens of a question": row.mean("tokens"),
                "calls": row.mean("calls"),
                "cost": row.mean("cost"),
                "withheld": row.counts["unanswered"] or None,
                "failed": row.counts["failed"] or None,
            }
            for title, row in lines
            if row.results
        ],
        *_choices(one),
        kinds={"tokens of a question": "mean", "calls": "mean"},
    )


def _titled(one: Audited, name: str) -> str:
    if name != SAMPLES:
        return name
    names = [row for row in one.layout.samples.values() if row in one.study.rows]
    numbers = {str(one.study.rows[row].row.settings.get("samples")) for row in names}
    return f"{name}, {' or '.join(sorted(numbers))} a question"


def _choices(one: Audited) -> Iterator[str]:
    yield (
        "Below a figure stands its 95% interval. A withheld answer is not right; a failed question "
        "is left out."
    )
    if len(one.layout.alone) > 1:
        told: list[str] = []
        for name, own in one.chosen.items():
            parts = (f"{model} for {count(n, 'question')}" for model, n in own.items())
            told.append(f"{name}: {listed(parts)}")
        yield (
            "The best model for each half of the questions is chosen on the other half, so that it "
            f"is no better by luck. {'; '.join(told)}. A debate must also be better than the best "
            "in hindsight."
        )
        speak = [f"{row.name}: {models(row.row)}" for row in one.debates]
        yield f"Who speaks. {'; '.join(speak)}."


def gain_table(one: Audited) -> Table | None:
    """Return the table of what debating gained beside each rival."""
    unit = "marks" if one.marks else "points"

    def line(own: Beside) -> Line:
        value, low, high, n = own.intervals[0]
        return {
            "debate": own.debate,
            "beside": own.rival,
            "questions": n,
            f"gain, {unit}": Figure(value, low, high, n),
            "among as many answers": own.intervals[1] if len(own.intervals) > 1 else None,
            "p after Holm": own.test.holm,
            "tokens, samples by debate": own.test.ratio,
            "shows": _shows(one, own),
        }

    level = f"{100 * (1 - ALPHA / max(1, len(one.beside))):.2f}".rstrip("0").rstrip(".")
    kinds: dict[str, Any] = {"p after Holm": "p"}
    kinds |= dict.fromkeys((f"gain, {unit}", "among as many answers"), unit)
    return table(
        "gains",
        "What debating gained",
        map(line, one.beside),
        f"All {count(len(one.beside), 'comparison')} share one chance of 5% to err: p is corrected "
        f"by Holm, and each interval is one of {level}%.",
        kinds=kinds,
    )


def _shows(one: Audited, own: Beside) -> str:
    if own.test.verdict == "better":
        return "better" if own.enough else "better, at fewer tokens than a debate's"
    if own.test.direction < 0:
        return "worse" if own.test.verdict == "worse" else "fewer right, as it withheld some"
    if own.no_gain(one.least):
        return f"no gain of {one.points:g}"
    return "nothing yet"


def gains(one: Audited) -> list[str]:
    """Return a sentence on each debate beside the best of the others."""
    sentences: list[str] = []
    unit = "marks of 100" if one.marks else "points"
    for debate in one.debates:
        tests = [own for own in one.of(debate.name) if own.intervals[0].value is not None]
        if not tests:
            sentences.append(f"{debate.name}: no question in common with another method.")
            continue
        best = min(tests, key=lambda own: own.intervals[0].value or 0.0)
        value, low, high, n = best.intervals[0]
        scale = 1 if one.marks else 100
        gained, ends = signed(scale * (value or 0.0), 1, "+"), ""
        if low is not None and high is not None:
            ends = f", between {signed(scale * low, 1, '+')} and {signed(scale * high, 1, '+')}"
        pairs = count(n, "question")
        sentences.append(
            f"{debate.name}: {gained} {unit} beside the best of the others, {best.rival} "
            f"({pairs}{ends}; p = {probability(best.test.holm)} after Holm)."
        )
    return sentences


def rules(one: Audited) -> list[str]:
    """Return how the answer came about, and what the audit lacks."""
    unit = "marks of 100" if one.marks else "points"
    found = [
        "A debate is worth it if it is shown to be better than every method above that does "
        f"without. It is not if a gain of {one.points:g} {unit} is ruled out beside one of them."
    ]
    if one.answer == "cannot be told":
        found.append(
            "The number of questions that it needs is the one at which four of five audits would "
            "tell, at a 5% chance of error, were the differences seen here the true ones."
        )
    for own in one.beside:
        if own.rival == SAMPLES and own.test.ratio is None:
            found.append(
                f"The endpoint reports no tokens for {own.debate!r} or for the samples, so nobody "
                "knows whether they are as many."
            )
        elif own.rival == SAMPLES and not (own.enough and own.no_more):
            found.append(
                f"The samples spent {own.test.ratio:.2f} times the tokens of {own.debate!r}, which "
                f"is not about as many: {'a win over' if not own.enough else 'a loss to'} them "
                "says nothing."
            )
    if SAMPLES not in one.rivals:
        found.append("Without equal-token samples no debate can be shown to be worth it.")
    if one.layout.left_out:
        found.append(f"Left out: {'; '.join(one.layout.left_out)}.")
    return found
