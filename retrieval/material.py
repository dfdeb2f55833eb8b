"""The material that a grounded run argues from: its sources, found by a search of the run.

Importing this module takes none of the packages that read, index or find documents.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from dialectree.errors import InputError
from dialectree.protocols.grounded import retriever_name
from dialectree.system.addresses import public, whole
from dialectree.system.loop import Threads
from dialectree.system.packages import needed

if TYPE_CHECKING:
    from dialectree.models.run import Run
    from dialectree.protocols.grounded import GroundedSettings
    from dialectree.protocols.trust import Access
    from dialectree.retrieval.corpus import Corpus, Material, Progress
    from dialectree.retrieval.reranking import Reranked
    from dialectree.retrieval.retriever import Retrieved
    from dialectree.retrieval.sources import Document

SPARE = 8
"""Corpora that stay in memory for the next run when no run uses them."""


_thread = Threads(1, "corpora")
"""Reads and indexes, so that a corpus is made once; no event loop waits for the disk."""
_corpora: MutableMapping[_Key, Corpus] = WeakValueDictionary()
"""The corpora of all runs, by what they are made of."""
_spare: deque[Corpus] = deque(maxlen=SPARE)


async def material_of(
    sources: Sequence[Mapping[str, Any]], settings: GroundedSettings, run: Run
) -> Material:
    """Return the material of a run whose input has these ``sources``.

    With a retriever it is also what that returned to the run. A corpus is made once for all runs of
    the process that have the same one. Raises InputError, by name, for a source whose document is
    neither in the run's folder nor in the cache, and for too many segments; SettingsError for a
    retriever that cannot be loaded; MissingPackage without the extra ``sources``. See
    :class:`dialectree.retrieval.corpus.Corpus` for what embeddings may raise.
    """
    base_url = settings.base_url and whole(settings.base_url)
    named = tuple((source["digest"], source["name"]) for source in sources)
    key = _Key(named, whole(settings.embeddings), base_url, settings.embeddings_access())
    corpus, loop = _corpora.get(key), asyncio.get_running_loop()
    if named and run.owner:
        await loop.run_in_executor(_thread, run.require_readable, sources)
    if named and corpus is None:
        at: Path | None = getattr(run, "sources_at", None)
        documents: Mapping[str, Document] = getattr(run, "documents", None) or {}
        corpus = await loop.run_in_executor(_thread, _corpus, key, at, documents)
    material: Material | None = corpus
    if settings.retriever is not None or run.retrievals.by:
        material = await loop.run_in_executor(_thread, _retrieved, corpus, settings, run)
    if material is None:
        raise InputError("there are no sources, and no retriever to find some; give one of them")
    if settings.rerank is not None and run.stand_in is None:
        material = await loop.run_in_executor(_thread, _reranked, material, settings, run)
    return material


def prepare(
    documents: Sequence[Document],
    settings: GroundedSettings,
    progress: Progress = None,
) -> None:
    """Index the documents of a run before it begins; blocks meanwhile.

    ``progress`` is told how many documents of how many are cut; nothing, where they were before.
    Raises as :func:`material_of`.
    """
    base_url = settings.base_url and whole(settings.base_url)
    named = tuple((document.digest, document.name) for document in documents)
    key = _Key(named, whole(settings.embeddings), base_url, settings.embeddings_access())
    known = {document.digest: document for document in documents}
    _thread.submit(_corpus, key, None, known, progress).result()


class _Key(NamedTuple):
    """What makes a corpus another one."""

    documents: tuple[tuple[str, str], ...]
    """Digests and names."""
    embeddings: str
    base_url: str | None
    access: Access


def _corpus(
    key: _Key, at: Path | None, documents: Mapping[str, Document], progress: Progress = None
) -> Corpus:
    with needed("searching sources", "dialectree[sources]"):
        from dialectree.retrieval.corpus import Corpus

    if (corpus := _corpora.get(key)) is None:
        found = [_document(*one, at, documents) for one in key.documents]
        with needed(f"searching by {public(key.embeddings)}", "dialectree[compare]"):
            corpus = _corpora[key] = Corpus(found, *key[1:], progress=progress)
    _spare.append(corpus)
    return corpus


def _retrieved(corpus: Corpus | None, settings: GroundedSettings, run: Run) -> Retrieved:
    with needed("searching sources", "dialectree[sources]"):
        from dialectree.retrieval.retriever import Asked, Retrieved, imported

    retriever = run.stand_in or settings.retriever
    name = retriever_name(settings.retriever) or run.retrievals.by
    if isinstance(retriever, str):
        strange = "retriever" in settings.trust.unnamed or name.startswith("live:")
        retriever = None if strange or settings.replay else imported(retriever)
    asked = Asked(name, retriever, settings.call_deadline, settings.replay, settings.cache)
    return Retrieved(corpus, asked, run.retrievals)


def _reranked(material: Material, settings: GroundedSettings, run: Run) -> Reranked:
    with needed("reranking", "dialectree[compare]"):
        from dialectree.retrieval.reranking import Reranked, reranker

    assert settings.rerank is not None
    by = None if "rerank" in settings.trust.unnamed else reranker(settings.rerank)
    return Reranked(material, settings.rerank, by, run.retrievals)


def _document(
    digest: str, name: str, at: Path | None, documents: Mapping[str, Document]
) -> Document:
    """Return a document out of memory, the run's folder or the cache, under its name there."""
    from dialectree.retrieval.sources import documents_folder, kept, read_document

    if (document := documents.get(digest)) is not None:
        return replace(document, name=name)
    if (file := kept(digest, [*([at] if at else []), documents_folder()])) is None:
        raise InputError(
            f"{name}: its text is not in the run's folder, nor in the cache; give the source again"
        )
    return read_document(file, name)


def clear() -> None:
    """Forget all corpora, as at the start of a process."""
    _corpora.clear()
    _spare.clear()
