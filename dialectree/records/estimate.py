"""Define the estimate of a debate or an evaluation before its first call."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from dialectree.text import count, duration


class Span(BaseModel, frozen=True):
    """The range of one figure over the rehearsals."""

    least: int | float
    median: int | float
    most: int | float


class Estimate(BaseModel, frozen=True):
    """The estimated calls, tokens, time and money of a debate or an evaluation."""

    calls: Span
    early: Span | None = None
    """The calls if the first answers agree, for a protocol that then holds no debate."""
    late: Span | None = None
    """The calls if the first answers do not agree, for the same protocol."""
    in_a_row: Span
    """The longest chain of calls in which each call needs the one before."""
    tokens: Span
    """Tokens of prompts and replies, at four characters a token."""
    seconds: Span
    seconds_per_call: float
    time_unknown: bool = False
    """True for a local server that has not answered in any run yet; the seconds are then those of a
    usual endpoint."""
    measured_in: str | None
    """The run that ``seconds_per_call`` comes from; None: a usual length is assumed."""
    cost: Span | None
    """The cost, in the unit of the prices; None if a price is unknown. List prices are in US dollars."""
    list_prices: str | None = None
    """The date of the list prices in ``cost``, or the version of their list; None: it has none."""
    own_prices: bool = False
    """True if ``cost`` has prices that the user gave."""
    rehearsals: int

    @property
    def expected(self) -> tuple[int, int]:
        """Return the least and the most calls."""
        return round(self.calls.least), round(self.calls.most)

    def __str__(self) -> str:
        """Return the estimate in one line."""
        if not self.calls.most:
            return "0 calls: nothing is asked again"
        pace = f"if a call takes {_two_digits(self.seconds_per_call)} s"
        if self.measured_in is not None:
            pace = f"at {_two_digits(self.seconds_per_call)} s a call, as in {self.measured_in}"
        calls = _exactly(self.calls, "call")
        if self.early is not None and self.late is not None:
            calls = f"{_exactly(self.early, 'call')} if they agree, {_exactly(self.late)} if not"
        parts = [
            f"{calls}, {_exactly(self.in_a_row)} in a row",
            f"{_roughly(self.tokens, _format_rounded)} tokens",
            "how long is not known before the first reply"
            if self.time_unknown
            else f"{_roughly(self.seconds, duration)} {pace}",
        ]
        if self.cost is not None:
            parts.append(self._describe_cost(self.cost))
        return "; ".join(parts)

    def _describe_cost(self, cost: Span) -> str:
        """Return ``about $0.04 by list prices of 2026-11-10``; the user's prices have no currency."""
        if self.list_prices is not None:
            own = " and your own" if self.own_prices else ""
            return f"{_dollars(cost)} by list prices of {self.list_prices}{own}"
        if not cost.most and not self.own_prices:
            return "no cost: it runs on this machine"
        return f"cost {_roughly(cost, _money)}"


def _exactly(span: Span, unit: str = "") -> str:
    minimum, maximum = round(span.least), round(span.most)
    if minimum == maximum:
        return count(maximum, unit) if unit else f"{maximum:,}"
    middle = f" (median {round(span.median):,})" if unit and _wide(span) else ""
    return f"{minimum:,} to {maximum:,}{f' {unit}s' if unit else ''}{middle}"


def _roughly(span: Span, show: Callable[[float], str]) -> str:
    if _wide(span):
        return f"{show(span.least)} to {show(span.most)}"
    return f"about {show((span.least + span.most) / 2)}"


def _wide(span: Span) -> bool:
    return span.most > 1.5 * span.least


def _format_rounded(number: float) -> str:
    """Return a number with two significant digits."""
    return f"{int(float(f'{number:.2g}')):,}"


def _two_digits(number: float) -> str:
    """Return a number with two significant digits, without an exponent."""
    return f"{float(f'{number:.2g}'):,g}"


_money = _two_digits


def _dollars(span: Span) -> str:
    """Return a span of dollars; a sum below a cent has no digits of its own."""
    if span.most < _CENT:
        return "less than $0.01"
    if span.least < _CENT:
        return f"up to ${_two_digits(span.most)}"
    return _roughly(span, lambda dollars: f"${_two_digits(dollars)}")


_CENT = 0.01
