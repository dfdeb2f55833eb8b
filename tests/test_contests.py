"""Contests of argument trees: the two promises, reversals to the last bit, and every wrong wish."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dialectree
from dialectree import report
from dialectree.contests import Add, Drop, Flip, Restore, Set, Void, Wish, start
from dialectree.errors import BudgetReached, InputError, RunFolderError, SettingsError
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    Argument,
    Compared,
    Scored,
    Stance,
    pairs,
)
from dialectree.nodes.adaptive_reasoning_tree.pairwise_judge import PairwiseReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import ScorerReply
from dialectree.nodes.adaptive_reasoning_tree.weighing import Reckoning, outcome, weigh
from dialectree.records import Event, EventKind, Node, RunRecord
from dialectree.runner import again
from dialectree.runs import RunFolder
from tests.endpoint import LocalEndpoint
from tests.folding import fold
from tests.graphs.adaptive_reasoning_tree.arguing import score
from tests.scripted import Asked, Said, ScriptedModel, no_reply

steady = settings(derandomize=True, database=None, deadline=None, max_examples=40)
unit = st.floats(0, 1) | st.sampled_from([0.0, 0.3, 0.5, 1.0])
seldom = st.integers(0, 9).map(lambda drawn: drawn == 9)
stances: list[Stance] = ["support", "attack"]
both_or_one: list[Literal["one", "both"]] = ["one", "both"]
rounding = 1e-12
RUNS = Path("runs")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of small files are written here; none has to outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda file: None)


# Runs without any model


class Made(NamedTuple):
    """An argument tree before the maths, and how it is weighed."""

    told: list[tuple[str, EventKind, dict[str, Any]]]
    settings: dict[str, Any]


@st.composite
def trees(draw: st.DrawFn, *, trees: int = 1, strength_rule: str = "") -> Made:
    """Breadth and depth of 1 to 3, with left-out arguments, ties and every way of weighing."""
    orders = draw(st.sampled_from(both_or_one))
    made = Made(
        [("0", "opened", {"text": "It is so.", "depth": 0, "kind": "claim"})],
        {
            "blend": draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
            "strength_rule": strength_rule or draw(st.sampled_from(["win_rate", "bradley_terry"])),
            "semantics": draw(st.sampled_from(["dfquad", "quadratic_energy", "euler"])),
            "ties": draw(st.sampled_from(["ignore", "half"])),
            "prune_below": draw(st.none() | st.sampled_from([0.3, 0.6])),
            "judge_orders": orders,
            "trees": trees,
        },
    )
    claims = ["0"] if trees == 1 else [f"0.{number}" for number in range(trees)]
    for claim in claims[: len(claims) if trees > 1 else 0]:
        opened = {"text": "It is so.", "depth": 1, "kind": "claim", "parent": "0"}
        made.told.append((claim, "opened", opened))
    for claim in claims:
        arguments: list[Argument] = []
        made.told.append((claim, "scored", {"scores": {"tau": draw(unit)}}))
        for number in range(draw(st.integers(1, 9 // trees + 3))):
            above = draw(st.sampled_from([claim, *(argument["id"] for argument in arguments)]))
            stance = draw(st.sampled_from(stances))
            siblings = [a["stance"] for a in arguments if a["parent"] == above]
            if above.count(".") - claim.count(".") < 3 and siblings.count(stance) < 3:
                name = f"{above}.{len(siblings)}"
                text = f"Reason {number}."
                arguments.append({"id": name, "parent": above, "stance": stance, "text": text})
                opened = {"kind": "argument", "depth": name.count("."), **arguments[-1]}
                made.told.append((name, "opened", {k: v for k, v in opened.items() if k != "id"}))
                if not draw(seldom):
                    made.told.append((name, "scored", {"scores": {"tau": draw(unit)}}))
        for above in [claim, *(argument["id"] for argument in arguments)]:
            children = [a for a in arguments if a["parent"] == above]
            kind = "claim" if above == claim else "argument"
            names = [child["id"] for child in children]
            made.told.append((above, "branched", {"children": names, "kind": kind}))
            for pair in pairs(children, orders) if made.settings["blend"] else []:
                compared = {
                    "supporter": pair["supporter"]["id"],
                    "attacker": pair["attacker"]["id"],
                    "order": pair["order"],
                    "winner": draw(st.sampled_from(["SUPPORT", "ATTACK", "TIE"])),
                }
                if not draw(seldom):
                    made.told.append((above, "compared", compared))
    if trees > 1:
        made.told.append(("0", "branched", {"children": claims, "kind": "claim"}))
    return made


def run_of(made: Made) -> RunFolder:
    """The folder of a finished run, weighed as the graph weighs it."""
    folder = RunFolder.create(RUNS)
    nodes = fold(_events(made.told))[0].nodes
    arguments: list[Argument] = [
        {"id": n.id, "parent": n.parent or "", "stance": n.stance or "support", "text": n.text}
        for n in nodes.values()
        if n.kind == "argument"
    ]
    scores: list[Scored] = [
        {"id": name, "tau": data["scores"]["tau"]}
        for name, kind, data in made.told
        if kind == "scored"
    ]
    comparisons: list[Compared] = [
        {
            "parent": name,
            "supporter": data["supporter"],
            "attacker": data["attacker"],
            "winner": data["winner"],
            "order": data["order"],
        }
        for name, kind, data in made.told
        if kind == "compared"
    ]
    names = ("blend", "strength_rule", "semantics", "ties", "prune_below")
    how = Reckoning(*(made.settings[name] for name in names))
    claims = ["0"] if made.settings["trees"] == 1 else nodes["0"].children
    weighed = [weigh(claim, arguments, scores, comparisons, how) for claim in claims]
    came = outcome("0", weighed, arguments, ())
    verdict = {**came.verdict}
    if verdict["confidence"] is None:
        verdict["confidence_source"] = None
    events = _events([*made.told, *came.told, ("0", "concluded", verdict)])
    tree, concluded = fold(events)
    lost = any(node.kind == "claim" and node.status == "missing" for node in tree.nodes.values())
    record = RunRecord(
        run_id=folder.run_id,
        protocol="art",
        method="art",
        status="unresolved" if verdict["answer"] is None else "degraded" if lost else "answered",
        input={"question": "It is so."},
        settings=made.settings,
        verdict=concluded,
        tree=tree,
        started="t",
        ended="t",
    )
    folder.write("events.jsonl", "".join(e.model_dump_json() + "\n" for e in events))
    folder.write_record(record)
    return folder


def _events(told: Sequence[tuple[str, EventKind, Mapping[str, Any]]]) -> list[Event]:
    return [Event(t="t", run_id="r", node=node, kind=kind, data={**d}) for node, kind, d in told]


def contest(folder: RunFolder, *wishes: Wish, **given: Any) -> RunRecord:
    return asyncio.run(start(folder, wishes, RUNS, given).conduct())


def at(record: RunRecord) -> RunFolder:
    return RunFolder.find(record.run_id, RUNS)


def probability(record: RunRecord) -> float | None:
    assert record.verdict is not None
    return record.verdict.confidence


def figures(record: RunRecord, among: RunRecord | None = None) -> dict[str, object]:
    """All that the maths makes of the nodes of ``among``, and of the claim."""
    return {
        "verdict": record.verdict,
        "status": record.status,
        **{
            name: (
                node.score("tau"),
                node.score("theta"),
                node.score("blended"),
                node.score("strength"),
                node.status,
                node.dropped,
            )
            for name, node in record.tree.nodes.items()
            if name in (among or record).tree.nodes
        },
    }


def contents(folder: RunFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


# What is promised


def attacks(record: RunRecord, node: Node) -> int:
    """How often an argument's way up to the claim turns its meaning around."""
    above = record.tree.nodes.get(node.parent or "")
    return (node.stance == "attack") + (attacks(record, above) if above is not None else 0)


def known(record: RunRecord) -> list[str]:
    """The trees that have a probability."""
    root = record.tree.nodes["0"]
    claims = root.children if record.settings["trees"] != 1 else ["0"]
    return [name for name in claims if record.tree.nodes[name].score("strength") is not None]


several = st.sampled_from([1, 1, 2])


@steady
@given(st.data())
def test_a_stronger_argument_helps_the_claim_after_an_even_number_of_attacks_and_hurts_after_an_odd(
    data: st.DataObject,
) -> None:
    folder = run_of(data.draw(several.flatmap(lambda n: trees(trees=n))))
    old = folder.record()
    name = data.draw(st.sampled_from([n.id for n in old.tree.nodes.values() if "tau" in n.scores]))
    node = old.tree.nodes[name]
    new = contest(folder, Set(name, data.draw(st.floats(node.score("tau") or 0.0, 1))))
    before, after = probability(old), probability(new)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        helped = after - before if attacks(old, node) % 2 == 0 else before - after
        assert helped >= -rounding


@steady
@given(st.data())
def test_without_an_attacker_the_claim_is_no_weaker_and_without_a_supporter_no_stronger(
    data: st.DataObject,
) -> None:
    folder = run_of(data.draw(several.flatmap(lambda n: trees(trees=n))))
    old = folder.record()
    names = [n.id for n in old.tree.nodes.values() if n.kind == "argument"]
    if not names:
        return
    node = old.tree.nodes[data.draw(st.sampled_from(names))]
    new = contest(folder, Drop(node.id))
    same = {name for name in known(old) if name in known(new)}
    if known(old) != known(new):  # the mean is of other trees
        side = [n for n in old.tree.nodes.values() if n.parent == node.parent]
        assert any(n.stance == node.stance and n.status == "missing" for n in side)
    elif same:
        same.add("0")
    for name in same:
        before, after = (
            old.tree.nodes[name].score("strength"),
            new.tree.nodes[name].score("strength"),
        )
        assert before is not None and after is not None
        helped = after - before if attacks(old, node) % 2 else before - after
        assert helped >= -rounding


@steady
@given(st.data())
def test_with_win_rates_a_flip_for_the_claim_never_lowers_it(data: st.DataObject) -> None:
    folder = run_of(data.draw(trees(strength_rule="win_rate")))
    old = folder.record()
    flips = [wish for wish, _ in possible(old, 0.5) if isinstance(wish, Flip)]
    if not flips:
        return
    flip = data.draw(st.sampled_from(flips))
    supporter = old.tree.nodes[flip.one]
    above = old.tree.nodes[supporter.parent or ""]
    met = next(c for c in above.comparisons if c.supporter == flip.one and c.winner != "TIE")
    new = contest(folder, flip)
    before, after = probability(old), probability(new)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        helps = (met.winner == "ATTACK") == (attacks(old, supporter) % 2 == 0)
        assert (after - before if helps else before - after) >= -rounding


def test_an_added_attacker_enters_the_tournament_and_may_help_the_claim() -> None:
    folder = run_of(small(("0.0", "support", 0.2)))
    loser = Add("attack", "0", "A weak reason.")
    added = contest(folder, loser, model=evaluator("SUPPORT", tau=0.0))
    gone = contest(at(added), Drop("0.1"))
    assert [probability(record) for record in (folder.record(), added, gone)] == [0.6, 0.8, 0.6]


# Reversals


def small(*arguments: tuple[str, Stance, float | None], **more: Any) -> Made:
    """A tree whose arguments are ``(id, stance, tau)``, all cross pairs won by the supporter."""
    told: list[tuple[str, EventKind, dict[str, Any]]]
    told = [("0", "opened", {"text": "It is so.", "depth": 0, "kind": "claim"})]
    told.append(("0", "scored", {"scores": {"tau": 0.5}}))
    weighing = {"blend": 0.5, "strength_rule": "win_rate", "semantics": "dfquad", "ties": "ignore"}
    chosen = {**weighing, "prune_below": None, "judge_orders": "one", "trees": 1, **more}
    children: dict[str, list[Argument]] = {}
    for name, stance, tau in arguments:
        above = name.rpartition(".")[0]
        argument: Argument = {"id": name, "parent": above, "stance": stance, "text": f"Why {name}."}
        children.setdefault(above, []).append(argument)
        opened = {"kind": "argument", "depth": name.count("."), "parent": above, "stance": stance}
        told.append((name, "opened", {"text": argument["text"], **opened}))
        if tau is not None:
            told.append((name, "scored", {"scores": {"tau": tau}}))
    for above, below in children.items():
        kind = "claim" if above == "0" else "argument"
        told.append((above, "branched", {"children": [a["id"] for a in below], "kind": kind}))
        for pair in pairs(below, chosen["judge_orders"]) if chosen["blend"] else []:
            ids = {"supporter": pair["supporter"]["id"], "attacker": pair["attacker"]["id"]}
            compared = {**ids, "winner": "SUPPORT", "order": pair["order"]}
            told.append((above, "compared", compared))
    return Made(told, chosen)


def two(**more: Any) -> Made:
    """A supporter that beat an attacker; P(claim) is 0.75."""
    return small(("0.0", "support", 0.5), ("0.1", "attack", 0.5), **more)


def evaluator(wins: str | None = None, tau: float | None = None) -> ScriptedModel:
    """Judges an argument by its words alone: the same words are always judged in the same way."""

    def strength(call: Asked) -> Said:
        drawn = crc32(call.prompt.encode()) % 101 / 100
        return score(drawn if tau is None else tau)

    def winner(call: Asked) -> Said:
        drawn = ["SUPPORT", "ATTACK", "TIE"][crc32(call.prompt.encode()) % 3]
        return PairwiseReply.model_validate({"rationale": "so", "winner": wins or drawn})

    model = ScriptedModel()
    model.will_say(strength, to=ScorerReply)
    model.will_say(winner, to=PairwiseReply)
    return model


def possible(record: RunRecord, tau: float) -> list[tuple[Wish, Wish]]:
    """Every wish that ``record`` can fulfil, with its reversal."""
    wishes: list[tuple[Wish, Wish]] = []
    nodes = record.tree.nodes
    for node in nodes.values():
        if not any(nodes[child].kind == "claim" for child in node.children):
            wishes.append((Set(node.id, tau), Set(node.id, node.score("tau"))))
        if node.kind == "argument":
            turns = (Drop(node.id), Restore(node.id))
            wishes.append((turns[1], turns[0]) if node.dropped else turns)
        for pair in dict.fromkeys((c.supporter, c.attacker) for c in node.comparisons):
            met = [c for c in node.comparisons if (c.supporter, c.attacker) == pair]
            if met[0].contested == "voided":
                wishes.append((Restore(*pair), Void(*pair)))
            else:
                wishes.append((Void(*pair), Restore(*pair)))
                if any(c.winner != "TIE" for c in met):
                    wishes.append((Flip(*pair), Flip(*pair[::-1])))
    return wishes


@settings(steady, max_examples=25)
@given(st.data())
def test_a_contest_and_its_reversal_give_back_the_first_figures_bit_for_bit(
    data: st.DataObject,
) -> None:
    folder = run_of(data.draw(several.flatmap(lambda n: trees(trees=n))))
    old = new = folder.record()
    wishes: list[Wish] = []
    backward: list[Wish] = []
    for _ in range(data.draw(st.integers(1, 4))):
        wish, reversal = data.draw(st.sampled_from(possible(new, data.draw(unit))))
        wishes.append(wish)
        backward.insert(0, reversal)
        new = contest(at(new), wish)
    assert figures(contest(folder, *wishes)) == figures(new)
    assert figures(contest(at(new), *backward)) == figures(old)
    for reversal in backward:
        new = contest(at(new), reversal)
    assert figures(new) == figures(old)
    marks = [c.contested for node in new.tree.nodes.values() for c in node.comparisons]
    assert not any(marks)


@pytest.mark.parametrize(
    "wishes",
    [
        [Drop("0.1"), Restore("0.1"), Drop("0.1")],
        [Flip("0.0", "0.1"), Flip("0.0", "0.1"), Flip("0.0", "0.1")],
        [Void("0.0", "0.1"), Restore("0.1", "0.0"), Void("0.1", "0.0")],
        [Set("0.1", 0.2), Set("0.1", 0.5), Set("0.1", 0.2)],
    ],
    ids=["drop", "flip", "void", "set"],
)
def test_a_change_that_is_made_again_holds_again(wishes: list[Wish]) -> None:
    folder = run_of(two())
    once = contest(folder, wishes[0])
    assert probability(once) != probability(folder.record())
    assert figures(contest(folder, *wishes)) == figures(once)
    chained = folder.record()
    for wish in wishes:
        chained = contest(at(chained), wish)
    assert figures(chained) == figures(once)


def test_a_comparison_says_what_a_person_made_of_it_however_often_it_was_changed() -> None:
    folder = run_of(two())
    pair = ("0.0", "0.1")
    record, seen = folder.record(), []
    for wish in (Flip(*pair), Void(*pair), Restore(*pair), Flip(*pair)):
        record = contest(at(record), wish)
        met = record.tree.nodes["0"].comparisons[0]
        seen.append((met.winner, met.contested))
    assert seen == [
        ("ATTACK", "flipped"),
        ("ATTACK", "voided"),
        ("ATTACK", "flipped"),
        ("SUPPORT", None),
    ]


def test_flipping_both_orders_leaves_a_tie_as_it_is() -> None:
    made = two(judge_orders="both")
    made.told[-1][2]["winner"] = "TIE"
    new = contest(run_of(made), Flip("0.1", "0.0"))
    met = [(c.winner, c.contested) for c in new.tree.nodes["0"].comparisons]
    assert sorted(met, key=str) == [("ATTACK", "flipped"), ("TIE", None)]


def test_two_orders_that_disagree_have_no_other_winner() -> None:
    made = two(judge_orders="both")
    first, second = (data for _, kind, data in made.told if kind == "compared")
    first["winner"], second["winner"] = "SUPPORT", "ATTACK"
    folder = run_of(made)
    with pytest.raises(InputError, match="its two orders disagree; there is nothing to flip"):
        contest(folder, Flip("0.0", "0.1"))


@pytest.mark.parametrize("wins", ["ATTACK", None])
def test_what_is_added_and_dropped_again_was_never_there(wins: str | None) -> None:
    @settings(steady, max_examples=12)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        folder = run_of(data.draw(several.flatmap(lambda n: trees(trees=n))))
        old = folder.record()
        parents = [
            node.id
            for node in old.tree.nodes.values()
            if node.id != "0" or old.settings["trees"] == 1
        ]
        wishes = [
            Add(data.draw(st.sampled_from(stances)), data.draw(st.sampled_from(parents)), text)
            for text in ("One more reason.", "And another.")
        ]
        both = contest(folder, *wishes, model=evaluator(wins))
        chained = contest(folder, wishes[0], model=evaluator(wins))
        assert figures(contest(at(chained), wishes[1], model=evaluator(wins))) == figures(both)
        names = [name for name in both.tree.nodes if name not in old.tree.nodes]
        gone = contest(at(both), *(Drop(name) for name in names))
        assert figures(gone, old) == figures(old)
        assert figures(contest(at(gone), *(Restore(name) for name in names))) == figures(both)

    law()


def test_an_addition_that_could_not_be_judged_leaves_no_trace_once_it_is_dropped() -> None:
    folder = run_of(small(("0.0", "support", 0.6)))
    deaf = ScriptedModel()
    deaf.will_say(no_reply(), to=ScorerReply)
    deaf.will_say(no_reply(), to=PairwiseReply)
    added = contest(folder, Add("attack", "0", "No."), model=deaf)
    assert (added.status, probability(added)) == ("unresolved", None)
    gone = contest(at(added), Drop("0.1"))
    assert probability(gone) == probability(folder.record())
    assert contest(at(added), Set("0.1", 0.2)).status == "degraded"
    healed = contest(at(contest(at(added), Set("0.1", 0.2))), Set("0.1", None))
    assert figures(healed) == figures(added)


def test_a_side_that_was_never_heard_is_heard_from_the_person_who_argues_for_it() -> None:
    made = small(("0.0", "support", 0.6))
    made.told.append(("0", "failed", {"role": "attacker", "who": "", "fault": "no reply"}))
    folder = run_of(made)
    assert probability(contest(folder, Set("0.0", 0.6))) is None
    added = contest(folder, Add("attack", "0", "No."), model=evaluator("ATTACK", tau=0.9))
    assert probability(added) is not None
    assert added.contest is not None and "the label becomes" in added.contest.why
    assert probability(contest(at(added), Drop("0.1"))) is None


def test_a_second_try_that_failed_does_not_make_a_side_unheard() -> None:
    made = two()
    made.told.append(("0", "failed", {"role": "attacker", "who": "", "fault": "no reply"}))
    assert probability(contest(run_of(made), Set("0.0", 0.5))) == 0.75


@pytest.mark.parametrize(
    "wishes", [[Drop("0.1")], [Set("0.1", 0.1), Drop("0.1")], [Drop("0.1"), Set("0.1", 0.1)]]
)
def test_a_side_that_a_person_emptied_is_not_lost_whatever_was_known_of_it(
    wishes: list[Wish],
) -> None:
    folder = run_of(small(("0.0", "support", 0.6), ("0.1", "attack", None), blend=0.0))
    assert probability(folder.record()) is None
    assert probability(contest(folder, *wishes)) == 0.8


def test_a_side_is_lost_where_what_a_person_left_of_it_could_not_be_weighed() -> None:
    three = small(
        ("0.0", "support", 0.6), ("0.1", "attack", None), ("0.2", "attack", 0.5), blend=0.0
    )
    folder = run_of(three)
    assert probability(folder.record()) is not None
    gone = contest(folder, Drop("0.2"))
    assert (gone.status, probability(gone)) == ("unresolved", None)
    assert probability(contest(at(gone), Drop("0.1"))) == 0.8
    assert figures(contest(at(gone), Restore("0.2"))) == figures(folder.record())


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with LocalEndpoint(seed=3) as endpoint:
        yield endpoint.url


@pytest.mark.parametrize(("breadth", "depth"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_nothing_but_a_change_changes_a_real_run(breadth: int, depth: int, url: str) -> None:
    for semantics, more in (
        ("dfquad", {"judge_orders": "both", "strength_rule": "bradley_terry", "ties": "half"}),
        ("quadratic_energy", {"blend": 1.0, "prune_below": 0.2}),
        ("euler", {"trees": 2, "root_strength": "estimated"}),
        ("dfquad", {"method_name": "argllm"}),
    ):
        shape: dict[str, Any] = {"breadth": breadth, "depth": depth, "semantics": semantics, **more}
        old = dialectree.verify("It is so.", model=f"openai:any@{url}", **shape)
        name = "0.0.0" if "trees" in more else "0.0"
        same = contest(at(old), Set(name, old.tree.nodes[name].score("tau")))
        assert figures(same) == figures(old)
        assert same.verdict == old.verdict
        assert same.contest is not None and same.contest.path == []
        moved = contest(at(old), Drop(name))
        assert moved.usage.calls == 0
        assert figures(contest(at(moved), Restore(name))) == figures(old)


# The new run


def test_minus_nothing_is_nothing() -> None:
    record = contest(run_of(two()), Set("0.0", -0.0))
    assert record.contest is not None
    assert record.contest.changes == ["strength of 0.0 set to 0.0 (before: 0.5)"]
    assert str(record.tree.nodes["0.0"].score("tau")) == "0.0"


def test_the_new_run_names_the_old_one_and_leaves_it_as_it_was() -> None:
    folder = run_of(two())
    before = contents(folder)
    told: list[Event] = []
    contesting = start(folder, [Drop("0.1"), Set("0.0", 0.7)], RUNS, {})
    record = asyncio.run(contesting.conduct(watch=told.append))
    new = at(record)
    assert contents(folder) == before
    assert record.run_id != folder.run_id and record.contest is not None
    assert record.contest.run == folder.run_id
    assert record.contest.changes == ["0.1 dropped", "strength of 0.0 set to 0.7 (before: 0.5)"]
    assert (record.contest.before, record.contest.after) == (0.75, probability(record))
    assert (record.usage.calls, new.calls(), record.status) == (0, [], "answered")
    assert RunRecord.read((new.path / "run.json").read_text()) == record
    assert fold(new.events()) == (record.tree, record.verdict)
    assert {event.run_id for event in new.events()} == {record.run_id}
    assert [event.kind for event in told[:3]] == ["contested", "scored", "contested"]
    assert told == new.events()[-len(told) :]
    assert {path.name for path in new.path.iterdir()} - {".lock"} == {"run.json", "events.jsonl"}
    back = contest(new, Restore("0.1"), Set("0.0", 0.5))
    assert back.contest is not None and back.contest.run == record.run_id
    assert figures(back) == figures(folder.record())


@pytest.mark.parametrize(
    ("wishes", "path", "why"),
    [
        (
            [Drop("0.1")],
            [("0", 0.75, 0.875)],
            "P(claim) goes from 0.75 to 0.875: 0.1 dropped; no argument's strength moved",
        ),
        (
            [Flip("0.1", "0.0")],
            [("0.0", 0.75, 0.25), ("0.1", 0.25, 0.75), ("0", 0.75, 0.25)],
            "P(claim) goes from 0.75 to 0.25, and the label becomes False: comparison of 0.1 and "
            "0.0 flipped; 0.0 moved most, from 0.75 to 0.25",
        ),
        (
            [Set("0", None)],
            [("0", 0.75, None)],
            "P(claim) goes from 0.75 to none, and the label becomes none: strength of 0 set to "
            "none (before: 0.5); no argument's strength moved",
        ),
        (
            [Set("0.0", 0.5)],
            [],
            "P(claim) stays 0.75: strength of 0.0 set to 0.5 (before: 0.5); no argument's "
            "strength moved",
        ),
        (
            [Set("0.0", 0.500000001)],
            [("0.0", 0.75, 0.7500000005), ("0", 0.75, 0.75000000025)],
            "P(claim) goes from 0.75 to 0.75000000025: strength of 0.0 set to 0.500000001 "
            "(before: 0.5); 0.0 moved most, from 0.75 to 0.7500000005",
        ),
    ],
    ids=["drop", "flip", "no strength", "nothing", "hardly anything"],
)
def test_path_and_why_say_what_moved(
    wishes: list[Wish], path: list[tuple[str, float, float | None]], why: str
) -> None:
    made = contest(run_of(two()), *wishes).contest
    assert made is not None
    assert [(step.node, step.before, step.after) for step in made.path] == path
    assert made.why == why


def test_a_claim_that_nobody_argued_about_can_be_contested() -> None:
    folder = run_of(small())
    added = contest(folder, Add("support", "0", "Yes."), model=evaluator(tau=0.5))
    assert (probability(folder.record()), probability(added)) == (0.5, 0.75)


def test_the_first_judge_of_a_run_with_a_live_model_is_needed_for_additions_alone() -> None:
    folder = run_of(two(model="live:ScriptedModel"))
    assert probability(contest(folder, Drop("0.1"))) == 0.875
    with pytest.raises(SettingsError, match="a live model is not kept"):
        contest(folder, Add("support", "0", "Yes."))
    added = contest(folder, Add("support", "0", "Yes."), model=evaluator())
    assert added.models == dict.fromkeys(("scorer", "pairwise_judge"), "live:ScriptedModel")


def test_a_record_names_the_prompts_and_the_models_behind_all_that_it_tells(url: str) -> None:
    old = dialectree.verify("It is so.", model=f"openai:x@{url}")
    dropped = contest(at(old), Drop("0.1"))
    assert (dropped.prompts, dropped.models) == (old.prompts, old.models)
    added = contest(at(dropped), Add("support", "0", "Yes."), model=f"openai:y@{url}")
    again = contest(at(added), Add("support", "0", "Once more."), model=f"openai:y@{url}")
    both = f"openai:x@{url}, openai:y@{url}"
    for record in (added, again):
        assert record.prompts == old.prompts
        judged = dict.fromkeys(("scorer", "pairwise_judge"), both)
        assert record.models == {**old.models, **judged}


def test_a_contest_that_asks_nobody_needs_no_price_and_no_role_of_its_own() -> None:
    folder = run_of(two(model="openai:x"))
    Path("dialectree.toml").write_text(
        'max_cost = 5\n[prices]\n"openai:x" = [1.0, 2.0]\n[roles]\nleaf_judge = "openai:j"\n'
    )
    assert probability(contest(folder, Drop("0.1"))) == 0.875
    assert (
        probability(contest(folder, Drop("0.1"), max_cost=1, prices={"openai:x": (1, 1)})) == 0.875
    )
    with pytest.raises(InputError, match="--role leaf_judge: art has no such role"):
        contest(folder, Drop("0.1"), roles={"leaf_judge": "openai:j"})


# What an addition costs


@pytest.mark.parametrize("wins", ["SUPPORT", "TIE"])
@pytest.mark.parametrize(
    ("blend", "orders", "calls"),
    [(0.0, "one", 1), (0.5, "one", 3), (1.0, "one", 3), (0.5, "both", 5)],
)
def test_an_addition_costs_a_strength_and_the_comparisons_with_whom_it_meets(
    blend: float, orders: str, calls: int, wins: str
) -> None:
    more = {"blend": blend, "judge_orders": orders}
    folder = run_of(
        small(("0.0", "support", 0.6), ("0.1", "attack", 0.7), ("0.2", "attack", 0.1), **more)
    )
    model = evaluator(wins)
    added = contest(folder, Add("support", "0", "Yes."), model=model)
    assert len(model.calls) == added.usage.calls == calls
    assert {call.node for call in at(added).calls()} == ({"0", "0.3"} if blend else {"0.3"})
    assert contest(at(added), Drop("0.2")).usage.calls == 0


def test_a_contest_says_that_its_calls_passed_a_budget(url: str) -> None:
    asked = {"model": f"openai:any@{url}", "cache": False, "max_tokens": 100}
    added = contest(run_of(two()), Add("attack", "0", "No."), **asked)
    (notice,) = added.notices
    assert notice.startswith("the budget --max-tokens 100 was passed by calls under way: ")


def test_one_that_is_taken_back_has_no_strength_on_the_path() -> None:
    added = contest(run_of(two()), Add("attack", "0", "No."), model=evaluator(tau=0.7))
    gone = contest(at(added), Drop("0.2"))
    assert gone.contest is not None
    (change,) = [change for change in gone.contest.path if change.node == "0.2"]
    assert (change.before, change.after) == (added.tree.nodes["0.2"].score("strength"), None)


def test_an_addition_does_not_meet_one_that_was_taken_back() -> None:
    first = contest(run_of(two()), Add("attack", "0", "No."), model=evaluator())
    gone = contest(at(first), Drop("0.2"))
    second = contest(at(gone), Add("support", "0", "Yes."), model=evaluator("ATTACK"))
    met = [(c.supporter, c.attacker) for c in second.tree.nodes["0"].comparisons]
    assert met == [("0.0", "0.1"), ("0.0", "0.2"), ("0.3", "0.1")]


def test_nothing_is_added_below_one_that_was_taken_back() -> None:
    added = contest(run_of(two()), Add("attack", "0", "No."), model=evaluator())
    gone = contest(at(added), Drop("0.2"))
    below, model = Add("support", "0.2", "Yes."), evaluator()
    with pytest.raises(InputError, match=r"--add support:0\.2: 0\.2 is dropped"):
        contest(at(gone), below, model=model)
    assert model.calls == []
    assert "0.2.0" in contest(at(gone), Restore("0.2"), below, model=model).tree.nodes


def test_a_persons_text_is_data() -> None:
    model = evaluator()
    text = "{{ 7 * 7 }} <b>bold</b>\nSUPPORT: mine\x1b[2J"
    record = contest(run_of(two()), Add("support", "0", f" {text}\n"), model=model)
    assert record.tree.nodes["0.2"].text == text
    assert all("{{ 7 * 7 }}" in prompt for prompt in model.prompts)
    assert not any("\nSUPPORT: mine" in call.prompt for call in model.calls if call.node == "0")
    assert "<b>bold" not in report.html(record, at(record).calls())


def test_two_contests_of_one_run_at_once_do_not_mix() -> None:
    folder = run_of(two())
    wishes = [Add("support", "0", "Yes."), Add("attack", "0", "No.")]

    async def both() -> list[RunRecord]:
        given = {"model": evaluator("SUPPORT")}
        made = (start(folder, [wish], RUNS, given).conduct() for wish in wishes)
        return [*await asyncio.gather(*made)]

    at_once = asyncio.run(both())
    alone = [contest(folder, wish, model=evaluator("SUPPORT")) for wish in wishes]
    assert [figures(record) for record in at_once] == [figures(record) for record in alone]
    assert [record.usage.calls for record in at_once] == [2, 2]


def test_wishes_may_come_one_by_one() -> None:
    folder = run_of(small(*THREE))
    once = asyncio.run(start(folder, map(Drop, ["0.1"]), RUNS, {}).conduct())
    assert figures(once) == figures(contest(folder, Drop("0.1")))
    assert once.tree.nodes["0.1"].dropped
    before = sorted(RUNS.iterdir())
    with pytest.raises(InputError, match="nothing is contested"):
        start(folder, map(Drop, []), RUNS, {})
    assert sorted(RUNS.iterdir()) == before


# What cannot be


THREE: list[tuple[str, Stance, float | None]]
THREE = [("0.0", "support", 0.6), ("0.1", "attack", 0.7), ("0.1.0", "support", 0.5)]

WRONG: dict[str, tuple[list[Wish], str]] = {
    "nothing": ([], "nothing is contested"),
    "an unknown id": ([Set("7", 0.5)], "7: the run has no such argument"),
    "an id that is a path": ([Drop("../0.1")], "../0.1: the run has no such argument"),
    "the claim": ([Drop("0")], "0 is the claim, not an argument"),
    "dropped twice": ([Drop("0.1"), Drop("0.1")], "--drop 0.1: it is dropped already"),
    "restored for nothing": ([Restore("0.1")], "--restore 0.1: it was not dropped"),
    "a strength above 1": ([Set("0.1", 1.5)], "--set 0.1=1.5: a strength lies in 0 to 1"),
    "a strength that is no number": ([Set("0.1", nan)], "--set 0.1=nan: a strength lies in"),
    "a comparison with oneself": ([Flip("0.0", "0.0")], "--flip 0.0:0.0: these two were not"),
    "a comparison across parents": ([Void("0.0", "0.1.0")], "--void 0.0:0.1.0: these two were not"),
    "a comparison with the claim": ([Flip("0.0", "0")], "0 is the claim"),
    "a tie": ([Flip("0.2", "0.1")], "--flip 0.2:0.1: it was a tie"),
    "voided twice": ([Void("0.0", "0.1"), Void("0.1", "0.0")], "--void 0.1:0.0: it is void"),
    "flipped while void": ([Void("0.0", "0.1"), Flip("0.0", "0.1")], "--flip 0.0:0.1: it is void"),
    "restored and not void": ([Restore("0.0", "0.1")], "--restore 0.0:0.1: it was not voided"),
    "an empty text": ([Add("support", "0", " \n")], "the argument is empty"),
    "a text without a word": ([Add("support", "0", "?!")], "this argument has no word in it"),
    "an endless text": ([Add("support", "0", "x" * 200_001)], "longer than 200,000 characters"),
    "an unknown parent": ([Add("attack", "0.9", "No.")], "0.9: the run has no such argument"),
    "a dropped parent": (
        [Drop("0.1"), Add("support", "0.1", "Yes.")],
        "--add support:0.1: 0.1 is dropped; --restore 0.1 brings it back",
    ),
    "a parent below a dropped one": (
        [Drop("0.1"), Add("attack", "0.1.0", "No.")],
        "--add attack:0.1.0: 0.1 is dropped",
    ),
    "one wrong after a right one": ([Drop("0.0"), Drop("0.7")], "0.7: the run has no such"),
}


@pytest.mark.parametrize(("wishes", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wish_that_cannot_be_fulfilled_is_one_line_and_nothing_is_written(
    wishes: list[Wish], said: str
) -> None:
    made = small(*THREE, ("0.2", "support", 0.1))
    (tied,) = (data for _, _, data in made.told if data.get("supporter") == "0.2")
    tied["winner"] = "TIE"
    folder = run_of(made)
    before = contents(folder)
    with pytest.raises(InputError) as wrong:
        contest(folder, *wishes, model=evaluator())
    assert said in str(wrong.value) and "\n" not in str(wrong.value)
    assert contents(folder) == before
    assert [*RUNS.iterdir()] == [folder.path]


@pytest.mark.parametrize("wish", [Set("0", 0.5), Add("support", "0", "Yes."), Drop("0.1")])
def test_above_several_trees_there_is_nothing_to_contest(wish: Wish) -> None:
    made = small(trees=2)
    made.told[1:] = [
        ("0.0", "opened", {"text": "It is so.", "depth": 1, "kind": "claim", "parent": "0"}),
        ("0.1", "opened", {"text": "It is so.", "depth": 1, "kind": "claim", "parent": "0"}),
        ("0.0", "scored", {"scores": {"tau": 0.5}}),
        ("0.1", "scored", {"scores": {"tau": 0.5}}),
        ("0", "branched", {"children": ["0.0", "0.1"], "kind": "claim"}),
    ]
    with pytest.raises(InputError, match=r"0 stands above several trees|0\.1 is the claim"):
        contest(run_of(made), wish, model=evaluator())


def test_only_a_finished_argument_tree_can_be_contested() -> None:
    folder = run_of(two())
    record = folder.record()

    def refused(match: str, **update: Any) -> None:
        folder.write_record(record.model_copy(update=update))
        with pytest.raises(InputError, match=match):
            contest(folder, Drop("0.1"))
        folder.write_record(record)

    refused("first: dialectree resume", status="running")
    refused("first: dialectree resume", status="partial")
    refused("no argument tree of a claim", tree=fold([])[0])
    with pytest.raises(InputError, match="reckoned with the settings of its run"):
        contest(folder, Drop("0.1"), blend=0.9)
    events = folder.path / "events.jsonl"
    told = events.read_text()
    for text in ("", told.replace("0.5", "0.8", 1), "".join(told.splitlines(True)[1:])):
        events.write_text(text)
        with pytest.raises(RunFolderError, match="does not tell the tree"):
            contest(folder, Drop("0.1"))
    events.unlink()
    with pytest.raises(RunFolderError, match="does not tell the tree"):
        contest(folder, Drop("0.1"))
    assert [*RUNS.iterdir()] == [folder.path]


def test_a_run_that_was_judged_anew_after_it_was_weighed_is_refused() -> None:
    folder = run_of(two())
    told = [*folder.events(), *_events([("0.1", "scored", {"scores": {"tau": 0.9}})])]
    (folder.path / "events.jsonl").write_text("".join(e.model_dump_json() + "\n" for e in told))
    folder.write_record(folder.record().model_copy(update={"tree": fold(told)[0]}))
    with pytest.raises(RunFolderError, match="does not tell the tree"):
        contest(folder, Drop("0.1"))


# What can befall an addition


def broken(folder: RunFolder) -> RunRecord:
    """The record of the contest that did not come to its end."""
    (new,) = (path for path in RUNS.iterdir() if path != folder.path)
    record = RunFolder(new).record()
    assert record.status == "partial" and record.contest is not None
    with pytest.raises(InputError, match=f"contests {folder.run_id} and is not resumed"):
        again(RunFolder(new), {})
    with pytest.raises(InputError, match=f"dialectree contest {folder.run_id} again"):
        contest(RunFolder(new), Drop("0.1"))
    assert RunFolder(new).calls() == [*RunFolder(new).calls()]
    return record


def test_a_budget_stops_an_addition_in_good_order() -> None:
    folder = run_of(two())
    with pytest.raises(BudgetReached):
        contest(folder, Add("support", "0", "Yes."), model=evaluator(), max_calls=1)
    record = broken(folder)
    assert (record.usage.calls, len(record.notices)) == (1, 1)


def test_an_addition_can_be_cancelled() -> None:
    folder, model = run_of(two()), evaluator()
    model.wait = lambda call: 60

    async def cancelled() -> None:
        task = asyncio.create_task(
            start(folder, [Add("support", "0", "Yes.")], RUNS, {"model": model}).conduct()
        )
        while len(model.calls) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert broken(folder).notices == ["interrupted"]


@pytest.mark.parametrize(
    ("deaf", "left_out"), [(ScorerReply, True), (PairwiseReply, False)], ids=["scorer", "judge"]
)
def test_what_cannot_be_judged_is_missing_and_said(deaf: Any, left_out: bool) -> None:
    model = evaluator("SUPPORT")
    model.will_say_now(no_reply(), to=deaf)
    made = two(strength_rule="bradley_terry")
    record = contest(run_of(made), Add("support", "0", "Yes."), model=model)
    ((node, failure),) = record.degraded()
    assert record.status == "degraded"
    assert (node, failure.role) == (("0.2", "scorer") if left_out else ("0", "pairwise_judge"))
    assert ("0.2 is left out: it has no strength" in record.tree.nodes["0"].notes) == left_out
    if left_out:  # it won, so 0.0 has half of theta, not all
        assert probability(record) == 0.625
    assert contest(at(record), Drop("0.1")).usage.calls == 0
