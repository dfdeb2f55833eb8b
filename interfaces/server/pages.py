"""Serve the page, one file that needs no key. The data that the page requests need a key."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

FILE = Path(str(files("dialectree"))) / "page" / "page.html"
_INLINE = re.compile(rb"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL)


async def page(request: Request) -> Response:
    """Answer with the page, under a policy that lets only its own script and style run."""
    content, policy = await asyncio.to_thread(_read, FILE)
    headers = {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
    return Response(content, media_type="text/html", headers=headers)


async def to_page(request: Request) -> Response:
    """Redirect to the page from the address without its last slash."""
    return RedirectResponse("page/")


routes = [Route("/page", to_page), Route("/page/", page)]


@cache
def _read(file: Path) -> tuple[bytes, str]:
    """Return the page and its policy."""
    content = file.read_bytes()
    return content, policy_of(content)


def policy_of(content: bytes) -> str:
    """Return a policy that allows the page's own server, and its scripts and styles by their hashes.

    A script of another type, such as ``text/plain``, is data and needs no hash.
    """
    hashes: dict[bytes, list[str]] = {b"script": [], b"style": []}
    for kind, attributes, text in _INLINE.findall(content):
        if b"text/plain" not in attributes:
            hashes[kind].append(f"'sha256-{b64encode(sha256(text).digest()).decode()}'")
    scripts, styles = (" ".join(kind_hashes) or "'none'" for kind_hashes in hashes.values())
    return (
        f"default-src 'self'; script-src {scripts}; style-src {styles}; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class Pages:
    """Answers requests for the page before a key is asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the page, or pass the request on."""
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        answer = {"/page": to_page, "/page/": page}.get(path)
        if answer and scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            await (await answer(Request(scope)))(scope, receive, send)
        else:
            await self._app(scope, receive, send)
