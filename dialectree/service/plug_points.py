"""Define the plug points for contesting, estimating and showing runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from pydantic import JsonValue

from dialectree.protocols.protocol import Method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import RunRecord, RunSummary
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import Watch
from dialectree.running.runner import RunHandle
from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    from dialectree.records.estimate import Estimate


class Wish(Protocol):
    """A change that a person wishes in a run, such as ``dialectree.contests.Drop("0.1")``."""

    @property
    def change(self) -> str:
        """Return the kind of change: ``drop``, ``replace``, ``add_source`` ..."""
        ...

    @property
    def where(self) -> str:
        """Return the id of the node or turn to change, such as ``0.1``."""
        ...

    @property
    def text(self) -> str:
        """Return the new text; "" if the change has no text."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return the change with other fields."""
        ...


class Contests(Protocol):
    """The part that changes something in a run."""

    def start(
        self,
        folder: RunFolder,
        wishes: Iterable[Wish],
        runs: Path,
        settings: Mapping[str, Any],
        *,
        person: bool = True,
        into: Path | None = None,
    ) -> RunHandle:
        """Begin a new run in ``runs`` with ``wishes`` applied; raise InputError if that is impossible.

        ``settings`` are models and limits. A trial run has its folder in ``into``.
        """
        ...


CONTESTS: PlugPoint[Contests] = PlugPoint("contests", "contesting a run")


class Estimates(Protocol):
    """The part that estimates a debate before its first call."""

    async def estimate(
        self, chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings, runs: Path
    ) -> Estimate:
        """Estimate a debate by ``chosen`` on ``graph_input``."""
        ...

    async def estimate_change(self, contest: RunHandle, runs: Path) -> Estimate:
        """Estimate a contest whose run has a folder; calls that its journal answers cost nothing."""
        ...


ESTIMATES: PlugPoint[Estimates] = PlugPoint("estimates", "estimating a debate")


class Reports(Protocol):
    """The part that shows runs."""

    def list_runs(self, runs: Path, tell: Callable[[str], None]) -> list[RunSummary]:
        """Return a summary of each run in a folder; ``tell`` gets a line on each broken run."""
        ...

    def write(self, folder: RunFolder, record: RunRecord) -> None:
        """Write the reports of a run into its folder; raise RunFolderError if the disk is full."""
        ...

    def write_later(self, folder: RunFolder) -> bool:
        """Write the reports when the program is idle; return False if the caller must write them now."""
        ...

    def follow(
        self, run_id: str, expected: tuple[int, int] | None, show_progress: bool | None
    ) -> AbstractAsyncContextManager[Watch | None]:
        """Show a run's progress in one line inside the block; ``show_progress`` None: only in notebooks.

        Yields the function that watches the run's events, or None if nothing is shown.
        """
        ...


REPORTS: PlugPoint[Reports] = PlugPoint("reports", "showing a run")
