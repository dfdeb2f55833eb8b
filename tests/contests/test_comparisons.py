"""Contests of a comparison of two papers: what only a comparison has, such as evidence."""

from __future__ import annotations

from typing import Any

import pytest

from dialectree.contests import Drop, Replace, Restore, Rule
from dialectree.errors import InputError
from dialectree.graphs.tree_of_debate import topics
from dialectree.nodes.tree_of_debate.evidence import RelevanceReply
from dialectree.records import RunRecord, topic_of
from dialectree.report import html, markdown
from tests.contesting import begin, contest, debate, speakers
from tests.graphs.tree_of_debate.comparing import weigh
from tests.scripted import ScriptedModel

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")


def compare(model: ScriptedModel | None = None, name: str = "tod", **given: Any) -> RunRecord:
    return debate(model or speakers(), name, **given)


def spoken(record: RunRecord) -> Any:
    """What was said and ruled, without what a contest adds."""
    nodes = record.tree.model_dump(exclude={"nodes": {"__all__": {"notes"}}})
    return nodes, record.verdict


def test_a_dropped_segment_is_not_retrieved_any_more() -> None:
    old = compare(speakers())
    name = next(iter(topic_of(old.tree.nodes["0.0"]).positions)).evidence[0]
    said = speakers()
    new = contest(old, Drop(name), model=said)
    found = {one.id for node in new.tree.nodes.values() for r in node.retrievals for one in r.found}
    assert name not in found and name not in new.tree.segments
    assert new.status == "answered"
    assert said.calls
    assert not any(old.tree.segments[name].text in call.prompt for call in said.calls)


def test_a_replaced_segment_is_shown_in_the_words_of_a_person_and_marked() -> None:
    old = compare(speakers())
    name = next(iter(topic_of(old.tree.nodes["0.0"]).positions)).evidence[0]
    text = f"{old.tree.segments[name].text} But only on dry days."
    said = speakers()
    new = contest(old, Replace(name, text), model=said)
    assert new.tree.segments[name].text == text
    assert [s.id for s in new.tree.segments.values() if s.contested] == [name]
    assert any("But only on dry days." in call.prompt for call in said.calls)


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
    old = compare(speakers(), max_depth=1)
    new = contest(old, Replace("0.0/a1/revise/concedes", "yes"), model=speakers())
    assert new.contest is not None
    assert new.contest.changes == ["0.0/a1/revise/concedes replaced"]
    [moved] = [move for move in new.contest.moved if move.node == "0.0"]
    assert moved.before is not None and moved.after is not None
    assert moved.after.answer == str(moved.before.answer).replace("a:", "a (concedes):", 1)


@pytest.mark.parametrize("back", ["its old text", "restored"])
def test_a_segment_that_is_not_found_any_more_in_its_new_words_can_be_put_back(back: str) -> None:
    old = compare(speakers(), max_depth=1)
    first = old.tree.nodes["0"].retrievals[0].found[0].id
    new = contest(old, Replace(first, "Zebras graze."), model=speakers())
    assert first not in new.tree.segments
    again = contest(new, Replace(first, "Zebras sleep."), model=speakers())
    text = old.tree.segments[first].text
    said = speakers()
    wish = Replace(first, text) if back == "its old text" else Restore(first)
    assert (spoken(contest(again, wish, model=said))[1], said.calls) == (old.verdict, [])


def test_the_old_text_of_a_segment_is_the_papers_own_again_and_no_persons() -> None:
    old = compare(speakers(), max_depth=1)
    first = old.tree.nodes["0"].retrievals[0].found[0].id
    own = old.tree.segments[first].text
    once = contest(old, Replace(first, f"{own} But only on dry days."), model=speakers())
    twice = contest(once, Replace(first, f"{own} And on wet ones."), model=speakers())
    for changed in (once, twice):
        assert changed.contest is not None and changed.contest.overrides[0].before == own
        back = contest(changed, Replace(first, own), model=(said := speakers()))
        assert (spoken(back), said.calls) == (spoken(old), [])
        assert back.contest is not None
        assert (back.contest.overrides, back.contest.changes) == ([], [f"{first} restored"])
        assert not back.tree.segments[first].contested
        assert back.tree.nodes["0"].notes == old.tree.nodes["0"].notes
        assert "In a person" not in markdown(back, [])


@pytest.mark.parametrize(
    ("field", "text"), [("concedes", "yes"), ("description", "We are better."), ("title", "Better")]
)
def test_the_old_text_of_a_turn_is_its_speakers_own_again_and_no_persons(
    field: str, text: str
) -> None:
    old = compare(speakers(), max_depth=1)
    turns = old.tree.nodes["0.0"].transcript
    own = next(t.fields[field] for t in turns if (t.speaker, t.phase) == ("a", "revise"))
    name = f"0.0/a1/revise/{field}"
    new = contest(old, Replace(name, text), model=speakers())
    if field != "concedes":
        new = contest(new, Replace(name, f"{text} Much."), model=speakers())
    said = speakers()
    back = contest(new, Replace(name, "no" if field == "concedes" else str(own)), model=said)
    assert (spoken(back), said.calls) == (spoken(old), [])
    assert back.contest is not None
    assert (back.contest.overrides, back.contest.changes) == ([], [f"{name} restored"])


def test_a_topic_without_an_argument_because_a_person_dropped_them_is_no_failure() -> None:
    old = compare(speakers(), max_depth=1)
    turns = [f"0.0/{who}1/{stage}" for who in "ab" for stage in ("present", "respond", "revise")]
    new = contest(old, *map(Drop, turns), model=speakers())
    topic = new.tree.nodes["0.0"]
    assert (topic_of(topic).positions, topic.dropped, new.status) == ([], True, "answered")
    assert topics.course(new, topic) == "not split: dropped by a person"
    for page in (html(new, []), markdown(new, [])):
        assert "dropped by a person" in page
    back = contest(new, *map(Restore, turns), model=(said := speakers()))
    assert (spoken(back), said.calls) == (spoken(old), [])


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("tod", "They are alike. [rests on nothing]"),
        ("single_stage", "They are alike."),
        ("two_stage", "They are alike."),
    ],
)
def test_a_person_may_set_the_comparison(name: str, answer: str) -> None:
    old, said = compare(speakers(), name, max_depth=1), speakers()
    new = contest(old, Rule("0", "They are alike."), model=said)
    assert new.verdict is not None and new.contest is not None and old.verdict is not None
    assert (new.verdict.answer, said.calls) == (answer, [])
    assert new.contest.overrides[0].before == old.verdict.answer
    assert new.contest.why.endswith("0 given another verdict; the verdict of 0 moved")
    for same in ("They are alike.", answer):
        with pytest.raises(InputError, match="nothing to change, that is the verdict already"):
            begin(new, Rule("0", same), model=said)
    assert spoken(contest(new, Restore("0"), model=said)) == spoken(old)
    assert said.calls == []
