"""What the kernel asks of the part ``reports``, which shows a run to people."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    from dialectree.records.folder import RunFolder
    from dialectree.records.run import Event, RunRecord


class ProgressLine(Protocol):
    """How far a run is, for people."""

    calls: int
    """Calls that have ended."""
    expected: tuple[int, int] | None
    """The least and the most calls that the run should take; None where nobody estimated them."""

    @property
    def seconds(self) -> float:
        """Return how long the run has been watched."""
        ...

    def watch(self, event: Event) -> None:
        """Apply an event of the run."""
        ...

    def line(self) -> str:
        """Return one line: how many replies there are, and what was said last."""
        ...


class Reports(Protocol):
    """The part that shows runs."""

    def summarize(self, record: RunRecord) -> str:
        """Return what was asked and what came of it, in two lines."""
        ...

    def draw_card(self, record: RunRecord) -> str:
        """Return the run as a card of a notebook, in HTML."""
        ...

    def write(self, folder: RunFolder, record: RunRecord) -> None:
        """Write the reports of a run into its folder; RunFolderError where there is no room."""
        ...

    def follow(self, run_id: str, expected: tuple[int, int] | None) -> ProgressLine:
        """Return how far a run is, which has begun now."""
        ...

    def show(
        self, line: Callable[[], str], wanted: bool | None
    ) -> AbstractAsyncContextManager[None]:
        """Show ``line()`` until the block ends; None shows it in a notebook only."""
        ...


REPORTS: PlugPoint[Reports] = PlugPoint("reports", "showing a run")
