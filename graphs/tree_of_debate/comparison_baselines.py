"""ToD's baselines: two papers compared in one call, or by way of a summary of each.

Paper: Tree-of-Debate, section 4.2.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow, Graph
from dialectree.flow.steps import opening as usual_opening
from dialectree.nodes.tree_of_debate.comparer import comparer, summariser
from dialectree.nodes.tree_of_debate.papers import authors, require
from dialectree.nodes.tree_of_debate.state import Comparison, Papers, Settings


async def opening(state: Papers, runtime: Runtime[Settings]) -> dict[str, object]:
    """Take both papers up, each with its introduction."""
    return {
        "authors": authors(require(state), introduced=True),
        **await usual_opening(state, runtime),
    }


def after_summaries(state: Comparison) -> Literal["comparer", "unresolved"]:
    """A comparison needs both summaries."""
    return "comparer" if len(state["summaries"]) == 2 else "unresolved"


def one_call() -> Graph:
    """Return the baseline that reads both introductions."""
    flow = Flow(Comparison, settings=Settings, input=Papers, opening=opening)
    flow.role("comparer", comparer("single_stage/comparer"), required=True)
    flow.then(START, "comparer", END)
    return flow.compile("single_stage")


def by_summaries() -> Graph:
    """Return the baseline that reads a summary of each paper."""
    flow = Flow(Comparison, settings=Settings, input=Papers, opening=opening)
    flow.role("summariser_a", summariser("a"))
    flow.role("summariser_b", summariser("b"))
    flow.step("summaries")
    flow.role("comparer", comparer("two_stage/comparer", step=1), required=True)
    flow.then(START, ("summariser_a", "summariser_b"), "summaries")
    flow.route("summaries", after_summaries)
    flow.then("comparer", END)
    return flow.compile("two_stage")


single_stage = one_call()
two_stage = by_summaries()
