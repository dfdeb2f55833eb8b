"""TSD, Tree-Structured Debate: split a question, debate the leaves, merge the verdicts upward.

Paper: Coordinating LLMs via Debate Trees (Fu and Gold), Algorithm 1. The tree is ``subtree``, the
debates at its leaves and inner nodes are ``leaf_debate`` and ``synthesis_debate``; ``second_pass``
visits doubtful leaves again.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow
from dialectree.flow.state import Question
from dialectree.flow.steps import require_question
from dialectree.graphs.tree_structured_debate import second_pass, subtree
from dialectree.nodes.tree_structured_debate.answer_writer import (
    answer_writer,
    as_it_stands,
    unresolved,
)
from dialectree.nodes.tree_structured_debate.second_pass import weakest_leaves
from dialectree.nodes.tree_structured_debate.state import Settings, TreeStructuredDebate
from dialectree.protocols.settings import settings


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Make the question the root of a tree, with the whole budget of nodes."""
    require_question(state)
    return {"id": "0", "path": [], "depth": 0, "budget": settings(runtime, Settings).max_nodes}


def after_tree(
    state: TreeStructuredDebate, settings: Settings
) -> Literal["weakest_leaves", "answer_writer", "unresolved"]:
    """Write, unless there is no answer or the confidence calls for a second pass."""
    if state["finding"]["answer"] is None:
        return "unresolved"
    confidence, threshold = state["finding"]["confidence"], settings.second_pass_below
    doubtful = confidence is not None and threshold is not None and confidence < threshold
    return "weakest_leaves" if doubtful else "answer_writer"


def after_answer_writer(
    state: TreeStructuredDebate,
) -> Literal["as_it_stands", "unresolved", "__end__"]:
    """Without a text the root's verdict is the answer; a text that contradicts it is none."""
    if state.get("fault") == "contradicted":
        return "unresolved"
    return "as_it_stands" if state.get("fault") == "failed" else "__end__"


flow = Flow(TreeStructuredDebate, settings=Settings, input=Question, opening=opening)
flow.graph("tree", subtree.graph)
flow.step("weakest_leaves", weakest_leaves)
flow.graph("second_pass", second_pass.graph)
flow.role(
    "answer_writer",
    answer_writer,
    on_failure={"fault": "failed"},
    on_contradiction={"fault": "contradicted"},
)
flow.step("as_it_stands", as_it_stands)
flow.step("unresolved", unresolved)

flow.then(START, "tree")
flow.route("tree", after_tree)
flow.then("weakest_leaves", "second_pass", "answer_writer")
flow.route("answer_writer", after_answer_writer)
flow.then("as_it_stands", END)
flow.then("unresolved", END)
graph = flow.compile("tree_structured_debate")
