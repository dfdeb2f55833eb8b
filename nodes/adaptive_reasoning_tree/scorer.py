"""The scorer of an argument tree: how strong one argument is for its parent, by itself.

ART, section 3.3. The scorer belongs to the evaluator, apart from the generator of the arguments.
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import NEUTRAL, Argument, Scored
from dialectree.nodes.adaptive_reasoning_tree.state import Settings, Sprout


class ScorerReply(BaseModel):
    """How true an argument is, and how much it weighs if it is; the reason before each figure."""

    truth_rationale: Annotated[str, Field(max_length=2000)]
    truth: Annotated[float, Field(ge=0, le=1)]
    weight_rationale: Annotated[str, Field(max_length=2000)]
    weight: Annotated[float, Field(ge=0, le=1)]


class ClaimScorerReply(BaseModel):
    """How likely a claim is, and the reason for it."""

    rationale: Annotated[str, Field(max_length=2000)]
    truth: Annotated[float, Field(ge=0, le=1)]


class ToScore(TypedDict):
    """What a scorer is sent."""

    id: str
    """The argument's."""
    argument: Argument
    parent: str
    """The text of its parent."""


async def scorer(state: ToScore, runtime: Runtime[Settings]) -> dict[str, list[Scored]]:
    """Score one argument for or against its parent, whatever else there is."""
    return await _argument(state, runtime, Place(state["id"], "scorer", "strength", 0))


async def late_scorer(state: ToScore, runtime: Runtime[Settings]) -> dict[str, list[Scored]]:
    """Score an argument that a tournament left without a comparison that counts."""
    place = Place(state["argument"]["parent"], "scorer", "tournament", 1, who=state["id"])
    return await _argument(state, runtime, place)


async def _argument(
    state: ToScore, runtime: Runtime[Settings], place: Place
) -> dict[str, list[Scored]]:
    reply = await ask(
        runtime,
        place,
        "adaptive_reasoning_tree/scorer",
        ScorerReply,
        max_tokens=512,
        stance=state["argument"]["stance"],
        argument=state["argument"]["text"],
        parent=state["parent"],
    )
    return _scored(runtime, state["id"], reply.truth * reply.weight)


async def claim_scorer(state: Sprout, runtime: Runtime[Settings]) -> dict[str, list[Scored]]:
    """Score the claim itself: how likely it is before any argument is heard."""
    reply = await ask(
        runtime,
        Place(state["id"], "scorer", "strength", 0),
        "adaptive_reasoning_tree/claim_scorer",
        ClaimScorerReply,
        max_tokens=512,
        claim=state["text"],
    )
    return _scored(runtime, state["id"], reply.truth)


def unasked(claim: str, runtime: Runtime[Settings]) -> list[Scored]:
    """Return the neutral strength of a claim that is not scored, or what a person set instead."""
    held = run_of(runtime).changes.at(Place(claim, "scorer", "strength", 0))
    if held is None or held.what != "set":
        tau = NEUTRAL
    elif held.reply is None or held.after is None:
        return []
    else:
        tau = float(held.after)
    tell(runtime, claim, "scored", {"scores": {"tau": tau}})
    return [{"id": claim, "tau": tau}]


def _scored(runtime: Runtime[Settings], node: str, tau: float) -> dict[str, list[Scored]]:
    tell(runtime, node, "scored", {"scores": {"tau": tau}})
    return {"scores": [{"id": node, "tau": tau}]}
