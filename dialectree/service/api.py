"""Call dialectree from Python: the user's input goes in, a record comes out."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from dialectree.errors import ArgumentError
from dialectree.flow.human_input import Ask
from dialectree.protocols.protocol import Method, method
from dialectree.protocols.sources import DEFAULT_RUNS, runs_home
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import Watch
from dialectree.running.runner import RunHandle
from dialectree.service.debates import (
    ActiveRun,
    ContestRecord,
    Debates,
    KeptRecord,
    add_reports,
    convert_record,
)
from dialectree.service.plug_points import REPORTS, Wish
from dialectree.system.loop import wait_for

if TYPE_CHECKING:
    from dialectree.records.estimate import Estimate

P = ParamSpec("P")
T = TypeVar("T")
_OURS = ("dialectree", "asyncio", "uvloop", "concurrent", "threading", "contextlib")


def make_blocking(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return ``work`` as a function for programs without an event loop, and for notebooks."""

    @wraps(work)
    def wait(*inputs: P.args, **values: P.kwargs) -> T:
        return wait_for(work(*inputs, **values))

    wait.__name__ = wait.__qualname__ = work.__name__.removeprefix("a")
    return wait


async def arun(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **values: Any,
) -> KeptRecord:
    """Debate by any installed protocol; keep the record in ``runs``, and return it.

    Args:
        protocol: The protocol's name, such as ``tsd``; ``dialectree protocols`` lists them.
        inputs: The protocol's input, in the order of its declaration.
        method_name: A baseline or an ablation of the protocol; by default the protocol itself.
        runs: The folder of all runs, by default DIALECTREE_RUNS or ``runs``. This run gets its own
            folder in it.
        ask: A plain or asynchronous function that answers if the settings ask a person.
        watch: A function that gets every event as it happens.
        progress: Whether to show the progress. None: only in notebooks.
        values: Input by name, and settings, such as ``model`` (a spec or a live LangChain chat
            model) or ``max_calls``. A setting that the method does not read is refused.

    Raises:
        InputError: A setting or an input is wrong. It is a ValueError, or a TypeError for an
            unknown argument.
        ModelUnavailable: No model can be reached.
        Halted: A budget is used up. To go on, pass the error's ``run_id`` to :func:`resume`.

    Example:
        >>> record = dialectree.run("art", "Cows eat grass.", method_name="cot")
        >>> record.method, record.status
        ('cot', 'answered')
    """
    chosen, by_name = _choose_method_and_input(protocol, inputs, method_name, values)
    if ask is not None and "ask" in chosen.reads():
        values["ask"] = True
    debates = Debates(runs_home(runs), person=ask is not None)
    planned = await asyncio.to_thread(debates.plan, chosen, by_name, values)
    for remark in planned.remarks:
        warn(remark)
    started_run = await asyncio.to_thread(planned.begin)
    return convert_record(KeptRecord, await _conduct(started_run, ask, watch, progress))


run = make_blocking(arun)


async def aestimate(
    protocol: str,
    *inputs: Any,
    method_name: str | None = None,
    runs: str | Path = DEFAULT_RUNS,
    **values: Any,
) -> Estimate:
    """Estimate the cost of :func:`arun` with this input and these settings, without calling a model.

    A run in ``runs`` with the same model shows how long the model's calls and texts are.

    Example:
        >>> expected = dialectree.estimate("art", "Cows eat grass.")
        >>> expected.calls.most
        5
    """
    chosen, by_name = _choose_method_and_input(protocol, inputs, method_name, values)
    debates = Debates(runs_home(runs), person=True)
    planned = await asyncio.to_thread(debates.plan, chosen, by_name, values)
    for remark in planned.remarks:
        warn(remark)
    return await planned.estimate()


estimate = make_blocking(aestimate)


async def aresume(
    run: str | Path | RunRecord,
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> KeptRecord:
    """Go on with a run that was interrupted, or whose calls failed.

    Finished calls are not made again. A run that ended degraded or unresolved repeats the failed
    calls, and all that depends on them; ``record.earlier`` keeps the earlier verdict. Any other
    finished run stays as it is. ``run`` is as in :func:`load`, or a record. ``settings`` are models
    and limits: budgets count from zero again, and a live model has to be given again.

    Example:
        >>> record = dialectree.resume("last", max_calls=50)
        >>> record.status
        'answered'
    """
    debates = Debates(runs_home(runs), person=ask is not None)
    started_run = await asyncio.to_thread(lambda: debates.take_up(_folder(run, debates), settings))
    return convert_record(KeptRecord, await _conduct(started_run, ask, watch, progress))


resume = make_blocking(aresume)


async def acontest(
    run: str | Path | RunRecord,
    wishes: Iterable[Wish],
    *,
    runs: str | Path = DEFAULT_RUNS,
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> ContestRecord:
    """Change something in a run, and return the record of the new run that results.

    ``run`` is as in :func:`load`, or a record. The classes of ``wishes`` are in ``dialectree.contests``:
    :class:`Replace`, :class:`Drop`, :class:`Rule` and :class:`Restore`. For a debate that weighs
    arguments they are :class:`Set`, :class:`Drop`, :class:`Flip`, :class:`Void`, :class:`Add` and
    :class:`Restore`. ``record.contest`` says what the wishes changed. ``settings`` are models and limits
    for the new calls; a live model has to be given again. Raises InputError for a wish that the run cannot
    fulfil.

    Example:
        >>> from dialectree.contests import Drop
        >>> record = dialectree.run("art", "Cows eat grass.")
        >>> changed = dialectree.contest(record, [Drop("0.1")])
        >>> changed.contest.changes
        ['0.1 dropped']
    """
    debates = Debates(runs_home(runs), person=ask is not None)
    started_run = await asyncio.to_thread(
        lambda: debates.plan_contest(_folder(run, debates), wishes, settings).begin()
    )
    return convert_record(ContestRecord, await _conduct(started_run, ask, watch, progress))


contest = make_blocking(acontest)


def load(run: str | Path, *, runs: str | Path = DEFAULT_RUNS) -> KeptRecord:
    """Return the record of a run; raise RunNotFound (a FileNotFoundError) for an unknown one.

    Args:
        run: Its id, the beginning of the id, ``last``, or the path of its folder.
        runs: The folder of all runs, by default DIALECTREE_RUNS or ``runs``.

    Example:
        >>> record = dialectree.load("last")
        >>> record.status
        'answered'
    """
    folder = Debates(runs_home(runs)).find(str(run))
    record = convert_record(KeptRecord, folder.record())
    add_reports(folder, record)
    return record


def _choose_method_and_input(
    protocol: str, inputs: Sequence[Any], method_name: str | None, values: dict[str, Any]
) -> tuple[Method, dict[str, Any]]:
    """Return the method and its input by name; remove the input from ``values``."""
    chosen = method(method_name or protocol, protocol)
    fields = chosen.protocol.input.model_fields
    if len(inputs) > len(fields):
        raise ArgumentError(f"{protocol} takes {len(fields)} inputs: {', '.join(fields)}")
    by_place = dict(zip(fields, inputs, strict=False))
    if twice := sorted(by_place.keys() & values.keys()):
        raise ArgumentError(f"{twice[0]} is given twice")
    return chosen, by_place | {name: values.pop(name) for name in fields if name in values}


def _folder(run: str | Path | RunRecord, debates: Debates) -> RunFolder:
    """Return the folder of a run, given by its record or as in :func:`load`."""
    if isinstance(run, RunRecord) and run.path is not None:
        return RunFolder(run.path)
    return debates.find(run.run_id if isinstance(run, RunRecord) else str(run))


def warn(message: str) -> None:
    """Warn at the line of the program that called us."""
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals["__name__"]).partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


async def _conduct(
    started_run: RunHandle, ask: Ask | None, watch: Watch | None, progress: bool | None
) -> RunRecord:
    """Conduct a run to its end, and show its progress in one line; write its reports later."""
    reports, run_id = REPORTS.find(), started_run.record.run_id
    display = nullcontext() if reports is None else reports.follow(run_id, started_run.expected, progress)
    async with display as show:
        return await ActiveRun(started_run).run_to_end(ask, watch, progress=show, wait=False)
