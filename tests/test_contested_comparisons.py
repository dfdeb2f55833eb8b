"""Contests of a comparison of two papers: a turn, a topic, a segment of evidence, and back."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from dialectree.comparison import compared
from dialectree.contests import Drop, Replace, Restore, Rule, Wish
from dialectree.contests import start as contesting
from dialectree.errors import InputError
from dialectree.nodes.tree_of_debate.comparer import ComparisonReply, PaperSummaryReply
from dialectree.nodes.tree_of_debate.comparison import SummaryReply
from dialectree.nodes.tree_of_debate.persona import ArgumentReply, ClaimsReply, ResponseReply
from dialectree.nodes.tree_of_debate.pre_emption import RelevanceReply
from dialectree.records import RunRecord, topic_of
from dialectree.report import html, markdown, topics
from dialectree.runner import Started, again
from dialectree.runs import RunFolder
from tests import running
from tests.graphs.tree_of_debate import comparing
from tests.graphs.tree_of_debate.comparing import (
    PAPER_A,
    PAPER_B,
    personas,
    sentence,
    shown_segments,
    summarise,
    weigh,
)
from tests.scripted import Asked, Said, ScriptedModel, no_reply

RUNS = Path("runs")


class Crash(ArithmeticError):
    """The process is gone."""


class Personas(ScriptedModel):
    """Whatever is argued depends on every word of what was asked; raises at call ``fragile_at``."""

    fragile_at: int = 0

    def _next(self, call: Asked) -> Said:
        if len(self.calls) >= self.fragile_at > 0:
            raise Crash
        return super()._next(call)


def words(call: Asked) -> str:
    return f"{call.role} says {crc32(call.prompt.encode()):x}"


def model(fragile_at: int = 0) -> Personas:
    said = Personas(fragile_at=fragile_at)
    personas(2, 2, model=said)
    said.will_say_now(
        lambda c: comparing.argue(words(c), description=words(c), evidence=shown_segments(c)[:1]),
        to=ArgumentReply,
    )
    said.will_say_now(lambda c: comparing.respond(description=words(c)), to=ResponseReply)
    said.will_say_now(lambda c: summarise(sentence(words(c), "0.0")), to=SummaryReply)
    said.will_say_now(lambda c: PaperSummaryReply(summary=words(c)), to=PaperSummaryReply)
    said.will_say_now(lambda c: ComparisonReply(summary=words(c)), to=ComparisonReply)
    return said


def compare(said: ScriptedModel, name: str = "tod", **given: Any) -> RunRecord:
    shape = {"embeddings": "bm25", "segments": 2, "max_depth": 2}
    papers = {"paper_a": PAPER_A, "paper_b": PAPER_B}
    values = {"model": said, **shape, **papers, **given}
    return asyncio.run(running.begin(name, comparing.TOPIC, RUNS, **values).conduct())


def begin(record: RunRecord, *wishes: Wish, said: ScriptedModel) -> Started:
    folder = RunFolder.find(record.run_id, RUNS)
    begun = contesting(folder, wishes, RUNS, {"model": said, "cache": False})
    assert isinstance(begun, Started)
    return begun


def contest(record: RunRecord, *wishes: Wish, said: ScriptedModel) -> RunRecord:
    return asyncio.run(begin(record, *wishes, said=said).conduct())


def anew(said: ScriptedModel) -> Counter[tuple[str, str]]:
    """Who was asked, by kind of reply and node."""
    return Counter((call.kind, call.node) for call in said.calls)


def spoken(record: RunRecord) -> Any:
    """What was said and ruled, without what a contest adds."""
    nodes = record.tree.model_dump(exclude={"nodes": {"__all__": {"notes"}}})
    return nodes, record.verdict


def test_what_follows_a_replaced_turn_is_said_anew_and_nothing_else() -> None:
    old = compare(model())
    said = model()
    new = contest(old, Replace("0.1.0/a1/respond", "We give a bound, too."), said=said)
    assert anew(said) == {("ArgumentReply", "0.1.0"): 2, ("SummaryReply", "0"): 1}
    assert new.usage.calls == 3
    turn = next(
        t for t in new.tree.nodes["0.1.0"].transcript if (t.who, t.stage) == ("a", "respond")
    )
    assert turn.fields["description"] == "We give a bound, too."
    assert new.contest is not None
    assert [moved.node for moved in new.contest.moved] == ["0.1.0"]
    assert old.verdict != new.verdict


def test_below_a_replaced_last_word_the_topic_may_be_split_anew() -> None:
    old = compare(model())
    said = model()
    contest(old, Replace("0.0/b1/revise", "We concede nothing."), said=said)
    kinds = anew(said)
    assert kinds["ProgressReply", "0.0"] == 1
    assert kinds["SummaryReply", "0"] == 1
    assert not [node for kind, node in kinds if node.startswith("0.1")]


def test_a_dropped_segment_is_not_retrieved_any_more() -> None:
    old = compare(model())
    name = next(iter(topic_of(old.tree.nodes["0.0"]).positions)).evidence[0]
    said = model()
    new = contest(old, Drop(name), said=said)
    found = {one.id for node in new.tree.nodes.values() for r in node.retrievals for one in r.found}
    assert name not in found and name not in new.tree.segments
    assert new.status == "answered"
    assert said.calls
    assert not any(old.tree.segments[name].text in call.prompt for call in said.calls)


def test_a_replaced_segment_is_shown_in_the_words_of_a_person_and_marked() -> None:
    old = compare(model())
    name = next(iter(topic_of(old.tree.nodes["0.0"]).positions)).evidence[0]
    text = f"{old.tree.segments[name].text} But only on dry days."
    said = model()
    new = contest(old, Replace(name, text), said=said)
    assert new.tree.segments[name].text == text
    assert [s.id for s in new.tree.segments.values() if s.contested] == [name]
    assert any("But only on dry days." in call.prompt for call in said.calls)


def test_a_segment_that_only_a_filter_saw_and_refused_costs_filter_calls_alone() -> None:
    def refusing() -> Personas:
        said = model()
        said.will_say_now(weigh(relevant=False), to=RelevanceReply)
        return said

    old = compare(refusing(), max_depth=1, segments=1)
    root = old.tree.nodes["0"]
    of_topic = {one.id for r in root.retrievals if r.of == "topic" for one in r.found}
    of_claims = {one.id for r in root.retrievals if r.of != "topic" for one in r.found}
    (aside, *_) = sorted(of_claims - of_topic)
    said = refusing()
    new = contest(old, Drop(aside), said=said)
    assert {call.kind for call in said.calls} == {"RelevanceReply"}
    assert new.verdict == old.verdict


def test_a_dropped_topic_is_left_out_of_the_comparison() -> None:
    old = compare(model())
    said = model()
    new = contest(old, Drop("0.1"), said=said)
    assert anew(said) == {("SummaryReply", "0"): 1}
    assert "0.1" not in [line[:3] for line in said.calls[0].prompt.splitlines()]
    assert new.tree.nodes["0.1"].dropped and new.status == "answered"


@pytest.mark.parametrize(
    "change",
    [
        Replace("0.0/a1/present", "Another word."),
        Drop("0.0/a1/respond"),
        Drop("0.1"),
        Drop("a:2"),
    ],
    ids=lambda wish: f"{type(wish).__name__} {wish[0]}",
)
def test_a_change_taken_back_gives_the_first_comparison_and_costs_nothing(change: Wish) -> None:
    old = compare(model())
    contested = contest(old, change, said=model())
    said = model()
    back = contest(contested, Restore(change[0]), said=said)
    assert spoken(back) == spoken(old)
    assert said.calls == [] and back.usage.calls == 0


def test_a_contest_that_was_broken_off_goes_on() -> None:
    old = compare(model())
    whole = contest(old, Drop("a:2"), said=model())
    begun = begin(old, Drop("a:2"), said=model(fragile_at=4))
    with pytest.raises(Crash):
        asyncio.run(begun.conduct())
    resumed = again(begun.folder, {"model": model(), "cache": False})
    assert spoken(asyncio.run(resumed.conduct())) == spoken(whole)


def test_a_summary_of_the_two_stages_can_be_replaced() -> None:
    old = compare(model(), "two_stage")
    said = model()
    new = contest(old, Replace("0/a1", "It is all about ladders."), said=said)
    assert anew(said) == {("ComparisonReply", "0"): 1}
    assert new.verdict != old.verdict


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (Rule("0.0", "A"), "no judge has ruled there; --verdict 0 sets the comparison"),
        (Drop("9.9"), "the run has no such node"),
        (Replace("9.9/a1/revise", "x"), "such as 0.1/a1/revise"),
        (Replace("0.0/a1/revise/concedes", "maybe"), "say yes or no"),
        (Replace("0.0/a1/revise/concedes", "no"), "nothing to change"),
        (Replace("0/a1/claims", "x"), "no such turn|no text that could be changed"),
        (Drop("a:999"), "no segment of that number was retrieved in the run"),
        (Replace("a:2", " "), "empty"),
        (Drop("0"), "the whole debate"),
    ],
    ids=str,
)
def test_what_no_comparison_can_fulfil_is_refused_before_anything_is_written(
    wish: Wish, why: str
) -> None:
    old = compare(model(), max_depth=1)
    before = sorted(RUNS.iterdir())
    with pytest.raises(InputError, match=why):
        begin(old, wish, said=model())
    assert sorted(RUNS.iterdir()) == before


def test_a_person_may_concede_for_a_paper_and_take_it_back() -> None:
    old = compare(model(), max_depth=1)
    conceded = contest(old, Replace("0.0/a1/revise/concedes", "yes"), said=model())
    assert conceded.verdict is not None
    assert "paper a conceded at 0.0" in conceded.verdict.notes
    said = model()
    again = contest(conceded, Replace("0.0/a1/revise/concedes", "no"), said=said)
    assert (spoken(again), said.calls) == (spoken(old), [])


@pytest.mark.parametrize(
    ("field", "text"), [("concedes", "yes"), ("description", "We are better."), ("title", "Better")]
)
def test_a_text_that_was_replaced_is_restored_by_the_name_that_replaced_it(
    field: str, text: str
) -> None:
    old = compare(model(), max_depth=1)
    name = f"0.0/a1/revise/{field}"
    new = contest(old, Replace(name, text), said=model())
    back = contest(new, Restore(name), said=(said := model()))
    assert (spoken(back), said.calls) == (spoken(old), [])
    assert back.contest is not None and back.contest.changes == [f"{name} restored"]
    with pytest.raises(InputError, match="respond/description: nothing was changed there"):
        begin(new, Restore("0.0/a1/respond/description"), said=model())


def test_a_text_beside_the_one_that_was_replaced_is_not_restored() -> None:
    new = contest(compare(model(), max_depth=1), Replace("0.0/a1/revise", "Yes."), said=model())
    with pytest.raises(InputError, match="revise/title: nothing was changed there"):
        begin(new, Restore("0.0/a1/revise/title"), said=model())


def test_a_concession_is_a_move_and_says_which_word_was_changed() -> None:
    old = compare(model(), max_depth=1)
    new = contest(old, Replace("0.0/a1/revise/concedes", "yes"), said=model())
    assert new.contest is not None
    assert new.contest.changes == ["0.0/a1/revise/concedes replaced"]
    [moved] = [move for move in new.contest.moved if move.node == "0.0"]
    assert moved.before is not None and moved.after is not None
    assert moved.after.answer == str(moved.before.answer).replace("a:", "a (concedes):", 1)


def test_a_topic_that_became_another_is_named_before_and_after() -> None:
    old = compare(model(), max_depth=1)
    new = contest(old, Replace("0.0/a1/revise", "We are better."), said=model())
    new.tree.nodes["0.0"].text = "Another topic"
    [moved] = [move for move in compared(old, new).moved if move.node == "0.0"]
    assert moved.before is not None and moved.after is not None
    assert str(moved.before.answer).startswith(f"{old.tree.nodes['0.0'].text} | a: ")
    assert str(moved.after.answer).startswith("Another topic | a: ")


@pytest.mark.parametrize("back", ["its old text", "restored"])
def test_a_segment_that_is_not_found_any_more_in_its_new_words_can_be_put_back(back: str) -> None:
    old = compare(model(), max_depth=1)
    first = old.tree.nodes["0"].retrievals[0].found[0].id
    new = contest(old, Replace(first, "Zebras graze."), said=model())
    assert first not in new.tree.segments
    again = contest(new, Replace(first, "Zebras sleep."), said=model())
    text = old.tree.segments[first].text
    said = model()
    wish = Replace(first, text) if back == "its old text" else Restore(first)
    assert (spoken(contest(again, wish, said=said))[1], said.calls) == (old.verdict, [])


def test_the_old_text_of_a_segment_is_the_papers_own_again_and_no_persons() -> None:
    old = compare(model(), max_depth=1)
    first = old.tree.nodes["0"].retrievals[0].found[0].id
    own = old.tree.segments[first].text
    once = contest(old, Replace(first, f"{own} But only on dry days."), said=model())
    twice = contest(once, Replace(first, f"{own} And on wet ones."), said=model())
    for changed in (once, twice):
        assert changed.contest is not None and changed.contest.held[0].before == own
        back = contest(changed, Replace(first, own), said=(said := model()))
        assert (spoken(back), said.calls) == (spoken(old), [])
        assert back.contest is not None
        assert (back.contest.held, back.contest.changes) == ([], [f"{first} restored"])
        assert not back.tree.segments[first].contested
        assert back.tree.nodes["0"].notes == old.tree.nodes["0"].notes
        assert "In a person" not in markdown(back, [])


@pytest.mark.parametrize(
    ("field", "text"), [("concedes", "yes"), ("description", "We are better."), ("title", "Better")]
)
def test_the_old_text_of_a_turn_is_its_speakers_own_again_and_no_persons(
    field: str, text: str
) -> None:
    old = compare(model(), max_depth=1)
    turns = old.tree.nodes["0.0"].transcript
    own = next(t.fields[field] for t in turns if (t.who, t.stage) == ("a", "revise"))
    name = f"0.0/a1/revise/{field}"
    new = contest(old, Replace(name, text), said=model())
    if field != "concedes":
        new = contest(new, Replace(name, f"{text} Much."), said=model())
    said = model()
    back = contest(new, Replace(name, "no" if field == "concedes" else str(own)), said=said)
    assert (spoken(back), said.calls) == (spoken(old), [])
    assert back.contest is not None
    assert (back.contest.held, back.contest.changes) == ([], [f"{name} restored"])


def test_a_topic_without_an_argument_because_a_person_dropped_them_is_no_failure() -> None:
    old = compare(model(), max_depth=1)
    turns = [f"0.0/{who}1/{stage}" for who in "ab" for stage in ("present", "respond", "revise")]
    new = contest(old, *map(Drop, turns), said=model())
    topic = new.tree.nodes["0.0"]
    assert (topic_of(topic).positions, topic.dropped, new.status) == ([], True, "answered")
    assert topics.course(new, topic) == "not split: dropped by a person"
    for page in (html(new, []), markdown(new, [])):
        assert "dropped by a person" in page
    back = contest(new, *map(Restore, turns), said=(said := model()))
    assert (spoken(back), said.calls) == (spoken(old), [])


def test_an_argument_that_a_person_dropped_did_not_fail_because_the_other_papers_did() -> None:
    failing = model()
    usual = failing.says(ArgumentReply)
    failing.will_say(no_reply(), usual, to=ArgumentReply, at="0.0")
    old = compare(failing, max_depth=1)
    [failure] = old.tree.nodes["0.0"].failures
    other = "b" if failure.who == "a" else "a"
    turns = [f"0.0/{other}1/{stage}" for stage in ("present", "revise")]
    new = contest(old, *map(Drop, turns), said=model())
    topic = new.tree.nodes["0.0"]
    assert (new.status, [one.who for one in topic.failures]) == ("degraded", [failure.who])
    assert topics.silence(topic, other) == "A person dropped its argument."
    for page in (html(new, []), markdown(new, [])):
        assert "A person dropped its argument." in page
        assert "Its argument failed for good." not in page


def test_words_put_into_a_turn_that_concedes_do_not_take_the_concession_back() -> None:
    old = compare(model(), max_depth=1)
    conceded = contest(old, Replace("0.0/a1/revise/concedes", "yes"), said=model())
    told = contest(conceded, Replace("0.0/a1/revise", "We are better."), said=model())
    assert told.contest is not None and told.verdict is not None
    assert "paper a conceded at 0.0" in told.verdict.notes
    assert told.contest.changes == [
        "0.0/a1/revise replaced, which still concedes (--replace 0.0/a1/revise/concedes no)"
    ]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("tod", "They are alike. [rests on nothing]"),
        ("single_stage", "They are alike."),
        ("two_stage", "They are alike."),
    ],
)
def test_a_person_may_set_the_comparison(name: str, answer: str) -> None:
    old, said = compare(model(), name, max_depth=1), model()
    new = contest(old, Rule("0", "They are alike."), said=said)
    assert new.verdict is not None and new.contest is not None and old.verdict is not None
    assert (new.verdict.answer, said.calls) == (answer, [])
    assert new.contest.held[0].before == old.verdict.answer
    assert new.contest.why.endswith("0 given another verdict; the verdict of 0 moved")
    for same in ("They are alike.", answer):
        with pytest.raises(InputError, match="nothing to change, that is the verdict already"):
            begin(new, Rule("0", same), said=said)
    assert spoken(contest(new, Restore("0"), said=said)) == spoken(old)
    assert said.calls == []


def test_both_pages_show_what_was_changed() -> None:
    old = compare(model(), max_depth=1)
    new = contest(old, Replace("a:2", "A ladder has no error at all."), said=model())
    calls = RunFolder.find(new.run_id, RUNS).calls()
    for page in (html(new, calls), markdown(new, calls)):
        assert "a:2 replaced" in page
        assert "not determined" not in page


def test_claims_are_asked_for_anew_where_their_evidence_changed() -> None:
    old = compare(model(), max_depth=1)
    said = model()
    first = old.tree.nodes["0"].retrievals[0].found[0].id
    contest(old, Drop(first), said=said)
    assert [call.kind for call in said.calls].count(ClaimsReply.__name__) == 1
