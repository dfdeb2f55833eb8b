"""Tree-Structured Debate: its declaration. ``graph`` has the graph of the paper's figure."""

from __future__ import annotations

from typing import Any

from dialectree.nodes.tree_structured_debate.state import SAMPLES, Input, Settings
from dialectree.protocols.look import Look
from dialectree.protocols.phases import SET_BY_PERSON, PhaseOrder, jurors
from dialectree.protocols.protocol import WITHDRAWN, Evaluation, Phase, Protocol, Variant

_HERE = "dialectree.graphs.tree_structured_debate"
_NODES = "dialectree.nodes.tree_structured_debate"


def _answer(text: str) -> dict[str, Any]:
    """Return the fields of a judge's reply that make ``text`` the answer."""
    return {"answer": text, "rationale": SET_BY_PERSON}


protocol = Protocol(
    name="tsd",
    title="Tree-Structured Debate",
    summary="Split a question into a tree, debate its leaves and merge the verdicts upward.",
    source="Coordinating LLMs via Debate Trees (Fu and Gold)",
    command="answer",
    examples=(
        '"Why do cities grow?" --model openai:NAME',
        '"Should a town ban cars?" --max-depth 2 --max-calls 100',
    ),
    input=Input,
    settings=Settings,
    outcome="answer",
    view="tree",
    look=Look(
        gaps=True,
        captions={
            "expansion": "Splitting the question",
            "direct": "Direct answers",
            "synthesis": "Putting the parts together",
            "canonical_parent": "The question, made explicit",
            "children": "Parts",
            "qid": "Part",
            "coverage_justification": "Why these parts",
            "stop": "Nothing to split",
            "clarification_request": "What the question lacks",
            "scores": "Difficulty of each part",
            "integration": "The parts together",
            "assumptions": "What this assumes",
            "winner": "More convincing",
            "number": "Chosen answer",
            "explanation": "Why",
            "final_answer": "Answer",
            "final_confidence": "Confidence",
        },
        tasks={"SPAN": "the answer that it finds best", "OTHER": "the strongest other answer"},
        stops={
            "node_budget": "its share of the node budget is too small for two parts",
            "decomposer_stop": "the decomposer found nothing to split",
            "too_few_children": "the split had fewer than two parts",
            "below_threshold": "every part was rated easy",
            "clarify": "the question lacks something essential",
        },
    ),
    unit="question",
    graph=f"{_HERE}.graph:graph",
    roles={
        "decomposer": "",
        "decomposition_judge": "",
        "complexity_evaluator": "",
        "leaf_debater_a": "leaf_debater",
        "leaf_debater_b": "leaf_debater",
        "leaf_judge": "",
        "synthesis_debater": "",
        "synthesis_judge": "",
        "answer_writer": "",
    },
    prompts=("tree_structured_debate",),
    presets={
        "fast": {"max_depth": 1, "max_children": 2, "leaf_rounds": 1, "synthesis_rounds": 1},
        "usual": {},
        "thorough": {"depth_profile": "safety", "second_pass_below": 0.7},
        **{name: {"depth_profile": name} for name in ("adaptive", "fixed", "safety")},
    },
    only_variants=("samples",),
    inner=Settings.debates_inside,
    phases=(
        Phase(
            role="leaf_debater",
            reply=(f"{_NODES}.leaf_debater:DebaterReply", f"{_NODES}.leaf_debater:OpeningReply"),
            editable=("support", "claim", "rebuttal"),
            withdrawn={"claim": WITHDRAWN, "support": "–", "rebuttal": "–"},
        ),
        Phase(
            role="leaf_judge",
            reply=(f"{_NODES}.leaf_debater:LeafJudgeReply",),
            editable=("answer", "rationale"),
            ruling=_answer,
            judges=lambda settings: jurors(len(settings.jury)),
        ),
        Phase(
            role="synthesis_debater",
            reply=(f"{_NODES}.synthesis_debater:SynthesisReply",),
            editable=("integration", "assumptions"),
            optional=True,
        ),
        Phase(
            role="synthesis_judge",
            reply=(f"{_NODES}.synthesis_debater:SynthesisJudgeReply",),
            editable=("answer", "rationale"),
            ruling=_answer,
        ),
        Phase(
            role="answer_writer",
            reply=(f"{_NODES}.answer_writer:WriterReply",),
            editable=("final_answer", "explanation"),
            optional=True,
        ),
        Phase(
            role="answerer", reply=(f"{_NODES}.answerer:AnswererReply",), editable=("answer", "explanation")
        ),
        Phase(
            role="sampler",
            reply=(f"{_NODES}.answerer:AnswererReply",),
            editable=("answer", "explanation"),
            optional=True,
        ),
        Phase(role="explorer", reply=(f"{_NODES}.answerer:ExplorerReply",), editable=("answer",)),
        Phase(role="critic", reply=(f"{_NODES}.answerer:CriticReply",), editable=("critique",)),
        Phase(
            role="reviser", reply=(f"{_NODES}.answerer:AnswererReply",), editable=("answer", "explanation")
        ),
        Phase(
            role="synthesiser",
            reply=(f"{_NODES}.answerer:AnswererReply",),
            editable=("answer", "explanation"),
        ),
    ),
    order=PhaseOrder(
        phases=("expansion", "direct", "debate", "check", "synthesis", "answer"), closing=("answer",)
    ),
    demo="demo",
    evaluation=Evaluation(
        task="answer",
        paper_names={
            "tsd": "TSD",
            "single_shot": "Single-shot",
            "best_of_n": "Best-of-{samples}",
            "one_critique": "One critique",
            "two_round": "Two-round debate",
        },
        voters={"tsd": "leaf_debater_a", "two_round": "explorer"},
        vote_by="self_consistency",
        plainest=("single_shot", "best_of_n", "one_critique", "two_round"),
        equal_tokens="best_of_n",
        audit={"alone": "single_shot", "critique": "one_critique", "samples": "best_of_n", "debate": "tsd"},
        argue=("leaf_debater_a", "leaf_debater_b", "critic"),
        samples=SAMPLES,
    ),
    variants=(
        Variant(
            name="single_shot",
            title="one model's single answer",
            summary="One model answers at once.",
            graph=f"{_HERE}.baselines:single_shot",
            reads=(),
            roles={"answerer": ""},
            prompts=("single_shot",),
            baseline=True,
            grounded=True,
            calls=lambda settings: 1,
        ),
        Variant(
            name="best_of_n",
            title="the best of several answers",
            summary="Independent answers, and one pick among them.",
            graph=f"{_HERE}.baselines:best_of_n",
            reads=("samples",),
            roles={"sampler": "", "picker": ""},
            prompts=("best_of_n",),
            baseline=True,
        ),
        Variant(
            name="one_critique",
            title="one answer, one critique and a revision",
            summary="One model answers, a critic examines the answer, and a third call revises it.",
            graph=f"{_HERE}.baselines:one_critique",
            reads=(),
            roles={"answerer": "", "critic": "", "reviser": ""},
            prompts=("single_shot", "one_critique"),
            baseline=True,
            grounded=True,
            calls=lambda settings: 3,
        ),
        Variant(
            name="two_round",
            title="two rounds of debate",
            summary="An explorer answers, a critic attacks, twice; then one synthesis.",
            graph=f"{_HERE}.baselines:two_round",
            reads=(),
            roles={"explorer": "", "critic": "", "synthesiser": ""},
            prompts=("two_round",),
            baseline=True,
            calls=lambda settings: 5,
        ),
    ),
)
