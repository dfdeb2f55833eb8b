"""Hold the objects that langgraph.json names: the routes, the guards and the keys of a server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware

from dialectree.interfaces.server import acting, debates, protocols
from dialectree.interfaces.server.keys import NO_KEYS, JsonOnly, LocalOnly, SmallOnly, keys
from dialectree.interfaces.server.owners import auth
from dialectree.interfaces.server.pages import Pages
from dialectree.interfaces.server.presets import offer_presets

__all__ = ["app", "auth", "routes"]


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Log the names of the clients, and offer the presets."""
    names = sorted({*keys().values()})
    served = f"keys: {', '.join(names)}" if names else NO_KEYS
    logging.getLogger("dialectree").warning(served)
    await offer_presets()
    yield


routes = [*protocols.routes, *debates.routes, *acting.routes]
"""The routes that need a key, on every host."""
app = Starlette(
    routes=routes,
    middleware=[Middleware(LocalOnly), Middleware(SmallOnly), Middleware(JsonOnly), Middleware(Pages)],
    exception_handlers=debates.exception_handlers,
    lifespan=lifespan,
)
"""The app that ``http.app`` in langgraph.json names."""
