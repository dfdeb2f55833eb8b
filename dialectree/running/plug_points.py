"""Where the parts plug in that read documents and that tell what came of a contest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue

from dialectree.records import Contest, Event, Override, RunRecord, Tree
from dialectree.records.folder import RunFolder
from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    pass


WatchReading = Callable[[str, int, int], None]
"""Is told what goes on (``reading``, ``indexing``), how many documents are done of how many."""
Texts = Sequence[Any]
"""The texts of documents: paths of files, or documents in memory."""


class Documents(Protocol):
    """The part that reads the documents to argue from, and keeps their texts."""

    def read_given(
        self, sources: Any, reading: WatchReading | None = None, reader: object = None
    ) -> list[JsonValue]:
        """Return ``sources`` as a graph takes sources, and leave their texts in the cache; blocks.

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


class Outcomes(Protocol):
    """What the part ``contests`` tells of what came of a contest."""

    def compare_runs(self, old: RunRecord, new: RunRecord) -> Contest:
        """Return the contest that ``new`` is, with what it moved."""
        ...

    def describe_changes(
        self, overrides: Sequence[Override], tree: Tree, met: Collection[str]
    ) -> Iterator[Event]:
        """Yield the events about the nodes that the overrides concern.

        ``met`` are the ids of the overrides that had a place in the debate.
        """
        ...


OUTCOMES: PlugPoint[Outcomes] = PlugPoint("contests", "contesting a run")
