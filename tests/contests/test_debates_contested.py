"""Contests of debates: names, verdicts, rulings of persons, second passes, wrong wishes.

Of the leaves in use here B opens 0.1.0, and A the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import Change, Drop, Replace, Restore, Rule
from dialectree.errors import InputError, RunFolderError
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.decomposer import ComplexityReply
from dialectree.protocols.protocol import WITHDRAWN
from dialectree.records import Node, RunRecord, turns
from tests.contesting import (
    RUNS,
    TEXT,
    at,
    contest,
    debate,
    made,
    outcome,
    said,
    speakers,
    stated,
)
from tests.endpoint import LocalEndpoint
from tests.graphs.debating import rate_all, split
from tests.graphs.role_switching_debate import switching
from tests.rules import children
from tests.scripted import Asked, Said, ScriptedModel, no_reply

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")

SYNTHESIS = {"synthesis_debater": 4, "synthesis_judge": 1}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def tree(elsewhere: Path) -> RunRecord:
    """A run with four leaves, in the working folder."""
    return made(elsewhere, "tree", lambda: debate(speakers(), max_depth=2))


def called(node: Node, who: str, round: int) -> str:
    """The name of a turn, by which of the two debaters took it."""
    return next(
        turns.name(node, t) for t in node.transcript if (t.speaker, t.round) == (who, round)
    )


# Who speaks anew


def test_a_dropped_turn_is_withdrawn_before_everybodys_eyes(tree: RunRecord) -> None:
    model = speakers()
    new = contest(tree, Drop("0.1.0/A2"), model=model)
    assert said(new, "0.1.0/A2") == {"claim": WITHDRAWN, "support": "–", "rebuttal": "–"}
    at_leaf = [call for call in model.calls if call.node == "0.1.0"]
    assert at_leaf and all(WITHDRAWN in call.prompt for call in at_leaf)


def test_a_dropped_part_is_answered_without_and_is_no_failure(tree: RunRecord) -> None:
    new = contest(tree, Drop("0.1.0"), model=speakers())
    gone = new.tree.nodes["0.1.0"]
    assert (gone.status, gone.dropped, gone.verdict, gone.transcript) == ("missing", True, None, [])
    assert new.degraded() == [] and new.tree.nodes["0"].provenance == ["0.0.0", "0.0.1", "0.1.1"]
    assert RunRecord.read(new.model_dump_json()).tree.nodes["0.1.0"].dropped
    half = contest(tree, Drop("0.1"), model=speakers())
    below = [half.tree.nodes[name].dropped for name in ("0.1", "0.1.0", "0.1.1", "0.0")]
    assert below == [True, True, True, False]
    assert half.tree.nodes["0.1"].children == ["0.1.0", "0.1.1"]
    none = contest(half, Drop("0.0"), model=speakers())
    assert (none.status, none.usage.calls) == ("unresolved", 0)


def test_a_persons_verdict_is_a_persons_and_its_confidence_is_not(tree: RunRecord) -> None:
    new = contest(tree, Rule("0.1.0", TEXT), model=speakers())
    verdict, old = new.tree.nodes["0.1.0"].verdict, tree.tree.nodes["0.1.0"].verdict
    assert verdict is not None and old is not None
    assert verdict.answer == TEXT and str(verdict.rationale).startswith(
        "A person set this verdict."
    )
    assert "still the judge's" in str(verdict.rationale)
    assert verdict.confidence == old.confidence


def test_the_record_says_what_moved_and_why(tree: RunRecord) -> None:
    new = contest(tree, Rule("0.1.0", TEXT), model=speakers())
    made = stated(new)
    assert made.run == tree.run_id and made.changes == ["0.1.0 given another verdict"]
    assert [move.node for move in made.moved] == ["0.1.0", "0.1", "0"]
    first, old = made.moved[0], tree.tree.nodes["0.1.0"].verdict
    assert old is not None and first.before is not None and first.after is not None
    assert (first.before.answer, first.after.answer) == (old.answer, TEXT)
    for standing, record in ((made.verdict_before, tree), (made.verdict_after, new)):
        assert standing is not None and record.verdict is not None
        assert standing.answer == record.verdict.answer
    assert made.why.startswith("The answer is another text, its confidence goes from ")
    assert made.why.endswith("0.1.0 given another verdict; the verdict of 0.1.0, 0.1, 0 moved")
    assert RunRecord.read((at(new).path / "run.json").read_text()) == new
    assert "\n" not in made.why


# Contests of contests


def test_changes_add_up_and_each_can_be_taken_back(tree: RunRecord) -> None:
    wishes: list[Change] = [Replace("0.1.0/B2", TEXT), Replace("0.1.0/A1", "Another word.")]
    both = contest(tree, *wishes, model=speakers())
    chained = contest(contest(tree, wishes[0], model=speakers()), wishes[1], model=speakers())
    assert outcome(chained) == outcome(both)
    assert said(chained, "0.1.0/B2")["support"] == TEXT  # although what comes before it changed
    first = contest(tree, wishes[0], model=speakers())
    model = speakers()
    assert outcome(contest(chained, Restore("0.1.0/A1"), model=model)) == outcome(first)
    assert model.calls == []  # all that it needs lies in the journal
    earlier = contest(chained, Rule("0.0", TEXT), model=speakers())
    assert [held.id for held in stated(earlier).overrides] == ["0.1.0/B2", "0.1.0/A1", "0.0"]
    assert stated(earlier).run == chained.run_id
    lines = at(earlier).ledger()
    known = {tree.run_id, stated(chained).run, chained.run_id, None}
    assert {line.run for line in lines} <= known


def test_two_texts_of_one_turn_hold_side_by_side_and_each_goes_by_itself(tree: RunRecord) -> None:
    own = said(tree, "0.1.0/A2")
    one = contest(tree, Replace("0.1.0/A2/claim", "One."), model=speakers())
    both = contest(one, Replace("0.1.0/A2", "Two."), model=speakers())
    assert said(both, "0.1.0/A2") == {**own, "claim": "One.", "support": "Two."}
    assert [(held.field, held.after) for held in stated(both).overrides] == [
        ("claim", "One."),
        ("", "Two."),
    ]
    model = speakers()
    left = contest(both, Restore("0.1.0/A2/claim"), model=model)
    assert said(left, "0.1.0/A2") == {**own, "support": "Two."}
    back = contest(both, Restore("0.1.0/A2"), model=(model := speakers()))
    assert outcome(back) == outcome(one) and model.calls == []
    assert outcome(contest(back, Restore("0.1.0/A2/claim"), model=model)) == outcome(tree)


@pytest.mark.parametrize("ruled_first", [True, False])
def test_a_verdict_and_the_words_of_its_judge_go_each_by_itself(
    ruled_first: bool, tree: RunRecord
) -> None:
    wishes: list[Change] = [Rule("0.1.0", TEXT), Replace("0.1.0/leaf_judge/rationale", "Why not.")]
    for wish in wishes if ruled_first else reversed(wishes):
        tree = contest(tree, wish, model=speakers())
    judge = said(tree, "0.1.0/leaf_judge")
    assert judge["answer"] == TEXT and (judge["rationale"] == "Why not.") == ruled_first
    assert {held.what for held in stated(tree).overrides} == {"ruled", "replaced"}
    unruled = contest(tree, Restore("0.1.0"), model=speakers())
    judge = said(unruled, "0.1.0/leaf_judge")
    assert judge["answer"] != TEXT and judge["rationale"] == "Why not."
    assert [held.what for held in stated(unruled).overrides] == ["replaced"]
    whole = contest(unruled, Restore("0.1.0/leaf_judge/rationale"), model=(model := speakers()))
    assert stated(whole).overrides == [] and model.calls == []
    assert TEXT not in str(outcome(whole))


# Models, budgets, crashes, caches


def test_what_did_not_change_is_not_asked_of_another_model(tree: RunRecord) -> None:
    with LocalEndpoint(seed=3) as other:
        address = f"openai:other@{other.url}"
        new = dialectree.contest(
            tree.run_id, [Replace("0.1.0/B2", TEXT)], model=address, cache=False
        )
        assert other.stats()["calls"] == new.usage.calls == 1 + 5 + 5 + 1
        assert {call.model for call in at(new).calls()} == {"openai:other"}
        assert new.models == {role: f"{first}, {address}" for role, first in tree.models.items()}
        back = dialectree.contest(new.run_id, [Restore("0.1.0/B2")], cache=False)
        assert other.stats()["calls"] == new.usage.calls
    assert outcome(back) == outcome(tree)


def test_a_persons_words_are_never_kept_as_a_models_reply(tmp_path: Path) -> None:
    with LocalEndpoint(seed=3, rules=children(2)) as served:
        given: dict[str, Any] = {"model": f"openai:any@{served.url}", "max_depth": 1}
        old = dialectree.answer("What is it?", **given)
        new = dialectree.contest(old.run_id, [Replace("0.1/A1", TEXT)])
        assert new.usage.calls > 0 and said(new, "0.1/A1")["support"] == TEXT
        served.reset()
        same = dialectree.answer("What is it?", **given)
        assert served.stats()["calls"] == 0
    assert outcome(same) == outcome(old)
    (database,) = tmp_path.rglob("replies.sqlite3")
    rows = sqlite3.connect(database).execute("select completion from completions").fetchall()
    assert rows and not any(TEXT in completion for (completion,) in rows)
    assert not any(TEXT in str(line.reply) for line in at(new).ledger())


# Leaves of other protocols, second passes, small trees


def polar(call: Asked) -> Any:
    return split("is it so?", "is it not so?")


def test_a_leaf_that_is_settled_by_switching_roles_is_contested_turn_by_turn() -> None:
    model = speakers()
    model.will_say_now(polar, to=type(split("x")))
    old = debate(model, leaf_protocol="rsd")
    name = called(old.tree.nodes["0.1"], "b", 2)
    new = contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {node for node, role in model.places if role in ("debater", "judge")} == {"0.1"}
    assert said(new, name)["defence"] == TEXT
    verdict = old.tree.nodes["0.1"].verdict
    assert verdict is not None
    other = {"Yes": "B", "No": "A"}[str(verdict.answer)]
    ruled = contest(old, Rule("0.1", other), model=(model := speakers()))
    assert {role for _, role in model.places} == {*SYNTHESIS, "answer_writer"}
    turned = ruled.tree.nodes["0.1"].verdict
    assert turned is not None
    assert (turned.answer, turned.confidence) == ({"A": "Yes", "B": "No"}[other], None)
    assert ruled.verdict is not None and ruled.verdict.confidence is None
    back = contest(ruled, Restore("0.1"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)
    dropped = contest(old, Drop("0.1"), model=speakers())
    assert (dropped.status, dropped.tree.nodes["0.1"].dropped) == ("answered", True)


@pytest.mark.parametrize("written", ["Yes.", "No."])
def test_the_writer_is_not_held_to_the_side_of_a_judge_whom_a_person_overruled(
    written: str,
) -> None:
    given: Any = {"max_depth": 0, "leaf_rounds": 1, "cache": False}
    old = dialectree.answer("Is it so?", model=speakers(), **given)
    text = WriterReply(explanation="", final_answer=written, final_confidence=None)
    (model := speakers()).will_say_now(text)
    ruled = contest(old, Rule("0", TEXT), model=model)
    assert ruled.verdict is not None and ruled.verdict.answer == written


def test_a_second_pass_is_contested_by_names_of_its_own() -> None:
    old = debate(speakers(), second_pass_below=1.0)
    again = next(n for n in old.tree.nodes.values() if n.earlier and n.kind == "leaf")
    name = f"{again.id}/B2@2"
    new = contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {call.take for call in model.calls if call.role != "answer_writer"} == {2}
    assert said(new, name)["support"] == TEXT
    ruled = contest(old, Rule(again.id, TEXT), model=speakers()).tree.nodes[again.id]
    assert ruled.verdict is not None and (ruled.verdict.answer, ruled.verdict.take) == (TEXT, 2)
    assert ruled.earlier == again.earlier
    first = contest(old, Replace(f"{again.id}/B2", TEXT), model=speakers())
    assert first.status == "answered"


def test_what_the_person_answered_is_not_asked_again() -> None:
    model = speakers()
    ask_once = rate_all(0.9, decision="clarify", request="Which?")
    usual = model.says(ComplexityReply)
    model.will_say_now(
        lambda call: ask_once(call) if call.round == 1 and call.node == "0.1" else usual(call),
        to=ComplexityReply,
    )

    async def person(asked: Mapping[str, str]) -> str:
        return "This one."

    given: Any = {"max_depth": 2, "leaf_rounds": 2, "cache": False}
    old = dialectree.answer("What is it?", ask=person, model=model, **given)
    assert "the person answered: This one." in old.tree.nodes["0.1"].notes
    new = contest(old, Rule("0.0.0", TEXT), model=(model := speakers()))
    assert {node for node, _ in model.places} == {"0.0", "0"}
    back = contest(new, Restore("0.0.0"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)


# Role-switching debates


@pytest.mark.parametrize("orders", ["one", "both"])
def test_a_ruling_can_be_set_by_its_label(orders: str) -> None:
    old = debate(speakers(), "rsd", switching.TWO, judge_orders=orders, allow_uncertain=True)
    assert old.verdict is not None and old.verdict.label == "B"
    new = contest(old, Rule("0", "a"), model=(model := speakers()))
    assert model.calls == [] and new.verdict is not None
    assert (new.verdict.label, new.verdict.answer) == ("A", switching.TWO[0])
    assert (new.verdict.confidence, new.verdict.confidence_source) == (None, None)
    assert stated(new).why.startswith(
        "The label goes from B to A, its confidence goes from 0.80 to not determined: "
    )
    back = contest(new, Rule("0", "B"), model=speakers())
    assert back.verdict is not None and back.verdict.label == "B"
    assert outcome(contest(back, Restore("0"), model=speakers())) == outcome(old)
    neither = contest(old, Rule("0", "uncertain"), model=speakers())
    assert neither.status == "unresolved"
    assert neither.verdict is not None and neither.verdict.label == "uncertain"


def one_judge_fails(model: ScriptedModel, side: str) -> ScriptedModel:
    """The judge who reads that side first has no reply, at the leaves of TSD none but at 0.1."""
    usual = model.says(JudgeReply)

    def rule_or_fail(call: Asked) -> Said:
        first = switching.blocks_of(call)[0]
        return no_reply() if first == f"{side}, proposal" and call.node != "0.0" else usual(call)

    model.will_say_now(rule_or_fail, to=JudgeReply)
    return model


@pytest.mark.parametrize(("side", "label"), [("B", "A"), ("A", "B"), ("A", "uncertain")])
def test_a_ruling_can_be_set_where_one_of_two_judges_failed(side: str, label: str) -> None:
    model = one_judge_fails(speakers(), side)
    old = debate(model, "rsd", switching.TWO, judge_orders="both", allow_uncertain=True)
    assert old.status == "unresolved" and len(old.tree.nodes["0"].failures) == 1
    new = contest(old, Rule("0", label), model=(model := speakers()))
    assert model.calls == [] and resolution(new) == label
    assert new.tree.nodes["0"].failures == []
    with pytest.raises(InputError, match=f"nothing to change, {label} is the ruling already"):
        contest(new, Rule("0", label), model=speakers())
    other = contest(new, Rule("0", "B" if label == "A" else "A"), model=speakers())
    assert resolution(other) == ("B" if label == "A" else "A")
    for changed in (new, other):
        back = contest(changed, Restore("0"), model=(model := speakers()))
        assert model.calls == [] and outcome(back) == outcome(old)


@pytest.mark.parametrize(("side", "silent"), [("B", "0/judge1"), ("A", "0/swapped1")])
def test_a_judge_who_failed_has_not_ruled_once_the_ruling_is_taken_back(
    side: str, silent: str
) -> None:
    old = debate(one_judge_fails(speakers(), side), "rsd", switching.TWO, judge_orders="both")
    ruled = contest(old, Rule("0", "A"), model=(model := speakers()))
    worded = contest(ruled, Replace(silent, "Why not."), model=model)
    assert said(worded, silent)["rationale"] == "Why not."
    ruled_again = contest(worded, Rule("0", "B"), model=model)
    for changed in (worded, ruled_again):
        assert outcome(contest(changed, Restore("0"), model=model)) == outcome(old)
    assert model.calls == []


def test_a_knockout_goes_on_with_whom_a_person_lets_win() -> None:
    old = debate(speakers(), "rsd", switching.THREE, candidates="knockout")
    first = old.tree.nodes["0.0"]
    held = {str(turn.side) for turn in first.transcript if turn.phase == "uncertainty"}
    letters: dict[str, str] = dict(zip(switching.THREE, "ABC", strict=True))
    assert first.verdict is not None
    (loser,) = held - {first.verdict.answer}
    new = contest(old, Rule("0.0", letters[loser]), model=(model := speakers()))
    assert {node for node, _ in model.places} == {"0.1"}
    assert new.status == "answered"
    name = called(old.tree.nodes["0.1"], "a", 2)
    contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {node for node, _ in model.places} == {"0.1"}
    with pytest.raises(InputError, match="no judge has ruled there"):
        contest(old, Rule("0", "A"), model=speakers())
    with pytest.raises(InputError, match=r"give one of [ABC], [ABC]$"):
        contest(old, Rule("0.0", "D"), model=speakers())


def test_the_person_who_judged_is_asked_again_only_where_something_changed() -> None:
    asked: list[str] = []

    async def person(request: Mapping[str, str]) -> str:
        asked.append(request["node"])
        return request["request"].rsplit(" ", 1)[-1]  # the last label

    given: Any = {"judge": "me", "candidates": "knockout", "cache": False}
    model = speakers()
    old = dialectree.decide("What?", [*switching.THREE], ask=person, model=model, **given)
    assert asked == ["0.0", "0.1"]
    folder = at(old)
    name = called(old.tree.nodes["0.1"], "a", 4)
    with pytest.raises(InputError, match="nobody is there to rule"):
        contest(old, Replace(name, TEXT), model=speakers())
    asked.clear()
    more: Any = {"model": speakers(), "cache": False, "ask": person}
    new = dialectree.contest(folder.run_id, [Replace(name, TEXT)], **more)
    assert asked == ["0.1"] and new.status == "answered"
    back = dialectree.contest(new.run_id, [Restore(name)], **more)
    assert asked == ["0.1"] and back.verdict == old.verdict


def test_a_contest_without_the_person_who_has_to_rule_again_costs_nothing() -> None:
    old = judged_by_a_person("A", voters(*switching.TWO), gate=2)
    folders = len([*RUNS.iterdir()])
    for wishes in ([Replace("0/B1", TEXT)], [Drop("0/A3"), Drop("0/1")]):
        more: Any = {"model": (model := speakers()), "cache": False}
        with pytest.raises(InputError, match="nobody is there to rule"):
            dialectree.contest(old, wishes, **more)
        assert model.calls == [] and len([*RUNS.iterdir()]) == folders
    ruled = dialectree.contest(old, [Replace("0/B4", TEXT), Rule("0", "B")], **more)
    assert resolution(ruled) == "B"
    agreed = dialectree.contest(old, [Drop("0/1")], **more)
    assert agreed.status == "answered" and agreed.verdict != old.verdict


PERSONS: dict[str, tuple[str, str]] = {
    "a label": ("B", "A"),
    "uncertain": ("uncertain", "A"),
    "no ruling": ("", "B"),
    "a label that becomes uncertain": ("A", "uncertain"),
}


def judged_by_a_person(ruling: str, model: ScriptedModel | None = None, **given: Any) -> RunRecord:
    """A run in which a person rules ``ruling`` wherever it is asked."""

    async def person(request: Mapping[str, str]) -> str:
        return ruling

    given = {"judge": "me", "allow_uncertain": True, "cache": False, **given}
    return dialectree.decide(
        "What?", [*switching.TWO], ask=person, model=model or speakers(), **given
    )


def resolution(record: RunRecord) -> str | None:
    assert record.verdict is not None
    return record.verdict.label


@pytest.mark.parametrize(("first", "then"), PERSONS.values(), ids=PERSONS.keys())
def test_a_persons_own_ruling_is_changed_and_comes_back(first: str, then: str) -> None:
    old = judged_by_a_person(first)
    new = contest(old, Rule("0", then), model=(model := speakers()))
    assert (model.calls, resolution(new)) == ([], then)
    assert "0 given another verdict by a person" in new.tree.nodes["0"].notes
    assert [(held.before, held.after) for held in stated(new).overrides] == [(first, then)]
    other = contest(new, Rule("0", "B" if then == "A" else "A"), model=speakers())
    assert resolution(other) == ("B" if then == "A" else "A")
    for changed in (new, other):
        back = contest(changed, Restore("0"), model=(model := speakers()))
        assert model.calls == [] and outcome(back) == outcome(old)
        assert stated(back).overrides == []


def test_the_ruling_that_stands_is_no_change_whoever_gave_it() -> None:
    model = speakers()
    model.will_say_now(switching.rule("uncertain", "uncertain"), to=JudgeReply)
    settled = [judged_by_a_person(label) for label in ("A", "uncertain")]
    settled.append(debate(model, "rsd", switching.TWO, allow_uncertain=True))
    settled.append(contest(settled[0], Rule("0", "B"), model=speakers()))
    for record in settled:
        label = resolution(record)
        with pytest.raises(InputError, match=f"nothing to change, {label} is the ruling already"):
            contest(record, Rule("0", str(label)), model=speakers())


# Baselines


def voters(*votes: str) -> ScriptedModel:
    """A model that plays every role; of the direct answers each says its own."""
    model = speakers()
    model.will_say(*(switching.direct(vote) for vote in votes), to=DirectReply)
    return model


def sample_of(record: RunRecord, answer: str) -> str:
    """The name of a direct answer that says so."""
    root = record.tree.nodes["0"]
    samples = [turn for turn in root.transcript if turn.phase == "direct"]
    return next(turns.name(root, turn) for turn in samples if turn.fields["answer"] == answer)


def test_a_dropped_sample_is_no_failed_one_and_counts_for_nobody() -> None:
    animals, plants = switching.TWO
    model = voters(plants, animals, plants, animals, plants)
    old = debate(model, "self_consistency", switching.TWO, samples=5)
    new = contest(old, Drop(sample_of(old, plants)), model=speakers())
    assert new.verdict is not None and new.verdict.confidence == 2 / 4
    counted, tie = new.verdict.notes
    assert counted in ("4 samples: A 2, B 2; 1 dropped", "4 samples: B 2, A 2; 1 dropped")
    assert "2 of 4 each" in tie
    back = contest(new, Restore(stated(new).overrides[0].id), model=speakers())
    assert outcome(back) == outcome(old)


def test_a_gate_agrees_without_the_answer_that_a_person_dropped() -> None:
    animals, plants = switching.TWO
    old = debate(voters(plants, animals, plants), "rsd", switching.TWO, gate=3)
    assert len(old.tree.nodes["0"].transcript) > 3
    new = contest(old, Drop(sample_of(old, animals)), model=(model := speakers()))
    assert model.calls == [] and new.verdict is not None
    assert new.verdict.notes == ["no debate: 2 direct answers agreed"]
    assert new.verdict.answer == plants


def test_a_journal_that_does_not_fit_its_record_is_refused(tree: RunRecord) -> None:
    path = at(tree).path / "calls.jsonl"
    whole = path.read_text().splitlines(keepends=True)
    lost = [line for line in whole if '"node":"0.1.0"' not in line or '"round":2' not in line]
    assert 0 < len(lost) < len(whole)
    for text, wrong in (
        ("", "calls.jsonl has no call for 0/decomposer1"),
        ("".join(lost), "calls.jsonl has no call for 0.1.0/[AB]2"),
        ("{}\n" + "".join(whole), "line 1 cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(RunFolderError, match=wrong):
            contest(tree, Drop("0.1"), model=speakers())
    path.write_text("".join(whole) + '{"key":')  # torn by a crash, and no call
    assert contest(tree, Drop("0.1"), model=speakers()).status == "answered"
    for status in ("running", "partial"):
        at(tree).write_record(tree.model_copy(update={"status": status}))
        with pytest.raises(InputError, match=f"first: dialectree resume {at(tree).path}"):
            contest(tree, Drop("0.1"), model=speakers())
