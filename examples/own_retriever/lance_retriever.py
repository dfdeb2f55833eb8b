"""Let a debate argue from a LanceDB table in a folder of this machine.

pip install lancedb
LANCE=notes.lance dialectree answer "..." --retriever lance_retriever:notes
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import lancedb  # pyright: ignore[reportMissingImports]
from lancedb.index import FTS  # pyright: ignore[reportMissingImports]
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class Notes(BaseRetriever):
    """Finds rows of the table ``notes`` by their words."""

    folder: str
    count: int = 20

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        table = lancedb.connect(self.folder).open_table("notes")
        rows = table.search(query, query_type="fts").limit(self.count).to_list()
        return [Document(row["text"], metadata={"source": row["source"]}) for row in rows]


def fill(folder: str, rows: Sequence[dict[str, str]]) -> None:
    """Put rows with ``text`` and ``source`` into the table, and index their words."""
    table = lancedb.connect(folder).create_table("notes", data=[*rows])
    table.create_index("text", config=FTS())


def notes() -> Notes:
    """Return the table in the folder that the variable LANCE names."""
    return Notes(folder=os.environ["LANCE"])
