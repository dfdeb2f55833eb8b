"""Serve runs to a browser of a test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from dialectree.interfaces.server import acting as acts
from dialectree.interfaces.server import debates, local, pages, protocols


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """Serve ``app`` while the block runs; yield its address."""
    listening = local.listen(0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listening]),))
    thread.start()
    try:
        yield f"http://{local.HOST}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def viewed(runs: Path, *, acts: bool = False) -> Iterator[str]:
    """Serve ``runs`` as ``dialectree view`` does; yield the address of the page."""
    token = local.new_token()
    with serving(local.app(local.folder(lambda scope: runs, acts=acts), token)) as address:
        yield f"{address}/{token}/page/"


@contextmanager
def acting() -> Iterator[str]:
    """Serve the folder of runs with what changes them; yield the address of the page."""
    routes = [*protocols.routes, *debates.routes, *acts.routes, *pages.routes]
    app = Starlette(routes=routes, exception_handlers=debates.exception_handlers)
    with serving(app) as address:
        yield f"{address}/page/"
