"""A protocol as a LangChain tool that an agent calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.tools import StructuredTool, ToolException
from langgraph.config import get_stream_writer
from pydantic import ValidationError
from pydantic.v1 import ValidationError as ValidationErrorV1

from dialectree.errors import DialectreeError
from dialectree.interfaces.fields import arguments
from dialectree.protocols.protocol import method
from dialectree.protocols.sources import DEFAULT_RUNS, runs_home
from dialectree.records import Event
from dialectree.report.verdicts import verdict_text
from dialectree.running.held_run import Watch
from dialectree.service import api
from dialectree.service.debates import ActiveRun, Debates
from dialectree.system.loop import wait_for


def as_tool(
    protocol: str,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    files_from: Sequence[str | Path] = (),
    runs: str | Path | None = DEFAULT_RUNS,
    watch: Watch | None = None,
    **settings: Any,
) -> StructuredTool:
    """Return a LangChain tool that debates by a protocol, a baseline or an ablation.

    The tool takes the protocol's input. It returns the verdict as text, with the run's record as
    plain data in the message's ``artifact``. If a call fails, the agent's model reads the error in
    one line and can call again. Inside a graph the events of the debate are written to the
    graph's custom stream.

    Args:
        protocol: The protocol's name, such as ``tsd``, or the name of a method.
        name: The tool's name for the agent's model.
        description: The tool's description for that model.
        files_from: The folders whose files the agent may name, such as papers.
        runs: The folder of all runs, by default DIALECTREE_RUNS or ``runs``. None: the run is not
            kept.
        watch: A function that gets every event as it happens.
        settings: Settings of every debate, such as ``model`` or ``max_calls``. Wrong settings and
            missing packages raise an error before the first debate.

    Example:
        >>> check = dialectree.as_tool("cot", name="check_claim")
        >>> verdict = check.invoke({"claim": "Bats are blind."})
    """
    chosen, remarks = method(protocol), list[str]()
    Debates(Path()).configure(chosen, settings, remarks.append)
    for remark in remarks:
        api.warn(remark)
    chosen.graph()  # a missing package is an error for the programmer, not for the agent
    declared = chosen.protocol.input

    async def debate(**inputs: Any) -> tuple[str, dict[str, Any]]:
        try:
            async with open_runs_folder(runs) as folder:
                debates = Debates(folder, files_from=files_from)
                planned = await asyncio.to_thread(debates.plan, chosen, inputs, settings)
                run = ActiveRun(await asyncio.to_thread(planned.begin))
                record = await run.run_to_end(watch=on_the_stream(watch))
        except DialectreeError as error:
            raise ToolException(str(error)) from error
        return f"{verdict_text(record)}\n\nRun: {record.run_id}.", record.model_dump(mode="json")

    def wait(**inputs: Any) -> tuple[str, dict[str, Any]]:
        return wait_for(debate(**inputs))

    return StructuredTool.from_function(
        func=wait,
        coroutine=debate,
        name=name or f"dialectree_{chosen.name}",
        description=description
        or f"{chosen.protocol.summary} Slow and thorough: use it where a wrong answer would cost "
        "more than a minute.",
        args_schema=arguments(declared),
        handle_tool_error=True,
        handle_validation_error=_fault,
        response_format="content_and_artifact",
    )


def _fault(error: ValidationError | ValidationErrorV1) -> str:
    """Return what is wrong with a call's arguments in one line, for the agent's model."""
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


@asynccontextmanager
async def open_runs_folder(runs: str | Path | None) -> AsyncIterator[Path]:
    """Yield the folder of the runs; without one, a folder that is removed at the end."""
    if runs is not None:
        yield runs_home(runs)
        return
    temporary = await asyncio.to_thread(TemporaryDirectory, prefix="dialectree-")
    try:
        yield Path(temporary.name)
    finally:
        await asyncio.to_thread(temporary.cleanup)


def on_the_stream(watch: Watch | None) -> Watch:
    """Return a function that passes an event to ``watch`` and to the stream of a host's graph."""
    try:
        write = get_stream_writer()
    except (KeyError, RuntimeError):  # outside of a graph
        return watch or (lambda event: None)

    def hand_on(event: Event) -> None:
        write(event.model_dump(mode="json"))
        if watch is not None:
            watch(event)

    return hand_on
