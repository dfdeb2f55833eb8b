"""Counts what an evaluation's calls take while they are made: debates and judge apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialectree.errors import DialectreeError
from dialectree.models.limits import Budget
from dialectree.records import Call

JUDGE_ROLE = "scorer_judge"
"""The role of the judge that scores."""


@dataclass
class Spent:
    """What some calls took since the command began."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    """None as soon as the price of a call is unknown."""

    def add(self, call: Call) -> None:
        """Count one call."""
        self.calls += 1
        self.tokens += call.prompt_tokens + call.completion_tokens
        known = self.cost is not None and call.cost is not None
        self.cost = round((self.cost or 0.0) + (call.cost or 0.0), 9) if known else None

    def __add__(self, other: Spent) -> Spent:
        known = self.cost is not None and other.cost is not None
        cost = round((self.cost or 0.0) + (other.cost or 0.0), 9) if known else None
        return Spent(self.calls + other.calls, self.tokens + other.tokens, cost)


@dataclass
class Spending(Budget):
    """The budget that all questions of an evaluation share, and what they spent of it."""

    debates: Spent = field(default_factory=Spent)
    """What debates, baselines and votes took."""
    judge: Spent = field(default_factory=Spent)
    """What the judge that scores took."""

    def add(self, call: Call) -> None:
        """Count a call that has ended."""
        super().add(call)
        (self.judge if call.role == JUDGE_ROLE else self.debates).add(call)

    def close(self, error: DialectreeError) -> None:
        """Let no further call begin; the first reason stays."""
        self.closed = self.closed or error

    def spent(self) -> tuple[Spent, Spent]:
        """Return what debates and the judge took."""
        return self.debates, self.judge
