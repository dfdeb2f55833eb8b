"""One corpus: ids that stay, sentences that are the source's own, ranks that no drop moves."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialectree.errors import InputError
from dialectree.protocols.sources import cache_folder
from dialectree.retrieval import corpus as corpora
from dialectree.retrieval import corpus_files, cut_documents
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Corpus, CorpusSegment, Ranking
from dialectree.retrieval.cut_documents import cut_document
from dialectree.retrieval.embedders import Timing
from dialectree.retrieval.papers import Passage
from dialectree.retrieval.segments import cut
from dialectree.retrieval.sources import Document
from dialectree.retrieval.words import words
from tests.retrieval.watched import WatchedEncoder

QUIET = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TOWNS = ("Aden", "Bari", "Cork", "Dover", "Esbjerg", "Faro", "Genoa", "Hull")


def document(name: str, *paragraphs: str) -> Document:
    return Document.from_blocks(
        name, [Block(text, "heading" if text.startswith("# ") else "paragraph") for text in paragraphs]
    )


def find(corpus: Corpus, query: str, count: int = 8, dropped: Sequence[str] = ()) -> list[CorpusSegment]:
    [best] = asyncio.run(corpus.search([query], count, dropped))
    return best


def harbours(count: int) -> list[Document]:
    """Return documents of one segment for each town, of which some stand in several."""
    texts = [
        f"The harbour of {town} saw {n % 40} ships in that year, which was more than ever before. "
        f"The merchants of {town} wrote it down, and their books are kept to this day in the hall."
        for n in range(count)
        for town in TOWNS
    ]
    return [document(f"{n}.txt", *texts[n::5]) for n in range(5)]


def ids(segments: Sequence[CorpusSegment]) -> list[str]:
    return [segment.id for segment in segments]


PIECES = st.sampled_from(
    ["One is so.", "Two", "三つ。四つ。", "# Head", "See Fig. 3 of it. Then", "é ", "x" * 600, "A. B!"]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=5).map(" ".join)
DOCUMENTS = st.lists(st.lists(TEXTS, min_size=1, max_size=6), min_size=1, max_size=4)


@QUIET
@given(DOCUMENTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_ids_are_closed_and_stay_and_sentences_are_the_sources_own(
    texts: list[list[str]], later: list[str]
) -> None:
    documents = [Document.from_blocks(f"{n}", map(Block, one)) for n, one in enumerate(texts)]
    corpus = Corpus(documents)
    longer = Corpus([*documents, Document.from_blocks("later", map(Block, later))])
    everything = [*corpus]
    assert [*longer][: len(corpus)] == everything
    assert {segment.source for segment in longer} - {segment.source for segment in corpus} == {
        f"s{len(texts) + 1}"
    }
    for number, own in enumerate(documents, 1):
        segments = [segment for segment in everything if segment.source == f"s{number}"]
        numbers = range(1, len(segments) + 1)
        assert ids(segments) == [f"s{number}:{n}" for n in numbers]
        sentences = [corpus.sentence(id) for segment in segments for id in segment.ids()]
        assert "".join("".join(sentences).split()) == "".join(
            "".join("".join(passage.text.split()) for passage in own.passages)
        )
        assert all(any(one in passage.text for passage in own.passages) for one in sentences)
        with pytest.raises(InputError, match="the sources have no"):
            corpus.segment(f"s{number}:{len(segments) + 1}")
    for segment in everything:
        assert corpus.segment(segment.id) == segment
        assert all(end <= start for (_, end), (start, _) in pairwise(segment.sentences))
        with pytest.raises(InputError, match="the sources have no"):
            corpus.sentence(f"{segment.id}.{len(segment.sentences) + 1}")


@pytest.mark.parametrize("id", ["", "s0", "s9", "s1:0", "s1:1.0", "s1:", "S1", "s1:1.1.1", "s1 "])
def test_an_id_that_is_none_is_refused(id: str) -> None:
    corpus = Corpus([document("a", "It is so.")])
    for ask in (corpus.segment, corpus.sentence):
        with pytest.raises(InputError):
            ask(id)
    with pytest.raises(InputError, match="the sources have no"):
        find(corpus, "so", dropped=[id])


@pytest.mark.parametrize("embeddings", ["bm25", "any"])
def test_what_is_dropped_moves_no_other_and_its_copy_takes_its_place(
    embeddings: str, watched: WatchedEncoder
) -> None:
    corpus = Corpus(harbours(60), embeddings)
    for query in ("ships in the harbour of Cork", "books of merchants"):
        everything = find(corpus, query, len(corpus))
        texts = [segment.text for segment in everything]
        assert len(set(texts)) == len(texts) == 320  # equal segments are one
        for dropped in (["s2"], ids(everything)[:100], ["s1", "s4", "s5:3", "s2:1"]):
            left = find(corpus, query, len(corpus), dropped)
            assert find(corpus, query, 8, dropped) == left[:8]
            gone = [one for one in corpus if one.id in dropped or one.source in dropped]
            kept = {one.text for one in corpus if one not in gone}
            assert [one.text for one in left] == [text for text in texts if text in kept]
            assert not {*ids(left)} & {*ids(gone)}


def test_words_alone_find_what_shares_one_in_any_script() -> None:
    corpus = Corpus([document("a", "The tide is high at noon."), document("b", "潮は正午に満ちる。")])
    assert ids(find(corpus, "noon")) == ["s1:1"]
    assert ids(find(corpus, "正午の潮")) == ["s2:1"]
    assert find(corpus, "nothing") == find(corpus, "the") == find(corpus, "") == []


def test_ranks_of_words_and_vectors_are_fused(watched: WatchedEncoder) -> None:
    corpus = Corpus(harbours(30), "any", ranking="ranks")
    query = "ships of Genoa"
    assert corpus._by is not None and corpus._vectors is not None
    [vector] = asyncio.run(corpus._by.queries([query], Timing()))
    near = corpus._vectors.search(vector, 64)
    scores = corpus._words.scores(query)
    by_words = sorted((row for row in range(len(scores)) if scores[row] > 0), key=lambda r: -scores[r])
    sums: dict[int, float] = {}
    for ranked in (by_words[:64], [one.metadata["number"] for one in near]):
        for rank, row in enumerate(ranked, 1):
            sums[row] = sums.get(row, 0.0) + 1 / (60 + rank)
    best = sorted(sums, key=lambda row: (-sums[row], row))[:8]
    first = [[*corpus][corpus._pieces.alike(row)[0]].id for row in best]
    assert ids(find(corpus, query)) == first


def test_a_corpus_is_cut_once_and_what_is_damaged_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = Corpus(harbours(4))
    best = find(made, "ships of Hull")
    monkeypatch.setattr(corpus_files, "cut_document", None)
    again = Corpus(harbours(4))
    assert find(again, "ships of Hull") == best and [*again] == [*made]
    with pytest.raises(TypeError):
        Corpus([*harbours(4), document("new", "It is new.")])
    monkeypatch.setattr(corpus_files, "cut_document", cut_document)
    [place] = (Path(os.environ["DIALECTREE_CACHE_DIR"]) / "corpora").iterdir()
    (place / "numbers.npz").write_bytes(b"PK")
    assert [*Corpus(harbours(4))] == [*made]
    assert "is damaged and is built again" in caplog.text


def test_only_the_document_that_changed_is_cut_and_embedded_again(
    watched: WatchedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    Corpus(harbours(4), "any")
    cut_again: list[int] = []

    def count_cuts(passages: Sequence[Passage], *more: Any, **named: Any) -> Any:
        cut_again.append(len(passages))
        return cut(passages, *more, **named)

    monkeypatch.setattr(cut_documents, "cut", count_cuts)
    watched.passages.clear()
    changed = [*harbours(4)[:4], document("4.txt", "Nobody counted ships in Riga. It was cold.")]
    corpus = Corpus(changed, "any")
    assert len(cut_again) == 1
    assert watched.passages == [["Nobody counted ships in Riga.", "It was cold."]]
    assert [*corpus] == [*Corpus(changed)]
    for file in cut_documents.segments_folder().glob("*/*.json"):
        file.write_text("[")
    shutil.rmtree(cache_folder() / "corpora")
    assert [*Corpus(changed)] == [*corpus]  # torn files are made anew


def test_a_corpus_needs_no_folder_but_some_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path / "file"))
    assert ids(find(Corpus([document("a", "It is so.", "?!")]), "so")) == ["s1:1"]
    assert "cannot keep the corpus" in caplog.text
    told: list[tuple[int, int]] = []
    Corpus(harbours(1), progress=lambda done, of: told.append((done, of)))
    assert told == [(n, 5) for n in range(1, 6)]
    with pytest.raises(InputError, match="no text in the sources"):
        Corpus([])


@given(st.text(st.sampled_from("aB1_ é・ーカ漢字。the ")))
def test_words_are_the_same_with_and_without_a_look_for_wide_signs(text: str) -> None:
    with_wide = words(f"{text} 漢")
    assert [word for word in with_wide if word != "漢"] == [w for w in words(text) if w != "漢"]


@pytest.mark.parametrize("ranking", ["scores", "ranks"])
def test_the_vectors_of_a_corpus_are_kept_and_damaged_ones_made_anew(
    ranking: Ranking, watched: WatchedEncoder
) -> None:
    made = Corpus(harbours(30), "any", ranking=ranking)
    best = find(made, "ships of Hull")
    for passages in (cache_folder() / "vectors").glob("*/passages"):
        shutil.rmtree(passages)
    watched.passages.clear()
    again = Corpus(harbours(30), "any", ranking=ranking)
    assert find(again, "ships of Hull") == best and not watched.passages
    pattern = "corpora/*/vectors-*.npy" if ranking == "ranks" else "vectors/*/sentences/*/*.npy"
    for file in cache_folder().glob(pattern):
        for damage in (b"", file.read_bytes()[:-9], b"\x93NUMPY"):
            file.write_bytes(damage)
            made = Corpus(harbours(30), "any", ranking=ranking)
            assert find(made, "ships of Hull") == best
    assert watched.passages


@QUIET
@given(data=st.data())
def test_a_blended_order_is_that_of_words_and_of_the_nearest_sentence(
    data: st.DataObject, watched: WatchedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "NEAREST", data.draw(st.sampled_from([4, 1000])))
    count = data.draw(st.integers(1, 40))
    corpus = Corpus(harbours(count), "any")
    query = data.draw(st.sampled_from(["ships of Genoa", "the hall", "books", "nothing at all"]))
    dropped = data.draw(st.lists(st.sampled_from(["s1", "s2:1", "s3"]), unique=True))
    number = data.draw(st.integers(1, 12))
    segments = {segment.text: segment for segment in reversed([*corpus])}
    texts = [*dict.fromkeys(segment.text for segment in corpus)]
    embed = watched.encode
    asked = embed([query], query=True)[0]
    near = [
        max(
            float(vector @ asked)
            for vector in embed(
                [segments[text].sentence(n + 1) for n in range(len(segments[text].sentences))], query=False
            )
        )
        for text in texts
    ]
    sentences = [
        segments[text].sentence(n + 1) for text in texts for n in range(len(segments[text].sentences))
    ]
    mean = float((embed(sentences, query=False) @ asked).mean())
    by_words = corpus._words.scores(query)
    top = float(by_words.max()) or 1.0
    wanted = [
        0.2 * float(score) / top + 0.8 * (cosine - mean) / max(max(near) - mean, 1e-6)
        for score, cosine in zip(by_words, near, strict=True)
    ]
    found = find(corpus, query, number, dropped)
    scores = [segment.score for segment in found]
    by_text = dict(zip(texts, wanted, strict=True))
    assert scores == pytest.approx([by_text[segment.text] for segment in found], abs=0.02)
    assert not {segment.source for segment in found} & {*dropped}
    left = {segment.text for segment in corpus if segment.id not in dropped and segment.source not in dropped}
    assert len(found) == min(number, len(left))
    assert [*found] == find(corpus, query, 99, dropped)[:number]


def test_a_corpus_that_nobody_used_for_long_is_removed_when_another_is_made() -> None:
    for name in ("old", "used"):
        Corpus([document(name, f"It is {name}.")])
    corpora_at = cache_folder() / "corpora"
    for place in corpora_at.iterdir():
        os.utime(place, (0, 0))
    used = Corpus([document("used", "It is used.")])
    Corpus([document("new", "It is new.")])
    assert len([*corpora_at.iterdir()]) == 2 and ids(find(used, "used")) == ["s1:1"]
