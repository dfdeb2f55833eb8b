"""The door to the models: every question to a model goes through :func:`ask`.

A call is looked up in the run's journal, then in the reply cache, and only then paid for. Its line
is on disk before the reply is read.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl, Runtime
from pydantic import JsonValue

from dialectree import chance, clock, prompts
from dialectree.context import Context, settings
from dialectree.errors import (
    BudgetReached,
    CallError,
    DialectreeError,
    PartFailed,
    ReplayMiss,
    ReplyError,
)
from dialectree.events import tell
from dialectree.models import replies
from dialectree.models.cache import ReplyCache, reply_cache
from dialectree.models.endpoints import (
    RUNGS,
    Completion,
    Decoding,
    Endpoint,
    FormatRefused,
    Message,
    Rung,
    endpoint,
)
from dialectree.models.limits import Budget, limiter, price
from dialectree.models.replies import Fault, Form, Ids, Reply
from dialectree.models.specs import resolve
from dialectree.records import Call
from dialectree.runs import Journal

REPAIRS = 2
_SHOWN = 4000
"""Characters of an invalid reply that a repair call shows to the model."""


class Place(NamedTuple):
    """Where in a debate a call belongs. Calls made side by side share stage and step."""

    node: str
    role: str
    stage: str
    step: int
    round: int = 0
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""
    who: str = ""
    """The speaker's name where two play one role: ``A``, ``concise``."""

    def seed(self, run_seed: int) -> int:
        """The seed of this call: made from the run's seed, node, role (and name), and sample."""
        return chance.seed(run_seed, self.node, self.role, self.who, self.take)


class Run(RunControl):
    """What the calls of one run share: journal, cache, budget.

    It is handed to LangGraph as the run's control, so that every nested graph has the same one.
    """

    def __init__(self, run_id: str, context: Context, journal: Journal | None = None) -> None:
        super().__init__()
        self.run_id = run_id
        self.journal = journal
        self.cache: ReplyCache | None = None
        if context.cache or context.replay:
            self.cache = reply_cache(context.cache_folder())
        self.budget = Budget(context)
        self.halted: DialectreeError | None = None
        """Why no further call is made; the first reason stays."""
        self.answered = 0
        """Replies so far, from wherever they came."""
        self._under_way: set[asyncio.Task[Call]] = set()

    async def call(self, work: _Work) -> Call:
        """The call that ``work`` describes, made now or before; CallError when it failed."""
        if self.halted is not None:
            raise self.halted
        past = self.journal.past.get(work.key) if self.journal else None
        call = past or await self._kept(work) or await self._pay(work)
        self.answered += 1
        if call.error is not None:
            raise CallError(call.error)
        return call

    async def _kept(self, work: _Work) -> Call | None:
        """The call from the reply cache, as a line of this run's journal."""
        if self.cache is None or work.endpoint.spec.live is not None:
            return None
        found = await self.cache.get(work.cache_key)
        if found is None:
            if work.context.replay:
                what = f"{work.prompt.label} at node {work.place.node}"
                raise ReplayMiss(f"--replay: the cache holds no reply to {what}")
            return None
        now = clock.stamp()
        call = found.model_copy(
            update={"key": work.key, "source": "cache", "started": now, "ended": now, **work.turn()}
        )
        if self.journal:
            await self.journal.append(call)
        return call

    async def _pay(self, work: _Work) -> Call:
        """A call of its own task: a part of the graph that is given up does not lose its reply."""
        task = asyncio.create_task(self._make(work))
        self._under_way.add(task)
        task.add_done_callback(self._landed)
        return await asyncio.shield(task)

    def _landed(self, task: asyncio.Task[Call]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()

    async def _make(self, work: _Work) -> Call:
        context = work.context
        async with limiter().slot(_at_once(work), context.requests_per_minute):
            self._check()
            self.budget.start()
            call = await work.send()
        self.budget.add(call)
        try:
            if self.journal:
                await self.journal.append(call)
        except DialectreeError as error:
            self.halted = self.halted or error
            raise
        if self.cache and context.cache and call.error is None and not work.endpoint.spec.live:
            await self.cache.put(work.cache_key, call)
        return call

    def _check(self) -> None:
        if self.halted is not None:
            raise self.halted
        try:
            self.budget.check()
        except BudgetReached as error:
            self.halted = error
            raise

    async def land(self) -> None:
        """Wait for the calls under way, so that what is paid is kept."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def abandon(self) -> None:
        """Give up the calls under way."""
        for task in self._under_way:
            task.cancel()


def _at_once(work: _Work) -> int:
    """A machine's own model answers two requests at a time; more would only wait in its queue."""
    at_once = work.context.concurrency
    return min(at_once, 2) if work.endpoint.spec.provider == "local" else at_once


class _Work:
    """One call to be made: whom to ask, what, and where the answer belongs."""

    def __init__(
        self,
        context: Context,
        place: Place,
        prompt: prompts.Prompt,
        asked: Endpoint,
        shape: Form,
        max_tokens: int | None,
        messages: list[Message],
    ) -> None:
        self.context, self.place, self.prompt = context, place, prompt
        self.endpoint, self.form, self.messages = asked, shape, messages
        self.decoding = Decoding(prompt.temperature, max_tokens, place.seed(context.seed))
        self.repair = 0
        self.rung: Rung | None = None
        """A lower rung for this call alone; None: the one that serves the endpoint."""
        self._key()

    def _key(self) -> None:
        """The keys of the request as it is meant, whatever rung carries it.

        The journal's key leaves the address out, so that a run can be resumed elsewhere.
        """
        spec = self.endpoint.spec
        meant = json.dumps((spec.name, self.decoding, self.messages, self.form.text))
        self.key = blake2b(meant.encode(), digest_size=16).hexdigest()
        where = f"{self.key}@{spec.address}"
        self.cache_key = blake2b(where.encode(), digest_size=16).hexdigest()

    def mend(self, text: str, fault: Fault) -> None:
        """Ask again, showing what came and what was wrong with it."""
        self.repair += 1
        wrong = (
            f"Your last reply cannot be used: {fault}. Send the whole reply again as one JSON "
            f"object that fits this JSON Schema, and nothing else:\n{self.form.text}"
        )
        if text.strip():
            said = Message("assistant", text[:_SHOWN])
            self.messages = [*self.messages, said, Message("user", wrong)]
        else:
            *before, last = self.messages
            self.messages = [*before, Message(last.role, f"{last.content}\n\n{wrong}")]
        limit = self.decoding.max_tokens
        if fault.kind == "truncated" and limit is not None:
            self.decoding = self.decoding._replace(max_tokens=2 * limit)
        if fault.kind == "not_json":
            self._doubt_the_rung()
        self._key()

    def _doubt_the_rung(self) -> None:
        """Prose at the top rung: the endpoint may not know it. Carry this call one rung lower."""
        rung = self.rung or self.endpoint.rung
        if rung != RUNGS[-1] and not self.endpoint.rung_held:
            self.rung = RUNGS[RUNGS.index(rung) + 1]

    def turn(self) -> dict[str, str | int]:
        """Where the call belongs, as the fields of its line."""
        place = self.place
        return {
            "node": place.node,
            "role": place.role,
            "round": place.round,
            "take": place.take,
            "stage": place.stage,
            "step": place.step,
            "repair": self.repair,
            "who": place.who,
        }

    async def send(self) -> Call:
        """The finished call; one that failed for good has an ``error`` and no reply."""
        started = clock.stamp()
        spec = self.endpoint.spec
        line: dict[str, str | int | float | None] = {
            "key": self.key,
            "prompt": self.prompt.label,
            "model": spec.name,
            "seed": self.decoding.seed,
            "started": started,
            **self.turn(),
        }
        try:
            done = await self._send()
        except CallError as error:
            line |= {"error": str(error), "ended": clock.stamp(), "cost": 0.0}
            return Call.model_validate(line)
        cost = price(self.context, spec.name, done.prompt_tokens, done.completion_tokens)
        line |= {
            "ended": clock.stamp(),
            "attempts": done.attempts,
            "prompt_tokens": done.prompt_tokens,
            "completion_tokens": done.completion_tokens,
            "cached_tokens": done.cached_tokens,
            "cost": cost,
            "finish": "refusal" if done.refusal else done.finish,
            "reply": done.refusal or done.text,
        }
        return Call.model_validate(line)

    async def _send(self) -> Completion:
        place, asked = self.place, self.endpoint
        config: RunnableConfig = {
            "run_name": f"{place.role} {place.node}",
            "metadata": {
                "tree_node": place.node,
                "role": place.role,
                "round": place.round,
                "take": place.take,
                "prompt": self.prompt.label,
                "reply": self.form.name,
            },
        }
        while True:
            rung = self.rung or asked.rung
            try:
                return await asked.complete(
                    self._said(rung),
                    self.form,
                    rung,
                    self.decoding,
                    self.context.call_deadline,
                    config,
                )
            except FormatRefused:
                self.rung = None
                if asked.step_down(rung) is None:
                    raise

    def _said(self, rung: Rung) -> list[Message]:
        """The messages; below the top rung the schema stands in the system message."""
        if rung == "json_schema":
            return self.messages
        system, *rest = self.messages
        wanted = (
            f"{system.content}\n\nReply with one JSON object that fits this JSON Schema, and "
            f"nothing else:\n{self.form.text}"
        )
        return [Message("system", wanted), *rest]


_hosts: OrderedDict[int, tuple[RunControl, Run]] = OrderedDict()
_HOSTS = 4096


def run_of(runtime: Runtime[Context]) -> Run:
    """The run that a node belongs to; one without a folder where a host drives the graph."""
    control = runtime.control
    if isinstance(control, Run):
        return control
    if control is None:
        return Run("", settings(runtime))
    kept = _hosts.get(id(control))
    if kept is None:
        # The control is kept too, so that its id cannot come to mean another run meanwhile.
        kept = _hosts[id(control)] = (control, Run("", settings(runtime)))
        if len(_hosts) > _HOSTS:
            _hosts.popitem(last=False)
    return kept[1]


async def ask(
    runtime: Runtime[Context],
    place: Place,
    prompt: str,
    reply: type[Reply],
    *,
    ids: Ids | None = None,
    max_tokens: int | None = None,
    **values: object,
) -> Reply:
    """Ask the model that plays ``place.role`` and return its valid reply.

    ``prompt`` names a file of prompts/, rendered with ``values``. ``ids`` are the closed sets that
    the reply may point into. An invalid reply is asked for again, with what was wrong with it, up
    to two times; ReplyError when it stays invalid, CallError when none comes.
    """
    context, run, words = settings(runtime), run_of(runtime), prompts.load(prompt)
    ids = ids or {}
    system, user = words.render(values)
    work = _Work(
        context,
        place,
        words,
        endpoint(resolve(context.speaker(place.role), context)),
        replies.form(reply, ids),
        max_tokens,
        [Message("system", system), Message("user", user)],
    )
    try:
        said = await _valid_reply(run, work, reply, ids)
    except PartFailed as error:
        error.role = place.role
        raise
    tell(runtime, place.node, "spoke", _turn(place, said.model_dump(mode="json")))
    return said


async def _valid_reply(run: Run, work: _Work, reply: type[Reply], ids: Ids) -> Reply:
    while True:
        call = await run.call(work)
        refusal = call.reply if call.finish == "refusal" else None
        text = "" if refusal else call.reply or ""
        try:
            said = replies.read(reply, ids, text, call.finish, refusal)
        except Fault as fault:
            if work.repair == REPAIRS:
                label, node = work.prompt.label, work.place.node
                raise ReplyError(label, node, str(fault)) from None
            work.mend(text, fault)
        else:
            if work.rung is None:
                work.endpoint.rung_held = True
            elif not work.endpoint.rung_held:
                work.endpoint.rung = work.rung
            return said


def _turn(place: Place, fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "role": place.role,
        "who": place.who or place.role,
        "stage": place.stage,
        "step": place.step,
        "round": place.round,
        "take": place.take,
        "fields": dict(fields),
    }
