"""The tools of an MCP server: one for each protocol, and those for estimates and runs."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, get_type_hints

import mcp.types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from pydantic import BaseModel

from dialectree.errors import DialectreeError, InputError
from dialectree.interfaces.background import BackgroundDebates, BackgroundRun, Tell, is_underway
from dialectree.interfaces.mcp import arguments, results
from dialectree.interfaces.mcp.results import Debate, Report, RunList, debate, summarize_run, text
from dialectree.protocols.protocol import Method, Protocol, method
from dialectree.records import UNFINISHED
from dialectree.records.estimate import Estimate
from dialectree.system import clock
from dialectree.system.streams import notice

Context = ServerRequestContext[Any, Any]
Handler = Callable[[Any, Tell], Awaitable[BaseModel]]
INSTRUCTIONS = (
    "Debates between language models, for questions where a wrong answer would cost more than a "
    "minute. A tool that debates waits for the verdict; where that takes longer, it returns the "
    "status `running` and a run_id, and `result` waits on. `estimate` says beforehand how many "
    "calls and how much time a debate takes. `show` has the whole debate, and `contest` changes "
    "something in it and does again only what depends on that."
)


@dataclass(frozen=True)
class Tool:
    """A tool: its description for clients, its arguments and its handler."""

    described: types.Tool
    takes: type[arguments.Arguments]
    handle: Handler


class DebateServer:
    """The tools of a server: one for each protocol, and those for estimates and runs.

    A call waits ``wait`` seconds for a verdict before it returns the progress of the run.
    Clients read the docstrings of the tools.
    """

    def __init__(self, debates: BackgroundDebates, protocols: list[Protocol], wait: float) -> None:
        self._debates, self._wait = debates, wait
        self._protocols = {protocol.command or protocol.name: protocol for protocol in protocols}
        self._tools = {name: self._debating(name) for name in self._protocols}
        looks = (self.estimate, self.status, self.result, self.runs, self.show)
        for handle in (*looks, self.submit, self.resume, self.contest, self.cancel):
            self._tools[handle.__name__] = self._of_method(handle, handle in looks)
        self.sdk = Server(
            "dialectree",
            version=version("dialectree"),
            title="dialectree",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    def _debating(self, name: str) -> Tool:
        """Return the tool of one protocol."""
        protocol = self._protocols[name]
        text = f"{protocol.title}. {protocol.summary} Slow and thorough: it takes many model calls."
        takes = arguments.of_protocol(protocol)
        described = _make_tool_definition(name, text, takes, Debate, reads=False)
        return Tool(described, takes, partial(self._debate, protocol))

    def _of_method(self, handle: Handler, reads: bool) -> Tool:
        """Return a tool that is described by the docstring and the types of its method."""
        hints, text = get_type_hints(handle), inspect.cleandoc(handle.__doc__ or "")
        text = text.replace("TOOLS", ", ".join(self._protocols)).replace("\n", " ")
        described = _make_tool_definition(handle.__name__, text, hints["given"], hints["return"], reads=reads)
        return Tool(described, hints["given"], handle)

    # The tools

    async def _debate(self, protocol: Protocol, call_arguments: arguments.Arguments, tell: Tell) -> Debate:
        return await self._wait_for_outcome(
            self._debates.start(*_split_arguments(protocol, call_arguments)), tell
        )

    async def submit(self, given: arguments.DebateArguments, tell: Tell) -> Debate:
        """Begin a debate by one of the tools TOOLS, and return its run_id at once. It goes on in
        the background; `status` and `result` take the run_id."""
        run = await self._debates.start(*self._parse_call(given))
        return debate(run.record, run)

    async def estimate(self, given: arguments.DebateArguments, tell: Tell) -> Estimate:
        """Say what a debate by one of the tools TOOLS would take: calls to models, tokens, time,
        and money where prices are known. Calls no model."""
        planned = await asyncio.to_thread(self._debates.plan, *self._parse_call(given))
        return await planned.estimate()

    async def status(self, given: arguments.RunArguments, tell: Tell) -> Debate:
        """Say how far a run has come, or what came of it. Does not wait."""
        if run := self._debates.underway(given.run_id):
            return debate(run.record, run)
        record = self._debates.result(given.run_id)
        return debate(record, busy=record.status in UNFINISHED and self._debates.busy(given.run_id))

    async def result(self, given: arguments.RunArguments, tell: Tell) -> Debate:
        """Wait until a run has its verdict, and return it. Where that takes longer than a call may,
        the status is still `running`: call it again."""
        if run := self._debates.underway(given.run_id):
            await run.follow(self._wait, tell)
            return debate(run.record, run)
        return await self.status(given, tell)

    async def cancel(self, given: arguments.RunArguments, tell: Tell) -> Debate:
        """Break a run off. What was paid stays in its folder; `resume` goes on with it."""
        await self._debates.cancel(given.run_id)
        return await self.status(given, tell)

    async def resume(self, given: arguments.RunArguments, tell: Tell) -> Debate:
        """Go on with a run that was broken off, or whose calls failed. Finished calls are not made
        again."""
        return await self._wait_for_outcome(self._debates.resume(given.run_id, {}), tell)

    async def contest(self, given: arguments.ContestArguments, tell: Tell) -> Debate:
        """Change something in a finished run and do again only what depends on it, as a new run.
        The ids are those that `show` prints: 0.1 is a node, 0.1/A2 a turn."""
        return await self._wait_for_outcome(self._debates.contest(given.run_id, given.changes, {}), tell)

    async def runs(self, given: arguments.Runs, tell: Tell) -> RunList:
        """List runs, the newest first."""

        def newest() -> list[Debate]:
            summaries, folder = self._debates.list_runs(notice)[: given.limit], self._debates.runs
            return [
                summarize_run(summary, busy=is_underway(folder / summary.run_id)) for summary in summaries
            ]

        return RunList(runs=await asyncio.to_thread(newest))

    async def show(self, given: arguments.Show, tell: Tell) -> Report:
        """Return a whole run as Markdown: the verdict, the tree, and every turn with its id; or one
        node of it with its transcript."""

        def read() -> Report:
            folder = self._debates.find(given.run_id)
            record = folder.record()
            node = None if given.node is None else self._debates.node(record, given.node)
            return results.report(record, folder.calls(), node)

        return await asyncio.to_thread(read)

    def _parse_call(
        self, call_arguments: arguments.DebateArguments
    ) -> tuple[Method, dict[str, Any], dict[str, Any]]:
        """Return the method, input and settings of a debate to submit or to estimate."""
        if call_arguments.tool not in self._protocols:
            raise InputError(
                f"tool: no debate tool {call_arguments.tool!r}; use one of {', '.join(self._protocols)}"
            )
        takes = self._tools[call_arguments.tool].takes
        return _split_arguments(
            self._protocols[call_arguments.tool],
            arguments.validate_arguments(takes, call_arguments.arguments),
        )

    async def _wait_for_outcome(self, pending_run: Awaitable[BackgroundRun], tell: Tell) -> Debate:
        """Return the verdict, or the progress when the time is up; raise the error that broke the run off.

        A client that cancels its call breaks the debate off; `resume` goes on with it.
        """
        until = clock.seconds() + self._wait
        run = await pending_run
        try:
            await run.follow(until - clock.seconds(), tell)
        except asyncio.CancelledError:
            run.task.cancel()
            raise
        state = debate(run.record, run)
        if run.fault is not None:
            raise DialectreeError(
                f"{run.fault}. Run {state.run_id} is {state.status}. {state.next}"
            ) from run.fault
        return state

    # The handlers of MCP

    async def _list(self, context: Context, _: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described for tool in self._tools.values()])

    async def _call(self, context: Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool. A failure is an error of the tool, in one line."""
        try:
            if call.name not in self._tools:
                raise InputError(f"no tool {call.name!r}; use one of {', '.join(self._tools)}")
            tool = self._tools[call.name]
            call_arguments = arguments.validate_arguments(tool.takes, call.arguments or {})
            return _result(await tool.handle(call_arguments, context.session.report_progress))
        except DialectreeError as error:
            return types.CallToolResult(content=[_block(str(error))], is_error=True)


def _result(result: BaseModel) -> types.CallToolResult:
    """Return a tool's result as text, and as structured content by its schema."""
    return types.CallToolResult(
        content=[_block(text(result))],
        structured_content=result.model_dump(mode="json", exclude_defaults=True),
    )


def _make_tool_definition(
    name: str, description: str, takes: type[arguments.Arguments], returns: type[BaseModel], *, reads: bool
) -> types.Tool:
    """Return a tool as clients read it. Without ``reads``, the tool adds a run or ends one."""
    return types.Tool(
        name=name,
        description=description,
        input_schema=arguments.schema(takes),
        output_schema=arguments.schema(returns),
        annotations=types.ToolAnnotations(
            read_only_hint=reads, destructive_hint=False, idempotent_hint=reads, open_world_hint=not reads
        ),
    )


def _block(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def _split_arguments(
    protocol: Protocol, call_arguments: arguments.Arguments
) -> tuple[Method, dict[str, Any], dict[str, Any]]:
    """Return the method, the input and the settings in a client's arguments."""
    values = call_arguments.select_set_arguments()
    chosen = method(values.pop("method", protocol.name), protocol.name)
    inputs = {name: values.pop(name) for name in protocol.input.model_fields if name in values}
    return chosen, inputs, values
