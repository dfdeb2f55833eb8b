"""Measure a large corpus of sources: its index against plain bm25s, and its use by a new process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from benchmarks.figures import Figure

DOCUMENTS = 1_000
SEGMENTS = 80
"""Segments of one document."""
CPU_LIMIT = 1.3
"""Our seconds over those of ``bm25s.index`` and cutting."""
MEMORY_LIMIT = 800.0
SECOND_LIMIT = 1.0
QUERY = "the strait near the harbour of w17 and w4711"


def corpus(folder: Path, repeats: int) -> Iterator[Figure]:
    """Read, index and ask a corpus, each in a process of its own."""
    part = f"corpus of {DOCUMENTS:,} documents, {DOCUMENTS * SEGMENTS:,} segments"
    texts = folder / "texts"
    _write(texts)
    yield Figure(part, "read the files", _measured("read", texts, folder)["wall"], "s")
    plain = _measured("plain", texts, folder)
    yield Figure(part, "bm25s.index and cutting, CPU", plain["cpu"], "s")
    ours = _measured("index", texts, folder)
    yield Figure(part, "ours: cut, number, index, keep on disk, CPU", ours["cpu"], "s")
    yield Figure(part, "ours over plain", ours["cpu"] / plain["cpu"], limit=CPU_LIMIT)
    yield Figure(part, "segments", ours["segments"], "")
    yield Figure(part, "peak of memory", ours["peak"], "MB", limit=MEMORY_LIMIT)
    again = [_measured("ask", texts, folder) for _ in range(repeats)]
    second = min(one["wall"] for one in again)
    yield Figure(part, "second run, to the first query", second, "s", limit=SECOND_LIMIT)
    yield Figure(part, "a query after that", 1000 * min(one["query"] for one in again), "ms")


def _write(folder: Path) -> None:
    """Write text files whose words are as unequally frequent as those of a language."""
    folder.mkdir()
    draw = random.Random(37)
    known = [f"w{n}" for n in range(30_000)]
    weights = [*accumulate(1 / (n + 3) for n in range(len(known)))]
    for number in range(DOCUMENTS):
        paragraphs = []
        for _ in range(SEGMENTS):
            sentences = (
                " ".join(draw.choices(known, cum_weights=weights, k=draw.randint(10, 24))) for _ in range(3)
            )
            paragraphs.append(" ".join(f"The {one}." for one in sentences))
        text = "\n\n".join([f"Report {number}", *paragraphs])
        (folder / f"{number:04}.txt").write_text(text)


def _measured(step: str, texts: Path, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.corpus", step, str(texts)],
        env={**os.environ, "DIALECTREE_CACHE_DIR": str(folder / "cache")},
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main(step: str, texts: Path) -> None:
    """Run one step and print its figures; imports do not count."""
    import bm25s

    from dialectree.retrieval.corpus import Corpus
    from dialectree.retrieval.segments import cut, sentences
    from dialectree.retrieval.sources import read_sources
    from dialectree.retrieval.words import words

    list(sentences("One. Two."))  # loads the segmenter, once for all
    figures: dict[str, float] = {}
    made: Corpus | None = None
    began = time.monotonic()
    documents = read_sources(texts).documents
    if step in ("plain", "index"):
        for document in documents:
            _ = document.passages  # read when they are asked for
    worked = time.process_time()
    if step == "plain":
        pieces = [piece.text for one in documents for piece, _ in cut(one.passages)]
        bm25s.BM25(backend="numpy").index([words(text) for text in pieces], show_progress=False)
    elif step != "read":
        made = Corpus(documents)
        figures["segments"] = len(made)
    figures["cpu"] = time.process_time() - worked
    if step == "ask" and made is not None:
        asyncio.run(made.search([QUERY], 8))
    figures["wall"] = time.monotonic() - began
    if step == "ask" and made is not None:
        began = time.monotonic()
        asyncio.run(made.search([f"{QUERY} w99"], 8))
        figures["query"] = time.monotonic() - began
    figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
