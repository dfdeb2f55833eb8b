"""Let clients in by named keys. Without keys, let in programs of this machine, but no web page."""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from dialectree.errors import SettingsError
from dialectree.protocols.sources import server_keys

NO_KEYS = (
    "no keys are configured, so that only programs of this machine are served; "
    "DIALECTREE_SERVER_KEYS=name:key,... lets others in"
)
_TOO_LARGE = "a request has at most 64 MB, which is some 48 MB of files: send fewer or smaller ones"
_REFUSED = "send the body as JSON, with the header Content-Type: application/json"
_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9_-]+):(?P<key>\S{16,})")


@cache
def keys() -> Mapping[bytes, str]:
    """Return the names of the clients by the digests of their keys.

    Raises SettingsError, which stops the server, if an entry cannot be read.
    """
    text, file = server_keys()
    entries = [entry.strip() for entry in (text or "").split(",")]
    if file:
        try:
            entries += [line.strip() for line in Path(file).read_text().splitlines()]
        except OSError as error:
            raise SettingsError(f"DIALECTREE_SERVER_KEYS_FILE: {file}: {error.strerror}") from None
    names: dict[bytes, str] = {}
    for number, entry in enumerate((raw_entry for raw_entry in entries if raw_entry), 1):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise SettingsError(
                f"DIALECTREE_SERVER_KEYS, entry {number}: write name:key, with a name of letters, "
                "digits, _ or -, and a key of at least 16 characters without blanks or commas"
            )
        if names.setdefault(_digest(match["key"]), match["name"]) != match["name"]:
            raise SettingsError(f"DIALECTREE_SERVER_KEYS, entry {number}: two names have one key")
    return names


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()


def name_of(key: str) -> str | None:
    """Return the client's name for a key; None for a wrong key. Takes the same time for every key."""
    digest = _digest(key)
    matches = [name for stored_digest, name in keys().items() if hmac.compare_digest(stored_digest, digest)]
    return matches[0] if matches else None


def owner_of(identity: str) -> str:
    """Return the owner whose runs a client sees. Without configured keys, "" means all runs."""
    return identity if keys() else ""


class LocalOnly:
    """If no keys are configured, answers 403 to all but the programs of this machine.

    A web page whose host name leads to this machine gets 403, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        asks = scope["type"] in ("http", "websocket") and not keys()
        inside = scope.get("root_path", "").startswith("/noauth")  # the server asks itself
        if asks and not inside and not _is_local(scope):
            await JSONResponse({"detail": NO_KEYS}, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_local(scope: Scope) -> bool:
    """Return whether this machine sent the request, to a name of this machine."""
    address, _ = scope.get("client") or ("127.0.0.1", 0)
    host = re.sub(r":\d+$", "", Headers(scope=scope).get("host", "")).strip("[]")
    return _is_loopback(address) and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


LARGEST = 64_000_000
"""Bytes of a request's body at most: files of some 48 MB, as Base64."""


class SmallOnly:
    """Answers 413 to a body of more than ``largest`` bytes, before it is parsed.

    The bytes are counted as they come, because Content-Length may be missing or too small.
    """

    def __init__(self, app: ASGIApp, largest: int = LARGEST) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        says = Headers(scope=scope).get("content-length", "")
        if says.isdecimal() and int(says) > self._largest:
            await JSONResponse({"detail": _TOO_LARGE}, status_code=413)(scope, receive, send)
            return
        came = 0

        async def receive_within_limit() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > self._largest:
                raise HTTPException(413, _TOO_LARGE)
            return message

        await self._app(scope, receive_within_limit, send)


class JsonOnly:
    """Answers 415 to a body that is not declared as JSON; closes the WebSocket of a page.

    A browser sends a form or plain text to another site without asking that site first, and
    LangGraph's API would read JSON in such a body. Before a browser sends declared JSON, it asks the
    site, and ``http.cors`` in langgraph.json refuses. Before a WebSocket a browser does not ask. The
    header Origin shows that a page opens the WebSocket.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and _is_unnamed(Headers(scope=scope)):
            refused = JSONResponse({"detail": _REFUSED}, status_code=415)
            await refused(scope, receive, send)
        elif scope["type"] == "websocket" and "origin" in Headers(scope=scope):
            await WebSocketClose()(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_unnamed(headers: Headers) -> bool:
    """Return whether the request has a body that is not declared as JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return body and kind != "application/json"
