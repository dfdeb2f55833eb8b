"""ART, Adaptive Reasoning Trees: a claim grows arguments, and their strengths carry to the claim.

Paper: ART: Adaptive Reasoning Trees for Explainable Claim Verification (Wadhwa et al.).
``argument_growth`` grows the tree with its tournaments; this module weighs it.
Direct and chain-of-thought verification are baselines: one model, one claim, yes or no. Direct
samples are not in the paper: one model estimates the probability of the claim several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.errors import InputError
from dialectree.flow import Flow, Graph, Step
from dialectree.flow.state import Answering, Question
from dialectree.flow.steps import end_unresolved, require_question
from dialectree.flow.steps import opening as usual_opening
from dialectree.graphs.adaptive_reasoning_tree import argument_growth
from dialectree.nodes.adaptive_reasoning_tree.scorer import (
    ReasonedReply,
    Sampled,
    VerifierReply,
    claim_scorer,
    mean_verdict,
    sample_verdict,
    score_without_asking,
    verifier,
)
from dialectree.nodes.adaptive_reasoning_tree.state import SAMPLES, AdaptiveReasoningTree, Settings, Sprout
from dialectree.nodes.adaptive_reasoning_tree.weighing import aggregation, strengths
from dialectree.nodes.tree_structured_debate.sides import is_asked
from dialectree.protocols.inside import root
from dialectree.trace.events import tell


def require_claim(inputs: Mapping[str, Any]) -> None:
    """Raise InputError if the claim is a question or has no word."""
    require_question(inputs, "claim")
    claim: str = inputs["question"]
    if is_asked(claim):
        raise InputError("this is a question; a claim states something that can be true or false")
    if not any(map(str.isalnum, claim)):
        raise InputError("this claim has no word in it")


def prepare(inputs: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the claim under ``question``, the name that the graphs of all protocols share."""
    question = {"question": inputs["claim"]}
    require_claim(question)
    return question


def after_opening(state: AdaptiveReasoningTree, settings: Settings) -> list[Send]:
    """Grow every tree at once; at the same time score the claim itself if the settings say so."""
    text, blend = state["question"], state["blend"]
    sprouts: list[Sprout] = [
        {"id": claim, "text": text, "path": [], "blend": blend, "argued": True} for claim in state["claims"]
    ]
    steps = ["grow"] if settings.root_strength == "neutral" else ["grow", "claim_scorer"]
    return [Send(step, sprout) for step in steps for sprout in sprouts]


def adaptive_reasoning_tree(name: str, *, tournament: bool = True) -> Graph:
    """Return the protocol's graph; without a ``tournament``, its baseline ArgLLM (lambda = 0)."""

    async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
        """Open the claim; each tree of an ensemble has its own root below the claim."""
        require_claim(state)
        context, claims = runtime.context, [root()]
        tell(runtime, root(), "opened", {"text": state["question"], "kind": "claim"})
        if context.trees > 1:
            claims = [f"{root()}.{n}" for n in range(context.trees)]
            for claim in claims:
                tell(runtime, claim, "opened", {"text": state["question"], "kind": "claim"})
            tell(runtime, root(), "branched", {"children": claims, "kind": "claim"})
        scores: dict[str, float] = {}
        if context.root_strength == "neutral":
            for claim in claims:
                scores |= score_without_asking(claim, runtime)
        blend = context.blend if tournament else 0.0
        return {"id": root(), "claims": claims, "scores": scores, "blend": blend}

    flow = Flow(AdaptiveReasoningTree, settings=Settings, input=Question, opening=opening)
    flow.step("grow", argument_growth.grow)
    flow.role("claim_scorer", claim_scorer)
    flow.step("strengths", strengths)
    flow.step("aggregation", aggregation)
    flow.route(START, after_opening, "grow", "claim_scorer")
    flow.then("grow", "strengths")
    flow.then("claim_scorer", "strengths")
    flow.then("strengths", "aggregation", END)
    return flow.compile(name)


async def alone(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Open the claim; refuse a question."""
    require_claim(state)
    return await usual_opening(state, runtime)


def baseline(name: str, verifier: Step) -> Graph:
    """Return the baseline that asks ``verifier`` once."""
    flow = Flow(Answering, settings=Settings, input=Question, opening=alone)
    flow.role("verifier", verifier, required=True)
    flow.then(START, "verifier", END)
    return flow.compile(name)


def samples(state: Sampled, settings: Settings) -> list[dict[str, object]]:
    """Return the input of each verifier; all are asked at once."""
    count = settings.samples or SAMPLES
    return [{"question": state["question"], "number": number} for number in range(1, count + 1)]


def after_samples(state: Sampled) -> Literal["mean_verdict", "unresolved"]:
    """Take the mean if there is at least one verdict."""
    return "mean_verdict" if state["samples"] else "unresolved"


def build_direct_samples() -> Graph:
    """Return the baseline that takes the mean of several direct verdicts."""
    flow = Flow(Sampled, settings=Settings, input=Question, opening=alone)
    flow.role("verifier", sample_verdict)
    flow.step("sampled")
    flow.step("mean_verdict", mean_verdict)
    flow.step("unresolved", end_unresolved)
    flow.fan(START, "verifier", samples)
    flow.then("verifier", "sampled")
    flow.route("sampled", after_samples)
    flow.then("mean_verdict", END)
    flow.then("unresolved", END)
    return flow.compile("direct_samples")


graph = adaptive_reasoning_tree("adaptive_reasoning_tree")
argllm = adaptive_reasoning_tree("argllm", tournament=False)
direct = baseline("direct", verifier("direct/verifier", VerifierReply))
cot = baseline("cot", verifier("cot/verifier", ReasonedReply))
direct_samples = build_direct_samples()
