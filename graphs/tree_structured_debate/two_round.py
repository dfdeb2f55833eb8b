"""Two-round debate: an explorer answers, a critic attacks, twice; then one synthesis.

A baseline of TSD. Paper: Tree-Structured Debate, Experiments (Two-round debate).
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.flow.state import Question
from dialectree.nodes.tree_structured_debate.answerer import synthesiser
from dialectree.nodes.tree_structured_debate.critic import critic
from dialectree.nodes.tree_structured_debate.explorer import ROUNDS, explorer
from dialectree.nodes.tree_structured_debate.state import Settings, TwoRound


def after_explorer(state: TwoRound) -> Literal["critic", "synthesiser", "unresolved"]:
    """The critic reads every answer. A debate that breaks off is judged by its transcript."""
    if state.get("broken_off"):
        return "synthesiser" if state["transcript"] else "unresolved"
    return "critic"


def after_critic(state: TwoRound) -> Literal["explorer", "synthesiser"]:
    """The explorer responds until the rounds are spent."""
    spent = len(state["transcript"]) >= 2 * ROUNDS
    return "synthesiser" if spent or state.get("broken_off") else "explorer"


flow = Flow(TwoRound, settings=Settings, input=Question)
flow.role("explorer", explorer, on_failure={"broken_off": True})
flow.role("critic", critic, on_failure={"broken_off": True})
flow.role("synthesiser", synthesiser, required=True)

flow.then(START, "explorer")
flow.route("explorer", after_explorer)
flow.route("critic", after_critic)
flow.then("synthesiser", END)
graph = flow.compile("two_round")
