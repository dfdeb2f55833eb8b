"""ART, Adaptive Reasoning Trees: a claim grows arguments, and their strengths carry to the claim.

Paper: ART: Adaptive Reasoning Trees for Explainable Claim Verification (Wadhwa et al.). The tree is
``argument_growth``, the judging of its arguments ``tournament``; here it is weighed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.graphs import argument_growth
from dialectree.nodes.arguments import Grown, Scored
from dialectree.nodes.conclusion import conclusion
from dialectree.nodes.failures import may_fail
from dialectree.nodes.scorer import Claim, Scores, claim_scorer
from dialectree.nodes.weighing import NEUTRAL, Weighing, weighing
from dialectree.state import Debate, Question, Ruling


class AdaptiveReasoningTree(Debate, Grown, Weighing):
    """A claim and all that is said for and against it; ``question`` holds the claim."""

    id: str
    claims: list[str]
    """The ids of the claims at the roots of the trees: one, or one a tree of an ensemble."""
    blend: float
    """Lambda."""


class Opened(TypedDict):
    """What a claim begins with."""

    id: str
    claims: list[str]
    scores: list[Scored]
    blend: float


def require(given: Mapping[str, Any], context: Context) -> None:
    """InputError where the claim is a question."""
    if str(given.get("question", "")).rstrip().endswith(("?", "？")):
        raise InputError("this is a question; a claim states something that can be true or false")


def after_opening(state: AdaptiveReasoningTree, runtime: Runtime[Context]) -> list[Send]:
    """Every tree at once, and beside it the claim's own strength where it is estimated."""
    sends = [Send("grow", _sprout(state, claim)) for claim in state["claims"]]
    if settings(runtime).root_strength == "estimated":
        asked: list[Claim] = [{"id": name, "text": state["question"]} for name in state["claims"]]
        sends += [Send("claim_scorer", claim) for claim in asked]
    return sends


def _sprout(state: AdaptiveReasoningTree, claim: str) -> argument_growth.Sprout:
    return {
        "id": claim,
        "text": state["question"],
        "path": [],
        "level": 0,
        "depth": claim.count("."),
        "blend": state["blend"],
    }


def adaptive_reasoning_tree(
    name: str, *, tournament: bool = True
) -> CompiledStateGraph[AdaptiveReasoningTree, Context, Question, Ruling]:
    """The protocol; without a ``tournament`` it is ArgLLM, its baseline (lambda = 0)."""

    async def opening(state: Question, runtime: Runtime[Context]) -> Opened:
        """The claim; of an ensemble one root for each tree."""
        context = settings(runtime)
        require(state, context)
        told = {"text": state["question"], "depth": 0, "kind": "claim"}
        tell(runtime, "0", "opened", told)
        claims = ["0"]
        if context.trees > 1:
            claims = [f"0.{n}" for n in range(context.trees)]
            for claim in claims:
                tell(runtime, claim, "opened", {**told, "depth": 1, "parent": "0"})
            tell(runtime, "0", "branched", {"children": claims, "kind": "claim"})
        scores: list[Scored] = []
        if context.root_strength == "neutral":
            scores = [{"id": claim, "tau": NEUTRAL} for claim in claims]
            for claim in claims:
                tell(runtime, claim, "scored", {"tau": NEUTRAL})
        blend = context.blend if tournament else 0.0
        return {"id": "0", "claims": claims, "scores": scores, "blend": blend}

    unscored: Scores = {"scores": []}
    builder = StateGraph(
        AdaptiveReasoningTree, context_schema=Context, input_schema=Question, output_schema=Ruling
    )
    builder.add_node("opening", opening)
    builder.add_node("grow", argument_growth.grow)
    builder.add_node("claim_scorer", may_fail(claim_scorer, unscored))
    builder.add_node("weighing", weighing)
    builder.add_node("conclusion", conclusion)
    builder.add_edge(START, "opening")
    builder.add_conditional_edges("opening", after_opening, ["grow", "claim_scorer"])
    builder.add_edge("grow", "weighing")
    builder.add_edge("claim_scorer", "weighing")
    builder.add_edge("weighing", "conclusion")
    builder.add_edge("conclusion", END)
    return builder.compile(name=name)


graph = adaptive_reasoning_tree("adaptive_reasoning_tree")
argllm = adaptive_reasoning_tree("argllm", tournament=False)
