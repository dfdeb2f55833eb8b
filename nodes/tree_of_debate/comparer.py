"""The comparer of ToD's baselines: both papers, or a summary of each, in one call.

ToD, section 4.2: single stage and two stages.
"""

from __future__ import annotations

import operator
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.kinds import Node
from dialectree.nodes.tree_of_debate.topics import Author, Letter
from dialectree.state import Question, Ruling

_Paragraph = Annotated[str, Field(min_length=1, max_length=8000)]


class PaperSummaryReply(BaseModel):
    """What one paper contributes to a topic."""

    summary: _Paragraph


class ComparisonReply(BaseModel):
    """What two papers share, and what sets them apart."""

    summary: _Paragraph


class PaperSummary(TypedDict):
    """What was said of one paper."""

    paper: Letter
    text: str


class Summarised(TypedDict):
    """What summaries leave."""

    summaries: Annotated[list[PaperSummary], operator.add]


class ToRead(Question):
    """What a summariser and a comparer of whole papers read."""

    authors: dict[Letter, Author]


class ToCompare(ToRead, Summarised):
    """What a comparer of summaries reads."""


def summariser(letter: Letter) -> Node[ToRead, Summarised]:
    """One paper in one paragraph."""

    async def summariser(state: ToRead, runtime: Runtime[Context]) -> Summarised:
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


async def paper_comparer(state: ToRead, runtime: Runtime[Context]) -> Ruling:
    """Compares what both papers say of themselves at the beginning."""
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


async def summary_comparer(state: ToCompare, runtime: Runtime[Context]) -> Ruling:
    """Compares what was said of both."""
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


def _compared(reply: ComparisonReply, runtime: Runtime[Context]) -> Ruling:
    """Tells of the one reply that compares the papers."""
    verdict = {"answer": reply.summary, "rationale": ""}
    tell(runtime, "0", "settled", {"take": 1, "verdict": verdict, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": reply.summary,
            "label": None,
            "explanation": None,
            "confidence": None,
            "confidence_source": None,
            "notes": [],
        }
    }
