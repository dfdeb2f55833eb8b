"""Where the parts plug in that contest, estimate and show runs: one protocol for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, Self

from pydantic import JsonValue

from dialectree.protocols.protocol import Method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import RunRecord, RunSummary
from dialectree.records.estimate import Estimate
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import Watch
from dialectree.running.runner import Started
from dialectree.system.parts import PlugPoint


class Wish(Protocol):
    """A change that a person wishes in a run, such as ``dialectree.contests.Drop("0.1")``."""

    @property
    def change(self) -> str:
        """Return what is to be done: ``drop``, ``replace``, ``add_source`` ..."""
        ...

    @property
    def where(self) -> str:
        """Return what is changed, such as ``0.1``."""
        ...

    @property
    def text(self) -> str:
        """Return the new text; "" where the change has none."""
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
    ) -> Started:
        """Begin a new run under ``runs`` in which ``wishes`` hold; InputError where it cannot be.

        ``settings`` are models and limits. A run that is only tried lies in ``into``.
        """
        ...


CONTESTS: PlugPoint[Contests] = PlugPoint("contests", "contesting a run")


class Estimates(Protocol):
    """The part that tells before the first call what a debate will take."""

    async def estimate(
        self, chosen: Method, graph_input: Mapping[str, JsonValue], context: ProtocolSettings, runs: Path
    ) -> Estimate:
        """Estimate a debate by ``chosen`` about what its graph takes."""
        ...

    async def estimate_change(self, contest: Started, runs: Path) -> Estimate:
        """Estimate a contest that has a folder: what its journal answers costs nothing."""
        ...


ESTIMATES: PlugPoint[Estimates] = PlugPoint("estimates", "estimating a debate")


class Reports(Protocol):
    """The part that shows runs."""

    def list_runs(self, runs: Path, tell: Callable[[str], None]) -> list[RunSummary]:
        """Return a summary of each run in a folder; ``tell`` gets a line on one that is broken."""
        ...

    def write(self, folder: RunFolder, record: RunRecord) -> None:
        """Write the reports of a run into its folder; RunFolderError where there is no room."""
        ...

    def write_later(self, folder: RunFolder) -> bool:
        """Write them when the program does nothing else; False: it has to be done now."""
        ...

    def follow(
        self, run_id: str, expected: tuple[int, int] | None, show_progress: bool | None
    ) -> AbstractAsyncContextManager[Watch | None]:
        """Show in one line how far a run is until the block ends; None: in a notebook only.

        Yields what watches its events, or None where nothing is shown.
        """
        ...


REPORTS: PlugPoint[Reports] = PlugPoint("reports", "showing a run")
