"""The synthesis debaters: concise and full put the children's answers together, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.maths.tree import synthesis_tokens, words
from dialectree.models.door import Place, ask
from dialectree.nodes.kinds import Finding, Node
from dialectree.nodes.tree_structured_debate.sides import is_polar

Style = Literal["concise", "full"]
STYLES: tuple[Style, Style] = ("concise", "full")


class SynthesisReply(BaseModel):
    """One way of putting the children's answers together."""

    integration: Annotated[str, Field(min_length=1, max_length=6000)]
    assumptions: Annotated[str, Field(max_length=1500)]


class Candidate(TypedDict):
    """An integration in one style."""

    style: Style
    round: int
    integration: str
    assumptions: str


class ToIntegrate(TypedDict):
    """What a synthesis debater reads."""

    id: str
    question: str
    take: int
    round: int
    findings: list[Finding]
    candidates: list[Candidate]
    gone: list[Style]


class Integrated(TypedDict):
    """What a synthesis debater leaves."""

    candidates: list[Candidate]


class Gone(TypedDict):
    """What a synthesis debater leaves who failed for good."""

    gone: list[Style]


def latest(candidates: list[Candidate], style: Style) -> Candidate | None:
    """The last integration in ``style``; None when that debater has not spoken."""
    return next((c for c in reversed(candidates) if c["style"] == style), None)


def remaining(candidates: list[Candidate], gone: list[Style]) -> list[Candidate]:
    """The last integration of each debater who is still there; of all who spoke, if none is."""
    there: Sequence[Style] = [style for style in STYLES if style not in gone] or STYLES
    return [text for style in there if (text := latest(candidates, style)) is not None]


def message_tokens(findings: list[Finding]) -> int:
    """Tokens of a message about ``findings``: the more leaves lie below, the more."""
    return synthesis_tokens(sum(len(finding["leaves"]) for finding in findings))


def synthesis_debater(style: Style) -> Node[ToIntegrate, Integrated]:
    """The debater for ``style``; from its second round on it has read the other."""
    other: Style = "full" if style == "concise" else "concise"

    async def synthesis_debater(state: ToIntegrate, runtime: Runtime[Context]) -> Integrated:
        own, opponent = latest(state["candidates"], style), latest(state["candidates"], other)
        if other in state["gone"]:
            opponent = None
        node, round_, take = state["id"], state["round"], state["take"]
        limit = message_tokens(state["findings"])
        reply = await ask(
            runtime,
            Place(node, "synthesis_debater", "synthesis", round_, round_, take, style),
            "tree_structured_debate/synthesis_debater",
            SynthesisReply,
            max_tokens=limit + 200,
            style=style,
            question=state["question"],
            children=state["findings"],
            own=own and own["integration"],
            opponent=opponent and opponent["integration"],
            word_limit=words(limit),
            polar=is_polar(state["question"]),
        )
        said: Candidate = {
            "style": style,
            "round": round_,
            "integration": reply.integration,
            "assumptions": reply.assumptions,
        }
        return {"candidates": [said]}

    return synthesis_debater
