"""Limit the requests under way, and the spending of a run."""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dialectree.errors import BudgetReached, DialectreeError, SettingsError
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call
from dialectree.system import clock

_MOST = 1000


class Pacer:
    """The pace at which a process starts calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_start = 0.0

    def is_due(self, per_minute: float | None) -> bool:
        """Return whether a call may start now."""
        return per_minute is None or self._next_start <= clock.seconds()

    async def wait(self, per_minute: float | None) -> None:
        """Wait for the next start that ``per_minute`` allows."""
        if per_minute is None:
            return
        with self._lock:
            start = max(clock.seconds(), self._next_start)
            self._next_start = start + 60 / per_minute
        if (wait := start - clock.seconds()) > 0:
            await clock.sleep(wait)


class Limiter:
    """Limit the requests under way at one address, first come first served.

    It learns how many requests the address takes at once: the window. The window doubles after a full
    window of quick replies. A quick reply takes at most twice the fastest time, in all or for a token.
    The window halves when the address asks to wait, or when a call is late while others are answered.
    After the first halving, the window grows by one instead of doubling.

    It works across threads and event loops. LangGraph's ``max_concurrency`` applies to each
    instance of a graph, and a tree has many instances.
    """

    def __init__(self, pacer: Pacer | None = None) -> None:
        self.pacer = pacer or Pacer()
        self._lock = threading.Lock()
        self._running = 0
        self._waiting: deque[tuple[int, Future[None]]] = deque()
        """For each waiting call, its limit of concurrent requests, and the future that ends its wait."""
        self._window = 0.0
        self._good = 0
        """Quick replies since the window changed."""
        self._halved_at = -math.inf
        self._fastest = self._fastest_token = math.inf

    @property
    def window(self) -> int:
        """Return the number of requests that the address takes at once, as far as known."""
        return max(1, int(self._window))

    @asynccontextmanager
    async def slot(
        self, at_once: int, per_minute: float | None, first: int | None = None
    ) -> AsyncIterator[None]:
        """Hold one of at most ``at_once`` slots, taken no faster than ``per_minute``.

        ``first``: slots at the start; None: all slots, until the address proves too slow for them.
        """
        turn = Future[None]()
        with self._lock:
            if self._halved_at == -math.inf:
                self._window = max(self._window, at_once if first is None else first)
            self._waiting.append((at_once, turn))
            self._call_up()
        try:
            if not turn.done():
                await asyncio.wrap_future(turn)
            await self.pacer.wait(per_minute)
            yield
        finally:
            with self._lock:
                if not turn.cancel():
                    self._running -= 1
                self._call_up()

    async def queue_again(self, at_once: int) -> None:
        """Give the slot back, and wait for the next free slot ahead of all other calls."""
        turn = Future[None]()
        with self._lock:
            self._running -= 1
            self._waiting.appendleft((at_once, turn))
            self._call_up()
        try:
            if not turn.done():
                await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            with self._lock:
                if turn.cancel():
                    self._running += 1  # the end of the slot subtracts it
            raise

    def is_free(self, at_once: int, per_minute: float | None) -> bool:
        """Return whether a new call could start at once."""
        with self._lock:
            free = self._running < min(at_once, self.window if self._window else at_once)
            return free and not self._waiting and self.pacer.is_due(per_minute)

    def record_reply(self, took_s: float, tokens: int) -> None:
        """Learn from a reply of ``tokens`` that took ``took_s`` seconds."""
        a_token_s = took_s / max(1, tokens)
        with self._lock:
            self._fastest = min(self._fastest, took_s)
            self._fastest_token = min(self._fastest_token, a_token_s)
            quick = took_s <= 2 * self._fastest or a_token_s <= 2 * self._fastest_token
            self._good = self._good + 1 if quick else 0
            if self._good >= self.window and self._running >= self.window:
                self._good = 0
                more = self._window if self._halved_at == -math.inf else 1
                self._window = min(_MOST, self._window + more)
                self._call_up()

    def record_congestion(self, send_time: float) -> None:
        """Learn that a call sent at ``send_time`` was too late, or was asked to wait.

        Ignore calls that were sent before the window was last halved.
        """
        with self._lock:
            if send_time > self._halved_at:
                self._window = max(1.0, self._window / 2)
                self._good, self._halved_at = 0, clock.seconds()

    def _call_up(self) -> None:
        """Give free slots to the calls at the head of the queue."""
        while self._waiting:
            at_once, turn = self._waiting[0]
            if self._running >= min(at_once, self.window) and not turn.cancelled():
                return
            self._waiting.popleft()
            if turn.set_running_or_notify_cancel():
                self._running += 1
                turn.set_result(None)


_limiters: dict[tuple[str, int], Limiter] = {}
_pacers: dict[tuple[bool, int], Pacer] = {}


def limiter(address: str, *, local: bool = False) -> Limiter:
    """Return the limiter of an address in this process; all remote addresses share one pace."""
    name, process = "local" if local else address, os.getpid()
    if (stored_limiter := _limiters.get((name, process))) is not None:
        return stored_limiter
    pacer = _pacers.setdefault((local, process), Pacer())
    return _limiters.setdefault((name, process), Limiter(pacer))


@dataclass
class Budget:
    """Count the spending of a run, or of runs that share the budget; a resumed run starts from zero."""

    context: ProtocolSettings
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    uncounted: int = 0
    """Calls whose tokens the endpoint did not report."""
    started: float = field(default_factory=clock.seconds)
    closed: DialectreeError | None = None
    """The error that stops all runs that share the budget."""

    async def begin(self) -> None:
        """Count a call that is about to be made; raise BudgetReached if a budget is used up."""
        self.check()
        self.calls += 1

    def check(self) -> None:
        """Raise BudgetReached if one of the budgets is used up."""
        if self.closed is not None:
            raise self.closed
        c, seconds = self.context, clock.seconds() - self.started
        for name, spent, limit in (
            ("max_calls", self.calls, c.max_calls),
            ("max_tokens", self.tokens, c.max_tokens),
            ("max_cost", self.cost, c.max_cost),
            ("max_seconds", seconds, c.max_seconds),
        ):
            if limit is not None and spent >= limit:
                raise _make_budget_error(name, limit)

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """Cancel the block and raise BudgetReached when the seconds are used up."""
        limit = self.context.max_seconds
        left_s = None if limit is None else self.started + limit - clock.seconds()
        timer = asyncio.timeout(left_s)
        try:
            async with timer:
                yield
        except TimeoutError:
            if limit is None or not timer.expired():
                raise
            raise _make_budget_error("max_seconds", limit) from None

    async def sleep(self, duration_s: float) -> None:
        """Sleep no longer than the budget of seconds lasts; raise BudgetReached at its end."""
        limit = self.context.max_seconds or math.inf
        left_s = max(0.0, self.started + limit - clock.seconds())
        await clock.sleep(min(duration_s, left_s))
        if duration_s >= left_s:
            raise _make_budget_error("max_seconds", limit)

    def overrun(self) -> list[str]:
        """Return notices on budgets that were exceeded, or that could not be checked."""
        c = self.context
        used = (("tokens", self.tokens, c.max_tokens), ("cost", self.cost, c.max_cost))
        notices = [
            f"the budget `max_{name}` {limit:g} was exceeded by calls under way: {spent:g}"
            for name, spent, limit in used
            if limit is not None and spent > limit
        ]
        notices += [
            f"the budget `max_{name}` {limit:g} was not checked: the endpoint reports no "
            f"tokens for {self.uncounted} calls"
            for name, _, limit in used
            if limit is not None and self.uncounted
        ]
        return notices

    def add(self, call: Call) -> None:
        """Count the tokens and the cost of a call that ended."""
        tokens = call.prompt_tokens + call.completion_tokens
        self.tokens += tokens
        self.uncounted += call.error is None and not tokens
        self.cost += call.cost or 0.0


def _make_budget_error(name: str, limit: float) -> BudgetReached:
    return BudgetReached(f"the budget `{name}` {limit:g} is used up")


def price(
    context: ProtocolSettings, spec: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0
) -> float | None:
    """Return the cost of a call at the user's prices (for a million tokens).

    ``cached_tokens`` of the prompt may have a separate price. Return None without a price, or if
    the endpoint does not report tokens.
    """
    if (prices := context.prices.get(spec)) is None or not prompt_tokens + completion_tokens:
        return None
    prompt, completion, cached = (*prices, prices[0])[:3]
    read = min(cached_tokens, prompt_tokens)
    cost = (prompt_tokens - read) * prompt + read * cached + completion_tokens * completion
    return round(cost / 1e6, 9)


def require_prices(context: ProtocolSettings, specs: Iterable[str]) -> None:
    """Raise SettingsError if ``max_cost`` is set and the price of a model is missing."""
    missing = sorted(set(specs) - set(context.prices))
    if context.max_cost is not None and missing:
        raise SettingsError(
            f"`max_cost` needs prices: give `prices` {missing[0]}=PROMPT,COMPLETION (for a million tokens)"
        )
