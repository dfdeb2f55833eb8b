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
from langgraph.types import Overwrite, Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.graphs.adaptive_reasoning_tree import argument_growth
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.nodes.adaptive_reasoning_tree.arguments import Grown, Scored
from dialectree.nodes.adaptive_reasoning_tree.scorer import Claim, Scores, claim_scorer, unasked
from dialectree.nodes.adaptive_reasoning_tree.weighing import (
    ToWeigh,
    Weighing,
    weighing,
    weighing_alone,
)
from dialectree.nodes.failures import may_fail
from dialectree.nodes.kinds import Node
from dialectree.nodes.opening import require_question
from dialectree.nodes.tree_structured_debate.sides import is_asked
from dialectree.state import Debate, Question, Ruling, Unruled
from dialectree.steps import conclusion


class AdaptiveReasoningTree(Debate, Grown, Weighing):
    """A claim and all that is said for and against it; ``question`` holds the claim."""

    id: str
    claims: list[str]
    """The ids of the claims at the roots of the trees: one, or one a tree of an ensemble."""
    blend: float
    """Lambda."""


class Opened(Unruled):
    """What a claim begins with, whatever a host's thread still holds of an earlier one."""

    id: str
    claims: list[str]
    arguments: Overwrite
    scores: Overwrite
    comparisons: Overwrite
    unheard: Overwrite
    blend: float


class Leaf(TypedDict):
    """A claim somewhere in the tree of another protocol."""

    id: str
    claim: str


class Claimed(Opened):
    """The same, with the claim."""

    question: str


def require(given: Mapping[str, Any], context: Context) -> None:
    """InputError where the claim is a question, or says nothing."""
    require_question(given, "claim")
    claim: str = given["question"]
    if is_asked(claim):
        raise InputError("this is a question; a claim states something that can be true or false")
    if not any(map(str.isalnum, claim)):
        raise InputError("this claim has no word in it")


def planted(name: str, claim: str, blend: float, runtime: Runtime[Context]) -> Opened:
    """The claim at the node ``name``; of an ensemble one root for each tree, below it."""
    context = settings(runtime)
    claims = [name]
    if context.trees > 1:
        claims = [f"{name}.{n}" for n in range(context.trees)]
        depth = name.count(".") + 1
        told = {"text": claim, "depth": depth, "parent": name, "kind": "claim"}
        for root in claims:
            tell(runtime, root, "opened", told)
        tell(runtime, name, "branched", {"children": claims, "kind": "claim"})
    scores: list[Scored] = []
    if context.root_strength == "neutral":
        scores = [scored for root in claims for scored in unasked(root, runtime)]
    return {
        "id": name,
        "claims": claims,
        "arguments": Overwrite([]),
        "scores": Overwrite(scores),
        "comparisons": Overwrite([]),
        "unheard": Overwrite([]),
        "blend": blend,
        "verdict": None,
    }


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
        """The claim is the root of the run's tree."""
        require(state, settings(runtime))
        tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "claim"})
        blend = settings(runtime).blend if tournament else 0.0
        return planted("0", state["question"], blend, runtime)

    builder = StateGraph(
        AdaptiveReasoningTree, context_schema=Context, input_schema=Question, output_schema=Ruling
    )
    builder.add_node("opening", opening)
    _grow_and_weigh(builder, weighing)
    builder.add_node("conclusion", conclusion)
    builder.add_edge("weighing", "conclusion")
    builder.add_edge("conclusion", END)
    return afresh(builder.compile(name=name))


def leaf_tree() -> CompiledStateGraph[AdaptiveReasoningTree, Context, Leaf, Weighing]:
    """The same at a leaf of another protocol, which draws the conclusion itself."""

    async def opening(state: Leaf, runtime: Runtime[Context]) -> Claimed:
        """The claim stands for the leaf."""
        name, claim = state["id"], state["claim"]
        tell(runtime, name, "noted", {"note": f"verified as a claim: {claim}"})
        return {**planted(name, claim, settings(runtime).blend, runtime), "question": claim}

    builder = StateGraph(
        AdaptiveReasoningTree, context_schema=Context, input_schema=Leaf, output_schema=Weighing
    )
    builder.add_node("opening", opening)
    _grow_and_weigh(builder, weighing_alone)
    builder.add_edge("weighing", END)
    return builder.compile(name="leaf_tree")


def _grow_and_weigh(
    builder: StateGraph[AdaptiveReasoningTree, Context, Any, Any], weighing: Node[ToWeigh, Weighing]
) -> None:
    """From the opening to the weights."""
    unscored: Scores = {"scores": []}
    builder.add_node("grow", argument_growth.grow)
    builder.add_node("claim_scorer", may_fail(claim_scorer, unscored))
    builder.add_node("weighing", weighing)
    builder.add_edge(START, "opening")
    builder.add_conditional_edges("opening", ruled(after_opening), ["grow", "claim_scorer"])
    builder.add_edge("grow", "weighing")
    builder.add_edge("claim_scorer", "weighing")


graph = adaptive_reasoning_tree("adaptive_reasoning_tree")
argllm = adaptive_reasoning_tree("argllm", tournament=False)
leaf = leaf_tree()
