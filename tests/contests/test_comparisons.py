"""Contests of a comparison of two papers: what only a comparison has, such as evidence."""

from __future__ import annotations

from typing import Any

import pytest

from dialectree.contests import Drop, Replace, Restore
from dialectree.nodes.tree_of_debate.evidence import RelevanceReply
from dialectree.records import RunRecord
from dialectree.report import html, markdown
from dialectree.report.node_data import topic_of
from tests.contesting import contest, debate, speakers, stated
from tests.graphs.tree_of_debate.comparing import weigh
from tests.scripted import ScriptedModel


def compare(model: ScriptedModel | None = None, name: str = "tod", **given: Any) -> RunRecord:
    return debate(model or speakers(), name, **given)


def spoken(record: RunRecord) -> Any:
    """What was said and ruled, without what a contest adds."""
    nodes = record.tree.model_dump(exclude={"nodes": {"__all__": {"notes"}}})
    return nodes, record.verdict


def test_a_segment_is_read_as_a_person_left_it() -> None:
    old = compare()
    name = next(iter(topic_of(old.tree.nodes["0.0"]).positions)).evidence[0]
    own = old.tree.segments[name].text
    dropped = contest(old, Drop(name), model=(model := speakers()))
    nodes = dropped.tree.nodes.values()
    found = {one.id for node in nodes for r in node.retrievals for one in r.found}
    assert name not in found | dropped.tree.segments.keys() and dropped.status == "answered"
    assert model.calls and not any(own in call.prompt for call in model.calls)
    text = f"{own} But only on dry days."
    replaced = contest(old, Replace(name, text), model=(model := speakers()))
    assert [s.id for s in replaced.tree.segments.values() if s.contested] == [name]
    assert replaced.tree.segments[name].text == text
    assert any("But only on dry days." in call.prompt for call in model.calls)


def test_a_segment_that_only_a_filter_saw_and_refused_costs_filter_calls_alone() -> None:
    def refusing() -> ScriptedModel:
        said = speakers()
        said.will_say_now(weigh(relevant=False), to=RelevanceReply)
        return said

    old = compare(refusing(), max_depth=1, segments=1)
    root = old.tree.nodes["0"]
    of_topic = {one.id for r in root.retrievals if r.of == "topic" for one in r.found}
    of_claims = {one.id for r in root.retrievals if r.of != "topic" for one in r.found}
    (aside, *_) = sorted(of_claims - of_topic)
    said = refusing()
    new = contest(old, Drop(aside), model=said)
    assert {call.kind for call in said.calls} == {"RelevanceReply"}
    assert new.verdict == old.verdict


def test_a_concession_is_a_move_and_says_which_word_was_changed() -> None:
    old = compare(max_depth=1)
    new = contest(old, Replace("0.0/a1/revise/concedes", "yes"))
    assert new.contest is not None
    assert new.contest.changes == ["0.0/a1/revise/concedes replaced"]
    [moved] = [move for move in new.contest.moved if move.node == "0.0"]
    assert moved.before is not None and moved.after is not None
    assert moved.after.answer == str(moved.before.answer).replace("a:", "a (concedes):", 1)


FIRST = "the first segment"
OWN: dict[str, tuple[str, list[str]]] = {
    "a segment that is found": (FIRST, ["{} But only on dry days.", "{} And on wet ones."]),
    "a segment that is not found any more": (FIRST, ["Zebras graze.", "Zebras sleep."]),
    "a concession": ("0.0/a1/revise/concedes", ["yes"]),
    "a description": ("0.0/a1/revise/description", ["We are better.", "We are much better."]),
    "a title": ("0.0/a1/revise/title", ["Better", "Much better"]),
}
"""Texts, and what a person writes for each, one after the other; ``{}`` is the old text."""


@pytest.mark.parametrize(("name", "texts"), OWN.values(), ids=OWN)
def test_the_old_text_is_its_writers_own_again_and_no_persons(name: str, texts: list[str]) -> None:
    old = compare(max_depth=1)
    if name == FIRST:
        name = old.tree.nodes["0"].retrievals[0].found[0].id
        own = old.tree.segments[name].text
    else:
        said = next(
            t.fields[name.rpartition("/")[2]]
            for t in old.tree.nodes["0.0"].transcript
            if (t.speaker, t.phase) == ("a", "revise")
        )
        own = {False: "no", True: "yes"}[said] if isinstance(said, bool) else str(said)
    new = old
    for text in texts:
        new = contest(new, Replace(name, text.format(own)))
        assert ":" not in name or stated(new).overrides[0].before == own
        for wish in (Replace(name, own), Restore(name)):
            back = contest(new, wish, model=(model := speakers()))
            assert (spoken(back), model.calls) == (spoken(old), [])
            assert (stated(back).overrides, stated(back).changes) == ([], [f"{name} restored"])
            assert back.tree.nodes["0"].notes == old.tree.nodes["0"].notes
            assert "In a person" not in markdown(back, [])


def test_a_topic_without_an_argument_because_a_person_dropped_them_is_no_failure() -> None:
    old = compare(max_depth=1)
    turns = [f"0.0/{who}1/{stage}" for who in "ab" for stage in ("present", "respond", "revise")]
    new = contest(old, *map(Drop, turns))
    topic = new.tree.nodes["0.0"]
    assert (topic_of(topic).positions, topic.dropped, new.status) == ([], True, "answered")
    for page in (html(new, []), markdown(new, [])):
        assert "dropped by a person" in page
    back = contest(new, *map(Restore, turns), model=(said := speakers()))
    assert (spoken(back), said.calls) == (spoken(old), [])
