"""Pre-emption: the passages of a paper that speak to the other's claims, before these are argued.

ToD, section 3.3, step 3, prompt 12. A segment that speaks to a claim in any way is kept. The
paper's sentence says the opposite, its purpose does not.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree.models.door import ask
from dialectree.nodes.tree_of_debate.evidence import quotable, retrieve
from dialectree.nodes.tree_of_debate.state import (
    LETTERS,
    Letter,
    Settings,
    TopicDebate,
    ToWeigh,
    Weighed,
    opponent,
)
from dialectree.records import Place

_Answer = Literal["yes", "no"]


class Relevance(BaseModel):
    """What one segment does to a claim."""

    id: str
    supports: _Answer
    refutes: _Answer
    clarifies: _Answer
    irrelevant: _Answer


class RelevanceReply(BaseModel):
    """What every segment does to a claim."""

    segments: list[Relevance]


async def pre_emption(
    state: TopicDebate, runtime: Runtime[Settings]
) -> dict[str, dict[str, list[str]]]:
    """Look in each paper for segments that may speak to the other's claims."""

    async def look(letter: Letter) -> dict[str, list[str]]:
        others = [claim for claim in state["own"] if claim["paper"] != letter]
        wanted = {claim["id"]: f"{claim['title']}: {claim['description']}" for claim in others}
        return await retrieve(state, runtime, letter, wanted)

    a, b = await asyncio.gather(*map(look, LETTERS))
    return {"met": {**a, **b}}


async def relevance(state: ToWeigh, runtime: Runtime[Settings]) -> dict[str, list[Weighed]]:
    """Let the other paper's persona say which segments speak to a claim."""
    claim = state["claim"]
    number = int(claim["id"][1:]) + 100 * state["place"]
    reply = await ask(
        runtime,
        Place(
            node=state["id"],
            phase="relevance",
            role="persona",
            speaker=opponent(claim["paper"]),
            round=number,
        ),
        "tree_of_debate/relevance",
        RelevanceReply,
        ids={"segments.id": state["segments"]},
        told=lambda reply: {"claim": claim["id"], **reply.model_dump(mode="json")},
        max_tokens=100 + 90 * len(state["segments"]),
        claim=claim,
        evidence=quotable(runtime, state["authors"], state["segments"]),
    )
    speaking = {
        one.id for one in reply.segments if "yes" in (one.supports, one.refutes, one.clarifies)
    }
    weighed: list[Weighed] = [
        {"claim": claim["id"], "segment": segment, "speaks": segment in speaking}
        for segment in state["segments"]
    ]
    return {"weighed": weighed}
