"""The arguments' strengths: scores and comparisons become the weight of each argument by itself.

ART, section 3.3.
"""

from __future__ import annotations

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import settings
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import Scored
from dialectree.nodes.adaptive_reasoning_tree.scorer import set_by_person
from dialectree.nodes.adaptive_reasoning_tree.state import AdaptiveReasoningTree, Settings, Weights
from dialectree.nodes.adaptive_reasoning_tree.weighing import Reckoning, by_themselves


class Weighed(TypedDict):
    """The weights by themselves, and the strengths that a person set where nobody was asked."""

    weights: Weights
    scores: list[Scored]


async def strengths(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> Weighed:
    """Weigh every argument by itself."""
    how = reckoning(state, runtime)
    scored = {score["id"] for score in state["scores"]}
    names = [*state["claims"], *(argument["id"] for argument in state["arguments"])]
    extra = [s for name in names if name not in scored for s in set_by_person(name, runtime) or []]
    scores = [*state["scores"], *extra]
    weights: Weights = {"theta": {}, "blended": {}, "notes": {}}
    for claim in state["claims"]:
        tree = by_themselves(claim, state["arguments"], scores, state["comparisons"], how)
        weights["theta"] |= tree["theta"]
        weights["blended"] |= tree["blended"]
        weights["notes"] |= tree["notes"]
    return {"weights": weights, "scores": extra}


def reckoning(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> Reckoning:
    """Return how the tree is weighed, and which arguments a person dropped."""
    context, overrides = settings(runtime, Settings), run_of(runtime).overrides
    names = [argument["id"] for argument in state["arguments"]]
    return Reckoning(
        state["blend"],
        context.strength_rule,
        context.semantics,
        context.ties,
        context.prune_below,
        frozenset(name for name in names if overrides.drops_argument(name)),
    )
