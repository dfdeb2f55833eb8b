"""Baselines that read what debaters would: the same search, and what their answers rest on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.records import RunRecord
from tests import running
from tests.grounding import Pointing, begin, pointing, shown
from tests.planted import Planted, finding, folder, follows, planted
from tests.scripted import Asked


@pytest.fixture
def one() -> Planted:
    return planted()


def asked(one: Planted, name: str, sources: Any, **given: Any) -> tuple[RunRecord, Pointing]:
    model = pointing()
    model.will_point(finding(one))

    def answer(call: Asked) -> DirectReply:
        return DirectReply(reasoning="So it is.", answer=follows(one, call))

    model.will_say_now(answer, to=DirectReply)
    if name in ("judge_alone", "self_consistency"):
        given["options"] = one.options
    run = begin(name, one.question, Path("runs"), sources, model=model, **given)
    return asyncio.run(run.conduct()), model


CALLS = {"judge_alone": 1, "self_consistency": 9, "single_shot": 1, "one_critique": 3}


@pytest.mark.parametrize("name", CALLS)
def test_a_baseline_reads_the_pool_and_says_what_it_rests_on(name: str, one: Planted) -> None:
    record, model = asked(one, name, folder(one))
    assert len(model.calls) == CALLS[name] and record.verdict is not None
    assert all(one.gold in shown(call.prompt).values() for call in model.calls)
    (ground,) = record.verdict.grounds
    assert ground.source == "en-keeper.md"
    assert "checker" not in record.models
    if "options" in record.input:
        assert record.verdict.answer == one.right


@pytest.mark.parametrize("name", ["judge_alone", "single_shot"])
def test_a_baseline_reads_what_a_debate_would(name: str, one: Planted) -> None:
    _, model = asked(one, name, folder(one))
    whole = pointing()
    debate, given = ("tsd", dict[str, Any](max_depth=0))
    if name == "judge_alone":
        debate, given = "rsd", {"options": one.options}
    begun = begin(debate, one.question, Path("runs"), folder(one), model=whole, **given)
    asyncio.run(begun.conduct())
    first = next(call for call in whole.calls if "<material>" in call.prompt)
    assert shown(model.calls[0].prompt) == shown(first.prompt)


def test_a_naive_judge_is_asked_as_without_sources(one: Planted) -> None:
    record, naive = asked(one, "judge_alone", folder(one), judge_sees="none")
    assert record.verdict is not None and record.verdict.answer == one.wrong
    assert not record.verdict.grounds
    bare = pointing()
    bare.will_say_now(DirectReply(reasoning="So it is.", answer=one.wrong))
    given: Any = {"model": bare, "options": one.options}
    run = running.begin("judge_alone", one.question, Path("runs"), **given)
    asyncio.run(run.conduct())
    assert [call.prompt for call in naive.calls] == [call.prompt for call in bare.calls]


def test_points_of_an_answer_and_of_its_critique_stand_under_their_words(one: Planted) -> None:
    record, model = asked(one, "one_critique", folder(one))
    assert [len(turn.evidence) for turn in record.tree.nodes["0"].transcript] == [1, 1, 0]
    assert model.calls[1].prompt.count("point 1: The sources say so. [e") == 1
    assert model.calls[2].prompt.count(": The sources say so. [e") == 2
    assert "Under some texts stand points." in model.calls[2].prompt
    _, alone = asked(one, "single_shot", folder(one))
    assert "Under some texts" not in alone.calls[0].prompt


@pytest.mark.parametrize("name", CALLS)
def test_where_memory_is_forbidden_an_answer_without_evidence_is_withheld(name: str, one: Planted) -> None:
    at = folder(one)
    (at / "en-keeper.md").unlink()
    record, _ = asked(one, name, at, memory="forbidden")
    assert record.status == "unresolved" and record.verdict and record.verdict.answer is None
