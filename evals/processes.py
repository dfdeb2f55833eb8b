"""Workers that are processes of this machine: one Python process serves 200 to 300 calls a second.

Each runs :mod:`dialectree.evals.worker` and is talked to in lines of JSON. A worker whose driver is
gone, killed even, ends at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from dialectree.conduct import GRACE_S
from dialectree.context import Context
from dialectree.errors import DialectreeError, InputError
from dialectree.evals.rows import BUDGETS
from dialectree.evals.running import Plan, Work
from dialectree.evals.worker import FLUSH_S, LINE_LIMIT, From, To, written
from dialectree.evals.workers import Answer, Fault, Given, Lost, Purse, Team

SLOTS = 32
"""Slots that one process serves without being what everybody waits for."""
QUESTIONS = 50
"""Questions for which it is worth starting a process."""


def useful(plan: Plan, wanted: int | None = None) -> int:
    """How many processes an evaluation is spread over; 1: this one alone.

    As many as are ``wanted``, if anybody says. Models of this machine are shared by all questions,
    and so are the papers of a comparison. InputError where there can be no others.
    """
    named = [address for row in plan.rows for address in row.row.models.values()]
    named += [plan.judge_spec] if plan.judge_spec else []
    if any(address.startswith("local:") for address in named):
        return 1
    if sys.platform == "win32" and (wanted or 1) > 1:
        raise InputError(f"--workers {wanted}: on Windows only with --engine ray")
    if wanted is not None or plan.task == "compare" or sys.platform == "win32":
        return wanted or 1
    slots = max(row.slots for row in plan.rows)
    questions = len(plan.items) * len(plan.rows)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cpus, slots // SLOTS, questions // QUESTIONS))


class _Process:
    """A worker as this process sees it."""

    def __init__(self, given: Mapping[str, Any], purse: Purse) -> None:
        self._given, self._purse = given, purse
        self._numbers = count()
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._process: Process | None = None
        self._life: asyncio.Task[None] | None = None
        """From the first question on."""
        self._begun = asyncio.Event()
        self._why = ""

    async def ask(self, row: int, item: str) -> Answer:
        if self._life is None:
            self._life = asyncio.create_task(self._live())
        await self._begun.wait()
        if self._life.done():
            raise Lost(self._why)
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            self.say("ask", [number, row, item])
            return Answer(*await answer)
        finally:
            self._asked.pop(number, None)

    def say(self, word: To, told: object) -> None:
        """One line more for it; one that is gone hears nothing."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError, RuntimeError):
                self._process.stdin.write(json.dumps([word, told]).encode() + b"\n")

    async def end(self) -> None:
        """Wait until it has ended what it has to, traces that are on their way included."""
        if self._life is None:
            return
        await self._begun.wait()
        self.say("end", None)
        await asyncio.wait([self._life], timeout=GRACE_S + FLUSH_S + 2)
        if self._process is not None:
            await _buried(self._process)
        self._life.cancel()
        await asyncio.gather(self._life, return_exceptions=True)

    async def _live(self) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", "dialectree.evals.worker"),  # not what lies in the working folder
                stdin=PIPE,
                stdout=PIPE,
                limit=LINE_LIMIT,
                start_new_session=True,  # Ctrl-C is for this process alone
            )
            self.say("given", self._given)
            if self._purse.closed is not None:
                self.say("close", self._purse.closed)
            self._begun.set()
            assert self._process.stdout is not None
            while (line := await self._process.stdout.readline()).endswith(b"\n"):
                self._hear(*json.loads(line))
        except OSError as error:
            self._why = f"no process can be begun: {error.strerror or error}"
        finally:
            self._begun.set()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(Lost(self._why))

    def _hear(self, word: From, told: Any) -> None:
        if word == "answer":
            number, *answer = told
            if number in self._asked and not self._asked[number].done():
                self._asked[number].set_result(Answer(*answer))
        elif word == "may_i":
            self.say("granted", [told, self._purse.begin()])
        elif word == "spent":
            self._purse.add(*told)


async def _buried(process: Process) -> None:
    """Ended, and nothing of it left open: an event loop that is closed over a pipe raises."""
    with suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
        with suppress(OSError):
            await process.stdin.wait_closed()
    await process.wait()


@asynccontextmanager
async def processes(
    given: Given, spends: Context, number: int
) -> AsyncIterator[tuple[Work, Callable[[DialectreeError], object]]]:
    """``number`` processes that ask, as :func:`dialectree.evals.cluster.cluster` does.

    ``spends`` has the budgets. Slots and pace are shared out among them.
    """
    number = max(1, min(number, *(row.slots for row in given.rows)))
    limited = any(getattr(spends, name) is not None for name in BUDGETS)
    told, purse = written(given.shared(number), limited=limited), Purse(spends)

    def close(error: DialectreeError) -> None:
        purse.close(Fault.of(error))
        for worker in team.workers:
            worker.say("close", Fault.of(error))

    team = Team(given.rows, number, lambda: _Process(told, purse))
    try:
        yield team.ask, close
    finally:
        await asyncio.gather(*(worker.end() for worker in team.workers))
