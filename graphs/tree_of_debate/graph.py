"""ToD, Tree-of-Debate: two papers debate a topic, part by part; what comes out is a comparison.

Paper: Tree-of-Debate: Multi-Persona Debate Trees Elicit Critical Thinking for Scientific
Comparative Analysis. The debate of a topic is ``topic_debate``; here the papers are taken up, and
the tree becomes a summary.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow, Graph
from dialectree.graphs.tree_of_debate.topic_debate import topic_debate
from dialectree.nodes.tree_of_debate.comparison import comparison
from dialectree.nodes.tree_of_debate.evidence import at_hand, contested
from dialectree.nodes.tree_of_debate.papers import authors, require
from dialectree.nodes.tree_of_debate.state import DebatedTopic, Papers, Settings, TreeOfDebate
from dialectree.nodes.tree_of_debate.topics import open_topic, root


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
        papers = contested(runtime, require(state))
        known = authors(papers, introduced=not deliberates)
        open_topic(root(state["question"], known), runtime)
        return {"authors": known}

    async def debate(
        state: TreeOfDebate, runtime: Runtime[Settings]
    ) -> dict[str, list[DebatedTopic]]:
        """Debate everything below the topic, with both papers at hand."""
        # A drawing shows the first graph by name that a step holds: the default must be it.
        topic: Graph = in_turn if runtime.context.turns == "alternating" else at_once
        async with at_hand(state, runtime):
            compared = await topic.ainvoke(root(state["question"], state["authors"]))
        debates = [one for one in compared["debates"] if one["positions"]]
        return {"debates": sorted(debates, key=lambda one: [*map(int, one["id"].split("."))])}

    flow = Flow(TreeOfDebate, settings=Settings, input=Papers, opening=opening)
    flow.step("debate", debate)
    flow.role("comparison", comparison, required=True)
    flow.then(START, "debate")
    flow.route("debate", after_debate)
    flow.then("comparison", END)
    return flow.compile(name)


graph = tree_of_debate("tree_of_debate")
no_tree = tree_of_debate("no_tree", splits=False)
no_self_deliberation = tree_of_debate("no_self_deliberation", deliberates=False)
