"""Let a debate argue from the results of your own search: here the full-text search of SQLite.

Any LangChain retriever can replace it: of the web, a vector database or a search engine. The debate
keeps the retriever's answers, so that it can be resumed, contested and replayed.

    python own_retriever.py openai:NAME archive.db "Can large ships use the harbour of Aden?"

On the command line the function below names the retriever:

    ARCHIVE=archive.db dialectree answer "..." --retriever own_retriever:archive
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import dialectree

TABLE = "create virtual table if not exists texts using fts5(text, source unindexed)"
TEXTS = [
    ("The harbour of Aden is 16 m deep at low tide. Large ships need 14 m.", "pilot.md"),
    ("In summer sand narrows the entrance of the harbour to 90 m.", "survey of 2021"),
]
FIND = "select text, source from texts where texts match ? order by rank limit ?"


class Archive(BaseRetriever):
    """Finds texts in a SQLite file by their words."""

    path: str
    count: int = 20

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        with closing(sqlite3.connect(self.path)) as archive:
            rows = archive.execute(FIND, (words, self.count)).fetchall() if words else []
        return [Document(text, metadata={"source": source}) for text, source in rows]


def fill(path: str, texts: Iterable[tuple[str, str]]) -> None:
    """Put texts with the names of their sources into an archive."""
    with closing(sqlite3.connect(path)) as archive, archive:
        archive.execute(TABLE)
        archive.executemany("insert into texts values (?, ?)", texts)


def archive() -> Archive:
    """Return the archive that the variable ARCHIVE names."""
    return Archive(path=os.environ["ARCHIVE"])


def main(model: str, path: str, question: str) -> None:
    """Debate the question and print the answer with the sentences that it cites.

    A new archive is filled with a few texts.
    """
    if not Path(path).exists():
        fill(path, TEXTS)
    record = dialectree.answer(question, model=model, retriever=Archive(path=path))
    print(record.verdict.answer)
    for ground in record.verdict.grounds:
        print(f"  {ground.id}  {ground.source}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
