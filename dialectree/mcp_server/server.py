"""The server: its tools, and how they are called over stdio and HTTP."""

from __future__ import annotations

import asyncio
import hmac
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import mcp.types as types
import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dialectree import clock
from dialectree.api import naming_parameters
from dialectree.errors import DialectreeError, InputError
from dialectree.estimates import Estimate
from dialectree.mcp_server import arguments
from dialectree.mcp_server.debates import Debates, Tell, Underway
from dialectree.mcp_server.results import Debate, Report, RunList, text
from dialectree.protocol import Protocol, method

Context = ServerRequestContext[Any, Any]
Handler = Callable[[Any, Tell], Awaitable[BaseModel]]
INSTRUCTIONS = (
    "Debates between language models, for questions where a wrong answer would cost more than a "
    "minute. A tool that debates waits for the verdict; where that takes longer, it returns the "
    "status `running` and a run_id, and `result` waits on. `estimate` says beforehand how many "
    "calls and how much time a debate takes. `show` has the whole debate, and `contest` changes "
    "something in it and does again only what depends on that."
)
_NAMES = {"method": "method", **{name: name for name in arguments.CHANGES}}
"""What messages call flags whose names are others in Python."""
_LOOKS = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)
_STOPS = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


@dataclass(frozen=True)
class Tool:
    """A tool: what clients read of it, what it takes, and what it does."""

    described: types.Tool
    takes: type[arguments.Arguments]
    handle: Handler


class DebateServer:
    """The tools of a server: one for each protocol, and those for estimates and runs.

    ``wait`` is how many seconds a call waits for a verdict before it returns how far it has come.
    """

    def __init__(self, debates: Debates, protocols: list[Protocol], wait: float) -> None:
        self._debates, self._wait = debates, wait
        self._protocols = {one.command or one.name: one for one in protocols}
        tools = [*map(self._debating, self._protocols), *self._others()]
        self._tools = {tool.described.name: tool for tool in tools}
        self.sdk = Server(
            "dialectree",
            version=version("dialectree"),
            title="dialectree",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    # The tools

    def _debating(self, name: str) -> Tool:
        """Return the tool of one protocol."""
        protocol = self._protocols[name]
        described = f"{protocol.title}. {protocol.summary} Takes many calls to models."
        takes = arguments.of_protocol(protocol)
        return _tool(
            name, protocol.title, described, takes, Debate, partial(self._debate, protocol), _ASKS
        )

    def _others(self) -> list[Tool]:
        """Return the tools for estimates and runs."""
        names = ", ".join(self._protocols)
        return [
            _tool(
                "submit",
                "Begin a debate",
                f"Begin a debate by one of {names}, and return its run_id at once. It goes on in "
                "the background; `status` and `result` take the run_id.",
                arguments.Call,
                Debate,
                self._submit,
                _ASKS,
            ),
            _tool(
                "estimate",
                "Estimate a debate",
                f"Say what a debate by one of {names} would take: calls to models, tokens, time, "
                "and money where prices are known. Calls no model.",
                arguments.Call,
                Estimate,
                self._estimate,
                types.ToolAnnotations(read_only_hint=True, open_world_hint=True),
            ),
            _tool(
                "status",
                "How a run stands",
                "Say how far a run has come, or what came of it. Does not wait.",
                arguments.Run,
                Debate,
                self._status,
                _LOOKS,
            ),
            _tool(
                "result",
                "Wait for a verdict",
                "Wait until a run under way has its verdict, and return it. Where that takes "
                "longer than a call may, the status is still `running`: call it again.",
                arguments.Run,
                Debate,
                self._result,
                _LOOKS,
            ),
            _tool(
                "cancel",
                "Break a run off",
                "Break a run off. What was paid stays in its folder; `resume` goes on with it.",
                arguments.Run,
                Debate,
                self._cancel,
                _STOPS,
            ),
            _tool(
                "resume",
                "Go on with a run",
                "Go on with a run that was broken off. Finished calls are not made again.",
                arguments.Run,
                Debate,
                self._resume,
                _ASKS,
            ),
            _tool(
                "contest",
                "Contest a verdict",
                "Change something in a finished run and do again only what depends on it, as a "
                "new run. The ids of turns and nodes are those that `show` prints: 0.1 is a node, "
                "0.1/A2 a turn.",
                arguments.Contest,
                Debate,
                self._contest,
                _ASKS,
            ),
            _tool(
                "runs",
                "List runs",
                "List runs, the newest first.",
                arguments.Runs,
                RunList,
                self._runs,
                _LOOKS,
            ),
            _tool(
                "show",
                "Show a run",
                "Return a whole run as Markdown: verdict, tree, and every turn with its id; or "
                "one node of it with its transcript.",
                arguments.Show,
                Report,
                self._show,
                _LOOKS,
            ),
        ]

    # What they do

    async def _debate(self, protocol: Protocol, given: arguments.Arguments, tell: Tell) -> Debate:
        until = clock.seconds() + self._wait
        return await self._ended(await self._begin(protocol, given), until, tell)

    async def _submit(self, given: arguments.Call, tell: Tell) -> Debate:
        return (await self._begin(*self._called(given))).state()

    async def _estimate(self, given: arguments.Call, tell: Tell) -> Estimate:
        return await self._debates.estimate(*_wanted(*self._called(given)))

    async def _status(self, given: arguments.Run, tell: Tell) -> Debate:
        return self._debates.state(given.run_id)

    async def _result(self, given: arguments.Run, tell: Tell) -> Debate:
        one = self._debates.underway(given.run_id)
        if one is None:
            return self._debates.state(given.run_id)
        await one.follow(clock.seconds() + self._wait, tell)
        return one.state()

    async def _cancel(self, given: arguments.Run, tell: Tell) -> Debate:
        return await self._debates.cancel(given.run_id)

    async def _resume(self, given: arguments.Run, tell: Tell) -> Debate:
        one = await self._debates.resume(given.run_id)
        return await self._ended(one, clock.seconds() + self._wait, tell)

    async def _contest(self, given: arguments.Contest, tell: Tell) -> Debate:
        one = await self._debates.contest(given.run_id, given.wishes())
        return await self._ended(one, clock.seconds() + self._wait, tell)

    async def _runs(self, given: arguments.Runs, tell: Tell) -> RunList:
        return await asyncio.to_thread(self._debates.newest, given.limit)

    async def _show(self, given: arguments.Show, tell: Tell) -> Report:
        return await asyncio.to_thread(self._debates.show, given.run_id, given.node)

    def _called(self, given: arguments.Call) -> tuple[Protocol, arguments.Arguments]:
        """Return the protocol of the tool that a call names, and what that takes."""
        if given.tool not in self._protocols:
            raise InputError(
                f"tool: {given.tool!r}; one that debates: {', '.join(self._protocols)}"
            )
        takes = self._tools[given.tool].takes
        return self._protocols[given.tool], arguments.checked(takes, given.arguments)

    async def _begin(self, protocol: Protocol, given: arguments.Arguments) -> Underway:
        return await self._debates.start(*_wanted(protocol, given))

    async def _ended(self, one: Underway, until: float, tell: Tell) -> Debate:
        """Return the verdict, or until then how far it has come; raise what broke it off.

        A client that cancels its call breaks the debate off; `resume` goes on with it.
        """
        try:
            await one.follow(until, tell)
        except asyncio.CancelledError:
            one.task.cancel()
            raise
        state = one.state()
        if one.fault is not None:
            one.fault.args = (f"{one.fault}. Run {state.run_id} is {state.status}. {state.next}",)
            raise one.fault
        return state

    # The protocol

    async def _list(self, context: Context, _: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described for tool in self._tools.values()])

    async def _call(
        self, context: Context, call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; what goes wrong is an error of the tool, in one line."""
        try:
            with naming_parameters(_NAMES):
                if call.name not in self._tools:
                    raise InputError(f"there is no tool {call.name!r}; {', '.join(self._tools)}")
                tool = self._tools[call.name]
                given = arguments.checked(tool.takes, call.arguments or {})
                result = await tool.handle(given, context.session.report_progress)
        except DialectreeError as error:
            return types.CallToolResult(content=[_block(str(error))], is_error=True)
        return types.CallToolResult(
            content=[_block(text(result))],
            structured_content=result.model_dump(mode="json", exclude_defaults=True),
        )


def _tool(
    name: str,
    title: str,
    description: str,
    takes: type[arguments.Arguments],
    returns: type[BaseModel],
    handle: Handler,
    annotations: types.ToolAnnotations,
) -> Tool:
    described = types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=arguments.schema(takes),
        output_schema=arguments.schema(returns),
        annotations=annotations,
    )
    return Tool(described, takes, handle)


def _block(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def _wanted(protocol: Protocol, given: arguments.Arguments) -> tuple[Any, Any, Any]:
    """Return the method, the input and the settings that a client wants."""
    values = given.given()
    chosen = method(values.pop("method", protocol.name), protocol.name)
    inputs = {name: values.pop(name) for name in protocol.input.model_fields if name in values}
    return chosen, inputs, values


# Over stdio


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout, until it closes stdin."""
    async with stdio_server(stdin=_messages()) as (received, sent):  # type: ignore[arg-type]
        await server.run(received, sent, server.create_initialization_options())


async def _messages() -> AsyncIterator[str]:
    """Yield the lines of stdin.

    A thread reads them that nothing waits for: a read that blocks would keep Ctrl-C from ending
    the server. No child process inherits stdin.
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
KEY = "DIALECTREE_MCP_KEY"
"""The variable with the key that clients of the HTTP server must send."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket of the address; InputError where there is none to be had."""
    if host not in LOOPBACK and not os.environ.get(KEY):
        raise InputError(
            f"--host {host}: other machines could start debates; give them a key in {KEY}"
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(f"--host {host} --port {port}: {error.strerror or error}") from None


async def serve_http(
    server: Server[Any], debates: Debates, listening: socket.socket, host: str
) -> None:
    """Serve clients at ``/mcp`` until the process is told to end."""
    # On loopback the SDK checks the headers Host and Origin. A server that others reach does not
    # know by which names they do, and asks for a key.
    known = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        host=host, transport_security=None if host in LOOPBACK else known
    )
    guarded = _guarded(app, os.environ.get(KEY, ""))
    config = uvicorn.Config(guarded, log_level="warning", timeout_graceful_shutdown=1)
    await _HttpServer(config, debates).serve(sockets=[listening])


class _HttpServer(uvicorn.Server):
    """Ends its debates first, and so the calls that wait for them; then the open streams."""

    def __init__(self, config: uvicorn.Config, debates: Debates) -> None:
        super().__init__(config)
        self._debates = debates

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._debates.break_off()
        await asyncio.sleep(0.1)  # the calls are answered
        await self.lifespan.shutdown()
        await super().shutdown(sockets)


def _guarded(app: ASGIApp, key: str) -> ASGIApp:
    """Refuse requests without the key, and those of pages of other sites."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
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

    return guarded
