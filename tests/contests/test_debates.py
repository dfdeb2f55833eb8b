"""Contests of debates: turns, verdicts, rulings of judges and persons, second passes.

Of the leaves in use here B opens 0.1.0, and A the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
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
from dialectree.nodes.tree_structured_debate.leaf_debater import LeafJudgeReply
from dialectree.protocols.protocol import WITHDRAWN
from dialectree.records import Node, RunRecord, turns
from tests.contesting import RUNS, TEXT, at, contest, debate, made, outcome, said, speakers, stated
from tests.endpoint import LocalEndpoint
from tests.graphs.debating import rate_all, rule, split
from tests.graphs.role_switching_debate import switching
from tests.rules import children
from tests.scripted import Asked, Said, ScriptedModel, no_reply


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def tree(elsewhere: Path) -> RunRecord:
    """Return a run with four leaves, in the working folder."""
    return made(elsewhere, "tree", lambda: debate(speakers(), max_depth=2))


def called(node: Node, who: str, round: int) -> str:
    """Return the name of a turn, by which of the two debaters took it."""
    return next(turns.name(node, t) for t in node.transcript if (t.speaker, t.round) == (who, round))


# A tree of questions


def test_a_dropped_turn_is_withdrawn_before_everybodys_eyes(tree: RunRecord) -> None:
    model = speakers()
    new = contest(tree, Drop("0.1.0/A2"), model=model)
    assert said(new, "0.1.0/A2") == {"claim": WITHDRAWN, "support": "–", "rebuttal": "–"}
    at_leaf = [call for call in model.calls if call.node == "0.1.0"]
    assert at_leaf and all(WITHDRAWN in call.prompt for call in at_leaf)


def test_a_dropped_part_is_answered_without_and_is_no_failure(tree: RunRecord) -> None:
    new = contest(tree, Drop("0.1.0"))
    gone = new.tree.nodes["0.1.0"]
    assert (gone.status, gone.dropped, gone.verdict, gone.transcript) == ("missing", True, None, [])
    assert new.list_failures() == [] and new.tree.nodes["0"].provenance == ["0.0.0", "0.0.1", "0.1.1"]
    half = contest(tree, Drop("0.1"))
    below = [half.tree.nodes[name].dropped for name in ("0.1", "0.1.0", "0.1.1", "0.0")]
    assert below == [True, True, True, False]
    assert half.tree.nodes["0.1"].children == ["0.1.0", "0.1.1"]
    none = contest(half, Drop("0.0"))
    assert (none.status, none.usage.calls) == ("unresolved", 0)


def test_the_record_says_what_moved_and_why_and_who_ruled(tree: RunRecord) -> None:
    new = contest(tree, Rule("0.1.0", TEXT))
    verdict, old = new.tree.nodes["0.1.0"].verdict, tree.tree.nodes["0.1.0"].verdict
    assert verdict is not None and old is not None
    assert (verdict.answer, verdict.confidence) == (TEXT, None)
    assert "A person set this" in str(verdict.rationale)
    made = stated(new)
    assert made.changes == ["0.1.0 given another verdict"]
    assert [move.node for move in made.moved] == ["0.1.0", "0.1", "0"]
    first = made.moved[0]
    assert first.before is not None and first.after is not None
    assert (first.before.answer, first.after.answer) == (old.answer, TEXT)
    for standing, record in ((made.verdict_before, tree), (made.verdict_after, new)):
        assert standing is not None and record.verdict is not None
        assert standing.answer == record.verdict.answer
    assert made.why.endswith("0.1.0 given another verdict; the verdict of 0.1.0, 0.1, 0 moved")
    assert "The answer changed" in made.why and "\n" not in made.why


def test_changes_of_one_turn_hold_side_by_side_and_name_the_run_they_come_from(tree: RunRecord) -> None:
    own = said(tree, "0.1.0/A2")
    one = contest(tree, Replace("0.1.0/A2/claim", "One."))
    both = contest(one, Replace("0.1.0/A2", "Two."))
    assert said(both, "0.1.0/A2") == {**own, "claim": "One.", "support": "Two."}
    held = [(change.field, change.after) for change in stated(both).overrides]
    assert held == [("claim", "One."), ("", "Two.")]
    assert said(contest(both, Restore("0.1.0/A2/claim")), "0.1.0/A2") == {**own, "support": "Two."}
    earlier = contest(both, Rule("0.0", TEXT))
    assert stated(earlier).run == both.run_id
    known = {tree.run_id, one.run_id, both.run_id, None}
    assert {line.run for line in at(earlier).ledger()} <= known


def test_words_of_a_judge_give_way_to_a_later_ruling_and_come_back(tree: RunRecord) -> None:
    worded, ruling = Replace("0.1.0/leaf_judge/rationale", "Why not."), Rule("0.1.0", TEXT)
    for first, second in ((worded, ruling), (ruling, worded)):
        new = contest(contest(tree, first), second)
        judge = said(new, "0.1.0/leaf_judge")
        assert judge["answer"] == TEXT and (judge["rationale"] == "Why not.") == (second is worded)
        judge = said(contest(new, Restore("0.1.0")), "0.1.0/leaf_judge")
        assert judge["answer"] != TEXT and judge["rationale"] == "Why not."


@pytest.mark.parametrize("written", ["Yes.", "No."])
def test_the_writer_is_not_held_to_the_side_of_a_judge_whom_a_person_overruled(written: str) -> None:
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
    ruled = contest(old, Rule(again.id, TEXT)).tree.nodes[again.id]
    assert ruled.verdict is not None and (ruled.verdict.answer, ruled.verdict.take) == (TEXT, 2)
    assert ruled.earlier == again.earlier
    assert contest(old, Replace(f"{again.id}/B2", TEXT)).status == "answered"


def test_a_leaf_that_is_settled_by_switching_roles_is_contested_turn_by_turn() -> None:
    model = speakers()
    halves = split("is it so?", "is it not so?")
    model.will_say_now(lambda call: halves, to=type(halves))
    old = debate(model, leaf_protocol="rsd")
    name = called(old.tree.nodes["0.1"], "b", 2)
    new = contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {node for node, role in model.places if role in ("debater", "judge")} == {"0.1"}
    assert said(new, name)["defence"] == TEXT
    verdict = old.tree.nodes["0.1"].verdict
    assert verdict is not None
    other = {"Yes": "B", "No": "A"}[str(verdict.answer)]
    ruled = contest(old, Rule("0.1", other), model=(model := speakers()))
    above = {"synthesis_debater", "synthesis_judge", "answer_writer"}
    assert {role for _, role in model.places} == above
    turned = ruled.tree.nodes["0.1"].verdict
    assert turned is not None
    assert (turned.answer, turned.confidence) == ({"A": "Yes", "B": "No"}[other], None)
    assert ruled.verdict is not None and ruled.verdict.confidence is None
    back = contest(ruled, Restore("0.1"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)
    dropped = contest(old, Drop("0.1"))
    assert (dropped.status, dropped.tree.nodes["0.1"].dropped) == ("answered", True)


# Models, caches, journals


def test_what_did_not_change_is_not_asked_of_another_model(tree: RunRecord) -> None:
    with LocalEndpoint(seed=3) as other:
        address = f"openai:other@{other.url}"
        new = dialectree.contest(tree.run_id, [Replace("0.1.0/B2", TEXT)], model=address, cache=False)
        assert other.stats()["calls"] == new.usage.calls == 1 + 5 + 5 + 1
        assert {call.model for call in at(new).calls()} == {"openai:other"}
        asked = {models for models in new.models.values() if address in models}
        assert new.models.keys() == tree.models.keys()
        assert asked == {f"{first}, {address}" for first in tree.models.values()}
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
            contest(tree, Drop("0.1"))
    path.write_text("".join(whole) + '{"key":')  # torn by a crash, and no call
    assert contest(tree, Drop("0.1")).status == "answered"
    for status in ("running", "partial"):
        at(tree).write_record(tree.model_copy(update={"status": status}))
        with pytest.raises(InputError, match=f"first: dialectree resume {at(tree).path}"):
            contest(tree, Drop("0.1"))


# Rulings


def resolution(record: RunRecord) -> str | None:
    return record.verdict.label if record.verdict is not None else None


def switched(model: ScriptedModel | None = None, **settings: Any) -> RunRecord:
    given = {"allow_uncertain": True, **settings}
    return debate(model or speakers(), "rsd", switching.TWO, **given)


def unsure() -> RunRecord:
    (model := speakers()).will_say_now(switching.rule("uncertain", "uncertain"), to=JudgeReply)
    return switched(model)


def one_judge_fails(side: str) -> RunRecord:
    """Return a debate of which the judge who reads ``side`` first has no reply."""
    model = speakers()
    usual = model.says(JudgeReply)

    def rule_or_fail(call: Asked) -> Said:
        failed = switching.blocks_of(call)[0] == f"{side}, proposal"
        return no_reply() if failed else usual(call)

    model.will_say_now(rule_or_fail, to=JudgeReply)
    return switched(model, judge_orders="both")


def judged_by_a_person(ruling: str, model: ScriptedModel | None = None, **given: Any) -> RunRecord:
    """Return a run in which a person rules ``ruling`` wherever it is asked."""

    async def person(request: Mapping[str, str]) -> str:
        return ruling

    given = {"judge": "me", "allow_uncertain": True, "cache": False, **given}
    return dialectree.decide("What?", [*switching.TWO], ask=person, model=model or speakers(), **given)


RULED: dict[str, tuple[Callable[[], RunRecord], str | None]] = {
    "by a judge": (switched, "B"),
    "by a judge who is unsure": (unsure, "uncertain"),
    "by judges in both orders": (lambda: switched(judge_orders="both"), "B"),
    "by one judge, for B's failed": (lambda: one_judge_fails("B"), None),
    "by one judge, for A's failed": (lambda: one_judge_fails("A"), None),
    "by a person": (lambda: judged_by_a_person("A"), "A"),
    "by a person who is unsure": (lambda: judged_by_a_person("uncertain"), "uncertain"),
    "by a person who says nothing": (lambda: judged_by_a_person(""), ""),
}
"""Debates of two options, and the label that stands; None: no ruling, the debate failed."""


@pytest.mark.parametrize(("make", "first"), RULED.values(), ids=RULED)
def test_however_a_debate_was_ruled_each_label_can_be_set_and_taken_back_without_a_call(
    make: Callable[[], RunRecord], first: str | None
) -> None:
    old, model = make(), speakers()
    assert first is None or (resolution(old) or "") == first
    if first:
        with pytest.raises(InputError, match=f"nothing to change, {first} "):
            contest(old, Rule("0", first))
    new = old
    for label in [label for label in ("A", "B", "uncertain") if label != first]:
        new = contest(new, Rule("0", label.lower()), model=model)
        assert new.verdict is not None
        assert (new.verdict.label, new.verdict.confidence) == (label, None)
        assert new.status == ("unresolved" if label == "uncertain" else "answered")
        assert new.tree.nodes["0"].failures == []
        ((before, after),) = [(one.before, one.after) for one in stated(new).overrides]
        assert after == label and (old.settings["judge"] != "me" or before == first)
        with pytest.raises(InputError, match=f"nothing to change, {label} "):
            contest(new, Rule("0", label))
        back = contest(new, Restore("0"), model=model)
        assert outcome(back) == outcome(old) and stated(back).overrides == []
    assert model.calls == []


@pytest.mark.parametrize(("side", "silent"), [("B", "0/judge1"), ("A", "0/swapped1")])
def test_a_judge_who_failed_has_not_ruled_once_the_ruling_is_taken_back(side: str, silent: str) -> None:
    old = one_judge_fails(side)
    ruled = contest(old, Rule("0", "A"), model=(model := speakers()))
    worded = contest(ruled, Replace(silent, "Why not."), model=model)
    assert said(worded, silent)["rationale"] == "Why not."
    for changed in (worded, contest(worded, Rule("0", "B"), model=model)):
        assert outcome(contest(changed, Restore("0"), model=model)) == outcome(old)
    assert model.calls == []


def of_three(*labels: str, **settings: Any) -> tuple[ScriptedModel, RunRecord]:
    """Return a run in which three judges rule so."""

    def judge(call: Asked) -> Said:
        label = labels[int(call.speaker[0]) - 1]
        return switching.rule(label, switching.listed(call, "candidates")[label])

    model = speakers()
    model.will_say_now(judge, to=JudgeReply)
    return model, debate(model, "rsd", switching.TWO, jury=[model] * 3, **settings)


@pytest.mark.parametrize(
    ("change", "label", "agreement", "dissent"),
    [
        (Rule("0/judge_2/1", "B"), "B", 2 / 3, {"1": "A"}),
        (Drop("0/judge_1/1"), None, 1 / 2, {}),  # one of three for each is no majority
        (Drop("0/judge_3/1"), "A", 1, {}),
        (Rule("0", "B"), "B", None, {}),
        (Replace("0/judge_1/1", TEXT), "A", 2 / 3, {"3": "B"}),
    ],
)
def test_any_ruling_of_a_jury_is_changed_dropped_or_overruled(
    change: Change, label: str | None, agreement: float | None, dissent: dict[str, str]
) -> None:
    model, old = of_three("A", "A", "B")
    asked = len(model.calls)
    new = contest(old, change, model=model, jury=[model] * 3)
    verdict = new.verdict
    assert verdict is not None and verdict.label == label
    assert verdict.agreement == pytest.approx(agreement)
    assert verdict.dissent == dissent
    back = contest(new, Restore(change.id), model=model, jury=[model] * 3)
    assert outcome(back) == outcome(old) and len(model.calls) == asked


def test_one_of_two_orders_of_a_judge_alone_can_be_overruled_but_no_option_is_made_up() -> None:
    old = debate(model := speakers(), "rsd", switching.TWO, judge_orders="both")
    asked = len(model.calls)
    first = stated_label(old)
    other = "AB".replace(first, "")
    torn = contest(old, Rule("0/swapped1", other), model=model)
    assert torn.verdict is not None and torn.verdict.answer is None
    assert "position bias" in torn.verdict.notes[0]
    gone = contest(old, Drop("0/swapped1"), model=model)
    assert gone.verdict is not None
    assert "a person took the ruling out" in gone.verdict.notes[0]
    with pytest.raises(InputError, match="give one of A, B"):
        contest(old, Rule("0/swapped1", "D"))
    assert len(model.calls) == asked


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (Rule("0", TEXT), TEXT),
        (Rule("0/2", TEXT), None),  # three answers
        (Drop("0/1"), None),
        (Drop("0/3"), "A"),
    ],
)
def test_any_ruling_of_a_leafs_jury_is_changed_dropped_or_overruled(
    change: Change, answer: str | None
) -> None:
    def judge(call: Asked) -> Said:
        return rule("AAB"[int(call.speaker) - 1], winner="AAB"[int(call.speaker) - 1])

    model = speakers()
    model.will_say_now(judge, to=LeafJudgeReply)
    old = debate(model, max_depth=0, jury=[model] * 3)
    new = contest(old, change, model=model, jury=[model] * 3)
    leaf = new.tree.nodes["0"].verdict
    assert (leaf and leaf.answer) == answer
    back = contest(new, Restore(change.id), model=model, jury=[model] * 3)
    assert outcome(back) == outcome(old)


def stated_label(record: RunRecord) -> str:
    assert record.verdict is not None and record.verdict.label is not None
    return record.verdict.label


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
    with pytest.raises(InputError, match="no judge ruled there"):
        contest(old, Rule("0", "A"))
    with pytest.raises(InputError, match=r"give one of [ABC], [ABC]$"):
        contest(old, Rule("0.0", "D"))


def test_the_person_who_judged_is_asked_again_only_where_something_changed() -> None:
    asked: list[str] = []

    async def person(request: Mapping[str, str]) -> str:
        asked.append(request["node"])
        return request["request"].rsplit(" ", 1)[-1]  # the last label

    given: Any = {"judge": "me", "candidates": "knockout", "cache": False}
    old = dialectree.decide("What?", [*switching.THREE], ask=person, model=speakers(), **given)
    assert asked == ["0.0", "0.1"]
    asked.clear()
    name = called(old.tree.nodes["0.1"], "a", 4)
    more: Any = {"model": speakers(), "cache": False, "ask": person}
    new = dialectree.contest(old.run_id, [Replace(name, TEXT)], **more)
    assert asked == ["0.1"] and new.status == "answered"
    back = dialectree.contest(new.run_id, [Restore(name)], **more)
    assert asked == ["0.1"] and back.verdict == old.verdict


def test_a_contest_without_the_person_who_has_to_rule_again_costs_nothing() -> None:
    old = judged_by_a_person("A", voters(*switching.TWO), gate=2)
    folders = len([*RUNS.iterdir()])
    for wishes in ([Replace("0/B1", TEXT)], [Drop("0/A3"), Drop("0/1")]):
        more: Any = {"model": (model := speakers()), "cache": False}
        with pytest.raises(InputError, match="a person must rule again"):
            dialectree.contest(old, wishes, **more)
        assert model.calls == [] and len([*RUNS.iterdir()]) == folders
    ruled = dialectree.contest(old, [Replace("0/B4", TEXT), Rule("0", "B")], **more)
    assert resolution(ruled) == "B"
    agreed = dialectree.contest(old, [Drop("0/1")], **more)
    assert agreed.status == "answered" and agreed.verdict != old.verdict


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


# Samples


def voters(*votes: str) -> ScriptedModel:
    """Return a model that plays every role; of the direct answers each says its own."""
    model = speakers()
    model.will_say(*(switching.direct(vote) for vote in votes), to=DirectReply)
    return model


def sample_of(record: RunRecord, answer: str) -> str:
    """Return the name of a direct answer that says so."""
    root = record.tree.nodes["0"]
    samples = [turn for turn in root.transcript if turn.phase == "direct"]
    return next(turns.name(root, turn) for turn in samples if turn.fields["answer"] == answer)


def test_a_dropped_sample_is_no_failed_one_and_counts_for_nobody() -> None:
    animals, plants = switching.TWO
    model = voters(plants, animals, plants, animals, plants)
    old = debate(model, "self_consistency", switching.TWO, samples=5)
    new = contest(old, Drop(sample_of(old, plants)))
    assert new.verdict is not None and new.verdict.confidence == 2 / 4
    counted, tie = new.verdict.notes
    assert counted in ("4 samples: A 2, B 2; 1 dropped", "4 samples: B 2, A 2; 1 dropped")
    assert "2 of 4 each" in tie
    assert outcome(contest(new, Restore(stated(new).overrides[0].id))) == outcome(old)


def test_a_gate_agrees_without_the_answer_that_a_person_dropped() -> None:
    animals, plants = switching.TWO
    old = debate(voters(plants, animals, plants), "rsd", switching.TWO, gate=3)
    assert len(old.tree.nodes["0"].transcript) > 3
    new = contest(old, Drop(sample_of(old, animals)), model=(model := speakers()))
    assert model.calls == [] and new.verdict is not None
    assert (new.verdict.answer, len(new.verdict.notes)) == (plants, 1)
    assert "2 direct answers agreed" in new.verdict.notes[0]
