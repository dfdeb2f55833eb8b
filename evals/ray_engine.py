"""Ask questions in a Ray cluster, on this machine or on many.

All machines must see the same folder of the evaluation. A lost worker is started again, and its
questions go on from their journals.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dialectree.errors import DialectreeError, Halted, InputError
from dialectree.evals.dataset_items import Item
from dialectree.evals.plan import Plan
from dialectree.evals.question_runs import Asker, Engine, QuestionResult
from dialectree.evals.rows import Ready
from dialectree.evals.standing import Spending
from dialectree.models.limits import Budget
from dialectree.models.specs import resolve
from dialectree.protocols.settings import ProtocolSettings, RetrievalSettings
from dialectree.protocols.sources import (
    CACHE_DIR,
    CACHE_URL,
    cache_folder,
    cache_url,
    endpoint_from_environment,
)
from dialectree.records import Call

RESTARTS = 5
"""The most times that a lost worker is started again."""


@dataclass
class SharedBudget(Budget):
    """A worker's access to the budget of all workers: the worker asks its actor before each call."""

    actor: Any = None

    async def begin(self) -> None:
        """Ask for permission to make a call."""
        await _answer(self.actor.begin.remote())

    def add(self, call: Call) -> None:
        """Report the usage of a call, without waiting."""
        super().add(call)
        self.actor.add.remote(call)


class Worker:
    """An actor that asks questions in its own process."""

    def __init__(self, asker: Asker, context: ProtocolSettings, environment: Mapping[str, str], budget: Any):
        os.environ.update(environment)
        self._asker = replace(asker, budget=SharedBudget(context, actor=budget))

    async def ask(self, row: Ready, item: Item) -> QuestionResult:
        """Return the answer to one question."""
        return await self._asker.ask(row, item)


@dataclass
class RayEngine:
    """An engine that hands each question to a worker."""

    workers: Mapping[str, Any]
    """The worker of each item: all rows of an item have the same one, whose cache has their shared calls."""
    count: int
    budget: Any
    spending: Spending

    async def ask(self, row: Ready, item: Item) -> QuestionResult:
        """Ask the item's worker."""
        row = replace(row, context=_part_of(row.context, self.count))
        try:
            answer: QuestionResult = await _answer(self.workers[item.id].ask.remote(row, item))
        finally:
            self.spending.debates, self.spending.judge = await self.budget.spent.remote()
        return answer

    def close(self, error: DialectreeError) -> None:
        """Stop further calls."""
        self.budget.close.remote(error)


def require_named_addresses(contexts: Iterable[ProtocolSettings]) -> None:
    """Raise SettingsError for an address that no person named: workers would send the key to it."""
    for context in contexts:
        for speaker in context.models():
            resolve(speaker, context)
        if isinstance(context, RetrievalSettings):
            context.require_embeddings()


@asynccontextmanager
async def ray_engine(asker: Asker, plan: Plan, spending: Spending) -> AsyncIterator[Engine]:
    """Yield an engine in the cluster at RAY_ADDRESS, or in a temporary cluster on this machine.

    There are as many workers as CPUs, but no more than slots for requests. The workers divide the
    slots and the pace.
    """
    if find_spec("ray") is None:
        raise InputError("--engine ray: Ray is not installed: pip install 'dialectree[ray]'")
    require_named_addresses([*(row.context for row in plan.rows), *filter(None, [plan.judge])])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage report leaves the machine
    ray: Any = import_module("ray")
    owns_cluster = not ray.is_initialized()
    if owns_cluster:
        quiet = {"include_dashboard": False, "log_to_driver": False}
        await asyncio.to_thread(ray.init, logging_level=logging.ERROR, **quiet)
    count = max(1, min(int(ray.cluster_resources()["CPU"]), *(row.slots for row in plan.rows)))
    budget = ray.remote(Spending).options(num_cpus=0).remote(spending.context)
    asker = replace(
        asker,
        runs=asker.runs.absolute(),
        judge=asker.judge and _part_of(asker.judge, count),
        budget=Budget(spending.context),
    )
    worker = ray.remote(Worker).options(
        num_cpus=1,  # so that they spread over the machines
        max_concurrency=plan.at_once + 1,
        max_restarts=RESTARTS,
        max_task_retries=RESTARTS,
    )
    workers = [worker.remote(asker, spending.context, _environment(), budget) for _ in range(count)]
    of_items = {item.id: workers[place % count] for place, item in enumerate(plan.items)}
    try:
        yield RayEngine(of_items, count, budget, spending)
    finally:
        for actor in [*workers, budget]:
            ray.kill(actor)
        if owns_cluster:
            await asyncio.to_thread(ray.shutdown)


async def _answer(reply: Any) -> Any:
    """Return an actor's reply; raise its original error."""
    errors: Any = import_module("ray").exceptions
    try:
        return await reply
    except errors.RayTaskError as error:
        raise error.cause from None
    except errors.RayActorError as error:
        raise Halted(f"a worker was lost {RESTARTS + 1} times: {error}") from None


def _part_of(context: ProtocolSettings, count: int) -> ProtocolSettings:
    """Return the settings of one of ``count`` workers, with its part of the slots and of the pace."""
    pace = context.requests_per_minute
    slots = max(1, context.concurrency // count)
    return context.model_copy(update={"concurrency": slots, "requests_per_minute": pace and pace / count})


def _environment() -> dict[str, str]:
    """Return the environment variables that workers need."""
    key, url = endpoint_from_environment()
    variables = {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": url,
        CACHE_DIR: str(cache_folder().absolute()),
        CACHE_URL: cache_url(),
    }
    return {name: value for name, value in variables.items() if value is not None}
