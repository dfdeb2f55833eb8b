"""One question of a TSD tree and all below it: the same graph, calling itself for each child.

Each instance waits for its own children only, so a tree takes no longer than its longest branch.
"""

from __future__ import annotations

from typing import Annotated, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree import state as shared
from dialectree.context import Context, settings
from dialectree.events import tell
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_structured_debate import leaf, synthesis_debate
from dialectree.maths.tree import children_that_fit, hardest, shares
from dialectree.models.run import run_of
from dialectree.nodes.failures import may_fail
from dialectree.nodes.kinds import SAME_GRAPH, Finding, Judged, merge_findings, parent
from dialectree.nodes.tree_structured_debate.clarification import clarification
from dialectree.nodes.tree_structured_debate.complexity_evaluator import complexity_evaluator
from dialectree.nodes.tree_structured_debate.decomposer import Drafted, Split, Why, decomposer
from dialectree.nodes.tree_structured_debate.decomposition_judge import decomposition_judge
from dialectree.nodes.tree_structured_debate.repetitions import repetitions


class Position(TypedDict):
    """Where in the tree a question stands."""

    id: str
    """Its path: ``0``, ``0.2``, ``0.2.1``."""
    path: list[str]
    """The questions from the root down to its parent."""
    depth: int
    budget: int
    """Nodes that the subtree may have, this one included."""


class Question(shared.Question, Position):
    """One question of the tree."""


class Found(Judged):
    """What a subtree hands upward."""

    findings: Annotated[list[Finding], merge_findings]
    """Those of its children."""
    certified: Annotated[list[Finding], merge_findings]
    """Those of all its descendants; kept only where a second pass may need them."""


class Subtree(Question, Found):
    """One question of the tree while it is worked on."""

    take: int
    """1: the first pass."""
    facts: list[str]
    """None in the first pass."""
    attempt: int
    """1, or 2 once the person was asked what the question means."""
    unclear: list[str]
    """What the question leaves open."""
    stopped: Why | None
    canonical: str
    drafted: list[Drafted]
    difficulty: list[float]
    """Of each drafted child; none where nobody rated them."""
    children: list[Question]


class Opened(TypedDict):
    """What a question begins with."""

    take: int
    facts: list[str]
    attempt: int
    unclear: list[str]
    stopped: Why | None
    difficulty: list[float]


class Branched(TypedDict):
    """What branching leaves."""

    children: list[Question]


class Solved(TypedDict):
    """What one child adds."""

    findings: list[Finding]
    certified: list[Finding]


async def opening(state: Question, runtime: Runtime[Context]) -> Opened:
    """Takes a question up. At the depth limit, or without a budget for two children: a leaf."""
    told = {"text": state["question"], "depth": state["depth"], "parent": parent(state["id"])}
    tell(runtime, state["id"], "opened", told)
    stopped: Why | None = None
    if state["depth"] >= settings(runtime).depth_limit():
        stopped = "max_depth"
    elif not children_that_fit(state["budget"], 2):
        stopped = "node_budget"
    return {
        "take": 1,
        "facts": [],
        "attempt": 1,
        "unclear": [],
        "stopped": stopped,
        "difficulty": [],
    }


def after_opening(state: Subtree) -> Literal["decomposer", "stop"]:
    """A leaf by depth or budget costs no call."""
    return "stop" if state["stopped"] else "decomposer"


def after_decomposer(state: Subtree) -> Literal["decomposition_judge", "stop"]:
    """Nothing to split: a leaf."""
    return "stop" if state["stopped"] else "decomposition_judge"


def after_decomposition_judge(
    state: Subtree, runtime: Runtime[Context]
) -> Literal["complexity_evaluator", "branching", "stop"]:
    """Fixed depth asks nobody how hard the parts are."""
    if state["stopped"]:
        return "stop"
    fixed = settings(runtime).depth_profile == "fixed"
    return "branching" if fixed else "complexity_evaluator"


def after_complexity_evaluator(
    state: Subtree, runtime: Runtime[Context]
) -> Literal["clarification", "branching", "stop"]:
    """Ask the person once, if one is there; else split, or stop where the parts are easy."""
    if state["unclear"] and state["attempt"] == 1 and settings(runtime).ask:
        return "clarification"
    return "stop" if state["stopped"] else "branching"


def after_clarification(state: Subtree) -> Literal["decomposer", "branching", "stop"]:
    """A clarified question is split anew; without an answer it stays as the evaluator left it."""
    if not state["unclear"]:
        return "decomposer"
    return "stop" if state["stopped"] else "branching"


async def stop(state: Subtree, runtime: Runtime[Context]) -> None:
    """Tells why expansion ends here."""
    tell(runtime, state["id"], "stopped", {"why": state["stopped"]})


async def branching(state: Subtree, runtime: Runtime[Context]) -> Branched:
    """Keeps as many children as fit: the hardest if they were rated, else the first."""
    drafted, wanted = state["drafted"], settings(runtime).max_children
    count = children_that_fit(state["budget"], min(len(drafted), wanted))
    kept = hardest(state["difficulty"] or [0.0] * len(drafted), count)
    path = [*state["path"], state["question"]]
    children: list[Question] = [
        {
            "id": f"{state['id']}.{n}",
            "question": drafted[place]["text"],
            "path": path,
            "depth": state["depth"] + 1,
            "budget": budget,
        }
        for n, (place, budget) in enumerate(zip(kept, shares(state["budget"], count), strict=True))
    ]
    for note in repetitions(children, state["question"], state["id"]):
        tell(runtime, state["id"], "noted", {"note": note})
    tell(runtime, state["id"], "branched", {"children": [child["id"] for child in children]})
    return {"children": children}


def after_branching(state: Subtree) -> list[Send]:
    """The same graph for each child, all at once."""
    return [Send("solve", child) for child in state["children"]]


async def solve(state: Question, runtime: Runtime[Context]) -> Solved:
    """One child, by this very graph."""
    await run_of(runtime).baton.take(state["id"])
    found = await graph.ainvoke(state)
    finding: Finding = found["finding"]
    if settings(runtime).second_pass_below is None:
        return {"findings": [finding], "certified": []}
    return {"findings": [finding], "certified": [finding, *found["certified"]]}


failed: Split = {"stopped": "failed"}

builder = StateGraph(Subtree, context_schema=Context, input_schema=Question, output_schema=Found)
builder.add_node("opening", opening)
builder.add_node("decomposer", may_fail(decomposer, failed))
builder.add_node("decomposition_judge", may_fail(decomposition_judge, failed))
builder.add_node("complexity_evaluator", may_fail(complexity_evaluator, failed))
builder.add_node("clarification", clarification)
builder.add_node("branching", branching)
builder.add_node("solve", solve, metadata=SAME_GRAPH)
builder.add_node("synthesis", synthesis_debate.graph)
builder.add_node("stop", stop)
builder.add_node("leaf", leaf.graph)
builder.add_edge(START, "opening")
builder.add_conditional_edges("opening", ruled(after_opening))
builder.add_conditional_edges("decomposer", ruled(after_decomposer))
builder.add_conditional_edges("decomposition_judge", ruled(after_decomposition_judge))
builder.add_conditional_edges("complexity_evaluator", ruled(after_complexity_evaluator))
builder.add_conditional_edges("clarification", ruled(after_clarification))
builder.add_conditional_edges("branching", ruled(after_branching), ["solve"])
builder.add_edge("solve", "synthesis")
builder.add_edge("synthesis", END)
builder.add_edge("stop", "leaf")
builder.add_edge("leaf", END)

graph: CompiledStateGraph[Subtree, Context, Question, Found] = builder.compile(name="subtree")
