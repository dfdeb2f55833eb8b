"""Let a client of the server see and change only its own threads, runs and assistants.

If no keys are configured, all clients are the same person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx
from langgraph_sdk import Auth, get_client
from langgraph_sdk.auth.types import AuthContext, MinimalUserDict

from dialectree.errors import DialectreeError
from dialectree.interfaces.server.keys import keys, name_of
from dialectree.protocols.forms import FormFields
from dialectree.protocols.protocol import Method, methods
from dialectree.protocols.settings import accept_settings
from dialectree.protocols.sources import list_all_setting_names

auth = Auth()
Filter = dict[str, Any] | None
Find = Callable[[str], Awaitable[Mapping[str, Any] | None]]

_HOW = "send your key in the header x-api-key, or as Authorization: Bearer KEY"


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> MinimalUserDict:
    """Return the client that asks; answer 401 without a key of this server."""
    if not keys():
        return {"identity": "", "is_authenticated": True}
    scheme, _, bearer = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    key = headers.get(b"x-api-key", b"").decode("latin-1")
    key = key or (bearer.strip() if scheme.lower() == "bearer" else "")
    if not key:
        raise Auth.exceptions.HTTPException(401, f"no key: {_HOW}")
    name = name_of(key)
    if name is None:
        raise Auth.exceptions.HTTPException(401, f"this key is not known here: {_HOW}")
    return {"identity": name, "is_authenticated": True}


@auth.on
async def restrict_to_owner(ctx: AuthContext, value: Any) -> Filter:
    """Mark a client's threads, runs and crons as its own, and let it see only these."""
    return _mark_owner(ctx, value)


@auth.on.threads.create_run
async def create_run(ctx: AuthContext, value: Any) -> Filter:
    """Refuse a run whose settings are wrong, before it is queued."""
    context = value["kwargs"].get("context")  # the server has put ``configurable`` there, too
    await require_run(str(value["assistant_id"]), {"context": context}, _assistant)
    return _mark_owner(ctx, value)


@auth.on.crons
async def crons(ctx: AuthContext, value: Any) -> Filter:
    """Refuse a repeated run whose settings are wrong."""
    payload = value.get("payload") or {}
    if payload.get("assistant_id"):
        await require_run(str(payload["assistant_id"]), payload, _assistant)
    return _mark_owner(ctx, value)


async def _assistant(assistant_id: str) -> Mapping[str, Any] | None:
    try:
        return {**await get_client().assistants.get(assistant_id)}
    except httpx.HTTPStatusError:
        return None


async def require_run(assistant_id: str, run: Mapping[str, Any], find: Find) -> None:
    """Answer 422 if the settings of a run or of its assistant are wrong.

    ``find`` returns an assistant or None; the server itself reports a missing assistant.
    """
    graph = {"graph_id": assistant_id}
    assistant = graph if _method(assistant_id) is not None else await find(assistant_id)
    if assistant is not None:
        require_settings(
            assistant["graph_id"], {**read_context_settings(assistant), **read_context_settings(run)}
        )


def read_context_settings(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of an assistant or a run, from ``context`` or ``configurable``."""
    context_settings = value.get("context") or (value.get("config") or {}).get("configurable")
    return context_settings if isinstance(context_settings, Mapping) else {}


@auth.on.assistants
async def assistants(ctx: AuthContext, value: Any) -> Filter:
    """Let a client use its own assistants and those that the server made."""
    if ctx.action in ("read", "search"):
        mine = {"owner": ctx.user.identity}
        return {"$or": [mine, {"created_by": "system"}]} if keys() else None
    if value.get("graph_id"):
        require_settings(value["graph_id"], read_context_settings(value))
    (value.get("metadata") or {}).pop("created_by", None)  # a client must not pose as the server
    return _mark_owner(ctx, value)


@auth.on.store
async def store(ctx: AuthContext, value: Any) -> None:
    """Keep each client's items under its name."""
    namespace = tuple(value.get("namespace") or ())
    if keys() and namespace[:1] != (ctx.user.identity,):
        value["namespace"] = (ctx.user.identity, *namespace)


def _mark_owner(ctx: AuthContext, value: Any) -> Filter:
    """Name the client in the metadata of ``value``; return the filter for the client's items."""
    if not keys():
        return None
    owner = {"owner": ctx.user.identity}
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(metadata, dict):
            metadata.update(owner)
        elif ctx.action in ("create", "create_run"):
            value["metadata"] = owner
    return owner


def require_settings(graph: str, context: Mapping[str, Any]) -> None:
    """Answer 422, with a line that says what to change, if a graph's settings are wrong."""
    try:
        check_settings(graph, context)
    except DialectreeError as error:
        raise Auth.exceptions.HTTPException(422, str(error)) from None


def check_settings(graph: str, context: Mapping[str, Any]) -> None:
    """Raise a DialectreeError if a client gives a graph of ours wrong or forbidden settings."""
    method = _method(graph)
    if method is None:
        return
    settings = method.protocol.settings
    offered, foreign_names = (
        FormFields({}, settings.model_fields),
        list_all_setting_names() - {*settings.model_fields},
    )
    values = {
        name: setting for name, setting in context.items() if name in offered and name not in foreign_names
    }
    accept_settings(settings, values)
    method.configure(values, warn=lambda message: None)


def _method(graph: str) -> Method | None:
    """Return the method behind a graph of the project file; None for a foreign graph."""
    declared = methods()
    return declared.get(graph) or declared.get(graph.removesuffix("_chat"))
