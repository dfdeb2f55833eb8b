"""The rules of a topic's debate: pure, total, and drawn."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.graphs.tree_of_debate import topic_debate
from dialectree.nodes.tree_of_debate.state import Settings, Turn
from dialectree.nodes.tree_of_debate.topics import latest
from dialectree.protocols.settings import build

topic = topic_debate.topic_debate


def turn(paper: str, stage: str, concedes: bool = False, questions: list[str] | None = None) -> Any:
    return {
        "paper": paper, "stage": stage, "title": "t", "description": "d", "evidence": [],
        "questions": questions or [], "proposals": [], "concedes": concedes,
    }  # fmt: skip


EXPANDED = {
    # progression, questions, winner, asked: reference, paper
    (True, False, False, False): ("expansion", "expansion"),
    (True, True, False, True): ("expansion", "expansion"),
    (False, True, False, True): ("expansion", "expansion"),
    (False, True, False, False): ("stop_no_progress", "expansion"),
    (False, False, False, True): ("stop_no_progress", "expansion"),
    (False, False, True, True): ("stop_clear_winner", "stop_clear_winner"),
    (False, True, True, False): ("stop_clear_winner", "stop_clear_winner"),
    (False, True, True, True): ("stop_clear_winner", "expansion"),
    (True, False, True, False): ("stop_clear_winner", "expansion"),
    (True, True, True, True): ("stop_clear_winner", "expansion"),
}


@pytest.mark.parametrize(("judged", "ways"), EXPANDED.items())
def test_a_topic_is_split_as_either_rule_says(
    judged: tuple[bool, bool, bool, bool], ways: tuple[str, str]
) -> None:
    progression, questions, winner, asked = judged
    state: Any = {
        "said": [turn("a", "respond", questions=["Why?"] if asked else [])],
        "progression_of_arguments": progression,
        "meaningful_questions": questions,
        "clear_winner": winner,
    }
    for rule, way in zip(("reference", "paper"), ways, strict=True):
        settings = build(Settings, model="openai:any", expansion_rule=rule)
        assert topic_debate.after_progress(state, settings) == way


# Laws of every rule

TURNS = st.lists(
    st.builds(
        turn,
        st.sampled_from("ab"),
        st.sampled_from(["present", "respond", "revise"]),
        st.booleans(),
        st.just(["Why?"]),
    ),
    max_size=6,
    unique_by=lambda turn: (turn["paper"], turn["stage"]),
)
segments = st.lists(st.sampled_from(["a:1", "a:2", "b:7"]), unique=True)
contexts = st.builds(
    lambda **given: build(Settings, model="openai:any", **given),
    expansion_rule=st.sampled_from(["reference", "paper"]),
    filter=st.sampled_from(["per_claim", "per_segment"]),
    max_depth=st.integers(1, 3),
)
topics = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["0", "0.1", "0.10.2"]),
        "authors": st.just({}),
        "depth": st.integers(0, 3),
        "own": st.just([{"id": "a1", "paper": "a"}, {"id": "b2", "paper": "b"}]),
        "met": st.dictionaries(st.sampled_from(["a1", "b2"]), segments),
        "children": st.just([]),
        "progression_of_arguments": st.booleans(),
        "meaningful_questions": st.booleans(),
        "clear_winner": st.booleans(),
        "said": TURNS,
    }
)


@seed(1)
@hypothesis_settings(max_examples=60, deadline=None, database=None)
@given(state=topics, context=contexts)
def test_every_segment_of_a_claim_is_weighed_once_and_no_call_is_made_about_nothing(
    state: dict[str, Any], context: Settings
) -> None:
    chosen = topic_debate.after_pre_emption(state, context)  # type: ignore[arg-type]
    sent: list[Any] = [send.arg for send in chosen] if isinstance(chosen, list) else []
    assert sent or chosen == "subtopics"
    for claim, met in state["met"].items():
        portions = [one["segments"] for one in sent if one["claim"]["id"] == claim]
        whole = [met] if met else []
        expected = [[name] for name in met] if context.filter == "per_segment" else whole
        assert portions == expected
    state["own"] = []
    assert topic_debate.after_pre_emption(state, context) == "stop_failed"  # type: ignore[arg-type]


@seed(1)
@hypothesis_settings(max_examples=100, deadline=None, database=None)
@given(turns=TURNS)
def test_a_personas_last_argument_stands_whatever_is_missing(turns: list[Turn]) -> None:
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
