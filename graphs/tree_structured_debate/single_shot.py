"""Single shot: the question goes to one model once. The baseline of TSD's evaluation."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from dialectree.context import Context
from dialectree.graphs.afresh import afresh
from dialectree.graphs.ruling import ruled
from dialectree.nodes.failures import FAILED, may_fail
from dialectree.nodes.opening import opening
from dialectree.nodes.tree_structured_debate.answerer import answerer
from dialectree.state import Debate, Question, Ruling
from dialectree.steps import conclusion, unresolved


class SingleShot(Debate):
    """A question and its answer."""

    failed: bool


def after_answerer(state: SingleShot) -> Literal["unresolved", "conclusion"]:
    """Without a reply there is no answer."""
    return "unresolved" if state.get("failed") else "conclusion"


builder = StateGraph(
    SingleShot, context_schema=Context, input_schema=Question, output_schema=Ruling
)
builder.add_node("opening", opening)
builder.add_node("answerer", may_fail(answerer, FAILED))
builder.add_node("unresolved", unresolved)
builder.add_node("conclusion", conclusion)
builder.add_edge(START, "opening")
builder.add_edge("opening", "answerer")
builder.add_conditional_edges("answerer", ruled(after_answerer))
builder.add_edge("unresolved", "conclusion")
builder.add_edge("conclusion", END)

graph: CompiledStateGraph[SingleShot, Context, Question, Ruling] = afresh(
    builder.compile(name="single_shot")
)
