"""The arguments' strengths: scores and comparisons become the weight of each argument by itself.

ART, section 3.3.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.context import settings
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.state import AdaptiveReasoningTree, Settings, Weights
from dialectree.nodes.adaptive_reasoning_tree.weighing import Reckoning, by_themselves, left_out


async def strengths(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> dict[str, Weights]:
    """Weigh every argument by itself."""
    how = reckoning(state, runtime)
    weights: Weights = {"theta": {}, "blended": {}, "notes": {}}
    for claim in state["claims"]:
        tree = by_themselves(claim, state["arguments"], state["scores"], state["comparisons"], how)
        weights["theta"] |= tree["theta"]
        weights["blended"] |= tree["blended"]
        weights["notes"] |= tree["notes"]
    return {"weights": weights}


def reckoning(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> Reckoning:
    """Return how the tree is weighed, and which arguments a person left out."""
    context, changes = settings(runtime, Settings), run_of(runtime).changes
    names = [argument["id"] for argument in state["arguments"]]
    return Reckoning(
        state["blend"],
        context.strength_rule,
        context.semantics,
        context.ties,
        context.prune_below,
        frozenset(name for name in names if changes.at(left_out(name)) is not None),
    )
