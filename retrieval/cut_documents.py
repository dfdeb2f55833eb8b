"""Cut documents into segments with search words, and cache each document by its content.

A corpus is built from the cached segments, so that only a changed document is cut again.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from dialectree.protocols.sources import cache_folder
from dialectree.retrieval.kept_files import hash_code, write_whole
from dialectree.retrieval.search_words import search_words
from dialectree.retrieval.segments import cut, language_of
from dialectree.retrieval.sources import Document
from dialectree.retrieval.words import words

log = logging.getLogger(__name__)


class CutSegment(NamedTuple):
    """A segment of a document, and the words by which a search finds it."""

    text: str
    page: int | None
    offset: int
    heading: str | None
    sentences: Sequence[Sequence[int]]
    """Start and end of each sentence, in characters of the text."""
    words: Sequence[str]
    place: str
    """As :attr:`dialectree.retrieval.segments.Piece.place`."""

    def list_sentences(self) -> list[str]:
        """Return the segment's sentences, in order."""
        return [self.text[start:end] for start, end in self.sentences]


class CutDocument(NamedTuple):
    """The segments of a document, and its language."""

    language: str
    segments: Sequence[CutSegment]


def cut_document(document: Document, *, stemmed: bool) -> CutDocument:
    """Return the segments of ``document``, from the cache if it was cut before.

    With ``stemmed``, the search words are normalized, have no endings and include the words of
    headings. Otherwise the text is split into words as in earlier versions.
    """
    file = _file(document, stemmed)
    with suppress(OSError, ValueError, TypeError):
        language, rows = json.loads(file.read_bytes())
        cut_before = CutDocument(language, [CutSegment(*row) for row in rows])
        with suppress(OSError):
            os.utime(file)
        return cut_before
    language = language_of(document.passages)
    segments: list[CutSegment] = []
    for piece, sentences in cut(document.passages, language, version=document.version):
        text_to_search = f"{piece.heading or ''}\n{piece.text}"
        segment_words = search_words(text_to_search, language) if stemmed else words(piece.text)
        text, page, offset, heading, _, place = piece
        segments.append(CutSegment(text, page, offset, heading, sentences, segment_words, place))
    document_cut = CutDocument(language, segments)
    try:
        write_whole(file, json.dumps(document_cut, ensure_ascii=False).encode())
    except OSError as error:
        log.warning("cannot keep the segments of a document in %s: %s", file.parent, error)
    return document_cut


def segments_folder() -> Path:
    """Return the folder of the cache that keeps the segments of documents."""
    return cache_folder() / "segments"


def _file(document: Document, stemmed: bool) -> Path:
    hashed = blake2b(document.digest.encode(), digest_size=16, key=hash_code())
    hashed.update(b"stemmed" if stemmed else b"plain")
    name = hashed.hexdigest()
    return segments_folder() / name[:2] / f"{name}.json"
