"""What the calls of one run share: journal, cache, budget.

A call is looked up in the journal, then in the reply cache, and only then paid for. Its line is on
disk before anybody reads the reply.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from langgraph.runtime import RunControl, Runtime

from dialectree import clock
from dialectree.context import Context, cache_folder, settings
from dialectree.errors import CallError, DialectreeError, Halted, PartFailed, ReplayMiss
from dialectree.models.asking import Asking
from dialectree.models.cache import ReplyCache, reply_cache
from dialectree.models.limits import Budget, limiter
from dialectree.records import Call
from dialectree.runs import Journal


class Run(RunControl):
    """One run. LangGraph hands it on as the run's control, so that every nested graph has it."""

    def __init__(self, run_id: str, context: Context, journal: Journal | None = None) -> None:
        super().__init__()
        self.run_id = run_id
        self.journal = journal
        self.cache: ReplyCache | None = None
        if context.cache or context.replay:
            self.cache = reply_cache(cache_folder())
        self.budget = Budget(context)
        self.halted: DialectreeError | None = None
        """Why no further call is made; the first reason stays."""
        self._under_way: set[asyncio.Task[Call]] = set()

    async def call(self, asking: Asking) -> Call:
        """The call that ``asking`` describes, made now or before; CallError when it failed."""
        self._go_on()
        past = self.journal.past.get(asking.key) if self.journal else None
        call = past or await self._cached(asking) or await self._paid(asking)
        if call.error is not None:
            raise CallError(call.error)
        return call

    def _go_on(self) -> None:
        if self.halted is not None:
            raise self.halted

    async def _cached(self, asking: Asking) -> Call | None:
        """The reply cache's completion, as a call of this run."""
        found, started = None, clock.stamp()
        if self.cache is not None and not asking.live:
            found = await self.cache.get(asking.cache_key)
        if found is None and asking.context.replay:
            what = f"{asking.prompt} at node {asking.place.node}"
            raise ReplayMiss(f"--replay: the cache holds no reply to {what}")
        if found is None:
            return None
        call = asking.call(found, started, "cache")
        if self.journal:
            await self.journal.append(call)
        return call

    async def _paid(self, asking: Asking) -> Call:
        """A call of its own task: a part of the graph that is given up does not lose its reply."""
        task = asyncio.create_task(self._pay(asking))
        self._under_way.add(task)
        task.add_done_callback(self._landed)
        return await asyncio.shield(task)

    def _landed(self, task: asyncio.Task[Call]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it hears of it; maybe nobody does any more

    async def _pay(self, asking: Asking) -> Call:
        context = asking.context
        try:
            slots = limiter(asking.endpoint.spec.provider)
            async with slots.slot(asking.at_once, context.requests_per_minute):
                self._go_on()
                self.budget.check()
                self.budget.start()
                started = clock.stamp()
                done = await asking.send()
            call = asking.call(done, started, "model")
            self.budget.add(call)
            if self.journal:
                await self.journal.append(call)
            if self.cache and context.cache and done.error is None and not asking.live:
                await self.cache.put(asking.cache_key, done)
        except PartFailed:
            raise  # one part; the graph decides what the debate does without it
        except DialectreeError as error:
            self.halted = self.halted or error
            raise
        return call

    async def land(self) -> None:
        """Wait for the calls under way, so that what is paid is kept; no other one starts."""
        self.halted = self.halted or Halted("the run has ended")
        while self._under_way:
            await asyncio.wait(self._under_way)

    def abandon(self) -> None:
        """Give up the calls under way."""
        for task in self._under_way:
            task.cancel()


_hosts: OrderedDict[RunControl, Run] = OrderedDict()
_HOSTS = 4096


def run_of(runtime: Runtime[Context]) -> Run:
    """The run that a node belongs to; one without a folder where a host drives the graph."""
    control = runtime.control
    if isinstance(control, Run):
        return control
    if control is None:
        return Run("", settings(runtime))
    if control not in _hosts:
        _hosts[control] = Run("", settings(runtime))
        if len(_hosts) > _HOSTS:
            _hosts.popitem(last=False)
    return _hosts[control]
