"""Spreads the questions of an evaluation over a Ray cluster.

A worker is a process with an event loop of its own that asks questions as one process would alone.
Results are kept by the one that drives them. All workers spend from one purse, which is asked
before each call. A worker that is lost costs nothing but the calls it had under way: its questions
go to another one, which finds their journals. The folder of the evaluation must be the same
for all machines.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from dialectree import errors
from dialectree.context import Context, cache_folder, endpoint_from_environment
from dialectree.errors import DialectreeError, Halted, InputError
from dialectree.evals.items import Item
from dialectree.evals.question import Asker, Refused
from dialectree.evals.results import Result
from dialectree.evals.rows import Ready
from dialectree.models.limits import Budget
from dialectree.records import Call

LOST = 5
"""So often a question is given to another worker after its own was lost."""


class Fault(NamedTuple):
    """An error of ours on its way from one process to another."""

    kind: str
    text: str

    @classmethod
    def of(cls, error: DialectreeError) -> Fault:
        """What is sent."""
        return cls(type(error).__name__, str(error))

    def error(self) -> DialectreeError:
        """What it was."""
        made: DialectreeError = getattr(errors, self.kind)(self.text)
        return made


class Answer(NamedTuple):
    """What a worker sends back."""

    result: str | None = None
    """As JSON."""
    refused: Fault | None = None
    stopped: Fault | None = None


class Purse:
    """What all workers may spend together; an actor, so that it is asked one call at a time."""

    def __init__(self, context: Context) -> None:
        self._budget = Budget(context)

    def begin(self) -> Fault | None:
        """One call more, or why there is none."""
        try:
            self._budget.check()
        except DialectreeError as error:
            return Fault.of(error)
        self._budget.calls += 1
        return None

    def add(self, tokens: int, cost: float) -> None:
        """What a call turned out to have used."""
        self._budget.tokens += tokens
        self._budget.cost += cost

    def close(self, why: Fault) -> None:
        """No call starts any more."""
        self._budget.closed = self._budget.closed or why.error()


@dataclass
class FromPurse(Budget):
    """A worker's budget: the purse's."""

    purse: Any = None

    async def begin(self) -> None:
        """Asks the purse."""
        if self.closed is None and (fault := await self.purse.begin.remote()) is not None:
            self.closed = Fault(*fault).error()
        if self.closed is not None:
            raise self.closed
        self.calls += 1

    def add(self, call: Call) -> None:
        """Tells the purse, and does not wait for it."""
        super().add(call)
        self.purse.add.remote(call.prompt_tokens + call.completion_tokens, call.cost or 0.0)


class Given(NamedTuple):
    """What a worker is told at its start."""

    rows: Sequence[Ready]
    runs: Path
    scorers: Sequence[str]
    judge: Context | None
    vote_first: int
    environment: Mapping[str, str]
    """Keys, addresses and the cache's folder, which no record keeps."""


class Worker:
    """Asks questions in a process of its own; an actor."""

    def __init__(self, given: Given, purse: Any) -> None:
        os.environ.update(given.environment)
        self._rows = given.rows
        budget = FromPurse(given.rows[0].context, purse=purse)
        self._asker = Asker(given.runs, given.scorers, given.judge, given.vote_first, budget)

    async def ask(self, row: int, item: str) -> Answer:
        """The result of one question, or why there is none."""
        try:
            done = await self._asker.ask(self._rows[row], Item.model_validate_json(item))
        except Refused as refused:
            return Answer(refused.result.model_dump_json(), refused=Fault.of(refused.error))
        except DialectreeError as error:
            return Answer(stopped=Fault.of(error))
        return Answer(done.model_dump_json())


@dataclass
class _Place:
    """One worker's place; another worker takes it when the one that has it is lost."""

    actor: Any
    under_way: int = 0


@dataclass
class Cluster:
    """The workers and their purse, for the one that drives them."""

    given: Given
    at_once: int
    """Questions that one worker may have under way."""
    share: float
    """CPUs that Ray sets aside for one worker."""
    purse: Any
    ray: Any
    places: list[_Place] = field(default_factory=list)

    def hire(self) -> Any:
        """A new worker."""
        worker = self.ray.remote(Worker).options(
            max_concurrency=self.at_once + 1, num_cpus=self.share
        )
        return worker.remote(self.given, self.purse)

    async def ask(self, row: Ready, item: Item) -> Result:
        """The result of one question, from the worker that has the least to do."""
        number = next(n for n, one in enumerate(self.given.rows) if one.row.name == row.row.name)
        for _ in range(LOST):
            place = min(self.places, key=lambda place: place.under_way)
            actor = place.actor
            place.under_way += 1
            try:
                answer = Answer(*await actor.ask.remote(number, item.model_dump_json()))
            except self.ray.exceptions.RayActorError:
                if place.actor is actor:  # the first of its questions that hears of it
                    place.actor = self.hire()
                continue
            finally:
                place.under_way -= 1
            return _read(answer)
        raise Halted(f"the cluster lost the worker of item {item.id!r} {LOST} times")

    def close(self, error: DialectreeError) -> None:
        """No call starts any more."""
        self.purse.close.remote(Fault.of(error))


def _read(answer: Answer) -> Result:
    if answer.stopped is not None:
        raise Fault(*answer.stopped).error()
    result = Result.model_validate_json(answer.result or "")
    if answer.refused is not None:
        error = Fault(*answer.refused).error()
        assert isinstance(error, InputError)
        raise Refused(error, result)
    return result


def require_ray() -> None:
    """InputError where Ray is not installed."""
    if find_spec("ray") is None:
        raise InputError("--engine ray: Ray is not installed: pip install 'dialectree[ray]'")


@asynccontextmanager
async def cluster(
    given: Given, spends: Context, workers: int | None, at_once: int
) -> AsyncIterator[Cluster]:
    """A cluster that asks; the one at RAY_ADDRESS, or one on this machine for as long as it takes.

    ``spends`` has the budgets. Slots and pace are shared out among the ``workers``; none: as many
    as there are CPUs, but no more than slots.
    """
    require_ray()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anybody
    ray: Any = import_module("ray")
    begun = not ray.is_initialized()
    if begun:
        await asyncio.to_thread(_join, ray)
    slots = max(row.slots for row in given.rows)
    cpus = int(ray.cluster_resources().get("CPU", 1))
    count = max(1, min(workers or cpus, slots))
    rows = [replace(row, context=_share(row.context, count)) for row in given.rows]
    judge = _share(given.judge, count) if given.judge else None
    purse: Any = ray.remote(Purse).options(num_cpus=0).remote(spends)
    team = Cluster(
        given._replace(rows=rows, judge=judge, runs=given.runs.absolute()),
        max(2, -(-at_once // count)),
        min(1.0, cpus / count),
        purse,
        ray,
    )
    team.places = [_Place(team.hire()) for _ in range(count)]
    try:
        yield team
    finally:
        for place in team.places:
            ray.kill(place.actor)
        ray.kill(purse)
        if begun:
            await asyncio.to_thread(ray.shutdown)


def _join(ray: Any) -> None:
    ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)


def _share(context: Context, workers: int) -> Context:
    """One worker's part of the slots and of the pace."""
    pace = context.requests_per_minute
    return context.model_copy(
        update={
            "concurrency": max(1, context.concurrency // workers),
            "requests_per_minute": pace and pace / workers,
        }
    )


def environment() -> dict[str, str]:
    """What workers need to know of this process's environment."""
    key, url = endpoint_from_environment()
    known = {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": url,
        "DIALECTREE_CACHE_DIR": str(cache_folder().absolute()),
    }
    return {name: value for name, value in known.items() if value is not None}
