"""The drawings in docs/graphs.md are those of the graphs."""

from __future__ import annotations

import re
from pathlib import Path

from dialectree.graphs.tree_structured_debate import leaf_debate, synthesis_debate
from dialectree.protocol import methods

PAGE = Path(__file__).parents[2] / "docs" / "graphs.md"
DRAWINGS = {
    "Tree-Structured Debate": methods()["tsd"].graph().get_graph(xray=1),
    "The debate at a leaf": leaf_debate.graph.get_graph(),
    "The synthesis above the leaves": synthesis_debate.graph.get_graph(),
    "Role-Switching Debate": methods()["rsd"].graph().get_graph(xray=True),
    "Adaptive Reasoning Trees": methods()["art"].graph().get_graph(xray=True),
    "Tree-of-Debate": methods()["tod"].graph().get_graph(xray=True),
}


def test_the_page_shows_every_protocol_as_it_is() -> None:
    sections = re.findall(
        r"^#+ ([^\n]+)\n(?:(?!^#)[^\n]*\n)*?```mermaid\n(.*?)```", PAGE.read_text(), re.M | re.S
    )
    drawn = {title: drawing.draw_mermaid() for title, drawing in DRAWINGS.items()}
    assert dict(sections) == drawn
