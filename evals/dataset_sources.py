"""Read the documents that the rows of a data set name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialectree.evals.dataset_items import DatasetSource, InlineDocument
from dialectree.evidence.documents import read_given


class SourceReader:
    """Reads sources; a source that many rows name is read once.

    ``notices`` has a line for each file of a folder that could not be read, and for each part that is
    missing from a file.
    """

    def __init__(self, folder: Path, reader: object = None) -> None:
        """Read paths relative to ``folder``; a user's ``reader`` replaces the default one."""
        self._reader = reader
        self.notices: list[str] = []
        self._folder = folder
        self._read: dict[tuple[InlineDocument | str, ...], tuple[DatasetSource, ...]] = {}

    def read(self, documents: Sequence[InlineDocument | str]) -> tuple[DatasetSource, ...]:
        """Return the documents of one row, in their order.

        Raises InputError, with the path, for a missing or unreadable path.
        """
        key = tuple(documents)
        if key and key not in self._read:
            self._read[key] = self._documents(key)
        return self._read.get(key, ())

    def _documents(self, documents: Sequence[InlineDocument | str]) -> tuple[DatasetSource, ...]:
        sources = [
            self._folder / document if isinstance(document, str) else document.model_dump()
            for document in documents
        ]
        if len(sources) > 1:
            for source in sources:
                # Read with others, an unreadable source would only be a notice.
                read_given([source], reader=self._reader)
        read: list[Any] = read_given(sources, reader=self._reader)
        notices = read[0].get("notices", [])
        self.notices += [notice for notice in notices if notice not in self.notices]
        return tuple(
            DatasetSource(**{name: source_fields[name] for name in DatasetSource.model_fields})
            for source_fields in read
        )
