"""Stopping rules are pure and total; drawings and schemas show what a reader should see."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from hypothesis import strategies as st
from langgraph.graph.state import CompiledStateGraph

from dialectree import graphs as every
from dialectree.context import build
from dialectree.graphs.tree_of_debate.topic_debate import topic_debate
from dialectree.graphs.tree_structured_debate import graph as tree_structured_debate
from dialectree.graphs.tree_structured_debate import (
    leaf,
    leaf_debate,
    second_pass,
    single_shot,
    subtree,
    synthesis_debate,
)
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocol import methods
from tests.graphs.rules import check_rule
from tests.nodes.tree_structured_debate.test_findings import finding

MODULES = (
    tree_structured_debate,
    subtree,
    leaf,
    leaf_debate,
    synthesis_debate,
    second_pass,
    single_shot,
)
DRAWINGS = Path(__file__).parent / "drawings"


def graphs() -> list[tuple[str, CompiledStateGraph[Any, Any, Any, Any]]]:
    return [(module.graph.name, module.graph) for module in MODULES]


NAMED = pytest.mark.parametrize(("name", "graph"), graphs(), ids=[name for name, _ in graphs()])


# Wiring


def all_graphs() -> Iterator[tuple[str, CompiledStateGraph[Any, Any, Any, Any]]]:
    for found in walk_packages(every.__path__, "dialectree.graphs."):
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, CompiledStateGraph):
                yield f"{found.name}.{name}", value
    yield "topic_debate", topic_debate("topic")


def test_no_rule_is_sent_to_a_thread() -> None:
    """As LangGraph does with a plain function."""
    ruled: list[tuple[str, str, Any]] = [
        (name, node, rule.path)
        for name, graph in all_graphs()
        for node, rules in graph.builder.branches.items()
        for rule in rules.values()
    ]
    assert len(ruled) > 40
    for name, node, rule in ruled:
        assert rule.func is None, f"the rule after {node} of {name} is a plain function"


# Drawings


@NAMED
def test_the_drawing_of_a_graph_is_as_it_was_agreed(
    name: str, graph: CompiledStateGraph[Any, Any, Any, Any]
) -> None:
    drawing = graph.get_graph().draw_mermaid()
    assert drawing == (DRAWINGS / f"{name}.mmd").read_text()


@NAMED
def test_every_step_can_be_reached_and_leads_to_the_end(
    name: str, graph: CompiledStateGraph[Any, Any, Any, Any]
) -> None:
    edges = {(edge.source, edge.target) for edge in graph.get_graph().edges}

    def reached(start: str, forwards: bool) -> set[str]:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            ways = (
                {b for a, b in edges if a == here}
                if forwards
                else {a for a, b in edges if b == here}
            )
            todo += ways - seen
            seen |= ways
        return seen

    steps = set(graph.get_graph().nodes)
    assert reached("__start__", True) == reached("__end__", False) == steps


@pytest.mark.parametrize(
    ("name", "step"), [("tsd", "solve"), ("art", "grow"), ("tod", "debate"), ("tod", "respond_b")]
)
def test_a_drawing_marks_recursion_and_shows_the_default_turns(name: str, step: str) -> None:
    drawn = methods()[name].graph().get_graph(xray=1)
    inner = next(key for key in drawn.nodes if key.endswith(f":{step}"))
    if step == "respond_b":
        before = {edge.source.rpartition(":")[2] for edge in drawn.edges if edge.target == inner}
        assert before == {"present_a", "present_b"}
    else:
        assert drawn.nodes[inner].metadata == {"recursion": "this very graph, for each child"}


# Schemas


@pytest.mark.parametrize("name", methods())
def test_a_public_graph_takes_a_question_and_gives_a_verdict_and_shows_no_more(name: str) -> None:
    graph = methods()[name].graph()
    protocol = methods()[name].protocol.name
    more = {"rsd": {"options", "gold"}, "tod": {"papers"}}.get(protocol, set())
    assert graph.get_input_jsonschema()["properties"].keys() == {"question", *more}
    needed = {"question", *(["papers"] if protocol == "tod" else [])}
    assert {*graph.get_input_jsonschema()["required"]} == needed
    out = graph.get_output_jsonschema()
    assert out["properties"].keys() == {"verdict"}
    assert out["$defs"]["Verdict"]["properties"].keys() == {
        "answer", "label", "rationale", "confidence", "confidence_source", "notes",
    }  # fmt: skip
    context = graph.get_context_jsonschema()
    assert context is not None
    assert context["properties"].keys() == {*methods()[name].protocol.settings.model_fields}
    assert all(part.get("description") for part in context["properties"].values())


# Rules

contexts = st.builds(
    lambda **given: build(Settings, model="openai:any", **given),
    depth_profile=st.sampled_from(["adaptive", "fixed", "safety"]),
    ask=st.booleans(),
    leaf_protocol=st.sampled_from(["debate", "rsd", "art"]),
    leaf_rounds=st.integers(1, 3),
    synthesis_rounds=st.integers(1, 3),
    second_pass_below=st.none() | st.floats(0, 1),
    seed=st.integers(0, 9),
)
ids = st.sampled_from(["0", "0.1", "0.10.2"])
findings = st.builds(
    finding,
    ids,
    answer=st.none() | st.just("so"),
    confidence=st.none() | st.floats(0, 1),
    take=st.integers(1, 2),
)
styles = st.sampled_from(["concise", "full"])
statements = st.builds(lambda who: {"debater": who}, st.sampled_from("AB"))
fault = st.none() | st.sampled_from(["failed", "contradicted"])

STATES = {
    subtree: st.fixed_dictionaries(
        {
            "depth": st.integers(0, 3),
            "budget": st.integers(0, 5),
            "attempt": st.integers(1, 2),
            "drafted": st.lists(st.just({"qid": "c1"}), max_size=3),
            "atomic": st.booleans(),
            "difficulty": st.lists(st.floats(0, 1), min_size=2, max_size=4),
            "unclear": st.lists(st.just("Which year?"), max_size=1),
        }
    ),
    leaf: st.fixed_dictionaries(
        {
            "id": ids,
            "take": st.integers(1, 2),
            "question": st.sampled_from(["Is it so?", "Is it so or not?", "What?", "", "?"]),
        }
    ),
    leaf_debate: st.fixed_dictionaries(
        {
            "id": ids,
            "take": st.integers(1, 2),
            "question": st.just("What?"),
            "transcript": st.lists(statements, max_size=7),
        }
    ),
    synthesis_debate: st.fixed_dictionaries(
        {
            "take": st.integers(1, 2),
            "round": st.integers(0, 4),
            "findings": st.lists(findings, max_size=4),
            "candidates": st.lists(st.builds(lambda s: {"style": s}, styles), max_size=4),
            "gone": st.lists(styles, max_size=2),
        },
        optional={"fault": fault},
    ),
    second_pass: st.fixed_dictionaries(
        {
            "id": ids,
            "question": st.just("What?"),
            "path": st.just([]),
            "depth": st.integers(0, 3),
            "leaves": st.lists(ids, max_size=3),
            "certified": st.lists(findings, max_size=4),
            "findings": st.lists(findings, max_size=4),
        }
    ),
    tree_structured_debate: st.fixed_dictionaries({"finding": findings, "fault": fault}),
}
RULES = [
    (module, name)
    for module in MODULES
    for name in vars(module)
    if name.startswith("after_") or name in ("who_opens", "who_settles")
]


@pytest.mark.parametrize(
    ("module", "name"), RULES, ids=[f"{m.__name__.rpartition('.')[2]}.{n}" for m, n in RULES]
)
def test_a_rule_says_where_to_go_whatever_the_state_and_changes_nothing(
    module: Any, name: str
) -> None:
    check_rule(module, name, STATES[module], contexts)
