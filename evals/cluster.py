"""Workers that are actors of a Ray cluster, on this machine or on many.

The folder of the evaluation must be the same for all machines.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dialectree.context import Context, cache_folder, endpoint_from_environment
from dialectree.errors import DialectreeError, InputError
from dialectree.evals import workers
from dialectree.evals.running import Work
from dialectree.evals.workers import Answer, Fault, FromPurse, Given, Lost, Purse, Team


class Worker:
    """Asks questions in a process of its own; an actor."""

    def __init__(self, given: Given, environment: Mapping[str, str], purse: Any) -> None:
        os.environ.update(environment)
        self._rows = given.rows
        self._asker = given.asker(
            FromPurse(given.rows[0].context, ask=purse.begin.remote, tell=purse.add.remote)
        )

    async def ask(self, row: int, item: str) -> Answer:
        """The result of one question, or why there is none."""
        return await workers.asked(self._asker, self._rows[row], item)


class _Actor:
    """A worker as this process sees it."""

    def __init__(self, actor: Any, lost: type[Exception]) -> None:
        self.actor, self._lost = actor, lost

    async def ask(self, row: int, item: str) -> Answer:
        try:
            return Answer(*await self.actor.ask.remote(row, item))
        except self._lost as error:
            raise Lost from error


def require_ray() -> None:
    """InputError where Ray is not installed."""
    if find_spec("ray") is None:
        raise InputError("--engine ray: Ray is not installed: pip install 'dialectree[ray]'")


@asynccontextmanager
async def cluster(
    given: Given, spends: Context, count: int | None, at_once: int
) -> AsyncIterator[tuple[Work, Callable[[DialectreeError], object]]]:
    """A cluster that asks: the one at RAY_ADDRESS, or one on this machine for as long as it takes.

    ``spends`` has the budgets, ``at_once`` is how many questions are under way together. Slots and
    pace are shared out among ``count`` workers; none: as many as there are CPUs, but no more than
    slots. Gives whom to ask, and who is told that no call may start any more.
    """
    require_ray()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anybody
    ray: Any = import_module("ray")
    begun = not ray.is_initialized()
    if begun:
        await asyncio.to_thread(_join, ray)
    slots = max(row.slots for row in given.rows)
    cpus = int(ray.cluster_resources().get("CPU", 1))
    count = max(1, min(count or cpus, slots))
    share = min(1.0, cpus / count)
    told, environment = given.shared(count), _environment()
    purse: Any = ray.remote(Purse).options(num_cpus=0).remote(spends)

    def hire() -> _Actor:
        each = max(2, -(-at_once // count))
        worker = ray.remote(Worker).options(max_concurrency=each + 1, num_cpus=share)
        return _Actor(worker.remote(told, environment, purse), ray.exceptions.RayActorError)

    def close(error: DialectreeError) -> None:
        purse.close.remote(Fault.of(error))

    team = Team(given.rows, count, hire)
    try:
        yield team.ask, close
    finally:
        for worker in team.workers:
            ray.kill(worker.actor)
        ray.kill(purse)
        if begun:
            await asyncio.to_thread(ray.shutdown)


def _join(ray: Any) -> None:
    ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)


def _environment() -> dict[str, str]:
    """What workers need to know of this process's environment, which no record keeps."""
    key, url = endpoint_from_environment()
    known = {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": url,
        "DIALECTREE_CACHE_DIR": str(cache_folder().absolute()),
    }
    return {name: value for name, value in known.items() if value is not None}
