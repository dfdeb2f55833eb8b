"""Count the progress and the cost of an evaluation, debates and judge separately."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialectree.errors import DialectreeError
from dialectree.evals.results import Result
from dialectree.evals.results_file import Done
from dialectree.models.limits import Budget
from dialectree.records import Call, Usage
from dialectree.report.figures import format_money
from dialectree.system import clock
from dialectree.text import duration

JUDGE_ROLE = "scorer_judge"
"""The role of the judge that scores."""


@dataclass
class CallTotals:
    """Calls, their tokens and their cost."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    """None if the price of any call is unknown."""

    def add(self, call: Call) -> None:
        """Count one call."""
        more = self + CallTotals(1, call.prompt_tokens + call.completion_tokens, call.cost)
        self.calls, self.tokens, self.cost = more.calls, more.tokens, more.cost

    def __add__(self, other: CallTotals) -> CallTotals:
        has_costs = self.cost is not None and other.cost is not None
        cost = round((self.cost or 0.0) + (other.cost or 0.0), 9) if has_costs else None
        return CallTotals(self.calls + other.calls, self.tokens + other.tokens, cost)


@dataclass
class Spending(Budget):
    """The budget that all questions of an evaluation share, and the spending so far."""

    debates: CallTotals = field(default_factory=CallTotals)
    """Spending on debates, baselines and votes."""
    judge: CallTotals = field(default_factory=CallTotals)
    """Spending on the judge that scores."""

    def add(self, call: Call) -> None:
        """Count a call that has ended."""
        super().add(call)
        (self.judge if call.role == JUDGE_ROLE else self.debates).add(call)

    def close(self, error: DialectreeError) -> None:
        """Stop further calls; the first reason stays."""
        self.closed = self.closed or error

    def spent(self) -> tuple[CallTotals, CallTotals]:
        """Return the spending on debates and on the judge."""
        return self.debates, self.judge


@dataclass
class Standing:
    """The progress of an evaluation."""

    total: int
    before: int
    """Results from before this command."""
    spending: Spending
    done: int = 0
    """Results of this command."""
    failing: list[Done] = field(default_factory=list[Done])
    """Questions of this command that failed, now or in an earlier command."""
    degraded: int = 0
    """Questions with an answer although a part failed, now or in an earlier command."""
    incomplete: int = 0
    """Questions that ``--retry-failed`` asks again: they failed, or lost a call."""
    cached: int = 0
    """Calls that the reply cache answered, including the judge's."""
    cached_judging: int = 0
    started: float = field(default_factory=clock.seconds)

    @property
    def failed(self) -> int:
        """The number of questions that failed."""
        return len(self.failing)

    @property
    def spent(self) -> CallTotals:
        """The spending on all calls since the command began."""
        return self.spending.debates + self.spending.judge

    @property
    def left(self) -> int:
        """The number of questions without a result."""
        return self.total - self.before - self.done

    @property
    def ended(self) -> str:
        """The numbers of failed and degraded questions, as in ``2 failed, 1 degraded``."""
        return f"{self.failed} failed" + f", {self.degraded} degraded" * bool(self.degraded)

    def __str__(self) -> str:
        """Return ``12 of 40 questions, 2 failed, 4,500 calls, cost 1.25, 12 min 30 s left``."""
        spent, count = self.spent, self.total - self.left
        parts = [f"{count} of {self.total} questions", self.ended, f"{spent.calls:,} calls"]
        if spent.cost:
            parts.append(f"cost {format_money(spent.cost)}")
        if self.left and self.done:
            pace = (clock.seconds() - self.started) / self.done
            parts.append(f"{duration(pace * self.left)} left")
        return ", ".join(parts)

    def add(self, result: Result) -> None:
        """Count a new result."""
        self.done += 1
        self.cached += result.cached.calls
        self.cached_judging += result.cached_judging.calls
        self.count((result.row, result.item), result.status, incomplete=result.incomplete)

    def count_cached_judging(self, cached: Usage) -> None:
        """Count cached calls of a judge that belong to no result."""
        self.cached += cached.calls
        self.cached_judging += cached.calls

    def count(self, question: Done, status: str, *, incomplete: bool) -> None:
        """Count the end of a question."""
        if status == "failed":
            self.failing.append(question)
        self.degraded += status == "degraded"
        self.incomplete += incomplete
