"""The synthesis debate of TSD: concise against full, side by side, then a judge chooses."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.nodes.tree_structured_debate.findings import Judged
from dialectree.nodes.tree_structured_debate.settling import missing
from dialectree.nodes.tree_structured_debate.state import STYLES, Parts, Settings, SynthesisDebate
from dialectree.nodes.tree_structured_debate.synthesis_debater import synthesis_debater
from dialectree.nodes.tree_structured_debate.synthesis_judge import synthesis_judge, unjudged

Way = Literal["concise", "full", "synthesis_judge", "missing"]


async def next_round(state: Parts) -> dict[str, int]:
    """Count the rounds: both debaters have spoken, or are gone."""
    return {"round": 1}


def after_round(state: SynthesisDebate, settings: Settings) -> list[Way]:
    """Both write, round after round, then the judge chooses.

    There is nothing to put together where no child has a (new) answer, or nobody wrote a text.
    """
    news = [f for f in state["findings"] if f["answer"] is not None and f["take"] == state["take"]]
    writers: list[Way] = [style for style in STYLES if style not in state["gone"]]
    if news and writers and state["round"] <= settings.synthesis_rounds:
        return writers
    return ["synthesis_judge"] if news and state["candidates"] else ["missing"]


def after_synthesis_judge(state: SynthesisDebate) -> Literal["unjudged", "missing", "__end__"]:
    """Without a judge a text goes upward unrated; a contradictory ruling settles nothing."""
    if state.get("fault") == "contradicted":
        return "missing"
    return "unjudged" if state.get("fault") == "failed" else "__end__"


flow = Flow(SynthesisDebate, settings=Settings, input=Parts, output=Judged)
flow.step("next_round", next_round)
for style in STYLES:
    flow.role(style, synthesis_debater(style), on_failure={"gone": [style]})
flow.role(
    "synthesis_judge",
    synthesis_judge,
    on_failure={"fault": "failed"},
    on_contradiction={"fault": "contradicted"},
)
flow.step("unjudged", unjudged)
flow.step("missing", missing)

flow.then(START, "next_round")
flow.route("next_round", after_round)
flow.then("concise", "next_round")
flow.then("full", "next_round")
flow.route("synthesis_judge", after_synthesis_judge)
flow.then("unjudged", END)
flow.then("missing", END)
graph = flow.compile("synthesis_debate")
