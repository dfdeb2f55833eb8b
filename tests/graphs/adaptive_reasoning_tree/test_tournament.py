"""A tournament by itself: who is scored, who meets whom, and who is scored after it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.types import Send

from dialectree.context import build
from dialectree.graphs.adaptive_reasoning_tree.tournament import entrants, graph, left_over
from dialectree.nodes.adaptive_reasoning_tree.arguments import Argument, Stance, pairs
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import PairwiseReply
from dialectree.nodes.adaptive_reasoning_tree.state import Entries, Settings
from tests.graphs.adaptive_reasoning_tree.arguing import CLAIM, arguers, compare, context, met
from tests.scripted import ScriptedModel

DRAWINGS = Path(__file__).parents[1] / "drawings"


def argument(place: int, stance: Stance) -> Argument:
    return {"id": f"0.{place}", "parent": "0", "stance": stance, "text": f"{stance} {place}"}


SIDES = [
    argument(0, "support"),
    argument(1, "support"),
    argument(2, "attack"),
    argument(3, "attack"),
]


def entries(to_score: list[Argument], met: list[Argument], orders: Any = "one") -> Entries:
    return {"id": "0", "text": CLAIM, "to_score": to_score, "pairs": pairs(met, orders)}


def held(model: ScriptedModel, of: Entries, **settings: Any) -> Any:
    return asyncio.run(graph.ainvoke(of, context=context(model, **settings)))


def test_everybody_is_scored_and_every_supporter_meets_every_attacker() -> None:
    model = arguers()
    out = held(model, entries(SIDES, SIDES))
    assert sorted(model.asked) == ["PairwiseReply"] * 4 + ["ScorerReply"] * 4
    assert [score["id"] for score in out["scores"]] == ["0.0", "0.1", "0.2", "0.3"]
    assert [(c["supporter"], c["attacker"]) for c in out["comparisons"]] == [
        ("0.0", "0.2"), ("0.0", "0.3"), ("0.1", "0.2"), ("0.1", "0.3"),
    ]  # fmt: skip


def test_the_outcome_is_in_one_order_whoever_replies_first() -> None:
    straight = held(arguers(), entries(SIDES, SIDES, "both"))
    model = arguers()
    model.wait = lambda call: 0.02 - 0.001 * len(model.calls)
    assert held(model, entries(SIDES, SIDES, "both")) == straight


def test_one_order_shows_the_supporter_first_and_both_show_either() -> None:
    model = arguers()
    held(model, entries([], SIDES, "both"), blend=1.0)
    firsts = [
        call.prompt.index("SUPPORT: ") < call.prompt.index("ATTACK: ") for call in model.calls
    ]
    assert (firsts.count(True), firsts.count(False)) == (4, 4)
    assert len({met(call) for call in model.calls}) == 4


@pytest.mark.parametrize(
    ("rule", "ties", "late"),
    [("bradley_terry", "ignore", 4), ("bradley_terry", "half", 0), ("win_rate", "ignore", 0)],
)
def test_whom_no_comparison_decided_is_scored_after_all_of_them(
    rule: str, ties: str, late: int
) -> None:
    model = arguers(winner="TIE")
    out = held(model, entries([], SIDES), strength_rule=rule, ties=ties)
    assert model.asked == ["PairwiseReply"] * 4 + ["ScorerReply"] * late
    assert len(out["scores"]) == late


def test_a_win_in_one_order_and_a_tie_in_the_other_is_a_decision() -> None:
    model = arguers()
    model.will_say_now(
        lambda call: compare(
            "TIE" if call.prompt.index("ATTACK: ") < call.prompt.index("SUPPORT: ") else "SUPPORT"
        ),
        to=PairwiseReply,
    )
    held(model, entries([], SIDES, "both"))
    assert "ScorerReply" not in model.asked


@pytest.mark.parametrize("count", [1, 4])
def test_where_somebody_is_scored_at_once_nobody_is_scored_late(count: int) -> None:
    model = arguers(winner="TIE")
    out = held(model, entries(SIDES[:count], SIDES))
    assert model.asked.count("ScorerReply") == len(out["scores"]) == count


def test_a_tournament_without_entrants_is_over_at_once() -> None:
    model = arguers()
    held(model, entries([], []))
    assert model.calls == []


def test_the_drawing_is_as_it_was_agreed() -> None:
    assert graph.get_graph().draw_mermaid() == (DRAWINGS / "tournament.mmd").read_text()


some = st.lists(st.sampled_from(SIDES), max_size=4, unique_by=lambda a: a["id"])
winners = st.sampled_from(["SUPPORT", "ATTACK", "TIE"])


@seed(1)
@hypothesis_settings(max_examples=100, deadline=None, database=None)
@given(scored=some, there=some, ties=st.sampled_from(["ignore", "half"]), data=st.data())
def test_the_rules_say_where_to_go_whatever_the_state_and_change_nothing(
    scored: list[Argument], there: list[Argument], ties: Any, data: st.DataObject
) -> None:
    compared = [
        {
            "parent": "0", "supporter": pair["supporter"]["id"],
            "attacker": pair["attacker"]["id"], "winner": data.draw(winners),
            "order": pair["order"],
        }
        for pair in pairs(there, "one")
        if data.draw(st.booleans())
    ]  # fmt: skip
    state: Any = {**entries(scored, there), "comparisons": compared, "scores": []}
    context = build(Settings, model="openai:any", strength_rule="bradley_terry", ties=ties)
    before = repr(state)
    first, then = entrants(state), left_over(state, context)
    assert repr(state) == before
    late = {send.arg["id"] for send in then if isinstance(send, Send)}
    decided = {
        name
        for c in compared
        if ties == "half" or c["winner"] != "TIE"
        for name in (c["supporter"], c["attacker"])
    }
    entered = {p[side]["id"] for p in state["pairs"] for side in ("supporter", "attacker")}
    assert late == (set() if scored else entered - decided)
    assert (then == "__end__") == (not late)
    assert (first == "__end__") == (not scored and not state["pairs"])
