"""The program of a worker that is a process of this machine; ``dialectree.evals.processes`` has it.

It reads lines of JSON from its standard input and writes such lines to its standard output: the
words are :class:`To` and :class:`From`. It ends with its input: nobody is left to answer to.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import traceback
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

from dialectree import loop
from dialectree.context import Context, build
from dialectree.errors import Halted
from dialectree.evals import workers
from dialectree.evals.results import Row
from dialectree.evals.rows import Ready
from dialectree.evals.workers import Answer, Fault, FromPurse, Given
from dialectree.graphs import METHODS
from dialectree.models.specs import require_named

FLUSH_S = 30.0
"""Seconds that traces on their way to LangSmith are waited for."""
LINE_LIMIT = 2**28
"""Bytes of one line: a question may hold whole papers."""
To = Literal["given", "ask", "granted", "close", "end"]
"""What a worker is told: all it needs to begin; a question; that a call may start, or why not; that
none may start any more; to come to its end."""
From = Literal["answer", "may_i", "spent"]
"""What it says: the answer to a question; that it would make a call; what one has used."""


def written(given: Given, *, limited: bool) -> dict[str, Any]:
    """``given`` as JSON; ``limited``: there is a purse to be asked before each call.

    A worker takes every address for the person's own, so those that are not stop here.
    """
    for context in [*(ready.context for ready in given.rows), *filter(None, [given.judge])]:
        require_named(context)
    return {
        "limited": limited,
        "rows": [
            {
                "row": ready.row.model_dump(mode="json"),
                "context": ready.context.with_secrets(),
                "slots": ready.slots,
                "demonstration": ready.demonstration,
            }
            for ready in given.rows
        ],
        "runs": str(given.runs),
        "scorers": [*given.scorers],
        "judge": given.judge and given.judge.with_secrets(),
        "vote_first": given.vote_first,
        "controls": [*given.controls],
        "retry": given.retry,
    }


def read(told: dict[str, Any]) -> Given:
    """What :func:`written` has made of it."""
    rows = []
    for one in told["rows"]:
        row, context = Row.model_validate(one["row"]), build(**one["context"])
        method = METHODS[row.method]
        rows.append(Ready(row, method, context, one["slots"], one["demonstration"]))
    judge: Context | None = build(**told["judge"]) if told["judge"] else None
    controls = tuple((row, item) for row, item in told["controls"])
    runs, vote_first, retry = Path(told["runs"]), told["vote_first"], told["retry"]
    return Given(rows, runs, told["scorers"], judge, vote_first, controls, retry)


class Served:
    """The questions under way, and what is said about them."""

    def __init__(self, told: dict[str, Any], out: BinaryIO) -> None:
        given = read(told)
        self._rows, self._out = given.rows, out
        self._budget = FromPurse(given.rows[0].context)
        if told["limited"]:
            self._budget.ask = self._may_i
            self._budget.tell = lambda tokens, cost: self._say("spent", [tokens, cost])
        self._asker = given.asker(self._budget)
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Fault | None]] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    def hear(self, word: To, told: Any) -> None:
        """One line of the input."""
        if word == "ask":
            task = asyncio.create_task(self._ask(*told))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        elif word == "granted":
            number, fault = told
            waiting = self._waiting.pop(number)
            if not waiting.done():  # whoever would call may have been broken off meanwhile
                waiting.set_result(fault and Fault(*fault))
        elif word == "close":
            self._budget.closed = self._budget.closed or Fault(*told).error()

    async def end(self) -> None:
        """Break off what is under way; calls that were sent are waited for, as long as runs do."""
        tasks = [*self._under_way]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, number: int, row: int, item: str) -> None:
        try:
            answer = await workers.asked(self._asker, self._rows[row], item)
        except Exception as error:  # a fault of ours: who drives us ends the evaluation
            traceback.print_exc()
            answer = Answer(stopped=Fault.of(Halted(f"stopped by {error!r}")))
        self._say("answer", [number, *answer])

    async def _may_i(self) -> Fault | None:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._say("may_i", number)
        return await self._waiting[number]

    def _say(self, word: From, told: object) -> None:
        self._out.write(json.dumps([word, told]).encode() + b"\n")
        self._out.flush()


async def _serve(out: BinaryIO) -> None:
    lines = asyncio.StreamReader(limit=LINE_LIMIT)
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    served: Served | None = None
    while line := await lines.readline():
        word, told = json.loads(line)
        if word == "end":
            break
        if served is None:
            served = Served(told, out)
        else:
            served.hear(word, told)
    else:
        _leave(1)  # whoever drove us is gone, and may be back: what it left belongs to it
    if served is not None:
        await served.end()


def _flush() -> None:
    """Wait for the traces that are on their way, where anything is traced at all."""
    if (tracing := sys.modules.get("langchain_core.tracers.langchain")) is not None:
        waiting = threading.Thread(target=tracing.wait_for_all_tracers, daemon=True)
        waiting.start()
        waiting.join(FLUSH_S)


def _leave(status: int) -> NoReturn:
    sys.stderr.flush()
    os._exit(status)  # nothing is open that is not on disk, and an interpreter takes long to go


def main() -> None:
    """Serve until the input ends."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no line of ours
    loop.tune()
    loop.run(_serve(out))
    _flush()
    _leave(0)


if __name__ == "__main__":
    main()
