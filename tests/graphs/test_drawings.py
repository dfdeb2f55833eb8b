"""Every graph is drawn as it was agreed, in the drawings and in docs/graphs.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialectree.graphs.adaptive_reasoning_tree import argument_growth
from dialectree.graphs.tree_of_debate.topic_debate import topic_debate
from dialectree.graphs.tree_structured_debate import leaf, subtree
from dialectree.graphs.tree_structured_debate.graph import second_pass
from dialectree.protocols.protocol import methods

PAGE = Path(__file__).parents[2] / "docs" / "graphs.md"
AGREED = Path(__file__).parent / "drawings"
PARTS = (
    *(leaf.graph, leaf.leaf_debate, subtree.graph, subtree.synthesis_debate, second_pass),
    *(argument_growth.graph, argument_growth.tournament),
)
GRAPHS = {
    **{(graph := method.graph()).name: graph for method in methods().values()},
    **{part.name: part for part in PARTS},
    "topic_debate": topic_debate("topic_debate"),
    "topic_debate_in_turn": topic_debate("topic_debate_in_turn", alternating=True),
    "topic_debate_no_tree": topic_debate("topic_debate_no_tree", splits=False),
    "topic_debate_no_self_deliberation": topic_debate("topic_debate_bare", deliberates=False),
}
DRAWINGS = {
    "Tree-Structured Debate": methods()["tsd"].graph().get_graph(xray=1),
    "The debate at a leaf": leaf.leaf_debate.get_graph(),
    "The synthesis above the leaves": subtree.synthesis_debate.get_graph(),
    "Role-Switching Debate": methods()["rsd"].graph().get_graph(xray=True),
    "Adaptive Reasoning Trees": methods()["art"].graph().get_graph(xray=True),
    "Tree-of-Debate": methods()["tod"].graph().get_graph(xray=True),
    "Vote First": methods()["vote_first"].graph().get_graph(),
}


@pytest.mark.parametrize("path", sorted(AGREED.glob("*.mmd")), ids=lambda path: path.stem)
def test_the_drawing_of_a_graph_is_as_it_was_agreed(path: Path) -> None:
    assert GRAPHS[path.stem].get_graph().draw_mermaid() == path.read_text()


@pytest.mark.parametrize(
    ("name", "like"), [("argllm", "art"), ("no_tree", "tod"), ("no_self_deliberation", "tod")]
)
def test_a_variant_differs_only_inside_its_steps(name: str, like: str) -> None:
    one, other = (methods()[each].graph().get_graph().draw_mermaid() for each in (name, like))
    assert one == other


def test_the_page_shows_every_protocol_as_it_is() -> None:
    sections = re.findall(
        r"^#+ ([^\n]+)\n(?:(?!^#)[^\n]*\n)*?```mermaid\n(.*?)```", PAGE.read_text(), re.M | re.S
    )
    drawn = {title: drawing.draw_mermaid() for title, drawing in DRAWINGS.items()}
    assert dict(sections) == drawn
