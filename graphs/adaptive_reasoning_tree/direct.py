"""Direct and chain-of-thought verification: one model, one claim, yes or no. Baselines of ART.

Paper: ART: Adaptive Reasoning Trees, Experiments (Direct Prompting, Chain-of-Thought).
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from dialectree.context import Context, settings
from dialectree.graphs.adaptive_reasoning_tree.graph import require
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.nodes.adaptive_reasoning_tree.verifier import reasoning_verifier, verifier
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.kinds import Node
from dialectree.nodes.opening import Afresh
from dialectree.nodes.opening import opening as opened
from dialectree.state import Debate, Question, Ruling
from dialectree.steps import conclusion, unresolved


class Direct(Debate):
    """A claim and what is ruled on it; ``question`` holds the claim."""

    failed: bool


async def opening(state: Question, runtime: Runtime[Context]) -> Afresh:
    """The claim; a question is refused."""
    require(state, settings(runtime))
    return await opened(state, runtime)


def after_verifier(state: Direct) -> Literal["unresolved", "conclusion"]:
    """Without a reply there is no label."""
    return "unresolved" if state.get("failed") else "conclusion"


def direct(
    name: str, verifier: Node[Question, Ruling]
) -> CompiledStateGraph[Direct, Context, Question, Ruling]:
    """One call of ``verifier``."""
    builder = StateGraph(
        Direct, context_schema=Context, input_schema=Question, output_schema=Ruling
    )
    builder.add_node("opening", opening)
    builder.add_node("verifier", may_fail(verifier, FAILED))
    builder.add_node("unresolved", unresolved)
    builder.add_node("conclusion", conclusion)
    builder.add_edge(START, "opening")
    builder.add_edge("opening", "verifier")
    builder.add_conditional_edges("verifier", ruled(after_verifier))
    builder.add_edge("unresolved", "conclusion")
    builder.add_edge("conclusion", END)
    return afresh(builder.compile(name=name))


graph = direct("direct", verifier)
cot = direct("cot", reasoning_verifier)
