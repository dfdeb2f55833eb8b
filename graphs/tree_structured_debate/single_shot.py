"""Single shot: the question goes to one model once. The baseline of TSD's evaluation."""

from __future__ import annotations

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.flow.state import Answering, Question
from dialectree.nodes.tree_structured_debate.answerer import answerer
from dialectree.nodes.tree_structured_debate.state import Settings

flow = Flow(Answering, settings=Settings, input=Question)
flow.role("answerer", answerer, required=True)
flow.then(START, "answerer", END)
graph = flow.compile("single_shot")
