"""The second pass of TSD: fresh debaters visit a few leaves; what rests on them is merged again.

Like ``subtree`` this graph calls itself, for each child on the way to a leaf that it visits. All
other verdicts stay as they are, and serve as facts.
"""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree.context import Context
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_structured_debate import leaf, leaf_debate, synthesis_debate
from dialectree.models.run import run_of
from dialectree.nodes.kinds import SAME_GRAPH, Finding, Judged, is_leaf, merge_findings, parent


class Revisit(TypedDict):
    """A node of the tree that rests on a leaf to be visited, or is one."""

    id: str
    path: list[str]
    """The questions from the root down to its parent."""
    depth: int
    leaves: list[str]
    """The leaves to visit."""
    certified: list[Finding]
    """All that the first pass found."""


class Refound(Judged):
    """What the second pass hands upward."""

    findings: Annotated[list[Finding], merge_findings]
    """Those of its children, new and old."""


class SecondPass(Revisit, Refound):
    """One node of the tree while it is visited again."""

    question: str
    take: int
    facts: list[str]
    """What the other leaves settled."""
    unclear: list[str]
    """What the question leaves open."""


class Reopened(TypedDict):
    """What a node begins the second pass with."""

    question: str
    take: int
    facts: list[str]
    unclear: list[str]
    findings: list[Finding]


class Solved(TypedDict):
    """What one child adds."""

    findings: list[Finding]


async def reopening(state: Revisit) -> Reopened:
    """Takes a question up again, with what the first pass found here, below and elsewhere."""
    certified = state["certified"]
    first = next(finding for finding in certified if finding["id"] == state["id"])
    others = [f for f in certified if is_leaf(f) and f["id"] not in state["leaves"]]
    return {
        "question": first["question"],
        "take": 2,
        "facts": [f"{finding['question']} {finding['answer']}" for finding in others],
        "unclear": first["unclear"],
        "findings": [f for f in certified if parent(f["id"]) == state["id"]],
    }


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


async def solve(state: Revisit, runtime: Runtime[Context]) -> Solved:
    """One child, by this very graph."""
    await run_of(runtime).baton.take(state["id"])
    found = await graph.ainvoke(state)
    return {"findings": [found["finding"]]}


async def leaf_again(state: leaf_debate.Leaf) -> Judged:
    """One leaf, by fresh debaters.

    Its graph is called by a helper, where LangGraph does not look for subgraphs: a Mermaid drawing
    that holds a subgraph twice raises.
    """
    return await _leaf(state)


async def _leaf(state: leaf_debate.Leaf) -> Judged:
    found = await leaf.graph.ainvoke(state)
    return {"finding": found["finding"]}


builder = StateGraph(
    SecondPass, context_schema=Context, input_schema=Revisit, output_schema=Refound
)
builder.add_node("reopening", reopening)
builder.add_node("solve", solve, metadata=SAME_GRAPH)
builder.add_node("leaf_again", leaf_again)
builder.add_node("synthesis_again", synthesis_debate.graph)
builder.add_edge(START, "reopening")
builder.add_conditional_edges("reopening", ruled(after_reopening), ["solve", "leaf_again"])
builder.add_edge("leaf_again", END)
builder.add_edge("solve", "synthesis_again")
builder.add_edge("synthesis_again", END)

graph: CompiledStateGraph[SecondPass, Context, Revisit, Refound] = builder.compile(
    name="second_pass"
)
