"""The Tasks extension of MCP: a client that knows it polls a debate by itself.

A task is a run, and its id the run's. The SDK has no such extension, but lets a server add methods.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp.types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from dialectree import clock
from dialectree.errors import DialectreeError
from dialectree.mcp_server import arguments
from dialectree.mcp_server.debates import Debates
from dialectree.mcp_server.results import Debate, text

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_MS = 2000
"""How often a client is asked to look."""
Task = dict[str, Any]


class TaskParams(types.RequestParams):
    """What names a task. The answers that ``tasks/update`` brings are to no question of ours."""

    task_id: str = Field(alias="taskId")


def known(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client of this request knows tasks."""
    capabilities = context.session.client_capabilities
    extensions = capabilities.extensions if capabilities else None
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in (extensions or {})


def created(state: Debate) -> Task:
    """Return a debate under way as the result of the call that began it."""
    return {**_task(state, "working"), "resultType": "task"}


def add(
    server: Server[Any], debates: Debates, result: Callable[[Debate], types.CallToolResult]
) -> None:
    """Add the methods of the extension; ``result`` makes of a debate what its tool returns."""

    async def get(params: TaskParams) -> Task:
        state = debates.state(_run_id(params))
        if state.status == "running":
            return _task(state, "working")
        if state.broken_off_by_request():
            return _task(state, "cancelled")
        done = result(state)
        done.is_error = state.status == "partial"
        return {
            **_task(state, "completed"),
            "result": done.model_dump(by_alias=True, mode="json", exclude_none=True),
        }

    async def cancel(params: TaskParams) -> Task:
        if one := debates.underway(_run_id(params)):
            one.task.cancel()
        return {}

    async def update(params: TaskParams) -> Task:
        debates.state(_run_id(params))
        return {}

    server.extensions[EXTENSION] = {}
    for name, answer in {"get": get, "cancel": cancel, "update": update}.items():
        server.add_request_handler(f"tasks/{name}", TaskParams, _handler(answer))


def _handler(answer: Callable[[TaskParams], Awaitable[Task]]) -> Any:
    """Return a handler that refuses clients without the extension, and unknown tasks."""

    async def handle(context: ServerRequestContext[Any, Any], params: TaskParams) -> Task:
        if not known(context):
            data: Task = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
            raise MCPError(code, f"the client does not declare {EXTENSION}", data)
        try:
            return await answer(params)
        except DialectreeError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    return handle


def _run_id(params: TaskParams) -> str:
    run: arguments.Run = arguments.checked(arguments.Run, {"run_id": params.task_id})
    return run.run_id


def _task(state: Debate, status: str) -> Task:
    return {
        "taskId": state.run_id,
        "status": status,
        "statusMessage": text(state).splitlines()[-1],
        "createdAt": state.started,
        "lastUpdatedAt": state.ended or clock.stamp(),
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
