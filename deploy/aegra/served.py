"""Define the objects that aegra.json names: the graphs, their clients, and the pages of their runs.

Aegra loads this file once for each graph, and stops if that fails. So a server without keys, which
would serve everybody, does not start.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from aegra_api.core.orm import Assistant, get_session_maker
from fastapi import FastAPI
from langgraph_sdk import Auth
from langgraph_sdk.auth.types import AuthContext, MinimalUserDict
from starlette.middleware import Middleware

from dialectree.errors import SettingsError
from dialectree.interfaces.cli.server_file import content
from dialectree.interfaces.server import owners, routes
from dialectree.interfaces.server.debates import exception_handlers
from dialectree.interfaces.server.keys import JsonOnly, SmallOnly, keys
from dialectree.interfaces.server.pages import Pages
from dialectree.protocols.protocol import load

if not keys():
    raise SettingsError("no client has a key: set DIALECTREE_SERVER_KEYS=name:key,...")

auth = Auth()
"""Aegra itself shows each client only its own threads, runs and assistants."""


@auth.authenticate
async def authenticate(headers: dict[str, str]) -> MinimalUserDict:
    """Return the client that asks; answer 401 without a key of this server."""
    encoded = {name.encode("latin-1"): text.encode("latin-1") for name, text in headers.items()}
    return await owners.authenticate(encoded)


@auth.on.threads.create_run
@auth.on.crons.create
async def create_run(ctx: AuthContext, value: Any) -> None:
    """Refuse a run whose settings, those of its assistant included, are wrong."""
    find = partial(_assistant, ctx.user.identity)
    await owners.require_run(str(value["assistant_id"]), value, find)


@auth.on.assistants.create
@auth.on.assistants.update
async def assistants(ctx: AuthContext, value: Any) -> None:
    """Refuse an assistant whose settings are wrong."""
    if value.get("graph_id"):
        owners.require_settings(value["graph_id"], owners.read_context_settings(value))


async def _assistant(identity: str, assistant_id: str) -> dict[str, Any] | None:
    """Return an assistant of the client or of the server itself."""
    async with get_session_maker()() as session:
        found = await session.get(Assistant, assistant_id)
    if found is None or found.user_id not in (identity, "system"):
        return None
    return {"graph_id": found.graph_id, "config": found.config, "context": found.context}


app = FastAPI(
    middleware=[Middleware(SmallOnly), Middleware(JsonOnly), Middleware(Pages)],
    exception_handlers=exception_handlers,
)
for route in routes:
    methods = sorted((route.methods or set()) - {"HEAD"})
    app.add_api_route(route.path, route.endpoint, methods=methods, response_model=None)


def __getattr__(name: str) -> object:
    """Return the graph that ``dialectree server-file --all`` calls ``name``."""
    graphs = content(["."], all_methods=True)["graphs"]
    if name not in graphs:
        raise AttributeError(f"there is no graph {name}; known: {', '.join(graphs)}")
    return load(graphs[name]["path"])
