"""Threads that outlive a fork: a forked process begins with ones of its own.

``multiprocessing`` forks by default on Linux. A pool that was copied into the new process counts
threads that stayed behind in the old one, so that whatever is handed to it waits for ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(Executor):
    """At most ``at_once`` threads of this process, called ``name`` in its lists of threads."""

    def __init__(self, at_once: int, name: str) -> None:
        self._at_once, self._name = at_once, name
        self._pools: dict[int, ThreadPoolExecutor] = {}
        """By process. One of a process that forked stays here: ending it would wait for ever."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """What ``work`` will return, done by a thread of this process."""
        process = os.getpid()
        if (pool := self._pools.get(process)) is None:
            made = ThreadPoolExecutor(self._at_once, thread_name_prefix=self._name)
            pool = self._pools.setdefault(process, made)
        try:
            return pool.submit(work, *args, **kwargs)
        except KeyboardInterrupt:
            # A thread that was about to begin is one its pool does not know of: the program would
            # wait for it at its end, and nobody would tell it to stop.
            self._pools.pop(process, None)
            pool.shutdown(wait=False)
            raise
