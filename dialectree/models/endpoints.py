"""Ask one model for one reply: the ways to ask for a structured one, and what is tried again.

Only this module retries: clients make one attempt, and nodes do not run again.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import httpx2
import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from dialectree import chance, clock
from dialectree.errors import DialectreeError, KeyRefused, RequestError, Unreachable
from dialectree.models.error_mapping import Failed, Garbled, MappedError, map_error
from dialectree.models.forms import Form
from dialectree.models.limits import limiter
from dialectree.models.specs import OPENAI, Spec, key

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

Rung = Literal["json_schema", "json_object", "text"]
RUNGS: tuple[Rung, ...] = ("json_schema", "json_object", "text")
"""The ways to ask for a structured reply, the surest first."""

Sleep = Callable[[float], Awaitable[None]]
"""Pauses for some seconds; raises what ends a run meanwhile."""

ATTEMPTS = 6
"""Failures after which a call fails for good."""
CONNECT_S = 5.0
"""Seconds for a connection, from looking up the host's name on."""
UNREACHABLE_AFTER_S = 8.0
"""Seconds without an answer after which an address counts as unreachable."""
PATIENCE_S = 900.0
"""Seconds for which one call waits at a rate limit."""


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class Decoding(NamedTuple):
    """How a reply is drawn. ``max_tokens`` None leaves the length to the endpoint."""

    temperature: float
    max_tokens: int | None
    seed: int
    top_p: float | None = None

    def key(self) -> tuple[float | None, ...]:
        """Return what names the request; a ``top_p`` of the endpoint's own is no part of it."""
        return tuple(self[:3] if self.top_p is None else self)


class Request(NamedTuple):
    """What is asked, whichever rung carries it."""

    messages: tuple[Message, ...]
    form: Form
    decoding: Decoding
    deadline_s: float
    per_minute: float | None
    config: RunnableConfig
    """Name and metadata of the call in a trace."""


class Completion(NamedTuple):
    """What came back. ``error`` says why nothing did, to the last try."""

    text: str = ""
    finish: str | None = None
    refusal: str | None = None
    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    error: str | None = None


class Attempts:
    """The attempts at one call, the time that is left for them, and whether anybody waits."""

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.made = self.waits = self._failed = 0
        self._end = 0.0
        self._waiting_since = math.inf
        self._out = self._given_up = False

    def begin(self, waited_s: float) -> None:
        """Count an attempt, and extend the deadline by ``waited_s``, which others caused."""
        self._end = self._end + waited_s if self.made else clock.seconds() + self.deadline_s
        self.made += 1
        self._out = True

    def fail(self) -> None:
        """Note that the attempt failed; raise CancelledError if nobody wants another."""
        self._out = False
        if self._given_up:
            raise asyncio.CancelledError

    def give_up(self, task: asyncio.Task[Any]) -> None:
        """Let ``task``, which makes the call, send nothing more; a request that is out may end."""
        self._given_up = True
        if not self._out:
            task.cancel()

    def left_s(self) -> float:
        """Return the seconds that an attempt may take."""
        return max(0.001, self._end - clock.seconds())

    def pause_after(self, error: MappedError) -> float | None:
        """Return the seconds to pause before the next attempt; None if there is none."""
        now = clock.seconds()
        if error.kind == "wait":
            self.waits += 1
            self._waiting_since = min(self._waiting_since, now)
            return 0.0 if now - self._waiting_since < PATIENCE_S else None
        self._failed += 1
        longest = 2.0 if error.kind == "lost" else 8.0
        most = min(longest, 0.25 * 2 ** min(self._failed, 6))
        pause = max(min(error.wait_s or 0.0, 30.0), most / 2 + chance.jitter(most / 2))
        spent = self._failed >= ATTEMPTS and error.kind != "lost"
        return None if spent or now + pause >= self._end else pause


@dataclass(eq=False)
class Endpoint:
    """One model at one address, and what was learnt about it."""

    spec: Spec
    rung: Rung = "json_schema"
    rung_held: bool = False
    """True once a reply came at this rung as it was asked for."""
    dropped: set[str] = field(default_factory=set)
    """Parameters that the endpoint refuses."""
    _quiet_until: float = -math.inf
    _lost_since: float = -math.inf
    _lost_last: float = -math.inf

    def below(self, rung: Rung) -> Rung | None:
        """Return the next way to ask; None after the last. Only OpenAI's API has all three."""
        rungs = RUNGS if self.spec.openai_compatible else (RUNGS[0], RUNGS[-1])
        return None if rung == rungs[-1] else rungs[rungs.index(rung) + 1]

    async def complete(
        self,
        request: Request,
        rung: Rung | None = None,
        attempts: Attempts | None = None,
        sleep: Sleep | None = None,
    ) -> Completion:
        """Return one reply, whatever it says; ``rung`` asks lower than the endpoint's own for once.

        Tries again on 429 (waiting as long as the endpoint asks, which is no failure), 5xx,
        time-outs, broken connections and answers that are none. Raises what ends a run:
        Unreachable, KeyRefused, RequestError, ModelUnavailable, and what ``sleep`` raises.
        """
        attempts, sleep = attempts or Attempts(request.deadline_s), sleep or clock.sleep
        while True:
            await self._await_turn(attempts, request.per_minute, sleep)
            at, without, began = rung or self.rung, frozenset(self.dropped), clock.seconds()
            try:
                async with asyncio.timeout(attempts.left_s()):
                    reply = await self._send(request, at)
            except (openai.OpenAIError, TimeoutError, Garbled, Failed) as error:
                mapped = map_error(error, self.spec, without)
                self._learn(mapped, at, attempts.waits, began)
                attempts.fail()
                if mapped.kind in ("parameter", "format"):
                    rung = None if mapped.kind == "format" else rung
                    continue
                pause = None if mapped.kind == "hopeless" else attempts.pause_after(mapped)
                if pause is None:
                    return self._give_up(mapped, attempts)
                await sleep(pause)
            else:
                self._lost_last = -math.inf
                return reply._replace(attempts=attempts.made)

    async def _await_turn(self, attempts: Attempts, per_minute: float | None, sleep: Sleep) -> None:
        """Wait until the endpoint and the pace allow the next attempt."""
        began = clock.seconds()
        while (pause := self._quiet_until - clock.seconds()) > 0:
            # Calls that were turned away more often come back farther apart.
            await sleep(pause + chance.jitter(min(10.0, 0.1 * 2 ** min(attempts.waits, 7))))
        if attempts.made:
            await limiter(self.spec.provider).pace(per_minute)
        attempts.begin(clock.seconds() - began)

    def _learn(self, error: MappedError, at: Rung, waits: int, began: float) -> None:
        """Remember what concerns other calls, too."""
        if error.kind == "lost":
            self._lose(error, began)
        else:
            self._lost_last = -math.inf
        if error.kind == "parameter":
            self.dropped.add(error.parameter)
        elif error.kind == "format":
            self._step_down(at, error)
        elif error.kind == "wait":
            asked = 2.0 ** min(waits, 5) if error.wait_s is None else error.wait_s
            self._quiet_until = max(self._quiet_until, clock.seconds() + max(0.05, asked))

    def _lose(self, error: MappedError, began: float) -> None:
        """Note that nobody answered; raise Unreachable if no call was answered for a while."""
        if began - self._lost_last > UNREACHABLE_AFTER_S:
            self._lost_since = began
        self._lost_last = clock.seconds()
        if self._lost_last - self._lost_since >= UNREACHABLE_AFTER_S:
            raise self._unreachable(error)

    def _unreachable(self, error: MappedError) -> Unreachable:
        return Unreachable(f"nobody answers at {self.spec.where}: {error.text}")

    def _step_down(self, refused: Rung, error: MappedError) -> None:
        """Ask one rung lower from now on; raise RequestError if there is none."""
        below = self.below(refused)
        if below is None:
            raise RequestError(error.text)
        if RUNGS.index(below) > RUNGS.index(self.rung):
            self.rung, self.rung_held = below, False

    def _give_up(self, error: MappedError, attempts: Attempts) -> Completion:
        """Return a call that failed; raise what shows that no other call can succeed."""
        if error.kind == "lost":
            raise self._unreachable(error)
        where, text = self.spec.where, error.text
        if error.kind == "page":
            hint = "check --base-url, which usually ends in /v1"
            raise RequestError(f"{where} answers with a web page: {hint}: {text}")
        if error.kind != "hopeless":
            made = "1 attempt" if attempts.made == 1 else f"{attempts.made} attempts"
            text = f"{where} gave no reply in {made} (deadline {attempts.deadline_s:g} s): {text}"
        return Completion(attempts=attempts.made, error=text)

    async def _send(self, request: Request, rung: Rung) -> Completion:
        from dialectree.models.clients import clients  # heavy

        made = await clients()
        if self.spec.openai_compatible:
            url, key, body = await self._way_in(request, rung)
            stream_usage = "stream_options" not in self.dropped
            chat = made.chat(url, key, self.spec.model, stream_usage=stream_usage)
            return await self._ask(chat, body, request, rung)
        live = self.spec.live
        return await self._ask_other(live or made.other(self.spec), request, rung)

    async def _ask(
        self, chat: ChatOpenAI, body: dict[str, Any], request: Request, rung: Rung
    ) -> Completion:
        """Return the reply of an OpenAI-compatible endpoint, streamed if the host streams."""
        hung_s = max(1.0, request.deadline_s / 2)  # leaves time for another request
        options: dict[str, Any] = {
            "extra_body": body,
            "timeout": httpx2.Timeout(hung_s, connect=CONNECT_S, pool=CONNECT_S),
        }
        messages = _messages(request, rung)
        try:
            return _completion(await chat.ainvoke(messages, request.config, **options))
        except httpx2.HTTPError as error:  # in the middle of a stream
            raise Failed(str(error)) from error
        except ValueError as error:
            if isinstance(error, json.JSONDecodeError) or "No generation" in str(error):
                raise Garbled("a stream without a reply") from error
            raise

    async def _ask_other(self, chat: Any, request: Request, rung: Rung) -> Completion:
        """Return the reply of another library's model; raise Failed for an error of that library.

        What is meant for LangGraph or for us passes through, and so do slips of a program.
        """
        from dialectree.models import providers

        values = {k: v for k, v in request.decoding._asdict().items() if k not in self.dropped}
        chat = providers.decoded(chat, values, own=self.spec.live is not None)
        if rung == "json_schema":
            try:
                chat = providers.structured(chat, request.form)
            except NotImplementedError:
                self.rung = rung = "text"
        try:
            return _completion(await chat.ainvoke(_messages(request, rung), request.config))
        except (openai.OpenAIError, TimeoutError, DialectreeError, GraphBubbleUp, *_SLIPS):
            raise
        except Exception as error:
            raise Failed(str(error)) from error

    async def _way_in(self, request: Request, rung: Rung) -> tuple[str, str, dict[str, Any]]:
        """Return address, key, and the fields of the body that differ from call to call."""
        form, decoding = request.form, request.decoding._asdict()
        body = {name: value for name, value in decoding.items() if value is not None}
        if self.spec.provider == "local":
            from dialectree.models import embedded

            served = await embedded.serve(self.spec.model)
            body |= embedded.decoding(self.spec.model)
            # Asked for a word in plain text, the demonstration model would go on and on.
            if rung == "json_schema" or embedded.is_demonstration(self.spec.model):
                body |= embedded.constraint(form.full, self.spec.model)
            return served.base_url, served.api_key, body
        official = self.spec.url == OPENAI
        if "max_tokens" in body and (official or "max_tokens" in self.dropped):
            body["max_completion_tokens"] = body.pop("max_tokens")
        if rung == "json_schema":
            schema = form.strict if official else form.full
            held = {"name": form.name, "schema": schema, "strict": True}
            body["response_format"] = {"type": rung, "json_schema": held}
        elif rung == "json_object":
            body["response_format"] = {"type": rung}
        sent = {name: value for name, value in body.items() if name not in self.dropped}
        assert self.spec.whole_url is not None
        return self.spec.whole_url, _key(self.spec.url), sent


_SLIPS = (ArithmeticError, AssertionError, NameError)
_endpoints: dict[Spec | int, Endpoint] = {}
"""By spec; live models, which may have no hash, by identity."""
_MOST_LIVE = 256


def endpoint(spec: Spec) -> Endpoint:
    """Return the endpoint of ``spec``, which remembers what it learnt for the whole process."""
    name = spec if spec.live is None else id(spec.live)
    if len(_endpoints) > _MOST_LIVE:
        _endpoints.clear()
    return _endpoints.setdefault(name, Endpoint(spec))


def _key(url: str | None) -> str:
    from_environment = key()
    if not from_environment and url == OPENAI:
        raise KeyRefused(
            f"{url} needs a key: set OPENAI_API_KEY, or name an endpoint by --base-url"
        )
    return from_environment or "none"


_CLASSES: Mapping[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}


def _messages(request: Request, rung: Rung) -> list[BaseMessage]:
    """Return the messages; below the top rung the schema stands in the system message."""
    messages: Sequence[Message] = request.messages
    if rung != RUNGS[0]:
        system, *rest = messages
        wanted = f"{system.content}\n\nReply with {request.form.words}"
        messages = [Message("system", wanted), *rest]
    return [_CLASSES[role](content) for role, content in messages]


def _completion(message: BaseMessage) -> Completion:
    """Return what a chat model replied."""
    from dialectree.models.clients import token_count
    from dialectree.models.providers import text_of

    usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    metadata = message.response_metadata
    refusal = message.additional_kwargs.get("refusal")
    reasons = (metadata.get(f"{name}_reason") for name in ("finish", "stop", "done"))
    finish = next((reason for reason in reasons if isinstance(reason, str) and reason), None)
    if finish == "content_filter":
        refusal = refusal or "the endpoint's content filter withheld the reply"
    if finish is not None:
        finish = "length" if finish.lower() == "max_tokens" else wellformed(finish)
    prompt_tokens = token_count(usage.get("input_tokens"))
    return Completion(
        text=wellformed(text_of(message)),
        finish=finish,
        refusal=wellformed(str(refusal)) if refusal else None,
        prompt_tokens=prompt_tokens,
        completion_tokens=token_count(usage.get("output_tokens")),
        cached_tokens=min(token_count(details.get("cache_read")), prompt_tokens),
    )


def wellformed(text: str) -> str:
    """Return ``text`` that can be encoded: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
