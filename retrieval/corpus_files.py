"""Write a corpus's files, and map them into memory: texts, numbers that point into these, a word index.

The cache keeps a corpus by the content of its documents, so that a second run only maps its files.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import bm25s
import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document as Text

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.retrieval.cut_documents import cut_document, segments_folder
from dialectree.retrieval.kept_files import hash_code
from dialectree.retrieval.search_words import search_words
from dialectree.retrieval.sources import Document
from dialectree.retrieval.words import words
from dialectree.system import clock

KEPT_DAYS = 60
"""Days after which the cache removes an unused corpus."""
SEGMENTS = 200_000
"""Most segments of a corpus, as in 2,500 documents of ten pages; more segments need a search engine."""

Progress: TypeAlias = Callable[[int, int], None] | None
"""Takes the number of documents done, and the number of all documents."""

log = logging.getLogger(__name__)


class Pieces:
    """The segments of a corpus: their distinct texts in one string, and numbers that point into it.

    A row is a distinct text. Numbers "by row" have one number for each row; ``row``, ``page``,
    ``offset``, ``heading`` and ``place`` have one for each segment.
    """

    def __init__(self, texts: bytes | mmap, numbers: Mapping[str, npt.NDArray[Any]]) -> None:
        self._texts = texts
        self.starts = numbers["starts"]
        """By source, the place of its first segment; the last number is the end of all segments."""
        self.row = numbers["row"]
        self.page = numbers["page"]
        self.offset = numbers["offset"]
        self.heading = numbers["heading"]
        self.place = numbers["place"]
        self.first = numbers["first"]
        """By row, the place of the first segment with its text."""
        self._ends = numbers["ends"]
        """By row, the end of its text, in bytes."""
        self._marks = numbers["marks"]
        """Start and end of each sentence in the text of its row, in pairs."""
        self.last = numbers["last"]
        """By row, the end of its pairs in ``_marks``."""
        self.headings: list[str | None] = json.loads(numbers["headings"].tobytes())
        self.places: list[str] = json.loads(numbers["places"].tobytes())
        self.languages: list[str] = json.loads(numbers["languages"].tobytes())
        """The languages in which the corpus's words are stemmed; empty if words are not stemmed."""

    def text(self, row: int) -> str:
        """Return the text of a row."""
        start = int(self._ends[row - 1]) if row else 0
        return self._texts[start : int(self._ends[row])].decode()

    def spans(self, row: int) -> tuple[tuple[int, int], ...]:
        """Return the places of the sentences in the text of a row."""
        start = int(self.last[row - 1]) if row else 0
        return tuple((int(a), int(b)) for a, b in self._marks[start : int(self.last[row])])

    def alike(self, row: int) -> list[int]:
        """Return the places of the segments that have the text of a row, in order."""
        return self._more.get(row) or [int(self.first[row])]

    @cached_property
    def _more(self) -> dict[int, list[int]]:
        """Return, for each row that several segments share, the places of these segments."""
        counts = np.bincount(self.row, minlength=len(self.first))
        places_by_row: dict[int, list[int]] = {}
        for at in np.flatnonzero(counts[self.row] > 1).tolist():
            places_by_row.setdefault(int(self.row[at]), []).append(at)
        return places_by_row


class Rows(Sequence[Text]):
    """The distinct texts of a corpus, by row; each is read on access."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return len(self._pieces.first)

    def __getitem__(self, row: Any) -> Any:
        if row >= len(self):
            raise IndexError(row)
        return Text(self._pieces.text(row), metadata={"number": row})


class WordScores:
    """BM25 scores of all rows."""

    def __init__(self, bm25: bm25s.BM25 | None, size: int, languages: Sequence[str]) -> None:
        """Take an index of words stemmed in ``languages``; if that is empty, the words are not stemmed."""
        self._bm25, self._size, self._languages = bm25, size, languages

    def scores(self, query: str) -> npt.NDArray[np.floating[Any]]:
        """Return the score of each row, 0 for a row without a word of the query."""
        split = words(query)
        if self._languages:
            stems = (search_words(query, language) for language in self._languages)
            split = [*dict.fromkeys(chain.from_iterable(stems))]
        if self._bm25 is None or not split:
            return np.zeros(self._size, dtype=np.float32)
        scores: npt.NDArray[np.floating[Any]] = self._bm25.get_scores(split)
        return scores


class Rules(NamedTuple):
    """The rules by which documents become a corpus."""

    distinct: bool
    """Find only the first of several segments with equal text."""
    stemmed: bool
    """Search words without their endings and accents."""


class CorpusFiles(NamedTuple):
    """A corpus, cut and indexed by words."""

    pieces: Pieces
    words: WordScores


_NUMBERS = ("starts", "row", "page", "offset", "heading", "place", "first", "ends", "marks", "last")


def locate_corpus(documents: Sequence[Document], rules: Rules) -> Path:
    """Return the folder that keeps the corpus of these documents."""
    hashed = blake2b(digest_size=16, key=hash_code())
    hashed.update(repr(rules).encode())
    for document in documents:
        hashed.update(document.digest.encode())
    return corpora_folder() / hashed.hexdigest()


def corpora_folder() -> Path:
    """Return the folder of the cache that keeps corpora."""
    return cache_folder() / "corpora"


def prepare_corpus(
    place: Path, documents: Sequence[Document], rules: Rules, progress: Progress
) -> CorpusFiles:
    """Load the corpus in ``place``, or build it from these documents and keep it there.

    Raises InputError for too many segments.
    """
    if place.is_dir():
        try:
            files = _load(place)
            with suppress(OSError):
                os.utime(place)
            return files
        except (OSError, ValueError, LookupError) as error:
            log.warning("the corpus in %s is damaged and is built again: %s", place, error)
            shutil.rmtree(place, ignore_errors=True)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_unused(place.parent.glob("*"))
        _remove_unused(segments_folder().glob("*/*"))
        draft = Path(tempfile.mkdtemp(dir=place.parent))
    except OSError as error:
        log.warning("cannot keep the corpus in %s: %s", place.parent, error)
        return _index_documents(documents, rules, None, progress)
    try:
        files = _index_documents(documents, rules, draft, progress)
        draft.rename(place)
        return _load(place)
    except OSError as error:  # another process was first, or the disk is full
        log.warning("cannot keep the corpus in %s: %s", place, error)
        return _load(place) if place.is_dir() else files
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_unused(places: Iterable[Path]) -> None:
    """Remove cached files unused for :data:`KEPT_DAYS`: they can be built again."""
    with suppress(OSError):
        for place in places:
            if clock.read_utc_time().timestamp() - place.stat().st_mtime > KEPT_DAYS * 86_400:
                if place.is_dir():
                    shutil.rmtree(place, ignore_errors=True)
                else:
                    place.unlink(missing_ok=True)


def _index_documents(
    documents: Sequence[Document], rules: Rules, folder: Path | None, progress: Progress
) -> CorpusFiles:
    """Cut and index documents; write the corpus to ``folder``, if given."""
    lists: dict[str, array[int]] = {name: array("q") for name in _NUMBERS}
    row, marks, starts = lists["row"], lists["marks"], lists["starts"]
    texts, rows, vocabulary = bytearray(), dict[bytes, int](), dict[str, int]()
    headings: dict[str | None, int] = {}
    places: dict[str, int] = {}
    split: list[array[int]] = []
    starts.append(0)
    languages: set[str] = set()
    for done, document in enumerate(documents, 1):
        language, segments = cut_document(document, stemmed=rules.stemmed)
        languages.add(language)
        for segment in segments:
            encoded = segment.text.encode()
            key = blake2b(encoded, digest_size=16).digest()
            number = rows.setdefault(key, len(rows)) if rules.distinct else len(row)
            if number == len(split):
                lists["first"].append(len(row))
                texts += encoded
                lists["ends"].append(len(texts))
                marks.extend(chain.from_iterable(segment.sentences))
                lists["last"].append(len(marks) // 2)
                ids = (vocabulary.setdefault(word, len(vocabulary)) for word in segment.words)
                split.append(array("i", ids))
            row.append(number)
            lists["page"].append(segment.page or 0)
            lists["offset"].append(segment.offset)
            lists["heading"].append(headings.setdefault(segment.heading, len(headings)))
            lists["place"].append(places.setdefault(segment.place, len(places)))
        starts.append(len(row))
        if len(row) > SEGMENTS:
            raise InputError(
                f"the sources have more than {SEGMENTS:,} segments: give fewer of them, or let an "
                "engine search them and name it by `retriever` (docs/sources.md)"
            )
        if progress is not None:
            progress(done, len(documents))
    numbers: dict[str, Any] = {name: np.array(values, dtype=np.int64) for name, values in lists.items()}
    numbers["marks"] = numbers["marks"].reshape(-1, 2)
    numbers["headings"] = np.frombuffer(json.dumps([*headings]).encode(), dtype=np.uint8)
    numbers["places"] = np.frombuffer(json.dumps([*places]).encode(), dtype=np.uint8)
    stems = json.dumps(sorted(languages) if rules.stemmed else []).encode()
    numbers["languages"] = np.frombuffer(stems, dtype=np.uint8)
    bm25 = bm25s.BM25(backend="numpy") if vocabulary else None
    if bm25 is not None:
        bm25.index((split, vocabulary), show_progress=False)
    if folder is not None:
        (folder / "texts").write_bytes(texts)
        np.savez(folder / "numbers.npz", **numbers)
        if bm25 is not None:
            bm25.save(folder / "words")
    pieces = Pieces(bytes(texts), numbers)
    return CorpusFiles(pieces, WordScores(bm25, len(split), pieces.languages))


def _load(place: Path) -> CorpusFiles:
    """Map a corpus from the cache, so that only the parts in use are read."""
    with (place / "texts").open("rb") as file:
        texts = mmap(file.fileno(), 0, access=ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
    with np.load(place / "numbers.npz") as numbers:
        pieces = Pieces(texts, dict(numbers))
    words_at = place / "words"
    bm25 = bm25s.BM25.load(words_at, mmap=True) if words_at.is_dir() else None
    return CorpusFiles(pieces, WordScores(bm25, len(pieces.first), pieces.languages))
