"""ToD, Tree-of-Debate: two papers debate a topic, part by part; the result is a comparison.

Paper: Tree-of-Debate: Multi-Persona Debate Trees Elicit Critical Thinking for Scientific
Comparative Analysis. The debate of a topic is ``topic_debate``; this module opens the papers and
turns the tree into a summary. The baselines compare in one call, or through a summary of each
paper (section 4.2). The best of several comparisons is not in the paper.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow, Graph
from dialectree.flow.steps import opening as usual_opening
from dialectree.graphs.tree_of_debate.topic_debate import topic_debate
from dialectree.graphs.tree_structured_debate.baselines import add_samples
from dialectree.nodes.tree_of_debate.comparison import (
    Sampled,
    comparer,
    comparison,
    picker,
    sampler,
    sole_sample,
    summariser,
)
from dialectree.nodes.tree_of_debate.evidence import apply_evidence_overrides, at_hand
from dialectree.nodes.tree_of_debate.moderator import comparison_topic, open_topic
from dialectree.nodes.tree_of_debate.papers import authors, require
from dialectree.nodes.tree_of_debate.state import SAMPLES, DebatedTopic, Papers, Settings, TreeOfDebate


def after_debate(state: TreeOfDebate) -> Literal["comparison", "unresolved"]:
    """Write the comparison if there is at least one argument."""
    return "comparison" if state["debates"] else "unresolved"


def tree_of_debate(name: str, *, deliberates: bool = True, splits: bool = True) -> Graph:
    """Return the protocol, or an ablation: without self-deliberation, or without a tree."""
    at_once = topic_debate(f"{name}_topic", deliberates=deliberates, splits=splits)
    in_turn = topic_debate(f"{name}_topic_in_turn", alternating=True, deliberates=deliberates, splits=splits)

    async def opening(state: Papers, runtime: Runtime[Settings]) -> dict[str, object]:
        """Make the topic the root of the run's tree."""
        papers = apply_evidence_overrides(runtime, require(state))
        paper_authors = authors(papers, introduced=not deliberates)
        open_topic(comparison_topic(state["question"], paper_authors), runtime)
        return {"authors": paper_authors}

    async def debate(state: TreeOfDebate, runtime: Runtime[Settings]) -> dict[str, list[DebatedTopic]]:
        """Debate everything below the topic, with both papers at hand."""
        # A drawing shows only the step's first graph in alphabetical order: it must be the default.
        topic: Graph = in_turn if runtime.context.turns == "alternating" else at_once
        async with at_hand(state, runtime):
            compared = await topic.ainvoke(comparison_topic(state["question"], state["authors"]))
        debates = [debated_topic for debated_topic in compared["debates"] if debated_topic["positions"]]
        return {
            "debates": sorted(debates, key=lambda debated_topic: [*map(int, debated_topic["id"].split("."))])
        }

    flow = Flow(TreeOfDebate, settings=Settings, input=Papers, opening=opening)
    flow.step("debate", debate)
    flow.role("comparison", comparison, required=True)
    flow.then(START, "debate")
    flow.route("debate", after_debate)
    flow.then("comparison", END)
    return flow.compile(name)


async def open_with_introductions(state: Papers, runtime: Runtime[Settings]) -> dict[str, object]:
    """Open both papers, each with its introduction."""
    return {"authors": authors(require(state), introduced=True), **await usual_opening(state, runtime)}


def after_summaries(state: TreeOfDebate) -> Literal["comparer", "unresolved"]:
    """Compare if there are both summaries."""
    return "comparer" if len(state["summaries"]) == 2 else "unresolved"


def one_call() -> Graph:
    """Return the baseline that reads both introductions."""
    flow = Flow(TreeOfDebate, settings=Settings, input=Papers, opening=open_with_introductions)
    flow.role("comparer", comparer("single_stage/comparer"), required=True)
    flow.then(START, "comparer", END)
    return flow.compile("single_stage")


def by_summaries() -> Graph:
    """Return the baseline that reads a summary of each paper."""
    flow = Flow(TreeOfDebate, settings=Settings, input=Papers, opening=open_with_introductions)
    flow.role("summariser_a", summariser("a"))
    flow.role("summariser_b", summariser("b"))
    flow.step("summaries")
    flow.role("comparer", comparer("two_stage/comparer", step=1), required=True)
    flow.then(START, ("summariser_a", "summariser_b"), "summaries")
    flow.route("summaries", after_summaries)
    flow.then("comparer", END)
    return flow.compile("two_stage")


def samples(state: Sampled, settings: Settings) -> list[dict[str, object]]:
    """Return the input of each sampler; all are asked at once."""
    request: dict[str, object] = {"authors": state["authors"], "question": state["question"]}
    return [{**request, "number": n} for n in range(1, (settings.samples or SAMPLES) + 1)]


def by_samples() -> Graph:
    """Return the baseline that picks among several comparisons of both introductions."""
    flow = Flow(Sampled, settings=Settings, input=Papers, opening=open_with_introductions)
    add_samples(flow, samples, sampler, picker, sole_sample)
    return flow.compile("best_comparison")


graph = tree_of_debate("tree_of_debate")
no_tree = tree_of_debate("no_tree", splits=False)
no_self_deliberation = tree_of_debate("no_self_deliberation", deliberates=False)
single_stage = one_call()
two_stage = by_summaries()
best_comparison = by_samples()
