"""Debates on planted corpora: what nobody knows without the sources is found in them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.records import RunRecord
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.sources import read_sources
from tests.graphs.role_switching_debate.switching import listed, rule
from tests.grounding import Pointing, begin, pointing
from tests.planted import LANGUAGES, Planted, finding, folder, follows, irrelevant, planted
from tests.scripted import Asked


def speakers(one: Planted) -> Pointing:
    """Debaters who point at the planted sentence, and a judge who believes what is cited."""
    model = pointing()
    model.will_point(finding(one))

    def judge(call: Asked) -> JudgeReply:
        answers, believed = listed(call, "candidates"), follows(one, call)
        label = next(label for label, text in answers.items() if text == believed)
        return rule(label, believed)

    model.will_say_now(judge, to=JudgeReply)
    return model


def debate(one: Planted, sources: Any, **given: Any) -> tuple[RunRecord, Pointing]:
    model = speakers(one)
    run = begin("rsd", one.question, Path("runs"), sources, options=one.options, model=model, **given)
    return asyncio.run(run.conduct()), model


def answer(record: RunRecord) -> tuple[str | None, int]:
    """The answer, and the number of sentences that it rests on."""
    assert record.verdict is not None
    return record.verdict.answer, len(record.verdict.grounds)


def said(record: RunRecord) -> list[tuple[str, str, str]]:
    """Who spoke in which phase."""
    turns = record.tree.nodes["0"].transcript
    return [(turn.role, turn.phase, turn.speaker) for turn in turns]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_planted_sentence_decides(language: str) -> None:
    one = planted(language)
    record, _ = debate(one, folder(one))
    assert answer(record) == (one.right, 1)
    assert record.verdict is not None
    (ground,) = record.verdict.grounds
    segment = record.tree.segments[ground.id.rpartition(".")[0]]
    start, end = segment.sentences[int(ground.id.rpartition(".")[2]) - 1]
    assert segment.text[start:end] == one.gold


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_planted_document_nothing_decides(language: str) -> None:
    one = planted(language)
    at = folder(one)
    (at / f"{language}-keeper.md").unlink()
    record, _ = debate(one, at)
    assert answer(record) == (one.wrong, 0)


def test_ten_thousand_irrelevant_segments_change_nothing() -> None:
    every = [planted(language) for language in LANGUAGES]
    at = Path("planted")
    for one in every:
        folder(one, str(at))
    (at / "many.txt").write_text("\n\n".join(irrelevant(10_000)))
    assert len(Corpus(read_sources(at).documents)) >= 10_000
    for one in every:
        record, _ = debate(one, at)
        assert answer(record) == (one.right, 1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_instruction_in_a_source_changes_neither_structure_nor_verdict(language: str) -> None:
    one = planted(language)
    plain, before = debate(one, folder(one))
    order = {"order.md": f"{one.question}\n\n{one.order()}\n\n{one.question}"}
    record, model = debate(one, folder(one, "ordered", **order))
    assert answer(record) == answer(plain) and said(record) == said(plain)
    shown = [call for call in model.calls if one.wrong in call.prompt and "Ignore all" in call.prompt]
    assert shown  # the order was retrieved
    for call, same in zip(model.calls, before.calls, strict=True):
        for tag in ("<material>", "</material>", "# task"):
            assert call.prompt.count(tag) == same.prompt.count(tag)


def test_duplicates_are_one_piece_of_evidence() -> None:
    one = planted()
    plain, _ = debate(one, folder(one))
    copies = {f"copy{n}.md": one.sources["en-keeper.md"] for n in range(40)}
    record, model = debate(one, folder(one, "copied", **copies))
    assert answer(record) == answer(plain)
    assert all(call.prompt.count(f"] {one.gold}") <= 1 for call in model.calls)
    told = [segment.text for segment in record.tree.segments.values()]
    assert len(told) == len({*told})
