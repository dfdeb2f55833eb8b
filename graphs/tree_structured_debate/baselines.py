"""TSD's baselines: one answer; several, and a pick among them; one critique; two rounds of debate.

Paper: Tree-Structured Debate, Experiments. Best-of-5 samples at a temperature of 0.8 and picks at 0.
In a two-round debate an explorer answers and a critic attacks, twice; then one synthesis. The
baseline with one critique is not in the paper: an answer, a critique and a revision.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START

from dialectree.flow import Flow, Step
from dialectree.flow.flow import Rule
from dialectree.flow.state import Answering, Question
from dialectree.nodes.tree_structured_debate.answerer import (
    ROUNDS,
    Answers,
    Revised,
    answerer,
    critic,
    explorer,
    first_answer,
    only_critique,
    picker,
    reviser,
    sampler,
    sole_sample,
    synthesiser,
)
from dialectree.nodes.tree_structured_debate.state import SAMPLES, Settings


def list_queries(state: Question) -> list[str]:
    """Search for the question."""
    return [state["question"]]


flow = Flow(Answering, settings=Settings, input=Question)
flow.evidence("material", list_queries)
flow.role("answerer", answerer, required=True, evidence="pool")
flow.then(START, "material", "answerer", END)
single_shot = flow.compile("single_shot")


def samples(state: Answers, settings: Settings) -> list[dict[str, object]]:
    """Return the input of each sampler; all are asked at once."""
    count = settings.samples or SAMPLES
    return [{"question": state["question"], "number": number} for number in range(1, count + 1)]


def after_samples(state: Mapping[str, Any]) -> Literal["picker", "sole_sample", "unresolved"]:
    """Pick among the samples if there are at least two."""
    if not state["samples"]:
        return "unresolved"
    return "sole_sample" if len(state["samples"]) == 1 else "picker"


def add_samples(flow: Flow, requests: Rule, sampler: Step, picker: Step, sole_sample: Step) -> None:
    """Add samplers that are all asked at once, and the picker among their samples."""
    flow.role("sampler", sampler)
    flow.step("sampled")
    flow.role("picker", picker, required=True)
    flow.step("sole_sample", sole_sample)
    flow.fan(START, "sampler", requests)
    flow.then("sampler", "sampled")
    flow.route("sampled", after_samples)
    flow.then("picker", END)
    flow.then("sole_sample", END)


flow = Flow(Answers, settings=Settings, input=Question)
add_samples(flow, samples, sampler, picker, sole_sample)
best_of_n = flow.compile("best_of_n")


flow = Flow(Revised, settings=Settings, input=Question)
flow.evidence("material", list_queries)
flow.role("answerer", first_answer, required=True, evidence="cites")
flow.evidence("more_material", lambda state: [])
flow.role("critic", only_critique, evidence="cites")
flow.role("reviser", reviser, required=True, evidence="pool")
flow.then(START, "material", "answerer", "more_material", "critic", "reviser", END)
one_critique = flow.compile("one_critique")


def after_explorer(state: Answers) -> Literal["critic", "synthesiser", "unresolved"]:
    """Let the critic read every answer; if the debate broke off, go on to the synthesis, if possible."""
    if state.get("broken_off"):
        return "synthesiser" if state["transcript"] else "unresolved"
    return "critic"


def after_critic(state: Answers) -> Literal["explorer", "synthesiser"]:
    """Let the explorer respond until the rounds are spent."""
    spent = len(state["transcript"]) >= 2 * ROUNDS
    return "synthesiser" if spent or state.get("broken_off") else "explorer"


flow = Flow(Answers, settings=Settings, input=Question)
flow.role("explorer", explorer, on_failure={"broken_off": True})
flow.role("critic", critic, on_failure={"broken_off": True})
flow.role("synthesiser", synthesiser, required=True)

flow.then(START, "explorer")
flow.route("explorer", after_explorer)
flow.route("critic", after_critic)
flow.then("synthesiser", END)
two_round = flow.compile("two_round")
