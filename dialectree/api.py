"""dialectree from Python: what the user gives goes in, a record comes out."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import create_model

from dialectree import loop
from dialectree.contests import Wish, only_models_and_limits
from dialectree.contests import start as contesting
from dialectree.context import about
from dialectree.errors import DialectreeError
from dialectree.formatting import share
from dialectree.human_input import Ask, require_person
from dialectree.protocol import Method, ProtocolInput, method
from dialectree.records import RunRecord
from dialectree.runner import Started, Watch, again, leave_reports, start
from dialectree.runs import RunFolder

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

T = TypeVar("T")


async def arun(
    protocol: str,
    *given: Any,
    method_name: str | None = None,
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **values: Any,
) -> RunRecord:
    """Debate by any installed protocol and return the record, which is kept in ``runs``, too.

    ``given`` is the protocol's input in the order of its declaration; ``values`` are input by name
    and settings, such as ``model`` (a spec or a live LangChain chat model) or ``max_calls``. A
    setting that the method does not read is refused. ``method_name`` is a baseline or an ablation
    of the protocol. ``ask``, a plain or an asynchronous function, answers for the person where the
    settings let one take part. ``watch`` sees every event as it happens.

    Raises a DialectreeError: InputError for a wrong setting or input, ModelUnavailable when there
    is no model to talk to, Halted when a budget is used up. Where a run had begun, the error's
    ``run_id`` is what :func:`aresume` goes on with.
    """
    chosen = method(method_name or protocol, protocol)
    fields = chosen.protocol.input.model_fields
    inputs = dict(zip(fields, given, strict=False))
    if len(given) > len(fields):
        raise TypeError(f"{protocol} takes {len(fields)} inputs: {', '.join(fields)}")
    inputs |= {name: values.pop(name) for name in fields if name in values}
    if ask is not None and "ask" in chosen.reads():
        values["ask"] = True
    return await _debate(chosen, inputs, Path(runs), ask, watch, values)


def run(protocol: str, *given: Any, **values: Any) -> RunRecord:
    """Run :func:`arun` in programs without an event loop (and in notebooks, which have one)."""
    return _wait(arun(protocol, *given, **values))


async def aresume(
    run: str | Path | RunRecord,
    *,
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Go on with a run that was broken off; finished calls are not made again.

    ``run`` is as in :func:`acontest`. ``settings`` are models and limits. Budgets count anew from
    here, and a live model has to be given again. A finished run stays as it is.
    """
    only_models_and_limits(settings, "a run is resumed")
    begun = again(_folder(run, runs), settings)
    return await _conduct(begun, ask, watch)


def resume(run: str | Path | RunRecord, **options: Any) -> RunRecord:
    """Run :func:`aresume` in programs without an event loop (and in notebooks)."""
    return _wait(aresume(run, **options))


async def acontest(
    run: str | Path | RunRecord,
    wishes: Iterable[Wish],
    *,
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Change something in a run and return the record of what comes of it, a new run.

    ``run`` is the record of a run that lies in ``runs``, its id, or the path of its folder.
    ``wishes`` are of ``dialectree.contests``: :class:`Replace`, :class:`Drop`, :class:`Rule` and
    :class:`Restore`; where arguments were weighed :class:`Set`, :class:`Drop`, :class:`Flip`,
    :class:`Void`, :class:`Add` and :class:`Restore`. ``record.contest`` says what they moved.
    ``settings`` are models and limits for the calls that are made anew; a live model has to be
    given again. Raises InputError for a wish that the run cannot fulfil.
    """
    folder = _folder(run, runs)
    begun = contesting(folder, wishes, Path(runs), settings, person=ask is not None)
    return await _conduct(begun, ask, watch)


def contest(run: str | Path | RunRecord, wishes: Iterable[Wish], **options: Any) -> RunRecord:
    """Run :func:`acontest` in programs without an event loop (and in notebooks)."""
    return _wait(acontest(run, wishes, **options))


def _folder(run: str | Path | RunRecord, runs: str | Path) -> RunFolder:
    """Return the folder of a run that is named by its record, its id or its path."""
    return RunFolder.find(run.run_id if isinstance(run, RunRecord) else str(run), Path(runs))


async def _debate(
    chosen: Method,
    given: Mapping[str, Any],
    runs: Path,
    ask: Ask | None,
    watch: Watch | None,
    values: Mapping[str, Any],
) -> RunRecord:
    context = chosen.configure(values, _warn)
    require_person(context, ask)
    run = await asyncio.to_thread(start, chosen, given, context, runs)  # it may read papers
    return await _conduct(run, ask, watch)


def _warn(message: str) -> None:
    """Warn where the user called us."""
    warnings.warn(message, stacklevel=4)


async def _conduct(run: Started, ask: Ask | None, watch: Watch | None) -> RunRecord:
    """Conduct ``run`` to its end, however it ends, and leave its reports beside the record.

    A verdict is not lost because a page cannot be written: that is a warning.
    """
    try:
        return await run.conduct(ask=ask, watch=watch)
    except DialectreeError as error:
        error.run_id = run.record.run_id
        raise
    finally:
        try:
            await asyncio.to_thread(leave_reports, run.folder, run.record)
        except DialectreeError as error:
            warnings.warn(str(error), stacklevel=2)


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, in a thread of its own where a loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return loop.run(work)
    return loop.run_beside(work)


def as_tool(name: str, *, runs: str | Path = "runs", **settings: Any) -> StructuredTool:
    """Return a LangChain tool that debates by the method ``name``.

    It takes the protocol's input and returns the verdict as text, with the confidence and the run's
    id. Settings that cannot be are refused here. What goes wrong with a call is told to the agent's
    model in one line, so that it can call again.
    """
    from langchain_core.tools import StructuredTool, ToolException

    chosen = method(name)
    require_person(chosen.configure(settings, _warn), None)

    async def debate(**given: Any) -> str:
        try:
            return _told(await _debate(chosen, given, Path(runs), None, None, settings))
        except DialectreeError as error:
            raise ToolException(str(error)) from error

    def wait(**given: Any) -> str:
        return _wait(debate(**given))

    return StructuredTool.from_function(
        func=wait,
        coroutine=debate,
        name=f"dialectree_{chosen.name}",
        description=f"{chosen.protocol.summary} Slow and thorough: use it where a wrong answer "
        "would cost more than a minute.",
        args_schema=arguments(chosen.protocol.input),
        handle_tool_error=True,
    )


def arguments(given: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and rare parts."""
    given.model_rebuild()
    shown: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in given.model_fields.items()
        if not (about(given, name).get("evaluation_only") or about(given, name).get("hidden"))
    }
    return create_model(given.__name__, __doc__=given.__doc__, __base__=ProtocolInput, **shown)


def _told(record: RunRecord) -> str:
    """Return a verdict as an agent's model reads it."""
    verdict = record.verdict
    if verdict is None or verdict.answer is None:
        return f"The debate reached no answer (run {record.run_id})."
    named = "P(claim)" if verdict.confidence_source == "P(claim)" else "Confidence"
    label = " Demonstration model: no better than chance." if record.demonstration else ""
    degraded = " Some parts failed; the record says which." if record.status == "degraded" else ""
    return (
        f"{verdict.answer}\n{verdict.rationale or ''}\n"
        f"{named}: {share(verdict.confidence)}. Run: {record.run_id}.{degraded}{label}"
    )
