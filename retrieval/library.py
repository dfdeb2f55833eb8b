"""Keep the open corpora of this process: each is built once for all debates that search it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from dialectree.errors import DialectreeError
from dialectree.protocols.trust import WITH_KEY, Access
from dialectree.retrieval.embedders import BGE, LEXICAL, Embedder, Timing, embedder
from dialectree.system.addresses import public, restore_credentials
from dialectree.system.loop import Threads
from dialectree.system.packages import explain_missing_package

if TYPE_CHECKING:
    from dialectree.retrieval.corpus import Corpus, CorpusSegment, Ranking
    from dialectree.retrieval.corpus_files import Progress
    from dialectree.retrieval.paper_search import PaperSearch
    from dialectree.retrieval.papers import AmendedPaper
    from dialectree.retrieval.sources import Document

SPARE = 8
"""Unused corpora that stay in memory for the next run."""

thread = Threads(1, "corpora")
"""Builds corpora, so that each is built once and no event loop waits for the disk."""
_corpora: MutableMapping[CorpusKey, Corpus] = WeakValueDictionary()
"""The corpora of all runs, by their contents and settings."""
_spare: deque[Corpus] = deque(maxlen=SPARE)


class CorpusKey(NamedTuple):
    """The contents and settings by which corpora differ."""

    documents: tuple[tuple[str, str], ...]
    """Digest and name of each document."""
    embeddings: str
    base_url: str | None = None
    access: Access = WITH_KEY
    ranking: Ranking = "scores"


def find_open(key: CorpusKey) -> Corpus | None:
    """Return the open corpus with this key, or None."""
    return _corpora.get(key)


def open_corpus(key: CorpusKey, read: Callable[[], Sequence[Document]], progress: Progress = None) -> Corpus:
    """Return the corpus with this key; if none is open, build it from the documents that ``read`` returns.

    Call this in :data:`thread`. Raises the errors of :class:`dialectree.retrieval.corpus.Corpus`,
    and MissingPackage without the packages that search or embed.
    """
    with explain_missing_package("searching sources", "dialectree[sources]"):
        from dialectree.retrieval.corpus import Corpus

    if (corpus := _corpora.get(key)) is None:
        documents = read()
        with explain_missing_package(f"searching by {public(key.embeddings)}", "dialectree[compare]"):
            corpus = _corpora[key] = Corpus(
                documents, key.embeddings, key.base_url, key.access, ranking=key.ranking, progress=progress
            )
    _spare.append(corpus)
    return corpus


# The papers of Tree-of-Debate. Debates name a paper, with a person's changes, by its digest.

_searches: MutableMapping[tuple[str, Embedder | None], PaperSearch] = WeakValueDictionary()
"""The papers of all debates, by digest and embedder."""


@asynccontextmanager
async def keep_open(
    papers: Sequence[AmendedPaper],
    embeddings: str = BGE,
    base_url: str | None = None,
    access: Access = WITH_KEY,
) -> AsyncIterator[None]:
    """Keep ``papers`` ready: cut, embed and index each once for all debates of the process.

    ``embeddings`` is the name of a model, ``openai:NAME@URL`` or ``bm25``. ``base_url`` is the address
    if ``openai:NAME`` has none, and ``access`` has the credentials for this address. Raises
    SettingsError for an unknown name, ModelUnavailable if the model cannot be loaded, and InputError
    if a paper does not have a segment that was changed.
    """
    by = await asyncio.to_thread(_embedder, embeddings, base_url, access)
    loop = asyncio.get_running_loop()
    searches: list[PaperSearch] = []  # keeps them alive: `_searches` has only weak references
    for paper in papers:
        if (search := _searches.get((paper.digest, by))) is None:
            address = base_url and restore_credentials(base_url)
            document_keys = ((paper.paper.digest, paper.paper.name),)
            key = CorpusKey(document_keys, restore_credentials(embeddings), address, access, "segments")
            search = await loop.run_in_executor(thread, _open_paper, paper, key, by)
        searches.append(search)
    yield
    searches.clear()


def _open_paper(paper: AmendedPaper, key: CorpusKey, by: Embedder | None) -> PaperSearch:
    from dialectree.retrieval.paper_search import PaperSearch, as_document

    if (search := _searches.get((paper.digest, by))) is None:
        corpus = open_corpus(key, lambda: [as_document(paper.paper)])
        search = _searches[paper.digest, by] = PaperSearch(paper, corpus, by)
    return search


async def search_paper(
    paper: str,
    embeddings: str,
    queries: Sequence[str],
    count: int,
    base_url: str | None = None,
    timing: Timing | None = None,
    access: Access = WITH_KEY,
) -> list[list[CorpusSegment]]:
    """Return the ``count`` best segments for each query in the paper whose digest is ``paper``.

    The best segment comes first; those with equal scores are in the paper's order. ``bm25`` finds
    only segments that share a word with the query. Adds the time of embedding the queries to ``timing``.
    """
    search = _find(paper, embeddings, base_url, access)
    return await search.search(queries, count, timing or Timing())


def segment_texts(
    paper: str,
    embeddings: str,
    numbers: Sequence[int],
    base_url: str | None = None,
    access: Access = WITH_KEY,
) -> dict[int, str]:
    """Return the texts of the segments with these numbers, without unknown numbers."""
    segments = _find(paper, embeddings, base_url, access).segments()
    return {number: segments[number].text for number in numbers if number in segments}


def _find(paper: str, embeddings: str, base_url: str | None, access: Access) -> PaperSearch:
    search = _searches.get((paper, _embedder(embeddings, base_url, access)))
    if search is None:
        raise DialectreeError(f"no running debate has the paper {paper}")
    return search


def _embedder(embeddings: str, base_url: str | None, access: Access) -> Embedder | None:
    if embeddings == LEXICAL:
        return None
    return embedder(restore_credentials(embeddings), base_url and restore_credentials(base_url), access)


def clear() -> None:
    """Forget all corpora, as at the start of a process."""
    _corpora.clear()
    _searches.clear()
    _spare.clear()
