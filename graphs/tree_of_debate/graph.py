"""ToD, Tree-of-Debate: two papers debate a topic, part by part; what comes out is a comparison.

Paper: Tree-of-Debate: Multi-Persona Debate Trees Elicit Critical Thinking for Scientific
Comparative Analysis. The debate of a topic is ``topic_debate``; here the papers are taken up, and
the tree becomes a summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.context import settings
from dialectree.flow import Flow, Graph
from dialectree.graphs.tree_of_debate.topic_debate import topic_debate
from dialectree.nodes.tree_of_debate.branching import opened
from dialectree.nodes.tree_of_debate.comparison import comparison
from dialectree.nodes.tree_of_debate.evidence import at_hand, contested
from dialectree.nodes.tree_of_debate.papers import PARTS, as_data, authors, read_paper, sources
from dialectree.nodes.tree_of_debate.state import Papers, Settings, TreeOfDebate
from dialectree.nodes.tree_of_debate.topics import LETTERS, Author, Debated, Letter, Topic
from dialectree.state import Ruling
from dialectree.steps import require_question


def require(given: Mapping[str, Any]) -> None:
    """Raise InputError if there is no topic, or no two papers."""
    require_question(given, "topic")
    sources(given.get("papers") or [])


def prepare(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Read both papers; return them and the topic as the graphs take them."""
    parts = {letter: [given.get(f"{part}_{letter}") for part in PARTS] for letter in LETTERS}
    papers = [read_paper(letter, *of_it) for letter, of_it in parts.items()]
    require_question({"question": given["topic"]}, "topic")
    known = sources(papers).items()
    return {
        "question": given["topic"],
        "papers": [as_data(source.paper, given.get(f"key_{letter}")) for letter, source in known],
    }


def after_debate(state: TreeOfDebate) -> Literal["comparison", "unresolved"]:
    """Without a single argument there is nothing to compare."""
    return "comparison" if state["debates"] else "unresolved"


def tree_of_debate(name: str, *, deliberates: bool = True, splits: bool = True) -> Graph:
    """Return the protocol, or an ablation: without self-deliberation, or without a tree."""
    at_once = topic_debate(f"{name}_topic", deliberates=deliberates, splits=splits)
    in_turn = topic_debate(
        f"{name}_topic_in_turn", alternating=True, deliberates=deliberates, splits=splits
    )

    async def opening(state: Papers, runtime: Runtime[Settings]) -> dict[str, object]:
        """Make the topic the root of the run's tree."""
        require(state)
        papers = contested(runtime, sources(state["papers"]))
        known = authors(papers, introduced=not deliberates)
        opened(_root(state["question"], known), runtime)
        return {"authors": known, "debates": []}

    async def debate(state: TreeOfDebate, runtime: Runtime[Settings]) -> dict[str, list[Debated]]:
        """Debate everything below the topic, with both papers at hand."""
        # A drawing shows the first graph by name that a step holds: the default must be it.
        topic: Graph = in_turn if settings(runtime, Settings).turns == "alternating" else at_once
        root = _root(state["question"], state["authors"])
        async with at_hand(runtime, sources(state["papers"]), searched=deliberates):
            compared = await topic.ainvoke(root)
        debates = [one for one in compared["debates"] if one["positions"]]
        return {"debates": sorted(debates, key=lambda one: _place(one["id"]))}

    async def summary(state: TreeOfDebate, runtime: Runtime[Settings]) -> Ruling:
        """Compare the papers by the tree; quotations are looked up in both."""
        async with at_hand(runtime, sources(state["papers"]), searched=deliberates):
            return await comparison(state, runtime, searched=deliberates)

    flow = Flow(TreeOfDebate, settings=Settings, input=Papers, opening=opening)
    flow.step("debate", debate)
    flow.role("comparison", summary, required=True)
    flow.then(START, "debate")
    flow.route("debate", after_debate)
    flow.then("comparison", END)
    return flow.compile(name)


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
