"""Debates from the user's documents: who spoke, what was asked again, what it rests on."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

import dialectree
from dialectree.contests import Add, Change, Drop, Replace, Restore, Set
from dialectree.errors import BudgetReached
from dialectree.models.reading import NO_EVIDENCE, WITHOUT
from dialectree.nodes.adaptive_reasoning_tree.scorer import DirectedScorerReply
from dialectree.protocols import plugins
from dialectree.protocols.protocol import load_protocols, method
from dialectree.protocols.settings import build_settings
from dialectree.records import RunRecord, turns
from dialectree.running.runner import RunHandle
from tests.breaking_off import check_crashes
from tests.contesting import TEXT, drawn, words
from tests.graphs.adaptive_reasoning_tree.arguing import compare, direct, score, score_claim
from tests.graphs.debating import split
from tests.grounding import SOURCES, Pointing, begin, point, pointing, shown, written
from tests.scripted import Asked, Said

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "Do animals eat grass or clay, and what do cows eat?"
QUESTION_OF = {"art": "Animals eat grass or clay, and cows eat grass."}
OPTIONS = ("grass", "clay", "meat", "sea water", "minerals")

pytestmark = pytest.mark.usefixtures("strangers")


class Way(NamedTuple):
    """A debate, with its calls, those of them in a row, and those of checkers."""

    method: str
    calls: int
    in_a_row: int
    checked: int
    values: Mapping[str, Any] = MappingProxyType({})

    def begin(self, runs: Path, model: Pointing, **more: Any) -> RunHandle:
        asked, folder = QUESTION_OF.get(self.method, QUESTION), written(runs.parent / "notes")
        return begin(self.method, asked, runs, folder, model=model, **{**self.values, **more})

    def debate(self, runs: Path, model: Pointing | None = None, **more: Any) -> RunRecord:
        return asyncio.run(self.begin(runs, model or speaking(), **more).conduct())


ART = Way("art", 5, 3, 0)
SHORT = {"max_depth": 1, "leaf_rounds": 2, "synthesis_rounds": 1}
WAYS = {
    "rsd": Way("rsd", 10, 6, 1, {"options": [*OPTIONS[:2]]}),
    "knockout": Way("rsd", 40, 18, 4, {"options": [*OPTIONS], "candidates": "knockout"}),
    "tsd": Way("tsd", 3 + 2 * 6 + 3 + 1, 3 + 6 + 2 + 1, 2, SHORT),
    "tsd at a leaf": Way("tsd", 7, 7, 1, {**SHORT, "max_depth": 0}),
    "tsd with rsd": Way("tsd", 27, 12, 2, {**SHORT, "leaf_protocol": "rsd"}),
    "art": Way("art", 50, 5, 0, {"breadth": 2, "depth": 2}),
    "mad": Way("mad", 6, 6, 1, {"rounds": 1}),
    "majority_debate": Way("majority_debate", 7, 3, 1, {"options": [*OPTIONS[:2]]}),
}
SMALL = ("rsd", "tsd at a leaf", "tsd", "majority_debate")
every = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
some = pytest.mark.parametrize("way", [*map(WAYS.get, SMALL), ART], ids=[*SMALL, "art"])


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process know the protocols of the examples."""
    for name in ("mad", "majority_debate"):
        monkeypatch.syspath_prepend(EXAMPLES / name)
    found = {name: import_module(name).protocol for name in ("mad", "majority_debate")}
    everything = {**load_protocols(), **found}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (everything, {}))
    yield


def speaking(model: Pointing | None = None) -> Pointing:
    """A model that plays every role, those of the examples too; every leaf is polar."""
    model = pointing(model)
    mad, majority = import_module("mad"), import_module("majority_debate")
    model.will_say_now(split("do cows eat grass?", "do animals eat clay?"), at="0")
    model.will_say_now(
        lambda c: mad.Argument(argument=f"{words(c)}, and that is all it says.", answer="yes"),
        to=mad.Argument,
    )
    model.will_say_now(mad.Moderation(rationale="Open.", decided=False, answer="yes", confidence=0.5))
    model.will_say_now(mad.Candidates(candidates=["yes", "no"]))
    model.will_say_now(mad.Choice(rationale="So.", answer="yes", confidence=0.9))
    model.will_say_now(
        lambda c: majority.AgentReply(reasoning=words(c), label="AB"[drawn(c) % 2]), to=majority.AgentReply
    )
    return model


def without_material(prompt: str) -> str:
    return re.sub(r"<material>.*?</material>\n[^\n]*\n", "", prompt, flags=re.DOTALL)


class Steady(Pointing):
    """Says the same whatever it reads of the sources."""

    def _next(self, call: Asked) -> Said:
        if call.role == "checker":
            return super()._next(call)
        self._shown = shown(call.prompt)
        return super()._next(call._replace(prompt=without_material(call.prompt)))


def steady() -> Pointing:
    """It points at sentences on clay alone."""
    model = Steady()

    def of_clay(call: Asked, sentences: Mapping[str, str]) -> Mapping[str, Any]:
        names = [name for name, text in model._shown.items() if "clay" in text.lower()][:1]
        cited = [{"point": f"So says {call.role}.", "sentences": names}] if names else []
        return {"evidence": cited, "look_for": [], "rests_on": names}

    model.will_point(of_clay)
    return speaking(model)


def contest(record: RunRecord, *changes: Change, model: Pointing | None = None) -> RunRecord:
    assert record.path is not None
    own: Any = {"model": model or speaking(), "runs": record.path.parent, "cache": False}
    return dialectree.contest(record, [*changes], **own)


def retrieved(record: RunRecord) -> dict[str, Any]:
    return {name: node.retrievals for name, node in record.tree.nodes.items()}


def outcome(record: RunRecord) -> Any:
    return record.model_dump(include={"verdict", "tree", "status"})


@every
def test_calls_are_those_of_the_debate_and_the_checkers(way: Way, tmp_path: Path) -> None:
    model = speaking()
    record = way.debate(tmp_path / "runs", model)
    assert (record.usage.calls, record.usage.critical_path_calls) == (way.calls, way.in_a_row)
    roles = Counter(call.role for call in model.calls)
    assert roles["checker"] == way.checked
    assert record.status == "answered" and record.verdict is not None
    assert record.verdict.grounds and not any("rests on no evidence" in note for note in record.verdict.notes)
    said = [turn for node in record.tree.nodes.values() for turn in node.transcript]
    assert any(turn.evidence for turn in said)
    cited = {id for turn in said for one in turn.evidence for id in one.sentences}
    assert {ground.id for ground in record.verdict.grounds} <= cited


def some_time(call: Asked) -> float:
    return 0.004 * (crc32(repr(call).encode()) % 997) / 997


@some
def test_which_call_returns_first_never_matters(way: Way, tmp_path: Path) -> None:
    straight = way.debate(tmp_path / "straight")
    late = speaking()
    late.wait = some_time
    assert outcome(way.debate(tmp_path / "late", late)) == outcome(straight)


@every
def test_a_dropped_source_asks_again_those_who_were_shown_it_and_restored_it_is_as_it_was(
    way: Way, tmp_path: Path
) -> None:
    model = steady()
    record = way.debate(tmp_path / "runs", model)
    gone = cows(tmp_path)
    read = [call for call in model.calls if {*shown(call.prompt).values()} & {*gone}]
    assert 0 < len(read) < len(model.calls)
    again = steady()
    dropped = contest(record, Drop("s2"), model=again)
    assert Counter(map(place, again.calls)) == Counter(map(place, read))
    assert not any(text in call.prompt for call in again.calls for text in gone)
    nobody = steady()
    restored = contest(dropped, Restore("s2"), model=nobody)
    assert nobody.calls == [] and outcome(restored) == outcome(record)


def place(call: Asked) -> tuple[Any, ...]:
    return call[:1] + call[1:5] + call[6:]


def cows(folder: Path) -> list[str]:
    """The sentences of s2."""
    text = (folder / "notes" / "cows.txt").read_text()
    return [one for one in re.split(r"\n+|(?<=\.) ", text) if one]


CHANGES: dict[str, Change] = {"art": Add("support", "0", TEXT)}


@every
def test_a_turn_that_a_person_changed_changes_what_others_read(way: Way, tmp_path: Path) -> None:
    record = way.debate(tmp_path / "runs")
    changes = [*changeable(record)]
    change = CHANGES.get(way.method) or Replace(changes[0], TEXT)
    model = speaking()
    changed = contest(record, change, model=model)
    assert changed.usage.calls > 0
    assert any(TEXT in call.prompt for call in model.calls)
    assert retrieved(changed).keys() >= retrieved(record).keys()


def changeable(record: RunRecord) -> Iterator[str]:
    """The turns that point at sentences and whose text a person may replace."""
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            phase = turns.find_declared_phase(record, turn)
            if turn.evidence and phase is not None and phase.editable:
                yield turns.find_contestable_name(record, node, turn)


@some
def test_a_run_that_crashes_at_any_call_goes_on_and_pays_nothing_twice(way: Way, tmp_path: Path) -> None:
    def begun(model: Any, runs: Path) -> RunHandle:
        return way.begin(runs, model)

    def speakers(crash: int) -> Pointing:
        return speaking(Pointing(fragile_at=crash))

    crashes = range(2, way.calls, max(3, way.calls // 3))
    check_crashes(begun, speakers, way.calls, crashes, tmp_path / "runs")


# Hosts


@some
def test_a_host_goes_on_where_it_stopped(way: Way, tmp_path: Path) -> None:
    sources = [{"name": name, "text": text} for name, text in SOURCES.items()]
    chosen = method(way.method)
    asked = {"question": QUESTION_OF.get(way.method, QUESTION), "sources": sources}
    given = {name: way.values[name] for name in ("options",) if name in way.values}
    own = {name: value for name, value in way.values.items() if name not in given}
    kind = chosen.protocol.settings
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}

    async def walked(model: Pointing, stop: int) -> Any:
        thread = chosen.graph().copy({"checkpointer": InMemorySaver()})

        def context(**more: Any) -> Any:
            return build_settings(
                kind, **{"model": model, "cache": False, "embeddings": "bm25", **own, **more}
            )

        if stop:
            with pytest.raises(BudgetReached):
                first = context(max_calls=stop, concurrency=1)
                await thread.ainvoke({**asked, **given}, config, context=first)
            return await thread.ainvoke(None, config, context=context())
        return await thread.ainvoke({**asked, **given}, config, context=context())

    alone = asyncio.run(walked(whole := speaking(), 0))
    assert alone["verdict"]["grounds"] and len(whole.calls) == way.calls
    for stop in (way.calls // 2, way.calls - 1):
        ended = asyncio.run(walked(model := speaking(), stop))
        assert ended["verdict"] == alone["verdict"]
        assert len({*model.calls}) == way.calls


# What judges read


JUDGES = ("judge", "leaf_judge", "synthesis_judge", "scorer", "pairwise_judge", "moderator")


@pytest.mark.parametrize("way", [WAYS["tsd"], ART, WAYS["mad"]])
def test_a_judge_sees_what_the_settings_say(way: Way, tmp_path: Path) -> None:
    for sees in ("none", "cited", "pool"):
        model = steady()
        record = way.debate(tmp_path / sees, model, judge_sees=sees)
        read = [{*shown(c.prompt).values()} for c in model.calls if c.role in JUDGES]
        clay = {text for one in read for text in one if "clay" in text.lower()}
        most = {"none": 0, "cited": len(clay), "pool": 99}[sees]
        assert all(len(one) <= most for one in read)
        assert any(map({*cows(tmp_path)}.intersection, read)) == (sees == "pool")
        rested = [t for node in record.tree.nodes.values() for t in node.transcript if t.rests_on]
        assert bool(rested) == (sees != "none")
        assert record.verdict is not None and record.verdict.grounds


@pytest.mark.parametrize("name", ["rsd", "knockout", "tsd", "majority_debate"])
def test_what_rests_on_no_evidence_is_noted_or_left_open(name: str, tmp_path: Path) -> None:
    silent = speaking()
    silent.will_point(lambda call, shown: {"evidence": [], "look_for": [], "rests_on": []})
    allowed = WAYS[name].debate(tmp_path / "allowed", silent)
    assert allowed.verdict is not None and allowed.status == "answered"
    assert WITHOUT in " ".join(allowed.verdict.notes) and not allowed.verdict.grounds
    strict = WAYS[name].debate(tmp_path / "forbidden", silent, memory="forbidden")
    assert (strict.status, strict.verdict and strict.verdict.answer) == ("unresolved", None)
    if name == "tsd":
        assert {f"{leaf} {WITHOUT}" for leaf in ("0.0", "0.1")} <= {*allowed.verdict.notes}
        assert f"the ruling {WITHOUT}" in allowed.tree.nodes["0.0"].notes
        assert NO_EVIDENCE in strict.tree.nodes["0.0"].notes


def as_strong_as_the_other(model: Pointing) -> Pointing:
    """Every argument weighs alike, so that P(claim) stays where it began."""
    model.will_say_now(score(0.5))
    model.will_say_now(lambda call: direct(score(0.5), call), to=DirectedScorerReply)
    model.will_say_now(compare("TIE"))
    return model


def by_role(call: Asked, sentences: Mapping[str, str]) -> Mapping[str, Any]:
    """The supporter points at the first sentence, the attacker at the last."""
    names = [*sentences]
    own = names[:1] if call.role == "supporter" else names[-1:]
    cited = [{"point": f"So says {call.role}.", "sentences": own}] if own else []
    return {"evidence": cited, "look_for": [], "rests_on": own}


def by_nobody(call: Asked, sentences: Mapping[str, str]) -> Mapping[str, Any]:
    return {"evidence": [], "look_for": [], "rests_on": []}


UNDECIDED = {
    "nothing cited": (by_nobody, r"^no evidence: the verdict rests on nothing in the sources$"),
    "balanced": (point, r"^undecided: balanced: the arguments leave P\(claim\) where it began$"),
    "contradicting": (
        by_role,
        r"^undecided: the sources contradict each other, .*: s\d:[\d.]+ for it, s\d:[\d.]+ against",
    ),
}


@pytest.mark.parametrize(("pointed", "why"), UNDECIDED.values(), ids=UNDECIDED)
def test_a_claim_is_left_undecided_where_the_sources_decide_nothing(
    pointed: Any, why: str, tmp_path: Path
) -> None:
    model = as_strong_as_the_other(speaking())
    model.will_point(pointed)
    record = ART.debate(tmp_path / "runs", model)
    assert record.status == "unresolved" and record.verdict is not None
    assert (record.verdict.answer, record.verdict.label, record.verdict.probability) == (None,) * 3
    assert re.search(why, record.verdict.notes[0]), record.verdict.notes


def test_a_second_pass_rests_on_what_it_found(tmp_path: Path) -> None:
    def by_pass(call: Asked, sentences: Mapping[str, str]) -> Mapping[str, Any]:
        names = [*sentences][call.take - 1 :][:1]
        cited = [{"point": f"So says {call.role}.", "sentences": names}] if names else []
        return {"evidence": cited, "look_for": [], "rests_on": names}

    model = speaking()
    model.will_point(by_pass)
    record = WAYS["tsd"].debate(tmp_path / "runs", model, second_pass_below=1.0)
    assert Counter(call.take for call in model.calls if call.role == "checker") == {1: 2, 2: 1}
    said = record.tree.nodes["0"].transcript
    first, second = (turn for turn in said if turn.role == "synthesis_judge")
    assert record.verdict is not None
    assert [ground.id for ground in record.verdict.grounds] == second.rests_on != first.rests_on


# Arguments without evidence


def one_sided(call: Asked, sentences: Mapping[str, str]) -> Mapping[str, Any]:
    """The supporter has no evidence."""
    return point(call, {} if call.role == "supporter" else sentences)


def weights(record: RunRecord) -> list[float | None]:
    return [record.tree.nodes[name].score("blended") for name in ("0.0", "0.1")]


def strong() -> Pointing:
    model = speaking()
    model.will_point(one_sided)
    model.will_say_now(score(0.9))
    model.will_say_now(lambda call: direct(score(0.9), call), to=DirectedScorerReply)
    model.will_say_now(compare("SUPPORT"))
    return model


def test_an_argument_without_evidence_weighs_at_most_one_half(tmp_path: Path) -> None:
    record = ART.debate(tmp_path / "runs", strong())
    supporter = record.tree.nodes["0.0"]
    assert (supporter.score("tau"), supporter.score("theta")) == (0.9, 1)
    assert weights(record) == [0.5, 0.45]
    assert supporter.notes == [f"the argument {WITHOUT}: its weight is 0.50 instead of 0.95"]
    for settings, weight in (
        ({"unsupported_at_most": 0.2}, 0.2),
        ({"unsupported_at_most": 1.0}, 0.95),
        ({"memory": "forbidden"}, 0),
    ):
        other = ART.debate(tmp_path / str(weight), strong(), **settings)
        assert weights(other) == [weight, 0.45]


def test_what_a_person_set_or_inserted_counts_as_it_is(tmp_path: Path) -> None:
    record = ART.debate(tmp_path / "runs", strong())
    changed = contest(record, Set("0.0", 0.7), model=strong())
    assert weights(changed) == [0.85, 0.45]
    back = contest(changed, Restore("0.0"), model=strong())
    assert outcome(back) == outcome(record)
    added = contest(record, Add("support", "0", TEXT), model=strong())
    assert added.tree.nodes["0.2"].score("blended") == 0.95
    dropped = contest(record, Drop("s1"), Drop("s2"), Drop("s3"), model=strong())
    assert weights(dropped) == [0.5, 0.45]
    assert dropped.tree.nodes["0.1"].notes == []


def test_an_estimated_claim_is_not_capped(tmp_path: Path) -> None:
    model = strong()
    model.will_say_now(score_claim(0.9))
    record = ART.debate(tmp_path / "runs", model, root_strength="estimated")
    assert record.tree.nodes["0"].score("tau") == 0.9
    assert record.tree.nodes["0"].score("blended") == 0.9
