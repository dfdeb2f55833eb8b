"""How much may go out at once, and how much may be spent."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from dialectree import clock
from dialectree.context import Context
from dialectree.errors import BudgetReached, SettingsError
from dialectree.records import Call


class Limiter:
    """Slots for requests under way, first come first served, and a pace for their starts.

    One for the whole process: ``max_concurrency`` of a graph counts per graph instance, and a tree
    is many instances.
    """

    def __init__(self) -> None:
        self._running = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._next_start = 0.0

    @asynccontextmanager
    async def slot(self, at_once: int, per_minute: float | None) -> AsyncIterator[None]:
        """Hold one of ``at_once`` slots, taken no faster than ``per_minute``."""
        if self._running >= at_once or self._waiting:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((at_once, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()
                raise
        else:
            self._running += 1
        try:
            await self._pace(per_minute)
            yield
        finally:
            self._leave()

    async def _pace(self, per_minute: float | None) -> None:
        if per_minute is None:
            return
        start = max(clock.seconds(), self._next_start)
        self._next_start = start + 60 / per_minute
        if (wait := start - clock.seconds()) > 0:
            await clock.sleep(wait)

    def _leave(self) -> None:
        self._running -= 1
        while self._waiting and self._running < self._waiting[0][0]:
            _, turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)


_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, Limiter] = WeakKeyDictionary()


def limiter() -> Limiter:
    """The limiter of this process (of its event loop, of which there is one)."""
    return _limiters.setdefault(asyncio.get_running_loop(), Limiter())


@dataclass
class Budget:
    """What one run may spend from now on. What it paid before it was resumed is not counted."""

    context: Context
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    started: float = field(default_factory=clock.seconds)

    def check(self) -> None:
        """BudgetReached when one of the budgets is used up; asked before each call."""
        c, seconds = self.context, clock.seconds() - self.started
        for name, spent, limit in (
            ("max_calls", self.calls, c.max_calls),
            ("max_tokens", self.tokens, c.max_tokens),
            ("max_cost", self.cost, c.max_cost),
            ("max_seconds", seconds, c.max_seconds),
        ):
            if limit is not None and spent >= limit:
                flag = f"--{name.replace('_', '-')} {limit:g}"
                raise BudgetReached(f"the budget {flag} is used up")

    def start(self) -> None:
        """One call more is on its way."""
        self.calls += 1

    def add(self, call: Call) -> None:
        """What a call turned out to have used."""
        self.tokens += call.prompt_tokens + call.completion_tokens
        self.cost += call.cost or 0.0

    def seconds_left(self) -> float | None:
        """Seconds to the end of the run's time budget; None without one."""
        limit = self.context.max_seconds
        return None if limit is None else max(0.0, self.started + limit - clock.seconds())


def price(context: Context, spec: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """What a call costs at the user's prices (for a million tokens); None where none is given."""
    if (prices := context.prices.get(spec)) is None:
        return None
    return round((prompt_tokens * prices[0] + completion_tokens * prices[1]) / 1e6, 9)


def require_prices(context: Context, specs: Iterable[str]) -> None:
    """A budget of money needs a price for every model that it is to hold."""
    missing = sorted(set(specs) - set(context.prices))
    if context.max_cost is not None and missing:
        raise SettingsError(
            f"--max-cost needs prices: give --price {missing[0]}=PROMPT,COMPLETION "
            "(for a million tokens)"
        )
