"""The decomposer: splits a question into sub-questions, or says that it is atomic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.answers import tokens
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.state import Settings, Subtree
from dialectree.protocols.settings import settings
from dialectree.records import Place

_QID = 16
"""Characters of a part's name in a reply."""


def _cut(value: object) -> object:
    """Return the name as a text of at most ``_QID`` characters: nobody reads it."""
    return str(value)[:_QID] if type(value) in (str, int) else value


class ChildReply(BaseModel):
    """One sub-question."""

    qid: Annotated[str, BeforeValidator(_cut), Field(max_length=_QID)]
    text: Annotated[str, Field(min_length=1, max_length=600)]


class DecomposerReply(BaseModel):
    """A proposed split."""

    canonical_parent: Annotated[str, Field(min_length=1)]
    children: Annotated[list[ChildReply], Field(max_length=12)]
    coverage_justification: Annotated[str, Field(max_length=1500)]
    stop: bool


def numbered(drafted: Sequence[str]) -> list[dict[str, str]]:
    """Return the sub-questions under the ids c1, c2, ... that the next reply may point at."""
    return [{"qid": f"c{n}", "text": text} for n, text in enumerate(drafted, 1)]


def expansion(state: Subtree, role: str, step: int) -> Place:
    """Return the place of one of an expansion's three calls; a second attempt comes after them."""
    attempt = state["attempt"]
    return Place(
        node=state["id"], phase="expansion", role=role, round=attempt, step=3 * (attempt - 1) + step
    )


async def decomposer(state: Subtree, runtime: Runtime[Settings]) -> dict[str, object]:
    """Propose two or more sub-questions, or call the question atomic."""
    reply = await ask(
        runtime,
        expansion(state, "decomposer", 0),
        "tree_structured_debate/decomposer",
        DecomposerReply,
        max_tokens=max(1200, 600 + tokens(state["question"])),
        question=state["question"],
        path=state["path"],
        max_children=settings(runtime, Settings).max_children,
    )
    return {
        "canonical": reply.canonical_parent,
        "drafted": [child.text for child in reply.children],
        "atomic": reply.stop,
        "difficulty": [],
    }
