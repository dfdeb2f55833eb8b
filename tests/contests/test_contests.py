"""What holds of every contest, whatever the protocol, a stranger's included.

Only what depends on a change is asked, a model is needed only there, taking a change back gives
the first outcome and costs nothing, changes add up, nothing renumbers, the contested run stays as
it is, and a crash loses nothing. The CPU goes into some four hundred contests, most of it inside
LangGraph.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dialectree
from dialectree.contests import Add, Change, Drop, Flip, Replace, Restore, Rule, Set, Void, start
from dialectree.errors import InputError, SettingsError
from dialectree.protocols import plugins, protocol
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.running.hosted import keeping
from dialectree.running.runner import again
from tests.breaking_off import Crash
from tests.contesting import (
    RUNS,
    TEXT,
    at,
    begin,
    contest,
    debate,
    decided,
    files,
    made,
    outcome,
    speakers,
    stated,
    verify,
)
from tests.contests import dueling
from tests.graphs.debating import split
from tests.graphs.role_switching_debate import switching
from tests.scripted import ScriptedModel


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


Calls = Mapping[str, Mapping[str, int]]
"""By node, the calls of each role."""


@pytest.fixture(autouse=True)
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the protocol of a stranger beside ours."""
    installed = {**protocol.load_protocols(), "duel": dueling.DUEL}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (installed, {}))


SYNTHESIS = {"synthesis_debater": 4, "synthesis_judge": 1}
ROOT = {"0": {**SYNTHESIS, "answer_writer": 1}}
ABOVE = {"0.1": SYNTHESIS, **ROOT}
BOTH = {"judge_orders": "both"}


def of_debate(name: str, **given: Any) -> Callable[[], RunRecord]:
    return lambda: debate(speakers(), name, **given)


def polar() -> ScriptedModel:
    """A question of two leaves, of which the first can be settled by an argument tree."""
    model = speakers()
    model.will_say_now(split("is it so?", "what of b?"), at="0", to=type(split("x")))
    return model


MADE: dict[str, Callable[[], RunRecord]] = {
    "tree": of_debate("tsd", max_depth=2),
    "small tree": of_debate("tsd"),
    "leaf tree": lambda: debate(
        polar(), leaf_protocol="art", inner={"art": {"breadth": 2, "depth": 2, "judge_orders": "both"}}
    ),
    "rsd": of_debate("rsd", options=switching.TWO),
    "rsd at once": of_debate("rsd", options=switching.TWO, cross_examination="simultaneous"),
    "rsd both orders": of_debate("rsd", options=switching.TWO, **BOTH),
    "tod": of_debate("tod"),
    "small tod": of_debate("tod", max_depth=1),
    "art": lambda: verify(breadth=2, depth=2),
    "argllm": lambda: verify(name="argllm", breadth=2, depth=2),
    "trees": lambda: verify(trees=2),
    "one leaf": lambda: debate(
        speakers(), question="Is it so?", leaf_protocol="art", inner={"art": {"breadth": 1}}, max_depth=0
    ),
    **{
        name: of_debate(name)
        for name in ("duel", "single_shot", "best_of_n", "two_round", "single_stage", "two_stage")
    },
}


class Case(NamedTuple):
    """A run, a wish, who is asked because of it, and what takes it back if not --restore."""

    run: str
    wish: Change
    calls: Calls | None = None
    back: Change | None = None


def rsd(**roles: int) -> Calls:
    return {"0": roles}


CASES = [
    Case("tree", Replace("0.1.0/A1", TEXT), {"0.1.0": {"leaf_debater": 3, "leaf_judge": 1}, **ABOVE}),
    Case("tree", Replace("0.1.0/B2", TEXT), {"0.1.0": {"leaf_judge": 1}, **ABOVE}),
    Case("tree", Replace("0.1.0/B2/rebuttal", TEXT), {"0.1.0": {"leaf_judge": 1}, **ABOVE}),
    Case("tree", Drop("0.1.0/A2"), {"0.1.0": {"leaf_debater": 1, "leaf_judge": 1}, **ABOVE}),
    Case("tree", Rule("0.1.0", TEXT), ABOVE),
    Case("tree", Replace("0.1.0/leaf_judge", TEXT), ABOVE),
    Case("tree", Rule("0.1", TEXT), ROOT),
    Case("tree", Rule("0", TEXT), {"0": {"answer_writer": 1}}),
    Case("tree", Drop("0.1.0"), ABOVE),
    Case("tree", Drop("0.1"), ROOT),
    Case(
        "tree", Replace("0.1/concise1", TEXT), {"0.1": {"synthesis_debater": 2, "synthesis_judge": 1}, **ROOT}
    ),
    Case("tree", Drop("0/full1"), {"0": {"synthesis_debater": 1, "synthesis_judge": 1, "answer_writer": 1}}),
    Case("tree", Replace("0/answer_writer", TEXT)),
    Case("tree", Drop("0/answer_writer")),
    Case("leaf tree", Set("0.0.2", 0.99), ROOT),
    Case("leaf tree", Set("0.0", 0.9), ROOT),
    Case("leaf tree", Drop("0.0.1"), ROOT),
    Case("leaf tree", Flip("0.0.A", "0.0.B"), ROOT, Flip("0.0.B", "0.0.A")),
    Case("leaf tree", Void("0.0.B", "0.0.A"), ROOT, Restore("0.0.A", "0.0.B")),
    Case(
        "leaf tree",
        Add("support", "0.0", TEXT),
        {"0.0.4": {"scorer": 1}, "0.0": {"pairwise_judge": 4}, **ROOT},
        Drop("0.0.4"),
    ),
    Case("leaf tree", Rule("0.1", TEXT), ROOT),
    Case("one leaf", Drop("0.0"), {"0": {"answer_writer": 1}}),
    Case("rsd", Replace("0/B1", TEXT), rsd(debater=6, judge=1)),
    Case("rsd", Replace("0/B2", TEXT), rsd(debater=5, judge=1)),
    Case("rsd at once", Replace("0/B2", TEXT), rsd(debater=4, judge=1)),
    Case("rsd", Replace("0/A3", TEXT), rsd(debater=2, judge=1)),
    Case("rsd", Replace("0/A4/would_settle", TEXT), rsd(judge=1)),
    Case("rsd both orders", Replace("0/A4", TEXT), rsd(judge=2)),
    Case("rsd", Replace("0/judge1", TEXT)),
    Case("rsd", Rule("0", "A")),
    Case("rsd both orders", Rule("0", "A")),
    Case("rsd", Drop("0/A1"), rsd(debater=6, judge=1)),
    Case("rsd", Drop("0/A2"), rsd(debater=4, judge=1)),
    Case("rsd", Drop("0/B3"), rsd(debater=2, judge=1)),
    Case("rsd", Drop("0/B4"), rsd(judge=1)),
    Case("tod", Replace("0.1.0/a1/respond", TEXT), {"0.1.0": {"persona": 2}, "0": {"moderator": 1}}),
    Case("tod", Drop("0.1.0/a1/respond"), {"0.1.0": {"persona": 2}, "0": {"moderator": 1}}),
    Case("tod", Drop("0.1"), {"0": {"moderator": 1}}),
    Case("tod", Rule("0", TEXT)),
    Case("art", Set("0.0", 0.9)),
    Case("art", Set("0", 0.2)),
    Case("art", Drop("0.1")),
    Case("art", Flip("0.A", "0.B"), back=Flip("0.A", "0.B")),
    Case("art", Void("0.A", "0.B"), back=Restore("0.B", "0.A")),
    Case("art", Add("attack", "0", TEXT), {"0.4": {"scorer": 1}, "0": {"pairwise_judge": 2}}, Drop("0.4")),
    Case("art", Add("support", "0.0.1", TEXT), {"0.0.1.0": {"scorer": 1}}, Drop("0.0.1.0")),
    Case("argllm", Set("0.0", 0.9)),
    Case("argllm", Add("attack", "0", TEXT), {"0.4": {"scorer": 1}}, Drop("0.4")),
    Case("single_shot", Replace("0/answerer", TEXT)),
    Case("best_of_n", Drop("0/2"), {"0": {"picker": 1}}),
    Case("two_round", Replace("0/critic1", TEXT), {"0": {"explorer": 1, "critic": 1, "synthesiser": 1}}),
    Case("single_stage", Rule("0", TEXT)),
    Case("two_stage", Rule("0", TEXT)),
    Case("two_stage", Replace("0/a1", TEXT), {"0": {"comparer": 1}}),
    Case("duel", Set("0.0", 1.0)),
    Case("duel", Set("0.1", None)),
    Case("duel", Flip("0.1", "0.0"), back=Flip("0.0", "0.1")),
    Case("duel", Void("0.0", "0.1"), back=Restore("0.0", "0.1")),
    Case("duel", Drop("0.1")),
    Case("duel", Add("attack", "0", TEXT), {"0.2": {"rater": 1}}, Drop("0.2")),
]


def filled(wish: Change, record: RunRecord) -> Change:
    """``wish`` with a pair of arguments that was decided for ``A`` and ``B``."""
    names = dict(zip("AB", next(iter(decided(record)), "AB"), strict=True))
    where = re.sub(r"0(?:[.][0-9]+)*[.]([AB])\b", lambda found: names[found[1]], wish.where)
    return wish.model_copy(update={"where": where})


def ids(case: Case) -> str:
    return f"{case.run} {case.wish.flag}"


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_only_what_depends_on_a_change_is_asked_and_it_can_be_taken_back(case: Case, elsewhere: Path) -> None:
    old = made(elsewhere, case.run, MADE[case.run])
    before, model = files(at(old)), speakers()
    new = contest(old, filled(case.wish, old), model=model)
    calls = (case.calls or {}).items()
    assert Counter(model.places) == {(n, role): c for n, roles in calls for role, c in roles.items()}
    assert new.usage.calls == len(at(new).calls()) == len(model.calls)
    assert (new.status, new.list_failures()) == ("answered", [])
    assert files(at(old)) == before and stated(new).run == old.run_id
    assert RunRecord.read((at(new).path / "run.json").read_text()) == new
    shared = old.tree.nodes.keys() & new.tree.nodes.keys()
    assert all(old.tree.nodes[name].text == new.tree.nodes[name].text for name in shared)
    assert outcome(new) != outcome(old)
    if not case.wish.flag.startswith(("`add`", "`flip`")):
        with pytest.raises(InputError, match=r"already|it is void"):
            begin(new, filled(case.wish, old))
    model, (override,) = speakers(), stated(new).overrides
    back = contest(new, filled(case.back or Restore(override.id), old), model=model)
    assert model.calls == [] and back.usage.calls == 0
    assert case.back is not None or stated(back).overrides == []
    assert outcome(back) == outcome(old)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_contest_needs_a_model_only_where_one_has_to_be_asked(case: Case, elsewhere: Path) -> None:
    old = made(elsewhere, case.run, MADE[case.run])  # a live model's, which no record keeps
    wish, before = filled(case.wish, old), [*RUNS.iterdir()]
    if case.calls:
        with pytest.raises(SettingsError, match="did not keep its live model"):
            start(at(old), [wish], RUNS, {})
        assert [*RUNS.iterdir()] == before
        return
    new = asyncio.run(start(at(old), [wish], RUNS, {}).conduct())
    assert outcome(new) == outcome(contest(old, wish))
    reversal = filled(case.back or Restore(stated(new).overrides[0].id), old)
    begun = start(at(new), [reversal], RUNS, {})
    back = asyncio.run(again(begun.folder, {}).conduct())  # as a server does, in another process
    assert outcome(back) == outcome(old)
    assert (new.models, new.settings) == (back.models, back.settings) == (old.models, old.settings)


def test_a_change_of_figures_keeps_the_models_whoever_else_is_named(elsewhere: Path) -> None:
    old = made(elsewhere, "art", MADE["art"])
    more: Any = {"model": "openai:other@http://127.0.0.1:9/v1", "concurrency": 2, "cache": False}
    new = dialectree.contest(old.run_id, [Set("0.0", 0.9)], **more)
    assert (new.models, new.settings) == (old.models, old.settings)
    assert new.usage.calls == 0


CHAINS: dict[str, list[tuple[Change, Change]]] = {
    "tree": [
        (Replace("0.1.0/B2", TEXT), Restore("0.1.0/B2")),
        (Replace("0.1.0/A1", "Another word."), Restore("0.1.0/A1")),
        (Replace("0.1.0/B2/rebuttal", "No."), Restore("0.1.0/B2/rebuttal")),
        (Drop("0.1.1"), Restore("0.1.1")),
        (Rule("0.0", TEXT), Restore("0.0")),
    ],
    "rsd": [
        (Replace("0/B4", TEXT), Restore("0/B4")),
        (Replace("0/A4/would_settle", TEXT), Restore("0/A4/would_settle")),
    ],
    "tod": [
        (Replace("0.1.0/a1/respond", TEXT), Restore("0.1.0/a1/respond")),
        (Replace("0.0/a1/revise", TEXT), Restore("0.0/a1/revise")),
        (Drop("0.1.1"), Restore("0.1.1")),
    ],
    "art": [
        (Set("0.0", 0.9), Restore("0.0")),
        (Flip("0.A", "0.B"), Flip("0.B", "0.A")),
        (Add("attack", "0", TEXT), Drop("0.4")),
        (Drop("0.1"), Restore("0.1")),
    ],
    "duel": [
        (Set("0.0", 1.0), Restore("0.0")),
        (Add("attack", "0", TEXT), Drop("0.2")),
        (Flip("0.1", "0.0"), Flip("0.0", "0.1")),
        (Drop("0.1"), Restore("0.1")),
    ],
}
"""Changes of one run, each with its reversal."""


@pytest.mark.parametrize("name", CHAINS)
def test_changes_add_up_and_are_taken_back_one_after_another_or_at_once(name: str, elsewhere: Path) -> None:
    first = made(elsewhere, name, MADE[name])
    steps = [(filled(wish, first), filled(back, first)) for wish, back in CHAINS[name]]
    states = [first]
    for wish, _ in steps:
        states.append(contest(states[-1], wish))
    new, model = states[-1], speakers()
    assert outcome(contest(first, *(wish for wish, _ in steps))) == outcome(new)
    assert len(stated(new).overrides) == len(steps)
    reversals = [back for _, back in reversed(steps)]
    assert outcome(contest(new, *reversals, model=model)) == outcome(first)
    for back, state in zip(reversals, reversed(states[:-1]), strict=True):
        new = contest(new, back, model=model)
        assert outcome(new) == outcome(state)
    assert model.calls == []


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("small tree", Replace("0.1/A1", TEXT)),
        ("small tree", Drop("0.0")),
        ("rsd", Drop("0/B2")),
        ("small tod", Drop("a:2")),
        ("art", Add("support", "0", TEXT)),
        ("leaf tree", Add("attack", "0.0.0", TEXT)),
        ("duel", Add("attack", "0", TEXT)),
    ],
)
def test_a_contest_that_crashed_anywhere_is_resumed_and_ends_as_it_would_have(
    name: str, wish: Change, elsewhere: Path
) -> None:
    old = made(elsewhere, name, MADE[name])
    model = speakers()
    undisturbed = contest(old, wish, model=model)
    total = len(model.calls)
    for crash in sorted({1, (total + 2) // 3, (total + 1) // 2, total}):
        begun = begin(old, wish, model=speakers(crash))
        with pytest.raises(Crash):
            asyncio.run(begun.conduct())
        left = at(begun.record)
        assert left.record().status == "partial"
        with pytest.raises(InputError, match=f"first: dialectree resume {left.path}"):
            contest(left.record(), wish)
        paid, model = len(left.calls()), speakers()
        record = asyncio.run(again(left, {"model": model}).conduct())
        assert len(model.calls) == total - paid
        assert outcome(record) == outcome(undisturbed)
        assert stated(record) == stated(undisturbed)
        assert record.usage.calls == total


REFUSED: dict[str, list[list[Change]]] = {
    "tree": [
        [],
        [Replace("0.7/A1", TEXT)],
        [Replace("0.1", TEXT)],
        [Replace("0/decomposer1", TEXT)],
        [Replace("0.1.0/A2/winner", TEXT)],
        [Replace("0.1.0/A1", " \n")],
        [Replace("0.1.0/A1", "x" * 1601)],
        [Replace("0.1.0/A1", TEXT), Replace("0.1.0/A1", "Other.")],
        [Rule("0.1.0", "x" * 2001)],
        [Rule("0.1.0", "")],
        [Rule("0.7", TEXT)],
        [Drop("0")],
        [Drop("0.0"), Drop("0.7")],
        [Drop("0.1"), Drop("0.1")],
        [Drop("0.1.0/A1"), Drop("0.1.0/A1")],
        [Drop("0.1.0/leaf_judge")],
        [Restore("0.1.0/A1")],
        [Set("0.1", 0.5)],
        [Flip("0.0", "0.1")],
        [Add("support", "0", "Yes.")],
    ],
    "rsd": [[Rule("0", "Z")], [Replace("0/A4/percent", "7")], [Drop("0/judge1")]],
    "small tod": [
        [Rule("0.0", "A")],
        [Drop("0")],
        [Drop("9.9")],
        [Drop("a:999")],
        [Replace("9.9/a1/revise", TEXT)],
        [Replace("0.0/a1/revise/concedes", "maybe")],
        [Replace("0/a1/claims", TEXT)],
        [Replace("a:2", " ")],
    ],
    "art": [
        [Set("7", 0.5)],
        [Set("0.1", 0.1), Set("0.1", 0.2)],
        [Drop("../0.1")],
        [Drop("0")],
        [Drop("0.1"), Drop("0.1")],
        [Drop("0.0"), Drop("0.7")],
        [Restore("0.1")],
        [Restore("0.0", "0.2")],
        [Flip("0.0", "0.0")],
        [Flip("0.0", "0")],
        [Void("0.0", "0.1.0")],
        [Void("0.A", "0.B"), Void("0.B", "0.A")],
        [Add("support", "0", " \n")],
        [Add("support", "0", "?!")],
        [Add("support", "0", "x" * 200_001)],
        [Add("attack", "0.9", "No.")],
        [Drop("0.1"), Add("attack", "0.1.0", "No.")],
        [Replace("0.1", "No.")],
        [Rule("0", "True")],
    ],
    "leaf tree": [
        [Set("0", 0.5)],
        [Add("support", "0", "Yes.")],
        [Flip("0", "0.0.0")],
        [Rule("0.0", "Yes")],
        [Void("0.0.0", "0.7")],
    ],
    "trees": [[Set("0", 0.5)], [Add("support", "0", "Yes.")], [Drop("0.1")]],
    "duel": [[Replace("0.0/rater", "No.")], [Drop("0.7")], [Rule("0", "True")]],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_that_cannot_be_is_one_line_that_names_it_and_nothing_is_written(
    name: str, elsewhere: Path
) -> None:
    old = made(elsewhere, name, MADE[name])
    before = files(at(old))
    for wishes in REFUSED[name]:
        with pytest.raises(InputError) as wrong:
            begin(old, *(filled(wish, old) for wish in wishes))
        message = str(wrong.value)
        named = (
            (wishes[-1].id, wishes[-1].change, "empty", "longer", "two changes") if wishes else ("nothing",)
        )
        assert any(part in message for part in named), (wishes, message)
        assert "\n" not in message
        assert files(at(old)) == before and [*RUNS.iterdir()] == [at(old).path]


@given(st.none() | st.floats(0, 1))
def test_a_strength_is_set_to_the_last_digit(strength: float | None) -> None:
    assert Set("0.1", strength).strength() == strength


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Set("0.0", 1.5), "0.0=1.5"),
        (lambda: Set("0.0", float("nan")), "0.0=nan"),
        (lambda: Set("", 0.5), "`set`"),
        (lambda: Flip("0.0", ""), "`flip`"),
        (lambda: Flip("0.0", "0.1:0.2"), "`flip`"),
        (lambda: Add("foo", "0", "so"), "`add` foo:0"),  # type: ignore[arg-type]
        (lambda: Rule("0", None), "text: .*string"),  # type: ignore[arg-type]
        (lambda: Drop(1), "where: .*string"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_part_is_named(make: Callable[[], Change], named: str) -> None:
    with pytest.raises(InputError, match=named):
        make()


@pytest.mark.parametrize("changes", [None, Restore("0.0"), ["0.0=0.5"], "0.0"])
def test_what_is_no_list_of_changes_is_refused(changes: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no list of changes"):
        start(RunFolder(tmp_path), changes, tmp_path, {})


def even() -> ScriptedModel:
    """Return a model that plays every role, and rates each argument of a stranger alike."""
    (model := speakers()).will_say_now(dueling.Rating(rating=0.5))
    return model


def test_a_stranger_reads_each_change_in_its_arithmetic_at_a_host_as_well(tmp_path: Path) -> None:
    given = {"question": "It is so.", "remark": "By the way."}
    with keeping(tmp_path):
        context = dueling.Settings(model=even())
        ended = asyncio.run(dueling.graph.ainvoke(given, context=context))
    hosted = dialectree.load(ended["run_id"], runs=tmp_path)
    assert hosted.input == given
    for wish, probability in (
        (Set("0.0", 1.0), 0.65),
        (Set("0.1", None), 0.65),
        (Flip("0.1", "0.0"), 0.4),
        (Void("0.0", "0.1"), 0.5),
        (Drop("0.1"), 0.65),
        (Add("attack", "0", "Never."), 0.55),
    ):
        new = dialectree.contest(hosted, [wish], runs=tmp_path, model=even(), cache=False)
        assert new.verdict is not None
        assert new.verdict.confidence == pytest.approx(probability)
        assert (new.input, new.usage.calls) == (given, int(wish.flag.startswith("`add`")))
