"""Ask one model for one reply: choose the way to ask for structure, and retry.

Only this module retries: clients make one attempt, and nodes do not run again.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import aiohttp
import httpx2
import openai
from langchain_core.messages import AIMessage, BaseMessage

from dialectree.errors import KeyRefused, RequestError, Unreachable
from dialectree.models.asking import (
    RUNGS,
    SHAPES,
    Completion,
    Form,
    ModelRequest,
    Rung,
    Shape,
    list_keywords,
    replace_surrogates,
    strip_thoughts,
)
from dialectree.models.error_mapping import (
    ErrorReply,
    ForeignFailure,
    MappedError,
    OversizedBody,
    UnreadableReply,
    describe_silence,
    map_error,
)
from dialectree.models.limits import Limiter
from dialectree.models.local_models import LOCAL_MODELS
from dialectree.models.specs import Spec, describe_missing_key
from dialectree.protocols.trust import OPENAI, key
from dialectree.system import chance, clock
from dialectree.trace.events import Delay, Pause

ATTEMPTS = 6
"""Number of failed attempts that end a call. An endpoint that is down has until the deadline instead."""
CONNECT_S = 5.0
"""Seconds to connect, including the look-up of the host's name."""
UNREACHABLE_AFTER_S = 8.0
"""Seconds without a connection after which an address that never answered is unreachable."""
LONGEST_PAUSE_S = 2.0
"""Longest pause between two attempts while connections fail."""
SHORTEST_TRY_S = 0.5
"""Minimum seconds for the last attempt at an endpoint that is down."""
GRAMMAR_LENGTH = 1000
"""The longest text, in characters, for which a schema states lengths once the server failed to compile
a schema. llama.cpp cannot compile a text of 2,000 characters."""
_FIXED = ("temperature", "top_p", "seed")
_SAMPLING = (*_FIXED, "max_tokens")
"""A model that refuses two of these parameters has fixed sampling: requests then drop ``_FIXED``."""
ROOM, MOST_ROOM = 4096, 32768
"""The fewest and the most tokens to add for thoughts, if a model counts them against a reply's limit."""
MOST_REFUSALS = 20
"""Refused parts of a request after which one call gives up: an endpoint may contradict itself."""
MOST_TOKENS = 4096
"""Token limit of a reply if the endpoint requires one and the question has none."""
PATIENCE_S = 900.0
"""Seconds that one call waits at a rate limit, at most."""


_ERRORS = (openai.OpenAIError, aiohttp.ClientError, TimeoutError, UnreadableReply, ForeignFailure, ErrorReply)


class _Attempts:
    """The attempts at one call, and the time that is left for them."""

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.made = self.waits = self._failed = 0
        self.began = self._end = 0.0
        self.over = False
        """True once the deadline leaves no time for another attempt."""
        self._waiting_since = math.inf

    def begin(self, waited_s: float) -> None:
        """Count an attempt, and extend the deadline by ``waited_s``, the wait for other calls."""
        if not self.made:
            self.began = clock.seconds()
            waited_s = self.deadline_s
            self._end = self.began
        self._end += waited_s
        self.made += 1

    def compute_timeout_s(self) -> float:
        """Return the seconds that an attempt may take."""
        return max(0.001, self._end - clock.seconds())

    def extend(self, lost_s: float) -> None:
        """Extend the deadline by ``lost_s``, lost because other calls were served first."""
        self._end += lost_s

    def may_wait(self) -> bool:
        """Count a wait, and return whether the call may wait for other calls once more."""
        self.waits += 1
        self._waiting_since = min(self._waiting_since, clock.seconds())
        return clock.seconds() - self._waiting_since < PATIENCE_S

    def pause_after(self, error: MappedError, *, patient: bool) -> float | None:
        """Return the seconds to pause before the next attempt, or None after the last.

        ``patient``: only the deadline ends the attempts.
        """
        now = clock.seconds()
        if error.kind == "wait":
            self.waits += 1
            self._waiting_since = min(self._waiting_since, now)
            return 0.0 if now - self._waiting_since < PATIENCE_S else None
        self._failed += 1
        longest = LONGEST_PAUSE_S if error.kind == "lost" else 8.0
        max_pause = min(longest, 0.25 * 2 ** min(self._failed, 6))
        pause = max(min(error.wait_s or 0.0, 30.0), max_pause / 2 + chance.jitter(max_pause / 2))
        left_s = self._end - now
        if patient:
            pause = min(pause, left_s / 2)
        self.over = left_s - pause < (SHORTEST_TRY_S if patient else 0.0)
        spent = self._failed >= ATTEMPTS and not patient
        return None if spent or self.over else pause


@dataclass(eq=False)
class Address:
    """Facts that the calls of this process learnt about one address, shared by its models."""

    answers: bool = False
    """True after the first answer, even an error."""
    replied: float = -math.inf
    """Time of the last reply, by ``clock.seconds``."""
    lost_since: float = -math.inf
    lost_last: float = -math.inf


class How(NamedTuple):
    """A way to ask an endpoint, without the parts that it refuses."""

    rung: Rung
    shape: Shape
    """Shape of the schema on the first rung."""
    without: frozenset[str]
    """Keywords left out of the schema."""
    dropped: frozenset[str]
    """Parameters left out of the request."""
    merged: bool
    """True if the system message is put before the user's."""
    most_tokens: int | None
    """Token limit if the question has none and the endpoint requires one."""
    room: int
    """Tokens added to a reply's limit, for thoughts."""
    hint: str = ""
    """Hint on what the role's first replies lacked."""


@dataclass(eq=False)
class Endpoint:
    """One model at one address, with the facts learnt about it.

    These facts change the request when it is sent; the keys of journal and cache ignore them.
    """

    spec: Spec
    address: Address = field(default_factory=Address)
    rung: Rung = "json_schema"
    rung_known: bool = False
    """True after a valid reply on the current rung."""
    dropped: set[str] = field(default_factory=set)
    """Parameters that the endpoint refuses."""
    keywords: set[str] = field(default_factory=set)
    """Keywords of a schema that the endpoint refuses."""
    shapes: dict[str, Shape] = field(default_factory=dict)
    """Shape of each schema whose more exact shape was refused, by schema name."""
    longest: float = math.inf
    """Text length in a schema that the endpoint failed to compile; shorter texts may work."""
    merges: bool = False
    """True if the model takes no system message."""
    most_tokens: int | None = None
    """Token limit for questions without one, because the endpoint requires it."""
    room: int = 0
    """Tokens to add to a reply's limit, because thoughts count against it."""
    hints: dict[str, str] = field(default_factory=dict)
    """The hint that repaired the first replies of a role, by role."""
    _usable: set[str] = field(default_factory=set)
    """Roles that gave a valid reply without a repair."""
    _quiet_until: float = -math.inf
    _probing: MutableMapping[asyncio.AbstractEventLoop, asyncio.Lock] = field(
        default_factory=WeakKeyDictionary
    )
    """By event loop, the lock that lets one refused call at a time try another way."""

    def below(self, rung: Rung) -> Rung | None:
        """Return the next rung; None after the last. Only OpenAI's API has all three rungs."""
        rungs = RUNGS if self.spec.openai_compatible else (RUNGS[0], RUNGS[-1])
        return None if rung == rungs[-1] else rungs[rungs.index(rung) + 1]

    def lower(self, asking: ModelRequest) -> None:
        """Lower the rung of one question: an endpoint that sends prose may not know the higher rung."""
        if not self.rung_known:
            rung = asking.rung or self.rung
            asking.rung = self.below(rung) or rung

    def confirm(self, asking: ModelRequest) -> None:
        """Remember the rung of a valid reply, and the hint that repaired the reply.

        If all first replies of a role needed one hint, its next requests include that hint.
        """
        role, lacks = asking.place.role, asking.lacks
        if not asking.repair:
            self._usable.add(role)
        elif asking.repair == len(lacks) and len({*lacks}) == 1 and role not in self._usable:
            self.hints.setdefault(role, lacks[0])
        if asking.rung is not None and not self.rung_known:
            self.rung = asking.rung
        self.rung_known = True

    async def complete(
        self, asking: ModelRequest, pause: Pause | None = None, slots: Limiter | None = None
    ) -> Completion:
        """Return one reply to ``asking``, valid or invalid.

        Retries on 429 after the wait that the endpoint asks for. Retries until the deadline on 5xx,
        and while an address that answered before is silent. Time-outs and unreadable answers count
        as failures. Raises the errors that end a run: Unreachable, KeyRefused, RequestError,
        ModelUnavailable, and the errors of ``pause``.

        ``slots`` learns how many requests the address takes at once. A call that is late while
        others are answered queues again; this does not count as a failure.
        """
        attempts, pause = _Attempts(asking.context.call_deadline), pause or _sleep
        rung, request, refusals = asking.rung, asking.adapt_to_prompt_form(), 0
        while True:
            since = clock.seconds()
            async with self._probe() if refusals else nullcontext():
                await self._await_turn(attempts, asking.context.requests_per_minute, pause, since)
                how = self.choose_way(request.form, rung, request.place.role)
                began = clock.seconds()
                try:
                    async with asyncio.timeout(attempts.compute_timeout_s()):
                        reply = await self._send(request, how)
                except _ERRORS as error:
                    mapped = map_error(error, self.spec)
                else:
                    self.address.answers, self.address.replied = True, clock.seconds()
                    self.address.lost_last = -math.inf
                    self._learn_room(reply, how)
                    if slots is not None:
                        slots.record_reply(clock.seconds() - began, reply.completion_tokens)
                    return reply._replace(attempts=attempts.made, **_describe(how))
                # A server may still work on abandoned requests, and answer no others meanwhile.
                lately = self.address.replied > began - attempts.deadline_s / 2
                late = mapped.kind == "late" and lately
                if slots is not None and (late or mapped.kind == "wait"):
                    slots.record_congestion(began)
                self._learn(mapped, attempts.waits, began)
                _require_not_the_users(mapped, request)
                if mapped.kind == "part":
                    refusals += 1
                    if refusals > MOST_REFUSALS:  # it may refuse a parameter and its absence
                        raise RequestError(mapped.text)
                    rung = self._learn_part(mapped, request.form, how, rung)
                    continue
            if late and slots is not None and attempts.may_wait():
                since = clock.seconds()
                await slots.queue_again(asking.at_once)
                attempts.extend(clock.seconds() - began)
                continue
            if mapped.kind == "unusable":
                return Completion(mapped.reply, attempts=attempts.made, **_describe(how))
            broken = mapped.kind == "broken" and self.address.answers
            patient = broken or mapped.kind in ("lost", "down")
            foreign = mapped.kind == "foreign" and not self.address.answers
            hopeless = mapped.kind == "hopeless" or foreign
            wait_s = None if hopeless else attempts.pause_after(mapped, patient=patient)
            if wait_s is None:
                return self._give_up(mapped, attempts)
            if mapped.kind != "wait":  # a rate limit is awaited at the next turn
                await pause(wait_s, "retry", mapped.text, attempts.made + 1)

    def choose_way(self, form: Form, rung: Rung | None = None, role: str = "") -> How:
        """Return the way to ask with this form; ``rung``: a lower rung for this question alone."""
        shape, keywords = self.shapes.get(form.name, SHAPES[0]), frozenset(self.keywords)
        if shape == SHAPES[0]:
            official = self.spec.url == OPENAI
            hard = official or form.longest >= self.longest
            refused = keywords and keywords & list_keywords(form.full)
            shape = SHAPES[1] if hard or refused else shape
        refused = keywords & list_keywords(form.choose_schema(shape)) if keywords else frozenset()
        return How(
            rung or self.rung,
            shape,
            frozenset(refused),
            frozenset(self.dropped),
            self.merges,
            self.most_tokens,
            self.room,
            self.hints.get(role, ""),
        )

    def remarks(self, done: Completion) -> Iterator[str]:
        """Yield notes for the record on the way in which the endpoint had to be asked."""
        where = self.spec.where
        if not self.spec.openai_compatible:
            return  # another library asks it
        if done.rung != RUNGS[0]:
            yield f"{where} takes no schema: replies are asked for as {done.rung}"
        elif done.shape != SHAPES[0] and self.spec.url != OPENAI:
            left_out = "lengths" if done.shape == SHAPES[1] else "lengths and limits"
            yield f"{where} takes no whole schema: it is sent without {left_out}"
        if done.merged:
            yield f"{where} takes no system message: the rules head the user's message"
        if done.room:
            yield f"{where} counts thoughts against the limit of replies: it is raised by {done.room} tokens"
        if done.overcounts:
            yield f"{where} says that replies took more tokens than they were allowed"

    def _probe(self) -> asyncio.Lock:
        """Return the lock for a refused call: other refused calls wait for its findings."""
        return self._probing.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    async def _await_turn(
        self, attempts: _Attempts, per_minute: float | None, pause: Pause, since: float
    ) -> None:
        """Wait until the next attempt is allowed; the wait from ``since`` on extends the deadline."""
        while (quiet_s := self._quiet_until - clock.seconds()) > 0:
            # Calls that were refused more often come back at wider intervals.
            apart_s = chance.jitter(min(10.0, 0.1 * 2 ** min(attempts.waits, 7)))
            await pause(quiet_s + apart_s, "rate_limit", "", attempts.made + 1)
        if attempts.made:
            await self.spec.limiter().pacer.wait(per_minute)
        attempts.begin(clock.seconds() - since)

    def _learn(self, error: MappedError, waits: int, began: float) -> None:
        """Remember facts that concern other calls, too.

        Raises Unreachable if the address never answered and took no connection for a while.
        """
        now, address = clock.seconds(), self.address
        if error.kind == "lost":
            # A pause between two attempts of one call does not end an outage.
            if began - address.lost_last > max(UNREACHABLE_AFTER_S, 2 * LONGEST_PAUSE_S):
                address.lost_since = began
            address.lost_last = now
            if not address.answers and now - address.lost_since >= UNREACHABLE_AFTER_S:
                raise Unreachable(describe_silence(self.spec, error.text))
            return
        address.lost_last = -math.inf
        address.answers |= error.kind not in ("broken", "foreign")
        if error.kind == "wait":
            wait_s = 2.0 ** min(waits, 5) if error.wait_s is None else error.wait_s
            self._quiet_until = max(self._quiet_until, now + max(0.05, wait_s))

    def _learn_room(self, reply: Completion, how: How) -> None:
        """Give later calls more tokens if a reply was cut off inside its thoughts."""
        if reply.finish == "length" and not strip_thoughts(reply.text) and how.room == self.room:
            self.room = min(MOST_ROOM, max(ROOM, 4 * self.room))

    def _learn_part(self, error: MappedError, form: Form, how: How, rung: Rung | None) -> Rung | None:
        """Remember the refused part of a request; return the rung for this call alone.

        Raises RequestError if no other way to ask is left.
        """
        plain = how._replace(hint="")
        if self.choose_way(form, rung) == plain:  # else another call has learnt it meanwhile
            rung = self._ask_otherwise(error, form, how, rung)
            if self.choose_way(form, rung) == plain:
                raise RequestError(error.text)
        return rung

    def _ask_otherwise(self, error: MappedError, form: Form, how: How, rung: Rung | None) -> Rung | None:
        meaning, name = error.part
        shape, schema = SHAPES.index(how.shape), form.choose_schema(how.shape, how.without)
        asks_schema = how.rung == RUNGS[0]
        if meaning == "parameter":
            self.dropped.add(name)
            if len(self.dropped.intersection(_SAMPLING)) > 1:  # as reasoning models do
                self.dropped.update(_FIXED)
        elif meaning == "needs":
            self.dropped.discard(name)
            self.most_tokens = MOST_TOKENS
        elif meaning == "system":
            self.merges = True
        elif meaning == "keyword" and asks_schema and name in list_keywords(schema):
            self.keywords.add(name)
        elif meaning in ("keyword", "schema") and asks_schema and shape < self._last_shape(name):
            if shape == 0:
                self.longest = min(self.longest, form.longest or math.inf, GRAMMAR_LENGTH)
            self.shapes[form.name] = SHAPES[shape + 1]
        else:
            rung = None
            below = RUNGS[-1] if name == "grammar" else self.below(how.rung)
            if below is not None and RUNGS.index(below) > RUNGS.index(self.rung):
                self.rung, self.rung_known = below, False
        return rung

    def _last_shape(self, refused: str) -> int:
        """Return the last shape to try if a schema is refused, as an index of ``SHAPES``.

        A server that cannot compile a grammar without lengths supports neither grammars nor JSON mode.
        """
        return 1 if refused == "grammar" else len(SHAPES) - 1

    def _give_up(self, error: MappedError, attempts: _Attempts) -> Completion:
        """Return a failed completion; raise an error if no other call can succeed.

        Raises Unreachable if no call at the address was answered for the whole deadline.
        """
        where, text = self.spec.where, error.text
        if error.kind == "foreign" and not self.address.answers:
            raise RequestError(f"{where} is no model server: check `base_url`: {text}")
        if error.kind == "page":
            hint = "check `base_url`, which usually ends in /v1"
            raise RequestError(f"{where} answers with a web page: {hint}: {text}")
        if attempts.over and self.address.replied < attempts.began:
            raise Unreachable(
                f"{where} answered no call for {attempts.deadline_s:g} s (`call_deadline`): {text}"
            )
        if error.kind != "hopeless":
            attempt_count = "1 attempt" if attempts.made == 1 else f"{attempts.made} attempts"
            text = f"{where} gave no reply in {attempt_count} (deadline {attempts.deadline_s:g} s): {text}"
        return Completion(attempts=attempts.made, error=text)

    async def _send(self, request: ModelRequest, how: How) -> Completion:
        from dialectree.models import clients  # heavy

        loop_clients = await clients.clients()
        with clients.limit_body_size():
            if not self.spec.openai_compatible:
                chat = self.spec.live or loop_clients.get_chat_model(self.spec)
                return await self._send_elsewhere(chat, request, how)
            url, secret, body = await self._way_in(request, how)
            stream_usage = "stream_options" not in how.dropped
            ours = loop_clients.chat(url, secret, self.spec.model, stream_usage=stream_usage)
            hung_s = request.context.call_deadline
            if self.spec.provider != "local":  # a request to our own process is slow, never lost
                hung_s = max(1.0, hung_s / 2)  # leaves time for another request
            options: dict[str, Any] = {
                "extra_body": body,
                "timeout": httpx2.Timeout(hung_s, connect=CONNECT_S),
            }
            try:
                messages = request.messages_at(how.rung, merged=how.merged, hint=how.hint)
                reply = await ours.ainvoke(messages, request.config, **options)
            except (httpx2.HTTPError, OversizedBody) as error:  # in the middle of a stream
                raise ForeignFailure(str(error)) from error
        return _completion(reply, str(reply.text), how, request)

    async def _send_elsewhere(self, chat: Any, request: ModelRequest, how: How) -> Completion:
        """Return the reply of another library's model."""
        from dialectree.models import chat_models

        rung = how.rung
        values = {k: v for k, v in request.decoding.items() if k not in how.dropped}
        if (max_tokens := values.get("max_tokens")) is not None:
            values["max_tokens"] = max_tokens + how.room
        options = {k: v for k, v in request.options.items() if k not in how.dropped}
        chat = chat_models.with_options(chat, options)
        chat = chat_models.apply_decoding(chat, values, has_decoding=self.spec.live is not None)
        if rung == RUNGS[0]:
            try:
                chat = chat_models.bind_reply_schema(chat, request.form)
            except NotImplementedError:
                self.rung = rung = RUNGS[-1]
        messages = request.messages_at(rung, merged=how.merged, hint=how.hint)
        shared = 0 if how.merged else request.shared
        marked = chat_models.with_cache_mark(chat, messages, shared)
        reply = await chat_models.invoke(chat, marked, request.config)
        how = how._replace(rung=rung)
        return _completion(reply, chat_models.text_of(reply), how, request)

    async def _way_in(self, request: ModelRequest, how: How) -> tuple[str, str, dict[str, Any]]:
        """Return address, key, and the fields of the body that differ from call to call."""
        form, rung = request.form, how.rung
        body: dict[str, Any] = {k: v for k, v in request.decoding.items() if v is not None}
        body |= request.options
        if self.spec.provider == "local":
            local, full_prompt = LOCAL_MODELS.require(), request.prompt_form == "full"
            url, secret = await local.serve(self.spec.model)
            # In plain text, a small model would not stop after one word.
            by_schema = rung == RUNGS[0] or not full_prompt
            body |= local.request_fields(form, full_prompt=full_prompt, by_schema=by_schema)
            return url, secret, body
        official = self.spec.url == OPENAI
        if how.most_tokens is not None:
            body.setdefault("max_tokens", how.most_tokens)
        if "max_tokens" in body:
            body["max_tokens"] += how.room
        if "max_tokens" in body and (official or "max_tokens" in how.dropped):
            body["max_completion_tokens"] = body.pop("max_tokens")
        if rung == "json_schema":
            body["response_format"] = form.response_format(form.choose_schema(how.shape, how.without))
        elif rung == "json_object":
            body["response_format"] = {"type": rung}
        secret = "" if self.spec.keyless else key() or ""
        if refusal := describe_missing_key(self.spec):
            raise KeyRefused(refusal)
        request_body = {name: value for name, value in body.items() if name not in how.dropped}
        return self.spec.whole_url or "", secret, request_body


_endpoints: dict[Spec | int, Endpoint] = {}
"""Endpoints by spec; live models, which may be unhashable, by identity."""
_MOST_ENDPOINTS = 256


def endpoint(spec: Spec) -> Endpoint:
    """Return the endpoint of ``spec``, which remembers what it learnt for the whole process."""
    name = spec if spec.live is None else id(spec.live)
    stored_endpoint = _endpoints.get(name)
    if stored_endpoint is None:
        url, endpoints = spec.whole_url, [*_endpoints.values()]
        shared = (candidate.address for candidate in endpoints if url and candidate.spec.whole_url == url)
        stored_endpoint = _endpoints.setdefault(name, Endpoint(spec, next(shared, Address())))
    if len(_endpoints) > _MOST_ENDPOINTS:
        del _endpoints[next(iter(_endpoints))]  # the oldest
    return stored_endpoint


def _require_not_the_users(error: MappedError, request: ModelRequest) -> None:
    """Raise RequestError for a refused field that the user set, instead of dropping it silently."""
    name = error.part.name
    if name != "max_tokens" and name in request.context.model_options:
        raise RequestError(f"`model_options` {name}: {error.text}")


def _describe(how: How) -> dict[str, Any]:
    """Return the fields of a completion that describe its request."""
    return {
        "unsent": " ".join(sorted(how.dropped)),
        "shape": how.shape,
        "merged": how.merged,
        "room": how.room,
        "hint": how.hint,
    }


async def _sleep(duration_s: float, delay: Delay, fault: str, attempt: int) -> None:
    """Pause a call that belongs to no run."""
    await clock.sleep(duration_s)


def _name_served(model: str) -> str:
    """Return the model that an endpoint names; only the last part of a file's path.

    llama.cpp names the whole path, which reveals the machine and its user.
    """
    path = PureWindowsPath(model)  # takes both kinds of slashes
    rooted = path.is_absolute() or model.startswith(("/", "~"))
    return replace_surrogates(path.name if rooted else model)


def _completion(message: BaseMessage, text: str, how: How, request: ModelRequest) -> Completion:
    """Return the reply of a chat model, whose content is ``text``.

    Without content, the reply is the arguments of an unrequested tool call, or thoughts that are
    one JSON object. Other thoughts become the text, marked as thoughts.
    """
    from dialectree.models.clients import completion_tokens, token_count

    usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    beside = message.additional_kwargs
    refusal = beside.get("refusal")
    names = ("finish_reason", "stop_reason", "done_reason")
    reasons = (message.response_metadata.get(name) for name in names)
    finish = next((reason for reason in reasons if isinstance(reason, str) and reason), None)
    if finish == "content_filter":
        refusal = refusal or "the endpoint's content filter withheld the reply"
    if finish is not None and finish.lower() == "max_tokens":
        finish = "length"
    if not text.strip() and not refusal:
        text = _elsewhere(message, beside.get("thoughts")) or text
    prompt_tokens = token_count(usage.get("input_tokens"))
    tokens, beyond = token_count(usage.get("output_tokens")), False
    if isinstance(raw_usage := beside.get("usage"), Mapping):
        limit = request.decoding["max_tokens"]
        max_tokens = None if limit is None else int(limit) + how.room
        tokens, beyond = completion_tokens(raw_usage, max_tokens)
    served = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return Completion(
        text=replace_surrogates(text),
        finish=finish,
        refusal=replace_surrogates(str(refusal)) if refusal else None,
        prompt_tokens=prompt_tokens,
        completion_tokens=tokens,
        cached_tokens=min(token_count(details.get("cache_read")), prompt_tokens),
        rung=how.rung,
        served=_name_served(served) if isinstance(served, str) else "",
        overcounts=beyond,
    )


_KEPT_THOUGHTS = 4000
"""Characters of thoughts to keep if a reply has nothing else."""


def _elsewhere(message: BaseMessage, thoughts: object) -> str:
    """Return the reply of a message without content: a tool call's arguments or the thoughts."""
    calls = message.additional_kwargs.get("tool_calls") or []
    if old := message.additional_kwargs.get("function_call"):
        calls = [{"function": old}]
    if len(calls) == 1 and isinstance(calls[0], Mapping):
        arguments = (calls[0].get("function") or {}).get("arguments")
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    if isinstance(message, AIMessage) and len(message.tool_calls) == 1:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    if not isinstance(thoughts, str) or not thoughts.strip():
        return ""
    with suppress(ValueError):
        if isinstance(json.loads(thoughts), dict):
            return thoughts
    return f"<think>{thoughts[:_KEPT_THOUGHTS]}</think>"
