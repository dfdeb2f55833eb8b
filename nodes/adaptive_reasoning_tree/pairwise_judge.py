"""The pairwise judge of an argument tree: which of two opposing arguments is the stronger.

ART, section 3.2. The judge belongs to the evaluator, apart from the generator of the arguments.
"""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.adaptive_reasoning_tree.arguments import Compared, Pair
from dialectree.nodes.adaptive_reasoning_tree.state import Settings


class PairwiseReply(BaseModel):
    """Which side wins, or neither."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["SUPPORT", "ATTACK", "TIE"]


class ToCompare(TypedDict):
    """What a pairwise judge is sent."""

    id: str
    """The parent's."""
    parent: str
    """The parent's text."""
    pair: Pair


async def pairwise_judge(state: ToCompare, runtime: Runtime[Settings]) -> dict[str, list[Compared]]:
    """Compare one supporter with one attacker of the same parent."""
    supporter, attacker = state["pair"]["supporter"], state["pair"]["attacker"]
    order = state["pair"]["order"]
    shown = [("SUPPORT", supporter["text"]), ("ATTACK", attacker["text"])]
    met = [supporter["id"], attacker["id"]]
    if order == "attack_first":
        shown.reverse()
        met.reverse()
    reply = await ask(
        runtime,
        Place(state["id"], "pairwise_judge", "tournament", 0, who=":".join(met)),
        "adaptive_reasoning_tree/pairwise_judge",
        PairwiseReply,
        max_tokens=512,
        parent=state["parent"],
        shown=shown,
    )
    comparison: Compared = {
        "parent": state["id"],
        "supporter": supporter["id"],
        "attacker": attacker["id"],
        "winner": reply.winner,
        "order": order,
    }
    told = {name: value for name, value in comparison.items() if name != "parent"}
    tell(runtime, state["id"], "compared", told)
    return {"comparisons": [comparison]}
