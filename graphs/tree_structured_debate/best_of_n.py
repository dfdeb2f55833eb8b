"""Best of n: independent answers side by side, then one pick among them. A baseline of TSD.

Paper: Tree-Structured Debate, Experiments (Best-of-5): five samples at 0.8, the pick at 0.
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START

from dialectree.flow import Flow
from dialectree.flow.state import Question
from dialectree.nodes.tree_structured_debate.answerer import sampler
from dialectree.nodes.tree_structured_debate.picker import picker, sole_sample
from dialectree.nodes.tree_structured_debate.state import SAMPLES, BestOfN, Settings


def samples(state: BestOfN, settings: Settings) -> list[dict[str, object]]:
    """Return what each sampler is asked; all are asked at once."""
    count = settings.samples or SAMPLES
    return [{"question": state["question"], "number": number} for number in range(1, count + 1)]


def after_samples(state: BestOfN) -> Literal["picker", "sole_sample", "unresolved"]:
    """Pick among the samples that came; it takes two to choose between."""
    if not state["samples"]:
        return "unresolved"
    return "sole_sample" if len(state["samples"]) == 1 else "picker"


flow = Flow(BestOfN, settings=Settings, input=Question)
flow.role("sampler", sampler)
flow.step("sampled")
flow.role("picker", picker, required=True)
flow.step("sole_sample", sole_sample)

flow.fan(START, "sampler", samples)
flow.then("sampler", "sampled")
flow.route("sampled", after_samples)
flow.then("picker", END)
flow.then("sole_sample", END)
graph = flow.compile("best_of_n")
