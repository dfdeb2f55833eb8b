"""One endpoint: the ladder of ways to ask it for a structured reply, and what is tried again.

Only this place retries: the client below makes one attempt, and nodes are not run again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import aiohttp
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_async_callback_manager_for_config
from langgraph.errors import GraphBubbleUp

from dialectree import chance, clock
from dialectree.errors import DialectreeError, KeyRefused, RequestError, Unreachable
from dialectree.models.forms import Form
from dialectree.models.limits import limiter
from dialectree.models.specs import OPENAI, Spec, key
from dialectree.models.troubles import Failed, Garbled, Trouble, reading, trouble

Rung = Literal["json_schema", "json_object", "text"]
RUNGS: tuple[Rung, ...] = ("json_schema", "json_object", "text")
"""The ways to ask for a structured reply, the surest first."""

Sleep = Callable[[float], Awaitable[None]]
"""Pauses for some seconds; raises what ends a run meanwhile."""

ATTEMPTS = 6
"""Failures after which a call fails for good."""
CONNECT_S = 5.0
"""Seconds for a connection to come about, from the name of the host on."""
UNREACHABLE_AFTER_S = 8.0
"""Seconds without anybody at the address after which it counts as unreachable."""
PATIENCE_S = 900.0
"""Seconds for which one call puts up with a rate limit."""
_MOST_TOKENS = 1e12
"""No call takes so many."""


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

    def given(self) -> tuple[float | None, ...]:
        """What names the request; a ``top_p`` that is left to the endpoint has no part in it."""
        return tuple(self[:3] if self.top_p is None else self)


class Request(NamedTuple):
    """What is asked, whichever rung of the ladder carries it."""

    messages: tuple[Message, ...]
    form: Form
    decoding: Decoding
    deadline_s: float
    per_minute: float | None
    config: RunnableConfig
    """Name and metadata of the call in a trace."""
    traced: bool | None = None
    """Whether anybody listens, and so has to be told of the call; None: to be found out."""


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


class Course:
    """How far a call has come, for whoever gives it up: a request that is out may end."""

    def __init__(self) -> None:
        self._out = self._given_up = False

    def give_up(self, task: asyncio.Task[Any]) -> None:
        """From now on ``task``, which makes the call, sends nothing."""
        self._given_up = True
        if not self._out:
            task.cancel()

    def sent(self) -> None:
        """A request is out; its reply is kept, whoever still wants it."""
        self._out = True

    def failed(self) -> None:
        """No reply came of it; CancelledError where nobody wants another request."""
        self._out = False
        if self._given_up:
            raise asyncio.CancelledError


class _Tries:
    """The attempts at one call, and the time that is left for them."""

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        self.end = clock.seconds() + deadline_s
        self.made = self.failed = self.waits = 0
        self._waiting_since = math.inf

    def left_s(self) -> float:
        """Seconds that an attempt may take."""
        return max(0.001, self.end - clock.seconds())

    def after(self, error: Trouble) -> float | None:
        """Seconds to pause before the next attempt; None when there is none."""
        now = clock.seconds()
        if error.kind == "wait":
            self.waits += 1
            self._waiting_since = min(self._waiting_since, now)
            return 0.0 if now - self._waiting_since < PATIENCE_S else None
        self.failed += 1
        longest = 2.0 if error.kind == "lost" else 8.0
        most = min(longest, 0.25 * 2 ** min(self.failed, 6))
        pause = max(min(error.wait_s or 0.0, 30.0), most / 2 + chance.jitter(most / 2))
        spent = self.failed >= ATTEMPTS and error.kind != "lost"
        return None if spent or now + pause >= self.end else pause


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

    def __post_init__(self) -> None:
        if self.spec.live is not None:
            self.rung = "text"

    async def complete(
        self,
        request: Request,
        rung: Rung | None = None,
        course: Course | None = None,
        sleep: Sleep | None = None,
    ) -> Completion:
        """One reply, whatever it says; ``rung`` asks lower than the endpoint's own for once.

        Tries again on 429 (waiting as long as the endpoint asks, which is no failure), 5xx,
        time-outs, broken connections and answers that are none. Raises what ends a run:
        Unreachable, KeyRefused, RequestError, ModelUnavailable, and what ``sleep`` raises.
        """
        tries, course, sleep = _Tries(request.deadline_s), course or Course(), sleep or clock.sleep
        while True:
            await self._start(tries, request.per_minute, sleep)
            at, without = rung or self.rung, frozenset(self.dropped)
            began = clock.seconds()
            course.sent()
            try:
                async with asyncio.timeout(tries.left_s()):
                    done = await self._send(request, at)
            except (openai.OpenAIError, TimeoutError, Garbled, Failed) as error:
                met = trouble(error, self.spec, without)
                self._learn(met, at, tries.waits, began)
                course.failed()
                if met.kind in ("parameter", "format"):
                    rung = None if met.kind == "format" else rung
                    continue
                pause = None if met.kind == "hopeless" else tries.after(met)
                if pause is None:
                    return self._gave_up(met, tries)
                await sleep(pause)
            else:
                self._lost_last = -math.inf
                return done._replace(attempts=tries.made)

    async def _start(self, tries: _Tries, per_minute: float | None, sleep: Sleep) -> None:
        """Wait for the next attempt's turn; time that others make us wait is not the call's."""
        began = clock.seconds()
        while (pause := self._quiet_until - clock.seconds()) > 0:
            # Those who were turned away more often come back farther apart.
            await sleep(pause + chance.jitter(min(10.0, 0.1 * 2 ** min(tries.waits, 7))))
        if tries.made:
            await limiter(self.spec.provider).pace(per_minute)
        tries.made += 1
        tries.end += clock.seconds() - began

    def _learn(self, met: Trouble, at: Rung, waits: int, began: float) -> None:
        """Remember what concerns other calls too."""
        if met.kind == "lost":
            self._lose(met, began)
        else:
            self._lost_last = -math.inf
        if met.kind == "parameter":
            self.dropped.add(met.parameter)
        elif met.kind == "format":
            self._step_down(at, met)
        elif met.kind == "wait":
            asked = 2.0 ** min(waits, 5) if met.wait_s is None else met.wait_s
            self._quiet_until = max(self._quiet_until, clock.seconds() + max(0.05, asked))

    def _lose(self, met: Trouble, began: float) -> None:
        """Nobody answered; Unreachable when nobody has for a while, whichever call asked."""
        if began - self._lost_last > UNREACHABLE_AFTER_S:
            self._lost_since = began
        self._lost_last = clock.seconds()
        if self._lost_last - self._lost_since >= UNREACHABLE_AFTER_S:
            raise self._unreachable(met)

    def _unreachable(self, met: Trouble) -> Unreachable:
        return Unreachable(f"nobody answers at {self.spec.where}: {met.text}")

    def _step_down(self, refused: Rung, met: Trouble) -> None:
        """From now on the rung below; RequestError where there is none."""
        if refused == RUNGS[-1]:
            raise RequestError(met.text)
        below = RUNGS[RUNGS.index(refused) + 1]
        if RUNGS.index(below) > RUNGS.index(self.rung):
            self.rung, self.rung_held = below, False

    def _gave_up(self, met: Trouble, tries: _Tries) -> Completion:
        """The last try was in vain: a call that failed, or a sign that none can do better."""
        if met.kind == "lost":
            raise self._unreachable(met)
        where, text = self.spec.where, met.text
        if met.kind == "page":
            hint = "check --base-url, which usually ends in /v1"
            raise RequestError(f"{where} answers with a web page: {hint}: {text}")
        if met.kind != "hopeless":
            made = "1 attempt" if tries.made == 1 else f"{tries.made} attempts"
            text = f"{where} gave no reply in {made} (deadline {tries.deadline_s:g} s): {text}"
        return Completion(attempts=tries.made, error=text)

    async def _send(self, request: Request, rung: Rung) -> Completion:
        said = _said(request, rung)
        if self.spec.live is not None:
            return await _alive(self.spec.live, said, request.config)
        from dialectree.models.clients import clients  # heavy, and a live model needs none

        url, key, body = await self._way_in(request, rung)
        model, line = self.spec.model, (await clients()).line(url, key)
        # A request that hangs is given up while there is time for another.
        hung_s = max(1.0, request.deadline_s / 2)
        timeout = aiohttp.ClientTimeout(sock_read=hung_s, sock_connect=CONNECT_S, connect=CONNECT_S)
        if traced(request.config) if request.traced is None else request.traced:
            from dialectree.models.traced import chat  # as heavy again

            asked = chat(line, model).bind(extra_body=body, timeout=timeout)
            answer = await asked.ainvoke(_as_messages(said), request.config)
            with reading():  # not whoever listens: what that raises is no failure of the endpoint
                return _told(answer)
        with reading():
            turns = [message._asdict() for message in said]
            body = {"model": model, "messages": turns, **body}
            return answered(await line.post("/chat/completions", body, timeout))

    async def _way_in(self, request: Request, rung: Rung) -> tuple[str, str, dict[str, Any]]:
        """Address, key, and the fields of the body that differ from call to call."""
        form, body = request.form, _drawn(request.decoding)
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


async def _alive(
    live: BaseChatModel, said: Sequence[Message], config: RunnableConfig
) -> Completion:
    """What a live model says; Failed for an error of whatever library it is made with.

    What is meant for LangGraph or for us is no failure of the model, nor is a slip of its program.
    """
    try:
        return _told(await live.ainvoke(_as_messages(said), config))
    except (openai.OpenAIError, TimeoutError, DialectreeError, GraphBubbleUp, *_SLIPS):
        raise
    except Exception as error:
        raise Failed(str(error)) from error


def _drawn(decoding: Decoding) -> dict[str, Any]:
    drawn: dict[str, Any] = {"temperature": decoding.temperature, "seed": decoding.seed}
    more = {"max_tokens": decoding.max_tokens, "top_p": decoding.top_p}
    return {**drawn, **{name: value for name, value in more.items() if value is not None}}


def _said(request: Request, rung: Rung) -> Sequence[Message]:
    """The messages; below the top rung the schema stands in the system message."""
    if rung == RUNGS[0]:
        return request.messages
    system, *rest = request.messages
    wanted = f"{system.content}\n\nReply with {request.form.words}"
    return [Message("system", wanted), *rest]


_MESSAGES: Mapping[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}


def _as_messages(said: Sequence[Message]) -> list[BaseMessage]:
    return [_MESSAGES[role](content) for role, content in said]


def traced(config: RunnableConfig) -> bool:
    """Whether anybody listens to what is done with ``config``, here and now."""
    return bool(get_async_callback_manager_for_config(ensure_config(config)).handlers)


_endpoints: dict[Spec, Endpoint] = {}


def endpoint(spec: Spec) -> Endpoint:
    """The endpoint of ``spec``: what was learnt about it is remembered for the whole process."""
    if spec.live is not None:
        return Endpoint(spec)
    return _endpoints.setdefault(spec, Endpoint(spec))


def _key(url: str | None) -> str:
    found = key()
    if not found and url == OPENAI:
        raise KeyRefused(
            f"{url} needs a key: set OPENAI_API_KEY, or name an endpoint by --base-url"
        )
    return found or "none"


def _told(message: BaseMessage) -> Completion:
    """What a chat model of LangChain says."""
    usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    said, refusal = message.response_metadata, message.additional_kwargs.get("refusal")
    finish = said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason")
    tokens = (usage.get("input_tokens"), usage.get("output_tokens"), details.get("cache_read"))
    return _completion(message.text, finish, refusal, *tokens)


def answered(response: Any) -> Completion:
    """Read an endpoint's answer as the OpenAI API shapes it; raise where it has another shape."""
    if not isinstance(response, dict):
        raise TypeError(f"the answer is no object: {str(response)[:200]}")
    if response.get("error"):
        raise ValueError(str(response["error"]))
    if not response.get("choices"):
        raise LookupError(f"the answer has no choices: {str(response)[:200]}")
    choice, usage = response["choices"][0], _table(response.get("usage"))
    message, details = choice["message"], _table(usage.get("prompt_tokens_details"))
    text, finish = message.get("content") or "", choice.get("finish_reason")
    tokens = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return _completion(
        text if isinstance(text, str) else AIMessage(text).text,
        finish,
        message.get("refusal"),
        *tokens,
        details.get("cached_tokens"),
    )


def _completion(
    text: str, finish: object, refusal: object, prompt: Any, completion: Any, cached: Any
) -> Completion:
    if finish == "content_filter":
        refusal = refusal or "the endpoint's content filter withheld the reply"
    ended = wellformed(finish) if isinstance(finish, str) else ""
    prompt_tokens = _count(prompt)
    return Completion(
        text=wellformed(text),
        finish="length" if ended.lower() == "max_tokens" else ended or None,
        refusal=wellformed(str(refusal)) if refusal else None,
        prompt_tokens=prompt_tokens,
        completion_tokens=_count(completion),
        cached_tokens=min(_count(cached), prompt_tokens),
    )


def _table(said: object) -> Mapping[str, Any]:
    return said if isinstance(said, dict) else {}


def _count(said: Any) -> int:
    """Tokens; 0 for what is no number of them: a reply that is paid counts, whatever it adds."""
    try:
        count = float(said or 0)
    except (TypeError, ValueError, OverflowError):
        return 0
    return int(count) if 0 <= count < _MOST_TOKENS else 0


def wellformed(text: str) -> str:
    """``text`` that can be encoded: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
