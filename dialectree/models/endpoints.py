"""One endpoint: how a request is sent, what is tried again, and what its errors mean."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from dialectree import chance, clock
from dialectree.context import endpoint_from_environment
from dialectree.errors import (
    CallError,
    DialectreeError,
    KeyRefused,
    ModelUnavailable,
    RequestError,
    Unreachable,
)
from dialectree.models.replies import Form
from dialectree.models.specs import OPENAI, Spec

if TYPE_CHECKING:
    from openai import DefaultAioHttpClient

Rung = Literal["json_schema", "json_object", "text"]
RUNGS: tuple[Rung, ...] = ("json_schema", "json_object", "text")
"""The ways to ask for a structured reply, the surest first."""

ATTEMPTS = 6
RATE_LIMIT_ATTEMPTS = 60
CONNECT_S = 5.0
UNREACHABLE_AFTER_S = 8.0
_WRONG_FORMAT = re.compile(
    r"response_?format|json_?schema|json_?object|json.?mode|schema|structured|grammar|guided",
    re.IGNORECASE,
)
_OPTIONAL = ("temperature", "seed", "max_tokens", "max_completion_tokens")


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


class Decoding(NamedTuple):
    """How a reply is drawn. ``max_tokens`` None leaves the length to the endpoint."""

    temperature: float
    max_tokens: int | None
    seed: int


class Completion(NamedTuple):
    """What came back."""

    text: str
    finish: str | None
    refusal: str | None
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass
class Endpoint:
    """One model at one address, and what was learnt about it."""

    spec: Spec
    rung: Rung = "json_schema"
    dropped: set[str] = field(default_factory=set)
    """Parameters that the endpoint refuses."""
    quiet_until: float = 0.0
    """No request starts before this moment, because the endpoint asked to wait."""
    rung_held: bool = False
    """True once a reply came at this rung as it was asked for."""

    def __post_init__(self) -> None:
        if self.spec.live is not None:
            self.rung = "text"

    @property
    def where(self) -> str:
        """The address, for people."""
        return self.spec.url or self.spec.name

    def step_down(self, refused: Rung) -> Rung | None:
        """The rung below ``refused``, remembered from now on; None where there is none."""
        below = RUNGS[RUNGS.index(refused) + 1 :]
        if not below:
            return None
        if RUNGS.index(self.rung) <= RUNGS.index(refused):
            self.rung, self.rung_held = below[0], False
        return self.rung

    async def complete(
        self,
        messages: Sequence[Message],
        form: Form,
        rung: Rung,
        decoding: Decoding,
        deadline_s: float,
        config: RunnableConfig,
    ) -> Completion:
        """One reply, whatever it says.

        Tries again on 429 (waiting as long as the endpoint asks), 5xx, time-outs and broken
        connections; raises CallError when that does not help, and at once where it cannot.
        """
        end, attempts, waits, lost_since = clock.seconds() + deadline_s, 0, 0, None
        while True:
            if (pause := self.quiet_until - clock.seconds()) > 0:
                await clock.sleep(pause + chance.jitter(0.1))
            attempts += 1
            try:
                async with asyncio.timeout(max(0.001, end - clock.seconds())):
                    message = await self._send(messages, form, rung, decoding, deadline_s, config)
                return _completion(message, attempts)
            except Exception as error:  # sorted below; what is not known is raised again
                trouble = _sort(error, self)
                if trouble.drop in _OPTIONAL and trouble.drop not in self.dropped:
                    self.dropped.add(trouble.drop)
                    continue
                if trouble.final is error:
                    raise
                if trouble.final is not None:
                    raise trouble.final from error
                if trouble.kind == "wait":
                    waits, end = waits + 1, end + trouble.wait_s
                    self.quiet_until = max(self.quiet_until, clock.seconds() + trouble.wait_s)
                if trouble.kind == "connect":
                    lost_since = lost_since or clock.seconds() - CONNECT_S * trouble.slow
                    if clock.seconds() - lost_since > UNREACHABLE_AFTER_S:
                        raise Unreachable(
                            f"nobody answers at {self.where}: {trouble.text}"
                        ) from error
                tried = attempts - waits
                if (trouble.kind == "retry" and tried >= ATTEMPTS) or waits > RATE_LIMIT_ATTEMPTS:
                    text = f"{self.where} gave no reply in {attempts} attempts: {trouble.text}"
                    raise CallError(text) from error
                if trouble.kind != "wait":
                    pause = min(8.0, 0.25 * 2 ** min(tried, 6))
                    await clock.sleep(max(trouble.wait_s, pause / 2 + chance.jitter(pause / 2)))
                if clock.seconds() >= end:
                    text = f"{self.where} gave no reply within {deadline_s:g} s: {trouble.text}"
                    raise CallError(text) from error

    async def _send(
        self,
        messages: Sequence[Message],
        form: Form,
        rung: Rung,
        decoding: Decoding,
        deadline_s: float,
        config: RunnableConfig,
    ) -> BaseMessage:
        said = [_MESSAGES[message.role](message.content) for message in messages]
        if self.spec.live is not None:
            return await self.spec.live.ainvoke(said, config)
        from openai import Timeout

        model, body = await self._model(form, rung, decoding)
        timeout = Timeout(max(1.0, deadline_s / 2), connect=CONNECT_S)
        return await model.ainvoke(said, config, extra_body=body, timeout=timeout)

    async def _model(
        self, form: Form, rung: Rung, decoding: Decoding
    ) -> tuple[BaseChatModel, dict[str, Any]]:
        """The client, and the fields of the request's body that differ from call to call."""
        official = self.spec.url == OPENAI
        limit = "max_completion_tokens" if official else "max_tokens"
        body: dict[str, Any] = {"temperature": decoding.temperature, "seed": decoding.seed}
        if decoding.max_tokens is not None:
            body[limit] = decoding.max_tokens
        if self.spec.provider == "local":
            from dialectree.models import embedded

            served = await embedded.serve(self.spec.model)
            body |= embedded.decoding(self.spec.model)
            body |= embedded.constraint(form.full, self.spec.model) if rung == "json_schema" else {}
            return _client(served.base_url, self.spec.model, served.api_key, await _http()), body
        if rung == "json_schema":
            schema = form.strict if official else form.full
            held = {"name": form.name, "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        elif rung == "json_object":
            body["response_format"] = {"type": "json_object"}
        body = {name: value for name, value in body.items() if name not in self.dropped}
        if "max_tokens" in self.dropped and decoding.max_tokens is not None:
            body["max_completion_tokens"] = decoding.max_tokens
        assert self.spec.url is not None
        return _client(self.spec.url, self.spec.model, _key(self.spec.url), await _http()), body


_MESSAGES: Mapping[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}
_endpoints: dict[str, Endpoint] = {}


def endpoint(spec: Spec) -> Endpoint:
    """The endpoint of ``spec``: what was learnt about it is remembered for the whole process."""
    if spec.live is not None:
        return Endpoint(spec)
    return _endpoints.setdefault(spec.address, Endpoint(spec))


def _key(url: str) -> str:
    key, _ = endpoint_from_environment()
    if not key and url == OPENAI:
        raise KeyRefused(
            f"{url} needs a key: set OPENAI_API_KEY, or name an endpoint by --base-url"
        )
    return key or "none"


_Clients = dict[tuple[str, str, str], BaseChatModel]
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, _Clients]] = WeakKeyDictionary()


async def _http() -> tuple[DefaultAioHttpClient, _Clients]:
    """The HTTP client of this process (a client belongs to its event loop, so: of its loop)."""
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        life = _lifetime()
        _loops[loop] = (await anext(life), {})
        _lives[loop] = life
    return _loops[loop]


_lives: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncIterator[Any]] = WeakKeyDictionary()


async def _lifetime() -> AsyncIterator[DefaultAioHttpClient]:
    """A client that is closed with its event loop: a loop closes its generators when it ends."""
    import openai

    client = openai.DefaultAioHttpClient()
    try:
        yield client
    finally:
        await client.aclose()


def _client(
    url: str, model: str, key: str, http: tuple[DefaultAioHttpClient, _Clients]
) -> BaseChatModel:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    client, made = http
    if (url, model, key) not in made:
        made[url, model, key] = ChatOpenAI(
            model=model,
            base_url=url,
            api_key=SecretStr(key),
            http_async_client=client,
            max_retries=0,
            use_responses_api=False,
        )
    return made[url, model, key]


def _completion(message: BaseMessage, attempts: int) -> Completion:
    usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    finish = message.response_metadata.get("finish_reason")
    refusal = message.additional_kwargs.get("refusal")
    if finish == "content_filter":
        refusal = refusal or "the endpoint's content filter withheld the reply"
    return Completion(
        text=message.text,
        finish=finish,
        refusal=refusal,
        attempts=attempts,
        prompt_tokens=int(usage.get("input_tokens", 0)),
        completion_tokens=int(usage.get("output_tokens", 0)),
        cached_tokens=int(details.get("cache_read") or 0),
    )


class _Trouble(NamedTuple):
    """What an error means for the next attempt."""

    kind: Literal["retry", "wait", "connect", "final"]
    text: str
    wait_s: float = 0.0
    slow: bool = False
    drop: str = ""
    """A parameter that the endpoint refuses by name."""
    final: Exception | None = None


class FormatRefused(RequestError):
    """The endpoint does not take this way of asking for a structured reply."""


def _sort(error: Exception, endpoint: Endpoint) -> _Trouble:
    """What ``error`` means. One that is not the endpoint's is raised as it is."""
    import openai

    where, model = endpoint.where, endpoint.spec.name
    text = one_line(str(getattr(error, "message", "") or error) or type(error).__name__)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        if type(error.__cause__).__name__ == "ConnectTimeout":
            return _Trouble("connect", "the connection timed out", slow=True)
        return _Trouble("retry", "it timed out")
    if isinstance(error, openai.APIConnectionError):
        # By name: the client library has moved from httpx to httpx2, with the same names.
        if type(error.__cause__).__name__ in ("ConnectError", "UnsupportedProtocol"):
            return _Trouble("connect", one_line(str(error.__cause__)) or "connection refused")
        return _Trouble("retry", "the connection broke")
    if not isinstance(error, openai.APIStatusError):
        garbled = isinstance(error, openai.APIError | ValueError | TypeError | KeyError)
        if garbled and endpoint.spec.live is None and not isinstance(error, DialectreeError):
            return _Trouble("retry", f"the answer is not a chat completion: {text}")
        return _Trouble("final", text, final=error)
    status = error.status_code
    if status in (401, 403):
        hint = "set OPENAI_API_KEY to a key that it accepts"
        return _Trouble("final", text, final=KeyRefused(f"{where} refuses the key: {hint}: {text}"))
    if status == 429:
        if "quota" in str(error.code or "") or "quota" in str(error.type or ""):
            return _Trouble("final", text, final=ModelUnavailable(f"{where}: {text}"))
        return _Trouble("wait", "rate limit", wait_s=_asked_wait(error.response.headers))
    if status in (408, 409, 425) or status >= 500:
        asked = (
            _asked_wait(error.response.headers) if "retry-after" in error.response.headers else 0
        )
        return _Trouble("retry", f"status {status}", wait_s=min(asked, 30))
    if status == 404:
        hint = "check --model and --base-url; `dialectree doctor` lists what an endpoint has"
        final = RequestError(f"{where} does not know {model} (404): {hint}: {text}")
        return _Trouble("final", text, final=final)
    for name in _OPTIONAL:
        if re.search(rf"\b{name}\b", text) and name not in endpoint.dropped:
            return _Trouble("final", text, drop=name, final=RequestError(f"{where}: {text}"))
    refused = FormatRefused if _WRONG_FORMAT.search(text) else RequestError
    final = refused(f"{where} refuses the request ({status}): {text}")
    return _Trouble("final", text, final=final)


def _asked_wait(headers: Mapping[str, str]) -> float:
    """Seconds that a 429 asks to wait; 1 where it does not say; at most two minutes."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return min(120.0, max(0.05, float(headers[name]) * unit))
        except (KeyError, ValueError):
            continue
    return 1.0


def one_line(text: str, limit: int = 300) -> str:
    """``text`` on one line, without control characters, at most ``limit`` characters of it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
