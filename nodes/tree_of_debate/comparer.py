"""The comparer of ToD's baselines: both papers, or a summary of each, in one call.

ToD, section 4.2: single stage and two stages.
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.events import tell
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.nodes.tree_of_debate.state import Comparison, PaperSummary, Settings
from dialectree.nodes.tree_of_debate.topics import Letter
from dialectree.state import Ruling

_Paragraph = Annotated[str, Field(min_length=1, max_length=8000)]


class PaperSummaryReply(BaseModel):
    """What one paper contributes to a topic."""

    summary: _Paragraph


class ComparisonReply(BaseModel):
    """What two papers share, and what sets them apart."""

    summary: _Paragraph


def summariser(letter: Letter) -> Step:
    """Return the role that sums one paper up in a paragraph."""

    async def summariser(
        state: Comparison, runtime: Runtime[Settings]
    ) -> dict[str, list[PaperSummary]]:
        reply = await ask(
            runtime,
            Place("0", "summariser", "summary", 0, 1, who=letter),
            "two_stage/summariser",
            PaperSummaryReply,
            max_tokens=900,
            paper=state["authors"][letter],
            question=state["question"],
        )
        return {"summaries": [{"paper": letter, "text": reply.summary}]}

    return summariser


async def paper_comparer(state: Comparison, runtime: Runtime[Settings]) -> Ruling:
    """Compare the papers by their titles, abstracts and introductions."""
    reply = await ask(
        runtime,
        Place("0", "comparer", "summary", 0, 1),
        "single_stage/comparer",
        ComparisonReply,
        max_tokens=1500,
        papers=state["authors"],
        question=state["question"],
    )
    return _compared(reply, runtime)


async def summary_comparer(state: Comparison, runtime: Runtime[Settings]) -> Ruling:
    """Compare the papers by their summaries."""
    reply = await ask(
        runtime,
        Place("0", "comparer", "summary", 1, 1),
        "two_stage/comparer",
        ComparisonReply,
        max_tokens=1500,
        papers=state["authors"],
        summaries={one["paper"]: one["text"] for one in state["summaries"]},
        question=state["question"],
    )
    return _compared(reply, runtime)


def _compared(reply: ComparisonReply, runtime: Runtime[Settings]) -> Ruling:
    """Rule by the one reply that compares the papers."""
    verdict = {"answer": reply.summary, "rationale": ""}
    tell(runtime, "0", "settled", {"take": 1, "verdict": verdict, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": reply.summary,
            "label": None,
            "rationale": None,
            "confidence": None,
            "confidence_source": None,
            "notes": [],
        }
    }
