"""Role-Switching Debate: its declaration. ``graph`` has the graph of the paper's figure."""

from __future__ import annotations

from functools import partial
from typing import Any

from dialectree.nodes.role_switching_debate.state import SAMPLES, SIDES, TITLES, Input, Settings
from dialectree.protocols.look import Look
from dialectree.protocols.phases import PhaseOrder
from dialectree.protocols.protocol import WITHDRAWN, Evaluation, Phase, Protocol, Variant

_HERE = "dialectree.graphs.role_switching_debate"
_NODES = "dialectree.nodes.role_switching_debate"
_NO_ARGUMENT, _NO_REBUTTAL = {"argument": WITHDRAWN}, {"errors": [], "defence": WITHDRAWN}


def _phase(role: str, name: str, reply: str, *editable: str, **more: Any) -> Phase:
    return Phase(role=role, name=name, reply=(f"{_NODES}.{reply}",), editable=editable, **more)


def _without(name: str, part: str, text: str) -> Variant:
    return Variant(name=name, title=f"without {part}", summary=text, graph=f"{_HERE}.graph:{name}")


def _vote(role: str) -> Phase:
    reply = "direct_answerer:DirectReply"
    return _phase(role, "direct", reply, "reasoning", optional=True, settles=True)


_debater = partial(_phase, "debater")
_alone = partial(Variant, prepare=f"{_NODES}.candidates:prepare_alone", baseline=True, grounded=True)
_static = partial(
    Variant,
    prepare=f"{_NODES}.static_debate:prepare",
    reads=("candidates", "distractor"),
    prompts=("static_debate",),
)

protocol = Protocol(
    name="rsd",
    title="Role-Switching Debate",
    summary="Let two debaters argue for an answer each, switch sides and state doubts; a judge decides.",
    source="Uncertainty-Aware Role-Switching Debate (Liu et al.)",
    command="decide",
    examples=(
        '"Which gas do plants take in?" --option O2 --option CO2',
        '"Is a hot dog a sandwich?" --role judge=openai:NAME',
    ),
    input=Input,
    settings=Settings,
    outcome="choice",
    view="two_sided",
    look=Look(
        side="debater",
        facing=SIDES,
        purposes=("same_answer", "distractor"),
        captions={
            "direct": "Direct answers",
            "cross_examination": "Cross-examination",
            "uncertainty": "Uncertainty reports",
            "errors": "Errors of the other side",
            "quote": "Quotation",
            "fault": "Error",
            "occurs": "In the other side's words",
            "defence": "Answer to the attack",
            "unsure_of": "Unsure of",
            "would_settle": "What would settle it",
            "percent": "Percent sure",
            "label": "Rules for",
            "same": "Both say the same",
            "same_answer": "Whether both say the same",
        },
    ),
    unit="debate",
    graph=f"{_HERE}.graph:graph",
    roles={"debater_a": "debater", "debater_b": "debater", "judge": ""},
    prompts=("role_switching_debate",),
    prepare=f"{_NODES}.candidates:prepare",
    presets={
        "fast": {"gate": 2, "cross_examination": "simultaneous"},
        "usual": {},
        "thorough": {"judge_orders": "both"},
        "both_orders": {"judge_orders": "both"},
        "simultaneous": {"cross_examination": "simultaneous"},
    },
    only_variants=("samples",),
    phases=(
        _debater("proposals", "debater:ProposalReply", "argument", withdrawn=_NO_ARGUMENT),
        _debater("cross_examination", "debater:RebuttalReply", "defence", withdrawn=_NO_REBUTTAL),
        _debater("role_switch", "debater:SwitchReply", "argument", withdrawn=_NO_ARGUMENT),
        _debater("uncertainty", "debater:UncertaintyReply", "unsure_of", "would_settle", optional=True),
        _phase(
            "judge",
            "judgment",
            "judge:JudgeReply",
            "rationale",
            labels=lambda settings: ("uncertain",) if settings.allow_uncertain else (),
            judges=Settings.rulings,
        ),
        _debater("rounds", "static_debate:StatementReply", "argument", withdrawn=_NO_ARGUMENT),
        _phase(
            "judge",
            "weighing",
            "judge:JudgeReply",
            "rationale",
            labels=lambda settings: (),
            judges=lambda settings: [["judge"], ["swapped"]],
        ),
        _vote("debater_a"),
        _vote("answerer"),
    ),
    order=PhaseOrder(
        phases=("direct", "rounds", *TITLES, "check", "judgment", "weighing"), beside={"check": "uncertainty"}
    ),
    demo="demo",
    evaluation=Evaluation(
        task="decide",
        paper_names={
            "rsd": "RSD",
            "no_role_switch": "RSD w/o role switch",
            "no_uncertainty": "RSD w/o uncertainty",
            "basic": "RSD w/o both",
            "static_debate": "Debate (Khan et al.)",
            "consultancy": "Consultancy (Khan et al.)",
            "self_consistency": "Self-consistency@{samples}",
            "judge_alone": "Judge alone",
        },
        voters=dict.fromkeys(
            ("rsd", "no_role_switch", "no_uncertainty", "basic", "static_debate"), "debater_a"
        ),
        vote_by="self_consistency",
        plainest=("self_consistency",),
        plainest_on_a_pair=("judge_alone", "self_consistency"),
        given_gold=Settings.uses_gold,
        sides=f"{_HERE}.gold_sides:sides",
        equal_tokens="self_consistency",
        audit={
            "alone": "judge_alone",
            "consultancy": "consultancy",
            "samples": "self_consistency",
            "debate": "rsd",
        },
        argue=("debater_a", "debater_b"),
        samples=SAMPLES,
    ),
    variants=(
        _without("no_role_switch", "the role switch", "Nobody switches sides."),
        _without("no_uncertainty", "the uncertainty reports", "Nobody says how sure it is."),
        _without(
            "basic",
            "role switch and uncertainty reports",
            "Neither a switch of sides nor a word on confidence.",
        ),
        _static(
            name="static_debate",
            title="three rounds at once (Khan et al.)",
            summary="Two debaters speak in three rounds at once; a judge reads both orders.",
            graph=f"{_HERE}.static_debate:static_debate",
            roles={"debater_a": "debater", "debater_b": "debater", "judge": "", "checker": ""},
        ),
        _static(
            name="consultancy",
            title="a consultant and the judge (Khan et al.)",
            summary="One debater argues for an answer that was drawn; a judge reads both orders.",
            graph=f"{_HERE}.static_debate:consultancy",
            roles={"debater_a": "debater", "judge": "", "checker": ""},
            baseline=True,
            grounded=True,
        ),
        _alone(
            name="self_consistency",
            title="self-consistency, the answer that most samples give",
            summary="Independent direct answers, and the one that most of them give.",
            graph=f"{_HERE}.graph:self_consistency",
            reads=("samples", "candidates", "distractor"),
            roles={"answerer": ""},
            calls=lambda s: (s.samples or SAMPLES) + s.asks_for_distractor(),
        ),
        _alone(
            name="judge_alone",
            title="the judge alone, without a debate",
            summary="One direct answer of the judge's model.",
            graph=f"{_HERE}.graph:judge_alone",
            reads=("candidates", "distractor"),
            roles={"judge": ""},
            calls=lambda settings: 1 + settings.asks_for_distractor(),
        ),
    ),
)
