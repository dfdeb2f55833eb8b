"""Where the parts that change, read and estimate debates plug in: one protocol for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from pydantic import JsonValue

from dialectree.records import Contest, Event, Override, RunRecord, Tree
from dialectree.records.estimate import Estimate
from dialectree.records.folder import RunFolder
from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    from dialectree.protocols.protocol import Method
    from dialectree.protocols.settings import ProtocolSettings
    from dialectree.running.runner import Started


WatchReading = Callable[[str, int, int], None]
"""Is told what goes on (``reading``, ``indexing``), how many documents are done of how many."""
Texts = Sequence[Any]
"""The texts of documents: paths of files, or documents in memory."""


class Documents(Protocol):
    """The part that reads the documents to argue from, and keeps their texts."""

    def read_given(
        self, given: Any, reading: WatchReading | None = None, reader: object = None
    ) -> list[JsonValue]:
        """Return ``given`` as a graph takes sources, and leave their texts in the cache; blocks.

        ``reader`` takes the place of ours. Raises InputError for what cannot be read.
        """
        ...

    def locate_texts(self, sources: Iterable[Mapping[str, Any]], *folders: Path) -> Texts:
        """Return the text of each source, from one of ``folders`` or the cache; or InputError."""
        ...

    def keep_texts(self, texts: Texts, folder: RunFolder) -> None:
        """Leave the texts of a run's sources in its folder."""
        ...

    def find_segment(self, source: Mapping[str, Any], number: int, texts: Path) -> str:
        """Return the text of a segment of a source; InputError where it has no such number."""
        ...

    def require_unchanged(self, record: RunRecord, reader: object = None) -> None:
        """Raise InputError for files that say something else than when the run began."""
        ...

    def locate_sent(self, owner: str, runs: Path) -> Path:
        """Return the folder of the documents that a client sent."""
        ...

    def keep_sent(self, owner: str, sources: Iterable[Any], runs: Path) -> None:
        """Keep what the client ``owner`` sent, so that it can name it by its digest."""
        ...

    def require_own(self, owner: str, sources: Any, runs: Path, at: Path | None = None) -> None:
        """Raise InputError for a digest of a document that the client ``owner`` never gave."""
        ...


DOCUMENTS: PlugPoint[Documents] = PlugPoint("documents", "arguing from sources")


def locate_sources(sources: Sequence[Mapping[str, Any]], *folders: Path) -> Texts:
    """Return the texts of a run's sources, from ``folders`` or the cache; or InputError."""
    return DOCUMENTS.require().locate_texts(sources, *folders) if sources else ()


def keep_sources(texts: Texts, folder: RunFolder) -> None:
    """Leave the texts of a run's sources in its folder."""
    if texts:
        DOCUMENTS.require().keep_texts(texts, folder)


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
        given: Mapping[str, Any],
        *,
        person: bool = True,
        into: Path | None = None,
    ) -> Started:
        """Begin a new run under ``runs`` in which ``wishes`` hold; InputError where it cannot be.

        ``given`` are models and limits. A run that is only tried lies in ``into``.
        """
        ...

    def compared(self, old: RunRecord, new: RunRecord) -> Contest:
        """Return the contest that ``new`` is, with what it moved."""
        ...

    def told(
        self, overrides: Sequence[Override], tree: Tree, met: Collection[str]
    ) -> Iterator[Event]:
        """Yield the events about the nodes that the overrides concern.

        ``met`` are the ids of the overrides that had a place in the debate.
        """
        ...


CONTESTS: PlugPoint[Contests] = PlugPoint("contests", "contesting a run")


class Estimates(Protocol):
    """The part that tells before the first call what a debate will take."""

    async def estimate(
        self,
        chosen: Method,
        graph_input: Mapping[str, JsonValue],
        context: ProtocolSettings,
        runs: Path,
    ) -> Estimate:
        """Estimate a debate by ``chosen`` about what its graph takes."""
        ...

    async def estimate_change(self, contest: Started, runs: Path) -> Estimate:
        """Estimate a contest that has a folder: what its journal answers costs nothing."""
        ...


ESTIMATES: PlugPoint[Estimates] = PlugPoint("estimates", "estimating a debate")
