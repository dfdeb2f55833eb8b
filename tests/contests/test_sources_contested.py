"""Contests of the sources that a debate argues from: drop, replace, restore, add."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import AddSource, Change, Drop, Replace, Restore, parse
from dialectree.errors import InputError
from dialectree.records import RunRecord
from tests.contesting import outcome, stated, verify
from tests.grounding import pointing, written


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return written(tmp_path / "notes")


@pytest.fixture
def decided(notes: Path) -> RunRecord:
    own: dict[str, Any] = {"model": pointing(), "cache": False, "embeddings": "bm25"}
    given: dict[str, Any] = {"options": ["plants", "meat"], "sources": [notes]}
    return dialectree.run("rsd", "What do cows eat?", **given, **own)


def contest(record: RunRecord, *wishes: Change) -> Any:
    return dialectree.contest(record, [*wishes], model=pointing(), cache=False)


def shown(record: RunRecord) -> set[str]:
    """Return the sources of which a segment was retrieved and not dropped."""
    segments = record.tree.segments.values()
    return {one.id.partition(":")[0] for one in segments if not one.contested}


def sources(record: RunRecord) -> list[tuple[str, str]]:
    listed: Any = record.input["sources"]
    return [(one["id"], one["name"]) for one in listed]


def test_a_dropped_source_is_shown_to_nobody_and_restored_it_is_as_it_was(decided: RunRecord) -> None:
    assert "s2" in shown(decided)
    dropped = contest(decided, Drop("s2"))
    assert stated(dropped).changes == ["s2 (cows.txt) dropped"]
    assert "s2" not in shown(dropped) and dropped.usage.calls > 0
    assert sources(dropped) == sources(decided)
    assert "no place" not in str([node.notes for node in dropped.tree.nodes.values()])
    restored = contest(dropped, Restore("s2"))
    assert stated(restored).changes == ["s2 restored"] and restored.usage.calls == 0
    assert outcome(restored) == outcome(decided)


def test_a_segment_is_dropped_replaced_and_restored(decided: RunRecord) -> None:
    name = next(one for one in decided.tree.segments if one.startswith("s2:"))
    dropped = contest(decided, Drop(name))
    assert stated(dropped).changes == [f"{name} dropped"]
    assert dropped.tree.segments[name].contested
    replaced = contest(decided, Replace(name, "Cows eat hay. They like it."))
    assert stated(replaced).changes == [f"{name} replaced"]
    assert replaced.tree.segments[name].text == "Cows eat hay. They like it."
    assert replaced.tree.segments[name].contested
    for changed in (dropped, replaced):
        back = contest(changed, Restore(name))
        assert outcome(back) == outcome(decided) and back.usage.calls == 0


def test_an_added_source_is_the_last_one_and_can_be_taken_out_again(
    decided: RunRecord, tmp_path: Path
) -> None:
    more = tmp_path / "more.md"
    more.write_text("# Hay\n\nWhat do cows eat? Cows eat hay all winter.")
    added = contest(decided, AddSource(more))
    assert stated(added).changes == ["s4 (more.md) added"]
    assert sources(added) == [*sources(decided), ("s4", "more.md")] and "s4" in shown(added)
    assert len([*(added.path / "sources").iterdir()]) == 4
    more.unlink()
    both = contest(added, AddSource("talk.txt", "Cows eat hay and plants."), Drop("s1"))
    assert stated(both).changes == ["s5 (talk.txt) added", "s1 (clay.md) dropped"]
    with pytest.raises(InputError, match="s5 was added after it; restore that first"):
        contest(both, Restore("s4"))
    again = contest(both, Restore("s5"), Restore("s1"))
    assert stated(again).changes == ["s5 (talk.txt) taken out", "s1 restored"]
    assert outcome(again) == outcome(added)
    first = contest(again, Restore("s4"))
    assert outcome(first) == outcome(decided) and first.usage.calls == 0
    out = contest(added, Drop("s4"))
    assert "s4" not in shown(out) and "s4" in shown(contest(out, Restore("s4")))


REFUSED = {
    "no source": (Drop("s9"), r"no such source; it has s1 \(clay.md\), s2 \(cows.txt\)"),
    "no segment": (Drop("s2:99"), "cows.txt has no such segment; it has s2:1 to s2:"),
    "not dropped": (Restore("s2"), "no change of the run to take back"),
    "a source replaced": (Replace("s2", "x"), "dropped, restored or added as a whole"),
    "no file": (AddSource("nowhere.md"), "nowhere.md: no such file"),
    "the same": (AddSource("notes/clay.md"), r"s1 \(clay.md\) has the same text"),
    "a folder": (AddSource("notes"), "these are 3 documents; name one"),
    "a verdict": (parse("verdict", "s2", "x"), "s2"),
}


@pytest.mark.parametrize(("wish", "why"), REFUSED.values(), ids=REFUSED)
def test_what_a_run_cannot_do_with_its_sources_is_refused(decided: RunRecord, wish: Change, why: str) -> None:
    with pytest.raises(InputError, match=why):
        contest(decided, wish)


def test_a_run_without_sources_has_none_to_change() -> None:
    record = verify()
    with pytest.raises(InputError, match="the run argues from no sources"):
        dialectree.contest(record, [AddSource("x.md", "It is so.")])
    with pytest.raises(InputError, match="no such turn, node or segment"):
        dialectree.contest(record, [Drop("s2")])


def test_a_person_who_judges_rules_again_where_a_source_is_gone(notes: Path) -> None:
    asked: list[str] = []

    def rules(request: Any) -> str:
        asked.append(request["node"])
        return "A"

    own: dict[str, Any] = {"model": pointing(), "cache": False, "embeddings": "bm25"}
    given: dict[str, Any] = {"options": ["plants", "meat"], "sources": [notes], "judge": "me"}
    judged = dialectree.run("rsd", "What do cows eat?", ask=rules, **given, **own)
    assert len(asked) == 1
    with pytest.raises(InputError, match="a person must rule again"):
        contest(judged, Drop("s2"))
    dialectree.contest(judged, [Drop("s2")], ask=rules, model=pointing(), cache=False)
    assert len(asked) == 2
