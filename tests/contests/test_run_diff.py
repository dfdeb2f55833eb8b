"""How two runs differ: what was asked otherwise, what moved, and where they part."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialectree.contests.run_diff import Difference, difference, lines
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from tests.report.recorded import DEMOS, events, record


def other(name: str, run_id: str = "other") -> RunRecord:
    """Return a copy of a demonstration's record under another id."""
    return record(name).model_copy(deep=True, update={"run_id": run_id})


@pytest.mark.parametrize("name", DEMOS)
def test_a_run_does_not_differ_from_itself(name: str) -> None:
    found = difference(record(name), other(name))
    assert (found.changes, found.moved, found.parted, found.only) == ([], [], [], ([], []))


def test_another_seed_another_model_and_another_reply_are_told_apart() -> None:
    old, new = record("tsd"), other("tsd")
    new.settings["seed"] = 7
    new.models["leaf_judge"] = "openai:other"
    leaf = new.tree.nodes["0.0"]
    leaf.transcript[1].fields["argument"] = "Quite another thing."
    assert leaf.verdict is not None
    leaf.verdict.answer = "Yes."
    new.tree.nodes["0.9"] = leaf.model_copy(update={"id": "0.9", "text": "Is it new?"})
    found = difference(old, new)
    assert [change.split(" instead")[0] for change in found.changes] == ["leaf judge openai:other", "seed 7"]
    assert [one.node for one in found.moved] == ["0.0"]
    (parted,) = found.parted
    assert parted.node == "0.0" and parted.name.startswith("0.0/")
    assert parted.turns == (record("tsd").tree.nodes["0.0"].transcript[1], leaf.transcript[1])
    assert found.only == ([], ["0.9"])
    text = "\n".join(lines(old, new))
    assert "0.0 Can a person on the Moon see the Great Wall" in text
    assert f"(parts at {parted.name})" in text
    assert "only in the second: 0.9 Is it new?" in text


def test_runs_part_where_the_first_one_spoke_first(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "old")
    folder.write_whole(record("tsd"), events("tsd"), [])
    new = other("tsd")
    for node in new.tree.nodes.values():
        node.transcript[-1].fields["argument"] = "Quite another thing."
    parted = [one.node for one in difference(folder.record(), new).parted]
    assert parted == ["0.0", "0.1", "0.2", "0"]


def test_of_two_argument_trees_the_strengths_move() -> None:
    old, new = record("art"), other("art")
    new.tree.nodes["0.2"].scores["strength"] = 0.2
    found = difference(old, new)
    (moved,) = found.moved
    assert moved.before is not None and moved.after is not None
    assert (moved.node, moved.after.confidence) == ("0.2", 0.2)
    text = "\n".join(lines(old, new))
    assert "\n0.2 Making the battery takes much energy" in text and ": 0.45 → 0.20" in text


@pytest.mark.parametrize("name", [name for name in DEMOS if name != "tsd"])
def test_runs_of_other_protocols_can_be_compared(name: str) -> None:
    found = difference(record("tsd"), other(name))
    assert Difference.model_validate_json(found.model_dump_json()) == found
    assert not [change for change in found.changes if change.endswith("instead of none")]
    assert [*lines(record("tsd"), other(name))]


@pytest.mark.parametrize(("source", "figure"), [("probability", "probability"), ("judges", "confidence")])
def test_the_probability_of_a_claim_is_not_called_its_confidence(source: str, figure: str) -> None:
    old, new = record("tsd"), other("tsd")
    for one, confidence in ((old, 0.5), (new, 0.6)):
        assert one.verdict is not None
        one.verdict = one.verdict.model_copy(update={"confidence": confidence, "confidence_source": source})
    assert f"its {figure} goes from 0.5" in difference(old, new).why
