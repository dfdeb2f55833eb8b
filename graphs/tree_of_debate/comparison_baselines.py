"""ToD's baselines: two papers compared in one call, or by way of a summary of each.

Paper: Tree-of-Debate, section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from dialectree.context import Context, settings
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.graphs.tree_of_debate.graph import Papers
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.opening import Afresh, require_question
from dialectree.nodes.opening import opening as opened
from dialectree.nodes.tree_of_debate.comparer import (
    Summarised,
    paper_comparer,
    summariser,
    summary_comparer,
)
from dialectree.nodes.tree_of_debate.papers import authors, sources
from dialectree.nodes.tree_of_debate.topics import Author, Letter
from dialectree.state import Debate, Ruling
from dialectree.steps import conclusion, unresolved


class Comparison(Debate, Papers, Summarised):
    """Two papers, and what was said of each."""

    authors: dict[Letter, Author]
    failed: bool
    """True when the comparison did."""


class Opened(Afresh):
    """What a comparison begins with, whatever a host's thread still holds of an earlier one."""

    authors: dict[Letter, Author]
    summaries: Overwrite


def require(given: Mapping[str, Any], context: Context) -> None:
    """InputError where there is no topic, or no two papers to compare."""
    require_question(given, "topic")
    sources(given.get("papers") or [])


async def opening(state: Papers, runtime: Runtime[Context]) -> Opened:
    """Both papers, each with its introduction."""
    require(state, settings(runtime))
    known = authors(sources(state["papers"]), introduced=True)
    afresh = await opened(state, runtime)
    return {"authors": known, "summaries": Overwrite([]), **afresh}


def after_summarisers(state: Comparison) -> Literal["comparer", "unresolved"]:
    """Half a comparison is none."""
    return "comparer" if len(state["summaries"]) == 2 else "unresolved"


def after_comparer(state: Comparison) -> Literal["unresolved", "conclusion"]:
    """Without a comparison there is no answer."""
    return "unresolved" if state.get("failed") else "conclusion"


def _baseline(
    name: str, *, stages: Literal[1, 2]
) -> CompiledStateGraph[Comparison, Context, Papers, Ruling]:
    builder = StateGraph(
        Comparison, context_schema=Context, input_schema=Papers, output_schema=Ruling
    )
    builder.add_node("opening", opening)
    builder.add_node("unresolved", unresolved)
    builder.add_node("conclusion", conclusion)
    builder.add_edge(START, "opening")
    builder.add_edge("unresolved", "conclusion")
    builder.add_edge("conclusion", END)
    if stages == 1:
        builder.add_node("comparer", may_fail(paper_comparer, FAILED))
        builder.add_edge("opening", "comparer")
    else:
        _two_stages(builder)
    builder.add_conditional_edges("comparer", ruled(after_comparer))
    return afresh(builder.compile(name=name))


def _two_stages(builder: StateGraph[Comparison, Context, Any, Any]) -> None:
    unsaid: Summarised = {"summaries": []}
    builder.add_node("summariser_a", may_fail(summariser("a"), unsaid))
    builder.add_node("summariser_b", may_fail(summariser("b"), unsaid))
    builder.add_node("comparer", may_fail(summary_comparer, FAILED))
    builder.add_node("summaries", both_there)
    builder.add_edge("opening", "summariser_a")
    builder.add_edge("opening", "summariser_b")
    builder.add_edge(["summariser_a", "summariser_b"], "summaries")
    builder.add_conditional_edges("summaries", ruled(after_summarisers))


async def both_there(state: Summarised) -> None:
    """Waits for both summaries: a rule after either alone would be asked twice."""


single_stage = _baseline("single_stage", stages=1)
two_stage = _baseline("two_stage", stages=2)
