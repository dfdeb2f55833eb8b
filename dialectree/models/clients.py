"""Clients of OpenAI-compatible endpoints: the connections of an event loop, one line an address.

Connections belong to an event loop, so that a process with several has its own for each.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import openai
from openai._models import FinalRequestOptions

from dialectree.addresses import basic, secrets
from dialectree.errors import RequestError
from dialectree.models.troubles import TooLarge

LARGEST_REPLY = 4 * 2**20
"""Bytes of a reply, decompressed, after which it is given up."""
CONNECTIONS = 1000
"""Connections at once, whatever the limits of the runs."""
_OWN_HEADERS = ("host", "content-length", "accept-encoding", "connection")
"""Headers that the connection sets as it can."""
_TELLTALE = "x-stainless-"
"""Headers that tell of the caller's program; nobody needs them to answer."""
_NO_KEY = "none"
"""The key of an endpoint that wants none."""
_LOSSLESS = ("utf-8", "surrogateescape")


class _Library(openai.AsyncOpenAI):
    """The client library, which would start a process to find out what machine it runs on."""

    def platform_headers(self) -> dict[str, str]:
        """Nothing: nobody needs them to answer."""
        return {}


class _Way(NamedTuple):
    """Where a request goes, made once."""

    empty: httpx2.Request
    """It without a body, as the client library makes it."""
    url: str
    headers: dict[str, str]


class Line:
    """The way to one endpoint: its address, headers and proxy, and the connections of a loop.

    The client library says what a request and an error look like; the request itself goes out
    below it. The library would make address and headers anew every time, walk through every
    message in search of fields to rename, and make objects of the response, which takes longer
    than all the rest of a call.
    """

    def __init__(self, url: str, key: str, connections: aiohttp.ClientSession) -> None:
        given = _given(url, key)
        self.address: str = given["base_url"]
        """Without what opens it."""
        self._library = _Library(http_client=silent(), **given)
        self._connections = connections
        self._proxy = proxy_for(url)
        self._secrets = secrets(url, "" if key == _NO_KEY else key)
        self._ways = dict[str, _Way]()

    async def post(
        self,
        path: str,
        body: Mapping[str, object],
        timeout: aiohttp.ClientTimeout,
        largest: int = LARGEST_REPLY,
    ) -> Any:
        """What is answered to ``body``: JSON, else text. Raises what the client library would.

        Raises TooLarge for an answer of more than ``largest`` bytes. An error counts by its status
        whatever its size.

        An endpoint may quote the request in an error: whoever traces hears of it without secrets.
        """
        way = self._way(path)
        asked = way.empty
        try:
            async with self._connections.post(
                way.url,
                data=json.dumps(body).encode(),
                headers=way.headers,
                proxy=self._proxy,
                timeout=timeout,
            ) as response:
                said = await _read(response, largest)
        except TimeoutError as error:
            raise openai.APITimeoutError(asked) from error
        except (aiohttp.ClientResponseError, aiohttp.InvalidURL):
            raise openai.APIConnectionError(request=asked) from None  # they quote the whole address
        except (aiohttp.ClientError, OSError) as error:
            raise openai.APIConnectionError(request=asked) from error
        too_large = f"more than {largest / 2**20:g} MB"
        if not 200 <= response.status < 300:
            if said is None:
                said = json.dumps({"error": {"message": too_large}}).encode()
            headers = [
                (name, self._discreet(value))
                for name, value in response.raw_headers
                if name.lower() != b"content-encoding"
            ]
            content = self._discreet(said)
            told = httpx2.Response(response.status, headers=headers, content=content, request=asked)
            raise self._library._make_status_error_from_response(told)
        if said is None:
            raise TooLarge(too_large)
        try:
            answer = json.loads(said)
            return answer if _is_one(answer) else self._hidden(answer)
        except (ValueError, RecursionError):
            return self._discreet(said).decode("utf-8", "replace")  # a web page, say

    def _discreet(self, said: bytes) -> bytes:
        """What an endpoint ``said`` with an error, without the secrets of the way to it."""
        try:
            return json.dumps(self._hidden(json.loads(said))).encode()
        except (ValueError, RecursionError):
            text: str = self._hidden(said.decode(*_LOSSLESS))
            return text.encode(*_LOSSLESS)

    def _hidden(self, value: Any) -> Any:
        """A value of JSON without the secrets in its texts and names."""
        if isinstance(value, dict):
            return {self._hidden(name): self._hidden(held) for name, held in value.items()}
        if isinstance(value, list):
            return [self._hidden(held) for held in value]
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, "***")
        return value

    def _way(self, path: str) -> _Way:
        if path not in self._ways:
            empty = self._library._build_request(FinalRequestOptions(method="post", url=path))
            for name in [*empty.headers]:
                if name in _OWN_HEADERS or name.startswith(_TELLTALE):
                    del empty.headers[name]
            self._ways[path] = _Way(empty, str(empty.url), dict(empty.headers))
        return self._ways[path]


async def _read(response: aiohttp.ClientResponse, largest: int) -> bytes | None:
    """Return the decompressed body, or close the connection over more than ``largest`` bytes.

    None where it was closed. The body is decompressed piece by piece, whatever its size.
    """
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > largest:
            response.close()
            return None
    return bytes(body)


class Clients:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._connections: dict[bool, aiohttp.ClientSession] = {}
        """Plain ones and secure ones."""
        self._lines: dict[tuple[str, str], Line] = {}

    def line(self, url: str, key: str) -> Line:
        """The line to ``url``, which may hold a user, a password and a query."""
        if (url, key) not in self._lines:
            self._lines[url, key] = Line(url, key, self._connected(urlsplit(url).scheme == "https"))
        return self._lines[url, key]

    def _connected(self, secure: bool) -> aiohttp.ClientSession:
        if secure not in self._connections:
            whom = _certificates() if secure else True
            self._connections[secure] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS, ssl=whom),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._connections[secure]

    async def close(self) -> None:
        """Close every connection."""
        for connections in self._connections.values():
            await connections.close()


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to believe; reading all the certificates takes a while."""
    return httpx2.create_ssl_context()


@cache
def silent() -> httpx2.AsyncClient:
    """An HTTP client for the client library that sends nothing: lines do."""

    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(f"{request.method} {request.url.path}: nothing goes out this way")

    return httpx2.AsyncClient(transport=httpx2.MockTransport(refuse), trust_env=False)


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for ``url``. None stands before this machine itself.

    RequestError for a proxy that speaks another language than HTTP.
    """
    parts = urlsplit(url)
    if _is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    known = getproxies()
    if not (proxy := known.get(parts.scheme) or known.get("all")):
        return None
    scheme, found, _ = proxy.partition("://")
    if not found:
        return f"http://{proxy}"
    if scheme.lower() not in ("http", "https"):
        raise RequestError(
            f"the environment names a proxy of the kind {scheme}:// for {parts.hostname}, and only "
            "http:// and https:// are spoken: set another, or NO_PROXY"
        )
    return proxy


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_one(answer: Any) -> bool:
    """Whether it holds completions or embeddings, and no error."""
    if not isinstance(answer, dict) or answer.get("error"):
        return False
    return bool(answer.get("choices") or answer.get("data"))


def _given(url: str, key: str) -> dict[str, Any]:
    """What the client library is given for ``url``."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    token = basic(url)
    return {
        "base_url": f"{parts.scheme}://{place}{parts.path}",
        "api_key": key,
        "default_headers": {"Authorization": f"Basic {token}"} if token else {},
        "default_query": dict(parse_qsl(parts.query)),
        "max_retries": 0,
    }


_open: dict[asyncio.AbstractEventLoop, tuple[Clients, AsyncIterator[Clients]]] = {}


async def clients() -> Clients:
    """The clients of the running event loop; they are closed when it ends."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        life = _life(loop)
        _open[loop] = await anext(life), life
    return _open[loop][0]


async def _life(loop: asyncio.AbstractEventLoop) -> AsyncIterator[Clients]:
    """A loop that ends closes the generators that it has begun; so the clients are closed too."""
    made = Clients()
    try:
        yield made
    finally:
        del _open[loop]
        await made.close()
