"""Trees of a known shape: what the endpoint is told to reply, and what that must cost."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.ideal import Cost, adaptive_debate, full_tree, size, stopped_at_the_root
from dialectree.context import build
from dialectree.nodes.tree_structured_debate.state import Settings

QUESTION = "Which language do all people in Europe speak?"


class Shape(NamedTuple):
    """One tree that a debate is steered to grow."""

    name: str
    children: int
    depth: int
    """Depth of the leaves; 0 is a root that is examined and found easy."""

    @property
    def cost(self) -> Cost:
        """What a debate over this tree costs."""
        if not self.depth:
            return stopped_at_the_root()
        return adaptive_debate(full_tree(self.children, self.depth))

    @property
    def nodes(self) -> int:
        """Nodes of the tree."""
        return size(full_tree(self.children, self.depth))

    def rules(self) -> list[dict[str, Any]]:
        """What the endpoint replies to the three roles that shape a tree.

        The patterns are names of fields that each role's prompt asks for.
        """
        children = [
            {"qid": f"c{n}", "text": f"Which part of the answer rests on fact number {n}?"}
            for n in range(1, max(2, self.children) + 1)
        ]
        evaluated = {
            "decision": "decompose" if self.depth else "atomic",
            "difficulty": 0.9 if self.depth else 0.1,
        }
        return [
            {"match": "`coverage_justification`", "set": {"children": children, "stop": False}},
            {"match": "`decision` to approve", "set": {"decision": "approve"}},
            {"match": "`scores`", "set": evaluated},
        ]

    def context(self, url: str, **settings: Any) -> Settings:
        """The settings of such a debate."""
        return build(
            Settings,
            model="openai:any",
            base_url=url,
            depth_profile="adaptive",
            max_depth=max(1, self.depth),
            max_nodes=max(3, self.nodes),
            max_children=max(2, self.children),
            **settings,
        )


LEAF = Shape("a single leaf", 0, 0)
FOUR_LEAVES = Shape("4 leaves, depth 1", 4, 1)
SHAPES = (FOUR_LEAVES, Shape("2 children, depth 2", 2, 2), Shape("3 children, depth 2", 3, 2), LEAF)
GROWING = (FOUR_LEAVES, Shape("4 children, depth 2", 4, 2), Shape("4 children, depth 3", 4, 3))
