"""Adaptive Reasoning Trees: the declaration. The graph that bears the figure is ``graph``."""

from __future__ import annotations

from dialectree.nodes.adaptive_reasoning_tree.state import Input, Settings
from dialectree.protocol import Evaluation, Protocol, Variant
from dialectree.records import PhaseOrder

_HERE = "dialectree.graphs.adaptive_reasoning_tree"
_GROWING = {"supporter": "generator", "attacker": "generator", "scorer": "evaluator"}
_ALONE = {"verifier": ""}

protocol = Protocol(
    name="art",
    title="Adaptive Reasoning Tree",
    summary="Grow arguments for and against a claim; say how probable they make it.",
    source="ART: Adaptive Reasoning Trees for Explainable Claim Verification (Wadhwa et al.)",
    command="verify",
    input=Input,
    settings=Settings,
    outcome="probability",
    view="arguments",
    unit="argument",
    graph=f"{_HERE}.graph:graph",
    roles={**_GROWING, "pairwise_judge": "evaluator"},
    prompts=("adaptive_reasoning_tree",),
    prepare=f"{_HERE}.graph:prepare",
    leaf=Variant(
        name="art",
        summary="An argument tree about one yes-or-no question of another tree.",
        graph=f"{_HERE}.graph:leaf",
    ),
    order=PhaseOrder(
        phases=("strength", "generation", "tournament", "answer"),
        beside_all=("strength",),
        beside_children=("tournament",),
    ),
    evaluation=Evaluation(
        task="verify",
        voters=dict.fromkeys(("art", "argllm"), "supporter"),
        vote_by="direct",
    ),
    variants=(
        Variant(
            name="argllm",
            title="ArgLLM, arguments weighed without meeting each other",
            summary="Arguments with intrinsic strengths alone: no tournament.",
            graph=f"{_HERE}.graph:argllm",
            reads=("breadth", "depth", "semantics", "root_strength", "prune_below", "trees"),
            roles=_GROWING,
        ),
        Variant(
            name="direct",
            title="yes or no without debate",
            summary="One model says true or false.",
            graph=f"{_HERE}.direct:graph",
            reads=(),
            roles=_ALONE,
            prompts=("direct",),
        ),
        Variant(
            name="cot",
            title="reasoning, then yes or no, without debate",
            summary="One model reasons step by step, then says true or false.",
            graph=f"{_HERE}.direct:cot",
            reads=(),
            roles=_ALONE,
            prompts=("cot",),
        ),
    ),
)
