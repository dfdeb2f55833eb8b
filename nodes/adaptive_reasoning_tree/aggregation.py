"""The aggregation: the arguments' strengths are carried to the claim, which they settle.

ART, section 3.4.
"""

from __future__ import annotations

from langgraph.runtime import Runtime

from dialectree.events import tell
from dialectree.flow import Step
from dialectree.nodes.adaptive_reasoning_tree.state import AdaptiveReasoningTree, Settings, Weighing
from dialectree.nodes.adaptive_reasoning_tree.strengths import reckoning
from dialectree.nodes.adaptive_reasoning_tree.weighing import carried, outcome


def aggregation(*, settles: bool = True) -> Step:
    """Return the step; P(claim) of an ensemble is the mean of its trees.

    With ``settles=False`` the claim is a node of another protocol, which settles it itself.
    """

    async def aggregation(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> Weighing:
        how = reckoning(state, runtime)
        arguments, scores, comparisons = state["arguments"], state["scores"], state["comparisons"]
        trees = [
            carried(claim, arguments, scores, comparisons, state["weights"], how)
            for claim in state["claims"]
        ]
        standing = [argument for argument in arguments if argument["id"] not in how.dropped]
        came = outcome(state["id"], trees, standing, state["unheard"])
        for node, kind, data in came.told:
            if settles or (node, kind) != (state["id"], "settled"):
                tell(runtime, node, kind, data)
        return {"probability": came.verdict["confidence"], "verdict": came.verdict}

    return aggregation
