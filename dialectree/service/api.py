"""dialectree from Python: what the user gives goes in, a record comes out."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import create_model
from pydantic.fields import FieldInfo

import dialectree.report  # noqa: F401 - lets a record show itself
from dialectree.contests import Wish, only_models_and_limits
from dialectree.contests import start as contesting
from dialectree.errors import ArgumentError, DialectreeError
from dialectree.flow.human_input import Ask, require_person
from dialectree.protocols.protocol import Method, ProtocolInput, installed, method
from dialectree.protocols.settings import about
from dialectree.protocols.sources import DEFAULT_RUNS, runs_home
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.runner import Started, Watch, again, leave_reports, prepared, start
from dialectree.system.loop import wait_for

if TYPE_CHECKING:
    from dialectree.running.estimates import Estimate

_FLAG = re.compile(r"(?<![\w-])--(no-)?([a-z]+(?:-[a-z]+)*)")
_WISHES = {"verdict": "Rule"} | {wish.__name__.lower(): wish.__name__ for wish in get_args(Wish)}
"""The classes of wishes, by the flags of ``dialectree contest``."""


async def arun(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **values: Any,
) -> RunRecord:
    """Debate by any installed protocol and return the record, which is kept in ``runs``, too.

    Args:
        protocol: The protocol's name, such as ``tsd``; ``dialectree protocols`` lists them.
        inputs: The protocol's input, in the order of its declaration.
        method_name: A baseline or an ablation of the protocol; without it, the protocol itself.
        runs: The folder of all runs, by default DIALECTREE_RUNS or ``runs``. This run gets a folder
            of its own in it.
        ask: A plain or asynchronous function that answers where the settings ask a person.
        watch: A function that gets every event as it happens.
        progress: Show what goes on. None: in notebooks only.
        values: Input by name, and settings, such as ``model`` (a spec or a live LangChain chat
            model) or ``max_calls``. A setting that the method does not read is refused.

    Raises:
        InputError: A setting or an input is wrong. It is a ValueError, or a TypeError where there
            is no such argument.
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up. The error's ``run_id`` is what :func:`resume` goes on with.
    """
    with naming_parameters():
        chosen, by_name = _chosen(protocol, inputs, method_name, values)
        if ask is not None and "ask" in chosen.reads():
            values["ask"] = True
        return await debate(chosen, by_name, runs_home(runs), ask, watch, progress, values)


def run(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **values: Any,
) -> RunRecord:
    """Run :func:`arun` in programs without an event loop, and in notebooks."""
    options: dict[str, Any] = {"method_name": method_name, "runs": runs, "ask": ask}
    return wait_for(arun(protocol, *inputs, **options, watch=watch, progress=progress, **values))


async def aestimate(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    **values: Any,
) -> Estimate:
    """Estimate what :func:`arun` will take with the same input and settings; call no model.

    A run in ``runs`` with the same model shows how long its calls and its texts are.
    """
    from dialectree.running.estimates import estimate

    with naming_parameters():
        chosen, by_name = _chosen(protocol, inputs, method_name, values)
        context = chosen.configure(values, warn)
        # It may read papers.
        graph_input = await asyncio.to_thread(prepared, chosen, by_name, context)
        return await estimate(chosen, graph_input, context, runs_home(runs))


def estimate(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    **values: Any,
) -> Estimate:
    """Run :func:`aestimate` in programs without an event loop, and in notebooks."""
    return wait_for(aestimate(protocol, *inputs, method_name=method_name, runs=runs, **values))


async def aresume(
    run: str | Path | RunRecord,
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RunRecord:
    """Go on with a run that was broken off, or whose calls failed.

    Finished calls are not made again. A run that ended degraded or unresolved asks again the calls
    that failed, and what depends on them; ``record.earlier`` keeps the verdict before. Any other
    finished run stays as it is. ``run`` is as in :func:`load`, or a record. ``settings`` are models
    and limits: budgets count anew from here, and a live model has to be given again.
    """
    with naming_parameters():
        only_models_and_limits(settings, "a run is resumed")
        begun = await asyncio.to_thread(
            lambda: again(_folder(run, runs), settings, runs_home(runs))
        )
        return await _conduct(begun, ask, watch, progress)


def resume(
    run: str | Path | RunRecord,
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RunRecord:
    """Run :func:`aresume` in programs without an event loop, and in notebooks."""
    work = aresume(run, runs=runs, ask=ask, watch=watch, progress=progress, **settings)
    return wait_for(work)


async def acontest(
    run: str | Path | RunRecord,
    wishes: Iterable[Wish],
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RunRecord:
    """Change something in a run and return the record of what comes of it, a new run.

    ``run`` is as in :func:`load`, or a record. ``wishes`` are of ``dialectree.contests``:
    :class:`Replace`, :class:`Drop`, :class:`Rule` and :class:`Restore`; where arguments were
    weighed :class:`Set`, :class:`Drop`, :class:`Flip`, :class:`Void`, :class:`Add` and
    :class:`Restore`. ``record.contest`` says what they moved. ``settings`` are models and limits
    for the calls that are made anew; a live model has to be given again. Raises InputError for a
    wish that the run cannot fulfil.
    """
    with naming_parameters(_WISHES):
        folder, person = await asyncio.to_thread(_folder, run, runs), ask is not None
        begun = await asyncio.to_thread(
            lambda: contesting(folder, wishes, runs_home(runs), settings, person=person)
        )
        return await _conduct(begun, ask, watch, progress)


def contest(
    run: str | Path | RunRecord,
    wishes: Iterable[Wish],
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RunRecord:
    """Run :func:`acontest` in programs without an event loop, and in notebooks."""
    work = acontest(run, wishes, runs=runs, ask=ask, watch=watch, progress=progress, **settings)
    return wait_for(work)


def load(run: str | Path, *, runs: str | Path = DEFAULT_RUNS) -> RunRecord:
    """Return the record of a run; RunNotFound (a FileNotFoundError) if there is none.

    ``run`` is its id, the beginning of one, ``last``, or the path of its folder. ``runs`` is the
    folder of all runs, by default DIALECTREE_RUNS or ``runs``.
    """
    return _folder(run, runs).record()


def _chosen(
    protocol: str, inputs: Sequence[Any], method_name: str | None, values: dict[str, Any]
) -> tuple[Method, dict[str, Any]]:
    """Return the method and its input by name, which is taken out of ``values``."""
    chosen = method(method_name or protocol, protocol)
    fields = chosen.protocol.input.model_fields
    if len(inputs) > len(fields):
        raise ArgumentError(f"{protocol} takes {len(fields)} inputs: {', '.join(fields)}")
    by_place = dict(zip(fields, inputs, strict=False))
    if twice := sorted(by_place.keys() & values.keys()):
        raise ArgumentError(f"{twice[0]} is given twice")
    return chosen, by_place | {name: values.pop(name) for name in fields if name in values}


def _folder(run: str | Path | RunRecord, runs: str | Path) -> RunFolder:
    """Return the folder of a run that is named by its record, or as in :func:`load`."""
    if not isinstance(run, RunRecord):
        return RunFolder.find(str(run), runs_home(runs))
    return RunFolder(run.path) if run.path else RunFolder.find(run.run_id, runs_home(runs))


@contextmanager
def naming_parameters(more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Name Python's parameters in the message of an error, where it names flags."""
    try:
        yield
    except DialectreeError as error:
        error.args = (in_python(str(error), more), *error.args[1:])
        raise


def in_python(message: str, more: Mapping[str, str] | None = None) -> str:
    """Return ``message`` with the parameter ``max_depth`` where it has the flag ``--max-depth``.

    ``more`` adds names by flag, without the dashes.
    """
    names = {"method": "method_name"}
    for protocol in installed().values():
        for kind in (protocol.settings, protocol.input):
            for name in kind.model_fields:
                flag = name.replace("_", "-")
                names |= {flag: name, about(kind, name).get("alias") or flag: name}
    names |= more or {}

    def parameter(flag: re.Match[str]) -> str:
        name = names.get(flag[2])
        return flag[0] if name is None else f"{name}=False" if flag[1] else name

    return _FLAG.sub(parameter, message)


def description(field: FieldInfo) -> str:
    """Return a field's docstring in one line, in Python's terms."""
    text = " ".join((field.description or "").split())
    return in_python(text.replace("; - reads it from standard input", ""))  # the command alone does


async def debate(
    chosen: Method,
    inputs: Mapping[str, Any],
    runs: Path,
    ask: Ask | None,
    watch: Watch | None,
    progress: bool | None,
    values: Mapping[str, Any],
) -> RunRecord:
    """Debate ``inputs`` by ``chosen`` with the settings ``values``; see :func:`arun`."""
    context = chosen.configure(values, warn)
    require_person(context, ask)
    run = await asyncio.to_thread(start, chosen, inputs, context, runs)  # it may read papers
    return await _conduct(run, ask, watch, progress)


def warn(message: str) -> None:
    """Warn where the user called us."""
    warnings.warn(in_python(message), stacklevel=4)


async def _conduct(
    run: Started, ask: Ask | None, watch: Watch | None, progress: bool | None
) -> RunRecord:
    """Conduct ``run`` to its end, however it ends, and leave its reports beside the record.

    A verdict is not lost because a page cannot be written: that is a warning.
    """
    from dialectree.report.progress import Account, show

    account = Account(run.record.run_id, watch)
    try:
        async with show(account.line, progress):
            return await run.conduct(ask=ask, watch=account.watch)
    except DialectreeError as error:
        error.run_id = run.record.run_id
        raise
    finally:
        try:
            await asyncio.to_thread(leave_reports, run.folder, run.record)
        except DialectreeError as error:
            warnings.warn(str(error), stacklevel=2)


@cache  # pydantic reads our source files for it, which would block a server
def arguments(given: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and rare parts."""
    given.model_rebuild()
    shown: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in given.model_fields.items()
        if not (about(given, name).get("evaluation_only") or about(given, name).get("hidden"))
    }
    return create_model(given.__name__, __doc__=given.__doc__, __base__=ProtocolInput, **shown)
