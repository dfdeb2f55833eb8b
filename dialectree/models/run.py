"""Share journal, cache and budget among the calls of one run.

A person's change replaces a reply. Other calls are looked up in the journal, then in the reply cache,
and only then paid for. The line of a call is in the journal before a node sees the reply.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from langgraph.runtime import RunControl, Runtime
from pydantic import JsonValue

from dialectree.errors import (
    CallError,
    DialectreeError,
    DiskFull,
    Dropped,
    Halted,
    InputError,
    PartFailed,
    ReplayMiss,
    SettingsError,
)
from dialectree.models.asking import Completion, ModelRequest, PromptForm
from dialectree.models.cache import ReplyCache, reply_cache
from dialectree.models.endpoints import Endpoint, endpoint
from dialectree.models.limits import Budget, require_prices
from dialectree.models.overrides import Overrides
from dialectree.models.sizes import at_chance, find_prompt_form, start_model, waits_for
from dialectree.models.specs import Spec
from dialectree.protocols.calibrated_figure import Calibration
from dialectree.protocols.settings import EMBEDDED, ProtocolSettings, host_run, settings
from dialectree.protocols.sources import cache_folder
from dialectree.records import ILLUSTRATION, Call, Override
from dialectree.records.journal import Journal, Retrievals
from dialectree.records.ledger import make_place_fields
from dialectree.system import clock
from dialectree.trace.events import Delay, Why, find_tracer

_paying: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[Call]] = {}
"""Calls under way that others may wait for, by event loop and by the cache's key."""


class Run(RunControl):
    """One run, which LangGraph hands to every nested graph as the run's control."""

    documents: ClassVar[dict[str, Any]] = {}
    """Texts of sources that the cache could not keep, by digest; all runs of the process share them."""

    def __init__(
        self,
        run_id: str,
        context: ProtocolSettings,
        journal: Journal | None = None,
        overrides: Sequence[Override] = (),
        budget: Budget | None = None,
        *,
        ended_before: bool = False,
    ) -> None:
        super().__init__()
        self.run_id = run_id
        self.owner: str | None = None
        """The server's client that started the run."""
        self.sources_at: Path | None = None
        """The folder with the texts of the run's sources; None: the texts are in the cache."""
        self.protocol = context.protocol
        """The protocol of the whole run; a debate inside the run may follow another protocol."""
        self.journal = journal
        self.log: Callable[[Call, Mapping[str, str]], None] | None = None
        """Stores each call, and the texts that were sent, before a node sees the reply."""
        self.changes, self.contested = overrides, bool(overrides)
        self._ended_before = ended_before
        """True if the run had ended, so that only its failed calls are repeated."""
        self._forms: dict[tuple[str, str], PromptForm] = {}
        """The prompt form of each model, by name and mark, fixed for the whole run."""
        self._prompt_versions: dict[str, int] | None = None
        """The versions of the prompts in the journal, by name."""
        self._spoke = set[tuple[str, str]]()
        if journal is not None:
            self.use(journal)
        self._uses_cache = context.cache or context.replay
        self.budget = budget or Budget(context)
        self.hear: Callable[[Mapping[str, object]], int] | None = None
        """Stores an event of this run and returns its number; 0: the event says nothing new.
        ``events.tell`` calls it."""
        self.halted: DialectreeError | None = None
        """The first reason why no further call is made."""
        self.unkept: Exception | None = None
        """An unexpected error of the reply cache."""
        self.notices: list[str] = []
        """Notes for the record on faults that the run worked around."""
        self.demonstration = context.model == EMBEDDED and not context.roles
        """True if a model of the run answers no better than chance."""
        self.calibration: Sequence[Calibration] = ()
        """Calibrations for the confidence of the run's verdict."""
        self.models: Mapping[str, str] = {}
        """The model of each role, as the record names it."""
        self.illustration = False
        """True if a reply was written by hand instead of by a model."""
        self._retrievals = Retrievals()
        self.stand_in: Any = None
        """Replaces the retrievers in a rehearsal."""
        self.embedding_s = 0.0
        """Seconds spent on embedding segments and queries."""
        self._under_way: set[asyncio.Future[Any]] = set()
        self._asked = set[str]()
        """Keys of the requests that a model has answered in this process."""
        self._unusable: dict[str, Completion] = {}
        """Invalid replies by the cache's key, which this run does not pay for again."""

    @cached_property
    def overrides(self) -> Overrides:
        """The changes of persons to the run."""
        return Overrides(self.changes)

    @cached_property
    def cache(self) -> ReplyCache | None:
        """The reply cache, if the run has one; opened by its first call."""
        return reply_cache(cache_folder()) if self._uses_cache else None

    def use(self, journal: Journal) -> None:
        """Answer calls from ``journal`` where it has the reply, and append every call to it."""
        self.journal, self.log = journal, journal.append
        past = [call for call in journal.past.values() if call.model]
        self._forms = {(call.model, call.mark): call.prompt_form for call in past}
        self._spoke = {(call.model, call.mark) for call in past if self._outlasts_model(call)}

    @property
    def retrievals(self) -> Retrievals:
        """Return the results of this run's retrievers; kept in memory without a journal."""
        return self._retrievals if self.journal is None else self.journal.retrievals

    def prompt_version(self, name: str) -> int | None:
        """Return the version of a prompt that this run used before; None if it did not.

        A resumed run and its contests keep their prompts.
        """
        if self.journal is None:
            return None
        if self._prompt_versions is None:
            labels = (call.prompt.rpartition("@") for call in self.journal.past.values())
            versions = ((label, version) for label, _, version in labels if version.isdecimal())
            self._prompt_versions = {label: int(version) for label, version in versions}
        return self._prompt_versions.get(name)

    def require_readable(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Raise InputError for a source that the run may not read. This call blocks."""

    async def call(self, asking: ModelRequest) -> Call:
        """Return the call that ``asking`` describes, made now or before; CallError if it failed."""
        self._go_on()
        past = self._find_override_reply(asking) or self._find_journal_call(asking)
        call = past or await self._find_cached_call(asking) or await self._pay_once(asking)
        if past is not None or call.source != "model":
            self._trace(asking, call)
        if call.error is not None:
            raise CallError(call.error)
        if not self.demonstration and asking.spec.provider == "local":
            self.demonstration = await asyncio.to_thread(at_chance, asking.spec)
        self.illustration |= call.model == ILLUSTRATION
        return call

    def endpoint(self, spec: Spec) -> Endpoint:
        """Return the endpoint of ``spec``, which learns from the replies of this run."""
        return endpoint(spec)

    async def prompt_form(self, context: ProtocolSettings, spec: Spec) -> PromptForm:
        """Return the form in which the model of ``spec`` is asked.

        The choice of ``auto`` for a model is fixed for the whole run, also after a resume.
        """
        if context.prompt_form != "auto":
            return context.prompt_form
        name = spec.name, spec.mark
        if name not in self._forms:
            self._forms[name] = await find_prompt_form(spec)
        return self._forms[name]

    @property
    def has_medium_form(self) -> bool:
        """Return whether a model of the run is or was asked in the form for medium models."""
        return "medium" in self._forms.values()

    def _trace(self, asking: ModelRequest, call: Call) -> None:
        """Show, in the trace, a call that was answered without a model."""
        if (tracer := find_tracer()) is not None:
            request, spec = asking.adapt_to_prompt_form(), asking.spec
            model = {
                "ls_provider": spec.provider,
                "ls_model_name": spec.model,
                "ls_model_type": "chat",
                "ls_temperature": asking.decoding["temperature"],
            }
            response_format = {"response_format": request.form.response_format(request.form.full)}
            parameters = {**request.decoding, **response_format}
            tracer.replay(request.config, model, request.messages, parameters, call)

    def _find_override_reply(self, asking: ModelRequest) -> Call | None:
        """Return a person's reply to ``asking``; journal and cache never contain such replies."""
        override = self.overrides.at(asking.place) if self.contested else None
        if override is None:
            return None
        if override.reply is None:
            raise Dropped(f"{override.id} was dropped")
        reply = Completion(json.dumps(override.reply), "stop", attempts=0)
        return asking.call(reply, clock.stamp(), "person")

    def _find_journal_call(self, asking: ModelRequest) -> Call | None:
        """Return the journal's call for ``asking``, or None.

        In a contest, or in a run that had ended, a reply of an earlier model counts, too.
        """
        if self.journal is None:
            return None
        past = self._look_up_call(self.journal, asking.keys.journal, asking)
        for model, mark in () if past else self._spoke:
            key = asking.make_journal_key(model, mark, self._forms[model, mark])
            earlier = self._look_up_call(self.journal, key, asking)
            past = earlier if earlier is not None and self._outlasts_model(earlier) else past
        return past

    def was_asked(self, asking: ModelRequest) -> bool:
        """Return whether a model answered ``asking`` in this process, instead of journal or cache."""
        return asking.keys.journal in self._asked

    async def knows(self, asking: ModelRequest) -> bool:
        """Return whether journal or cache hold the reply to ``asking``, so that no model is asked."""
        if self._find_journal_call(asking) is not None:
            return True
        if self.cache is None or asking.live:
            return False
        is_unusable = asking.keys.cache in self._unusable
        return is_unusable or await self._look_up_completion(self.cache, asking) is not None

    def _outlasts_model(self, call: Call) -> bool:
        """Return whether the reply of ``call`` counts even if the run now has another model.

        It does in a contest, and in a run that had ended.
        """
        return call.run is not None or self._ended_before

    def _look_up_call(self, journal: Journal, key: str, asking: ModelRequest) -> Call | None:
        """Return the call with ``key`` at the place of ``asking``, or else at any other place."""
        return journal.placed.get((key, asking.place.spot())) or journal.past.get(key)

    def _go_on(self) -> None:
        if self.halted is not None:
            raise self.halted

    async def _find_cached_call(self, asking: ModelRequest) -> Call | None:
        """Return the reply cache's completion as a call of this run."""
        completion = None
        if self.cache is not None and not asking.live:
            completion = self._unusable.get(asking.keys.cache)
            completion = completion or await self._look_up_completion(self.cache, asking)
        if completion is None:
            if asking.context.replay:
                call_name = f"{asking.prompt} at node {asking.place.node}"
                raise ReplayMiss(f"`replay`: the cache holds no reply to {call_name}")
            return None
        call = asking.call(completion, clock.stamp(), "cache")
        self._keep_call(asking, call)
        return call

    def _keep_call(self, asking: ModelRequest, call: Call) -> None:
        """Log a finished call, with its texts if the settings say so; then report it."""
        if self.log is not None:
            self.log(call, asking.texts if asking.context.prompts else {})
        if asking.tell is not None:
            asking.tell("called", call.make_event_data())

    async def _look_up_completion(self, cache: ReplyCache, asking: ModelRequest) -> Completion | None:
        try:
            return await cache.get(asking.keys.cache)
        except (InputError, DiskFull) as error:
            if asking.context.replay or isinstance(error, SettingsError):
                raise
            self._do_without_cache(error)
            return None

    def _do_without_cache(self, error: DialectreeError) -> None:
        """Stop using a reply cache that fails, and note it in the record."""
        if self.cache is not None:
            self.cache = None
            self.notices.append(f"{error}; the run went on without it")

    async def _pay_once(self, asking: ModelRequest) -> Call:
        """Make the call in a task of its own: a cancelled node does not lose a paid reply.

        Without a journal, nothing would remember the reply, and the call ends with its node.
        """
        shared = self.cache is not None and asking.context.cache and not asking.live
        name = asyncio.get_running_loop(), asking.keys.cache
        if shared and (call := await self._await_same_request(asking, name)) is not None:
            return call
        task = asyncio.create_task(self._pay(asking))
        self._under_way.add(task)
        task.add_done_callback(self._forget_task)
        if shared and _paying.setdefault(name, task) is task:
            task.add_done_callback(lambda _: _paying.pop(name))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if self.journal is None:
                task.cancel()
            raise

    async def _await_same_request(
        self, asking: ModelRequest, name: tuple[asyncio.AbstractEventLoop, str]
    ) -> Call | None:
        """Return the reply to an equal request under way, from the cache; None if there is no reply."""
        while (earlier_task := _paying.get(name)) is not None:
            async with self.budget.in_time():
                answered, _ = await asyncio.wait([earlier_task], timeout=asking.context.call_deadline)
            self._go_on()
            if (call := await self._find_cached_call(asking)) is not None or not answered:
                return call
        return None

    def _forget_task(self, done: asyncio.Future[Any]) -> None:
        self._under_way.discard(done)
        if not done.cancelled():
            done.exception()  # retrieved: else asyncio would complain without a waiting task

    def _tell(self, asking: ModelRequest, why: Why, attempt: int = 1, **details: JsonValue) -> None:
        """Report the state of a call that has no reply yet."""
        if asking.tell is not None:
            repair = {"repair": asking.repair} if asking.repair else {}
            data = {**make_place_fields(asking.place), **repair, "attempt": attempt, "why": why, **details}
            asking.tell("calling", data)

    async def _pause(
        self, asking: ModelRequest, duration_s: float, delay: Delay, fault: str, attempt: int
    ) -> None:
        """Pause a call before an attempt, as long as the budget of seconds lasts."""
        about = {"fault": fault} if fault else {}
        self._tell(asking, delay, attempt, wait=round(duration_s, 3), **about)
        await self.budget.sleep(duration_s)
        self._tell(asking, "asked", attempt)

    async def _pay(self, asking: ModelRequest) -> Call:
        context = asking.context
        try:
            require_prices(context, [asking.spec.name])  # a host's run was not checked
            slots = asking.spec.limiter()
            if not slots.is_free(asking.at_once, context.requests_per_minute):
                self._tell(asking, "queued")
            slot = slots.slot(asking.at_once, context.requests_per_minute, context.choose_first_window())
            async with self.budget.in_time(), slot:
                self._go_on()
                await self.budget.begin()
                started = clock.stamp()
                if (waits := waits_for(asking.spec)) is not None:
                    self._tell(asking, "starting", waits_for=waits)
                    await start_model(asking.spec)
                self._tell(asking, "asked")
                pause = partial(self._pause, asking)
                model_endpoint = self.endpoint(asking.spec)
                done = await model_endpoint.complete(asking, pause, slots)
                call = asking.call(done, started, "model")
                self._asked.add(asking.keys.journal)
                new = [note for note in model_endpoint.remarks(done) if note not in self.notices]
                self.notices += new
                self.budget.add(call)
                # before the slot is free: a kill loses no more than the slots
                self._keep_call(asking, call)
            if self.cache and context.cache and done.error is None and not asking.live:
                if asking.usable(call):
                    await self._keep(self.cache, asking, done)
                else:
                    self._unusable[asking.keys.cache] = done
        except PartFailed:
            raise  # the graph decides what the debate does without this part
        except DialectreeError as error:
            self.halted = self.halted or error
            raise
        return call

    async def _keep(self, cache: ReplyCache, asking: ModelRequest, done: Completion) -> None:
        """Put a valid reply into the cache, with the invalid ones that it repairs."""
        rows = (*asking.repaired, (asking.keys.cache, done))
        puts = [cache.put(key, completion) for key, completion in rows]
        if self.journal is None:
            try:
                await asyncio.gather(*puts)
            except (InputError, DiskFull) as error:
                self._do_without_cache(error)
            return
        for put in puts:  # the journal has the reply, so no node waits
            self._under_way.add(put)
            put.add_done_callback(self._note_cache_failure)

    def _note_cache_failure(self, put: asyncio.Future[None]) -> None:
        """Note a reply that the cache could not keep."""
        self._under_way.discard(put)
        error = None if put.cancelled() else put.exception()
        if isinstance(error, InputError | DiskFull):
            self._do_without_cache(error)
        elif isinstance(error, Exception):  # the node has gone on: the end of the run reports it
            self.unkept = self.unkept or error

    async def land(self, within: float | None = None) -> None:
        """Wait for the calls under way, so that no paid reply is lost; start no other call.

        ``within`` limits the wait, in seconds.
        """
        self.halted = self.halted or Halted("the run has ended")
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._under_way:
                    await asyncio.wait(self._under_way)

    def abandon(self) -> None:
        """Give up the calls under way."""
        for task in self._under_way:
            task.cancel()


_hosts: OrderedDict[tuple[RunControl, int], Run] = OrderedDict()
"""Runs by the host's run and the ``id()`` of the settings. The budget keeps the settings alive."""
_HOSTS = 4096


def run_of(runtime: Runtime[Any]) -> Run:
    """Return the run of a node; an unsaved run if its graph was invoked directly.

    Debates of one host with the same settings share a budget; a halted debate does not halt others.
    """
    for run in (runtime.control, host_run.get()):
        if isinstance(run, Run):
            return run
    return _alone(runtime.control, settings(runtime))


def shared_budget(control: RunControl | None, context: ProtocolSettings) -> Budget:
    """Return the budget that all debates of one host with these settings share."""
    return _alone(control, context).budget


def _alone(control: RunControl | None, context: ProtocolSettings) -> Run:
    if control is None:
        return Run("", context)
    run = _hosts.get((control, id(context)))
    if run is None or run.halted is not None:
        run = Run("", context, budget=run.budget if run is not None else None)
        _hosts[control, id(context)] = run
        if len(_hosts) > _HOSTS:
            _hosts.popitem(last=False)
    return run
