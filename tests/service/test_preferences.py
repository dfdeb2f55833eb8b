"""Pairs for training: what a person changed, and replies in runs of different rewards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import Replace
from dialectree.contests.preferences import preferences
from dialectree.errors import InputError
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.recordings import play


def demo(runs: Path, name: str = "rsd") -> RunRecord:
    return play(name, runs, paced=False).folder.record()


def text(messages: list[dict[str, str]]) -> Any:
    (message,) = messages
    return json.loads(message["content"])


def test_a_reply_that_a_person_wrote_anew_is_chosen(tmp_path: Path) -> None:
    """The judge speaks last, so that no call is made anew."""
    record = demo(tmp_path)
    turn = next(t for n in record.tree.nodes.values() for t in n.transcript if t.role == "judge")
    contested = dialectree.contest(
        record, [Replace("0/judge1", "The second argument is sounder.")], runs=tmp_path
    )
    assert contested.path is not None
    (pair,) = preferences([RunFolder(contested.path)])
    assert text(pair["rejected"]) == turn.fields
    assert text(pair["chosen"]) == {**turn.fields, "rationale": "The second argument is sounder."}
    assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
    assert str(record.input["question"]) in pair["prompt"][1]["content"]
    assert (pair["role"], pair["phase"]) == ("judge", "judgment")


def test_replies_to_the_same_messages_pair_where_rewards_differ(tmp_path: Path) -> None:
    one, other = demo(tmp_path), demo(tmp_path)
    folders = [RunFolder(tmp_path / record.run_id) for record in (one, other)]
    rewards = {one.run_id: 1.0, other.run_id: 0.0}
    assert list(preferences(folders, rewards)) == []  # they said the same
    calls = folders[1].ledger()
    changed = calls[0].model_copy(update={"reply": '{"argument": "none", "answer": "none"}'})
    lines = [changed, *calls[1:]]
    folders[1].write("calls.jsonl", "".join(line.model_dump_json() + "\n" for line in lines))
    (pair,) = preferences(folders, rewards)
    assert pair["rejected"][0]["content"] == changed.reply
    assert pair["chosen"][0]["content"] == calls[0].reply
    assert pair["reward"] == {"chosen": 1.0, "rejected": 0.0}
    (folders[0].path / "prompts.jsonl").unlink()
    with pytest.raises(InputError, match="prompts"):
        list(preferences(folders, rewards))


def test_turns_are_rows(tmp_path: Path) -> None:
    frame = demo(tmp_path, "tsd").to_pandas()
    record = demo(tmp_path, "tsd")
    assert len(frame) == sum(len(node.transcript) for node in record.tree.nodes.values())
    assert {"node", "role", "phase", "model", "completion_tokens", "seconds"} <= {*frame.columns}
    assert not any(" " in column for column in frame.columns)


def test_a_row_reads_as_it_was_said_and_took_milliseconds(tmp_path: Path) -> None:
    run = play("rsd", tmp_path, paced=False).folder
    record, calls = run.record(), run.ledger()
    turn = record.tree.nodes["0"].transcript[0]
    turn.fields["places"] = ["Łódź", "東京"]
    took = {"started": "2026-01-01T00:00:00.000000Z", "ended": "2026-01-01T00:00:01.234567Z"}
    run.write_whole(record, run.events(), [one.model_copy(update=took) for one in calls])
    first = run.record().to_pandas().iloc[0]
    assert first["reply_places"] == '["Łódź", "東京"]'
    assert first["seconds"] == 1.235
