"""How an argument grows arguments of its own: near-duplicates, ids, and the rules after it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Send

from dialectree.graphs.adaptive_reasoning_tree import argument_growth
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply, near_duplicates
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.protocols.settings import build_settings
from dialectree.report.words import list_declined_sides
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

ONE = "Chameleons turn dark when they are cold and want to warm up"
ALIKE = "Chameleons turn dark, when they are cold and want to warm up!"
OTHER = "Males show bright colours to rivals and to females"


def repeats(again: Said, role: str = "supporter", first: tuple[str, ...] = (ONE, ALIKE)) -> ScriptedModel:
    """Return a model that repeats itself on one side, and says ``again`` when asked once more."""
    model = arguers()
    model.will_say_now(
        by_role(**{role: lambda call: again if call.round == 2 else argue(*first)}), to=ArgumentsReply
    )
    return model


def asked_again(model: ScriptedModel) -> list[Asked]:
    return [call for call in model.calls if call.role in GENERATORS and call.round == 2]


@pytest.mark.parametrize(
    ("role", "stance", "twin"), [("supporter", "support", "0.1"), ("attacker", "attack", "0.3")]
)
def test_a_near_duplicate_is_asked_for_again_beside_what_is_there_already(
    role: str, stance: str, twin: str
) -> None:
    model = repeats(argue(OTHER), role)
    done = verify(model, breadth=2)
    (again,) = asked_again(model)
    assert again.role == role
    assert "Give 1 argument." in again.prompt
    assert f"<arguments>\n- {ONE}\n- {ALIKE}\n</arguments>" in again.prompt
    assert done.node(twin).text == OTHER
    assert (done.node().children, done.node().notes) == (["0.0", "0.1", "0.2", "0.3"], [])
    assert cost(done) == Cost(10 + 1, 3)
    turns = [turn for turn in done.node().transcript if turn.role == role]
    assert [(turn.round, turn.step, turn.side) for turn in turns] == [(1, 0, stance), (2, 1, stance)]


@pytest.mark.parametrize(
    ("again", "notes", "declined", "failed"),
    [
        (argue(ALIKE), ["support: near-duplicates dropped: 1"], [], []),
        (argue(""), [], ["support"], []),
        (no_reply(), ["support: near-duplicates dropped: 1"], [], ["supporter"]),
    ],
    ids=["alike", "declined", "failed"],
)
def test_an_argument_that_cannot_be_replaced_is_left_out_and_not_asked_for_a_third_time(
    again: Said, notes: list[str], declined: list[str], failed: list[str]
) -> None:
    model = repeats(again)
    done = verify(model, breadth=2)
    assert len(asked_again(model)) == 1
    assert done.node().children == ["0.0", "0.2", "0.3"]
    assert (done.node().notes, list_declined_sides(done.node())) == (notes, declined)
    assert [failure.role for _, failure in done.failures] == failed
    assert len(done.node().comparisons) == 2
    assert done.verdict.label == "True"


def test_a_declined_place_is_absent_and_the_others_keep_their_ids() -> None:
    model = repeats("", "attacker", ("this one", "", "and that other"))
    done = verify(model, breadth=3)
    assert list_declined_sides(done.node()) == ["attack"]
    assert done.node().children == ["0.0", "0.1", "0.2", "0.3", "0.5"]
    assert done.node("0.5").text == "and that other"
    assert cost(done) == Cost(2 + 5 + 6, 2)


def test_supporters_stand_before_attackers_in_the_order_of_their_places() -> None:
    done = verify(arguers(), breadth=8, blend=0.0, depth=1)
    assert [*done.tree.nodes] == ["0", *(f"0.{n}" for n in range(16))]
    done = verify(arguers(), breadth=3, depth=2)
    for node in done.tree.nodes.values():
        if node.stance:
            assert (int(node.id.rpartition(".")[2]) < 3) == (node.stance == "support")
        assert node.kind == ("argument" if node.stance else "claim")
        assert len(node.children) == (6 if node.depth < 2 else 0)
        assert (node.status, node.depth) == ("answered", node.id.count("."))


# Rules


@pytest.mark.parametrize(
    ("blend", "stances", "depth", "expected"),
    [
        (0.5, "sa", 1, {"scorer": 2, "pairwise_judge": 1}),
        (0.5, "sa", 2, {"scorer": 2, "pairwise_judge": 1, "grow": 2}),
        (0.0, "sa", 1, {"scorer": 2}),
        (1.0, "sa", 2, {"tournament": 1, "grow": 2}),
        (1.0, "ss", 1, {"scorer": 2}),
        (0.5, "", 2, {"__end__": 1}),
    ],
)
def test_a_level_is_judged_while_the_next_one_grows(
    blend: float, stances: str, depth: int, expected: dict[str, int]
) -> None:
    children: list[Any] = [
        {"id": f"0.{n}", "parent": "0", "stance": "support" if s == "s" else "attack", "text": "so"}
        for n, s in enumerate(stances)
    ]
    state: Any = {"id": "0", "text": CLAIM, "path": [], "blend": blend, "argued": True}
    state |= {"children": children, "inserted": [], "insertions_below": []}
    ways: Any = argument_growth.after_branching(
        state, build_settings(Settings, model="openai:any", depth=depth)
    )
    ways = [ways] if isinstance(ways, str) else ways
    names = [way.node if isinstance(way, Send) else way for way in ways]
    assert {name: names.count(name) for name in names} == expected


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        ([], []),
        (["one"], []),
        (["Plants are green.", "plants are GREEN"], [1]),
        (["Plants are green.", "Green are plants!", "Plants grow."], [1]),
        (["a b c d", "a b c d e", "a b c d f"], [1, 2]),  # 4 of 5
        (["a b c d", "a b c e"], []),  # 3 of 5
        (["a b c d e f g", "a b c d e f g h", "b c d e f g h"], [1]),  # 7 of 8, then 6 of 8
        (["a b c d", "a b c d e", "a b c d e f"], [1]),  # 4 of 6: the second is not kept
        (["", " ", "\n", ""], []),
        (["", "x", "", "X"], [3]),
        (["?!", "?!", "…"], []),
        (["don't", "DON’T!", "dont", "don t"], [1, 2]),
        (["Straße", "STRASSE"], [1]),
        (["état", "E\u0301TAT"], [1]),
        (["हिन्दी", "हिन्दी।", "हन्द"], [1]),
        (["植物", "「植物」", "动物"], [1]),
        (["It is 5", "It is 6"], []),
    ],
)
def test_the_same_words_again_are_found(texts: list[str], places: list[int]) -> None:
    assert near_duplicates(texts) == places


texts = st.lists(
    st.lists(st.sampled_from(["one", "Two", "three,", "vier", "cinq!", "六"]), max_size=5).map(" ".join)
    | st.text(max_size=10),
    max_size=12,
)


@given(texts, st.data())
def test_a_repeated_text_is_found_and_what_is_left_has_no_near_duplicates(
    arguments: list[str], data: st.DataObject
) -> None:
    worded = [text for text in arguments if any(map(str.isalnum, text))]
    if worded:
        again = data.draw(st.sampled_from(worded))
        place = data.draw(st.integers(arguments.index(again) + 1, len(arguments)))
        assert place in near_duplicates([*arguments[:place], again, *arguments[place:]])
    duplicates = near_duplicates(arguments)
    assert duplicates == sorted(set(duplicates) - {0})
    distinct = [text for place, text in enumerate(arguments) if place not in duplicates]
    assert near_duplicates(distinct) == []
