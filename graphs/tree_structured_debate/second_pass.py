"""The second pass of TSD: fresh debaters visit a few leaves; what rests on them is merged again.

Like ``subtree`` this graph calls itself, for each child on the way to a leaf that it visits. All
other verdicts stay as they are, and serve as facts.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.flow import Flow
from dialectree.graphs.tree_structured_debate import leaf, synthesis_debate
from dialectree.nodes.tree_structured_debate.findings import Finding, Judged
from dialectree.nodes.tree_structured_debate.second_pass import reopening
from dialectree.nodes.tree_structured_debate.state import (
    Findings,
    Leaf,
    Revisit,
    SecondPass,
    Settings,
)


def after_reopening(state: SecondPass) -> Literal["leaf_again"] | list[Send]:
    """Debate a leaf that is to be visited; else go on to each child on the way to one."""
    if state["id"] in state["leaves"]:
        return "leaf_again"
    return [
        Send("solve", _child(state, child["id"]))
        for child in state["findings"]
        if any(f"{name}.".startswith(f"{child['id']}.") for name in state["leaves"])
    ]


def _child(state: SecondPass, child: str) -> Revisit:
    return {
        "id": child,
        "path": [*state["path"], state["question"]],
        "depth": state["depth"] + 1,
        "leaves": state["leaves"],
        "certified": state["certified"],
    }


async def solve(state: Revisit, runtime: Runtime[Settings]) -> dict[str, list[Finding]]:
    """Solve one child by this very graph."""
    outcome = await graph.ainvoke(state)
    return {"findings": [outcome["finding"]]}


async def leaf_again(state: Leaf) -> Judged:
    """Let fresh debaters debate one leaf.

    A helper calls the graph, where LangGraph does not look for subgraphs: a Mermaid drawing that
    holds a subgraph twice raises.
    """
    return await _leaf(state)


async def _leaf(state: Leaf) -> Judged:
    outcome = await leaf.graph.ainvoke(state)
    return {"finding": outcome["finding"]}


flow = Flow(SecondPass, settings=Settings, input=Revisit, output=Findings)
flow.step("reopening", reopening)
flow.step("solve", solve, calls_itself=True)
flow.step("leaf_again", leaf_again)
flow.graph("synthesis_again", synthesis_debate.graph)

flow.then(START, "reopening")
flow.route("reopening", after_reopening, "solve")
flow.then("leaf_again", END)
flow.then("solve", "synthesis_again", END)
graph = flow.compile("second_pass")
