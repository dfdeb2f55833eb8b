"""Fail one part of a comparison for good: what goes on without it, and what the record says."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from dialectree.nodes.tree_of_debate.comparison import (
    ComparisonPickReply,
    ComparisonReply,
    PaperSummaryReply,
    SummaryReply,
)
from dialectree.nodes.tree_of_debate.evidence import Relevance, RelevanceReply
from dialectree.nodes.tree_of_debate.moderator import ProgressReply, SubtopicsReply
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ClaimsReply, ResponseReply
from dialectree.protocols.protocol import methods
from dialectree.report.node_data import topic_of
from tests.graphs.debating import FAULTS, Debated
from tests.graphs.role_switching_debate.switching import of
from tests.graphs.tree_of_debate.comparing import compare, personas, shown_segments, speaker, turn, weigh
from tests.scripted import Asked, Said, ScriptedModel

Reply = type[BaseModel]


def losing(kind: Reply, fault: Said, who: str = "ab", at: str = "", stage: str = "") -> ScriptedModel:
    """Return a model that plays every role, with ``fault`` instead of some replies.

    ``who`` are the personas that lose theirs; ``stage`` tells an opening argument from a revised
    one.
    """
    model = personas(1, 2)
    usual = model.says(kind)

    def say(call: Asked) -> Said:
        revised = "<transcript>" in call.prompt
        lost = call.role != "persona" or speaker(call) in who
        if stage:
            lost = lost and revised == (stage == "revise")
        return fault if lost else usual(call)

    model.will_say_now(say, to=kind, at=at)
    return model


def stated(done: Debated, node: str) -> list[str]:
    return [position.paper for position in topic_of(done.node(node)).positions]


@pytest.mark.parametrize(("lost", "left"), ["ab", "ba"])
def test_without_one_personas_claims_the_other_ones_are_split_and_both_debate(
    lost: str, left: str, fault: Said
) -> None:
    model = losing(ClaimsReply, fault, lost)
    done = compare(model, max_claims=1)
    assert done.lost == [("0", "persona", lost)]
    assert [claim.paper for claim in topic_of(done.node()).all_claims] == [left]
    assert {speaker(call) for call in of(model, RelevanceReply)} == {lost}
    for node in ("0.0", "0.1"):
        assert stated(done, node) == ["a", "b"]
    opening = turn(model, ArgumentReply, lost, "0.0")
    assert "<claims>" not in opening.prompt
    assert {name[0] for name in shown_segments(opening)} == {lost}
    assert done.verdict.answer


def test_without_any_claims_there_is_nothing_to_split_and_nothing_is_invented(fault: Said) -> None:
    done = compare(losing(ClaimsReply, fault))
    assert done.lost == [("0", "persona", "a"), ("0", "persona", "b")]
    assert (done.node().status, done.node().stopped) == ("missing", "failed")
    assert (done.verdict.answer, done.verdict.notes) == (None, [])
    assert [*done.tree.nodes] == ["0"]
    assert {call.prompt for call in done.calls} == {"tree_of_debate/claims@2"}


def test_a_claim_that_nobody_weighed_is_not_called_unaddressed(fault: Said) -> None:
    model = losing(RelevanceReply, fault, "a")
    done = compare(model, max_claims=1)
    assert done.lost == [("0", "persona", "a")]
    assert {n: bool(found) for n, found in topic_of(done.node()).counter.items()} == {"a1": True}
    assert "does not address" not in turn(model, ArgumentReply, "b", "0.0").prompt
    assert "does not address" not in of(model, SubtopicsReply)[0].prompt


@pytest.mark.parametrize(("relevant", "addressed"), [(True, True), (False, None)])
def test_if_a_segment_was_not_weighed_only_the_segments_that_speak_count(
    relevant: bool, addressed: bool | None, fault: Said
) -> None:
    model = personas(1, 1)
    usual = weigh(relevant=relevant)

    def weighs_all_but_one(call: Asked) -> Said:
        return fault if shown_segments(call) == [lost] else usual(call)

    lost = "a:2"
    model.will_say_now(weighs_all_but_one, to=RelevanceReply)
    done = compare(model, filter="per_segment", segments=8, max_claims=1)
    counter = topic_of(done.node()).counter
    found = counter.get("b1")
    assert (None if found is None else bool(found)) is addressed and lost not in (found or [])
    assert bool(counter["a1"]) is relevant
    assert len(found or []) == 7 * relevant
    assert done.lost == [("0", "persona", "a")]


@pytest.mark.parametrize("node", ["0", "0.1"])
def test_without_subtopics_a_topic_is_not_split(node: str, fault: Said) -> None:
    done = compare(losing(SubtopicsReply, fault, at=node), max_depth=2, max_subtopics=2)
    assert done.lost == [(node, "moderator", "")]
    assert (done.node(node).stopped, done.node(node).children) == ("failed", [])
    assert len(topic_of(done.node(node)).all_claims) == 2
    if node == "0":
        assert (done.verdict.answer, done.node().status) == (None, "missing")
    else:
        assert stated(done, node) == ["a", "b"]
        assert done.verdict.answer and done.node("0.0").children


def test_without_a_ruling_on_progress_a_topic_is_not_split(fault: Said) -> None:
    done = compare(losing(ProgressReply, fault, at="0.0"), max_depth=2, max_subtopics=2)
    assert done.lost == [("0.0", "moderator", "")]
    assert (done.node("0.0").stopped, stated(done, "0.0")) == ("failed", ["a", "b"])
    assert done.node("0.1").children and done.verdict.answer


@pytest.mark.parametrize("turns", ["parallel", "alternating"])
@pytest.mark.parametrize(
    ("kind", "stage"), [(ArgumentReply, "present"), (ResponseReply, ""), (ArgumentReply, "revise")]
)
@pytest.mark.parametrize("who", ["a", "b"])
def test_a_turn_that_fails_is_left_out_and_the_last_one_before_it_stands(
    kind: Reply, stage: str, who: str, turns: str, fault: Said
) -> None:
    model = losing(kind, fault, who, at="0.0", stage=stage)
    done = compare(model, turns=turns)
    assert done.lost == [("0.0", "persona", who)]
    assert stated(done, "0.0") == stated(done, "0.1") == ["a", "b"]
    asked = [call for call in model.calls if call.node == "0.0"]
    # nobody responds to what was not said; in turn, b can respond to a's response
    unanswered = stage == "present" and (turns, who) != ("alternating", "a")
    assert len(asked) == 6 - unanswered + 2 * (fault == FAULTS["no valid reply"])
    assert done.verdict.answer


def test_a_topic_on_which_nobody_argued_is_missing_and_cannot_be_cited(fault: Said) -> None:
    done = compare(losing(ArgumentReply, fault, at="0.0"), max_depth=2, max_subtopics=2)
    assert (done.node("0.0").status, done.node("0.0").stopped) == ("missing", "failed")
    assert stated(done, "0.0") == []
    assert done.node("0.1").children == ["0.1.0", "0.1.1"]
    assert {failed[0] for failed in done.lost} == {"0.0"}
    (sentence, _) = topic_of(done.node()).sentences
    assert sentence.faults == ["cites 0.0, which is not there", "rests on nothing"]


def test_without_any_argument_there_is_no_comparison_and_nobody_writes_one(fault: Said) -> None:
    model = losing(ArgumentReply, fault)
    done = compare(model)
    assert of(model, SummaryReply) == []
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    assert {done.node(n).status for n in ("0.0", "0.1")} == {"missing"}


def test_without_a_summary_the_comparison_is_unresolved_and_the_tree_stands(fault: Said) -> None:
    done = compare(losing(SummaryReply, fault))
    assert done.lost == [("0", "moderator", "")]
    assert (done.verdict.answer, done.node().status, topic_of(done.node()).sentences) == (None, "missing", [])
    assert stated(done, "0.0") == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "kind", "role", "who"),
    [
        ("single_stage", ComparisonReply, "comparer", [""]),
        ("two_stage", ComparisonReply, "comparer", [""]),
        ("two_stage", PaperSummaryReply, "summariser", ["a", "b"]),
        ("best_comparison", ComparisonPickReply, "picker", [""]),
    ],
)
def test_a_baseline_with_a_failed_part_is_unresolved(
    name: str, kind: Reply, role: str, who: list[str], fault: Said
) -> None:
    model = personas()
    model.will_say_now(fault, to=kind)
    done = compare(model, graph=methods()[name].graph())
    assert done.lost == [("0", role, one) for one in who]
    assert (done.verdict.answer, done.node().status) == (None, "missing")


def test_a_filter_that_leaves_a_segment_out_is_asked_again() -> None:
    model = personas(1, 1)
    usual = weigh()

    def forgets(call: Asked) -> Said:
        said: Any = usual(call)
        if "cannot be used" in call.prompt:
            return RelevanceReply(segments=said.segments)
        other = Relevance.model_validate({**said.segments[0].model_dump(), "id": "a:77"})
        return RelevanceReply(segments=[*said.segments[1:], other])

    model.will_say_now(forgets, to=RelevanceReply)
    done = compare(model, segments=3)
    assert done.failures == [] and len(of(model, RelevanceReply)) == 4
    assert [len(found) for found in topic_of(done.node()).counter.values()] == [3, 3]
