"""ToD, Tree-of-Debate: two papers debate a topic, part by part; what comes out is a comparison.

Paper: Tree-of-Debate: Multi-Persona Debate Trees Elicit Critical Thinking for Scientific
Comparative Analysis. The debate of a topic is ``topic_debate``; here the papers are taken up, and
the tree becomes a summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.errors import InputError
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_of_debate.topic_debate import Compiled, opened, topic_debate
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.kinds import Node
from dialectree.nodes.opening import require_question
from dialectree.nodes.tree_of_debate.comparison import comparison
from dialectree.nodes.tree_of_debate.evidence import at_hand, contested
from dialectree.nodes.tree_of_debate.papers import PaperGiven, authors, sources
from dialectree.nodes.tree_of_debate.topics import Author, Debated, Letter, Topic
from dialectree.state import Debate, Question, Ruling, Unruled
from dialectree.steps import conclusion, unresolved


class Papers(Question):
    """Two papers, and the topic to compare them on as the question."""

    papers: list[PaperGiven]


class TreeOfDebate(Debate, Papers):
    """Two papers and what their personas said."""

    authors: dict[Letter, Author]
    debates: list[Debated]
    failed: bool
    """True when the summary did."""


class Opened(Unruled):
    """What a comparison begins with, whatever a host's thread still holds of an earlier one."""

    authors: dict[Letter, Author]
    debates: list[Debated]
    failed: bool


class Held(TypedDict):
    """What the debates leave."""

    debates: list[Debated]


def require(given: Mapping[str, Any], context: Context) -> None:
    """InputError where there is no topic, no two papers to compare, or no depth to do it at."""
    require_question(given, "topic")
    sources(given.get("papers") or [])
    if context.topic_depth() < 1:
        raise InputError("--max-depth 0: two papers debate the parts of a topic, at depth 1")


def after_debate(state: TreeOfDebate) -> Literal["comparison", "unresolved"]:
    """Without a single argument there is nothing to compare."""
    return "comparison" if state["debates"] else "unresolved"


def after_comparison(state: TreeOfDebate) -> Literal["unresolved", "conclusion"]:
    """Without a summary there is no answer."""
    return "unresolved" if state.get("failed") else "conclusion"


def tree_of_debate(
    name: str, *, deliberates: bool = True, splits: bool = True
) -> CompiledStateGraph[TreeOfDebate, Context, Papers, Ruling]:
    """The protocol, or an ablation of it: without self-deliberation, or without a tree."""
    at_once = topic_debate(f"{name}_topic", deliberates=deliberates, splits=splits)
    in_turn = topic_debate(
        f"{name}_topic_in_turn", alternating=True, deliberates=deliberates, splits=splits
    )

    async def opening(state: Papers, runtime: Runtime[Context]) -> Opened:
        """The topic is the root of the run's tree."""
        require(state, settings(runtime))
        papers = contested(runtime, sources(state["papers"]))
        known = authors(papers, introduced=not deliberates)
        opened(_root(state["question"], known), runtime)
        return {"authors": known, "debates": [], "verdict": None, "failed": False}

    async def debate(state: TreeOfDebate, runtime: Runtime[Context]) -> Held:
        """Everything below the topic, with both papers at hand."""
        # A drawing shows the first graph by name that a step holds: the default must be it.
        topic: Compiled = in_turn if settings(runtime).turns == "alternating" else at_once
        root = _root(state["question"], state["authors"])
        async with at_hand(runtime, sources(state["papers"]), searched=deliberates):
            compared = await topic.ainvoke(root)
        debates = [one for one in compared["debates"] if one["positions"]]
        return {"debates": sorted(debates, key=lambda one: _place(one["id"]))}

    async def summary(state: TreeOfDebate, runtime: Runtime[Context]) -> Ruling:
        """The tree, as a comparison; its quotations are looked up in both papers."""
        async with at_hand(runtime, sources(state["papers"]), searched=deliberates):
            return await comparison(
                {
                    "question": state["question"],
                    "authors": state["authors"],
                    "debates": state["debates"],
                    "searched": deliberates,
                },
                runtime,
            )

    said: Node[TreeOfDebate, Ruling] = summary
    builder = StateGraph(
        TreeOfDebate, context_schema=Context, input_schema=Papers, output_schema=Ruling
    )
    builder.add_node("opening", opening)
    builder.add_node("debate", debate)
    builder.add_node("comparison", may_fail(said, FAILED))
    builder.add_node("unresolved", unresolved)
    builder.add_node("conclusion", conclusion)
    builder.add_edge(START, "opening")
    builder.add_edge("opening", "debate")
    builder.add_conditional_edges("debate", ruled(after_debate))
    builder.add_conditional_edges("comparison", ruled(after_comparison))
    builder.add_edge("unresolved", "conclusion")
    builder.add_edge("conclusion", END)
    return afresh(builder.compile(name=name))


def _root(question: str, known: dict[Letter, Author]) -> Topic:
    return {
        "id": "0",
        "question": question,
        "title": question,
        "description": "",
        "depth": 0,
        "authors": known,
        "claims": [],
        "pools": [],
        "raised_by": [],
        "open_questions": [],
    }


def _place(node: str) -> list[int]:
    return [int(part) for part in node.split(".")]


graph = tree_of_debate("tree_of_debate")
no_tree = tree_of_debate("no_tree", splits=False)
no_self_deliberation = tree_of_debate("no_self_deliberation", deliberates=False)
