"""The library: papers are embedded once, searched exactly, and shared by all debates."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any

import numpy as np
import pytest

from dialectree.errors import InputError, ModelUnavailable
from dialectree.retrieval.corpus import CorpusSegment
from dialectree.retrieval.encoders import SentenceEncoder, Vectors
from dialectree.retrieval.library import keep_open, search_paper, segment_texts
from dialectree.retrieval.papers import AmendedPaper, Paper
from dialectree.retrieval.segments import segments
from tests.retrieval.watched import MINILM, WatchedEncoder, long_paper, paper

TOPICS = {
    "stars": "A star shines because hydrogen fuses in its core. Its colour tells how hot it is.",
    "bread": "Bread rises because yeast makes gas. The baker kneads the dough and waits for hours.",
    "ships": "A ship floats because it displaces water. Sailors load it with care for the balance.",
    "laws": "A law is voted on in parliament. The court decides what it means in a given case.",
    "bees": "Bees dance to say where flowers are. The queen lays all the eggs of the whole hive.",
}


def of_topics(copies: int = 1) -> Paper:
    return paper(*(f"{text} {text}" for _ in range(copies) for text in TOPICS.values()))


async def search(
    made: Paper | AmendedPaper, *queries: str, count: int = 5, embeddings: str = "any", **more: Any
) -> list[list[CorpusSegment]]:
    source = made if isinstance(made, AmendedPaper) else AmendedPaper(paper=made)
    async with keep_open([source], embeddings):
        return await search_paper(source.digest, embeddings, queries, count, **more)


def every(source: AmendedPaper, query: str, embeddings: str) -> dict[int, float]:
    """Return the score of all segments that a query finds, by number."""
    [hits] = asyncio.run(search(source, query, count=999, embeddings=embeddings))
    return {hit.number: hit.score for hit in hits if hit.score is not None}


def nearest(rows: Vectors, query: Vectors, count: int) -> list[int]:
    """Return the numbers of the segments with the greatest cosine; of equals, the first."""
    cosines = (rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return sorted(range(1, len(rows) + 1), key=lambda n: (-cosines[n - 1], n))[:count]


def test_the_segments_with_the_greatest_cosine_are_found() -> None:
    made, model = of_topics(copies=90), SentenceEncoder(MINILM)  # equal texts keep their order
    queries = [f"{word} and {other}" for word in TOPICS for other in TOPICS]
    hits = asyncio.run(search(made, *queries, count=7, embeddings=MINILM))
    distinct = model.encode([one.text for one in segments(of_topics())], query=False)
    rows = np.concatenate([distinct] * 90)
    for query, row, found in zip(queries, model.encode(queries, query=True), hits, strict=True):
        assert [hit.number for hit in found] == nearest(rows, row, 7), query


def test_event_loops_in_several_threads_share_a_shelf(watched: WatchedEncoder) -> None:
    made = long_paper(2000)

    async def debates(n: int) -> None:
        await asyncio.gather(*(search(made, f"query {n % 2}") for _ in range(4)))

    threads = [threading.Thread(target=asyncio.run, args=[debates(n)]) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(batch) for batch in watched.passages] == [len(segments(made))]
    assert sorted(query for batch in watched.queries for query in batch) == ["query 0", "query 1"]


def test_a_caller_that_gives_up_does_not_stop_the_others(watched: WatchedEncoder) -> None:
    watched.pause_s = 0.1

    async def two() -> list[list[CorpusSegment]]:
        impatient = asyncio.create_task(search(of_topics(), "one"))
        patient = asyncio.create_task(search(of_topics(), "two"))
        await asyncio.sleep(0.05)
        impatient.cancel()
        return await patient

    assert len(asyncio.run(two())[0]) == 5
    assert len(watched.passages) == 1


def test_amended_segments_are_found_as_they_are_now(watched: WatchedEncoder) -> None:
    made, query = of_topics(), "zebras have stripes."
    source = AmendedPaper(paper=made, amended={2: "Zebras have stripes.", 4: None})

    async def amended() -> tuple[list[CorpusSegment], dict[int, str]]:
        async with keep_open([source], "any"):
            [hits] = await search_paper(source.digest, "any", [query], 9)
            return hits, segment_texts(source.digest, "any", [2, 3, 4])

    hits, found = asyncio.run(amended())
    assert hits[0].number == 2 and hits[0].text == found[2] == "Zebras have stripes."
    assert sorted(hit.number for hit in hits) == [1, 2, 3, 5] and [*found] == [2, 3]
    assert sorted(every(AmendedPaper(paper=made), query, "any")) == [1, 2, 3, 4, 5]
    assert [text for batch in watched.passages for text in batch].count(hits[1].text) == 1
    assert AmendedPaper(paper=made).digest == made.digest != source.digest
    with pytest.raises(InputError, match=r"a\.txt has no segment 7: it has 1 to 5"):
        every(AmendedPaper(paper=made, amended={7: "New."}), query, "any")


@pytest.mark.parametrize("embeddings", ["any", "bm25"])
def test_an_amendment_changes_no_other_score(embeddings: str, watched: WatchedEncoder) -> None:
    made, draw = long_paper(4_000), random.Random(5)
    own = {one.number: one.text for one in segments(made)}
    new = {4: None, 7: "A word that nobody else says, and a question.", 9: own[20]}
    for _ in range(5):
        query = " ".join([*draw.sample(made.body.split(), 5), "nobody"])
        before = every(AmendedPaper(paper=made), query, embeddings)
        after = every(AmendedPaper(paper=made, amended={**new, 11: own[11]}), query, embeddings)
        alone = every(AmendedPaper(paper=made, amended={7: new[7]}), query, embeddings)
        assert {n: after[n] for n in after if n not in new} == {n: before[n] for n in before if n not in new}
        assert 4 not in after and after[7] == alone[7]
        assert every(AmendedPaper(paper=made, amended={20: own[20]}), query, embeddings) == before


def test_bm25_needs_no_model_and_finds_only_common_words() -> None:
    queries = ["the Yeast of bread", "of the", "xylophone"]
    hits = asyncio.run(search(of_topics(), *queries, count=3, embeddings="bm25"))
    assert [hit.number for hit in hits[0]] == [2]
    assert hits[1:] == [[], []]
    assert asyncio.run(search(paper("It is so."), "it is", embeddings="bm25")) == [[]]


@pytest.mark.parametrize(("query", "number"), [("轨道估计", 1), ("軌道を推定する", 2)])
def test_bm25_finds_words_that_no_blank_parts(query: str, number: int) -> None:
    lines = ["我们提出轨道估计的新方法。", "本稿では軌道を推定する。", "Nothing of it."]
    made = paper(*(line * (1 + 160 // len(line)) for line in lines))
    [hits] = asyncio.run(search(made, query, embeddings="bm25"))
    assert hits[0].number == number and 3 not in [hit.number for hit in hits]


def test_a_failure_reaches_all_and_the_next_debate_may_try_again(watched: WatchedEncoder) -> None:
    watched.fault = ModelUnavailable("no model")

    async def two() -> list[Any]:
        searches = [search(of_topics(), "one"), search(of_topics(), "two")]
        return list(await asyncio.gather(*searches, return_exceptions=True))

    assert [str(error) for error in asyncio.run(two())] == ["no model", "no model"]
    watched.fault = None
    assert len(asyncio.run(search(of_topics(), "one"))[0]) == 5

    async def queries_fail() -> None:
        async with keep_open([source := AmendedPaper(paper=of_topics())], "any"):
            watched.fault = ModelUnavailable("no queries")
            await search_paper(source.digest, "any", ["another"], 5)

    with pytest.raises(ModelUnavailable, match="no queries"):
        asyncio.run(queries_fail())
