"""Slots, pace and budgets."""

from __future__ import annotations

import asyncio
import random
import threading
from itertools import pairwise
from typing import Any

import pytest

from dialectree.errors import BudgetReached, SettingsError
from dialectree.models.limits import Budget, Limiter, limiter, require_prices
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Call
from dialectree.system import clock
from tests.models.asking import QuickClock
from tests.waiting import PATIENCE_S


class Load:
    """Counts who is in."""

    def __init__(self) -> None:
        self.now = self.peak = self.done = 0
        self._lock = threading.Lock()

    async def work(self, slots: Limiter, at_once: int, duration_s: float = 0.0) -> None:
        async with slots.slot(at_once, None):
            with self._lock:
                self.now += 1
                self.peak = max(self.peak, self.now)
            try:
                await asyncio.sleep(duration_s)
                self.done += 1
            finally:
                with self._lock:
                    self.now -= 1


@pytest.mark.parametrize("seed", range(3))
def test_whoever_gives_up_waiting_or_working_leaks_no_slot(seed: int) -> None:
    chance = random.Random(seed)
    at_once = chance.randint(1, 4)

    async def crowd() -> None:
        slots, load = Limiter(), Load()
        tasks = []
        for _ in range(80):
            wanted = at_once if seed % 2 else chance.randint(1, at_once)
            tasks.append(asyncio.create_task(load.work(slots, wanted, chance.random() / 500)))
            if chance.random() < 0.5:
                await asyncio.sleep(chance.choice([0, 0, 0.0005]))
            if chance.random() < 0.6:
                chance.choice(tasks).cancel()
        await asyncio.wait(tasks)
        assert load.peak <= at_once
        assert load.now == 0
        again = Load()
        await asyncio.gather(*(again.work(slots, at_once, 0.0005) for _ in range(3 * at_once)))
        assert (again.peak, again.done) == (at_once, 3 * at_once)

    asyncio.run(asyncio.wait_for(crowd(), 20))


def test_threads_with_event_loops_of_their_own_share_the_slots() -> None:
    slots, load = Limiter(), Load()

    async def crowd() -> None:
        await asyncio.gather(*(load.work(slots, 3, 0.001) for _ in range(25)))

    threads = [threading.Thread(target=lambda: asyncio.run(crowd())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert (load.peak, load.done, load.now) == (3, 100, 0)


def test_each_address_has_a_limiter_and_all_remote_ones_keep_one_pace() -> None:
    one, other, here = limiter("http://a"), limiter("http://b"), limiter("", local=True)
    assert limiter("http://a") is one is not other
    assert one.pacer is other.pacer is not here.pacer
    assert limiter("file", local=True) is here


class Server:
    """Works on ``slots`` requests at a time; each takes ``took_s`` of a clock of its own."""

    def __init__(self, slots: int, took_s: float) -> None:
        self._free, self._took_s = asyncio.Semaphore(slots), took_s
        self.running = self.peak = 0

    async def answer(self, limits: Limiter, first: int | None, at_once: int = 32) -> None:
        async with limits.slot(at_once, None, first):
            began = asyncio.get_running_loop().time()
            self.running += 1
            self.peak = max(self.peak, self.running)
            async with self._free:
                await asyncio.sleep(self._took_s)
            self.running -= 1
            limits.record_reply(asyncio.get_running_loop().time() - began, 10)


@pytest.mark.parametrize(
    ("slots", "first", "least", "most"), [(64, 8, 32, 32), (1, 8, 8, 8), (64, None, 32, 32), (12, 8, 8, 16)]
)
def test_a_window_grows_while_an_address_follows(
    slots: int, first: int | None, least: int, most: int
) -> None:
    limits, server = Limiter(), Server(slots, 0.02)

    async def crowd() -> None:
        calls = 150 if slots > 1 else 20
        await asyncio.gather(*(server.answer(limits, first) for _ in range(calls)))

    asyncio.run(crowd())
    assert least <= server.peak <= most


@pytest.mark.parametrize(
    ("took_s", "tokens", "window"), [(2.0, 1, 4), (2.1, 5, 2), (60.0, 300, 4), (60.0, 200, 2), (0.5, 1, 4)]
)
def test_a_reply_is_quick_by_its_time_or_by_its_time_for_a_token(
    took_s: float, tokens: int, window: int
) -> None:
    async def measure() -> int:
        limits = Limiter()
        async with limits.slot(32, None, 2), limits.slot(32, None, 2):
            limits.record_reply(1.0, 10)
            limits.record_reply(took_s, tokens)
            return limits.window

    assert asyncio.run(measure()) == window


def test_a_window_is_halved_once_for_all_calls_that_were_sent_before(quick: QuickClock) -> None:
    async def windows() -> list[int]:
        limits, found = Limiter(), list[int]()
        async with limits.slot(32, None, 8):
            sent = clock.seconds()
            for _ in range(5):
                limits.record_congestion(sent)
            found.append(limits.window)
            await clock.sleep(1)
            limits.record_congestion(clock.seconds())
            found.append(limits.window)
            for _ in range(9):
                await clock.sleep(1)
                limits.record_congestion(clock.seconds())
            found.append(limits.window)
            limits.record_reply(1.0, 10)
            found.append(limits.window)
        async with limits.slot(32, None, 8):
            found.append(limits.window)
        return found

    assert asyncio.run(windows()) == [4, 2, 1, 2, 2]


def test_who_queues_again_goes_first_and_leaks_no_slot() -> None:
    async def order() -> list[str]:
        limits, came = Limiter(), list[str]()

        async def late() -> None:
            async with limits.slot(1, None):
                came.append("late")
                await asyncio.sleep(0)
                await limits.queue_again(1)
                came.append("late again")

        async def next_one() -> None:
            async with limits.slot(1, None):
                came.append("next")

        await asyncio.gather(late(), next_one())
        gone = asyncio.create_task(late())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, next_one(), return_exceptions=True)
        assert limits.is_free(1, None)
        return came

    assert asyncio.run(order()) == ["late", "late again", "next", "late", "next"]


def test_starts_keep_to_the_pace(quick: QuickClock) -> None:
    async def starts() -> list[float]:
        slots, moments = Limiter(), list[float]()
        for _ in range(5):
            async with slots.slot(9, 6):
                moments.append(clock.seconds())
        return moments

    moments = asyncio.run(starts())
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert pauses == pytest.approx([10.0] * 4, abs=0.1)


# Budgets


def call(**fields: Any) -> Call:
    line = dict(key="k", node="0", role="judge", phase="debate", step=0, prompt="p@1", model="m")
    return Call(**{**line, "seed": 1, "started": "", "ended": "", **fields})


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        ({"max_calls": 2}, {}),
        ({"max_tokens": 100}, {"prompt_tokens": 20, "completion_tokens": 30}),
        ({"max_cost": 0.5, "prices": {"m": (1, 1)}}, {"cost": 0.25}),
    ],
)
def test_a_budget_is_used_up_by_what_was_paid(budget: Any, spent: dict[str, Any]) -> None:
    (name,) = (name for name in budget if name.startswith("max"))
    held = Budget(build_settings(ProtocolSettings, **budget))
    for _ in range(2):
        asyncio.run(held.begin())
        held.add(call(**spent))
    with pytest.raises(BudgetReached, match=f"`{name}` {budget[name]}"):
        held.check()


def test_a_budget_that_did_not_hold_is_said_with_the_reason() -> None:
    limits = build_settings(ProtocolSettings, max_tokens=100, max_cost=0.5, prices={"m": (1, 1)})
    passed, unknown = Budget(limits), Budget(limits)
    passed.add(call(prompt_tokens=60, completion_tokens=40, cost=0.5))
    unknown.add(call(error="it timed out"))
    assert passed.overrun() == unknown.overrun() == []
    passed.add(call(prompt_tokens=20, cost=0.25))
    unknown.add(call())
    reason = "the endpoint reports no tokens for 1 calls"
    assert passed.overrun() == [
        "the budget `max_tokens` 100 was exceeded by calls under way: 120",
        "the budget `max_cost` 0.5 was exceeded by calls under way: 0.75",
    ]
    assert unknown.overrun() == [
        f"the budget `max_tokens` 100 was not checked: {reason}",
        f"the budget `max_cost` 0.5 was not checked: {reason}",
    ]


def test_a_budget_of_money_needs_a_price_for_every_model() -> None:
    context = build_settings(ProtocolSettings, max_cost=1, prices={"openai:a": (1, 1)})
    require_prices(context, ["openai:a"])
    require_prices(build_settings(ProtocolSettings), ["openai:a"])
    with pytest.raises(SettingsError, match="`prices` openai:b=PROMPT,COMPLETION"):
        require_prices(context, ["openai:a", "openai:b"])
