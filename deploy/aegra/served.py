"""What aegra.json names: the graphs, who may use them, and the pages of their runs.

Aegra loads this file once for each graph, and stops where it cannot be loaded. So a server without
keys does not start: it would serve everybody.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from langgraph_sdk import Auth
from langgraph_sdk.auth.types import AuthContext, MinimalUserDict
from starlette.middleware import Middleware

from dialectree.cli.server_file import content
from dialectree.errors import SettingsError
from dialectree.protocol import load
from dialectree.server import owners
from dialectree.server.debates import exception_handlers, routes
from dialectree.server.json_only import JsonOnly
from dialectree.server.keys import keys

if not keys():
    raise SettingsError("no client has a key: set DIALECTREE_SERVER_KEYS=name:key,...")

auth = Auth()
"""Aegra itself shows each client its own threads, runs and assistants alone."""


@auth.authenticate
async def authenticate(headers: dict[str, str]) -> MinimalUserDict:
    """Return who asks; 401 for whoever has no key of this server."""
    encoded = {name.encode("latin-1"): text.encode("latin-1") for name, text in headers.items()}
    return await owners.authenticate(encoded)


@auth.on.threads.create_run
async def create_run(ctx: AuthContext, value: Any) -> None:
    """Refuse a run whose settings are wrong, before it is queued."""
    owners.require_settings(str(value["assistant_id"]), value.get("context") or {})


app = FastAPI(middleware=[Middleware(JsonOnly)], exception_handlers=exception_handlers)
for route in routes:
    methods = sorted((route.methods or set()) - {"HEAD"})
    app.add_api_route(route.path, route.endpoint, methods=methods, response_model=None)


def __getattr__(name: str) -> object:
    """Return the graph that ``dialectree server-file --all`` calls ``name``."""
    graphs = content(["."], every=True)["graphs"]
    if name not in graphs:
        raise AttributeError(f"there is no graph {name}; known: {', '.join(graphs)}")
    return load(graphs[name]["path"])
