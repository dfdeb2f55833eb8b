"""The HTTP clients of an event loop: their keys, and the limits of replies.

Connections belong to an event loop, so a process with several loops has clients for each. Chat
models of every library read their replies over httpx or httpx2. The clients of both are changed to
limit the size of a body, but only within :func:`limit_body_size`. Checked with httpx 0.28 and httpx2 2.16.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import httpx2
import openai
from langchain_core.language_models import LangSmithParams
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import RequestOptions
from pydantic import SecretStr

from dialectree.errors import RequestError
from dialectree.models.error_mapping import ErrorReply, OversizedBody, UnreadableReply
from dialectree.models.refusals import read_refusal_value
from dialectree.models.specs import Spec, chat_model
from dialectree.system import clock
from dialectree.system.addresses import basic, is_loopback, public, secrets

CONNECTIONS = 1000
"""Connections to an address at once, for all runs together."""
_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""Headers of a response to keep, because they say how to go on. Others may quote the request."""
BODY_BYTES = 8_000_000
"""Bytes of a reply's body, decompressed; no reply needs a tenth of it."""
MOST_TOKENS = 10**9
"""The highest token count to accept."""
BEYOND = 4096
"""Tokens of a reply to accept even if its limit was smaller: some servers exceed the limit."""

_STEP_BYTES = 65536
"""Bytes to decompress at once."""
_is_bounded = ContextVar("_is_bounded", default=False)


@contextmanager
def limit_body_size() -> Iterator[None]:
    """Raise Oversized while the body of a reply is read, as soon as it exceeds ``BODY_BYTES``."""
    token = _is_bounded.set(True)
    try:
        yield
    finally:
        _is_bounded.reset(token)


class _Body:
    """Decompress a body piece by piece and count its bytes.

    httpx and httpx2 decompress a piece whole, and a few kilobytes can become gigabytes.
    """

    def __init__(self, headers: Any) -> None:
        self._coding = headers.pop("content-encoding", "identity").strip().lower()
        self._inflate: Any = None
        self._began, self._left = False, BODY_BYTES

    def read(self, piece: bytes) -> Iterator[bytes]:
        """Yield ``piece`` decompressed; raise Oversized if the body is too large.

        The first bytes tell the compression: the header of the response may be wrong, or name a charset.
        """
        if piece and not self._began:
            self._began, self._inflate = True, self._choose_decoder(piece)
        if self._inflate is None:
            yield self._check_size(piece)
            return
        while piece:
            try:
                yield self._check_size(self._inflate.decompress(piece, _STEP_BYTES))
            except zlib.error as error:
                raise OversizedBody(f"its body is not {self._coding}: {error}") from None
            piece = self._inflate.unconsumed_tail
            if self._inflate.eof:  # another member may follow
                piece = self._inflate.unused_data.lstrip(b"\0")
                self._inflate = self._choose_decoder(piece) if piece else self._inflate

    def _choose_decoder(self, piece: bytes) -> Any:
        """Return a decompressor for a body that begins with ``piece``; None: it is uncompressed."""
        if self._coding == "identity":
            return None
        if piece[:2] in (b"\x1f\x8b", b"\x1f"):
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        if self._coding in ("gzip", "x-gzip"):
            return zlib.decompressobj(zlib.MAX_WBITS | 16) if piece[:1] not in b"{[ \r\n" else None
        if self._coding == "deflate":
            head = int.from_bytes(piece[:2], "big")
            of_zlib = piece[0] & 15 == 8 and head % 31 == 0
            return zlib.decompressobj(zlib.MAX_WBITS if of_zlib else -zlib.MAX_WBITS)
        if piece[:1] in b"\xef\t\r\n" or 32 <= piece[0] < 127:
            return None  # a text: the header names no compression
        raise OversizedBody(f"its body is compressed by {self._coding!r}, which was not asked for")

    def _check_size(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise OversizedBody(f"its body is larger than {BODY_BYTES // 10**6} MB")
        return piece


class _Stream(httpx.AsyncByteStream, httpx2.AsyncByteStream, httpx.SyncByteStream, httpx2.SyncByteStream):
    """The stream of a response, decompressed and counted."""

    def __init__(self, response: Any) -> None:
        self._stream, self._body = response.stream, _Body(response.headers)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            for part in self._body.read(piece):
                yield part

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            yield from self._body.read(piece)

    def close(self) -> None:
        self._stream.close()


class _Transport:
    """Send by another transport, and limit the body of the response."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    async def handle_async_request(self, request: Any) -> Any:
        request.headers["accept-encoding"] = "gzip"
        response = await self._transport.handle_async_request(request)
        response.stream = _Stream(response)
        return response

    def handle_request(self, request: Any) -> Any:
        request.headers["accept-encoding"] = "gzip"
        response = self._transport.handle_request(request)
        response.stream = _Stream(response)
        return response


def _bound(client: Any) -> None:
    """Change the class ``client`` to limit the size of replies within :func:`limit_body_size`."""
    name = "_transport_for_url"  # called for every request, also after a redirect
    transport_of = getattr(client, name)

    def transport_for_url(self: Any, url: Any) -> Any:
        transport = transport_of(self, url)
        return _Transport(transport) if _is_bounded.get() else transport

    setattr(client, name, transport_for_url)


for _client in (httpx.AsyncClient, httpx.Client, httpx2.AsyncClient, httpx2.Client):
    _bound(_client)


def token_count(value: object) -> int:
    """Return a token count of a reply; 0 unless it is whole, finite and at most ``MOST_TOKENS``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= MOST_TOKENS and value == int(value) else 0


def usage(value: object) -> dict[str, Any]:
    """Return the usage that a reply of OpenAI's API reports, with valid token counts."""
    counts: dict[str, Any] = {}
    for name, count in value.items() if isinstance(value, Mapping) else ():
        if name.endswith("_details"):
            counts[name] = usage(count)
        else:
            counts[name] = token_count(count) if name.endswith("_tokens") else count
    return counts


def completion_tokens(usage_fields: Mapping[str, Any], max_tokens: int | None) -> tuple[int, bool]:
    """Return the completion tokens of a reply, and whether the endpoint reported too many.

    Some endpoints bill thoughts in the total alone. So return the larger of the stated count and
    the total minus prompt tokens and separately listed cached tokens. If this exceeds ``max_tokens``
    plus the stated thoughts, accept up to :data:`BEYOND` plus these thoughts.
    """
    details = usage_fields.get("completion_tokens_details")
    thoughts = token_count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else 0
    stated, prompt = (token_count(usage_fields.get("completion_tokens")), usage_fields.get("prompt_tokens"))
    total = token_count(usage_fields.get("total_tokens"))
    beside = sum(
        token_count(count)
        for name, count in usage_fields.items()
        if name.startswith("cache") and name.endswith("_tokens")
    )
    billed = max(stated, total - token_count(prompt) - beside) if prompt else stated
    if not total and thoughts > stated:
        billed = stated + thoughts
    if max_tokens is None or billed <= max(stated, max_tokens + thoughts):
        return billed, False
    return max(stated, min(billed, max(max_tokens, BEYOND) + thoughts)), True


def read_completion(text: str) -> Any:
    """Return the JSON of a reply's body, or of an unrequested stream of events."""
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith(("data:", "event:", "id:", ":", "retry:")):
        return json.loads(text, strict=False)
    reply: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for line in text.splitlines():
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data in ("", "[DONE]"):
            continue
        chunk = json.loads(data, strict=False)
        if not isinstance(chunk, dict) or (chunk.get("error") and not chunk.get("choices")):
            return chunk
        reply |= {name: value for name, value in chunk.items() if value is not None}
        for choice in chunk.get("choices") or []:
            _add_piece(choices.setdefault(choice.get("index") or 0, {"message": {}}), choice)
    return {**reply, "choices": [choices[n] for n in sorted(choices)]}


def is_refusal(reply: object) -> bool:
    """Return whether ``reply``, sent with status 200, is an error: it names an error and has no choices."""
    if isinstance(reply, list):
        return bool(reply) and is_refusal(reply[0])
    if not isinstance(reply, Mapping) or reply.get("choices"):
        return False
    error = reply.get("error") or reply.get("detail") or reply.get("errors")
    return bool(error) or reply.get("object") == "error" or reply.get("type") == "error"


def _normalise_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a choice in the form of OpenAI's API, with a text as content.

    Other servers send an object, a list of parts, a ``delta`` or a bare ``text``.
    """
    message = choice.get("message") or choice.get("delta") or {"content": choice.get("text")}
    content = message.get("content")
    if content is None and isinstance(parsed := message.get("parsed"), dict):
        content = parsed
    if isinstance(content, dict):
        content = json.dumps(content, ensure_ascii=False)
    elif isinstance(content, list):
        texts = (part if isinstance(part, str) else _text_of(part) for part in content)
        content = "".join(texts)
    return {**choice, "message": {"role": "assistant", **message, "content": content}}


def _text_of(part: Any) -> str:
    """Return the text of a part of the content; empty for a thought."""
    text = part.get("text") if isinstance(part, Mapping) and "think" not in part else None
    kinds = ("text", "output_text", None)
    return text if isinstance(text, str) and part.get("type") in kinds else ""


def _add_piece(full_choice: dict[str, Any], choice: Mapping[str, Any]) -> None:
    """Add a piece of a stream to a choice."""
    message = full_choice["message"]
    for name, value in (choice.get("delta") or choice.get("message") or {}).items():
        if isinstance(value, str) and name != "role":
            message[name] = message.get(name, "") + value
        elif value is not None:
            message[name] = value
    full_choice |= {n: content for n, content in choice.items() if n not in ("delta", "message") and content}


def _log_no_secret(record: logging.LogRecord) -> bool:
    """Remove user, password and query from the addresses that httpx2 logs."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            public(str(value)) if isinstance(value, httpx2.URL) else value for value in record.args
        )
    return True


logging.getLogger("httpx2").addFilter(_log_no_secret)


@contextmanager
def require_usable_proxy(url: str) -> Iterator[None]:
    """Raise RequestError if the environment's proxy for ``url`` is unusable."""
    try:
        yield
    except (ValueError, ImportError, httpx2.InvalidURL):
        raise RequestError(
            f"the proxy that the environment names for {urlsplit(url).hostname} cannot be used: "
            "set an http:// one, or NO_PROXY"
        ) from None


class HttpClient(openai.DefaultAioHttpClient):
    """Send requests to one address.

    The client adds key, user, password and query to a request, and removes them from the response.
    LangChain's models do not have these secrets, so that no trace can show them.
    """

    def __init__(self, url: str, key: str) -> None:
        parts, token = urlsplit(url), basic(url)
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        """The address without user, password and query."""
        self._authorization = f"Basic {token}" if token else f"Bearer {key or 'none'}"
        self._query = dict(parse_qsl(parts.query))
        self._secrets = secrets(url, key)
        with require_usable_proxy(url):
            super().__init__(
                limits=httpx2.Limits(max_connections=CONNECTIONS),
                verify=_certificates(),
                trust_env=not is_loopback(url),  # no proxy between this machine and itself
            )

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request`` with its credentials; remove the secrets from the response."""
        request.headers["Authorization"] = self._authorization
        if self._query:
            request.url = request.url.copy_merge_params(self._query)
        response = await super().send(request, **options)
        streams = response.headers.get("content-type", "").startswith("text/event-stream")
        if streams and options.get("stream"):
            return response
        text = before = (await response.aread()).decode("utf-8", "replace")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        if response.is_success and options.get("stream"):
            return _as_stream(response, json.loads(text))
        if response.is_success and text == before:
            return response
        headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
        return httpx2.Response(response.status_code, headers=headers, content=text.encode(), request=request)


def _as_stream(response: httpx2.Response, reply: dict[str, Any]) -> httpx2.Response:
    """Return a whole reply, sent in place of a stream, as a stream of one piece."""
    choice = {**reply["choices"][0]}
    choice["delta"] = choice.pop("message")
    chunks = ({**reply, "choices": [choice], "usage": None}, {**reply, "choices": []})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return httpx2.Response(
        response.status_code,
        headers={"content-type": "text/event-stream"},
        content=f"{body}data: [DONE]\n\n",
        request=response.request,
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates to trust; reading all of them takes a while."""
    return httpx2.create_ssl_context()


class EndpointChat(ChatOpenAI):
    """Ask an OpenAI-compatible endpoint; raise Garbled for a reply that cannot be read."""

    def _get_invocation_params(self, stop: Any = None, **options: Any) -> dict[str, Any]:
        """Return the fields of the request, for traces; include those in ``extra_body``."""
        body = options.pop("extra_body", {})
        return {**super()._get_invocation_params(stop=stop, **options), **body}

    def _get_ls_params(self, stop: Any = None, **options: Any) -> LangSmithParams:
        """Return the parameters that LangSmith shows; temperature and token limit are in ``extra_body``."""
        body = options.get("extra_body", {})
        sampling = {name: body[name] for name in ("temperature", "max_tokens") if name in body}
        return super()._get_ls_params(stop=stop, **{**options, **sampling})

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **options: Any
    ) -> ChatGenerationChunk | None:
        """Return a piece of a stream, with valid token counts."""
        chunk = {**chunk, "usage": usage(chunk.get("usage"))}
        return super()._convert_chunk_to_generation_chunk(chunk, *args, **options)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **options: Any,
    ) -> ChatResult:
        """Post the body unchanged, without OpenAI's ``create``, which walks over the types of every message.

        Replace invalid token counts, because LangChain would fail on them when it reads the reply.
        """
        body = self._get_request_payload(messages, stop=stop, **options)
        request_options: RequestOptions = {"extra_json": body.pop("extra_body", {})}
        if "timeout" in body:
            request_options["timeout"] = body.pop("timeout")
        response = await self.root_async_client.post(
            "/chat/completions", body=body, cast_to=httpx2.Response, options=request_options
        )
        try:
            reply = read_completion(response.text)
            if is_refusal(reply):
                raise ErrorReply(read_refusal_value(reply))
            reply = {**reply, "choices": [_normalise_choice(choice) for choice in reply["choices"]]}
            token_usage = usage(reply.get("usage"))
            result = self._create_chat_result({**reply, "usage": token_usage})
            for choice, generation in zip(reply["choices"], result.generations, strict=True):
                message = choice["message"]
                thoughts = message.get("reasoning_content") or message.get("reasoning")
                beside = {"refusal": message.get("refusal"), "thoughts": thoughts, "usage": token_usage}
                generation.message.additional_kwargs |= beside
        except ErrorReply:
            raise
        except json.JSONDecodeError:
            raise UnreadableReply(response.text) from None
        except Exception as error:
            raise UnreadableReply(str(error)) from error
        if not result.generations:
            raise UnreadableReply("it has no choices")
        return result

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        pieces, pending_chunk = 0, None
        try:
            async for chunk in super()._astream(*args, **options):
                pieces += 1
                pending_chunk = chunk if pending_chunk is None else pending_chunk + chunk
                # LangChain keeps each piece, whose object is far larger than its text.
                if pieces < 1000 or pieces % 100 == 0:
                    yield pending_chunk
                    pending_chunk = None
                if pieces % 100 == 0:
                    await clock.sleep(0)  # a stream that never pauses must not hold up others
        except json.JSONDecodeError as error:
            raise UnreadableReply(str(error)) from error
        if pending_chunk is not None:
            yield pending_chunk
        if not pieces:
            raise UnreadableReply("a stream without a reply")


class Clients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._http: dict[tuple[str, str], HttpClient] = {}
        self._chats: dict[tuple[str, str, str, bool], EndpointChat] = {}
        self._others: dict[Spec, Any] = {}

    def chat(self, url: str, key: str, model: str, *, stream_usage: bool) -> EndpointChat:
        """Return the chat model for ``model`` at the OpenAI-compatible endpoint ``url``."""
        name = url, key, model, stream_usage
        if name not in self._chats:
            if (url, key) not in self._http:
                self._http[url, key] = HttpClient(url, key)
            http = self._http[url, key]
            with require_usable_proxy(url):  # LangChain makes a client of its own, too
                self._chats[name] = EndpointChat(
                    model=model,
                    base_url=http.address,
                    api_key=SecretStr("none"),  # the HTTP client has the key
                    http_async_client=http,
                    http_socket_options=(),
                    openai_proxy=None,
                    cache=False,
                    max_retries=0,
                    stream_usage=stream_usage,
                    stream_chunk_timeout=None,  # wait_for of Python 3.11 may ignore our deadline
                    use_responses_api=False,
                )
        return self._chats[name]

    def get_chat_model(self, spec: Spec) -> Any:
        """Return the chat model of ``spec``, whose provider has another API."""
        if spec not in self._others:
            self._others[spec] = chat_model(spec)
        return self._others[spec]

    async def close(self) -> None:
        """Close every connection."""
        for http in self._http.values():
            await http.aclose()


_open: dict[asyncio.AbstractEventLoop, tuple[Clients, AsyncIterator[Clients]]] = {}


async def clients() -> Clients:
    """Return the clients of the running event loop; they are closed when the loop ends."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        life = _life(loop)
        _open[loop] = await anext(life), life
    return _open[loop][0]


async def _life(loop: asyncio.AbstractEventLoop) -> AsyncIterator[Clients]:
    """Yield clients. When a loop ends, it closes this generator, and so the clients."""
    loop_clients = Clients()
    try:
        yield loop_clients
    finally:
        del _open[loop]
        await loop_clients.close()
