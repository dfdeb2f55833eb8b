"""Provide the material of a grounded run: its sources, and a search over them.

Importing this module needs no package that reads, indexes or finds documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialectree.errors import InputError
from dialectree.protocols.grounded import retriever_name
from dialectree.retrieval import library
from dialectree.retrieval.library import CorpusKey
from dialectree.system.addresses import restore_credentials
from dialectree.system.packages import explain_missing_package

if TYPE_CHECKING:
    from dialectree.models.run import Run
    from dialectree.protocols.grounded import GroundedSettings
    from dialectree.retrieval.corpus import Corpus, Material
    from dialectree.retrieval.corpus_files import Progress
    from dialectree.retrieval.reranking import RerankedMaterial
    from dialectree.retrieval.retriever import RetrievedMaterial
    from dialectree.retrieval.sources import Document


async def material_of(sources: Sequence[Mapping[str, Any]], settings: GroundedSettings, run: Run) -> Material:
    """Return the material of a run whose input has these ``sources``.

    With a retriever, the material includes the texts that the retriever returned to the run. Runs of
    one process with equal sources share a corpus. Raises InputError for too many segments and, with
    the source's name, for a source whose document is neither in the run's folder nor in the cache;
    SettingsError for a retriever that cannot be loaded; MissingPackage without the extra ``sources``. See
    :class:`dialectree.retrieval.corpus.Corpus` for the errors of embeddings.
    """
    document_keys = tuple((source["digest"], source["name"]) for source in sources)
    key = _corpus_key(document_keys, settings)
    corpus, loop = library.find_open(key), asyncio.get_running_loop()
    if document_keys and run.owner:
        await loop.run_in_executor(library.thread, run.require_readable, sources)
    if document_keys and corpus is None:
        at: Path | None = getattr(run, "sources_at", None)
        documents: Mapping[str, Document] = getattr(run, "documents", None) or {}
        corpus = await loop.run_in_executor(library.thread, _corpus, key, at, documents)
    material: Material | None = corpus
    if settings.retriever is not None or run.retrievals.by:
        material = await loop.run_in_executor(library.thread, _add_retriever, corpus, settings, run)
    if material is None:
        raise InputError("there are no sources, and no retriever to find some; give one of them")
    if settings.rerank is not None and run.stand_in is None:
        material = await loop.run_in_executor(library.thread, _add_reranker, material, settings, run)
    return material


def prepare(documents: Sequence[Document], settings: GroundedSettings, progress: Progress = None) -> None:
    """Index the documents of a run before the run begins. The call blocks meanwhile.

    ``progress`` gets the number of documents cut and the number of all documents. It is not called
    for a cached corpus.
    Raises the errors of :func:`material_of`.
    """
    key = _corpus_key([(document.digest, document.name) for document in documents], settings)
    documents_by_digest = {document.digest: document for document in documents}
    library.thread.submit(_corpus, key, None, documents_by_digest, progress).result()


def _corpus_key(documents: Iterable[tuple[str, str]], settings: GroundedSettings) -> CorpusKey:
    return CorpusKey(
        tuple(documents),
        restore_credentials(settings.embeddings),
        settings.base_url and restore_credentials(settings.base_url),
        settings.embeddings_access(),
        settings.ranking,
    )


def _corpus(
    key: CorpusKey, at: Path | None, documents: Mapping[str, Document], progress: Progress = None
) -> Corpus:
    return library.open_corpus(
        key, lambda: [_document(*document_key, at, documents) for document_key in key.documents], progress
    )


def _add_retriever(corpus: Corpus | None, settings: GroundedSettings, run: Run) -> RetrievedMaterial:
    with explain_missing_package("searching sources", "dialectree[sources]"):
        from dialectree.retrieval.retriever import RetrievedMaterial, RetrieverAccess, import_retriever

    retriever = run.stand_in or settings.retriever
    name = retriever_name(settings.retriever) or run.retrievals.by
    if isinstance(retriever, str):
        strange = "retriever" in settings.trust.unnamed or name.startswith("live:")
        retriever = None if strange or settings.replay else import_retriever(retriever)
    access = RetrieverAccess(name, retriever, settings.call_deadline, settings.replay, settings.cache)
    return RetrievedMaterial(corpus, access, run.retrievals)


def _add_reranker(material: Material, settings: GroundedSettings, run: Run) -> RerankedMaterial:
    with explain_missing_package("reranking", "dialectree[compare]"):
        from dialectree.retrieval.reranking import RerankedMaterial, reranker

    assert settings.rerank is not None
    by = None if "rerank" in settings.trust.unnamed else reranker(settings.rerank)
    return RerankedMaterial(material, settings.rerank, by, run.retrievals)


def _document(digest: str, name: str, at: Path | None, documents: Mapping[str, Document]) -> Document:
    """Return the document ``digest`` from memory, the run's folder or the cache; name it ``name``."""
    from dialectree.retrieval.sources import documents_folder, find_document_file, read_document

    if (document := documents.get(digest)) is not None:
        return replace(document, name=name)
    if (file := find_document_file(digest, [*([at] if at else []), documents_folder()])) is None:
        raise InputError(
            f"{name}: its text is not in the run's folder, nor in the cache; give the source again"
        )
    return read_document(file, name)
