"""The answer writer: turns the root's verdict into a text for the person who asked."""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow.state import Ruling, VerdictFields
from dialectree.models.door import ask
from dialectree.models.reading import WITHOUT, without_evidence
from dialectree.nodes.tree_structured_debate.findings import parent
from dialectree.nodes.tree_structured_debate.sides import is_polar, leading, says_otherwise
from dialectree.nodes.tree_structured_debate.state import Finding, Settings, TreeStructuredDebate
from dialectree.records import Place
from dialectree.trace.events import tell

_HIGHLIGHTS = 3


class WriterReply(BaseModel):
    """The text for the person who asked."""

    explanation: Annotated[str, Field(max_length=2500)]
    final_answer: Annotated[str, Field(min_length=1, max_length=6000)]
    final_confidence: Annotated[float, Field(ge=0, le=1)] | None


def highlights(finding: Finding, branches: list[Finding]) -> list[str]:
    """Return the surest of the ``branches``, the surest first; for a leaf, the reasons of its finding."""
    sure = [b for b in branches if b["answer"] is not None]
    sure.sort(key=lambda b: -1.0 if b["confidence"] is None else b["confidence"], reverse=True)
    return [f"{b['question']} {b['answer']}" for b in sure[:_HIGHLIGHTS]] or [finding["rationale"]]


def select_child_findings(state: TreeStructuredDebate) -> list[Finding]:
    """Return the children's findings that the root's verdict rests on.

    A second pass may have changed a child without reaching the root.
    """
    finding = state["finding"]
    if all(child["take"] <= finding["take"] for child in state["findings"]):
        return state["findings"]
    return [first for first in state["certified"] if parent(first["id"]) == finding["id"]]


async def answer_writer(state: TreeStructuredDebate, runtime: Runtime[Settings]) -> Ruling:
    """Write the text, without new facts and without a change of the confidence."""
    finding = state["finding"]
    confidence, polar = finding["confidence"], is_polar(finding["question"])
    settled = (leading(finding["answer"] or "") or finding["side"]) if polar else None

    def conflict(reply: WriterReply) -> str | None:
        return says_otherwise(reply.final_answer, settled, "the settled text", "final_answer")

    reply = await ask(
        runtime,
        Place(node=finding["id"], phase="answer", role="answer_writer"),
        "tree_structured_debate/answer_writer",
        WriterReply,
        conflict=conflict,
        max_tokens=1200,
        question=finding["question"],
        integration=finding["answer"],
        highlights=highlights(finding, select_child_findings(state)),
        unclear=finding["unclear"],
        confidence=confidence,
        first_word=settled.title() if settled else None,
    )
    if not _is_same_confidence(reply.final_confidence, confidence):
        note = f"the writer gave the confidence {reply.final_confidence}; the debate's own stands"
        tell(runtime, finding["id"], "noted", {"note": note})
    return {"verdict": verdict(finding, reply.final_answer, reply.explanation)}


async def as_it_stands(state: TreeStructuredDebate) -> Ruling:
    """Rule without a writer: by the root's answer and the reasons of its judge, as they are."""
    finding = state["finding"]
    return {"verdict": verdict(finding, finding["answer"], finding["rationale"])}


async def end_unresolved(state: TreeStructuredDebate) -> Ruling:
    """Give no answer: the question is not settled, or the text contradicts the debate."""
    ruled = verdict(state["finding"], None, None)
    if state["finding"]["answer"] is None:
        return {"verdict": ruled}
    note = "the answer writer's text does not name the side that the debate settled"
    return {"verdict": {**ruled, "confidence": None, "notes": [*ruled["notes"], note]}}


def verdict(finding: Finding, answer: str | None, rationale: str | None) -> VerdictFields:
    """Return the verdict, with a note on each open gap and each leaf that lacks evidence."""
    gaps = [f"The question leaves something open: {gap}" for gap in finding["unclear"]]
    leaves = [leaf for leaf in finding["leaves"] if leaf != finding["id"]]
    return {
        "answer": answer,
        "label": None,
        "rationale": rationale,
        "confidence": finding["confidence"],
        "confidence_source": "judges",
        "notes": [*gaps, *(f"{leaf} {WITHOUT}" for leaf in without_evidence(*leaves))],
    }


def _is_same_confidence(reply_confidence: float | None, settled: float | None) -> bool:
    if reply_confidence is None or settled is None:
        return reply_confidence == settled
    return abs(reply_confidence - settled) < 0.005
