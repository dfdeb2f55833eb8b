"""Contests of an argument tree at a leaf: as of one that stands alone, and then on to the root."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from dialectree import report
from dialectree.contests import Add, Drop, Flip, Replace, Restore, Rule, Set, Void, Wish
from dialectree.contests import start as contesting
from dialectree.errors import BudgetReached, InputError
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import PairwiseReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import ClaimScorerReply, ScorerReply
from dialectree.nodes.tree_structured_debate.synthesis_judge import SynthesisJudgeReply
from dialectree.records import Node, RunRecord
from dialectree.report.arguments import VERBS
from dialectree.runner import again
from dialectree.runs import RunFolder
from tests import running
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.debating import choose, split
from tests.scripted import Asked, ScriptedModel, no_reply

RUNS = Path("runs")
LEAF, OTHER = "is it so?", "what of b?"
CLAIM = f"The answer to the question “{LEAF}” is yes."
ABOVE = {("0", "synthesis_debater"): 4, ("0", "synthesis_judge"): 1, ("0", "answer_writer"): 1}
"""What is asked anew where a leaf changed: two rounds of synthesis, its judge, the writer."""


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small files are written here; none has to outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda file: None)


def drawn(call: Asked) -> int:
    """A number that depends on every word of what was asked, and on nothing else."""
    return crc32(call.prompt.encode())


def argue(call: Asked) -> ArgumentsReply:
    words = [f"{call.role} {drawn(call):x} {'abc'[n] * 9}" for n in range(arguing.wanted(call))]
    return arguing.argue(*words)


def judge(call: Asked) -> PairwiseReply:
    return arguing.compare(("SUPPORT", "ATTACK", "SUPPORT", "ATTACK", "TIE")[drawn(call) % 5])


def speakers() -> ScriptedModel:
    """Says the same of the same argument, wherever it stands."""
    model = debating.debaters(model=ScriptedModel())
    model.will_say(split(LEAF, OTHER), at="0")
    model.will_say_now(argue, to=ArgumentsReply)
    model.will_say_now(lambda c: arguing.score(drawn(c) % 90 / 100 + 0.05), to=ScorerReply)
    model.will_say_now(
        lambda c: arguing.score_claim(drawn(c) % 90 / 100 + 0.05), to=ClaimScorerReply
    )
    model.will_say_now(judge, to=PairwiseReply)
    model.will_say_now(lambda c: choose(drawn(c) % 90 / 100), to=SynthesisJudgeReply)
    return model


def debated(model: ScriptedModel, given: Mapping[str, Any] | None = None, **leaf: Any) -> RunRecord:
    """A question of two leaves: an argument tree with the settings ``leaf``, and a debate."""
    leaf = {"breadth": 2, "depth": 2, **leaf}
    shape = {"max_depth": 1, "leaf_protocol": "art", "leaf": leaf, **(given or {})}
    return asyncio.run(running.begin("tsd", "What is it?", RUNS, model=model, **shape).conduct())


def verified(**given: Any) -> RunRecord:
    """The first leaf's claim as a run of its own."""
    shape = {"model": speakers(), "breadth": 2, "depth": 2, **given}
    return asyncio.run(running.begin("art", CLAIM, RUNS, **shape).conduct())


def begin(record: RunRecord, *wishes: Wish, model: ScriptedModel, **given: Any) -> Any:
    folder = RunFolder.find(record.run_id, RUNS)
    return contesting(folder, wishes, RUNS, {"model": model, "cache": False, **given})


def contest(
    record: RunRecord, *wishes: Wish, model: ScriptedModel | None = None, **given: Any
) -> RunRecord:
    model = model or speakers()
    new: RunRecord = asyncio.run(begin(record, *wishes, model=model, **given).conduct())
    return new


def outcome(record: RunRecord) -> dict[str, Any]:
    return record.model_dump(include={"verdict", "tree", "status", "prompts"})


def below(record: RunRecord, root: str) -> dict[str, dict[str, Any]]:
    """The tree at ``root`` as the maths has it, with the ids of one that stands alone."""
    nodes = record.tree.nodes.values()
    here = [node for node in nodes if f"{node.id}.".startswith(f"{root}.")]
    return {alone(node.id, root): _figures(node, root) for node in here}


def alone(name: str, root: str) -> str:
    return "0" + name.removeprefix(root)


def _figures(node: Node, root: str) -> dict[str, Any]:
    include = {"text", "stance", "tau", "theta", "blended", "strength", "comparisons", "dropped"}
    kept = node.model_dump(include=include)
    kept["text"] = "" if node.kind == "claim" else node.text
    for met in kept.get("comparisons", []):
        met.update({side: alone(met[side], root) for side in ("supporter", "attacker")})
    return kept


def moved_to(wish: Any, root: str) -> Any:
    """``wish`` for a tree that stands at ``root``: every id but for its first place."""
    return type(wish)(*(root + part[1:] if isinstance(part, str) else part for part in wish))


def decided(record: RunRecord, root: str = "0") -> list[tuple[str, str]]:
    """The pairs from ``root`` down that have one winner."""
    winners: dict[tuple[str, str], set[str]] = {}
    for node in record.tree.nodes.values():
        for met in node.comparisons if f"{node.id}.".startswith(f"{root}.") else []:
            winners.setdefault((met.supporter, met.attacker), set()).add(met.winner)
    return [pair for pair, won in winners.items() if len(won) == 1 and won != {"TIE"}]


WAYS: dict[str, dict[str, Any]] = {
    "half and half": {},
    "strengths alone": {"blend": 0.0},
    "comparisons alone": {"blend": 1.0},
    "both orders": {"judge_orders": "both"},
    "several trees": {"trees": 2},
    "an estimated claim": {"root_strength": "estimated", "semantics": "euler"},
}


@pytest.mark.parametrize("given", WAYS.values(), ids=WAYS.keys())
def test_a_change_does_at_a_leaf_what_it_does_to_the_same_tree_alone(given: dict[str, Any]) -> None:
    inside, single = debated(speakers(), **given), verified(**given)
    root = "0.0"
    assert below(inside, root) == below(single, "0")
    claim = "0.0" if given.get("trees", 1) > 1 else "0"
    wishes: list[Wish] = [Drop(f"{claim}.3"), Drop(f"{claim}.0.1")]
    scored = [n.id for n in single.tree.nodes.values() if n.score("tau") is not None]
    wishes += [Set(scored[0], 0.9), Set(scored[-1], 0.95), Set(scored[-1], None)]
    pairs = decided(single)
    assert pairs or given.get("blend") == 0
    wishes += [Flip(*pair) for pair in (*pairs[:1], *pairs[-1:])]
    if given.get("blend") != 1:  # else whom this leaves undecided is scored, as in a debate
        wishes += [Void(*pair) for pair in pairs[:1]]
    for wish in wishes:
        here = contest(inside, moved_to(wish, root))
        there = contest(single, wish)
        assert below(here, root) == below(there, "0"), wish
        probability = there.verdict.confidence if there.verdict is not None else None
        assert here.tree.nodes[root].score("strength") == probability
        model = speakers()
        (held,) = held_by(here)
        back = contest(here, *reversal(held), model=model)
        assert outcome(back) == outcome(inside) and model.calls == [], wish


def held_by(record: RunRecord) -> list[Any]:
    assert record.contest is not None
    return [*record.contest.held]


def reversal(held: Any) -> list[Wish]:
    ids = held.id.split(":")
    return [Flip(*ids)] if held.what == "flipped" else [Restore(*ids)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run, made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: None)
        patch.chdir(tmp_path_factory.mktemp("made"))
        record = debated(speakers())
        return RunFolder.find(record.run_id, RUNS).path.resolve()


@pytest.fixture
def tree(made: Path) -> RunRecord:
    """That run, in the working folder."""
    copy = RUNS / made.name
    copy.mkdir(parents=True)
    for path in made.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return RunFolder(copy).record()


def test_nothing_is_asked_anew_but_what_stands_above_the_leaf(tree: RunRecord) -> None:
    model = speakers()
    new = contest(tree, Set("0.0.2", 0.99), model=model)
    assert Counter(model.places) == ABOVE
    assert new.usage.calls == sum(ABOVE.values()) and new.status == "answered"
    stated = new.contest
    assert stated is not None and [move.node for move in stated.moved] == ["0.0", "0"]
    assert stated.changes == ["strength of 0.0.2 set to 0.99"]
    node = new.tree.nodes["0.0.2"]
    assert node.score("tau") == 0.99
    before = tree.tree.nodes["0.0.2"].notes
    assert node.notes == [*before, "strength of 0.0.2 set to 0.99 by a person"]
    (scorer,) = [turn for turn in node.transcript if turn.role == "scorer"]
    assert scorer.fields["truth_rationale"] == "A person set this."
    assert (scorer.fields["truth"], scorer.fields["weight"]) == (0.99, 1)


def test_whom_a_void_comparison_leaves_undecided_is_scored_where_comparisons_alone_count() -> None:
    model = speakers()
    model.will_say_now(arguing.compare("SUPPORT"), to=PairwiseReply)
    old, model = debated(model, blend=1.0, breadth=1, depth=1), speakers()
    one, other = decided(old, "0.0")[0]
    assert [old.tree.nodes[name].score("tau") for name in (one, other)] == [None, None]
    new = contest(old, Void(one, other), model=model)
    assert [new.tree.nodes[name].score("tau") is None for name in (one, other)] == [False, False]
    asked = [place for place in model.places if place[0] != "0"]
    assert asked == [("0.0", "scorer")] * 2
    back = contest(new, Restore(one, other))
    assert (back.tree, back.verdict) == (old.tree, old.verdict)


def test_a_change_that_moves_no_verdict_asks_nobody(tree: RunRecord) -> None:
    known = tree.tree.nodes["0.0.0.0"].score("tau")
    assert known is not None
    model = speakers()
    there_and_back = contest(contest(tree, Set("0.0.0.0", 0.5)), Set("0.0.0.0", known), model=model)
    assert model.calls == [] and there_and_back.verdict == tree.verdict


def test_two_orders_that_disagree_or_of_which_one_is_a_tie_are_changed_as_in_a_tree_alone() -> None:
    old, alone = debated(speakers(), judge_orders="both"), verified(judge_orders="both")
    winners: dict[tuple[str, str], list[str]] = {}
    for node in alone.tree.nodes.values():
        for met in node.comparisons:
            winners.setdefault((met.supporter, met.attacker), []).append(met.winner)
    kinds = {frozenset(won): pair for pair, won in winners.items()}
    tied = next(pair for won, pair in kinds.items() if len(won) == 2 and "TIE" in won)
    for wish in (Void(*kinds[frozenset(("SUPPORT", "ATTACK"))]), Void(*tied), Flip(*tied)):
        new = contest(old, moved_to(wish, "0.0"))
        assert below(new, "0.0") == below(contest(alone, wish), "0")
        assert outcome(contest(new, *reversal(held_by(new)[0]))) == outcome(old)


def test_a_void_comparison_stays_in_sight(tree: RunRecord) -> None:
    one, other = decided(tree, "0.0")[0]
    new = contest(tree, Void(other, one))
    marks = {(c.supporter, c.attacker): c.contested for c in new.tree.nodes["0.0"].comparisons}
    assert marks[one, other] == "voided"
    assert marks.keys() == {(c.supporter, c.attacker) for c in tree.tree.nodes["0.0"].comparisons}
    met = next(c for c in new.tree.nodes["0.0"].comparisons if c.contested)
    words = f"comparison of {one} and {other} voided"
    assert new.contest is not None and new.contest.changes == [words]
    assert f"{words} by a person" in new.tree.nodes["0.0"].notes
    with pytest.raises(InputError, match="it is void; --restore brings it back"):
        begin(new, Flip(one, other), model=speakers())
    for page in (report.markdown(new, []), report.html(new, [])):
        assert words in page and "counts for nobody" in page
        assert f"{one} {VERBS[met.winner]} {other}" in page


def test_changes_of_several_kinds_add_up_and_each_goes_by_itself(tree: RunRecord) -> None:
    one, other = decided(tree, "0.0")[0]
    both = contest(tree, Flip(one, other), Drop("0.0.3"), Set("0.0.1", 0.2))
    assert [held.what for held in held_by(both)] == ["flipped", "dropped", "set"]
    voided = contest(both, Void(one, other))
    back = contest(voided, Restore(other, one))
    assert outcome(back) == outcome(both)
    plain = contest(contest(contest(back, Flip(other, one)), Restore("0.0.3")), Restore("0.0.1"))
    assert outcome(plain) == outcome(tree) and held_by(plain) == []


def test_a_dropped_argument_counts_for_nothing_and_degrades_nothing(tree: RunRecord) -> None:
    new = contest(tree, Drop("0.0.1"))
    gone = new.tree.nodes["0.0.1"]
    assert gone.dropped and gone.notes[-1:] == ["0.0.1 dropped by a person"]
    assert not new.tree.nodes["0.0.1.0"].dropped
    assert new.degraded() == [] and new.status == "answered"
    assert gone.text not in str(new.tree.nodes["0.0"].verdict)
    with pytest.raises(InputError, match="it is dropped already"):
        begin(new, Drop("0.0.1"), model=speakers())


def test_a_verdict_of_a_second_pass_and_a_strength_hold_side_by_side() -> None:
    twice = {"second_pass_below": 1.0, "second_pass_leaves": 2}
    old = debated(speakers(), twice, breadth=1, depth=1)
    assert old.tree.nodes["0.0"].earlier
    ruled, set_, new = Rule("0.0", "So."), Set("0.0", 0.9), old
    for new in (contest(contest(old, ruled), set_), contest(contest(old, set_), ruled)):
        verdict = new.tree.nodes["0.0"].verdict
        assert verdict is not None and verdict.answer == "So."
        assert new.tree.nodes["0.0"].score("tau") == 0.9
        assert {held.what for held in held_by(new)} == {"ruled", "set"}
        both_back = contest(contest(new, Restore("0.0")), Restore("0.0"))
        assert (both_back.tree, both_back.verdict) == (old.tree, old.verdict)


def test_where_one_side_alone_argued_a_strength_can_be_set_at_any_lambda() -> None:
    model = speakers()
    silent = arguing.by_role(supporter=argue, attacker=arguing.argue())
    model.will_say_now(silent, to=ArgumentsReply)
    old = debated(model, blend=1.0, breadth=1, depth=1)
    assert (
        old.tree.nodes["0.0.0"].score("tau") is not None and old.tree.nodes["0.0"].comparisons == []
    )
    new = contest(old, Set("0.0.0", 0.9))
    assert new.tree.nodes["0.0.0"].score("tau") == 0.9
    model.will_say_now(arguing.argue(), to=ArgumentsReply)
    nobody = debated(model, breadth=1, depth=1)
    assert nobody.tree.nodes["0.0"].children == []
    assert contest(nobody, Set("0.0", 0.9)).tree.nodes["0.0"].score("tau") == 0.9


def test_a_dropped_leaf_is_said_to_be_dropped_and_no_more(tree: RunRecord) -> None:
    new = contest(tree, Drop("0.0"))
    assert new.tree.nodes["0.0"].score("tau") == tree.tree.nodes["0.0"].score("tau")
    assert [note for note in new.tree.nodes["0.0"].notes if "verdict" in note] == []


def test_a_whole_tree_of_several_cannot_be_dropped() -> None:
    old = debated(speakers(), breadth=1, depth=1, trees=2)
    with pytest.raises(InputError, match="it is a whole tree of arguments; name one of them"):
        begin(old, Drop("0.0.1"), model=speakers())


def test_a_strength_that_failed_can_be_given_and_taken_back() -> None:
    model = speakers()
    model.will_say(no_reply(), to=ScorerReply, at="0.0.0")
    old = debated(model)
    assert old.tree.nodes["0.0.0"].score("tau") is None and old.status == "degraded"
    new = contest(old, Set("0.0.0", 0.7))
    assert new.tree.nodes["0.0.0"].score("tau") == 0.7
    assert new.tree.nodes["0.0.0"].failures == [] and new.status == "answered"


@pytest.mark.parametrize("crash", [1, 3, 5])
def test_a_contest_that_is_broken_off_is_resumed(crash: int, tree: RunRecord) -> None:
    wish = Set("0.0.2", 0.99)
    whole = contest(tree, wish)
    model = speakers()
    begun = begin(tree, wish, model=model, max_calls=crash)
    with pytest.raises(BudgetReached):
        asyncio.run(begun.conduct())
    folder = begun.folder
    resumed = again(folder, {"model": model, "max_calls": 100, "cache": False})
    done = asyncio.run(resumed.conduct())
    assert outcome(done) == outcome(whole)
    assert len(model.calls) == sum(ABOVE.values())


WRONG: dict[str, tuple[list[Wish], str]] = {
    "a strength of nothing": ([Set("0.0.9", 0.5)], "0.0.9: the run has no such argument"),
    "a strength of a question": ([Set("0", 0.5)], "--set 0=0.5: that is neither a claim nor"),
    "the same strength": ([Set("0.0", 0.5)], "nothing to change, that is its strength already"),
    "too strong": ([Set("0.0.0", 1.5)], "a strength lies in 0 to 1"),
    "a question among two": ([Flip("0", "0.0.0")], "0 is no argument"),
    "the claim among two": ([Void("0.0.0", "0.0")], "0.0 is the claim, not an argument"),
    "not compared": ([Flip("0.0.0", "0.0.1")], "these two were not compared"),
    "a comparison of nobody": ([Void("0.0.0", "0.7")], "0.7: the run has no such argument"),
    "not voided": ([Restore("0.0.0", "0.0.2")], "--restore 0.0.0:0.0.2: it was not voided"),
    "an addition": (
        [Add("support", "0.0", "So it is.")],
        "--add: that is for runs of art; a run of tsd knows --replace, --drop, --verdict, --set, "
        "--flip, --void and --restore",
    ),
    "other words": ([Replace("0.0.1", "So it is.")], "--replace 0.0.1: the run has no such turn"),
    "a ruling": (
        [Rule("0.0", "Yes")],
        "no judge has ruled there; --set, --drop, --flip and --void",
    ),
    "twice": ([Set("0.0.0", 0.5), Set("0.0.0", 0.6)], "0.0.0: two changes of one thing"),
}


@pytest.mark.parametrize(("wishes", "wrong"), WRONG.values(), ids=WRONG.keys())
def test_a_wish_that_cannot_be_fulfilled_is_one_line(
    wishes: list[Wish], wrong: str, tree: RunRecord
) -> None:
    before = sorted(RUNS.iterdir())
    with pytest.raises(InputError) as refused:
        begin(tree, *wishes, model=speakers())
    assert wrong in str(refused.value) and "\n" not in str(refused.value)
    assert sorted(RUNS.iterdir()) == before


def test_the_record_holds_what_was_changed(tree: RunRecord) -> None:
    one, other = decided(tree, "0.0")[0]
    new = contest(tree, Flip(one, other), Set("0.0.1", None))
    text = (RunFolder.find(new.run_id, RUNS).path / "run.json").read_text()
    held: list[Mapping[str, Any]] = json.loads(text)["contest"]["held"]
    assert [(change["id"], change["what"]) for change in held] == [
        (f"{one}:{other}", "flipped"),
        ("0.0.1", "set"),
    ]
    assert held[1]["reply"] is None and held[1]["after"] == "none"
    assert RunRecord.read(text) == new
