"""Serve the tools over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import hmac
import os
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dialectree.errors import InputError
from dialectree.interfaces.background import BackgroundDebates
from dialectree.protocols.sources import MCP_KEY


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout, until it closes stdin."""
    async with stdio_server(stdin=_messages()) as (received, write_stream):  # type: ignore[arg-type]
        await server.run(received, write_stream, server.create_initialization_options())


async def _messages() -> AsyncIterator[str]:
    """Yield the lines of stdin.

    A daemon thread reads them: a blocking read would keep Ctrl-C from ending the server. Child
    processes do not inherit stdin.
    """
    stdin = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def read() -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            for line in os.fdopen(stdin, encoding="utf-8", errors="replace"):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line


# Over HTTP

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEY = MCP_KEY
"""The environment variable with the key that clients of the HTTP server must send."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket at the address; raise InputError if that fails."""
    if host not in LOOPBACK and not os.environ.get(KEY):
        raise InputError(f"--host {host}: other machines could start debates; give them a key in {KEY}")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(f"--host {host} --port {port}: {error.strerror or error}") from None


def address(listening: socket.socket) -> str:
    """Return the URL at which clients reach the server that listens at a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"


async def serve_http(
    server: Server[Any], debates: BackgroundDebates, listening: socket.socket, host: str
) -> None:
    """Serve clients at ``/mcp`` until the process is told to end."""
    # On loopback the SDK checks the headers Host and Origin. A server that other machines reach
    # does not know its names for them, and asks for a key.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(host=host, transport_security=None if host in LOOPBACK else security)
    guarded = _add_access_checks(app, os.environ.get(KEY, ""))
    config = uvicorn.Config(guarded, log_level="warning", timeout_graceful_shutdown=1)
    await _HttpServer(config, debates).serve(sockets=[listening])


class _HttpServer(uvicorn.Server):
    """At its end, breaks debates off first, which answers the waiting calls; then closes streams."""

    def __init__(self, config: uvicorn.Config, debates: BackgroundDebates) -> None:
        super().__init__(config)
        self._debates = debates

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._debates.break_off()
        await asyncio.sleep(0.1)  # the calls are answered
        await self.lifespan.shutdown()
        await super().shutdown(sockets)


def _add_access_checks(app: ASGIApp, key: str) -> ASGIApp:
    """Refuse requests without the key, and requests from pages of other sites."""

    async def serve_or_refuse(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        headers = Request(scope).headers
        origin = headers.get("origin")
        refusal = None
        if key and not hmac.compare_digest(
            headers.get("authorization", "").encode(), f"Bearer {key}".encode()
        ):
            header = {"WWW-Authenticate": "Bearer"}
            refusal = PlainTextResponse("The key is missing or wrong.", 401, header)
        elif origin and urlsplit(origin).netloc != headers.get("host"):
            refusal = PlainTextResponse("Pages of other sites are kept out.", 403)
        await (refusal or app)(scope, receive, send)

    return serve_or_refuse
