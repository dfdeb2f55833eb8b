"""Define the plug points for reading documents and for the outcome of a contest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from dialectree.records import Contest, Event, Override, RunRecord, Tree
from dialectree.records.folder import RunFolder
from dialectree.system.parts import PlugPoint

WatchReading = Callable[[str, int, int], None]
"""Gets the activity (``reading``, ``indexing``), the number of finished documents, and their total."""
Texts = Sequence[Any]
"""The texts of documents: paths of files, or documents in memory."""


class Documents(Protocol):
    """The part that reads the documents to argue from, and keeps their texts."""

    def read_given(
        self, sources: Any, reading: WatchReading | None = None, reader: object = None
    ) -> list[JsonValue]:
        """Return ``sources`` as a graph takes them, and put their texts into the cache; blocks.

        ``reader`` replaces our reader. Raises InputError for unreadable documents.
        """
        ...

    def locate_texts(self, sources: Iterable[Mapping[str, Any]], *folders: Path) -> Texts:
        """Return the text of each source, from ``folders`` or the cache; raise InputError if missing."""
        ...

    def keep_texts(self, texts: Texts, folder: RunFolder) -> None:
        """Leave the texts of a run's sources in its folder."""
        ...

    def find_segment(self, source: Mapping[str, Any], number: int, texts: Path) -> str:
        """Return the text of a segment of a source; raise InputError for an unknown number."""
        ...

    def require_unchanged(self, record: RunRecord, reader: object = None) -> None:
        """Raise InputError for files that changed since the run began."""
        ...

    def locate_sent(self, owner: str, runs: Path) -> Path:
        """Return the folder of the documents that a client sent."""
        ...

    def keep_sent(self, owner: str, sources: Iterable[Any], runs: Path) -> None:
        """Keep the documents that the client ``owner`` sent, so that the client can name them by digest."""
        ...

    def require_own(self, owner: str, sources: Any, runs: Path, at: Path | None = None) -> None:
        """Raise InputError for a digest of a document that the client ``owner`` never gave."""
        ...


DOCUMENTS: PlugPoint[Documents] = PlugPoint("documents", "arguing from sources")


def locate_sources(sources: Sequence[Mapping[str, Any]], *folders: Path) -> Texts:
    """Return the texts of a run's sources, from ``folders`` or the cache; raise InputError if missing."""
    return DOCUMENTS.require().locate_texts(sources, *folders) if sources else ()


def keep_sources(texts: Texts, folder: RunFolder) -> None:
    """Leave the texts of a run's sources in its folder."""
    if texts:
        DOCUMENTS.require().keep_texts(texts, folder)


class Outcomes(Protocol):
    """The part ``contests``, which describes the outcome of a contest."""

    def compare_runs(self, old: RunRecord, new: RunRecord) -> Contest:
        """Return the contest of the run ``new``, with the verdicts that it changed."""
        ...

    def describe_changes(
        self, overrides: Sequence[Override], tree: Tree, met: Collection[str]
    ) -> Iterator[Event]:
        """Yield the events about the nodes that the overrides concern.

        ``met`` are the ids of the overrides that were applied in the debate.
        """
        ...


OUTCOMES: PlugPoint[Outcomes] = PlugPoint("contests", "contesting a run")
