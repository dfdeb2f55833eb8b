"""Serve the page and folders of runs to the person at this machine, without a LangGraph server."""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from dialectree.errors import InputError
from dialectree.interfaces.server import acting, debates, pages, protocols

HOST = "127.0.0.1"
REPORTS = "reports"
"""The first part of the path under which evaluations are served, apart from all else."""


def new_token() -> str:
    """Return the token of one server: 32 random characters."""
    return secrets.token_urlsafe(24)


def listen(port: int) -> socket.socket:
    """Return a socket that only this machine reaches; raise InputError if the port is taken."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror or error}") from None


def folder(find: Callable[[Scope], Path], more: Sequence[BaseRoute] = (), *, acts: bool = False) -> ASGIApp:
    """Return an app with the page and the routes of runs.

    Args:
        find: Returns the folder of runs.
        acts: Whether debates can be started, stopped and contested here.
    """
    reading = [*protocols.routes, *debates.routes, *pages.routes]
    acting_routes = [*acting.routes, acting.start_route] if acts else []
    router = Router([*more, *acting_routes, *reading, Route("/", _to_page)])

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        scope[debates.RUNS] = find(scope)
        scope[protocols.ACTS] = protocols.OWN if acts else protocols.NONE
        await router(scope, receive, send)

    return serve


async def _to_page(request: Request) -> RedirectResponse:
    return RedirectResponse("page/")


def derive_key(token: str, name: str) -> str:
    """Return the key under which the evaluation ``name`` is served; it does not reveal the token.

    Another person may have written the report, and a script in the report can read its address.
    """
    return hmac.new(token.encode(), name.encode(), sha256).hexdigest()


def build_report_address(token: str, name: str, file: str) -> str:
    """Return the path of a page of the evaluation ``name``: report.html, audit.html ..."""
    return f"/{REPORTS}/{derive_key(token, name)}/{file}"


def app(served: ASGIApp, token: str, reports: ASGIApp | None = None) -> Starlette:
    """Return an app that serves ``served`` under the token and refuses every other request.

    ``reports`` serves each evaluation under its own key (:func:`derive_key`), which is the path
    parameter ``key``; it raises RunNotFound for an unknown key.
    """
    apart = [] if reports is None else [Mount(f"/{REPORTS}/{{key}}", reports)]
    return Starlette(
        routes=[Mount(f"/{token}", served), *apart],
        middleware=[Middleware(_Guard, token=token)],
        exception_handlers=debates.exception_handlers,
    )


async def serve(served: Starlette, listening: socket.socket) -> None:
    """Serve until the process is told to end."""
    config = uvicorn.Config(served, log_level="warning", timeout_graceful_shutdown=1, ws="none")
    await uvicorn.Server(config).serve(sockets=[listening])


class _Guard:
    """Answers 403 to a foreign host name or a page of another site, 401 without the token.

    If the name of a site leads to this machine (DNS rebinding), the header Host has that name.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and (refusal := self._refusal(scope)):
            status, line = refusal
            refused = JSONResponse({"detail": line}, status, headers=debates.SAFE)
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers, port = Headers(scope=scope), scope["server"][1]
        hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
        if headers.get("host") not in hosts:
            return 403, "only this machine's own address is served"
        if headers.get("origin") not in (None, f"http://{headers['host']}"):
            return 403, "pages of other sites are kept out"
        first_part = scope["path"].removeprefix("/").partition("/")[0]
        if first_part == REPORTS:
            return None  # each report has its own key
        if not hmac.compare_digest(first_part.encode(), self._token.encode()):
            return 401, "open the address that dialectree view printed: it has a token in it"
        return None
