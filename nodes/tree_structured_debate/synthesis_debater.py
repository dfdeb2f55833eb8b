"""The synthesis debaters: concise and full put the children's answers together, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.flow import Step
from dialectree.maths.tree import synthesis_tokens, words
from dialectree.models.door import ask
from dialectree.nodes.tree_structured_debate.findings import Finding
from dialectree.nodes.tree_structured_debate.sides import is_polar
from dialectree.nodes.tree_structured_debate.state import (
    STYLES,
    Candidate,
    Settings,
    Style,
    SynthesisDebate,
)
from dialectree.records import Place


class SynthesisReply(BaseModel):
    """One way of putting the children's answers together."""

    integration: Annotated[str, Field(min_length=1, max_length=6000)]
    assumptions: Annotated[str, Field(max_length=1500)]


def remaining(candidates: list[Candidate], gone: Sequence[Style]) -> list[Candidate]:
    """Return the last text of each debater who has not failed, or of all if all have."""
    last = {candidate["style"]: candidate for candidate in candidates}
    present = [style for style in STYLES if style not in gone] or STYLES
    return [last[style] for style in present if style in last]


def message_tokens(findings: list[Finding]) -> int:
    """Return the limit of a message about ``findings``: it grows with the leaves below."""
    return synthesis_tokens(sum(len(finding["leaves"]) for finding in findings))


def synthesis_debater(style: Style) -> Step:
    """Return the debater for ``style``; from its second round on it has read the other."""

    async def synthesis_debater(
        state: SynthesisDebate, runtime: Runtime[Settings]
    ) -> dict[str, list[Candidate]]:
        node, round_, take = state["id"], state["round"], state["take"]
        limit = message_tokens(state["findings"])
        texts = remaining(state["candidates"], state["gone"])
        latest = {text["style"]: text["integration"] for text in texts}
        reply = await ask(
            runtime,
            Place(
                node=node,
                phase="synthesis",
                role="synthesis_debater",
                speaker=style,
                round=round_,
                step=round_,
                take=take,
            ),
            "tree_structured_debate/synthesis_debater",
            SynthesisReply,
            max_tokens=limit + 200,
            style=style,
            question=state["question"],
            children=state["findings"],
            own=latest.get(style),
            opponent=latest.get("full" if style == "concise" else "concise"),
            word_limit=words(limit),
            polar=is_polar(state["question"]),
        )
        return {
            "candidates": [
                {
                    "style": style,
                    "integration": reply.integration,
                    "assumptions": reply.assumptions,
                }
            ]
        }

    return synthesis_debater
