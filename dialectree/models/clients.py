"""HTTP clients and chat models, made once for each event loop and address.

Connections belong to an event loop, so a process with several loops has clients for each.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import openai
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from dialectree.addresses import basic, public, secrets
from dialectree.errors import RequestError
from dialectree.models import providers
from dialectree.models.error_mapping import Garbled, one_line
from dialectree.models.specs import Spec

CONNECTIONS = 1000
"""Connections to an address at once, whatever the limits of the runs."""
NO_KEY = "none"
"""The key for an endpoint that wants none."""
_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""Headers of a changed reply; others may quote the request."""
_TELLTALES = tuple(f"x-stainless-{name}" for name in ("os", "arch", "runtime", "runtime-version"))
"""Headers of the client library that describe this machine."""
_MOST_TOKENS = 1e12
"""More tokens than any call takes."""


def _log_no_secret(record: logging.LogRecord) -> bool:
    """Take user, password and query out of the addresses that httpx2 logs."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            public(str(value)) if isinstance(value, httpx2.URL) else value for value in record.args
        )
    return True


logging.getLogger("httpx2").addFilter(_log_no_secret)


class HttpClient(openai.DefaultAioHttpClient):
    """Send requests to one address, and make what comes back safe to hand on.

    Key, user, password and query are added here. LangChain's models do not have them, so that no
    trace can show them; errors that quote them are changed.
    """

    def __init__(self, url: str, key: str) -> None:
        parts, token = urlsplit(url), basic(url)
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        """The address without user, password and query."""
        self._authorization = f"Basic {token}" if token else f"Bearer {key}"
        self._query = dict(parse_qsl(parts.query))
        self._secrets = secrets(url, "" if key == NO_KEY else key)
        try:
            super().__init__(
                limits=httpx2.Limits(max_connections=CONNECTIONS),
                verify=_certificates(),
                trust_env=not _is_loopback(url),  # no proxy between this machine and itself
            )
        except (ValueError, ImportError) as error:
            raise RequestError(
                f"the proxy that the environment names for {parts.hostname} cannot be used: "
                f"{one_line(self._hidden(str(error).encode()).decode())}: set another, or NO_PROXY"
            ) from None

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request``; raise Garbled for a reply that holds no chat completion."""
        for name in _TELLTALES:
            request.headers.pop(name, None)
        request.headers["Authorization"] = self._authorization
        if self._query:
            request.url = request.url.copy_merge_params(self._query)
        response = await super().send(request, **options)
        streams = response.headers.get("content-type", "").startswith("text/event-stream")
        if response.is_success and streams:
            return response
        body = await response.aread()
        if not response.is_success:
            return _with_body(response, self._hidden(body))
        if not request.url.path.endswith("/chat/completions"):
            quotes = b'"error"' in body
            return _with_body(response, self._hidden(body)) if quotes else response
        try:
            reply = json.loads(body)
            readable = _readable(reply)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            text = self._hidden(body).decode()
            raise Garbled(one_line(text) if text.strip() else "it is empty") from None
        if options.get("stream"):
            return _as_stream(response, readable)
        return response if readable == reply else _with_body(response, json.dumps(readable))

    def _hidden(self, body: bytes) -> bytes:
        """Return ``body`` without the secrets of the way to the endpoint."""
        text = body.decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):  # one spelling for each character
            text = json.dumps(json.loads(text), ensure_ascii=False)
        for secret in self._secrets:
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "***")
        return text.encode("utf-8", "replace")


def _with_body(
    response: httpx2.Response, body: bytes | str, headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    """Return ``response`` with another body; of its headers, those that errors are read by."""
    if headers is None:
        headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    return httpx2.Response(
        response.status_code, headers=headers, content=body, request=response.request
    )


def _as_stream(response: httpx2.Response, reply: dict[str, Any]) -> httpx2.Response:
    """Return the reply of an endpoint that does not stream as a stream of one piece."""
    choice = {**reply["choices"][0]}
    choice["delta"] = choice.pop("message")
    chunks = ({**reply, "choices": [choice], "usage": None}, {**reply, "choices": []})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return _with_body(response, f"{body}data: [DONE]\n\n", {"content-type": "text/event-stream"})


def _readable(reply: Any) -> dict[str, Any]:
    """Return a chat completion that LangChain can read, whatever odd fields an endpoint adds.

    Raises an error of the wrong type or key if there is no message.
    """
    if reply.get("error"):
        raise ValueError(reply["error"])
    choice = reply["choices"][0]
    message, finish, usage = choice["message"], choice.get("finish_reason"), reply.get("usage")
    content, refusal = message.get("content"), message.get("refusal")
    if not isinstance(content, str | list | None):
        raise TypeError("the content is no text")
    message = {**message, "role": "assistant"}
    if not isinstance(refusal, str | None):
        message["refusal"] = str(refusal)
    choice = {**choice, "message": message}
    if not isinstance(finish, str | None):
        choice["finish_reason"] = None
    return {**reply, "choices": [choice], "usage": usage and _usage(usage)}


def _usage(usage: Any) -> dict[str, Any] | None:
    """Return numbers that LangChain can add up."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    prompt = token_count(usage.get("prompt_tokens"))
    completion = token_count(usage.get("completion_tokens"))
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if not cached:
        return counts
    return {**counts, "prompt_tokens_details": {"cached_tokens": min(token_count(cached), prompt)}}


def token_count(value: Any) -> int:
    """Return ``value`` as a number of tokens; 0 if it is none: a paid reply is never lost."""
    try:
        count = float(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0
    return int(count) if 0 <= count < _MOST_TOKENS and math.isfinite(count) else 0


class Clients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._http: dict[tuple[str, str], HttpClient] = {}
        self._chats: dict[tuple[str, str, str, bool], ChatOpenAI] = {}
        self._others: dict[Spec, BaseChatModel] = {}

    def http(self, url: str, key: str) -> HttpClient:
        """Return the client for ``url``, which may hold a user, a password and a query."""
        if (url, key) not in self._http:
            self._http[url, key] = HttpClient(url, key)
        return self._http[url, key]

    def chat(self, url: str, key: str, model: str, *, stream_usage: bool) -> ChatOpenAI:
        """Return ``model`` of the OpenAI-compatible endpoint at ``url``."""
        name = url, key, model, stream_usage
        if name not in self._chats:
            http = self.http(url, key)
            self._chats[name] = ChatOpenAI(
                model=model,
                base_url=http.address,
                api_key=SecretStr(NO_KEY),
                http_async_client=http,
                http_socket_options=(),
                openai_proxy=None,
                cache=False,
                max_retries=0,
                stream_usage=stream_usage,
                use_responses_api=False,
            )
        return self._chats[name]

    def library(self, url: str, key: str) -> openai.AsyncOpenAI:
        """Return OpenAI's own client for ``url``."""
        http = self.http(url, key)
        return openai.AsyncOpenAI(
            base_url=http.address, api_key=NO_KEY, http_client=http, max_retries=0
        )

    def other(self, spec: Spec) -> BaseChatModel:
        """Return the model of another provider."""
        if spec not in self._others:
            self._others[spec] = providers.chat_model(spec)
        return self._others[spec]

    async def close(self) -> None:
        """Close every connection."""
        for http in self._http.values():
            await http.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates to trust; reading all of them takes a while."""
    return httpx2.create_ssl_context()


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_open: dict[asyncio.AbstractEventLoop, tuple[Clients, AsyncIterator[Clients]]] = {}


async def clients() -> Clients:
    """Return the clients of the running event loop; they are closed when it ends."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        life = _life(loop)
        _open[loop] = await anext(life), life
    return _open[loop][0]


async def _life(loop: asyncio.AbstractEventLoop) -> AsyncIterator[Clients]:
    """Yield clients; a loop that ends closes its open generators, which closes the clients."""
    made = Clients()
    try:
        yield made
    finally:
        del _open[loop]
        await made.close()
