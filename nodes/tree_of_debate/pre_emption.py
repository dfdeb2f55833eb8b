"""Pre-emption: what a paper has to say on the claims of the other, before these are argued.

ToD, section 3.3, step 3, prompt 12. What speaks to a claim at all is kept, whichever way: the
paper's sentence says the opposite, its purpose does not.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel
from typing_extensions import TypedDict

from dialectree.models.door import Place, ask
from dialectree.nodes.tree_of_debate.evidence import quotable, retrieved
from dialectree.nodes.tree_of_debate.state import Meeting, Settings, TopicDebate
from dialectree.nodes.tree_of_debate.topics import (
    LETTERS,
    Author,
    Claim,
    Counter,
    Letter,
    opponent,
)

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


class ToWeigh(TypedDict):
    """What one filter call is sent."""

    id: str
    authors: dict[Letter, Author]
    claim: Claim
    segments: list[str]
    place: int
    """0 for the first call about the claim."""
    of: int
    """How many calls there are about it."""


async def pre_emption(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Look in each paper for what speaks to the other's claims; all queries at once."""

    async def look(letter: Letter) -> list[Meeting]:
        claims = [claim for claim in state["own"] if claim["paper"] == opponent(letter)]
        wanted = {c["id"]: f"{c['title']}: {c['description']}" for c in claims}
        if not wanted:
            return []
        found = await retrieved(runtime, state["id"], letter, state["authors"][letter], wanted)
        return [{"claim": claim, "segments": found[claim["id"]]} for claim in claims]

    meetings = [meeting for found in await asyncio.gather(*map(look, LETTERS)) for meeting in found]
    bare: list[Counter] = [
        {"claim": meeting["claim"]["id"], "segments": [], "of": 1}
        for meeting in meetings
        if not meeting["segments"]
    ]
    return {"meetings": meetings, "counters": bare}


async def relevance(state: ToWeigh, runtime: Runtime[Settings]) -> dict[str, list[Counter]]:
    """Let the other paper's persona say which segments speak to a claim."""
    claim = state["claim"]
    number = int(claim["id"][1:]) + 100 * state["place"]
    reply = await ask(
        runtime,
        Place(state["id"], "persona", "relevance", 0, number, who=opponent(claim["paper"])),
        "tree_of_debate/relevance",
        RelevanceReply,
        ids={"segments.id": state["segments"]},
        told=lambda reply: {"claim": claim["id"], **reply.model_dump(mode="json")},
        max_tokens=100 + 90 * len(state["segments"]),
        claim=claim,
        evidence=quotable(runtime, state["authors"], state["segments"]),
    )
    speaks = {
        one.id for one in reply.segments if "yes" in (one.supports, one.refutes, one.clarifies)
    }
    kept = [name for name in state["segments"] if name in speaks]
    return {"counters": [{"claim": claim["id"], "segments": kept, "of": state["of"]}]}
