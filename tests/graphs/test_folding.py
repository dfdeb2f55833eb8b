"""The record is folded from the events, however they come: doubled, shuffled, broken off."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dialectree.nodes.tree_structured_debate.leaf_debater import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.records import Comparison, Event, EventKind, Tree, Turn
from tests.folding import fold
from tests.graphs.debating import debate, debaters, rate, rule, split
from tests.scripted import no_reply


def _events() -> list[Event]:
    """Of a debate in which everything happens: failures, a second pass, an unclear question."""
    model = debaters(2)
    model.will_say(no_reply(), to=LeafJudgeReply, at="0.0.0")
    model.will_say(rate(0.9, 0.9, decision="clarify", request="Which year?"), at="0.1")
    model.will_say(rule("first", 0.2), rule("second", 0.9), at="0.1")
    writes = model.says(SynthesisReply)
    model.will_say_now(
        lambda call: no_reply() if "style is full" in call.prompt else writes(call), to=SynthesisReply, at="0"
    )
    model.will_say(split("What of it?", "what of  it?"), at="0")
    return debate(model, max_depth=2, second_pass_below=0.9).events


EVENTS = _events()
TREE, VERDICT = fold(EVENTS)
few = hypothesis_settings(max_examples=30, deadline=None, database=None)


def whole(tree: Tree) -> None:
    """Every child is a node, and every node a child of its parent."""
    for node in tree.nodes.values():
        for child in node.children:
            assert tree.nodes[child].parent == node.id
        if node.parent in tree.nodes:
            parent = tree.nodes[node.parent]
            assert node.id in parent.children or parent.kind == "open"
        if node.status == "answered":
            assert node.verdict is not None


def test_the_events_tell_the_whole_debate() -> None:
    assert list(TREE.nodes) == ["0", "0.0", "0.0.0", "0.0.1", "0.1"]
    assert {e.kind for e in EVENTS} == {
        "opened", "spoke", "noted", "asked", "branched", "failed", "settled",
        "concluded", "calling", "called",
    }  # fmt: skip
    assert [verdict.take for verdict in TREE.nodes["0.1"].earlier] == [1]
    assert TREE.nodes["0.0.0"].status == "missing"
    assert VERDICT is not None
    whole(TREE)


@seed(1)
@few
@given(st.lists(st.sampled_from(range(len(EVENTS))), max_size=30), st.randoms(use_true_random=False))
def test_an_event_that_is_told_again_later_changes_nothing(again: list[int], random: Any) -> None:
    events = [*EVENTS]
    for place in again:
        events.insert(random.randint(place + 1, len(events)), EVENTS[place])
    tree, verdict = fold(events)
    assert verdict == VERDICT
    for node in TREE.nodes.values():
        told = tree.nodes[node.id]
        assert told.transcript == node.transcript
        assert (told.verdict, told.earlier, told.status) == (node.verdict, node.earlier, node.status)
        assert (told.kind, told.children, told.provenance) == (
            node.kind, node.children, node.provenance,
        )  # fmt: skip
        assert sorted(told.notes) == sorted(node.notes)


@seed(1)
@few
@given(st.randoms(use_true_random=False))
def test_events_of_different_nodes_may_arrive_in_any_order(random: Any) -> None:
    queues = {node: [e for e in EVENTS if e.node == node] for node in TREE.nodes}
    mixed: list[Event] = []
    while any(queues.values()):
        mixed.append(queues[random.choice([n for n, q in queues.items() if q])].pop(0))
    assert fold(mixed) == (TREE, VERDICT)


def _duel(arguments: int) -> list[Event]:
    """Tell of a claim whose arguments all spoke and met, each supporter every attacker."""
    ids = [f"0.{number}" for number in range(2 * arguments)]
    told: list[tuple[str, EventKind, dict[str, Any]]] = [
        ("0", "opened", {"text": "So.", "depth": 0, "kind": "claim"}),
        ("0", "branched", {"children": ids, "kind": "claim"}),
    ]
    for number, name in enumerate(ids):
        stance = "attack" if number % 2 else "support"
        told.append((name, "opened", {"text": "", "parent": "0", "depth": 1, "stance": stance}))
    for one in ids[::2]:
        for other in ids[1::2]:
            speaks = {"role": "judge", "speaker": f"{one}:{other}", "phase": "tournament"}
            told.append(("0", "spoke", {**speaks, "step": 0, "fields": {}}))
            told.append(("0", "compared", {"supporter": one, "attacker": other, "winner": "TIE"}))
    return [Event(t="", run_id="", node=name, kind=kind, data=data) for name, kind, data in told]


def test_folding_looks_at_a_turn_and_a_comparison_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[str]()
    for kind, method in ((Turn, "spot"), (Comparison, "pair")):
        whole = getattr(kind, method)
        monkeypatch.setattr(
            kind, method, lambda self, whole=whole: looked.update([whole.__name__]) or whole(self)
        )
    events = _duel(12)
    tree, _ = fold([*events, *events])
    assert len(tree.nodes["0"].transcript) == len(tree.nodes["0"].comparisons) == 12 * 12
    assert looked == {"spot": 2 * 12 * 12, "pair": 2 * 12 * 12}
