"""Records: folded from events in any order of arrival, summed from calls."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dialectree.records import Call, Event, RunRecord, path_key, segment_key, usage
from tests.folding import critical_path, fold


def event(node: str, kind: str, **data: Any) -> Event:
    return Event.model_validate({"t": "", "run_id": "r", "node": node, "kind": kind, "data": data})


def opened(node: str, parent: str | None = None) -> Event:
    depth = node.count(".")
    return event(node, "opened", text=f"Question {node}?", depth=depth, parent=parent)


def spoke(node: str, who: str, stage: str = "debate", step: int = 0, **fields: Any) -> Event:
    turn = {"role": "debater", "speaker": who, "phase": stage, "step": step, "round": step // 2 + 1}
    return event(node, "spoke", **{**turn, "fields": {}, **fields})


def settled(node: str, confidence: float | None, take: int = 1) -> Event:
    verdict = {"answer": "a", "rationale": "r", "confidence": confidence, "take": take}
    return event(node, "settled", verdict=verdict, provenance=[node])


STORY = [
    opened("0"),
    spoke("0", "decomposer", "expansion"),
    event("0", "noted", note="possible drift"),
    event("0", "branched", children=["0.0", "0.1"]),
    opened("0.0", "0"),
    opened("0.1", "0"),
    event("0.0", "branched", children=[], why="max_depth"),
    event("0.1", "branched", children=[], why="max_depth"),
    spoke("0.0", "A", step=0),
    spoke("0.0", "B", step=1),
    spoke("0.0", "A", step=2),
    spoke("0.1", "B", step=0),
    event("0.1", "failed", role="debater", fault="no reply"),
    event("0.1", "settled", verdict=None),
    settled("0.0", 0.5),
    spoke("0", "full", "synthesis"),
    spoke("0", "concise", "synthesis"),
    settled("0", 0.4),
    event("0", "concluded", answer="a", confidence=0.4, confidence_source="judges"),
]


def test_a_story_becomes_a_tree_and_a_verdict() -> None:
    tree, verdict = fold(STORY)
    assert list(tree.nodes) == ["0", "0.0", "0.1"]
    root, leaf, missing = tree.nodes.values()
    assert (root.kind, root.children, root.notes) == ("branch", ["0.0", "0.1"], ["possible drift"])
    assert [turn.speaker for turn in root.transcript] == ["decomposer", "concise", "full"]
    assert [turn.speaker for turn in leaf.transcript] == ["A", "B", "A"]
    assert (leaf.kind, leaf.stopped, leaf.status) == ("leaf", "max_depth", "answered")
    assert (missing.status, missing.verdict) == ("missing", None)
    assert [failure.fault for failure in missing.failures] == ["no reply"]
    assert verdict is not None
    assert (verdict.answer, verdict.confidence) == ("a", 0.4)


def test_children_come_in_the_order_of_the_tree() -> None:
    ids = ["0", "0.2", "0.10", "0.2.1", "0.1"]
    assert sorted(ids, key=path_key) == ["0", "0.1", "0.2", "0.2.1", "0.10"]
    tree, _ = fold(opened(node) for node in ids)
    assert list(tree.nodes) == ["0", "0.1", "0.2", "0.2.1", "0.10"]


@pytest.mark.parametrize("number", ["²", "٣", "３", "", "-1", "1_0", "9" * 5000])
def test_only_ascii_digits_are_a_number_of_an_id(number: str) -> None:
    assert path_key(f"0.{number}") == (0, -1)
    assert segment_key(f"a:{number}") == ("a", -1)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), 123])
def test_no_confidence_out_of_range_is_recorded(confidence: float) -> None:
    with pytest.raises(ValidationError):
        fold([opened("0"), settled("0", confidence)])


def test_a_record_reads_back_as_it_was_written() -> None:
    tree, verdict = fold(STORY)
    record = RunRecord(run_id="r", protocol="tsd", method="tsd", started="", input={"question": "Q?"})
    record.tree, record.verdict = tree, verdict
    assert RunRecord.read(record.model_dump_json()) == record
    assert '"schema":"dialectree.run/3"' in record.model_dump_json()
    assert [node for node, _ in record.list_failures()] == ["0.1"]


# Sums


def call(node: str = "0", speaker: str = "judge", phase: str = "debate", step: int = 0, **more: Any) -> Call:
    fields = dict(role="judge", prompt="p@1", model="m", seed=1, started="", ended="")
    return Call(
        key=f"{next(_keys)}", node=node, speaker=speaker, phase=phase, step=step, **{**fields, **more}
    )


_keys = itertools.count()


def test_a_ledger_is_summed() -> None:
    calls = [
        call(attempts=2, prompt_tokens=10, completion_tokens=5, cached_tokens=4, cost=0.25),
        call(prompt_tokens=1, completion_tokens=2, cost=0.5),
    ]
    sums = usage(calls)
    assert (sums.calls, sums.attempts, sums.cost) == (2, 3, 0.75)
    assert (sums.prompt_tokens, sums.completion_tokens, sums.cached_tokens) == (11, 7, 4)


def test_a_cost_is_null_as_soon_as_one_price_is_missing() -> None:
    assert usage([call(cost=1.0), call(cost=None)]).cost is None
    assert usage([]).cost is None


def test_a_ledger_tells_what_was_paid_from_what_the_reply_cache_answered() -> None:
    paid = call(prompt_tokens=10, completion_tokens=5, cost=0.25)
    cached = call(prompt_tokens=1, completion_tokens=2, cost=0.5, source="cache")
    sums = usage([paid, cached])
    assert (sums.calls, sums.calls_from_cache, sums.tokens_from_cache) == (2, 1, 3)
    assert (sums.cost, sums.cost_from_cache) == (0.75, 0.5)
    assert (usage([paid]).calls_from_cache, usage([paid]).cost_from_cache) == (0, 0.0)
    assert usage([call(), cached]).cost_from_cache is None


def test_the_critical_path_goes_down_the_longest_branch_and_back_up() -> None:
    tree, _ = fold(STORY)
    calls = [
        call("0", phase="expansion"),
        *(call("0.0", step=n) for n in range(7)),
        *(call("0.1", step=n) for n in range(3)),
        call("0", phase="synthesis"),
    ]
    assert critical_path(tree, calls) == 1 + 7 + 1
    again = [call("0.1", step=n, take=2) for n in range(2)] + [call("0", take=2)]
    assert critical_path(tree, [*calls, *again]) == 9 + 3


def test_the_page_on_a_run_s_folder_names_every_field_of_record_call_and_event() -> None:
    page = (Path(__file__).parents[2] / "docs" / "run-folder.md").read_text(encoding="utf-8")
    for kind in (RunRecord, Call, Event):
        for name, field in kind.model_fields.items():
            assert f"`{field.alias or name}`" in page or name.endswith("_tokens"), name
