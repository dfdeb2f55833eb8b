"""Stopping rules are pure and total; every graph shows a host what it takes and gives."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.graph.state import CompiledStateGraph

from dialectree import graphs as every
from dialectree import testing
from dialectree.graphs.adaptive_reasoning_tree import argument_growth
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.graphs.role_switching_debate import graph as role_switching_debate
from dialectree.graphs.tree_of_debate import graph as tree_of_debate
from dialectree.graphs.tree_of_debate import topic_debate
from dialectree.graphs.tree_structured_debate import graph as tree_structured_debate
from dialectree.graphs.tree_structured_debate import leaf, subtree
from dialectree.nodes.adaptive_reasoning_tree import state as of_arguments
from dialectree.nodes.adaptive_reasoning_tree.state import STANCES, Argument, pairs
from dialectree.nodes.role_switching_debate import state as of_switching
from dialectree.nodes.tree_of_debate import state as of_topics
from dialectree.nodes.tree_structured_debate import state as of_questions
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import methods
from dialectree.protocols.settings import build_settings
from tests.nodes.test_sides import finding

States = st.SearchStrategy[Any]


def anything(kind: Any, **fields: States) -> States:
    """Settings of ``kind``."""
    return st.builds(lambda **some: build_settings(kind, model="openai:any", **some), **fields)


def state(optional: Any = None, **fields: Any) -> States:
    """States with these fields."""
    return st.fixed_dictionaries(fields, optional=dict[str, States](optional or {}))


# Tree-structured debate

ids = st.sampled_from(["0", "0.1", "0.10.2"])
takes = st.integers(1, 2)
answers = st.none() | st.just("so")
findings = st.builds(finding, ids, answer=answers, confidence=st.none() | st.floats(0, 1), take=takes)
styles = st.sampled_from(["concise", "full"])
fault = st.none() | st.sampled_from(["failed", "contradicted"])
SPLIT = state(
    depth=st.integers(0, 3),
    budget=st.integers(0, 5),
    attempt=st.integers(1, 2),
    drafted=st.lists(st.just({"qid": "c1"}), max_size=3),
    atomic=st.booleans(),
    difficulty=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    unclear=st.lists(st.just("Which year?"), max_size=1),
)
LEAF = state(
    id=ids, take=takes, question=st.sampled_from(["Is it so?", "Is it so or not?", "What?", "", "?"])
)
STATEMENTS = state(
    id=ids,
    take=takes,
    question=st.just("What?"),
    transcript=st.lists(st.builds(lambda who: {"debater": who}, st.sampled_from("AB")), max_size=7),
)
SYNTHESIS = state(
    take=takes,
    round=st.integers(0, 4),
    findings=st.lists(findings, max_size=4),
    candidates=st.lists(st.builds(lambda style: {"style": style}, styles), max_size=4),
    gone=st.lists(styles, max_size=2),
    optional={"fault": fault},
)
SECOND_PASS = state(
    id=ids,
    question=st.just("What?"),
    path=st.just([]),
    depth=st.integers(0, 3),
    leaves=st.lists(ids, max_size=3),
    certified=st.lists(findings, max_size=4),
    findings=st.lists(findings, max_size=4),
)
QUESTIONS = anything(
    of_questions.Settings,
    depth_profile=st.sampled_from(["adaptive", "fixed", "safety"]),
    ask=st.booleans(),
    leaf_protocol=st.sampled_from(["debate", "rsd", "art"]),
    leaf_rounds=st.integers(1, 3),
    synthesis_rounds=st.integers(1, 3),
    second_pass_below=st.none() | st.floats(0, 1),
)

# Role-switching debate

failed = {"failed": st.just(True)}
FIVE_PHASES = state(
    agreed=st.sampled_from(["yes", "no", "unknown"]),
    assigned=st.booleans(),
    turns=st.just([]),
    optional=failed,
)
sample = st.fixed_dictionaries(
    {
        "number": st.integers(1, 3),
        "label": st.sampled_from([None, "A", "B"]),
        "answer": st.sampled_from(["x", "y", ""]),
        "reasoning": st.just(""),
    }
)
WHOLE_DEBATE = state(
    question=st.just("What?"),
    options=st.just([]),
    waiting=st.lists(st.just({"label": "A", "text": "x"}), max_size=3),
    pairs=st.lists(st.just({"id": "0.1"}), max_size=3),
    asked=st.integers(0, 3),
    samples=st.lists(sample, max_size=4),
    dropped=st.integers(0, 2),
    optional=failed,
)
SWITCHING = anything(
    of_switching.Settings,
    cross_examination=st.sampled_from(["in_turn", "simultaneous"]),
    judge_orders=st.sampled_from(["one", "both"]),
    judge=st.sampled_from(["model", "me"]),
    gate=st.integers(0, 3),
    candidates=st.sampled_from(["proposed", "knockout", "oracle", "balanced"]),
    distractor=st.sampled_from(["first", "model"]),
)

# Adaptive reasoning trees

SIDES: list[Argument] = [
    {"id": f"0.{n}", "parent": "0", "stance": STANCES[n // 2], "text": "so"} for n in range(4)
]
claim: dict[str, States] = {
    "id": st.just("0"),
    "text": st.just("So."),
    "path": st.lists(st.just("So."), max_size=3),
    "blend": st.sampled_from([0.0, 0.5, 1.0]),
    "argued": st.booleans(),
}
places = st.lists(st.integers(0, 3), max_size=3)
twice = st.fixed_dictionaries(dict.fromkeys(STANCES, places)).filter(lambda a: any(a.values()))
direction = st.sampled_from(["supports", "attacks", "neither", None])
directed = st.fixed_dictionaries({"text": st.sampled_from(["so", "no"]), "direction": direction})
GROWTH = state(**claim, again=twice) | state(
    **claim,
    checking=st.booleans(),
    directions=st.dictionaries(st.sampled_from(["0.0", "0.1", "0.2"]), directed),
    misfiled=twice,
    children=st.lists(st.sampled_from(SIDES), max_size=5),
    inserted=st.lists(st.sampled_from(SIDES), max_size=2),
    insertions_below=st.lists(st.sampled_from(["0.0", "0.1", "0.2"]), max_size=2),
)
met = st.fixed_dictionaries(
    {
        "supporter": st.sampled_from(["0.0", "0.1"]),
        "attacker": st.sampled_from(["0.2", "0.3"]),
        "winner": st.sampled_from(["SUPPORT", "ATTACK", "TIE"]),
    }
)
TOURNAMENT = state(pairs=st.just(pairs("0", "So.", SIDES, "one")), comparisons=st.lists(met))
ARGUMENTS = anything(
    of_arguments.Settings,
    depth=st.integers(1, 4),
    judge_orders=st.sampled_from(["one", "both"]),
    strength_rule=st.sampled_from(["win_rate", "bradley_terry"]),
)

# Tree-of-Debate

said = st.builds(
    lambda paper, stage, concedes: {
        "paper": paper, "stage": stage, "title": "t", "description": "d", "evidence": [],
        "questions": ["Why?"], "proposals": [], "concedes": concedes,
    },
    st.sampled_from("ab"),
    st.sampled_from(["present", "respond", "revise"]),
    st.booleans(),
)  # fmt: skip
segments = st.lists(st.sampled_from(["a:1", "a:2", "b:7"]), unique=True)
TOPIC = state(
    id=ids,
    authors=st.just({}),
    depth=st.integers(0, 3),
    own=st.just([{"id": "a1", "paper": "a"}, {"id": "b2", "paper": "b"}]),
    met=st.dictionaries(st.sampled_from(["a1", "b2"]), segments),
    children=st.just([]),
    progression_of_arguments=st.booleans(),
    meaningful_questions=st.booleans(),
    clear_winner=st.booleans(),
    said=st.lists(said, max_size=6, unique_by=lambda turn: (turn["paper"], turn["stage"])),
)
PAPERS = state(
    debates=st.lists(st.just("debate"), max_size=3),
    summaries=st.dictionaries(st.sampled_from("ab"), st.just("summary")),
)
TOPICS = anything(
    of_topics.Settings,
    expansion_rule=st.sampled_from(["reference", "paper"]),
    filter=st.sampled_from(["per_claim", "per_segment"]),
    max_depth=st.integers(1, 3),
)

# The laws

RULED: list[tuple[ModuleType, Any, States, States]] = [
    (subtree, subtree.graph, SPLIT, QUESTIONS),
    (subtree, subtree.synthesis_debate, SYNTHESIS, QUESTIONS),
    (leaf, leaf.graph, LEAF, QUESTIONS),
    (leaf, leaf.leaf_debate, STATEMENTS, QUESTIONS),
    (tree_structured_debate, tree_structured_debate.second_pass, SECOND_PASS, QUESTIONS),
    (
        *(tree_structured_debate, tree_structured_debate.graph),
        *(state(finding=findings, fault=fault), QUESTIONS),
    ),
    (five_phases, five_phases.graph, FIVE_PHASES, SWITCHING),
    (role_switching_debate, role_switching_debate.graph, WHOLE_DEBATE, SWITCHING),
    (argument_growth, argument_growth.graph, GROWTH, ARGUMENTS),
    (argument_growth, argument_growth.tournament, TOURNAMENT, ARGUMENTS),
    (topic_debate, topic_debate.topic_debate("topic"), TOPIC, TOPICS),
    (topic_debate, topic_debate.topic_debate("topic", splits=False), TOPIC, TOPICS),
    (tree_of_debate, tree_of_debate.graph, PAPERS, TOPICS),
    (tree_of_debate, tree_of_debate.two_stage, PAPERS, TOPICS),
]
RULES = {
    name: (graph, getattr(module, name), states, settings)
    for module, graph, states, settings in RULED
    for rules in graph.builder.branches.values()
    for name in rules
    if name.startswith(("after_", "who_")) or name == "left_over"
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_where_to_go_whatever_the_state_and_changes_nothing(name: str) -> None:
    graph, rule, states, settings = RULES[name]

    @seed(1)
    @hypothesis_settings(max_examples=60, deadline=None, database=None)
    @given(state=states, context=settings)
    def check(state: dict[str, Any], context: Any) -> None:
        testing.check_rule(graph, rule, state, context)

    check()


def all_graphs() -> Iterator[tuple[str, CompiledStateGraph[Any, Any, Any, Any]]]:
    for found in walk_packages(every.__path__, "dialectree.graphs."):
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, CompiledStateGraph):
                yield f"{found.name}.{name}", value
    yield "topic_debate", topic_debate.topic_debate("topic")


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


@pytest.mark.parametrize("name", methods())
def test_a_public_graph_takes_a_question_and_gives_a_verdict_and_shows_no_more(name: str) -> None:
    graph = methods()[name].graph()
    protocol = methods()[name].protocol.name
    own = {"rsd": {"options", "background"}, "tod": {"papers"}, "vote_first": {"options"}}
    more = own.get(protocol, set())
    more |= {"sources"} if methods()[name].protocol.grounded else set[str]()
    assert graph.get_input_jsonschema()["properties"].keys() == {"question", *more}
    needed = {"question", *(["papers"] if protocol == "tod" else [])}
    assert {*graph.get_input_jsonschema()["required"]} == needed
    out = graph.get_output_jsonschema()
    assert out["properties"].keys() == {"verdict", "run_id"}
    assert out["properties"]["verdict"]["properties"].keys() > {"answer", "label", "confidence"}
    context = graph.get_context_jsonschema()
    assert context is not None
    declared = methods()[name].protocol
    hidden = {*declared.only_variants} | {
        field
        for field in declared.settings.model_fields
        if {"operator", "hidden", "evaluation_only"} & get_option_details(declared.settings, field).keys()
    }
    hidden |= {"inner"} if declared.inner is None else set()
    assert context["properties"].keys() == declared.settings.model_fields.keys() - hidden
    assert "base_url" in hidden
    assert all(part.get("description") for part in context["properties"].values())
