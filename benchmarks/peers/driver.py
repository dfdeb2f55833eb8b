"""The loop of a driver: it reads a question per line, and writes a line of JSON per verdict.

A driver runs in the environment of the program it drives, so this file imports nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable

URL, MODELS = os.environ["PEER_URL"], ("model-a", "model-b", "model-c")
"""The endpoint, and the models that debate there."""
LIMIT_S = 90.0
"""A verdict that takes longer is lost."""


def serve(verdict: Callable[[str], Awaitable[object]]) -> None:
    """Answer questions until the input ends; an empty answer is a lost verdict."""
    with contextlib.redirect_stdout(sys.stderr):  # some programs print
        asyncio.run(_serve(verdict))


async def _serve(verdict: Callable[[str], Awaitable[object]]) -> None:
    while question := await asyncio.to_thread(sys.stdin.readline):
        wall, cpu, error = time.perf_counter(), time.process_time(), ""
        try:
            answer = str(await asyncio.wait_for(verdict(question.strip()), LIMIT_S) or "")
        except Exception as failed:  # an error of the program means a lost verdict
            answer, error = "", f"{type(failed).__name__}: {failed}".splitlines()[0][:90]
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        reply = {"answer": answer, "error": error, "wall_s": wall, "cpu_s": cpu}
        print(json.dumps(reply), file=sys.__stdout__, flush=True)
