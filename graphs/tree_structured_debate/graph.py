"""TSD, Tree-Structured Debate: split a question, debate the leaves, merge the verdicts upward.

Paper: Coordinating LLMs via Debate Trees (Fu and Gold), Algorithm 1. The tree is ``subtree``, the
debates at its leaves ``leaf``. In the second pass fresh debaters visit doubtful leaves again, and
the answers that rest on these leaves are merged again. All other verdicts stay, and serve as facts.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.flow.state import Question
from dialectree.flow.steps import require_question
from dialectree.graphs.tree_structured_debate import leaf, subtree
from dialectree.nodes.tree_structured_debate.answer_writer import answer_writer, as_it_stands, end_unresolved
from dialectree.nodes.tree_structured_debate.findings import reopening, weakest_leaves
from dialectree.nodes.tree_structured_debate.state import (
    Debated,
    Finding,
    Findings,
    Judged,
    SecondPass,
    Settings,
    TreeStructuredDebate,
)
from dialectree.protocols.inside import root


def after_reopening(state: SecondPass) -> Literal["leaf_again"] | list[Send]:
    """Debate a leaf that the second pass visits; else go on to each child that leads to such a leaf."""
    if state["id"] in state["leaves"]:
        return "leaf_again"
    return [
        Send("solve", _child(state, child["id"]))
        for child in state["findings"]
        if any(f"{name}.".startswith(f"{child['id']}.") for name in state["leaves"])
    ]


def _child(state: SecondPass, child: str) -> dict[str, object]:
    return {
        "id": child,
        "path": [*state["path"], state["question"]],
        "depth": state["depth"] + 1,
        "leaves": state["leaves"],
        "certified": state["certified"],
    }


async def solve(state: SecondPass, runtime: Runtime[Settings]) -> dict[str, list[Finding]]:
    """Solve one child by calling this graph itself."""
    outcome = await second_pass.ainvoke(state)
    return {"findings": [outcome["finding"]]}


async def leaf_again(state: Debated) -> Judged:
    """Let fresh debaters debate one leaf.

    A helper function calls the leaf's graph, to hide that graph from LangGraph: a Mermaid drawing
    with the same subgraph twice raises an error.
    """
    return await _leaf(state)


async def _leaf(state: Debated) -> Judged:
    outcome = await leaf.graph.ainvoke(state)
    return {"finding": outcome["finding"]}


flow = Flow(SecondPass, settings=Settings, input=SecondPass, output=Findings)
flow.step("reopening", reopening)
flow.step("solve", solve, calls_itself=True)
flow.step("leaf_again", leaf_again)
flow.graph("synthesis_again", subtree.synthesis_debate)

flow.then(START, "reopening")
flow.route("reopening", after_reopening, "solve")
flow.then("leaf_again", END)
flow.then("solve", "synthesis_again", END)
second_pass = flow.compile("second_pass")


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Make the question the root of a tree, with the whole budget of nodes."""
    require_question(state)
    return {"id": root(), "path": [], "depth": 0, "budget": runtime.context.max_nodes}


def after_tree(
    state: TreeStructuredDebate, settings: Settings
) -> Literal["weakest_leaves", "answer_writer", "unresolved"]:
    """Write the answer, or begin a second pass if the confidence is low."""
    if state["finding"]["answer"] is None:
        return "unresolved"
    confidence, threshold = state["finding"]["confidence"], settings.second_pass_below
    doubtful = confidence is not None and threshold is not None and confidence < threshold
    return "weakest_leaves" if doubtful else "answer_writer"


def after_answer_writer(state: TreeStructuredDebate) -> Literal["as_it_stands", "unresolved", "__end__"]:
    """Use the root's verdict if the text is missing; end unresolved if the text contradicts it."""
    if state.get("fault") == "contradicted":
        return "unresolved"
    return "as_it_stands" if state.get("fault") == "failed" else "__end__"


flow = Flow(TreeStructuredDebate, settings=Settings, input=Question, opening=opening)
flow.graph("tree", subtree.graph)
flow.step("weakest_leaves", weakest_leaves)
flow.graph("second_pass", second_pass)
flow.role(
    "answer_writer",
    answer_writer,
    on_failure={"fault": "failed"},
    on_contradiction={"fault": "contradicted"},
    evidence="cites",
)
flow.step("as_it_stands", as_it_stands)
flow.step("unresolved", end_unresolved)

flow.then(START, "tree")
flow.route("tree", after_tree)
flow.then("weakest_leaves", "second_pass", "answer_writer")
flow.route("answer_writer", after_answer_writer)
flow.then("as_it_stands", END)
flow.then("unresolved", END)
graph = flow.compile("tree_structured_debate")
