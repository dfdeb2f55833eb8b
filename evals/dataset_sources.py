"""Read the documents that the rows of a data set name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialectree.errors import InputError
from dialectree.evals.dataset_items import Source, Written

if TYPE_CHECKING:
    from dialectree.retrieval.sources import Document


class Reader:
    """Reads sources; those that many rows name are read once.

    ``notices`` says what could not be read below a folder, and which parts of a file are missing.
    """

    def __init__(self, folder: Path) -> None:
        """Read paths from ``folder``."""
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
        from dialectree.retrieval.sources import read_sources

        paths = [self._folder / one for one in written if isinstance(one, str)]
        for path in paths:
            read_sources(path)  # each by itself: beside others a missing one is only a notice
        documents: list[Document] = []
        if paths:
            found = read_sources(paths)
            documents += found.documents
            self.notices += [one for one in found.notices if one not in self.notices]
        documents += [_kept(one) for one in written if isinstance(one, Written)]
        return tuple(Source(name=d.name, title=d.title, digest=d.digest) for d in documents)


def _kept(written: Written) -> Document:
    """Return the document of a text, kept in the cache."""
    from dialectree.retrieval.blocks import Block
    from dialectree.retrieval.sources import Document, documents_folder, write_document

    paragraphs = [" ".join(one.split()) for one in written.text.split("\n\n")]
    blocks = [Block(one) for one in paragraphs if one]
    if not blocks:
        raise InputError(f"{written.name}: no text in it")
    document = Document.of(written.name, blocks)
    write_document(document, documents_folder())
    return document
