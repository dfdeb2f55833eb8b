"""Read the documents that the rows of a data set name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialectree.evals.dataset_items import Source, Written
from dialectree.evidence.documents import read_given


class Reader:
    """Reads sources; those that many rows name are read once.

    ``notices`` says what could not be read below a folder, and which parts of a file are missing.
    """

    def __init__(self, folder: Path, reader: object = None) -> None:
        """Read paths from ``folder``; a person's own ``reader`` takes the place of ours."""
        self._reader = reader
        self.notices: list[str] = []
        self._folder = folder
        self._read: dict[tuple[Written | str, ...], tuple[Source, ...]] = {}

    def read(self, written: Sequence[Written | str]) -> tuple[Source, ...]:
        """Return the documents of one row, in their order.

        Raises InputError, with its name, for a path that is not there or cannot be read.
        """
        key = tuple(written)
        if key and key not in self._read:
            self._read[key] = self._documents(key)
        return self._read.get(key, ())

    def _documents(self, written: Sequence[Written | str]) -> tuple[Source, ...]:
        given = [
            self._folder / one if isinstance(one, str) else one.model_dump() for one in written
        ]
        if len(given) > 1:
            for one in given:
                # Beside others, one that cannot be read is only a notice.
                read_given([one], reader=self._reader)
        read: list[Any] = read_given(given, reader=self._reader)
        notices = read[0].get("notices", [])
        self.notices += [one for one in notices if one not in self.notices]
        return tuple(Source(**{name: one[name] for name in Source.model_fields}) for one in read)
