"""Calls and critical path of whole debates, against the protocol's own reckoning."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.nodes.tree_structured_debate.decomposer import ComplexityReply, DecomposerReply
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.settings import build_settings
from dialectree.records import Tree
from tests.graphs.debating import debate, debaters, part, rate, split
from tests.scripted import Asked, ScriptedModel


class Cost(NamedTuple):
    """Calls in all, and the longest chain of calls where each needs the one before."""

    calls: int
    path: int


def leaf(examined: int, rounds: int) -> Cost:
    """A leaf after ``examined`` calls of its expansion: debaters alternate, then a judge."""
    calls = examined + 2 * rounds + 1
    return Cost(calls, calls)


def inner(expansion: int, below: list[Cost], rounds: int) -> Cost:
    """Children side by side; two writers side by side, round after round, then a judge."""
    calls = expansion + sum(cost.calls for cost in below) + 2 * rounds + 1
    return Cost(calls, expansion + max(cost.path for cost in below) + rounds + 1)


def reckoned(tree: Tree, context: Settings) -> Cost:
    """What a tree of this shape costs: expansion, debates, and one writer."""
    fixed = context.depth_profile == "fixed"
    examined = {
        "max_depth": 0,
        "node_budget": 0,
        "decomposer_stop": 1,
        "too_few_children": 1,
        "below_threshold": 3,
        "clarify": 3,
    }

    def below(node_id: str) -> Cost:
        node = tree.nodes[node_id]
        if node.kind == "leaf":
            return leaf(examined[str(node.stopped)], context.leaf_rounds)
        children = [below(child) for child in node.children]
        return inner(2 if fixed else 3, children, context.synthesis_rounds)

    root = below(tree.root)
    return Cost(root.calls + 1, root.path + 1)


@pytest.mark.parametrize(
    ("children", "depth", "calls", "path"), [(4, 1, 37, 14), (2, 2, 53, 20), (3, 2, 96, 20)]
)
def test_the_protocols_own_examples(children: int, depth: int, calls: int, path: int) -> None:
    usage = debate(debaters(children), max_depth=depth).usage
    assert (usage.calls, usage.critical_path_calls) == (calls, path)


class Wild(NamedTuple):
    """What a model answers at every node of a random tree."""

    widths: dict[int, int]
    difficulties: dict[int, float]
    clarify: frozenset[int]

    def model(self) -> ScriptedModel:
        model = debaters()
        model.will_say_now(self._split, to=DecomposerReply)
        model.will_say_now(self._rate, to=ComplexityReply)
        return model

    def _split(self, call: Asked) -> DecomposerReply:
        width = self.widths[_digest(call.node)]
        return split(*(part(f"{call.node}.{n}") for n in range(width)), stop=width == 0)

    def _rate(self, call: Asked) -> ComplexityReply:
        count = sum(f"\nc{n}: " in call.prompt for n in range(1, 13))
        place = _digest(call.node)
        said = "clarify" if place in self.clarify else "decompose"
        return rate(*[self.difficulties[place]] * count, decision=said)


def _digest(node: str) -> int:
    return sum(map(int, node.split("."))) % 4


places = st.integers(0, 3)
wild = st.builds(
    Wild,
    st.fixed_dictionaries({n: st.sampled_from([0, 1, 2, 3, 4, 7]) for n in range(4)}),
    st.fixed_dictionaries({n: st.sampled_from([0.2, 0.75, 0.9]) for n in range(4)}),
    st.frozensets(places, max_size=1),
)


@seed(1)
@hypothesis_settings(
    max_examples=25, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    model=wild,
    max_nodes=st.integers(1, 24),
    max_depth=st.integers(0, 4),
    max_children=st.integers(2, 5),
    profile=st.sampled_from(["adaptive", "fixed", "safety"]),
)
def test_a_random_tree_never_outgrows_its_budget_and_costs_what_its_shape_says(
    model: Wild, max_nodes: int, max_depth: int, max_children: int, profile: str
) -> None:
    given: dict[str, Any] = {
        "max_nodes": max_nodes,
        "max_depth": max_depth,
        "max_children": max_children,
        "depth_profile": profile,
        "leaf_rounds": 1,
        "synthesis_rounds": 1,
    }
    done = debate(model.model(), **given)
    tree = done.tree
    assert len(tree.nodes) <= max_nodes
    for node in tree.nodes.values():
        assert node.depth <= max_depth
        assert len(node.children) in range(2, max_children + 1) or node.kind == "leaf"
        assert node.kind in ("leaf", "branch")
        assert node.status == "answered"
    assert Cost(done.usage.calls, done.usage.critical_path_calls) == reckoned(
        tree, build_settings(Settings, **given)
    )


@pytest.mark.parametrize(("max_nodes", "children"), [(2, 0), (3, 2), (5, 4)])
def test_a_split_that_does_not_fit_keeps_as_many_of_its_hardest_as_do(max_nodes: int, children: int) -> None:
    model = debaters()
    model.will_say_now(split("a?", "b?", "c?", "d?"), at="0")
    model.will_say_now(rate(0.1, 0.9, 0.2, 0.8))
    done = debate(model, max_nodes=max_nodes)
    kept = {0: [], 2: ["b?", "d?"], 3: ["b?", "c?", "d?"], 4: ["a?", "b?", "c?", "d?"]}
    assert [done.node(child).text for child in done.node().children] == kept[children]
    if not children:
        assert (done.node().stopped, done.usage.calls) == ("node_budget", 8)
