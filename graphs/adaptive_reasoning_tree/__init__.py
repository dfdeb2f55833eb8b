"""Adaptive Reasoning Trees: the declaration. ``graph`` has the graph of the paper's figure."""

from __future__ import annotations

from typing import Any

from dialectree.graphs.adaptive_reasoning_tree.look import look
from dialectree.nodes.adaptive_reasoning_tree.state import SAMPLES, Input, Settings
from dialectree.protocols.phases import PhaseOrder, jurors
from dialectree.protocols.protocol import Evaluation, Phase, Protocol, Variant

SET_BY_PERSON = "A person set this."
"""The reason that a reply gives when a person replaced a model's figure or ruling."""
_HERE = "dialectree.graphs.adaptive_reasoning_tree"
_GROWING = {"supporter": "generator", "attacker": "generator", "scorer": "evaluator"}
_ALONE = {"verifier": ""}
_NODES = "dialectree.nodes.adaptive_reasoning_tree"


def _strength(tau: float) -> dict[str, Any]:
    """Return the fields of a scorer's reply for a claim or an argument with strength ``tau``."""
    reasons = dict.fromkeys(("rationale", "truth_rationale", "weight_rationale"), SET_BY_PERSON)
    return {**reasons, "truth": tau, "weight": 1}


def _winner(winner: str) -> dict[str, Any]:
    """Return the pairwise judge's reply that lets ``winner`` win."""
    return {"rationale": SET_BY_PERSON, "winner": winner}


protocol = Protocol(
    name="art",
    title="Adaptive Reasoning Tree",
    summary="Grow arguments for and against a claim; say how probable they make it.",
    source="ART: Adaptive Reasoning Trees for Explainable Claim Verification (Wadhwa et al.)",
    command="verify",
    examples=(
        '"Chameleons change colour for camouflage."',
        '"Tea has more caffeine than coffee." --breadth 2 --depth 2',
    ),
    input=Input,
    settings=Settings,
    outcome="probability",
    view="arguments",
    look=look,
    unit="argument",
    graph=f"{_HERE}.graph:graph",
    roles={**_GROWING, "pairwise_judge": "evaluator"},
    speaking=lambda settings: (*_GROWING, "pairwise_judge"),  # no checker: see Settings.unused
    prompts=("adaptive_reasoning_tree",),
    only_variants=("samples",),
    phases=(
        Phase(
            role="scorer",
            name="strength",
            reply=(f"{_NODES}.scorer:ScorerReply", f"{_NODES}.scorer:ClaimScorerReply"),
            score=_strength,
            scored="tau",
            judges=lambda settings: jurors(len(settings.jury)),
        ),
        Phase(
            role="pairwise_judge",
            name="tournament",
            reply=(f"{_NODES}.scorer:PairwiseReply",),
            winner=_winner,
            winners=("SUPPORT", "ATTACK"),
        ),
        Phase(
            role="supporter",
            name="generation",
            reply=(f"{_NODES}.arguer:SupportReply", f"{_NODES}.arguer:ArgumentsReply"),
            inserts=True,
        ),
        Phase(
            role="attacker",
            name="generation",
            reply=(f"{_NODES}.arguer:AttackReply", f"{_NODES}.arguer:ArgumentsReply"),
            inserts=True,
        ),
        Phase(role="verifier", name="direct", reply=(f"{_NODES}.scorer:ClaimScorerReply",), optional=True),
    ),
    presets={
        "fast": {"blend": 0, "check_stance": "off"},
        "usual": {},
        "thorough": {"breadth": 2, "depth": 2},
        "wide": {"breadth": 2},
        "deep": {"depth": 2},
        "ensemble": {"trees": 2},
        "tournament_alone": {"blend": 1},
        "as_in_the_paper": {"strength_rule": "bradley_terry", "check_stance": "off"},
    },
    prepare=f"{_HERE}.graph:prepare",
    order=PhaseOrder(
        phases=("direct", "strength", "generation", "direction", "tournament", "answer"),
        beside_all=("strength",),
        beside_children=("tournament",),
    ),
    demo="demo",
    evaluation=Evaluation(
        task="verify",
        paper_names={
            "art": "ART",
            "argllm": "ArgLLM",
            "direct": "Direct",
            "cot": "CoT",
            "direct_samples": "Direct@{samples}",
        },
        voters=dict.fromkeys(("art", "argllm"), "supporter"),
        vote_by="direct",
        plainest=("direct", "cot", "argllm"),
        equal_tokens="direct_samples",
        audit={"alone": "direct", "samples": "direct_samples", "debate": "art"},
        argue=("supporter", "attacker"),
        samples=SAMPLES,
    ),
    variants=(
        Variant(
            name="argllm",
            title="ArgLLM, arguments weighed without meeting each other",
            summary="Arguments with intrinsic strengths alone: no tournament.",
            graph=f"{_HERE}.graph:argllm",
            reads=(
                "breadth",
                "depth",
                "semantics",
                "root_strength",
                "prune_below",
                "trees",
                "jury",
                "check_stance",
            ),
            roles=_GROWING,
            baseline=True,
        ),
        Variant(
            name="direct",
            title="yes or no without debate",
            summary="One model says true or false.",
            graph=f"{_HERE}.graph:direct",
            reads=(),
            roles=_ALONE,
            prompts=("direct",),
            baseline=True,
            calls=lambda settings: 1,
        ),
        Variant(
            name="cot",
            title="reasoning, then yes or no, without debate",
            summary="One model reasons step by step, then says true or false.",
            graph=f"{_HERE}.graph:cot",
            reads=(),
            roles=_ALONE,
            prompts=("cot",),
            baseline=True,
            calls=lambda settings: 1,
        ),
        Variant(
            name="direct_samples",
            title="the mean of several direct verdicts, without debate",
            summary="One model says several times how likely the claim is; the mean counts.",
            graph=f"{_HERE}.graph:direct_samples",
            reads=("samples",),
            roles=_ALONE,
            prompts=("direct_samples",),
            baseline=True,
            calls=lambda settings: settings.samples or SAMPLES,
        ),
    ),
)
