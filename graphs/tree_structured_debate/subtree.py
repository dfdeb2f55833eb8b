"""One question of a TSD tree and its subtree: the graph calls itself for each child.

Each instance waits for its own children only, so a tree takes no longer than its longest branch. In
the synthesis debate a concise and a full debater write at once, then a judge chooses. The debaters
argue from the sentences that the verdicts on the children cite.
"""

from __future__ import annotations

from typing import Literal, get_args

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow
from dialectree.flow.steps import stop
from dialectree.graphs.tree_structured_debate import leaf
from dialectree.nodes.tree_structured_debate.decomposer import (
    branching,
    clarification,
    complexity_evaluator,
    decomposer,
    decomposition_judge,
    opening,
)
from dialectree.nodes.tree_structured_debate.findings import missing
from dialectree.nodes.tree_structured_debate.state import (
    STYLES,
    Finding,
    Findings,
    Judged,
    Question,
    Settings,
    Subtree,
    SynthesisDebate,
)
from dialectree.nodes.tree_structured_debate.synthesis_debater import (
    settle_without_judge,
    synthesis_debater,
    synthesis_judge,
)
from dialectree.nodes.tree_structured_debate.tree import children_that_fit

Way = Literal["concise", "full", "synthesis_judge", "missing"]


async def next_round(state: SynthesisDebate) -> dict[str, int]:
    """Count the rounds: each debater has spoken, or has failed for good."""
    return {"round": 1}


def after_round(state: SynthesisDebate, settings: Settings) -> list[Way]:
    """Let both debaters write, round after round; then let the judge choose.

    Give no answer if no child has an answer from this pass, or if both texts are missing.
    """
    news = [f for f in state["findings"] if f["answer"] is not None and f["take"] == state["take"]]
    writers: list[Way] = [style for style in STYLES if style not in state["gone"]]
    if news and writers and state["round"] <= settings.synthesis_rounds:
        return writers
    return ["synthesis_judge"] if news and state["candidates"] else ["missing"]


def after_synthesis_judge(state: SynthesisDebate) -> Literal["unjudged", "missing", "__end__"]:
    """Pass a text upward unrated if the judge failed; give no answer if its ruling contradicts itself."""
    if state.get("fault") == "contradicted":
        return "missing"
    return "unjudged" if state.get("fault") == "failed" else "__end__"


flow = Flow(SynthesisDebate, settings=Settings, input=SynthesisDebate, output=Judged)
flow.evidence("material")
flow.step("next_round", next_round)
for style in STYLES:
    flow.role(style, synthesis_debater(style), on_failure={"gone": [style]}, evidence="cites")
flow.role(
    "synthesis_judge",
    synthesis_judge,
    on_failure={"fault": "failed"},
    on_contradiction={"fault": "contradicted"},
    evidence="cited",
)
flow.step("unjudged", settle_without_judge)
flow.step("missing", missing)

flow.then(START, "material", "next_round")
flow.route("next_round", after_round)
flow.then("concise", "next_round")
flow.then("full", "next_round")
flow.route("synthesis_judge", after_synthesis_judge)
flow.then("unjudged", END)
flow.then("missing", END)
synthesis_debate = flow.compile("synthesis_debate")


Why = Literal[
    "max_depth", "node_budget", "decomposer_stop", "too_few_children", "below_threshold", "clarify", "failed"
]
"""The reasons to stop expansion at a question; each has its own step ``stop_...``."""


def after_opening(
    state: Subtree, settings: Settings
) -> Literal["decomposer", "stop_max_depth", "stop_node_budget"]:
    """Make a leaf, without a call, at the depth limit or without a budget for two children."""
    if state["depth"] >= settings.depth_limit():
        return "stop_max_depth"
    return "decomposer" if children_that_fit(state["budget"], 2) else "stop_node_budget"


def after_decomposer(
    state: Subtree, settings: Settings
) -> Literal["decomposition_judge", "stop_decomposer_stop", "stop_too_few_children"]:
    """Make a leaf if there are too few parts, or if the decomposer stops where it may stop."""
    few = len(state["drafted"]) < 2
    may_stop = settings.depth_profile != "fixed" and state["depth"] >= settings.depth_floor()
    if state["atomic"] and (may_stop or few):
        return "stop_decomposer_stop"
    return "stop_too_few_children" if few else "decomposition_judge"


def after_decomposition_judge(
    state: Subtree, settings: Settings
) -> Literal["complexity_evaluator", "branching", "stop_too_few_children"]:
    """Ask the complexity evaluator, unless the depth is fixed or the parts are too few."""
    if len(state["drafted"]) < 2:
        return "stop_too_few_children"
    return "branching" if settings.depth_profile == "fixed" else "complexity_evaluator"


def after_complexity_evaluator(
    state: Subtree, settings: Settings
) -> Literal["clarification", "branching", "stop_clarify", "stop_below_threshold"]:
    """Ask the person once about an unclear question, if the settings allow it; else split or stop.

    A question that stays unclear, or whose parts are all easy, becomes a leaf. Above the depth floor
    every split is kept.
    """
    if state["unclear"] and state["attempt"] == 1 and settings.ask:
        return "clarification"
    if state["depth"] < settings.depth_floor():
        return "branching"
    if state["unclear"]:
        return "stop_clarify"
    easy = max(state["difficulty"]) < settings.stop_threshold
    return "stop_below_threshold" if easy else "branching"


def after_clarification(
    state: Subtree, settings: Settings
) -> Literal["decomposer", "branching", "stop_clarify"]:
    """Split a clarified question anew; without an answer stop, unless above the depth floor."""
    if not state["unclear"]:
        return "decomposer"
    return "branching" if state["depth"] < settings.depth_floor() else "stop_clarify"


def children(state: Subtree) -> list[Question]:
    """Return the children; all are solved at once."""
    return state["children"]


async def solve(state: Question, runtime: Runtime[Settings]) -> dict[str, list[Finding]]:
    """Solve one child by calling this graph itself."""
    outcome = await graph.ainvoke(state)
    finding: Finding = outcome["finding"]
    if runtime.context.second_pass_below is None:
        return {"findings": [finding], "certified": []}
    return {"findings": [finding], "certified": [finding, *outcome["certified"]]}


flow = Flow(Subtree, settings=Settings, input=Question, output=Findings, unresolved="stop_failed")
flow.step("opening", opening)
flow.role("decomposer", decomposer, required=True)
flow.role("decomposition_judge", decomposition_judge, required=True)
flow.role("complexity_evaluator", complexity_evaluator, required=True)
flow.step("clarification", clarification)
flow.step("branching", branching)
flow.step("solve", solve, calls_itself=True)
flow.graph("synthesis", synthesis_debate)
for why in get_args(Why):
    flow.step(f"stop_{why}", stop(why))
    flow.then(f"stop_{why}", "leaf")
flow.graph("leaf", leaf.graph)

flow.then(START, "opening")
flow.route("opening", after_opening)
flow.route("decomposer", after_decomposer)
flow.route("decomposition_judge", after_decomposition_judge)
flow.route("complexity_evaluator", after_complexity_evaluator)
flow.route("clarification", after_clarification)
flow.fan("branching", "solve", children)
flow.then("solve", "synthesis", END)
flow.then("leaf", END)
graph = flow.compile("subtree")
