"""The part ``reports``: see :class:`dialectree.service.plug_points.Reports`."""

from __future__ import annotations

from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.report.progress import Progress
from dialectree.report.progress import show as show


def summarize(record: RunRecord) -> str:
    """Return what was asked and what came of it, in two lines."""
    from dialectree.report.verdicts import two_line_summary

    return two_line_summary(record)


def draw_card(record: RunRecord) -> str:
    """Return the run as a card of a notebook, in HTML."""
    from dialectree.report.pages import card

    return card(record)


def write(folder: RunFolder, record: RunRecord) -> None:
    """Write report.md and report.html; RunFolderError where there is no room."""
    from dialectree.report import html, markdown

    calls = folder.calls()
    folder.write("report.md", markdown(record, calls))
    folder.write("report.html", html(record, calls, folder.events(), folder.texts()))


def follow(run_id: str, expected: tuple[int, int] | None) -> Progress:
    """Return how far a run is, which has begun now."""
    return Progress(run_id, expected)
