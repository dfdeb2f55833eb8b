"""How an argument grows arguments of its own: near-duplicates, ids, and the rule after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.types import Send

from dialectree.context import build
from dialectree.graphs.adaptive_reasoning_tree.argument_growth import after_branching, graph
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.adaptive_reasoning_tree.arguments import STANCES
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.report.words import declined_sides
from tests.graphs.adaptive_reasoning_tree.arguing import (
    CLAIM,
    GENERATORS,
    Cost,
    argue,
    arguers,
    by_role,
    cost,
    verify,
)
from tests.scripted import Asked, Said, ScriptedModel, no_reply

DRAWINGS = Path(__file__).parents[1] / "drawings"
ONE = "Chameleons turn dark when they are cold and want to warm up"
ALIKE = "Chameleons turn dark, when they are cold and want to warm up!"
OTHER = "Males show bright colours to rivals and to females"
THIRD = "Their crystals shift with excitement whatever the background"


def repeats(
    again: Said, role: str = "supporter", first: tuple[str, ...] = (ONE, ALIKE)
) -> ScriptedModel:
    """One side says the same twice, and ``again`` when it is asked once more."""
    model = arguers()
    model.will_say_now(
        by_role(**{role: lambda call: again if call.round == 2 else argue(*first)}),
        to=ArgumentsReply,
    )
    return model


def asked_again(model: ScriptedModel) -> list[Asked]:
    return [call for call in model.calls if call.role in GENERATORS and call.round == 2]


@pytest.mark.parametrize(("role", "twin"), [("supporter", "0.1"), ("attacker", "0.3")])
def test_a_near_duplicate_is_asked_for_again_and_told_what_is_there_already(
    role: str, twin: str
) -> None:
    model = repeats(argue(OTHER), role)
    done = verify(model, breadth=2)
    (again,) = asked_again(model)
    assert again.role == role
    assert "Give 1 argument." in again.prompt
    assert f"<arguments>\n- {ONE}\n- {ALIKE}\n</arguments>" in again.prompt
    assert done.node(twin).text == OTHER
    assert done.node().children == ["0.0", "0.1", "0.2", "0.3"]
    assert done.node().notes == []
    assert cost(done) == Cost(10 + 1, 3)
    turns = [turn for turn in done.node().transcript if turn.role == role]
    assert [(turn.round, turn.step, turn.side) for turn in turns] == [
        (1, 0, "support" if role == "supporter" else "attack"),
        (2, 1, "support" if role == "supporter" else "attack"),
    ]


def test_what_stays_a_near_duplicate_is_dropped_and_said_and_not_asked_for_a_third_time() -> None:
    model = repeats(argue(ALIKE))
    done = verify(model, breadth=2)
    assert len(asked_again(model)) == 1
    assert done.node().children == ["0.0", "0.2", "0.3"]
    assert done.node().notes == ["support: near-duplicates dropped: 1"]
    assert declined_sides(done.node()) == []
    assert len(done.node().comparisons) == 2
    assert cost(done) == Cost(2 + 1 + 3 + 2, 3)


def test_a_side_may_decline_when_it_is_asked_again() -> None:
    done = verify(repeats(argue("")), breadth=2)
    assert (done.node().children, declined_sides(done.node())) == (
        ["0.0", "0.2", "0.3"],
        ["support"],
    )
    assert done.node().notes == []


def test_both_sides_are_asked_again_at_once_and_each_for_its_own_places() -> None:
    model = arguers()

    def say(call: Asked) -> ArgumentsReply:
        if call.round == 1:
            return argue(ONE, ALIKE, ALIKE)
        return argue(f"{OTHER} {call.role}", f"{THIRD} {call.role}")

    model.will_say_now(say, to=ArgumentsReply)
    done = verify(model, breadth=3)
    assert sorted(call.role for call in asked_again(model)) == ["attacker", "supporter"]
    assert all("Give 2 arguments." in call.prompt for call in asked_again(model))
    texts = [node.text.split()[0] for node in done.tree.nodes.values() if node.stance]
    assert texts == ["Chameleons", "Males", "Their"] * 2
    assert cost(done) == Cost(2 + 2 + 6 + 9, 3)


def test_what_a_declined_place_would_have_said_is_not_compared() -> None:
    model = repeats(argue(OTHER), first=("", ""))
    done = verify(model, breadth=2)
    assert asked_again(model) == []
    assert done.node().children == ["0.2", "0.3"]


@pytest.mark.parametrize("fault", ["this is not JSON", no_reply()], ids=["invalid", "none"])
def test_without_a_second_reply_the_near_duplicate_is_dropped_and_the_run_degraded(
    fault: Said,
) -> None:
    done = verify(repeats(fault), breadth=2)
    assert [(node, failure.role) for node, failure in done.failures] == [("0", "supporter")]
    assert done.node().notes == ["support: near-duplicates dropped: 1"]
    assert done.node().children == ["0.0", "0.2", "0.3"]
    assert done.verdict.label == "True"


def test_two_sides_that_say_the_same_are_not_near_duplicates() -> None:
    model = arguers()
    model.will_say_now(argue(ONE), to=ArgumentsReply)
    done = verify(model)
    assert done.node().children == ["0.0", "0.1"]
    assert asked_again(model) == []


def test_a_supporters_id_ends_in_its_place_and_an_attackers_after_those() -> None:
    done = verify(arguers(), breadth=3, depth=2)
    for node in done.tree.nodes.values():
        if node.stance:
            assert (int(node.id.rpartition(".")[2]) < 3) == (node.stance == "support")
        assert node.kind == ("argument" if node.stance else "claim")
        assert len(node.children) == (6 if node.depth < 2 else 0)
        assert node.status == "answered"
        assert node.depth == node.id.count(".")


def test_eight_arguments_a_side_are_sixteen_nodes_in_their_order() -> None:
    done = verify(arguers(), breadth=8, blend=0.0)
    assert done.node().children == [f"0.{n}" for n in range(16)]
    assert [*done.tree.nodes] == ["0", *done.node().children]


def test_the_drawing_is_as_it_was_agreed() -> None:
    assert graph.get_graph().draw_mermaid() == (DRAWINGS / "argument_growth.mmd").read_text()


arguments = st.builds(
    lambda n, stance: {"id": f"0.{n}", "parent": "0", "stance": stance, "text": "so"},
    st.integers(0, 15),
    st.sampled_from(STANCES),
)
places = st.lists(st.integers(0, 3), min_size=1, max_size=3)
nothing: list[int] = []
again = st.one_of(
    st.builds(lambda support, attack: {"support": support, "attack": attack}, places, places),
    st.builds(lambda support: {"support": support, "attack": nothing}, places),
    st.builds(lambda attack: {"support": nothing, "attack": attack}, places),
)
common = {
    "id": st.just("0"),
    "text": st.just(CLAIM),
    "path": st.just([]),
    "level": st.integers(0, 3),
    "depth": st.integers(0, 4),
    "blend": st.sampled_from([0.0, 0.5, 1.0]),
}
states = st.one_of(
    st.fixed_dictionaries({**common, "again": again}),
    st.fixed_dictionaries(
        {
            **common,
            "argued": st.just(True),
            "children": st.lists(arguments, max_size=5),
            "inserted": st.just([]),
            "insertions_below": st.just([]),
        }
    ),
)
contexts = st.builds(
    lambda **given: build(Settings, model="openai:any", **given),
    depth=st.integers(1, 4),
    judge_orders=st.sampled_from(["one", "both"]),
)


@seed(1)
@hypothesis_settings(max_examples=100, deadline=None, database=None)
@given(state=states, context=contexts)
def test_the_rule_says_where_to_go_whatever_the_state_and_changes_nothing(
    state: Any, context: Settings
) -> None:
    steps = {*graph.get_graph().nodes}
    before = repr(state)
    chosen = after_branching(state, context)
    assert repr(state) == before
    ways = chosen if isinstance(chosen, list) else [chosen]
    names = [way.node if isinstance(way, Send) else way for way in ways]
    assert names and set(names) <= steps
    if "children" not in state:
        assert set(names) <= {"supporter_again", "attacker_again"}
    elif not state["children"]:
        assert names == ["__end__"]
    else:
        sides = {argument["stance"] for argument in state["children"]}
        alone = state["blend"] == 1 and len(sides) == 2
        assert ("tournament" in names) == alone
        assert names.count("scorer") == (0 if alone else len(state["children"]))
        assert ("pairwise_judge" in names) == (len(sides) == 2 and state["blend"] == 0.5)
