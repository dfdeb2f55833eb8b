"""The baseline: one question, one call, one answer."""

import asyncio

import pytest

from dialectree.graphs.tree_structured_debate.single_shot import graph
from dialectree.models import run
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from tests.graphs.debating import QUESTION, context, debate
from tests.scripted import ScriptedModel


def test_the_question_goes_to_one_model_once() -> None:
    model = ScriptedModel()
    model.will_say(AnswererReply(answer="Drought.", explanation="It dried up.", confidence=0.6))
    done = debate(model, graph=graph)
    assert model.places == [("0", "answerer")]
    assert QUESTION in model.prompts[0]
    assert (done.verdict.answer, done.verdict.confidence) == ("Drought.", 0.6)
    assert done.verdict.confidence_source == "answerer"
    assert (done.usage.calls, done.usage.critical_path_calls) == (1, 1)
    assert (done.node().kind, done.node().provenance) == ("leaf", ["0"])


def test_it_gives_the_same_kind_of_verdict_as_a_debate() -> None:
    model = ScriptedModel()
    model.will_say(AnswererReply(answer="Drought.", explanation="It dried up.", confidence=0.6))
    out = asyncio.run(graph.ainvoke({"question": QUESTION}, context=context(model)))
    assert out == {
        "verdict": {
            "answer": "Drought.",
            "label": None,
            "rationale": "It dried up.",
            "confidence": 0.6,
            "confidence_source": "answerer",
            "notes": [],
        }
    }


def test_a_host_is_told_where_the_embedded_model_took_part(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel()
    model.will_say(AnswererReply(answer="Drought.", explanation="It dried up.", confidence=0.6))
    monkeypatch.setattr(run, "EMBEDDED", "live:ScriptedModel")
    out = asyncio.run(graph.ainvoke({"question": QUESTION}, context=context(model)))
    note = "the embedded model took part: its answers are no better than chance"
    assert out["verdict"]["notes"] == [note]
    assert debate(model, graph=graph).verdict.notes == []  # its record says so
