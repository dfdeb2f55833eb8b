"""The rules of a topic's debate: pure, total, and drawn."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from dialectree.context import build
from dialectree.graphs.tree_of_debate import comparison_baselines, topic_debate
from dialectree.graphs.tree_of_debate import graph as tree_of_debate
from dialectree.nodes.tree_of_debate.state import Settings
from dialectree.nodes.tree_of_debate.topics import Claim, Counter, Said, countered, latest, wording

DRAWINGS = Path(__file__).parents[1] / "drawings"
topic = topic_debate.topic_debate
GRAPHS: dict[str, CompiledStateGraph[Any, Any, Any, Any]] = {
    "tree_of_debate": tree_of_debate.graph,
    "topic_debate": topic("topic_debate"),
    "topic_debate_in_turn": topic("topic_debate_in_turn", alternating=True),
    "topic_debate_no_tree": topic("topic_debate_no_tree", splits=False),
    "topic_debate_no_self_deliberation": topic("topic_debate_bare", deliberates=False),
    "single_stage": comparison_baselines.single_stage,
    "two_stage": comparison_baselines.two_stage,
}


# Drawings


@pytest.mark.parametrize("name", GRAPHS)
def test_the_drawing_is_as_it_was_agreed(name: str) -> None:
    assert GRAPHS[name].get_graph().draw_mermaid() == (DRAWINGS / f"{name}.mmd").read_text()


def test_the_ablations_differ_only_below_the_topic() -> None:
    drawing = tree_of_debate.graph.get_graph().draw_mermaid()
    for other in (tree_of_debate.no_tree, tree_of_debate.no_self_deliberation):
        assert other.get_graph().draw_mermaid() == drawing


@pytest.mark.parametrize("name", GRAPHS)
def test_every_step_can_be_reached_and_leads_to_the_end(name: str) -> None:
    edges = {(edge.source, edge.target) for edge in GRAPHS[name].get_graph().edges}

    def reached(start: str, forwards: bool) -> set[str]:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            ways = {(b if forwards else a) for a, b in edges if (a if forwards else b) == here}
            todo += ways - seen
            seen |= ways
        return seen

    steps = set(GRAPHS[name].get_graph().nodes)
    assert reached("__start__", True) == reached("__end__", False) == steps


def said(paper: str, stage: str, concedes: bool = False, title: str = "") -> Said:
    turn: Any = {
        "paper": paper, "stage": stage, "title": title, "description": "d", "evidence": [],
        "questions": [], "proposals": [], "concedes": concedes,
    }  # fmt: skip
    made: Said = turn
    return made


TURNS = st.lists(
    st.builds(
        said,
        st.sampled_from("ab"),
        st.sampled_from(["present", "respond", "revise"]),
        st.booleans(),
    ),
    max_size=6,
    unique_by=lambda turn: (turn["paper"], turn["stage"]),
)


# Whether a topic is split

EXPANDED = {
    # progression, questions, winner, asked: reference, paper
    (True, False, False, False): (None, None),
    (True, True, False, True): (None, None),
    (False, True, False, True): (None, None),
    (False, True, False, False): ("no_progress", None),
    (False, False, False, True): ("no_progress", None),
    (False, False, True, True): ("clear_winner", "clear_winner"),
    (False, True, True, False): ("clear_winner", "clear_winner"),
    (False, True, True, True): ("clear_winner", None),
    (True, False, True, False): ("clear_winner", None),
    (True, True, True, True): ("clear_winner", None),
}


def why(rule: Any, progression: bool, questions: bool, winner: bool, asked: bool) -> str | None:
    """Return why a topic is not split; None where it is."""
    response = {**said("a", "respond"), "questions": ["Why?"] if asked else []}
    state: Any = {
        "said": [response],
        "judged": {
            "progression_of_arguments": progression,
            "meaningful_questions": questions,
            "clear_winner": winner,
        },
    }
    way = topic_debate.after_progress(state, RULE[rule])
    return None if way == "expansion" else way.removeprefix("stop_")


RULE = {
    rule: build(Settings, model="openai:any", expansion_rule=rule)
    for rule in ("reference", "paper")
}


@pytest.mark.parametrize(("judged", "reasons"), EXPANDED.items())
def test_a_topic_is_split_as_either_rule_says(
    judged: tuple[bool, bool, bool, bool], reasons: tuple[str | None, str | None]
) -> None:
    assert (why("reference", *judged), why("paper", *judged)) == reasons


def test_what_the_reference_splits_the_paper_splits_too() -> None:
    for progression, questions, winner, asked in product([False, True], repeat=4):
        judged = (progression, questions, winner)
        if why("reference", *judged, asked) is None:
            assert why("paper", *judged, asked) is None
        # a question can only be a reason where one was asked
        unasked = why("reference", *judged, False)
        assert unasked == why("reference", progression, False, winner, True)


# Rules

contexts = st.builds(
    lambda **given: build(Settings, model="openai:any", **given),
    expansion_rule=st.sampled_from(["reference", "paper"]),
    filter=st.sampled_from(["per_claim", "per_segment"]),
    max_depth=st.integers(1, 3),
)
claims = st.fixed_dictionaries(
    {"id": st.sampled_from(["a1", "b2"]), "paper": st.sampled_from("ab")}
)
meetings = st.fixed_dictionaries(
    {"claim": claims, "segments": st.lists(st.sampled_from(["a:1", "a:2", "b:7"]), unique=True)}
)
ids = st.fixed_dictionaries({"id": st.sampled_from(["0", "0.1"])})
topics = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["0", "0.1", "0.10.2"]),
        "authors": st.just({}),
        "depth": st.integers(0, 3),
        "own": st.lists(claims, max_size=2),
        "meetings": st.lists(meetings, max_size=3),
        "subtopics": st.lists(st.just({}), max_size=2),
        "children": st.lists(ids, max_size=3),
        "judged": st.fixed_dictionaries(
            {
                "progression_of_arguments": st.booleans(),
                "meaningful_questions": st.booleans(),
                "clear_winner": st.booleans(),
            }
        ),
        "said": TURNS,
    }
)
compared = st.fixed_dictionaries(
    {"debates": st.lists(st.just("debate"), max_size=3)},
    optional={"failed": st.booleans()},
)
summarised = st.fixed_dictionaries(
    {"summaries": st.lists(st.just("summary"), max_size=2)}, optional={"failed": st.booleans()}
)
STATES = {topic_debate: topics, tree_of_debate: compared, comparison_baselines: summarised}
OF = {
    topic_debate: ("topic_debate", "topic_debate_no_tree"),
    tree_of_debate: ("tree_of_debate",),
    comparison_baselines: ("single_stage", "two_stage"),
}
RULES = [(module, name) for module in STATES for name in vars(module) if name.startswith("after_")]


@pytest.mark.parametrize(("module", "name"), RULES, ids=[name for _, name in RULES])
def test_a_rule_says_where_to_go_whatever_the_state_and_changes_nothing(
    module: Any, name: str
) -> None:
    rule = getattr(module, name)
    steps = {"__end__"}.union(*(GRAPHS[graph].get_graph().nodes for graph in OF[module]))

    @seed(1)
    @hypothesis_settings(max_examples=60, deadline=None, database=None)
    @given(state=STATES[module], context=contexts)
    def check(state: dict[str, Any], context: Settings) -> None:
        before = repr(state)
        arguments = (state, context) if "settings" in get_type_hints(rule) else (state,)
        chosen = rule(*arguments)
        assert repr(state) == before
        for way in chosen if isinstance(chosen, list) else [chosen]:
            assert (way.node if isinstance(way, Send) else way) in steps
        assert chosen == rule(*arguments)

    check()


@seed(1)
@hypothesis_settings(max_examples=60, deadline=None, database=None)
@given(state=topics, each=st.booleans())
def test_every_segment_of_a_claim_is_weighed_once_and_no_call_is_made_about_nothing(
    state: dict[str, Any], each: bool
) -> None:
    way = "per_segment" if each else "per_claim"
    context = build(Settings, model="openai:any", filter=way)
    chosen = topic_debate.after_pre_emption(state, context)  # type: ignore[arg-type]
    weighed: list[Any] = [send.arg for send in chosen] if isinstance(chosen, list) else []
    if not state["own"]:
        assert chosen == "stop_failed"
        return
    wanted = [name for meeting in state["meetings"] for name in meeting["segments"]]
    assert [name for one in weighed for name in one["segments"]] == wanted
    assert all(one["segments"] for one in weighed)
    assert weighed or chosen == "subtopics"
    if each:
        assert all(len(one["segments"]) == 1 for one in weighed)
    else:
        assert len(weighed) == sum(bool(meeting["segments"]) for meeting in state["meetings"])
    for one in weighed:
        assert 0 <= one["place"] < one["of"]


# What is said of a topic


@seed(1)
@hypothesis_settings(max_examples=100, deadline=None, database=None)
@given(turns=TURNS)
def test_a_personas_last_argument_stands_whatever_is_missing(turns: list[Said]) -> None:
    last = latest(turns)
    assert [one["paper"] for one in last] == sorted({one["paper"] for one in last})
    assert latest([*reversed(turns)]) == last
    own = {(str(turn["paper"]), str(turn["stage"])): turn for turn in turns}
    for letter in "ab":
        stands = own.get((letter, "revise")) or own.get((letter, "present"))
        found = [one for one in last if one["paper"] == letter]
        assert [one["stage"] for one in found] == ([stands["stage"]] if stands else [])
        if stands and stands["stage"] == "revise":
            assert found == [stands]
        elif stands:
            response = own.get((letter, "respond"))
            conceded = response is not None and response["concedes"]
            assert found[0]["concedes"] == (stands["concedes"] or conceded)


def a_claim(name: str = "a1") -> Claim:
    return {
        "id": name, "paper": "a", "title": "t", "description": "d", "evidence": [], "counter": None
    }  # fmt: skip


def answered(*segments: str, claim: str = "a1", of: int = 1) -> Counter:
    return {"claim": claim, "segments": [*segments], "of": of}


COUNTERED: dict[str, tuple[list[Counter], list[str] | None]] = {
    "nobody looked": ([], None),
    "somebody looked at another claim": ([answered("b:1", claim="a2")], None),
    "nothing was found": ([answered()], []),
    "something was found": ([answered("b:2", "b:1")], ["b:2", "b:1"]),
    "segment by segment": ([answered("b:2", of=3), answered(of=3), answered("b:1", of=3)],
                           ["b:2", "b:1"]),
    "segment by segment, twice the same": ([answered("b:2", of=2), answered("b:2", of=2)], ["b:2"]),
    "segment by segment, nothing": ([answered(of=2), answered(of=2)], []),
    "nothing, as far as somebody looked": ([answered(of=2)], None),
    "something, as far as somebody looked": ([answered("b:1", of=2)], ["b:1"]),
}  # fmt: skip


@pytest.mark.parametrize(("counters", "counter"), COUNTERED.values(), ids=COUNTERED)
def test_that_a_paper_does_not_address_a_claim_is_said_only_where_somebody_looked(
    counters: list[Counter], counter: list[str] | None
) -> None:
    claim = a_claim()
    (found,) = countered([claim], counters)
    assert found == {**claim, "counter": counter}
    assert claim["counter"] is None


def test_a_topics_query_is_its_title_and_description_the_roots_its_title() -> None:
    root: Any = {"title": "orbits", "description": ""}
    deeper: Any = {**root, "description": "How fast?"}
    assert (wording(root), wording(deeper)) == ("orbits", "orbits : How fast?")
