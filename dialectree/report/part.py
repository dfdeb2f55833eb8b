"""The part ``reports``: see :class:`dialectree.service.plug_points.Reports`."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

from dialectree.errors import DialectreeError
from dialectree.records import Event, RunRecord, RunSummary
from dialectree.records.folder import RunFolder
from dialectree.report.progress import Progress, show

if TYPE_CHECKING:
    from pandas import DataFrame

Watch = Callable[[Event], None]

_waiting: deque[RunFolder] = deque()
"""Runs whose verdict was returned and whose reports are still to be written."""
_MOST_WAITING = 20
"""From this number of waiting runs on, the next debate writes their reports in the background."""
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_waiting.clear)  # the parent process writes them


def list_runs(runs: Path, tell: Callable[[str], None]) -> list[RunSummary]:
    """Return a summary of each run in a folder, the newest first."""
    from dialectree.report import run_index

    return run_index.list_runs(runs, tell)


def summarize(record: RunRecord) -> str:
    """Return the question and the outcome, in two lines."""
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
    """Write report.md and report.html; raise RunFolderError if the disk is full."""
    from dialectree.report import html, markdown

    calls = folder.calls()
    folder.write("report.md", markdown(record, calls))
    folder.write("report.html", html(record, calls, folder.events(), folder.texts()))


def write_later(folder: RunFolder) -> bool:
    """Postpone the reports to the end of the program, or to a later debate once many wait.

    Return False, and postpone nothing, in a notebook and in a process of a pool: there, neither the
    end nor a later debate is certain.
    """
    if "IPython" in sys.modules or parent_process() is not None:
        return False
    _waiting.append(RunFolder(folder.path.absolute()))  # a program may change its working directory
    return True


@atexit.register
def write_waiting() -> None:
    """Write all postponed reports, except those of deleted runs."""
    for _ in range(len(_waiting)):
        with suppress(IndexError, DialectreeError):  # another thread may take the last one
            folder = _waiting.popleft()
            write(folder, folder.record())


@asynccontextmanager
async def follow(
    run_id: str, expected: tuple[int, int] | None, display: bool | None
) -> AsyncIterator[Watch | None]:
    """Show a run's progress in one line until the block ends; yield a function to call with each event.

    Yields None if nothing is shown; ``display`` None shows the line in a notebook only. If the
    reports of many earlier runs wait, they are written in the background.
    """
    many = len(_waiting) >= _MOST_WAITING
    earlier = asyncio.ensure_future(asyncio.to_thread(write_waiting)) if many else None
    try:
        if display is False or (display is None and "IPython" not in sys.modules):
            yield None
        else:
            progress = Progress(run_id, expected)
            async with show(progress.line, display):
                yield progress.watch
    finally:
        if earlier is not None:
            await earlier
