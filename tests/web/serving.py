"""Serve a folder of runs, as ``dialectree view`` does, to a browser of a test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from dialectree.server import local


@contextmanager
def viewed(runs: Path) -> Iterator[str]:
    """Serve ``runs`` while the block runs; yield the address of the page."""
    token, listening = local.new_token(), local.listen(0)
    app = local.app(local.folder(lambda scope: runs), token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listening]),))
    thread.start()
    try:
        yield f"http://{local.HOST}:{listening.getsockname()[1]}/{token}/page/"
    finally:
        server.should_exit = True
        thread.join()
