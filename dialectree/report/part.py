"""The part ``reports``: see :class:`dialectree.service.plug_points.Reports`."""

from __future__ import annotations

import atexit
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from multiprocessing import parent_process
from threading import Lock, Timer
from typing import TYPE_CHECKING

from dialectree.errors import DialectreeError
from dialectree.records import Event, RunRecord
from dialectree.records.folder import RunFolder
from dialectree.report.progress import Progress, show

if TYPE_CHECKING:
    from pandas import DataFrame

Watch = Callable[[Event], None]

SOON_S = 0.3
"""Seconds after a verdict was returned before its reports are written."""
_waiting: deque[RunFolder] = deque()
_writing = Lock()


def _forget() -> None:
    """Leave to the process that forked what is still to be written."""
    global _writing
    _waiting.clear()
    _writing = Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)


def summarize(record: RunRecord) -> str:
    """Return what was asked and what came of it, in two lines."""
    from dialectree.report.verdicts import two_line_summary

    return two_line_summary(record)


def draw_card(record: RunRecord) -> str:
    """Return the run as a card of a notebook, in HTML."""
    from dialectree.report.pages import card

    return card(record)


def make_table(record: RunRecord) -> DataFrame:
    """Return a row for each turn of a run."""
    from dialectree.report import turns_table

    return turns_table.make_table(record)


def write(folder: RunFolder, record: RunRecord) -> None:
    """Write report.md and report.html; RunFolderError where there is no room."""
    from dialectree.report import html, markdown

    calls = folder.calls()
    folder.write("report.md", markdown(record, calls))
    folder.write("report.html", html(record, calls, folder.events(), folder.texts()))


def write_later(folder: RunFolder) -> None:
    """Write report.md and report.html soon, and before the program ends.

    Where there is no room, or the run is gone by then, there are none; :func:`write` makes them.
    """
    _waiting.append(RunFolder(folder.path.absolute()))  # a program may change its folder
    if parent_process() is not None:  # a process of a pool ends without a word
        write_waiting()
        return
    timer = Timer(SOON_S, write_waiting)
    timer.daemon = True  # the end of the program does not wait for it, but writes at once
    timer.start()


@atexit.register
def write_waiting() -> None:
    """Write all reports that are still to be written."""
    with _writing:
        while _waiting:
            folder = _waiting.popleft()
            with suppress(DialectreeError):
                write(folder, folder.record())


@asynccontextmanager
async def follow(
    run_id: str, expected: tuple[int, int] | None, wanted: bool | None
) -> AsyncIterator[Watch | None]:
    """Show in one line how far a run is until the block ends, and yield what watches its events.

    Yields None where nothing is shown; ``wanted`` None shows it in a notebook only.
    """
    if wanted is False or (wanted is None and "IPython" not in sys.modules):
        yield None
        return
    progress = Progress(run_id, expected)
    async with show(progress.line, wanted):
        yield progress.watch
