"""Contests of what was said: who speaks anew, what stays, and every way back.

Of the leaves in use here B opens 0.1.0, and A the others.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import dialectree
from dialectree import turns
from dialectree.contests import Add, Drop, Flip, Replace, Restore, Rule, Set, Void, Wish
from dialectree.contests import start as contesting
from dialectree.context import build
from dialectree.errors import BudgetReached, Dropped, InputError, RunFolderError, SettingsError
from dialectree.models.asking import Asking, Place, messages
from dialectree.models.changes import Changes
from dialectree.models.endpoints import Decoding, Request, endpoint
from dialectree.models.forms import form
from dialectree.models.run import Run
from dialectree.models.specs import resolve
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import PairwiseReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import ScorerReply
from dialectree.nodes.role_switching_debate.debater import (
    ProposalReply,
    RebuttalReply,
    SwitchReply,
    UncertaintyReply,
)
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.complexity_evaluator import ComplexityReply
from dialectree.nodes.tree_structured_debate.critic import CriticReply
from dialectree.nodes.tree_structured_debate.explorer import ExplorerReply
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, OpeningReply
from dialectree.nodes.tree_structured_debate.leaf_judge import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.picker import PickerReply
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.nodes.tree_structured_debate.synthesis_judge import SynthesisJudgeReply
from dialectree.protocol import WITHDRAWN
from dialectree.records import Held, Node, RunRecord, Segment, Spot
from dialectree.runner import Started, again
from dialectree.runs import RunFolder
from tests import running
from tests.endpoint import LocalEndpoint
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree.arguing import score
from tests.graphs.debating import choose, rate_all, rule, split
from tests.graphs.role_switching_debate import switching
from tests.rules import children
from tests.scripted import Asked, Said, ScriptedModel, no_reply

RUNS = Path("runs")
TEXT = "A word of a person's own."


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small files are written here; none has to outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda file: None)


class Crash(ArithmeticError):
    """The process is gone."""


class Speakers(ScriptedModel):
    """Whatever is said depends on every word of what was asked; raises at call ``fragile_at``."""

    fragile_at: int = 0

    def _next(self, call: Asked) -> Said:
        if len(self.calls) >= self.fragile_at > 0:
            raise Crash
        return super()._next(call)


def words(call: Asked) -> str:
    return f"{call.role} says {crc32(call.prompt.encode()):x}"


def sure(call: Asked) -> float:
    return (crc32(call.prompt.encode()) % 90 + 5) / 100


def speakers(fragile_at: int = 0, split: int = 2) -> Speakers:
    """A model that plays every role of every protocol."""
    model = Speakers(fragile_at=fragile_at)
    switching.debaters(debating.debaters(split, model=model))
    said: dict[type[Any], Any] = {
        OpeningReply: lambda c: OpeningReply(claim=words(c), support=words(c)),
        DebaterReply: lambda c: DebaterReply(claim=words(c), support=words(c), rebuttal=words(c)),
        LeafJudgeReply: lambda c: rule(words(c), sure(c)),
        SynthesisReply: lambda c: SynthesisReply(integration=words(c), assumptions=""),
        SynthesisJudgeReply: lambda c: choose(sure(c)).model_copy(update={"answer": words(c)}),
        WriterReply: lambda c: WriterReply(
            final_answer=words(c), final_confidence=None, explanation=""
        ),
        ProposalReply: lambda c: ProposalReply(
            answer=switching.propose(c).answer, argument=words(c)
        ),
        RebuttalReply: lambda c: RebuttalReply(errors=[], defence=words(c)),
        SwitchReply: lambda c: SwitchReply(argument=words(c)),
        UncertaintyReply: lambda c: UncertaintyReply(
            percent=60, unsure_of=words(c), would_settle="Time."
        ),
        AnswererReply: lambda c: AnswererReply(answer=words(c), explanation="", confidence=sure(c)),
        ExplorerReply: lambda c: ExplorerReply(answer=words(c)),
        CriticReply: lambda c: CriticReply(critique=words(c)),
        PickerReply: lambda c: PickerReply(rationale=words(c), number="1", confidence=sure(c)),
        ArgumentsReply: lambda c: json.dumps({"arguments": [{"n": "1", "text": words(c)}]}),
        ScorerReply: lambda c: score(sure(c)),
        PairwiseReply: lambda c: PairwiseReply(rationale="so", winner="SUPPORT"),
    }
    for kind, say in said.items():
        model.will_say_now(say, to=kind)
    return model


def debate(
    model: ScriptedModel, name: str = "tsd", options: Sequence[str] = (), **given: Any
) -> RunRecord:
    """A run from its start to its end; of TSD with two leaves and two rounds in each."""
    shape = {"max_depth": 1, "leaf_rounds": 2} if name == "tsd" else {}
    more = {"options": options} if options else {}
    values = {"model": model, **shape, **more, **given}
    return asyncio.run(running.begin(name, "What is it?", RUNS, **values).conduct())


def at(record: RunRecord) -> RunFolder:
    return RunFolder.find(record.run_id, RUNS)


def begin(record: RunRecord, *wishes: Wish, model: ScriptedModel, **given: Any) -> Started:
    begun = contesting(at(record), wishes, RUNS, {"model": model, "cache": False, **given})
    assert isinstance(begun, Started)
    return begun


def contest(record: RunRecord, *wishes: Wish, model: ScriptedModel, **given: Any) -> RunRecord:
    return asyncio.run(begin(record, *wishes, model=model, **given).conduct())


def anew(model: ScriptedModel, before: int) -> Counter[tuple[str, str]]:
    """(node, role) of the calls since ``before``."""
    return Counter(model.places[before:])


def outcome(record: RunRecord) -> dict[str, Any]:
    """All that came of a run, without what differs between any two."""
    kept = record.model_dump(include={"verdict", "tree", "status", "prompts"})
    return kept


def said(record: RunRecord, name: str) -> dict[str, Any]:
    """What the turn of that name says."""
    node = record.tree.nodes[name.partition("/")[0]]
    return dict(next(t.fields for t in node.transcript if turns.name(node, t) == name))


def called(node: Node, who: str, round: int) -> str:
    """The name of a turn, by which of the two debaters took it."""
    return next(turns.name(node, t) for t in node.transcript if (t.who, t.round) == (who, round))


def stated(record: RunRecord) -> Any:
    assert record.contest is not None
    return record.contest


def files(folder: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


# Who speaks anew

SYNTHESIS = {"synthesis_debater": 4, "synthesis_judge": 1}


def calls(**nodes: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """``n0_1={...}``: the calls of each role at node 0.1."""
    return Counter(
        {
            (name[1:].replace("_", "."), role): count
            for name, roles in nodes.items()
            for role, count in roles.items()
        }
    )


ABOVE = {"n0": {**SYNTHESIS, "answer_writer": 1}}
ANEW: dict[str, tuple[Wish, Counter[tuple[str, str]]]] = {
    "the first turn of a leaf": (
        Replace("0.1.0/A1", TEXT),
        calls(n0_1_0={"leaf_debater": 3, "leaf_judge": 1}, n0_1=SYNTHESIS, **ABOVE),
    ),
    "the last turn of a leaf": (
        Replace("0.1.0/B2", TEXT),
        calls(n0_1_0={"leaf_judge": 1}, n0_1=SYNTHESIS, **ABOVE),
    ),
    "a dropped turn": (
        Drop("0.1.0/A2"),
        calls(n0_1_0={"leaf_debater": 1, "leaf_judge": 1}, n0_1=SYNTHESIS, **ABOVE),
    ),
    "one field of a turn": (
        Replace("0.1.0/B2/rebuttal", TEXT),
        calls(n0_1_0={"leaf_judge": 1}, n0_1=SYNTHESIS, **ABOVE),
    ),
    "the verdict of a leaf": (Rule("0.1.0", TEXT), calls(n0_1=SYNTHESIS, **ABOVE)),
    "a judge's words": (Replace("0.1.0/leaf_judge", TEXT), calls(n0_1=SYNTHESIS, **ABOVE)),
    "the verdict of a branch": (Rule("0.1", TEXT), calls(**ABOVE)),
    "the verdict of the root": (Rule("0", TEXT), calls(n0={"answer_writer": 1})),
    "a dropped leaf": (Drop("0.1.0"), calls(n0_1=SYNTHESIS, **ABOVE)),
    "a dropped branch": (Drop("0.1"), calls(**ABOVE)),
    "a synthesis": (
        Replace("0.1/concise1", TEXT),
        calls(n0_1={"synthesis_debater": 2, "synthesis_judge": 1}, **ABOVE),
    ),
    "a synthesis that is left out": (
        Drop("0/full1"),
        calls(n0={"synthesis_debater": 1, "synthesis_judge": 1, "answer_writer": 1}),
    ),
    "the answer": (Replace("0/answer_writer", TEXT), calls()),
    "no writer": (Drop("0/answer_writer"), calls()),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run with four leaves, made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        patch.chdir(tmp_path_factory.mktemp("made"))
        record = debate(speakers(), max_depth=2)
        return at(record).path.resolve()


@pytest.fixture
def tree(made: Path) -> RunRecord:
    """That run, in the working folder."""
    RUNS.mkdir()
    copy = RUNS / made.name
    copy.mkdir()
    for path in made.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return RunFolder(copy).record()


@pytest.mark.parametrize(("wish", "expected"), ANEW.values(), ids=ANEW.keys())
def test_only_what_depends_on_a_change_is_said_anew(
    wish: Wish, expected: Counter[tuple[str, str]], tree: RunRecord
) -> None:
    before, model = files(at(tree)), speakers()
    new = contest(tree, wish, model=model)
    assert anew(model, 0) == expected
    assert new.usage.calls == len(at(new).calls()) == sum(expected.values())
    assert new.status == "answered" and new.verdict != tree.verdict
    assert files(at(tree)) == before
    untouched = [name for name in tree.tree.nodes if name in ("0.0", "0.0.0", "0.0.1", "0.1.1")]
    kept = [name for name in untouched if not (wish == Drop("0.1") and name == "0.1.1")]
    assert [new.tree.nodes[name] for name in kept] == [tree.tree.nodes[name] for name in kept]
    model = speakers()
    back = contest(new, Restore(stated(new).held[0].id), model=model)
    assert model.calls == [] and back.usage.calls == 0
    assert outcome(back) == outcome(tree)
    assert stated(back).held == []


def test_a_replaced_turn_keeps_what_it_was_not_asked_to_change(tree: RunRecord) -> None:
    new = contest(tree, Replace("0.1.0/A2", f" {TEXT}\n"), model=speakers())
    old = said(tree, "0.1.0/A2")
    assert said(new, "0.1.0/A2") == {**old, "support": TEXT}
    (held,) = stated(new).held
    assert (held.before, held.after) == (old["support"], TEXT)
    assert new.tree.nodes["0.1.0"].notes == ["0.1.0/A2 replaced by a person"]


def test_a_dropped_turn_is_withdrawn_before_everybodys_eyes(tree: RunRecord) -> None:
    model = speakers()
    new = contest(tree, Drop("0.1.0/A2"), model=model)
    assert said(new, "0.1.0/A2") == {"claim": WITHDRAWN, "support": "–", "rebuttal": "–"}
    at_leaf = [call for call in model.calls if call.node == "0.1.0"]
    assert at_leaf and all(WITHDRAWN in call.prompt for call in at_leaf)


def test_a_judge_takes_the_last_claim_that_was_not_withdrawn(tree: RunRecord) -> None:
    last = max(turn.round for turn in tree.tree.nodes["0.1.0"].transcript)
    model = speakers()
    contest(tree, Drop(f"0.1.0/B{last}"), model=model)
    (judge,) = (call for call in model.calls if call.role == "leaf_judge")
    assert WITHDRAWN in judge.prompt and f"Last claim: {WITHDRAWN}" not in judge.prompt


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
    assert verdict.answer == TEXT
    assert str(verdict.rationale).startswith("A person set this verdict.")
    assert "still the judge's" in str(verdict.rationale)
    assert verdict.confidence == old.confidence


def test_the_record_says_what_moved_and_why(tree: RunRecord) -> None:
    new = contest(tree, Rule("0.1.0", TEXT), model=speakers())
    made = stated(new)
    assert made.run == tree.run_id and made.changes == ["0.1.0 given another verdict"]
    assert [move.node for move in made.moved] == ["0.1.0", "0.1", "0"]
    first = made.moved[0]
    assert (first.before.answer, first.after.answer) == (
        tree.tree.nodes["0.1.0"].verdict.answer,  # type: ignore[union-attr]
        TEXT,
    )
    assert made.verdict_before.answer == tree.verdict.answer  # type: ignore[union-attr]
    assert made.verdict_after.answer == new.verdict.answer  # type: ignore[union-attr]
    assert made.why.startswith("The answer is another text, its confidence goes from ")
    assert made.why.endswith("0.1.0 given another verdict; the verdict of 0.1.0, 0.1, 0 moved")
    assert RunRecord.read((at(new).path / "run.json").read_text()) == new
    assert "\n" not in made.why


def test_the_old_text_put_back_gives_the_old_verdict_and_costs_nothing(tree: RunRecord) -> None:
    old = said(tree, "0.0.1/B1")["support"]
    new = contest(tree, Replace("0.0.1/B1", TEXT), model=speakers())
    model = speakers()
    back = contest(new, Replace("0.0.1/B1", old), model=model)
    assert model.calls == []
    assert back.verdict == tree.verdict
    assert "the verdict stays" not in stated(back).why.lower()


# Contests of contests


def test_changes_add_up_and_each_can_be_taken_back(tree: RunRecord) -> None:
    wishes: list[Wish] = [Replace("0.1.0/B2", TEXT), Replace("0.1.0/A1", "Another word.")]
    both = contest(tree, *wishes, model=speakers())
    chained = contest(contest(tree, wishes[0], model=speakers()), wishes[1], model=speakers())
    assert outcome(chained) == outcome(both)
    assert said(chained, "0.1.0/B2")["support"] == TEXT  # although what comes before it changed
    first = contest(tree, wishes[0], model=speakers())
    model = speakers()
    assert outcome(contest(chained, Restore("0.1.0/A1"), model=model)) == outcome(first)
    assert model.calls == []  # all that it needs lies in the journal
    earlier = contest(chained, Rule("0.0", TEXT), model=speakers())
    assert [held.id for held in stated(earlier).held] == ["0.1.0/B2", "0.1.0/A1", "0.0"]
    assert stated(earlier).run == chained.run_id
    lines = at(earlier).ledger()
    known = {tree.run_id, stated(chained).run, chained.run_id, None}
    assert {line.run for line in lines} <= known


def test_a_verdict_of_a_dropped_part_comes_back_with_it(tree: RunRecord) -> None:
    ruled = contest(tree, Rule("0.1.0", TEXT), model=speakers())
    gone = contest(ruled, Drop("0.1.0"), model=speakers())
    model = speakers()
    assert outcome(contest(gone, Restore("0.1.0"), model=model)) == outcome(ruled)
    assert model.calls == []


def test_a_replaced_turn_can_be_dropped_and_comes_back_replaced(tree: RunRecord) -> None:
    replaced = contest(tree, Replace("0.1.0/B2", TEXT), model=speakers())
    gone = contest(replaced, Drop("0.1.0/B2"), model=speakers())
    assert said(gone, "0.1.0/B2")["claim"] == WITHDRAWN
    back = contest(gone, Restore("0.1.0/B2"), model=speakers())
    assert outcome(back) == outcome(replaced)


def test_two_texts_of_one_turn_hold_side_by_side_and_each_goes_by_itself(tree: RunRecord) -> None:
    own = said(tree, "0.1.0/A2")
    one = contest(tree, Replace("0.1.0/A2/claim", "One."), model=speakers())
    both = contest(one, Replace("0.1.0/A2", "Two."), model=speakers())
    assert said(both, "0.1.0/A2") == {**own, "claim": "One.", "support": "Two."}
    assert [(held.field, held.after) for held in stated(both).held] == [
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
    wishes: list[Wish] = [Rule("0.1.0", TEXT), Replace("0.1.0/leaf_judge/rationale", "Why not.")]
    for wish in wishes if ruled_first else reversed(wishes):
        tree = contest(tree, wish, model=speakers())
    judge = said(tree, "0.1.0/leaf_judge")
    assert judge["answer"] == TEXT and (judge["rationale"] == "Why not.") == ruled_first
    assert {held.what for held in stated(tree).held} == {"ruled", "replaced"}
    unruled = contest(tree, Restore("0.1.0"), model=speakers())
    judge = said(unruled, "0.1.0/leaf_judge")
    assert judge["answer"] != TEXT and judge["rationale"] == "Why not."
    assert [held.what for held in stated(unruled).held] == ["replaced"]
    whole = contest(unruled, Restore("0.1.0/leaf_judge/rationale"), model=(model := speakers()))
    assert stated(whole).held == [] and model.calls == []
    assert TEXT not in str(outcome(whole))


def test_a_verdict_of_a_role_switching_debate_is_gone_once_it_is_taken_back() -> None:
    old = debate(speakers(), "rsd", switching.TWO, judge_orders="both")
    assert old.verdict is not None
    label = {"A": "B", "B": "A"}[old.verdict.label or "A"]
    ruled = contest(old, Rule("0", label), model=speakers())
    both = contest(ruled, Replace("0/judge1", "Why not."), model=speakers())
    judged = [turn for turn in both.tree.nodes["0"].transcript if turn.role == "judge"]
    first, second = (turn.fields for turn in judged)
    assert (first["label"], first["rationale"], second["label"]) == (label, "Why not.", label)
    assert second["rationale"] == "A person set this verdict."
    left = contest(both, Restore("0"), model=(model := speakers()))
    assert left.verdict is not None and said(left, "0/judge1")["rationale"] == "Why not."
    assert (left.verdict.label, left.verdict.confidence) == (
        old.verdict.label,
        old.verdict.confidence,
    )
    assert outcome(contest(left, Restore("0/judge1"), model=model)) == outcome(old)
    assert model.calls == []


@pytest.mark.parametrize("judge", ["0/judge1", "0/swapped1"])
def test_each_judge_has_its_own_ruling_back_beside_a_word_that_was_replaced_later(
    judge: str,
) -> None:
    judges = speakers()
    judges.will_say_now(
        lambda c: switching.rule("A", switching.TWO[0], confidence=sure(c)), to=JudgeReply
    )
    old = debate(judges, "rsd", switching.TWO, judge_orders="both")
    both = contest(old, Rule("0", "B"), model=(model := speakers()))
    both = contest(both, Replace(judge, "Why not."), model=model)
    left = contest(both, Restore("0"), model=model)
    assert said(left, judge) == {**said(old, judge), "rationale": "Why not."}
    other = {"0/judge1": "0/swapped1", "0/swapped1": "0/judge1"}[judge]
    assert said(left, other) == said(old, other)
    assert outcome(contest(left, Restore(judge), model=model)) == outcome(old)
    assert model.calls == []


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


def test_a_live_model_has_to_be_given_again(tree: RunRecord) -> None:
    with pytest.raises(SettingsError, match="a live model is not kept"):
        contesting(at(tree), [Drop("0.1")], RUNS, {})
    assert [*RUNS.iterdir()] == [at(tree).path]


@pytest.mark.parametrize(
    ("name", "options", "wish"),
    [
        ("tsd", (), Replace("0.1/A1", TEXT)),
        ("tsd", (), Drop("0.0")),
        ("rsd", switching.TWO, Drop("0/B2")),
    ],
)
def test_a_contest_that_crashed_anywhere_is_resumed_and_ends_as_it_would_have(
    name: str, options: Sequence[str], wish: Wish
) -> None:
    old = debate(speakers(), name, options)
    model = speakers()
    undisturbed = contest(old, wish, model=model)
    total = len(model.calls)
    assert total > 3
    for crash in range(1, total + 1):
        begun = begin(old, wish, model=speakers(crash))
        with pytest.raises(Crash):
            asyncio.run(begun.conduct())
        left = at(begun.record)
        assert left.record().status == "partial"
        paid, model = len(left.calls()), speakers()
        record = asyncio.run(again(left, {"model": model}).conduct())
        assert len(model.calls) == total - paid
        assert outcome(record) == outcome(undisturbed)
        assert stated(record).model_dump() == stated(undisturbed).model_dump()
        assert record.usage.calls == total


def test_a_budget_stops_a_contest_and_resuming_pays_the_rest(tree: RunRecord) -> None:
    begun = begin(tree, Rule("0.1", TEXT), model=speakers(), max_calls=2)
    with pytest.raises(BudgetReached):
        asyncio.run(begun.conduct())
    partial = at(begun.record).record()
    assert (partial.status, stated(partial).verdict_after) == ("partial", None)
    with pytest.raises(InputError, match=f"resume {at(partial).path}"):
        contest(partial, Drop("0.1"), model=speakers())
    record = asyncio.run(again(at(partial), {"model": speakers()}).conduct())
    assert record.status == "answered" and stated(record).moved != []


def test_the_contested_run_may_be_gone_when_a_contest_is_resumed(tree: RunRecord) -> None:
    begun = begin(tree, Rule("0.1", TEXT), model=speakers(), max_calls=2)
    with pytest.raises(BudgetReached):
        asyncio.run(begun.conduct())
    at(tree).path.rename(RUNS.parent / "elsewhere")
    record = asyncio.run(again(at(begun.record), {"model": speakers()}).conduct())
    assert stated(record).verdict_before.answer == tree.verdict.answer  # type: ignore[union-attr]


def test_a_contest_that_lost_what_it_is_compared_with_is_not_gone_on_with(tree: RunRecord) -> None:
    begun = begin(tree, Rule("0.1", TEXT), model=(model := speakers()))
    (begun.folder.path / "contested.json").unlink()
    with pytest.raises(RunFolderError, match=r"contested\.json: No such file"):
        asyncio.run(begun.conduct())
    assert model.calls == []


def test_a_segment_of_evidence_is_changed_for_whoever_retrieves_it(tree: RunRecord) -> None:
    """No protocol here retrieves; the change waits for one that does."""
    segment = Segment(id="a:12", text="As it is written.")
    tree = tree.model_copy(
        update={"tree": tree.tree.model_copy(update={"segments": {"a:12": segment}})}
    )
    at(tree).write_record(tree)
    new = contest(tree, Replace("a:12", TEXT), model=(model := speakers()))
    (held,) = stated(new).held
    assert (held.spots, held.before, held.after) == ([], "As it is written.", TEXT)
    assert model.calls == [] and "no place" in new.tree.nodes["0"].notes[-1]
    changes = Changes([held])
    assert changes.evidence() == {"a:12": TEXT} and not changes.met
    assert changes.found("a:12") and not changes.found("a:13") and changes.met == {"a:12"}
    gone = contest(tree, Drop("a:12"), model=speakers())
    assert stated(gone).held[0].reply is None
    with pytest.raises(InputError, match="nothing to change"):
        contest(tree, Replace("a:12", "As it is written."), model=speakers())


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


def test_of_two_requests_alike_only_the_one_at_its_place_is_changed() -> None:
    context = build(Settings, model=speakers(), cache=False)
    spoken = Spot(node="0.0", stage="debate", role="explorer", who="explorer", round=1)
    gone = spoken.model_copy(update={"node": "0.2"})
    held = [
        Held(id="0.0/explorer1", what="replaced", spots=[spoken], reply={"answer": TEXT}),
        Held(id="0.2/explorer1", what="dropped", spots=[gone]),
    ]
    whom = endpoint(resolve(context.model, context))

    def asking(node: str) -> Asking:
        place = Place(node, "explorer", "debate", 0, 1)
        about = {"reply": "ExplorerReply", "tree_node": node, "role": "explorer"}
        request = Request(
            messages("You explore.", "What is it?"),
            form(ExplorerReply, {}),
            Decoding(0.0, 100, 7),
            60,
            None,
            {"metadata": {**about, "round": 1, "take": 1}},
        )
        return Asking(context, place, "two_round/explorer@1", whom, request)

    assert asking("0.0").key == asking("0.1").key

    async def both() -> list[str | None]:
        run = Run("run", context, held=held)
        replies = [(await run.call(asking(node))).reply for node in ("0.0", "0.1")]
        with pytest.raises(Dropped):
            await run.call(asking("0.2"))
        return replies

    changed, other = asyncio.run(both())
    assert json.loads(changed or "") == {"answer": TEXT}
    assert "explorer says" in (other or "")


# Leaves of other protocols, second passes, small trees


def polar(call: Asked) -> Any:
    return split("is it so?", "is it not so?")


def test_a_leaf_that_is_settled_by_switching_roles_is_contested_turn_by_turn() -> None:
    model = speakers()
    model.will_say_now(polar, to=type(split("x")))
    old = debate(model, leaf_protocol="rsd")
    name = called(old.tree.nodes["0.1"], "b", 2)
    new = contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {node for node, role in anew(model, 0) if role in ("debater", "judge")} == {"0.1"}
    assert said(new, name)["defence"] == TEXT
    verdict = old.tree.nodes["0.1"].verdict
    assert verdict is not None
    other = {"Yes": "B", "No": "A"}[str(verdict.answer)]
    ruled = contest(old, Rule("0.1", other), model=(model := speakers()))
    assert {role for _, role in anew(model, 0)} == {*SYNTHESIS, "answer_writer"}
    turned = ruled.tree.nodes["0.1"].verdict
    assert turned is not None
    assert (turned.answer, turned.confidence) == ({"A": "Yes", "B": "No"}[other], None)
    assert ruled.verdict is not None and ruled.verdict.confidence is None
    back = contest(ruled, Restore("0.1"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)
    dropped = contest(old, Drop("0.1"), model=speakers())
    assert (dropped.status, dropped.tree.nodes["0.1"].dropped) == ("answered", True)


def test_a_leaf_that_is_an_argument_tree_can_be_dropped_and_has_no_text_to_change() -> None:
    model = speakers()
    model.will_say_now(polar, to=type(split("x")))
    old = debate(model, leaf_protocol="art")
    assert old.tree.nodes["0.1"].kind == "claim"
    new = contest(old, Drop("0.1"), model=(model := speakers()))
    assert {node for node, _ in anew(model, 0)} == {"0"}
    assert (new.status, new.tree.nodes["0.1"].dropped) == ("answered", True)
    assert outcome(contest(new, Restore("0.1"), model=speakers())) == outcome(old)
    for wish in (Rule("0.1", TEXT), Replace("0.1.0/scorer", TEXT)):
        with pytest.raises(InputError, match=r"no judge has ruled|no text"):
            contest(old, wish, model=speakers())


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


def test_a_tree_that_may_have_few_nodes_stays_the_tree_that_it_is() -> None:
    old = debate(speakers(), max_depth=3, max_nodes=4)
    new = contest(old, Replace("0.0/A1", TEXT), model=speakers())
    assert [*new.tree.nodes] == [*old.tree.nodes]


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
    assert {node for node, _ in anew(model, 0)} == {"0.0", "0"}
    back = contest(new, Restore("0.0.0"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)


# Role-switching debates

RSD_ANEW: dict[str, tuple[Wish, int, dict[str, Any]]] = {
    "a proposal": (Replace("0/B1", TEXT), 7, {}),
    "a rebuttal that the other has read": (Replace("0/B2", TEXT), 6, {}),
    "a rebuttal beside the other's": (
        Replace("0/B2", TEXT),
        5,
        {"cross_examination": "simultaneous"},
    ),
    "a switch": (Replace("0/A3", TEXT), 3, {}),
    "an uncertainty report": (Replace("0/A4", TEXT), 1, {}),
    "one field of it": (Replace("0/A4/would_settle", TEXT), 1, {}),
    "for two judges": (Replace("0/A4", TEXT), 2, {"judge_orders": "both"}),
    "a judge's reasons": (Replace("0/judge1", TEXT), 0, {}),
    "a dropped proposal": (Drop("0/A1"), 7, {}),
    "a dropped rebuttal": (Drop("0/A2"), 5, {}),
    "a dropped switch": (Drop("0/B3"), 3, {}),
    "a dropped report": (Drop("0/B4"), 1, {}),
}


@pytest.mark.parametrize(("wish", "count", "given"), RSD_ANEW.values(), ids=RSD_ANEW.keys())
def test_the_phases_after_a_turn_are_held_again_and_no_other(
    wish: Any, count: int, given: dict[str, Any]
) -> None:
    old = debate(speakers(), "rsd", switching.TWO, **given)
    new = contest(old, wish, model=(model := speakers()))
    assert len(model.calls) == new.usage.calls == count
    assert (new.status, new.degraded()) == ("answered", [])
    back = contest(new, Restore(stated(new).held[0].id), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)


def test_a_dropped_turn_of_a_phase_says_nothing_more() -> None:
    model = speakers()
    model.will_say_now(switching.rebut, to=RebuttalReply)
    model.will_say_now(
        lambda c: ProposalReply(answer=switching.propose(c).answer, argument=words(c)),
        to=ProposalReply,
    )
    old = debate(model, "rsd", switching.TWO)
    assert said(old, "0/A2")["errors"] != []
    new = contest(old, Drop("0/A2"), model=(model := speakers()))
    assert said(new, "0/A2") == {"errors": [], "defence": WITHDRAWN}
    assert all(WITHDRAWN in call.prompt for call in model.calls)
    report = contest(old, Drop("0/B4"), model=(model := speakers()))
    root = report.tree.nodes["0"]
    assert "0/B4" not in {turns.name(root, turn) for turn in root.transcript}
    assert "0/B4 dropped by a person" in root.notes
    kept = contest(old, Replace("0/A2", TEXT), model=speakers())
    assert said(kept, "0/A2") == {**said(old, "0/A2"), "defence": TEXT}


@pytest.mark.parametrize("orders", ["one", "both"])
def test_a_ruling_can_be_set_by_its_label(orders: str) -> None:
    old = debate(speakers(), "rsd", switching.TWO, judge_orders=orders, allow_uncertain=True)
    assert old.verdict is not None and old.verdict.label == "B"
    new = contest(old, Rule("0", "a"), model=(model := speakers()))
    assert model.calls == [] and new.verdict is not None
    assert (new.verdict.label, new.verdict.answer) == ("A", switching.TWO[0])
    assert (new.verdict.confidence, new.verdict.confidence_source) == (None, None)
    assert stated(new).why.startswith(
        "The label goes from B to A, its confidence goes from 0.8 to not determined: "
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


def test_the_word_of_the_judge_who_did_not_fail_is_no_ruling_yet() -> None:
    model = speakers()
    model.will_say_now(switching.rule("uncertain", "uncertain"), to=JudgeReply)
    one_judge_fails(model, "A")
    old = debate(model, "rsd", switching.TWO, judge_orders="both", allow_uncertain=True)
    assert old.verdict is not None and old.verdict.label is None
    assert resolution(contest(old, Rule("0", "uncertain"), model=speakers())) == "uncertain"


@pytest.mark.parametrize("side", ["A", "B"])
def test_a_leaf_gets_the_ruling_that_one_of_its_two_judges_failed_to_give(side: str) -> None:
    model = speakers()
    model.will_say_now(polar, to=type(split("x")))
    one_judge_fails(model, side)
    old = debate(model, leaf_protocol="rsd", leaf={"judge_orders": "both"})
    assert (old.status, old.tree.nodes["0.1"].verdict) == ("degraded", None)
    new = contest(old, Rule("0.1", "A"), model=(model := speakers()))
    assert {node for node, _ in anew(model, 0)} == {"0"}
    ruled = new.tree.nodes["0.1"].verdict
    assert (new.status, ruled and ruled.answer) == ("answered", "Yes")
    back = contest(new, Restore("0.1"), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)


def test_an_open_question_has_the_labels_of_its_two_proposals() -> None:
    model = speakers()
    model.will_say_now(switching.choose("grass", "hay"), to=ProposalReply)
    old = debate(model, "rsd")
    assert old.verdict is not None and old.verdict.answer == "grass"
    new = contest(old, Rule("0", "B"), model=speakers())
    assert new.verdict is not None and new.verdict.answer == "hay"


def test_a_knockout_goes_on_with_whom_a_person_lets_win() -> None:
    old = debate(speakers(), "rsd", switching.THREE, candidates="knockout")
    first = old.tree.nodes["0.0"]
    held = {str(turn.side) for turn in first.transcript if turn.stage == "uncertainty"}
    letters: dict[str, str] = dict(zip(switching.THREE, "ABC", strict=True))
    assert first.verdict is not None
    (loser,) = held - {first.verdict.answer}
    new = contest(old, Rule("0.0", letters[loser]), model=(model := speakers()))
    assert {node for node, _ in anew(model, 0)} == {"0.1"}
    assert new.status == "answered"
    name = called(old.tree.nodes["0.1"], "a", 2)
    spoken = contest(old, Replace(name, TEXT), model=(model := speakers()))
    assert {node for node, _ in anew(model, 0)} == {"0.1"}
    both = contest(spoken, Rule("0.0", letters[loser]), model=speakers())
    others = {str(t.side) for t in both.tree.nodes["0.1"].transcript if t.stage == "uncertainty"}
    mine = {str(t.side) for t in spoken.tree.nodes["0.1"].transcript if t.who == "a"}
    if not mine & {str(t.side) for t in both.tree.nodes["0.1"].transcript if t.who == "a"}:
        assert said(both, called(both.tree.nodes["0.1"], "a", 2))["defence"] != TEXT
        assert any("no place" in note for note in both.tree.nodes["0.1"].notes)
    assert loser in others
    with pytest.raises(InputError, match="no judge has ruled there"):
        contest(old, Rule("0", "A"), model=speakers())
    with pytest.raises(InputError, match=r"give one of [ABC], [ABC]$"):
        contest(old, Rule("0.0", "D"), model=speakers())


def test_words_for_another_answer_and_rulings_that_no_longer_fit_have_no_place() -> None:
    old = debate(speakers(), "rsd", switching.TWO)
    foreign = [
        Spot(node="0", stage="cross_examination", role="debater", who="a", round=2, side="tin"),
        Spot(node="0", stage="judgment", role="judge", who="judge", round=1),
    ]
    begun = begin(old, Replace("0/judge1", TEXT), model=(model := speakers()))
    contested = stated(begun.record)
    reply = {"label": "Q", "answer": "tin", "rationale": "so", "confidence": None}
    contested.held = [
        Held(id="0/B2", what="replaced", spots=foreign[:1], reply={"errors": [], "defence": TEXT}),
        Held(id="0", what="ruled", spots=foreign[1:], reply=reply),
    ]
    new = asyncio.run(begun.conduct())
    assert model.calls == [] and new.verdict == old.verdict
    notes = [note for note in new.tree.nodes["0"].notes if "no place" in note]
    assert [note.split(" by a person")[0] for note in notes] == [
        "0/B2 replaced",
        "0 given another verdict",
    ]


@pytest.mark.parametrize(("label", "holds"), [("A", True), (None, True), ("B", False)])
def test_words_for_an_answer_have_no_place_where_another_one_begins_alike(
    label: str | None, holds: bool
) -> None:
    """A record from before labels were kept has none."""
    place = Place("0", "debater", "role_switch", 0, 3, who="a", side="Cows eat…", label="A")
    node, stage, role, round_, take, who = place.spot()
    spot = Spot(node=node, stage=stage, role=role, round=round_, take=take, who=who)
    spot.side, spot.label = place.side, label
    change = Held(id="0/B3", what="replaced", spots=[spot], reply={"argument": TEXT})
    assert (Changes([change]).at(place) == change) is holds


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
    assert asked == ["0.1"] and back.verdict == old.verdict  # nothing new is shown
    loser = {"A": "B", "B": "A", "C": "A"}
    old_label = old.verdict.label if old.verdict else None
    labels = [h for h in "ABC" if h != old_label]
    for label in labels:
        try:
            turned = contest(old, Rule("0.1", label), model=(quiet := speakers()))
        except InputError as wrong:
            assert "give one of" in str(wrong)
        else:
            assert turned.verdict is not None and turned.verdict.label == label
            assert quiet.calls == []
    assert loser


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
    assert [(held.before, held.after) for held in stated(new).held] == [(first, then)]
    other = contest(new, Rule("0", "B" if then == "A" else "A"), model=speakers())
    assert resolution(other) == ("B" if then == "A" else "A")
    for changed in (new, other):
        back = contest(changed, Restore("0"), model=(model := speakers()))
        assert model.calls == [] and outcome(back) == outcome(old)
        assert stated(back).held == []


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


def test_a_ruling_that_is_asked_for_again_is_no_change_of_a_persons_any_more() -> None:
    new = contest(judged_by_a_person("A"), Rule("0", "B"), model=speakers())

    async def person(request: Mapping[str, str]) -> str:
        return "uncertain"

    more: Any = {"model": speakers(), "cache": False, "ask": person}
    later = dialectree.contest(new.run_id, [Replace("0/B4", TEXT)], **more)
    assert resolution(later) == "uncertain"
    assert [held.id for held in stated(later).held] == ["0/B4"]
    with pytest.raises(InputError, match="--restore 0: nothing was changed there"):
        contest(later, Restore("0"), model=speakers())


@pytest.mark.parametrize("judge", ["me", "model"])
def test_no_judge_rules_at_the_root_of_a_knockout(judge: str) -> None:
    async def person(request: Mapping[str, str]) -> str:
        return request["request"].rsplit(" ", 1)[-1]  # the last label

    given: Any = {"judge": judge, "candidates": "knockout", "cache": False, "model": speakers()}
    ask = person if judge == "me" else None
    old = dialectree.decide("What?", [*switching.THREE], ask=ask, **given)
    with pytest.raises(InputError, match="--verdict 0: no judge has ruled there"):
        contest(old, Rule("0", "A"), model=speakers())


# Baselines


@pytest.mark.parametrize(
    ("name", "wish", "count"),
    [
        ("single_shot", Replace("0/answerer", TEXT), 0),
        ("best_of_n", Replace("0/2", TEXT), 1),
        ("best_of_n", Drop("0/2"), 1),
        ("two_round", Replace("0/critic1", TEXT), 3),
        ("two_round", Replace("0/synthesiser", TEXT), 0),
    ],
)
def test_baselines_are_contested_turn_by_turn(name: str, wish: Any, count: int) -> None:
    old = debate(speakers(), name)
    new = contest(old, wish, model=(model := speakers()))
    assert (len(model.calls), new.status) == (count, "answered")
    back = contest(new, Restore(stated(new).held[0].id), model=(model := speakers()))
    assert model.calls == [] and outcome(back) == outcome(old)


def test_a_sample_is_left_out_of_the_vote() -> None:
    old = debate(speakers(), "self_consistency", switching.TWO, samples=3)
    new = contest(old, Drop("0/2"), model=(model := speakers()))
    assert (model.calls, new.status) == ([], "answered")
    assert len(new.tree.nodes["0"].transcript) == 2


def voters(*votes: str) -> ScriptedModel:
    """A model that plays every role; of the direct answers each says its own."""
    model = speakers()
    model.will_say(*(switching.direct(vote) for vote in votes), to=DirectReply)
    return model


def sample_of(record: RunRecord, answer: str) -> str:
    """The name of a direct answer that says so."""
    root = record.tree.nodes["0"]
    samples = [turn for turn in root.transcript if turn.stage == "direct"]
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
    back = contest(new, Restore(stated(new).held[0].id), model=speakers())
    assert outcome(back) == outcome(old)


def test_a_gate_agrees_without_the_answer_that_a_person_dropped() -> None:
    animals, plants = switching.TWO
    old = debate(voters(plants, animals, plants), "rsd", switching.TWO, gate=3)
    assert len(old.tree.nodes["0"].transcript) > 3
    new = contest(old, Drop(sample_of(old, animals)), model=(model := speakers()))
    assert model.calls == [] and new.verdict is not None
    assert new.verdict.notes == ["no debate: 2 direct answers agreed"]
    assert new.verdict.answer == plants


# What cannot be

WRONG: dict[str, tuple[list[Wish], str]] = {
    "nothing": ([], "nothing is contested: give --replace"),
    "an unknown turn": ([Replace("0.7/A1", TEXT)], "0.7/A1: the run has no such turn"),
    "a round that was not": ([Replace("0.1/A3", TEXT)], "0.1/A3: the run has no such turn"),
    "a node for a turn": ([Replace("0.1", TEXT)], "at that node there are 0.1/A1, 0.1/B1, "),
    "a path": ([Drop("../0.1")], "../0.1: the run has no such turn"),
    "a split": ([Replace("0/decomposer1", TEXT)], "its reply is no text"),
    "a field that is none": (
        [Replace("0.1/A2/winner", TEXT)],
        "it has no such text; it has support, claim, rebuttal",
    ),
    "a rebuttal of nothing": ([Replace("0.1/OPENER1/rebuttal", TEXT)], "it has support, claim"),
    "an empty text": ([Replace("0.1/A1", " \n")], "the text is empty"),
    "an endless text": ([Replace("0.1/A1", "x" * 200_001)], "longer than 200,000 characters"),
    "a long text": (
        [Replace("0.1/A1", "x" * 1601)],
        "--replace 0.1/A1: support: it may have at most 1600 characters",
    ),
    "a long verdict": ([Rule("0.1", "x" * 2001)], "answer: it may have at most 2000 characters"),
    "the same text": ([Replace("0.1/A1", "SAME")], "nothing to change, it says that already"),
    "the same verdict": ([Rule("0.1", "SAME VERDICT")], "nothing to change, that is the verdict"),
    "a verdict of nobody": ([Rule("0.7", TEXT)], "--verdict 0.7: the run has no such node"),
    "an empty verdict": ([Rule("0.1", "")], "the verdict is empty"),
    "twice the same turn": (
        [Replace("0.1/A1", TEXT), Replace("0.1/A1", "Other.")],
        "0.1/A1: two changes of one thing",
    ),
    "dropped twice": ([Drop("0.1"), Drop("0.1")], "--drop 0.1: it is dropped already"),
    "a turn dropped twice": ([Drop("0.1/A1"), Drop("0.1/A1")], "it is dropped; --restore brings"),
    "the whole": ([Drop("0")], "it is the whole debate, not a part of it"),
    "a judge": ([Drop("0.1/leaf_judge")], "the debate cannot do without it; --replace it"),
    "restored for nothing": ([Restore("0.1/A1")], "--restore 0.1/A1: nothing was changed there"),
    "a strength": ([Set("0.1", 0.5)], "--set: that is for runs of art; a run of tsd knows"),
    "a comparison": ([Flip("0.0", "0.1")], "--flip: that is for runs of art"),
    "a void": ([Void("0.0", "0.1")], "--void: that is for runs of art"),
    "a pair": ([Restore("0.0", "0.1")], "--restore: that is for runs of art"),
    "an argument": ([Add("support", "0", "Yes.")], "--add: that is for runs of art"),
    "one wrong after a right one": ([Drop("0.0"), Drop("0.7")], "0.7: the run has no such node"),
}


def filled(wish: Any, record: RunRecord) -> Any:
    """``wish`` with what only the run knows."""
    opener = next(t.who for t in record.tree.nodes["0.1"].transcript if t.stage == "debate")
    verdict = record.tree.nodes["0.1"].verdict
    assert verdict is not None
    same = {"SAME": str(said(record, "0.1/A1")["support"]), "SAME VERDICT": verdict.answer}
    filled = (str(part).replace("OPENER", opener) for part in wish)
    return type(wish)(*(same.get(part, part) for part in filled))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run with two leaves, made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        patch.chdir(tmp_path_factory.mktemp("small"))
        return at(debate(speakers())).path.resolve()


@pytest.mark.parametrize(("wishes", "wrong"), WRONG.values(), ids=WRONG.keys())
def test_a_wish_that_cannot_be_fulfilled_is_one_line_and_nothing_is_written(
    wishes: list[Any], wrong: str, small: Path
) -> None:
    folder = RunFolder(small)
    before = files(folder)
    record = folder.record()
    keep = (Set, Flip, Void, Add)
    given = [wish if isinstance(wish, keep) else filled(wish, record) for wish in wishes]
    with pytest.raises(InputError) as refused:
        contesting(folder, given, RUNS, {"model": speakers()})
    assert wrong in str(refused.value) and "\n" not in str(refused.value)
    assert files(folder) == before and not RUNS.exists()


def test_the_settings_of_a_run_stay_as_they_are(small: Path) -> None:
    for name, value in (("max_depth", 2), ("leaf_rounds", 1), ("seed", 4)):
        flag = name.replace("_", "-")
        with pytest.raises(InputError, match=f"--{flag}: a contest is reckoned with the settings"):
            contesting(RunFolder(small), [Drop("0.1")], RUNS, {"model": speakers(), name: value})


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


def test_a_part_that_failed_stays_failed_and_has_no_verdict_to_change() -> None:
    model = speakers()
    model.will_say(no_reply(), to=LeafJudgeReply, at="0.1")
    old = debate(model)
    assert old.status == "degraded"
    with pytest.raises(InputError, match=r"--verdict 0\.1: no judge has ruled there"):
        contest(old, Rule("0.1", TEXT), model=speakers())
    new = contest(old, Replace("0.0/A1", TEXT), model=(model := speakers()))
    assert new.status == "degraded" and new.degraded() == old.degraded()
    assert "0.1" not in {call.node for call in model.calls}
    dropped = contest(old, Drop("0.1"), model=speakers())
    assert (dropped.status, dropped.degraded()) == ("answered", [])


def test_a_repaired_turn_is_contested_as_it_was_accepted() -> None:
    model = speakers()
    usual = model.says(LeafJudgeReply)
    faulty = iter(["This is no JSON.", "{}"])
    model.will_say(lambda call: next(faulty, None) or usual(call), to=LeafJudgeReply, at="0.1")
    old = debate(model)
    lines = [line for line in at(old).ledger() if (line.node, line.role) == ("0.1", "leaf_judge")]
    assert [line.repair for line in lines] == [0, 1, 2]
    new = contest(old, Replace("0.1/leaf_judge/rationale", TEXT), model=(model := speakers()))
    assert said(new, "0.1/leaf_judge") == {**said(old, "0.1/leaf_judge"), "rationale": TEXT}
    assert ("0.1", "leaf_judge") not in model.places


def test_names_are_one_to_a_turn(made: Path, small: Path) -> None:
    runs = [RunFolder(made).record(), RunFolder(small).record()]
    runs.append(debate(speakers(), "rsd", switching.FIVE, gate=3, judge_orders="both"))
    runs.append(debate(speakers(), second_pass_below=1.0))
    for record in runs:
        nodes: list[Node] = [*record.tree.nodes.values()]
        names = [turns.name(node, turn) for node in nodes for turn in node.transcript]
        assert len(names) == len(set(names))


def test_a_persons_verdict_need_not_say_what_its_winner_defends() -> None:
    model = speakers()
    begun = running.begin("tsd", "Is it so?", RUNS, model=model, max_depth=0, leaf_rounds=1)
    old = asyncio.run(begun.conduct())
    for answer in ("Yes, in the end.", "No, never."):
        new = contest(old, Rule("0", answer), model=speakers())
        verdict = new.tree.nodes["0"].verdict
        assert verdict is not None and verdict.answer == answer
        assert new.status == "answered"
