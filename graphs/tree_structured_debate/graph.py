"""TSD, Tree-Structured Debate: split a question, debate the leaves, merge the verdicts upward.

Paper: Coordinating LLMs via Debate Trees (Fu and Gold), Algorithm 1. The tree is ``subtree``, the
debates at its leaves and inner nodes are ``leaf_debate`` and ``synthesis_debate``; ``second_pass``
visits doubtful leaves again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_structured_debate import second_pass, subtree
from dialectree.nodes.failures import CONTRADICTED, FAILED, may_fail
from dialectree.nodes.kinds import Finding, is_leaf, merge_findings, standing
from dialectree.nodes.opening import require_question
from dialectree.nodes.tree_structured_debate.answer_writer import (
    answer_writer,
    as_it_stands,
    unresolved,
)
from dialectree.state import Debate, Question, Ruling, Unruled
from dialectree.steps import conclusion


class TreeStructuredDebate(Debate, subtree.Position):
    """The debate at its root."""

    finding: Annotated[Finding, standing]
    """What the whole tree found."""
    findings: Annotated[list[Finding], merge_findings]
    """What the root's children found."""
    certified: Annotated[list[Finding], merge_findings]
    """What all below the root found; kept only where a second pass may need it."""
    leaves: list[str]
    """Those that a second pass visits."""
    failed: bool
    """True when the answer writer failed for good."""
    contradicted: bool
    """True when its text did not name the side that the debate settled."""


class Opened(subtree.Position, Unruled):
    """What a question begins with, whatever a host's thread still holds of an earlier one."""

    finding: Overwrite
    findings: Overwrite
    certified: Overwrite
    failed: bool
    contradicted: bool


async def opening(state: Question, runtime: Runtime[Context]) -> Opened:
    """The question becomes the root of a tree, with the whole budget of nodes."""
    require_question(state)
    return {
        "id": "0",
        "path": [],
        "depth": 0,
        "budget": settings(runtime).max_nodes,
        "finding": Overwrite({}),
        "findings": Overwrite([]),
        "certified": Overwrite([]),
        "verdict": None,
        "failed": False,
        "contradicted": False,
    }


def after_tree(
    state: TreeStructuredDebate, runtime: Runtime[Context]
) -> Literal["weakest_leaves", "answer_writer", "unresolved"]:
    """Write, unless nothing was found or the confidence calls for a second pass."""
    if state["finding"]["answer"] is None:
        return "unresolved"
    confidence, threshold = state["finding"]["confidence"], settings(runtime).second_pass_below
    doubtful = confidence is not None and threshold is not None and confidence < threshold
    return "weakest_leaves" if doubtful else "answer_writer"


class FirstPass(TypedDict):
    """All that the first pass found."""

    finding: Finding
    certified: list[Finding]


class Doubtful(TypedDict):
    """What the second pass is to visit, and what it may rely on."""

    leaves: list[str]
    certified: list[Finding]


async def weakest_leaves(state: FirstPass, runtime: Runtime[Context]) -> Doubtful:
    """The leaves with the least confidence; of two alike the first in the tree."""
    certified = [state["finding"], *state["certified"]]
    leaves = sorted(filter(is_leaf, certified), key=lambda leaf: leaf["confidence"] or 0.0)
    most = settings(runtime).second_pass_leaves
    return {"leaves": [leaf["id"] for leaf in leaves[:most]], "certified": certified}


def after_answer_writer(
    state: TreeStructuredDebate,
) -> Literal["as_it_stands", "unresolved", "conclusion"]:
    """Without a writer the root's verdict is the answer; a text that contradicts it is none."""
    if state.get("contradicted"):
        return "unresolved"
    return "as_it_stands" if state.get("failed") else "conclusion"


builder = StateGraph(
    TreeStructuredDebate, context_schema=Context, input_schema=Question, output_schema=Ruling
)
builder.add_node("opening", opening)
builder.add_node("tree", subtree.graph)
builder.add_node("weakest_leaves", weakest_leaves)
builder.add_node("second_pass", second_pass.graph)
builder.add_node("answer_writer", may_fail(answer_writer, FAILED, contradicted=CONTRADICTED))
builder.add_node("as_it_stands", as_it_stands)
builder.add_node("unresolved", unresolved)
builder.add_node("conclusion", conclusion)
builder.add_edge(START, "opening")
builder.add_edge("opening", "tree")
builder.add_conditional_edges("tree", ruled(after_tree))
builder.add_edge("weakest_leaves", "second_pass")
builder.add_edge("second_pass", "answer_writer")
builder.add_conditional_edges("answer_writer", ruled(after_answer_writer))
builder.add_edge("as_it_stands", "conclusion")
builder.add_edge("unresolved", "conclusion")
builder.add_edge("conclusion", END)

graph: CompiledStateGraph[TreeStructuredDebate, Context, Question, Ruling] = afresh(
    builder.compile(name="tree_structured_debate")
)
