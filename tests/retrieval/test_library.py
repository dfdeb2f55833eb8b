"""The door: embedded once, found exactly, shared by all."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Coroutine
from typing import Any

import numpy as np
import pytest
from bm25s.stopwords import STOPWORDS_EN

from dialectree.errors import DialectreeError, InputError, ModelUnavailable
from dialectree.retrieval import library
from dialectree.retrieval.embeddings import embedder
from dialectree.retrieval.lexical import LexicalIndex
from dialectree.retrieval.library import Hit, Source, Timing, find, shelved
from dialectree.retrieval.papers import Paper
from dialectree.retrieval.retriever import PaperRetriever
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


async def found(
    made: Paper, queries: list[str], count: int = 5, embeddings: str = "any", **more: Any
) -> list[list[Hit]]:
    source = Source(paper=made)
    async with shelved([source], embeddings, **more):
        return await find(source.digest, embeddings, queries, count, **more)


def brute_force(made: Paper, query: str, name: str, count: int) -> list[int]:
    """Numbers of the segments with the greatest cosine, of equals the first."""
    model = embedder(name)
    texts = [segment.text for segment in segments(made)]
    vectors = model.passages(texts).vectors.astype(np.float64)
    wanted = asyncio.run(model.queries([query])).vectors[0].astype(np.float64)
    cosines = [float((row * wanted).sum()) for row in vectors]
    return sorted(range(1, len(texts) + 1), key=lambda n: (-cosines[n - 1], n))[:count]


def test_what_is_found_is_what_comparing_with_every_segment_finds() -> None:
    made = of_topics(copies=4)  # equal texts stand in their own order
    queries = [f"{word} and {other}" for word in TOPICS for other in TOPICS]
    hits = asyncio.run(found(made, queries, 7, MINILM))
    for query, got in zip(queries, hits, strict=True):
        assert [hit.number for hit in got] == brute_force(made, query, MINILM, 7)


def test_a_real_model_finds_what_is_meant() -> None:
    hits = asyncio.run(found(of_topics(), ["sun", "baking", "insects"], 1, MINILM))
    assert [hit.text.split()[0] for [hit] in hits] == ["A", "Bread", "Bees"]
    assert all(0 < hit.score <= 1 for [hit] in hits)


def test_the_same_holds_for_a_long_paper(watched: WatchedEncoder) -> None:
    made, draw = long_paper(10_000), random.Random(2)
    words = made.body.split()
    queries = [" ".join(draw.sample(words, 9)) for _ in range(60)]
    hits = asyncio.run(found(made, queries))
    for query, got in zip(queries, hits, strict=True):
        assert [hit.number for hit in got] == brute_force(made, query, "any", 5)


def test_a_paper_is_embedded_once_and_in_one_batch(watched: WatchedEncoder) -> None:
    made = long_paper(10_000)

    async def many() -> None:
        await asyncio.gather(*(found(made, ["the question"]) for _ in range(8)))

    asyncio.run(many())
    assert [len(batch) for batch in watched.passage_batches] == [len(segments(made))]
    assert watched.query_batches == [["the question"]]


def test_a_second_run_embeds_nothing_and_loads_nothing(watched: WatchedEncoder) -> None:
    made, timing = long_paper(10_000), Timing()
    first = asyncio.run(found(made, ["one", "two"]))
    library.clear()
    loads = watched.loads
    again = asyncio.run(found(made, ["one", "two"], timing=timing))
    assert again == first
    assert (len(watched.passage_batches), len(watched.query_batches)) == (1, 1)
    assert (watched.loads, timing) == (loads, Timing())


def test_queries_of_one_step_are_embedded_together(watched: WatchedEncoder) -> None:
    made = of_topics()
    source = Source(paper=made)

    async def step() -> None:
        async with shelved([source], "any"):
            asked = (find(source.digest, "any", [f"query {n}"], 5) for n in range(30))
            await asyncio.gather(*asked)

    asyncio.run(step())
    assert [len(batch) for batch in watched.query_batches] == [30]


def test_what_comes_while_the_model_is_busy_goes_together_next(watched: WatchedEncoder) -> None:
    source = Source(paper=of_topics())
    watched.pause_s = 0.2

    async def steps() -> None:
        async with shelved([source], "any"):
            first = asyncio.create_task(find(source.digest, "any", ["first"], 5))
            await asyncio.sleep(0.1)
            later: list[Coroutine[Any, Any, Any]] = []
            for n in range(4):
                later.append(find(source.digest, "any", [f"later {n}"], 5))
            await asyncio.gather(first, *later)

    asyncio.run(steps())
    assert [len(batch) for batch in watched.query_batches] == [1, 4]


def test_event_loops_in_several_threads_share_a_shelf(watched: WatchedEncoder) -> None:
    made = long_paper(2000)
    hits: list[list[list[Hit]]] = []

    def debate(n: int) -> None:
        hits.append(asyncio.run(found(made, [f"query {n % 2}"])))

    threads = [threading.Thread(target=debate, args=[n]) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hits) == 6
    assert len(watched.passage_batches) == 1
    assert sorted({query for batch in watched.query_batches for query in batch}) == [
        "query 0",
        "query 1",
    ]


def test_who_gives_up_does_not_stop_the_others(watched: WatchedEncoder) -> None:
    made = of_topics()
    watched.pause_s = 0.1

    async def two() -> list[list[Hit]]:
        impatient = asyncio.create_task(found(made, ["one"]))
        patient = asyncio.create_task(found(made, ["two"]))
        await asyncio.sleep(0.05)
        impatient.cancel()
        return await patient

    assert len(asyncio.run(two())[0]) == 5
    assert len(watched.passage_batches) == 1


def test_the_event_loop_goes_on_while_a_paper_is_embedded() -> None:
    made = of_topics(copies=12)
    asyncio.run(found(of_topics(), ["the model is loaded"], 5, MINILM))
    pauses: list[float] = []

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.002)
            pauses.append(time.monotonic() - began)

    async def watch() -> None:
        ticking = asyncio.create_task(tick())
        await found(made, ["stars", "bread"], 5, MINILM)
        ticking.cancel()

    asyncio.run(watch())
    assert len(pauses) > 10
    assert sorted(pauses)[len(pauses) // 2] < 0.05  # a busy machine may hold up a few


def test_a_lone_query_hardly_waits_for_company(watched: WatchedEncoder) -> None:
    source = Source(paper=of_topics())

    async def quickest() -> float:
        taken: list[float] = []
        async with shelved([source], "any"):
            for n in range(20):
                began = time.monotonic()
                await find(source.digest, "any", [f"query {n}"], 5)
                taken.append(time.monotonic() - began)
        return min(taken)

    assert asyncio.run(quickest()) < 0.02


def test_timing_counts_what_was_embedded_for_whom(watched: WatchedEncoder) -> None:
    source, builder, guest, asker = Source(paper=of_topics()), Timing(), Timing(), Timing()
    watched.pause_s = 0.02

    async def work() -> None:
        async with shelved([source], "any", timing=builder), shelved([source], "any", timing=guest):
            await find(source.digest, "any", ["a", "b"], 5, timing=asker)

    asyncio.run(work())
    assert builder.texts == 5 and builder.seconds >= 0.02
    assert guest == Timing()
    assert asker.texts == 2 and asker.seconds >= 0.02


def test_a_paper_that_is_not_shelved_is_a_fault_of_ours(watched: WatchedEncoder) -> None:
    source = Source(paper=of_topics())

    async def late() -> None:
        async with shelved([source], "any"):
            pass
        await find(source.digest, "any", ["query"], 5)

    with pytest.raises(DialectreeError, match="is shelved for any") as raised:
        asyncio.run(late())
    assert raised.value.status == 1


def test_shelves_that_nobody_uses_are_given_up_but_for_a_few(watched: WatchedEncoder) -> None:
    for n in range(library.KEPT + 3):
        asyncio.run(found(paper(f"Paper number {n} says this. " * 9), ["query"]))
    assert len(library._shelves) == library.KEPT


def test_a_failure_is_told_to_all_and_the_next_may_try_again(watched: WatchedEncoder) -> None:
    made = of_topics()
    watched.fault = ModelUnavailable("no model")

    async def two() -> list[Any]:
        asked = [found(made, ["one"]), found(made, ["two"])]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    assert [str(error) for error in asyncio.run(two())] == ["no model", "no model"]
    watched.fault = None
    assert len(asyncio.run(found(made, ["one"]))[0]) == 5


def test_amended_segments_are_found_as_they_are_now(watched: WatchedEncoder) -> None:
    made = of_topics()
    source = Source(paper=made, amended={2: "Zebras have stripes.", 4: None})
    plain = Source(paper=made)

    async def both() -> tuple[list[Hit], list[Hit]]:
        async with shelved([source, plain], "any"):
            [changed] = await find(source.digest, "any", ["zebras have stripes."], 9)
            [before] = await find(plain.digest, "any", ["zebras have stripes."], 9)
            return changed, before

    changed, before = asyncio.run(both())
    assert changed[0].number == 2 and changed[0].text == "Zebras have stripes."
    assert sorted(hit.number for hit in changed) == [1, 2, 3, 5]
    assert sorted(hit.number for hit in before) == [1, 2, 3, 4, 5]
    assert plain.digest == made.digest != source.digest


def test_of_a_contested_paper_only_what_is_new_is_embedded(watched: WatchedEncoder) -> None:
    made = long_paper(2_000)
    asyncio.run(found(made, ["query"]))
    asyncio.run(searched(Source(paper=made, amended={3: None, 9: None}), "query", "any"))
    assert len(watched.passage_batches) == 1
    asyncio.run(searched(Source(paper=made, amended={3: None, 5: "Quite new."}), "query", "any"))
    assert watched.passage_batches[1:] == [["Quite new."]]


@pytest.mark.parametrize("embeddings", ["any", "bm25"])
def test_what_stays_of_a_contested_paper_is_scored_as_before(
    embeddings: str, watched: WatchedEncoder
) -> None:
    made, draw = long_paper(4_000), random.Random(5)
    amended = {4: None, 7: "A word that nobody else says, and a question.", 11: None}
    for _ in range(20):
        query = " ".join(draw.sample(made.body.split(), 5))
        before = asyncio.run(searched(Source(paper=made), query, embeddings))
        after = asyncio.run(searched(Source(paper=made, amended=amended), query, embeddings))
        assert [(hit.number, hit.score) for hit in after if hit.number not in amended] == [
            (hit.number, hit.score) for hit in before if hit.number not in amended
        ]
        assert not {4, 11} & {hit.number for hit in after}
    [first, *_] = asyncio.run(
        searched(Source(paper=made, amended=amended), "nobody else says", embeddings)
    )
    assert embeddings == "any" or first.number == 7


def scored(amended: dict[int, str | None], query: str, embeddings: str) -> dict[int, float]:
    """By number of a segment how well it fits a query."""
    source = Source(paper=long_paper(4_000), amended=amended)
    return {hit.number: hit.score for hit in asyncio.run(searched(source, query, embeddings))}


@pytest.mark.parametrize("embeddings", ["any", "bm25"])
def test_an_amended_segment_is_scored_as_before_when_another_one_is_amended(
    embeddings: str, watched: WatchedEncoder
) -> None:
    texts = {one.number: one.text for one in segments(long_paper(4_000))}
    query = " ".join(texts[9].split()[:5])
    one = scored({7: texts[9]}, query, embeddings)
    for other in ("Nothing.", texts[9] * 9, None):
        both = scored({7: texts[9], 9: other}, query, embeddings)
        assert {n: both[n] for n in one if n != 9} == {n: one[n] for n in one if n != 9}
    assert scored({7: texts[9], 9: texts[9]}, query, embeddings) == one


def test_a_segment_in_its_own_words_is_not_amended(watched: WatchedEncoder) -> None:
    [first, *_] = segments(of_topics())
    assert Source(paper=of_topics(), amended={1: first.text, 2: None}).segments()[1] == {1: None}


async def searched(source: Source, query: str, embeddings: str) -> list[Hit]:
    """All that a query finds, the best first."""
    async with shelved([source], embeddings):
        [hits] = await find(source.digest, embeddings, [query], 999)
        return hits


def test_a_paper_may_lose_all_its_segments(watched: WatchedEncoder) -> None:
    source = Source(paper=paper("Only this."), amended={1: None})

    async def nothing() -> list[list[Hit]]:
        async with shelved([source], "any"):
            return await find(source.digest, "any", ["one", "two"], 5)

    assert asyncio.run(nothing()) == [[], []]


def test_an_amended_segment_must_be_there(watched: WatchedEncoder) -> None:
    with pytest.raises(InputError, match=r"a\.txt has no segment 7: it has 1 to 5"):
        Source(paper=of_topics(), amended={7: "New."}).segments()


def test_words_are_enough_without_a_model() -> None:
    hits = asyncio.run(found(of_topics(), ["the Yeast of bread", "of the", "xylophone"], 3, "bm25"))
    assert [hit.number for hit in hits[0]] == [2]
    assert hits[1:] == [[], []]


@pytest.mark.parametrize(
    ("query", "row"), [("轨道估计", 0), ("误差", 1), ("軌道を推定する", 2), ("orbits 误差", 1)]
)
def test_words_are_found_where_no_blank_parts_them(query: str, row: int) -> None:
    texts = [
        "我们提出轨道估计的新方法。",
        "它的误差有上界。",
        "本稿では軌道を推定する。",
        "Nothing of it.",
    ]
    matches = LexicalIndex(texts).nearest(query, 4)
    assert matches[0].row == row
    assert 3 not in [match.row for match in matches]


def test_words_weigh_as_bm25_says() -> None:
    made = long_paper(2000)
    plain = [segment.text.lower().replace(".", " ") for segment in segments(made)]
    texts = [[word for word in text.split() if word not in STOPWORDS_EN] for text in plain]
    mean = sum(map(len, texts)) / len(texts)
    query = random.Random(3).sample([word for text in texts for word in text], 4)

    def score(text: list[str]) -> float:
        total = 0.0
        for word in query:
            holding = sum(word in other for other in texts)
            idf = np.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            often = text.count(word)
            total += idf * often / (often + 1.5 * (0.25 + 0.75 * len(text) / mean))
        return total

    [hits] = asyncio.run(found(made, [" ".join(query)], 5, "bm25"))
    assert len(hits) == 5
    for hit in hits:
        assert hit.score == pytest.approx(score(texts[hit.number - 1]), rel=1e-4)
    assert min(hit.score for hit in hits) >= sorted(map(score, texts))[-5] - 1e-4


def test_a_paper_is_a_retriever_for_other_chains() -> None:
    retriever = PaperRetriever(paper=of_topics(), embeddings=MINILM, count=2)
    documents = retriever.invoke("baking")
    assert documents[0].page_content.startswith("Bread rises")
    about = documents[0].metadata
    assert (about["paper"], about["segment"], about["page"]) == ("a.txt", 2, None)
    assert about["offset"] == of_topics().passages[1].offset and about["score"] > 0
    assert asyncio.run(retriever.ainvoke("baking")) == documents


def test_a_retriever_answers_where_an_event_loop_runs_already() -> None:
    async def inside() -> int:
        return len(PaperRetriever(paper=of_topics(), embeddings="bm25").invoke("bees and bread"))

    assert asyncio.run(inside()) == 2
