"""A debate inside a debate, up to three levels: who speaks where, what it costs, what is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import dialectree
from dialectree.contests import Add, Flip, Replace, Restore, Rule, Set
from dialectree.errors import BudgetReached, InputError, SettingsError
from dialectree.flow.human_input import payload_of
from dialectree.protocols import plugins
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.settings import build_settings
from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from tests.graphs.tree_structured_debate.test_leaf import speakers
from tests.inquiry import Settings, protocol
from tests.inquiry.graph import WeigherReply, graph
from tests.scripted import ScriptedModel

PARTS = ["Is it so?", "Is it not so?"]
DEEP: dict[str, Any] = {"inner": {"tsd": {"leaf_protocol": "rsd", "max_depth": 0}}}
DEEP_CALLS = 2 * (1 + 9 + 1)  # a weigher, a leaf of RSD and a writer for each part
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


@pytest.fixture(autouse=True)
def few_rehearsals() -> None:
    """Rehearse as often as a person's debate is rehearsed."""


@pytest.fixture(autouse=True)
def an_inquiry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The protocol is installed, and roles are known by it."""
    everything = {**load_protocols(), "inquiry": protocol}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (everything, {}))
    yield


def model(winner: str = "Yes") -> ScriptedModel:
    scripted = speakers(winner=winner)
    scripted.will_say(WeigherReply(reason="So.", weight=0.5))
    return scripted


def inquire(scripted: ScriptedModel, **given: Any) -> RunRecord:
    options = {"runs": "runs", "cache": False, **given}
    return dialectree.run("inquiry", "Is all so?", parts=PARTS, model=scripted, **options)


def spoken(record: RunRecord) -> set[tuple[str, str, str]]:
    """Node, protocol and role of every turn."""
    nodes = record.tree.nodes.values()
    return {(node.id, turn.protocol, turn.role) for node in nodes for turn in node.transcript}


def test_three_levels_are_one_run() -> None:
    scripted = model()
    record = inquire(scripted, **DEEP)
    assert record.verdict is not None and record.status == "answered"
    assert record.verdict.answer == "0.0 In the end, this.; 0.1 In the end, this."
    assert record.usage.calls == len(scripted.calls) == DEEP_CALLS
    assert record.usage.critical_path_calls == 1 + 6 + 1
    nodes = record.tree.nodes
    assert (nodes["0"].children, nodes["0"].kind) == (["0.0", "0.1"], "branch")
    assert (nodes["0.0"].text, nodes["0.0"].score("weight")) == (PARTS[0], 0.5)
    roles = {("", "weigher"), *(("rsd", role) for role in ("debater", "judge")), ("tsd", "answer_writer")}
    assert spoken(record) == {(node, *role) for node in ("0.0", "0.1") for role in roles}
    order = [turn.protocol for turn in nodes["0.0"].transcript]
    assert order == ["", *["rsd"] * 9, "tsd"]  # the writer's phase closes
    assert {"debater_a", "judge", "answer_writer", "weigher"} <= {*record.models}
    assert record.settings["inner"] == RunRecord.model_validate(record).settings["inner"]
    folder = RunFolder.find(record.run_id, Path("runs"))
    assert folder.record() == record


def test_a_claim_at_the_third_level_is_argued_about_on_both_sides_at_once() -> None:
    claims = {"inner": {"tsd": {"leaf_protocol": "art", "max_depth": 0}}}
    record = inquire(model(), **claims)
    assert record.usage.calls == 2 * (1 + 5 + 1)
    assert record.usage.critical_path_calls == 1 + 2 + 1
    assert {record.tree.nodes[node].protocol for node in ("0.0", "0.0.1")} == {"art"}
    changed = contest(record, Set("0.0.0", 0.9))
    assert changed.tree.nodes["0.0.0"].score("tau") == 0.9
    flipped = contest(record, Flip("0.0.0", "0.0.1"))
    assert [met.contested for met in flipped.tree.nodes["0.0"].comparisons] == ["flipped"]
    added = contest(record, Add("support", "0.0", "It was seen."))
    assert added.tree.nodes["0.0.2"].text == "It was seen."
    with pytest.raises(InputError, match="neither a claim nor an argument"):
        contest(record, Add("support", "0", "It was seen."))


@pytest.mark.parametrize("by", ["rsd", "art"])
def test_two_protocols_speak_at_one_node(by: str) -> None:
    given = {"by": by}
    record = inquire(model(), **given)
    assert {one for _, one, _ in spoken(record)} == {"", by}
    assert {node.protocol for node in record.tree.nodes.values()} == {"", by}
    assert record.verdict is not None
    assert str(record.verdict.answer).startswith("0.0 Yes" if by == "rsd" else "0.0 True")


def test_a_run_broken_off_inside_pays_nothing_twice() -> None:
    whole = inquire(model(), **DEEP)
    for calls in (1, 4, 12, DEEP_CALLS - 1):
        scripted = model()
        with pytest.raises(BudgetReached) as broken:
            inquire(scripted, max_calls=calls, **DEEP)
        record = dialectree.resume(str(broken.value.run_id), model=scripted, runs="runs")
        assert (record.verdict, record.tree) == (whole.verdict, whole.tree)
        assert len(scripted.calls) == DEEP_CALLS


def test_an_estimate_counts_the_calls_of_debates_inside() -> None:
    for given, calls in ((DEEP, DEEP_CALLS), ({"by": "rsd"}, 2 * 10), ({"by": "none"}, 2)):
        expected = dialectree.estimate(
            "inquiry", "Is all so?", parts=PARTS, model="openai:x", runs="runs", **given
        )
        least, most = expected.expected
        assert least <= calls <= most and most - least <= 4, given


# Strangers' protocols at the leaves of TSD


class Leaf(NamedTuple):
    """Replies by their kind, and what they make of a leaf."""

    replies: Mapping[str, Any]
    answer: str
    calls: int


LEAVES = {
    "majority_debate": Leaf({"AgentReply": {"reasoning": "So.", "label": "A"}}, "Yes", 6),
    "mad": Leaf(
        {
            "Argument": {"argument": "So.", "answer": "Yes"},
            "Moderation": {"rationale": "So.", "decided": True, "answer": "Yes", "confidence": 0.7},
        },
        "Yes",
        3,
    ),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_strangers_protocol_settles_the_leaves_of_tsd(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / name)
    everything = {**load_protocols(), name: import_module(name).protocol}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (everything, {}))
    replies, answer, calls = LEAVES[name]
    scripted = speakers("is it so?", "is it not so?")
    usual = scripted._next
    monkeypatch.setattr(
        ScriptedModel,
        "_next",
        lambda self, call: json.dumps(replies[call.kind]) if call.kind in replies else usual(call),
    )
    options: dict[str, Any] = {"runs": "runs", "cache": False, "leaf_protocol": name}
    record = dialectree.run("tsd", "What is so?", model=scripted, max_depth=1, **options)
    assert record.status == "answered"
    leaves = [record.tree.nodes[node] for node in ("0.0", "0.1")]
    assert {leaf.verdict.answer for leaf in leaves if leaf.verdict} == {answer}
    assert {turn.protocol for leaf in leaves for turn in leaf.transcript} == {name}
    assert record.tree.nodes["0"].provenance == ["0.0", "0.1"]
    assert record.usage.calls == len(scripted.calls) == 3 + 2 * calls + 5 + 1
    if name == "majority_debate":  # its vote is contested by letter or by text
        for said in ("B", "no"):
            ruled = contest(record, Rule("0.1", said), scripted=scripted)
            verdict = ruled.tree.nodes["0.1"].verdict
            assert verdict is not None and (verdict.answer, verdict.confidence) == ("No", None)
        with pytest.raises(InputError, match="give one of A, B"):
            contest(record, Rule("0.1", "C"), scripted=scripted)
    estimated = dialectree.estimate("tsd", "What is so?", model="openai:x", max_depth=1, **options)
    assert estimated.calls.least <= record.usage.calls <= estimated.calls.most


# What is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": "inquiry"}, "inquiry > inquiry: inquiry debates inside itself"),
        ({"inner": {"rsd.judge": "me"}}, "`inner` rsd: with these settings inquiry holds no debate by rsd"),
        ({"inner": {"tsd.breadth": 2}}, "`inner` tsd.breadth: tsd reads no such setting"),
        (
            {"inner": {"tsd": {"leaf_protocol": "inquiry"}}},
            "`inner` tsd: tsd > inquiry > tsd: tsd debates inside itself",
        ),
        (
            {"inner": {"tsd": {"leaf_protocol": "rsd", "inner": {"rsd": {"gat": 1}}}}},
            "`inner` tsd: `inner` rsd.gat: rsd reads no such setting",
        ),
    ],
)
def test_a_debate_inside_that_cannot_be_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        build_settings(Settings, **given)
    assert str(refused.value).startswith(message)


def test_a_question_is_put_to_a_protocol_by_the_fields_of_its_input() -> None:
    put = dialectree.question_for
    assert put("tsd", "Is it?", options=("A", "B"), background=("so",)) == {"question": "Is it?"}
    assert put("rsd", "Is it?", options=("A", "B"), background=("so",)) == {
        "question": "Is it?",
        "options": ["A", "B"],
        "background": ["so"],
    }
    assert put("art", "Is it?") == {"claim": "The answer to the question “Is it?” is yes."}
    assert put("art", "Is it?", claim="It is.") == {"claim": "It is."}
    with pytest.raises(InputError, match=r"^tod cannot answer a question: its input is paper_a"):
        put("tod", "Is it?")
    with pytest.raises(InputError, match=r"^inquiry cannot answer the question without parts"):
        put("inquiry", "Is it?")


def test_an_event_outside_of_a_debate_and_a_protocol_not_declared_are_errors() -> None:
    async def step(runtime: Any, **given: Any) -> None:
        await dialectree.debate(runtime, "rsd", question="Is it?", **given)

    runtime: Any = type("Runtime", (), {"context": build_settings(Settings), "control": None})()
    with pytest.raises(ValueError, match="does not declare a debate by rsd"):
        asyncio.run(step(runtime, node="0.1"))
    with pytest.raises(ValueError, match="outside the debate at 0"):
        asyncio.run(step(runtime, node="1"))


def test_turns_of_two_protocols_at_one_node_can_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = next(one for one in load_protocols()["rsd"].phases if one.ruling or one.labels)
    same = replace(protocol, phases=(*protocol.phases, judge), name="inquiry")
    monkeypatch.setattr(Settings, "declaration", same)

    async def step(node: str) -> None:
        await dialectree.debate(runtime, "rsd", node=node, question="Is it?")

    runtime: Any = type("Runtime", (), {"context": build_settings(Settings, by="rsd"), "control": None})()
    with pytest.raises(ValueError, match=r"both have the role judge .*debate at a part"):
        asyncio.run(step("0"))


# A person inside


JUDGED: dict[str, Any] = {"by": "rsd", "inner": {"rsd": {"judge": "me"}}}


def test_a_person_rules_inside_a_debate() -> None:
    asked: list[str] = []

    async def person(request: Mapping[str, str]) -> str:
        asked.append(request["node"])
        return "B"

    assert build_settings(Settings, **JUDGED).asks() == ["judge"]
    record = inquire(model(), ask=person, **JUDGED)
    assert asked == ["0.0", "0.1"]
    assert record.verdict is not None and record.verdict.answer == "0.0 No; 0.1 No"


def test_debates_side_by_side_that_stop_go_on_in_their_own_state_in_any_order() -> None:
    scripted = model()
    context = build_settings(Settings, model=scripted, cache=False, ask_first=True, **JUDGED)
    thread = graph.copy({"checkpointer": InMemorySaver()})

    async def drive(given: Any) -> Any:
        await thread.ainvoke(given, CONFIG, context=context)
        return await thread.aget_state(CONFIG)

    async def in_the_other_order() -> Any:
        state = await drive({"question": "Is all so?", "parts": PARTS})
        stops = {payload_of(stop.value)["node"]: stop for stop in state.interrupts}
        assert {*stops} == {"0.0", "0.1"}
        for node, part in zip(("0.0", "0.1"), PARTS, strict=True):
            assert payload_of(stops[node].value)["question"] == part
        await drive(Command(resume={stops["0.1"].id: "B"}))
        return await drive(Command(resume={stops["0.0"].id: "A"}))

    state = asyncio.run(in_the_other_order())
    assert state.values["verdict"]["answer"] == "0.0 Yes; 0.1 No"
    by_node = {node: sum(c.node == node for c in scripted.calls) for node in ("0.0", "0.1")}
    debates = {call.node for call in scripted.calls if call.role == "debater"}
    assert debates == {"0.0", "0.1"}
    assert max(by_node.values()) <= 8 + 3  # only what stands before the debate is asked again


# Contests


def contest(record: RunRecord, *changes: Any, scripted: ScriptedModel | None = None) -> RunRecord:
    return dialectree.contest(record, changes, model=scripted or model(), runs="runs")


def test_a_turn_a_verdict_and_a_figure_are_contested_by_their_own_protocol() -> None:
    record = inquire(model(), **DEEP)
    for where in ("0.1/A1", "0.1/weigher", "0.1/answer_writer"):
        changed = contest(record, Replace(where, "Other."))
        back = contest(changed, Restore(where))
        assert (back.verdict, back.usage.calls) == (record.verdict, 0), where
    for said, label in (("B", "B"), ("No", "B"), ("b", "B")):
        ruled = contest(record, Rule("0.1", said))
        assert ruled.tree.nodes["0.1"].transcript[-2].fields["label"] == label
    weighed = contest(record, Set("0.1", 0.25))
    assert weighed.tree.nodes["0.1"].score("weight") == 0.25
    assert weighed.usage.calls == 0
    for change, why in ((Rule("0.1", "C"), "give one of A, B"), (Set("0", 0.5), "0 gets no strength")):
        with pytest.raises(InputError, match=why):
            contest(record, change)


def test_a_verdict_that_no_judge_gave_can_be_set_and_taken_back() -> None:
    record = inquire(model(), **DEEP)
    ruled = contest(record, Rule("0", "So."))
    assert ruled.verdict is not None
    assert (ruled.verdict.answer, ruled.verdict.confidence_source) == ("So.", "person")
    assert contest(ruled, Restore("0")).verdict == record.verdict
    with pytest.raises(InputError, match="nothing to change"):
        contest(ruled, Rule("0", "So."))


def test_a_persons_ruling_inside_a_debate_is_contested() -> None:
    async def person(request: Mapping[str, str]) -> str:
        return "B"

    record = inquire(model(), ask=person, **JUDGED)
    for said in ("A", "Yes"):
        ruled = contest(record, Rule("0.1", said))
        assert ruled.verdict is not None and ruled.verdict.answer == "0.0 No; 0.1 Yes"
        assert contest(ruled, Restore("0.1")).verdict == record.verdict
    with pytest.raises(InputError, match="give one of A, B"):
        contest(record, Rule("0.1", "C"))


def test_a_node_with_figures_of_two_protocols_says_which_is_meant() -> None:
    record = inquire(model(), by="art")
    with pytest.raises(InputError, match=r"several numbers; name one: 0\.1/tau or 0\.1/weight"):
        contest(record, Set("0.1", 0.25))
    changed = contest(record, Set("0.1/weight", 0.25), Set("0.0/tau", 0.9))
    assert changed.tree.nodes["0.1"].score("weight") == 0.25
    assert changed.tree.nodes["0.0"].score("tau") == 0.9
    assert changed.tree.nodes["0.0"].score("weight") == 0.5
    assert changed.usage.calls == 0
