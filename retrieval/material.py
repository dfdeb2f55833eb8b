"""The material that a grounded run argues from: its sources, found by a search of the run.

Importing this module takes none of the packages that read, index or find documents.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from dialectree.errors import InputError
from dialectree.system.addresses import whole
from dialectree.system.loop import Threads
from dialectree.system.packages import require

if TYPE_CHECKING:
    from dialectree.models.run import Run
    from dialectree.protocols.grounded import GroundedSettings
    from dialectree.protocols.trust import Access
    from dialectree.retrieval.corpus import Corpus, Segment, Source
    from dialectree.retrieval.library import Timing
    from dialectree.retrieval.sources import Document

SPARE = 8
"""Corpora that stay in memory for the next run when no run uses them."""


class Material(Protocol):
    """Sources under lasting ids, and a search over all of them."""

    sources: Mapping[str, Source]
    """By id, in the order of the ids."""

    async def search(
        self,
        queries: Sequence[str],
        count: int,
        dropped: Collection[str] = (),
        timing: Timing | None = None,
    ) -> list[list[Segment]]:
        """Return for each query the ``count`` best segments, without ``dropped`` ones."""
        ...

    def segment(self, id: str) -> Segment:
        """Return the segment ``s2:17``; raise InputError where there is none."""
        ...

    def sentence(self, id: str) -> str:
        """Return the words of sentence ``s2:17.3``; raise InputError where there is none."""
        ...


_thread = Threads(1, "corpora")
"""Reads and indexes, so that a corpus is made once; no event loop waits for the disk."""
_corpora: MutableMapping[tuple[object, ...], Corpus] = WeakValueDictionary()
_spare: OrderedDict[tuple[object, ...], Corpus] = OrderedDict()
"""The corpora that were asked for last, which nothing else may hold."""


async def material_of(
    sources: Sequence[Mapping[str, Any]], settings: GroundedSettings, run: Run
) -> Material:
    """Return the material of a run whose input has these ``sources``.

    A corpus is made once for all runs of the process that have the same one. Raises InputError, by
    name, for a source whose document is neither in the run's folder nor in the cache, and
    MissingPackage without the extra ``sources``; see :class:`dialectree.retrieval.corpus.Corpus`
    for what embeddings may raise.
    """
    access = settings.embeddings_access()
    embeddings, base_url = (
        whole(settings.embeddings),
        settings.base_url and whole(settings.base_url),
    )
    at: Path | None = getattr(run, "sources_at", None)
    documents: Mapping[str, Document] = getattr(run, "documents", None) or {}
    return await asyncio.get_running_loop().run_in_executor(
        _thread, _corpus, [*sources], at, documents, embeddings, base_url, access
    )


def _corpus(
    sources: Sequence[Mapping[str, Any]],
    at: Path | None,
    documents: Mapping[str, Document],
    embeddings: str,
    base_url: str | None,
    access: Access,
) -> Corpus:
    require("searching sources", "dialectree[sources]")
    from dialectree.retrieval.corpus import Corpus

    named = tuple((source["digest"], source["name"]) for source in sources)
    key = (named, embeddings, base_url, access)
    if (corpus := _corpora.get(key)) is None:
        found = [_document(*one, at, documents) for one in named]
        corpus = _corpora[key] = Corpus(found, embeddings, base_url, access)
    _spare[key] = corpus
    _spare.move_to_end(key)
    if len(_spare) > SPARE:
        _spare.popitem(last=False)
    return corpus


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
