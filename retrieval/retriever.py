"""A paper as a LangChain retriever, for chains and agents outside of this project."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from dialectree.retrieval.library import BGE, Hit, Source, find, shelved
from dialectree.retrieval.papers import Paper


class PaperRetriever(BaseRetriever):
    """The segments of one paper that fit a query best, each a Document that says where it stands.

    ``metadata`` holds paper, segment, page, offset, heading and score. The first query embeds the
    paper, unless its vectors are in the cache.
    """

    paper: Paper
    embeddings: str = BGE
    """The name of a model, ``openai:NAME@URL``, or ``bm25``."""
    base_url: str | None = None
    """The address of an ``openai:NAME`` without one."""
    count: int = 5

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None
    ) -> list[Document]:
        source = Source(paper=self.paper)
        async with shelved([source], self.embeddings, self.base_url):
            [hits] = await find(source.digest, self.embeddings, [query], self.count, self.base_url)
        return [self._document(hit) for hit in hits]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None
    ) -> list[Document]:
        """Search in a thread: the caller may run in an event loop."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._aget_relevant_documents(query)).result()

    def _document(self, hit: Hit) -> Document:
        about = hit.model_dump(include={"page", "offset", "heading", "score"})
        about |= {"paper": self.paper.name, "segment": hit.number}
        return Document(page_content=hit.text, metadata=about)
