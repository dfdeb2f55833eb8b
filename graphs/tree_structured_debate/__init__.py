"""Tree-Structured Debate: its declaration. The graph that bears the figure is ``graph``."""

from __future__ import annotations

from dialectree.nodes.tree_structured_debate.state import Question, Settings
from dialectree.protocol import Protocol, Variant

_HERE = "dialectree.graphs.tree_structured_debate"


protocol = Protocol(
    name="tsd",
    title="Tree-Structured Debate",
    summary="Split a question into a tree, debate its leaves and merge the verdicts upward.",
    source="Coordinating LLMs via Debate Trees (Fu and Gold)",
    command="answer",
    input=Question,
    settings=Settings,
    outcome="answer",
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
    only_variants=("samples",),
    leaf_of=Settings.leaf_settings,
    variants=(
        Variant(
            name="single_shot",
            summary="One model answers at once.",
            graph=f"{_HERE}.single_shot:graph",
            reads=(),
            roles={"answerer": ""},
            prompts=("single_shot",),
        ),
        Variant(
            name="best_of_n",
            summary="Independent answers, and one pick among them.",
            graph=f"{_HERE}.best_of_n:graph",
            reads=("samples",),
            roles={"sampler": "", "picker": ""},
            prompts=("best_of_n",),
        ),
        Variant(
            name="two_round",
            summary="An explorer answers, a critic attacks, twice; then one synthesis.",
            graph=f"{_HERE}.two_round:graph",
            reads=(),
            roles={"explorer": "", "critic": "", "synthesiser": ""},
            prompts=("two_round",),
        ),
    ),
)
