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
from dialectree.models.run import run_of
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
    """Compare one supporter with one attacker of the same parent.

    Nobody is asked about a pair whose comparison a person let count for nobody.
    """
    supporter, attacker = state["pair"]["supporter"], state["pair"]["attacker"]
    order = state["pair"]["order"]
    shown = [("SUPPORT", supporter["text"]), ("ATTACK", attacker["text"])]
    met = [supporter["id"], attacker["id"]]
    if order == "attack_first":
        shown.reverse()
        met.reverse()
    place = Place(state["id"], "pairwise_judge", "tournament", 0, who=":".join(met))
    if (own := run_of(runtime).overrides.removed(place)) is not None:
        ruled = PairwiseReply.model_validate(own)
        return {"comparisons": [{**_compared(state, ruled), "void": True}]}
    reply = await ask(
        runtime,
        place,
        "adaptive_reasoning_tree/pairwise_judge",
        PairwiseReply,
        max_tokens=512,
        parent=state["parent"],
        shown=shown,
    )
    comparison = _compared(state, reply)
    told = {name: value for name, value in comparison.items() if name != "parent"}
    tell(runtime, state["id"], "compared", told)
    return {"comparisons": [comparison]}


def _compared(state: ToCompare, reply: PairwiseReply) -> Compared:
    pair = state["pair"]
    return {
        "parent": state["id"],
        "supporter": pair["supporter"]["id"],
        "attacker": pair["attacker"]["id"],
        "winner": reply.winner,
        "order": pair["order"],
    }
