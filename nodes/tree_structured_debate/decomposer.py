"""The decomposer: splits a question into sub-questions, or says that it is atomic."""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.models.door import Place, ask
from dialectree.nodes.role_switching_debate.candidates import tokens

Why = Literal[
    "max_depth",
    "node_budget",
    "decomposer_stop",
    "too_few_children",
    "below_threshold",
    "clarify",
    "failed",
]
"""Why expansion stopped at a node."""


_QID = 16
"""Characters of a part's name in a reply."""


def _cut(value: object) -> object:
    """Nobody reads the name: a number will do, and what is too long loses its end."""
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


class Drafted(TypedDict):
    """A sub-question that is only proposed. The program gives the ids, in the order of the list."""

    qid: str
    text: str


class ToSplit(TypedDict):
    """What the decomposer reads."""

    id: str
    question: str
    path: list[str]
    depth: int
    attempt: int


class Split(TypedDict, total=False):
    """What the decomposer leaves, and what the decomposition judge puts in its place."""

    canonical: str
    drafted: list[Drafted]
    stopped: Why | None


def drafted(children: list[ChildReply]) -> list[Drafted]:
    """The children under the ids c1, c2, ... that the next reply may point at."""
    return [{"qid": f"c{n}", "text": child.text} for n, child in enumerate(children, 1)]


def place(state_id: str, role: str, attempt: int, step: int) -> Place:
    """The place of one of the three calls of an expansion; an attempt more is three steps later."""
    return Place(state_id, role, "expansion", 3 * (attempt - 1) + step, round=attempt)


async def decomposer(state: ToSplit, runtime: Runtime[Context]) -> Split:
    """Proposes two or more sub-questions. ``stop`` counts where the profile lets it."""
    context = settings(runtime)
    reply = await ask(
        runtime,
        place(state["id"], "decomposer", state["attempt"], 0),
        "tree_structured_debate/decomposer",
        DecomposerReply,
        max_tokens=max(1200, 600 + tokens(state["question"])),
        question=state["question"],
        path=state["path"],
        max_children=context.max_children,
    )
    children = drafted(reply.children)
    may_stop = context.depth_profile != "fixed" and state["depth"] >= context.depth_floor()
    stopped: Why | None = None
    if reply.stop and (may_stop or len(children) < 2):
        stopped = "decomposer_stop"
    elif len(children) < 2:
        stopped = "too_few_children"
    return {"canonical": reply.canonical_parent, "drafted": children, "stopped": stopped}
