"""The pairwise judge of an argument tree: which of two opposing arguments is the stronger.

ART, section 3.2. The judge belongs to the evaluator, apart from the generator of the arguments.
"""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import Compared, Pair
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.records import Place
from dialectree.trace.events import tell


class PairwiseReply(BaseModel):
    """Which side wins, or neither."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["SUPPORT", "ATTACK", "TIE"]


async def pairwise_judge(pair: Pair, runtime: Runtime[Settings]) -> dict[str, list[Compared]]:
    """Compare one supporter with one attacker of the same parent.

    Nobody is asked about a pair whose comparison a person let count for nobody.
    """
    supporter, attacker = pair["supporter"], pair["attacker"]
    shown = [("SUPPORT", supporter), ("ATTACK", attacker)]
    if pair["order"] == "attack_first":
        shown.reverse()
    names = ":".join(argument["id"] for _, argument in shown)
    place = Place(node=pair["id"], phase="tournament", role="pairwise_judge", speaker=names)
    removed = run_of(runtime).overrides.removed(place)
    if removed is not None:
        reply = PairwiseReply.model_validate(removed)
    else:
        reply = await ask(
            runtime,
            place,
            "adaptive_reasoning_tree/pairwise_judge",
            PairwiseReply,
            max_tokens=512,
            parent=pair["parent"],
            shown=[(side, argument["text"]) for side, argument in shown],
        )
    compared: Compared = {
        "parent": pair["id"],
        "supporter": supporter["id"],
        "attacker": attacker["id"],
        "winner": reply.winner,
        "order": pair["order"],
    }
    if removed is not None:
        compared["void"] = True
    else:
        told = {name: value for name, value in compared.items() if name != "parent"}
        tell(runtime, pair["id"], "compared", told)
    return {"comparisons": [compared]}
