"""One part fails for good: what goes on without it, and what the record says of it."""

from collections.abc import Callable

import pytest
from pydantic import BaseModel

from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.decomposer import (
    ComplexityReply,
    DecomposerReply,
    DecompositionJudgeReply,
)
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, LeafJudgeReply
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisJudgeReply, SynthesisReply
from tests.graphs.debating import FAULTS, debate, debaters
from tests.scripted import Asked, Said, ScriptedModel

Reply = type[BaseModel]


def failing(*replies: Reply, fault: Said, at: str = "", children: int = 2) -> ScriptedModel:
    model = debaters(children)
    for reply in replies:
        model.will_say_now(fault, to=reply, at=at)
    return model


@pytest.mark.parametrize(
    ("reply", "role", "calls"),
    [
        (DecomposerReply, "decomposer", 1),
        (DecompositionJudgeReply, "decomposition_judge", 2),
        (ComplexityReply, "complexity_evaluator", 3),
    ],
)
def test_without_a_part_of_its_expansion_a_node_becomes_a_leaf(
    reply: Reply, role: str, calls: int, fault: Said
) -> None:
    node = "0.1"
    model = failing(reply, fault=fault, at=node)
    done = debate(model, max_depth=2)
    assert (done.node(node).kind, done.node(node).stopped) == ("leaf", "failed")
    assert done.node(node).status == "answered"
    assert done.lost == [(node, role, "")]
    assert done.verdict.answer == "In the end, this."
    asked = [call for call in model.calls if call.node == node and call.role != "answer_writer"]
    assert len(asked) == calls + 7 + 2 * (fault == FAULTS["no valid reply"])


@pytest.mark.parametrize(("reply", "role"), [(DebaterReply, "leaf_debater"), (LeafJudgeReply, "leaf_judge")])
def test_without_a_debater_or_a_judge_a_leaf_is_missing_and_the_synthesis_is_told_so(
    reply: Reply, role: str, fault: Said
) -> None:
    model = failing(reply, fault=fault, at="0.1", children=3)
    done = debate(model)
    assert [failed[:2] for failed in done.lost] == [("0.1", role)]
    assert (done.node("0.1").status, done.node("0.1").verdict) == ("missing", None)
    assert done.node("0").provenance == ["0.0", "0.2"]
    assert done.verdict.confidence == pytest.approx(0.9 * 0.8)
    for call in model.calls:
        if call.role.startswith("synthesis"):
            assert "0.1: what of b?\nno answer: this part could not be settled" in call.prompt
            assert call.prompt.count("\nanswer: it was this") == 2


def test_without_one_synthesis_debater_the_others_text_goes_to_the_judge(fault: Said) -> None:
    for gone, left in (("concise", "full"),):
        model = failing(fault=fault)
        model.will_say_now(
            only_when(f"style is {gone}", fault, SynthesisReply(integration="x", assumptions="")),
            to=SynthesisReply,
        )
        done = debate(model)
        assert done.lost == [("0", "synthesis_debater", gone)]
        judge = next(call for call in model.calls if call.role == "synthesis_judge")
        assert "\nA: x" in judge.prompt and "\nB: " not in judge.prompt
        verdict = done.node().verdict
        assert verdict is not None
        assert verdict.winner == f"A ({left})"
        assert done.verdict.confidence == pytest.approx(0.9 * 0.8)
        writers = [call for call in model.calls if f"style is {left}" in call.prompt]
        assert [call.round for call in writers] == [1, 2]
        assert not any("<opponent>" in call.prompt for call in writers)


def only_when(text: str, one: Said, other: Said) -> Callable[[Asked], Said]:
    """Says ``one`` to a prompt that holds ``text``, else ``other``."""
    return lambda call: one if text in call.prompt else other


def test_without_a_synthesis_judge_the_concise_text_goes_upward_unrated(fault: Said) -> None:
    model = failing(SynthesisJudgeReply, fault=fault, at="0.1")
    model.will_say_now(
        lambda call: SynthesisReply(
            integration="short" if "style is concise" in call.prompt else "long", assumptions=""
        ),
        to=SynthesisReply,
    )
    done = debate(model, max_depth=2)
    assert done.lost == [("0.1", "synthesis_judge", "")]
    verdict = done.node("0.1").verdict
    assert verdict is not None
    assert (verdict.answer, verdict.confidence, verdict.winner) == ("short", None, None)
    assert verdict.rationale == "The synthesis judge gave no ruling; the concise text stands."
    root = done.node("0").verdict
    assert root is not None
    assert (root.local_confidence, root.confidence) == (0.9, None)  # unknown stays unknown upward
    assert (done.verdict.confidence, done.verdict.confidence_source) == (None, None)
    assert "confidence: unknown" in next(
        c.prompt for c in model.calls if c.role == "synthesis_judge" and c.node == "0"
    )
    assert "Confidence: not determined" in model.prompts[-1]
    assert done.node().notes == []  # the writer gave none either


def test_without_a_writer_the_roots_integration_is_the_answer_as_it_stands(fault: Said) -> None:
    done = debate(failing(WriterReply, fault=fault))
    assert done.lost == [("0", "answer_writer", "")]
    assert (done.verdict.answer, done.verdict.rationale) == ("all in all", "Fits.")
    assert done.verdict.confidence == pytest.approx(0.72)


def test_without_any_leaf_the_question_is_unresolved_and_nobody_writes(fault: Said) -> None:
    model = failing(LeafJudgeReply, fault=fault)
    done = debate(model, max_depth=2)
    assert (done.verdict.answer, done.verdict.confidence) == (None, None)
    assert {node.status for node in done.tree.nodes.values()} == {"missing"}
    assert not {call.role for call in model.calls} & {"synthesis_debater", "answer_writer"}
    assert [node for node, _ in done.failures] == ["0.0.0", "0.0.1", "0.1.0", "0.1.1"]
