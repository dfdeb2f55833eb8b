"""Use any LangChain retriever as material: a web search, a vector database, a search engine.

The run keeps the returned texts, so that a resumed, contested or replayed run finds the same texts
without a request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from dialectree.errors import CallError, DialectreeError, InputError, ReplayMiss, SettingsError
from dialectree.protocols.sources import cache_folder
from dialectree.records.journal import RetrievalLine, Retrievals, RetrievedText
from dialectree.retrieval.blocks import plain_signs
from dialectree.retrieval.corpus import DEEP, Corpus, CorpusSegment, Source, fuse_ranks
from dialectree.retrieval.kept_files import write_whole
from dialectree.retrieval.readers import import_attribute
from dialectree.retrieval.segments import sentences
from dialectree.retrieval.words import words
from dialectree.text import line

if TYPE_CHECKING:
    from dialectree.retrieval.embedders import Timing

LARGEST = 12
"""Most sentences of one segment; a longer text is cut into several."""
LONGEST = 200_000
"""Most characters of one text; the rest is left out."""
LAST_GIVEN = 1000
"""Highest number of a source that a person gives. Retrieved sources have higher numbers, so that a
source given later does not renumber any."""
LONGEST_NAME = 200
"""Most characters of a source's name or title."""

Retriever = Runnable[str, Any]


@cache
def import_retriever(name: str) -> Retriever:
    """Return the retriever ``module:attribute``; if that is a function, call it and return its result.

    Runs the module's code; the module may be in the working folder. Raises SettingsError if the
    retriever cannot be loaded.
    """
    retriever = import_attribute(name, "retriever")
    if not isinstance(retriever, Runnable) and callable(retriever):
        try:
            retriever = retriever()
        except Exception as error:
            why = f"{type(error).__name__}: {line(str(error), 300)}"
            raise SettingsError(f"`retriever`: {name} cannot be loaded: {why}") from error
    if not isinstance(retriever, Runnable):
        kind = type(retriever).__name__
        raise SettingsError(f"`retriever`: {name} is of type {kind}; give a LangChain BaseRetriever")
    return retriever


class RetrieverAccess(NamedTuple):
    """A retriever, and the rules for asking it."""

    name: str
    retriever: Retriever | None
    """None if only a run's record names the retriever: a record must not choose code to run."""
    seconds: float
    """Seconds in which the retriever must answer."""
    replay: bool = False
    """Do not ask the retriever: take its last answer to any run from the cache."""
    keeps: bool = True
    """Keep the retriever's answers for replays."""

    async def texts(self, query: str) -> list[RetrieverText]:
        """Return the texts that the retriever finds; raise CallError, with its name, if it fails or hangs."""
        cache_file = _make_cache_path(self.name, query)
        if self.replay:
            if (cached_texts := await asyncio.to_thread(_load_cached_texts, cache_file)) is None:
                detail = f"what {self.name} returned to {query!r:.200}"
                raise ReplayMiss(f"`replay`: the cache does not hold {detail}")
            return cached_texts
        if self.retriever is None:
            raise SettingsError(
                f"`retriever`: the run has no recorded answer for {query!r:.200}, and its record "
                f"must not choose code to run: name {self.name} again"
            )
        try:
            async with asyncio.timeout(self.seconds) as limit:
                documents = await self.retriever.ainvoke(query)
        except DialectreeError:
            raise
        except Exception as error:
            if limit.expired():
                detail = f"has not answered within {self.seconds:g} s"
            else:
                detail = f"failed: {type(error).__name__}: {line(str(error), 300)}"
            raise CallError(f"the retriever {self.name} {detail}") from error
        texts = await asyncio.to_thread(self._texts, documents)
        if self.keeps:
            await asyncio.to_thread(_keep, cache_file, texts)
        return texts

    def _texts(self, documents: object) -> list[RetrieverText]:
        texts: list[RetrieverText] = []
        for document in documents if isinstance(documents, list) else [documents]:
            if not isinstance(document, Document):
                problem = f"returned a {type(document).__name__}, not documents"
                raise CallError(f"the retriever {self.name} {problem}")
            texts += _texts_of(document, self.name)
        return texts[:DEEP]


class RetrieverText(NamedTuple):
    """A text that a retriever returned, and its source."""

    name: str
    title: str
    page: int | None
    text: str
    sentences: list[tuple[int, int]]


def _texts_of(document: Document, retriever: str) -> Iterator[RetrieverText]:
    """Yield the text of a document, in pieces of at most LARGEST sentences."""
    about = document.metadata
    name = next(filter(None, (_line(about.get(key)) for key in ("source", "url", "title"))), "")
    title, page = _line(about.get("title")), about.get("page")
    if str(label := about.get("page_label", "")).isdecimal():  # a PDF loader counts pages from 0
        page = int(label)
    paragraphs = plain_signs(document.page_content[:LONGEST]).split("\n\n")
    text = "\n\n".join(filter(None, (" ".join(raw_paragraph.split()) for raw_paragraph in paragraphs)))
    spans: list[tuple[int, int]] = []
    start = 0
    for paragraph in text.split("\n\n"):
        spans += [(start + a, start + b) for a, b in sentences(paragraph)]
        start += len(paragraph) + 2
    for at in range(0, len(spans), LARGEST):
        piece = spans[at : at + LARGEST]
        first, end = piece[0][0], piece[-1][1]
        yield RetrieverText(
            name or retriever,
            title or name or retriever,
            page if isinstance(page, int) and page > 0 else None,
            text[first:end],
            [(a - first, b - first) for a, b in piece],
        )


def _line(value: object) -> str:
    return line(plain_signs(str(value)), LONGEST_NAME) if value else ""


# The last answers of retrievers to any run, for replays


def _make_cache_path(name: str, query: str) -> Path:
    digest = blake2b(json.dumps([name, query]).encode(), digest_size=16).hexdigest()
    return cache_folder() / "retrievals" / f"{digest}.json"


def _keep(file: Path, texts: Sequence[RetrieverText]) -> None:
    write_whole(file, json.dumps(texts).encode())


def _load_cached_texts(file: Path) -> list[RetrieverText] | None:
    try:
        return [RetrieverText(*row) for row in json.loads(file.read_bytes())]
    except (OSError, ValueError, TypeError):
        return None


# The material of given documents and retrieved texts


class RetrievedMaterial:
    """The documents of a run, if any, and the texts that a retriever returned to the run."""

    def __init__(self, corpus: Corpus | None, access: RetrieverAccess, retrievals: Retrievals) -> None:
        self._corpus, self._asked, self._retrievals = corpus, access, retrievals

    @property
    def sources(self) -> Mapping[str, Source]:
        """Return the sources that a person gave, and the sources retrieved so far."""
        all_sources = {**self._corpus.sources} if self._corpus is not None else {}
        for id, passage in self._retrievals.passages.items():
            source = _source(id)
            all_sources.setdefault(source, Source(source, passage.name, passage.title))
        return all_sources

    def segment(self, id: str) -> CorpusSegment:
        """Return the segment ``s2:17``. Raises InputError for an unknown id."""
        if (passage := self._retrievals.passages.get(id)) is not None:
            spans = tuple((a, b) for a, b in passage.sentences)
            return CorpusSegment(id, _source(id), passage.text, passage.page, None, spans)
        return self._require_corpus().segment(id)

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``. Raises InputError for an unknown id."""
        segment_id, _, number = id.rpartition(".")
        if segment_id in self._retrievals.passages and number.isdecimal():
            segment = self.segment(segment_id)
            if 0 < int(number) <= len(segment.sentences):
                return segment.sentence(int(number))
        return self._require_corpus().sentence(id)

    async def search(
        self, queries: Sequence[str], count: int, dropped: Collection[str] = (), timing: Timing | None = None
    ) -> list[list[CorpusSegment]]:
        """Return for each query the best segments of documents and retrieved texts, by fused ranks.

        Equal texts count once. Raises CallError, with the retriever's name, if the retriever fails.
        Raises ReplayMiss or SettingsError if no answer is recorded and the retriever may not be asked.
        """
        await self._retrieve(queries)
        corpus_rows: list[list[CorpusSegment]] = [[] for _ in queries]
        if self._corpus is not None:
            dropped_ids = [id for id in dropped if _source(id) in self._corpus.sources]
            corpus_rows = await self._corpus.search(queries, max(count, DEEP), dropped_ids, timing)
        best: list[list[CorpusSegment]] = []
        for query, row in zip(queries, corpus_rows, strict=True):
            ids = self._retrievals.ids(self._asked.name, query) or []
            retrieved_segments = [self.segment(id) for id in ids if not {id, _source(id)} & {*dropped}]
            best.append(_merge_rankings([row, retrieved_segments])[:count])
        return best

    async def near(self, text: str, count: int) -> list[CorpusSegment]:
        """Return the segments that share most words with ``text``; the retriever is not asked."""
        text_words = {*words(text)}
        shared = {
            id: len(text_words & {*words(passage.text)}) for id, passage in self._retrievals.passages.items()
        }
        best = sorted(filter(shared.__getitem__, shared), key=lambda id: -shared[id])[:count]
        corpus_segments = await self._corpus.near(text, count) if self._corpus is not None else []
        return _merge_rankings([corpus_segments, [self.segment(id) for id in best]])[:count]

    def find_whole(self, tokens: int, sentences: int) -> list[str]:
        """Return the ids of all segments; no ids if these exceed ``tokens`` or ``sentences``."""
        return self._corpus.find_whole(tokens, sentences) if self._corpus is not None else []

    def neighbours(self, id: str, reach: int) -> list[str]:
        """Return the ids of ``reach`` segments on each side in the document; none for a retrieved segment."""
        if self._corpus is None or _source(id) not in self._corpus.sources:
            return []
        return self._corpus.neighbours(id, reach)

    def count_sentences(self) -> int:
        """Return the number of sentences of the documents and of all retrieved texts."""
        retrieved = sum(len(passage.sentences) for passage in self._retrievals.passages.values())
        return retrieved + (self._corpus.count_sentences() if self._corpus is not None else 0)

    def retrieves(self) -> bool:
        """Return True: a retriever may find texts outside the documents."""
        return True

    async def _retrieve(self, queries: Sequence[str]) -> None:
        """Ask the retriever each query without a recorded answer; keep the answers in the queries' order.

        Answers are kept even if another query fails.
        """
        name = self._asked.name
        new = [q for q in dict.fromkeys(queries) if self._retrievals.ids(name, q) is None]
        answers = await asyncio.gather(*map(self._asked.texts, new), return_exceptions=True)
        failures: list[BaseException] = []
        for query, answer in zip(new, answers, strict=True):
            if isinstance(answer, BaseException):
                failures.append(answer)
            elif self._retrievals.ids(name, query) is None:  # another step may have asked the query
                await self._retrievals.keep(self._make_retrieval(query, answer))
        if failures:
            raise failures[0]

    def _make_retrieval(self, query: str, texts: Sequence[RetrieverText]) -> RetrievalLine:
        """Return the line of a retrieval. A new name becomes a new source, a new text a new segment."""
        passages = self._retrievals.passages
        sources = {passage.name: _source(id) for id, passage in passages.items()}
        ids_by_text = {(passage.name, passage.text): id for id, passage in passages.items()}
        last = max([LAST_GIVEN, *(int(id[1:]) for id in self.sources)])
        sizes = [_source(id) for id in passages]
        new: list[RetrievedText] = []
        ids: dict[str, None] = {}
        for piece in texts:
            if (id := ids_by_text.get((piece.name, piece.text))) is None:
                if piece.name not in sources:
                    last += 1
                    sources[piece.name] = f"s{last}"
                source = sources[piece.name]
                sizes.append(source)
                id = ids_by_text[piece.name, piece.text] = f"{source}:{sizes.count(source)}"
                new.append(RetrievedText(id=id, **piece._asdict()))
            ids[id] = None
        return RetrievalLine(by=self._asked.name, query=query, ids=[*ids], new=new)

    def _require_corpus(self) -> Corpus:
        if self._corpus is None:
            raise InputError("unknown id: the retriever returned no such segment to this run")
        return self._corpus


def _source(id: str) -> str:
    return id.partition(":")[0]


def _merge_rankings(rows: Sequence[Sequence[CorpusSegment]]) -> list[CorpusSegment]:
    """Return the segments of all rows by their fused ranks; of segments with equal text, the first."""
    numbers: dict[str, int] = {}
    first: list[CorpusSegment] = []
    for segment in (hit for row in rows for hit in row):
        if segment.text not in numbers:
            numbers[segment.text] = len(first)
            first.append(segment)
    ranks = [[*dict.fromkeys(numbers[hit.text] for hit in row)] for row in rows]
    return [first[number] for number in fuse_ranks(ranks)]
