"""The order in which branches go on that are ready at the same moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dialectree.models.baton import Baton

STEPS = 10
"""Turns of the event loop from a branch's reply to its next request."""


async def branch(baton: Baton, name: str, log: list[str]) -> None:
    await baton.take(name)
    log.append(f"{name} reads")
    for _ in range(STEPS):
        await asyncio.sleep(0)
    log.append(f"{name} asks")


def logged(work: Callable[[Baton, list[str]], Awaitable[object]], baton: Baton) -> list[str]:
    log: list[str] = []

    async def within_two_seconds() -> None:
        await asyncio.wait_for(work(baton, log), 2)

    asyncio.run(within_two_seconds())
    return log


async def three_at_once(baton: Baton, log: list[str]) -> None:
    await asyncio.gather(*(branch(baton, name, log) for name in "abc"))


ONE_BY_ONE = [f"{name} {does}" for name in "abc" for does in ("reads", "asks")]


def test_branches_go_on_one_by_one_first_come_first_served() -> None:
    assert logged(three_at_once, Baton()) == ONE_BY_ONE


def test_who_speaks_at_one_node_goes_on_together() -> None:
    async def three_nodes_two_speakers(baton: Baton, log: list[str]) -> None:
        async def speaker(node: str) -> None:
            await baton.take(node)
            log.append(node)

        await asyncio.gather(*(speaker(node) for node in "abcabc"))

    assert logged(three_nodes_two_speakers, Baton()) == [*"aabbcc"]


def test_who_is_called_off_while_waiting_is_passed_over() -> None:
    async def second_called_off(baton: Baton, log: list[str]) -> None:
        first, second, third = (asyncio.create_task(branch(baton, n, log)) for n in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([first, second, third])

    assert logged(second_called_off, Baton()) == [line for line in ONE_BY_ONE if line[0] != "b"]


def test_who_is_called_off_when_its_turn_comes_does_not_keep_it() -> None:
    async def first_called_off(baton: Baton, log: list[str]) -> None:
        tasks = [asyncio.create_task(branch(baton, name, log)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.wait(tasks)

    assert logged(first_called_off, Baton()) == ["a reads", *ONE_BY_ONE[2:]]


def test_a_branch_that_never_ends_holds_nobody_up() -> None:
    async def one_waits_for_ever(baton: Baton, log: list[str]) -> None:
        async def for_ever() -> None:
            await baton.take("for ever")
            await asyncio.Event().wait()

        waiting = asyncio.create_task(for_ever())
        await asyncio.sleep(0)
        await three_at_once(baton, log)
        waiting.cancel()

    assert logged(one_waits_for_ever, Baton()) == ONE_BY_ONE


def test_an_event_loop_that_ended_with_it_does_not_keep_it() -> None:
    baton = Baton()

    async def only_takes(baton: Baton, log: list[str]) -> None:
        await baton.take("a")

    for _ in range(2):
        assert logged(only_takes, baton) == []
    assert logged(three_at_once, baton) == ONE_BY_ONE
