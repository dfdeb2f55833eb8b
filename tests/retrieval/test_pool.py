"""What debaters are shown: small sources whole, else what is found with what stands around it."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import build_settings, read_settings
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.pool import (
    MOST,
    MOST_SEGMENTS,
    MOST_SHOWN_WHOLE,
    WHOLE,
    Search,
    choose_shown,
    fitting,
    search_sources,
)
from dialectree.retrieval.sources import Document

QUIET = settings(max_examples=60, deadline=None)
SHORT = "The mill of {n} grinds {m} sacks of grain in a day of the year."


def corpus(*sizes: int) -> Corpus:
    """Make a corpus of documents of so many sentences."""
    return Corpus(
        [
            Document.from_blocks(
                f"{n}.txt", [Block(" ".join(SHORT.format(n=f"Oak {n}", m=m) for m in range(size)))]
            )
            for n, size in enumerate(sizes)
        ]
    )


def search(made: Corpus, *queries: str, pool: tuple[str, ...] = (), **given: object) -> list[Search]:
    context = build_settings(GroundedSettings, embeddings="bm25", **given)
    return asyncio.run(search_sources(made, queries, pool, context))


def test_small_sources_are_shown_whole_in_their_order_whatever_is_asked() -> None:
    made = corpus(7, 20)
    [whole] = search(made, "xylophones")
    assert (whole.of, whole.query) == (WHOLE, "")
    assert whole.shown_ids == [segment.id for segment in made]
    assert not search(made, "more mills", pool=tuple(whole.shown_ids)), "nothing is left to find"
    assert not search(made), "a step that looks for nothing shows nothing"


def test_sources_are_whole_up_to_their_tokens_and_the_names_there_are() -> None:
    made = corpus(7, 20)
    characters = sum(len(segment.text) for segment in made)
    tokens = -(-characters // 4)
    assert made.find_whole(tokens, 27) and not made.find_whole(tokens - 1, 27)
    assert not made.find_whole(tokens, 26) and not made.find_whole(0, 27)
    assert made.count_sentences() == 27
    [found] = search(made, "the mill of Oak 1", whole=tokens - 1)
    assert found.query == "the mill of Oak 1" and found.found_ids
    many = Corpus([Document.from_blocks("a", [Block(f"It is {n}.") for n in range(MOST_SHOWN_WHOLE + 1)])])
    assert [one.query for one in search(many, "it is 7")] == ["it is 7"]


def test_neighbours_stand_around_what_was_found() -> None:
    made = corpus(30, 30)
    [found] = search(made, "grinds 16 sacks of Oak 1", whole=0, segments=1)
    [hit] = found.found_ids
    number = int(hit.partition(":")[2])
    assert found.shown_ids == [f"s2:{n}" for n in (number - 1, number, number + 1)]
    assert made.neighbours("s2:1", 2) == ["s2:2", "s2:3"]
    assert made.neighbours(f"s1:{10}", 1)[0] == "s1:9"
    [alone] = search(made, "grinds 16 sacks of Oak 1", whole=0, segments=1, neighbours=0)
    assert alone.shown_ids == [hit]


MADE = corpus(60, 60, 60)
IDS = st.sampled_from([segment.id for segment in MADE])


@QUIET
@given(
    st.lists(st.lists(IDS, unique=True, max_size=12), max_size=4),
    st.lists(IDS, unique=True, max_size=10),
    st.integers(0, 3),
)
def test_a_pool_grows_by_all_hits_before_any_neighbour_and_keeps_its_bounds(
    found: list[list[str]], pool: list[str], reach: int
) -> None:
    shown = choose_shown(MADE, pool, found, reach)
    new = [id for row in shown for id in row]
    assert len(shown) == len(found) and len({*new, *pool}) == len(new) + len({*pool})
    hits = fitting(MADE, pool, [id for row in found for id in row])[len(pool) :]
    assert {*hits} <= {*new}
    around = {id for hit in hits for id in MADE.neighbours(hit, reach)}
    assert {*new} <= {*hits} | around
    every = [*pool, *new]
    assert len(every) <= max(MOST_SEGMENTS, len(pool))
    assert sum(len(MADE.segment(id).sentences) for id in new) <= MOST
    if not reach:
        assert new == hits


def test_runs_from_before_a_setting_was_there_do_as_they_did() -> None:
    before = read_settings(GroundedSettings, {"segments": 4}, "a run")
    assert (before.whole, before.neighbours, before.ranking) == (0, 0, "ranks")
    now = read_settings(GroundedSettings, {"whole": 9, "neighbours": 2, "ranking": "scores"}, "a run")
    assert (now.whole, now.neighbours, now.ranking) == (9, 2, "scores")
    assert build_settings(GroundedSettings).whole == 3000
