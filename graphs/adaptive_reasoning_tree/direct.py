"""Direct and chain-of-thought verification: one model, one claim, yes or no. Baselines of ART.

Paper: ART: Adaptive Reasoning Trees, Experiments (Direct Prompting, Chain-of-Thought).
"""

from __future__ import annotations

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow, Graph, Step
from dialectree.flow.state import Answering, Question
from dialectree.flow.steps import opening as usual_opening
from dialectree.graphs.adaptive_reasoning_tree.graph import require_claim
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.nodes.adaptive_reasoning_tree.verifier import ReasonedReply, VerifierReply, verifier


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Take the claim up; a question is refused."""
    require_claim(state)
    return await usual_opening(state, runtime)


def direct(name: str, verifier: Step) -> Graph:
    """Return the baseline that asks ``verifier`` once."""
    flow = Flow(Answering, settings=Settings, input=Question, opening=opening)
    flow.role("verifier", verifier, required=True)
    flow.then(START, "verifier", END)
    return flow.compile(name)


graph = direct("direct", verifier("direct/verifier", VerifierReply))
cot = direct("cot", verifier("cot/verifier", ReasonedReply))
