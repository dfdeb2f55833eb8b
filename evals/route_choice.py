"""Find, from votes and debates on the same questions, below which agreement of votes a debate pays.

A rule debates the questions on which the most frequent answer has less than a given share of the
votes, and takes the vote's answer on the others. No model is called. The choice of a rule is tested
by cross-fitting: for each tenth of the questions the other nine tenths choose a rule, and its answers
to this tenth are compared with the vote. So a rule is not recommended for its luck on the questions
that chose it. Intervals are widened for the number of rules (Bonferroni), so they are valid for the
picked rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dialectree.evals.comparisons import ALPHA, FEWEST, POWER, McNemar, mcnemar, tango
from dialectree.evals.intervals import (
    LEVEL,
    Figure,
    Floats,
    Proportion,
    bootstrap_interval,
    design,
    floats,
    wilson,
)
from dialectree.protocols.routes import ALWAYS, NEVER
from dialectree.system import chance

FOLDS = 10
WORTH = 0.05
"""The smallest gain in right answers, 0 to 1, worth a debate; advice never to debate rules it out."""
Call = Literal["everything", "below", "never", "unknown"]
"""The advice: debate everything, debate below a share of the votes, never debate, or no advice."""


@dataclass(frozen=True)
class Sample:
    """Votes and debates on the same questions; each field has one entry per question."""

    shares: Floats
    """The share of the votes for the most frequent answer, 0 to 1; 0 without an answer."""
    votes: Floats
    """1 if the most frequent answer is right, else 0."""
    debates: Floats
    """1 if the debate's answer is right; 0 if it is wrong or missing."""
    vote_tokens: Floats
    debate_tokens: Floats
    """Tokens of the debate, without the vote's."""
    clusters: Sequence[str]
    """Questions of one cluster are not independent of one another."""

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.shares)

    @cached_property
    def rules(self) -> tuple[float, ...]:
        """The shares below which a rule debates: ``NEVER``, each share that occurs, and ``ALWAYS``.

        The lowest share that occurs is left out, since below it nothing is debated. Shares are
        rounded down to hundredths, so that they can be written.
        """
        floors = {math.floor(100 * share + 1e-6) / 100 for share in self.shares.tolist()}
        return (NEVER, *sorted(floors)[1:], ALWAYS)

    def part(self, mask: NDArray[np.bool_]) -> Sample:
        """Return the sample of the questions in ``mask``."""
        return Sample(
            self.shares[mask],
            self.votes[mask],
            self.debates[mask],
            self.vote_tokens[mask],
            self.debate_tokens[mask],
            [*compress(self.clusters, mask)],
        )

    def mark_debated(self, at: float) -> Floats:
        """Return 1 for each question that is debated below the share ``at``, else 0."""
        return (self.shares < at).astype(np.float64)

    def answers(self, at: float) -> Floats:
        """Return 1 for each right answer of the rule that debates below the share ``at``, else 0."""
        return np.where(self.shares < at, self.debates, self.votes)

    def spent(self, at: float) -> Floats:
        """Return the tokens of each question; a rule that debates everything pays for no vote."""
        if at == ALWAYS:
            return self.debate_tokens
        return self.vote_tokens + self.mark_debated(at) * self.debate_tokens


def pick(sample: Sample, rules: Sequence[float]) -> tuple[float, bool]:
    """Return the rule among ``rules`` that a sample supports, and whether it is shown to beat the vote.

    Candidates are the rules shown to be better than the vote, and not shown to be worse than the most
    accurate rule. The candidate with the fewest tokens wins; without candidates, the most accurate
    rule that debates. "Shown" means at 0.05, by McNemar's exact test or the test of clusters' sums.
    """
    answers = {at: sample.answers(at) for at in rules if at != NEVER}
    tokens = {at: float(sample.spent(at).mean()) for at in answers}
    right = {at: float(rule_answers.sum()) for at, rule_answers in answers.items()}

    def better(first: Floats, second: Floats) -> bool:
        return first.sum() > second.sum() and _run_mcnemar(sample, first, second).p < ALPHA

    best = min(answers, key=lambda at: (-right[at], tokens[at]))
    proven = [at for at, rule_answers in answers.items() if better(rule_answers, sample.answers(NEVER))]
    candidates = [at for at in proven if not better(answers[best], answers[at])]
    at = min(candidates, key=lambda at: (tokens[at], at)) if candidates else best
    return at, at in proven


def _run_mcnemar(sample: Sample, first: Floats, second: Floats) -> McNemar:
    return mcnemar(first.tolist(), second.tolist(), sample.clusters)


class RuleOutcome(NamedTuple):
    """The figures of one rule on all questions."""

    at: float
    accuracy: Proportion
    difference: Figure
    """The rule's share of right answers minus that of debating everything, -1 to 1."""
    debates: Proportion
    """The share of questions that the rule debates."""
    tokens: float
    """Tokens per question."""


@dataclass(frozen=True)
class Routing:
    """Advice on debating fewer questions, from the votes and debates of a row."""

    sample: Sample
    seed: int = 0

    @cached_property
    def level(self) -> float:
        """The level of each interval, such that the intervals of all rules hold together with 95 %."""
        return 1 - (1 - LEVEL) / len(self.sample.rules)

    @cached_property
    def picked(self) -> tuple[float, bool]:
        """The rule that is picked on all questions, and whether these show that the rule beats the vote."""
        return pick(self.sample, self.sample.rules)

    @cached_property
    def folds(self) -> Floats:
        """The number of each question's fold, from 0; questions of one cluster are in one fold."""
        groups = {*self.sample.clusters}
        shuffled_groups = sorted(groups, key=lambda group: (chance.seed(self.seed, "fold", group), group))
        place = {group: n % FOLDS for n, group in enumerate(shuffled_groups)}
        return floats([place[group] for group in self.sample.clusters])

    @cached_property
    def rule_of(self) -> Floats:
        """The rule for each question, picked on the questions of the other folds."""
        rules = np.zeros(self.sample.n)
        for fold in np.unique(self.folds) if len({*self.sample.clusters}) > 1 else ():
            rules[self.folds == fold] = pick(self.sample.part(self.folds != fold), self.sample.rules)[0]
        return rules

    @cached_property
    def held_out(self) -> Floats:
        """For each question, 1 if the rule that was picked without this question is right, else 0."""
        return np.where(self.sample.shares < self.rule_of, self.sample.debates, self.sample.votes)

    @cached_property
    def gain(self) -> McNemar:
        """The right answers of :attr:`held_out`, compared with the right answers of the vote."""
        return _run_mcnemar(self.sample, self.held_out, self.sample.votes)

    @cached_property
    def call(self) -> Call:
        """The recommendation.

        Debates are recommended only if the picked rule is better than the vote on held-out answers,
        by the exact test at 0.05. ``never`` is recommended only if every rule gains less than
        ``WORTH``, with 95 % (one-sided).
        """
        at, proven = self.picked
        if len({*self.sample.clusters}) < FEWEST:
            return "unknown"
        better = self.gain.first_only > self.gain.second_only
        if proven and better and self.gain.p < ALPHA:
            return "everything" if at == ALWAYS else "below"
        return "never" if self.at_most < WORTH else "unknown"

    @cached_property
    def at(self) -> float:
        """The share below which debates are recommended; 0 if they are not."""
        return self.picked[0] if self.call in ("everything", "below") else NEVER

    @cached_property
    def at_most(self) -> float:
        """The largest upper limit (one-sided, 95 %) of a rule's gain over the vote."""
        limits = [self.less(at, NEVER, 2 * LEVEL - 1).high for at in self.sample.rules[1:]]
        return max(1.0 if limit is None else limit for limit in limits)

    def less(self, at: float, other_at: float, level: float | None = None) -> Figure:
        """Return the share of right answers of the rule ``at`` minus that of ``other_at``, -1 to 1."""
        level = self.level if level is None else level
        first, second = self.sample.answers(at), self.sample.answers(other_at)
        if at == other_at:
            return Figure(0.0, 0.0, 0.0, self.sample.n)
        effect = design((first - second).tolist(), self.sample.clusters, level)
        return tango(_run_mcnemar(self.sample, first, second), level, effect)

    @cached_property
    def lines(self) -> list[RuleOutcome]:
        """The figures of each rule, from no debates to all debates."""
        return [self.line(at) for at in self.sample.rules]

    def line(self, at: float) -> RuleOutcome:
        """Return the figures of the rule that debates below ``at``."""
        sample = self.sample
        return RuleOutcome(
            at,
            self._share(sample.answers(at)),
            self.less(at, ALWAYS),
            self._share(sample.mark_debated(at)),
            float(sample.spent(at).mean()),
        )

    def _share(self, values: Floats) -> Proportion:
        effect = design(values.tolist(), self.sample.clusters, self.level)
        return wilson(round(values.sum()), self.sample.n, self.level, effect)

    @cached_property
    def accuracy(self) -> Figure:
        """The share of right answers of the recommended rule, measured on held-out questions.

        The interval is valid for whichever rule is recommended.
        """
        share = self._share(self.sample.answers(self.at))
        return _around(self._measured, share.low, share.high, self.sample.n)

    @cached_property
    def difference(self) -> Figure:
        """``accuracy`` minus the share of right answers of debating everything, -1 to 1."""
        _, low, high, n = self.less(self.at, ALWAYS, self.level)
        if self.at == ALWAYS:
            return Figure(0.0, 0.0, 0.0, n)
        return _around(self._measured - float(self.sample.debates.mean()), low, high, n)

    @property
    def _measured(self) -> float:
        fixed = {NEVER: self.sample.votes, ALWAYS: self.sample.debates}
        return float(fixed.get(self.at, self.held_out).mean())

    def tokens(self, at: float) -> Figure:
        """Return a rule's tokens divided by those of debating everything, and an interval of this ratio."""
        return bootstrap_interval(
            lambda rule_tokens, all_of_them: float(rule_tokens.sum() / all_of_them.sum()),
            [self.sample.spent(at), self.sample.spent(ALWAYS)],
            seed=self.seed,
            clusters=self.sample.clusters,
        )

    @cached_property
    def needed(self) -> int:
        """The approximate number of questions like these that advice needs, to two digits.

        With n questions, a difference h is shown with a power of 0.8 (Connor 1987, by the normal
        distribution): n = ((z₀.₉₇₅ √ψ + z₀.₈ √(ψ − h²)) / h)². ψ is the share of held-out questions
        that only one of rule and vote gets right. h is the gain on these questions or, if that is
        larger, ``WORTH`` minus this gain. For clusters n is multiplied by the design effect.
        """
        less = self.held_out - self.sample.votes
        gain = float(less.mean())
        h = min(1.0, max(gain, WORTH - gain))
        differing = max(float(np.abs(less).mean()), h)
        z, power = norm.isf(ALPHA / 2), norm.ppf(POWER)
        n = ((z * math.sqrt(differing) + power * math.sqrt(differing - h**2)) / h) ** 2
        n = max(n * design(less.tolist(), self.sample.clusters), self.sample.n + 1.0)
        digit = 10 ** max(0, math.floor(math.log10(n)) - 1)
        return int(math.ceil(n / digit) * digit)


def _around(value: float, low: float | None, high: float | None, n: int) -> Figure:
    """Return ``value`` with the interval ``low`` to ``high``, widened if ``value`` is outside."""
    if low is None or high is None:
        return Figure(value, None, None, n)
    return Figure(value, min(value, low), max(value, high), n)
