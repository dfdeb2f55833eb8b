"""The comparer of ToD's baselines: both papers, or a summary of each, in one call.

ToD, section 4.2: single stage and two stages.
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import Step
from dialectree.flow.state import Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import ask
from dialectree.nodes.tree_of_debate.state import Comparison, Letter, Settings
from dialectree.records import Place

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
    ) -> dict[str, dict[Letter, str]]:
        reply = await ask(
            runtime,
            Place(node="0", phase="summary", role="summariser", speaker=letter, round=1),
            "two_stage/summariser",
            PaperSummaryReply,
            max_tokens=900,
            paper=state["authors"][letter],
            question=state["question"],
        )
        return {"summaries": {letter: reply.summary}}

    return summariser


def comparer(prompt: str, *, step: int = 0) -> Step:
    """Return the role that compares the papers with ``prompt``.

    The prompt sees ``papers``, their ``summaries`` where there are any, and the ``question``.
    """

    async def comparer(state: Comparison, runtime: Runtime[Settings]) -> Ruling:
        reply = await ask(
            runtime,
            Place(node="0", phase="summary", role="comparer", round=1, step=step),
            prompt,
            ComparisonReply,
            max_tokens=1500,
            papers=state["authors"],
            summaries=state["summaries"],
            question=state["question"],
        )
        return settle(runtime, reply.summary)

    return comparer
