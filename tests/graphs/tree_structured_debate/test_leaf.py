"""A leaf of TSD that another protocol settles: who speaks, what it costs, and what goes upward."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from dialectree.errors import InputError
from dialectree.flow.human_input import payload_of
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply
from dialectree.nodes.role_switching_debate.debater import ProposalReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.protocols.protocol import method
from dialectree.records import Event, RunRecord
from dialectree.report import view
from dialectree.running.runner import RunHandle
from tests import running
from tests.folding import fold
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.debating import QUESTION, context, debate, rate, split, told
from tests.graphs.role_switching_debate import switching
from tests.graphs.role_switching_debate.switching import Cost, cost
from tests.scripted import Asked, Said, ScriptedModel, no_reply

POLAR = "is it so?"
OPEN = "what of b?"
CLAIM = f"The answer to the question “{POLAR}” is yes."
EXPANSION, SYNTHESIS, WRITER = Cost(3, 3), Cost(5, 3), Cost(1, 1)
DEBATE, SWITCHING, ARGUMENTS = Cost(7, 7), Cost(9, 6), Cost(5, 2)
DEBATERS = {"leaf_debater", "leaf_judge"}
SWITCHERS = {"debater", "judge"}
ME = {"rsd": {"judge": "me"}}
ARGUERS = {"supporter", "attacker", "scorer", "pairwise_judge"}
CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


def speakers(*children: str, model: ScriptedModel | None = None, winner: str = "Yes") -> ScriptedModel:
    """Plays every role: the question splits into ``children``, and Yes wins what is polar."""
    model = model or ScriptedModel()
    debating.debaters(model=model)
    switching.debaters(model, winner=winner)
    arguing.arguers(model=model)
    model.will_say_now(propose, to=ProposalReply)
    if children:
        model.will_say(split(*children), at="0")
    return model


def propose(call: Asked) -> ProposalReply:
    """What is held; of an open question each debater has an answer of its own."""
    if "<answer>" in call.prompt:
        return switching.propose(call)
    answer = "sand" if "<taken>" in call.prompt else f"grass {call.node}{call.take}"
    return ProposalReply(answer=answer, argument="why")


def differ(model: ScriptedModel) -> ScriptedModel:
    """The two debaters of an open question never give the same words."""
    number = iter(range(1000))

    def say(call: Asked) -> ProposalReply:
        if "<answer>" in call.prompt:
            return switching.propose(call)
        return ProposalReply(answer=f"grass number {next(number)}", argument="why")

    model.will_say_now(say, to=ProposalReply)
    return model


def roles(model: ScriptedModel, node: str, take: int = 1) -> set[str]:
    """Who was heard at a leaf and below it, in one pass."""
    here = (c for c in model.calls if f"{c.node}.".startswith(f"{node}.") and c.take == take)
    return {call.role for call in here}


def total(*leaves: Cost) -> Cost:
    """A root that splits once into ``leaves``."""
    parts = (EXPANSION, SYNTHESIS, WRITER)
    return Cost(
        sum(part.calls for part in (*parts, *leaves)),
        sum(part.path for part in parts) + max(leaf.path for leaf in leaves),
    )


def finding(model: ScriptedModel) -> str:
    """What the synthesis judge is shown of the parts."""
    judge = next(call for call in model.calls if call.role == "synthesis_judge")
    return switching.within(judge, "children")


# Who settles which leaf, and at what cost


@pytest.mark.parametrize(
    ("protocol", "polar", "other"),
    [("debate", DEBATERS, DEBATERS), ("rsd", SWITCHERS, SWITCHERS), ("art", ARGUERS, DEBATERS)],
)
def test_the_setting_says_who_settles_a_leaf_and_a_tree_of_arguments_needs_a_claim(
    protocol: str, polar: set[str], other: set[str]
) -> None:
    model = speakers(POLAR, OPEN)
    done = debate(model, leaf_protocol=protocol)
    assert (roles(model, "0.0"), roles(model, "0.1")) == (polar, other)
    assert done.verdict.answer == "In the end, this."
    assert (done.node("0").provenance, done.failures) == (["0.0", "0.1"], [])


@pytest.mark.parametrize(
    ("protocol", "children", "expected"),
    [
        ("rsd", (POLAR, POLAR), total(SWITCHING, SWITCHING)),
        ("rsd", (POLAR, OPEN), total(SWITCHING, Cost(10, 7))),
        ("art", (POLAR, POLAR), total(ARGUMENTS, ARGUMENTS)),
        ("art", (POLAR, OPEN), total(ARGUMENTS, DEBATE)),
    ],
)
def test_a_tree_costs_what_its_leaves_do(protocol: str, children: tuple[str, ...], expected: Cost) -> None:
    assert cost(debate(speakers(*children), leaf_protocol=protocol)) == expected


def test_a_question_that_is_a_leaf_itself_is_settled_by_the_protocol_too() -> None:
    for protocol, leaf in (("rsd", SWITCHING), ("art", ARGUMENTS)):
        done = debate(speakers(), "Is it so?", leaf_protocol=protocol, max_depth=0)
        assert cost(done) == Cost(leaf.calls + 1, leaf.path + 1)
        assert done.node().provenance == ["0"]
        assert done.verdict.answer == "In the end, this."


# What the debaters of a leaf know of the whole


def test_switching_debaters_and_their_judge_know_where_their_question_stands() -> None:
    model = speakers(POLAR, OPEN)
    model.will_say(rate(0.9, 0.9, decision="clarify", request="Which year?"), at="0.0")
    debate(model, leaf_protocol="rsd", max_depth=2)
    leaf = [c for c in model.calls if c.node == "0.0" and c.role in SWITCHERS]
    assert len(leaf) == 9
    expected = f"- This is part of a larger question: {QUESTION}\n- Left open by the question: Which year?"
    assert {switching.within(call, "background") for call in leaf} == {expected}
    deeper = next(c for c in model.calls if c.node == "0.1.0" and c.role == "judge")
    assert switching.within(deeper, "background") == (
        f"- This is part of a larger question: {QUESTION}\n- This is part of a larger question: {OPEN}"
    )


def test_a_judge_of_a_polar_leaf_chooses_between_yes_and_no_and_sides_are_drawn() -> None:
    first: set[str] = set()
    for seed in range(4):
        model = speakers(POLAR, POLAR)
        done = debate(model, leaf_protocol="rsd", seed=seed)
        for call in switching.of(model, JudgeReply):
            assert sorted(switching.listed(call, "candidates").items()) == [("A", "Yes"), ("B", "No")]
        held = switching.sides(done, "0.0")
        assert {*held.values()} == {"Yes", "No"}
        first.add(held["a"])
        verdict = done.node("0.0").verdict
        assert verdict is not None and (verdict.winner, verdict.answer) == ("A", "Yes")
    assert first == {"Yes", "No"}


def test_arguers_argue_about_the_claim_that_the_answer_is_yes() -> None:
    model = speakers(POLAR, OPEN)
    done = debate(model, leaf_protocol="art")
    arguers = [call for call in model.calls if call.role in ("supporter", "attacker")]
    assert {switching.within(call, "parent") for call in arguers} == {CLAIM}
    assert done.node("0.0").text == POLAR
    assert f"verified as a claim: {CLAIM}" in done.node("0.0").notes


# What goes upward


@pytest.mark.parametrize(
    ("confidence", "shown", "whole"), [(0.6, "0.60", pytest.approx(0.9 * 0.6)), (None, "unknown", None)]
)
def test_a_leaf_that_switching_debaters_settle_is_as_sure_as_their_judge(
    confidence: float | None, shown: str, whole: float | None
) -> None:
    model = speakers(POLAR, POLAR)
    model.will_say(switching.rule_for("No", confidence), to=JudgeReply, at="0.1")
    done = debate(model, leaf_protocol="rsd")
    verdicts = [v for leaf in ("0.0", "0.1") if (v := done.node(leaf).verdict)]
    assert [(v.answer, v.confidence) for v in verdicts] == [("Yes", 0.8), ("No", confidence)]
    assert done.verdict.confidence == whole
    assert f"answer: No\nconfidence: {shown}\nreasons: Because." in finding(model)


@pytest.mark.parametrize(
    ("winner", "answer", "confidence"), [("SUPPORT", "Yes", 0.75), ("ATTACK", "No", 0.75), ("TIE", "No", 0.5)]
)
def test_a_leaf_is_as_sure_as_the_answer_of_its_argument_tree_is_probable(
    winner: str, answer: str, confidence: float
) -> None:
    model = speakers(POLAR, OPEN)
    model.will_say_now(arguing.compare(winner))
    done = debate(model, leaf_protocol="art")
    leaf = done.node("0.0")
    probability = confidence if answer == "Yes" else 1 - confidence
    assert leaf.score("strength") == pytest.approx(probability)
    assert leaf.verdict is not None
    assert (leaf.verdict.answer, leaf.verdict.take) == (answer, 1)
    assert leaf.verdict.confidence == leaf.verdict.local_confidence == pytest.approx(confidence)
    assert (leaf.status, leaf.provenance, leaf.earlier) == ("answered", ["0.0"], [])
    assert done.verdict.confidence == pytest.approx(0.9 * confidence)
    assert f"answer: {answer}\nconfidence: {confidence:.2f}\n" in finding(model)
    undecided = "undecided: P(claim) is exactly 0.5" in leaf.notes
    assert undecided == (winner == "TIE")


# What fails


LOST: list[tuple[str, type[BaseModel], str]] = [
    ("rsd", ProposalReply, "0.0"),
    ("rsd", JudgeReply, "0.0"),
    ("art", ArgumentsReply, "0.0"),
]


@pytest.mark.parametrize("fault", ["not JSON", no_reply()], ids=["no valid reply", "no reply"])
@pytest.mark.parametrize(("protocol", "reply", "node"), LOST)
def test_a_leaf_without_a_part_that_its_protocol_needs_is_missing_and_the_run_degraded(
    protocol: str, reply: type[BaseModel], node: str, fault: Said, tmp_path: Path
) -> None:
    model = speakers(POLAR, OPEN)
    model.will_say_now(fault, to=reply, at=node)
    record = conducted(begin(model, tmp_path, protocol))
    assert (record.status, record.verdict and record.verdict.answer) == ("degraded", "In the end, this.")
    leaf = record.tree.nodes["0.0"]
    assert (leaf.status, leaf.verdict, leaf.provenance) == ("missing", None, [])
    assert {failed for failed, _ in record.list_failures()} == {node}
    assert record.tree.nodes["0"].provenance == ["0.1"]
    assert f"0.0: {POLAR}\nno answer: this part could not be settled" in finding(model)


def test_one_leaf_that_is_not_resolved_degrades_the_run_though_nothing_failed(tmp_path: Path) -> None:
    model = speakers(POLAR, POLAR)
    model.will_say(switching.rule("uncertain", "uncertain"), at="0.1")
    record = conducted(begin(model, tmp_path, "rsd", inner={"rsd": {"allow_uncertain": True}}))
    assert (record.status, record.list_failures()) == ("degraded", [])
    assert record.tree.nodes["0.1"].status == "missing"
    assert "the judge ruled that neither side convinced" in record.tree.nodes["0.1"].notes


# The second pass


def doubtful(*children: str) -> ScriptedModel:
    """The first leaf is unsure in the first pass."""
    model = speakers(*children)
    sure, unsure = switching.rule_for("Yes", 0.95), switching.rule_for("No", 0.3)
    model.will_say_now(lambda call: (unsure if call.take == 1 else sure)(call), to=JudgeReply, at="0.0")
    model.will_say(debating.rule("debated", 0.95), at="0.0")
    model.will_say_now(arguing.compare("TIE"))
    return model


def test_a_second_pass_holds_a_new_role_switching_debate() -> None:
    model = doubtful(POLAR, POLAR)
    done = debate(model, leaf_protocol="rsd", second_pass_below=0.5)
    first, second = ([c for c in model.calls if c.node == "0.0" and c.take == t] for t in (1, 2))
    assert (len(first), len(second), roles(model, "0.0", 2)) == (9, 9, SWITCHERS)
    facts = f"- Settled elsewhere in the same inquiry: {POLAR} Yes"
    assert all(facts in call.prompt for call in second)
    assert not any(facts in call.prompt for call in first)
    assert roles(model, "0.1", 2) == set()
    leaf = done.node("0.0")
    assert leaf.verdict is not None
    assert [(v.answer, v.take) for v in leaf.earlier] == [("No", 1)]
    assert (leaf.verdict.answer, leaf.verdict.take) == ("Yes", 2)
    assert len(leaf.transcript) == 18
    seeds = [{c.seed for c in done.calls if c.node == "0.0" and c.take == t} for t in (1, 2)]
    assert seeds[0].isdisjoint(seeds[1])
    plain = cost(debate(doubtful(POLAR, POLAR), leaf_protocol="rsd"))
    assert cost(done) == Cost(plain.calls + 9 + 5, plain.path + 6 + 3)


def test_a_second_pass_debates_a_leaf_that_had_an_argument_tree() -> None:
    model = doubtful(POLAR, OPEN)
    done = debate(model, leaf_protocol="art", second_pass_below=0.6)
    assert (roles(model, "0.0", 1), roles(model, "0.0", 2)) == (ARGUERS, DEBATERS)
    leaf = done.node("0.0")
    assert leaf.verdict is not None
    assert [(v.answer, v.confidence) for v in leaf.earlier] == [("No", 0.5)]
    assert (leaf.verdict.answer, leaf.verdict.take) == ("debated", 2)
    assert (leaf.score("strength"), leaf.kind, leaf.children) == (0.5, "claim", ["0.0.0", "0.0.1"])
    plain = cost(debate(doubtful(POLAR, OPEN), leaf_protocol="art"))
    assert cost(done) == Cost(plain.calls + 7 + 5, plain.path + 7 + 3)


# The record


def begin(model: ScriptedModel, runs: Path, protocol: str, **settings: Any) -> RunHandle:
    given = {"model": model, "max_depth": 1, "leaf_protocol": protocol, **settings}
    return running.begin("tsd", QUESTION, runs, **given)


def conducted(run: RunHandle, **more: Any) -> RunRecord:
    return asyncio.run(run.conduct(**more))


def test_the_record_shows_both_protocols(tmp_path: Path) -> None:
    run = begin(speakers(POLAR, OPEN), tmp_path, "art", inner={"art": {"trees": 2, "depth": 2}})
    record = conducted(run)
    assert record.status == "answered"
    kinds = {node.id: node.kind for node in record.tree.nodes.values()}
    assert (kinds["0"], kinds["0.0"], kinds["0.1"]) == ("branch", "claim", "leaf")
    below = [name for name in kinds if name.startswith("0.0.")]
    assert {name: kinds[name] for name in below if name.count(".") == 2} == {
        "0.0.0": "claim",
        "0.0.1": "claim",
    }
    assert {kinds[name] for name in below if name.count(".") > 2} == {"argument"}
    assert len(below) == 2 * (1 + 2 + 4)
    assert all(name in record.tree.nodes[str(record.tree.nodes[name].parent)].children for name in below)
    inner: Any = record.settings["inner"]
    leaf = inner["art"]
    assert (leaf["depth"], leaf["trees"]) == (2, 2) and "depth" not in record.settings
    assert view.settings(record)["art.trees"] == "2"
    assert {name.partition("/")[0] for name in record.prompts} == {
        "adaptive_reasoning_tree",
        "tree_structured_debate",
    }
    usage = record.usage
    assert Cost(usage.calls, usage.critical_path_calls) == total(Cost(30, 3), DEBATE)
    assert RunRecord.read((run.folder.path / "run.json").read_text()) == record


# Roles and settings


@pytest.mark.parametrize(("protocol", "role"), [("debate", "debater"), ("rsd", "scorer"), ("art", "judge")])
def test_a_role_of_another_protocol_is_refused(protocol: str, role: str) -> None:
    given = {"leaf_protocol": protocol, "roles": {role: speakers()}}
    with pytest.raises(InputError, match=f"`roles` {role}: tsd has no such role"):
        method("tsd").configure(given, print)


# A person as the judge


class Host:
    """Someone with a checkpointer, who answers what the graph stops for."""

    def __init__(self, model: ScriptedModel, **settings: Any) -> None:
        given = {"leaf_protocol": "rsd", "inner": ME, **settings}
        self.context = context(model, **given)
        self.graph = graph.copy({"checkpointer": InMemorySaver()})
        self.events: list[Event] = []
        self.verdict: dict[str, Any] | None = None

    async def drive(self, given: Any) -> dict[str, Any]:
        """On to the next stop or the end; the stops by node."""
        async for kind, data in told(self.graph, given, CONFIG, self.context):
            if kind == "custom":
                self.events.append(Event.model_validate(data))
        state = await self.graph.aget_state(CONFIG)
        self.verdict = state.values.get("verdict")
        return {payload_of(stop.value)["node"]: stop for stop in state.interrupts}


def test_several_leaves_ask_their_person_at_once_and_are_answered_one_by_one() -> None:
    model = differ(speakers(POLAR, OPEN, POLAR))
    host = Host(model)

    async def one_by_one() -> list[int]:
        stops = await host.drive({"question": QUESTION})
        assert {*stops} == {"0.0", "0.1", "0.2"}
        for node, stop in stops.items():
            shown = payload_of(stop.value)
            assert (shown["kind"], node in ("0.0", "0.2")) == ("judge", "Yes" in shown["transcript"])
            assert "confidence in its own answer" in shown["transcript"]
        paid = [len(model.calls)]
        for node, label in (("0.1", "A"), ("0.2", "Z"), ("0.2", {"label": "B"}), ("0.0", "A")):
            left = await host.drive(Command(resume={stops[node].id: label}))
            assert {*stops} - {*left} == ({node} if label != "Z" else set())
            stops = left
            paid.append(len(model.calls))
        return paid

    leaves = 3 + 8 + 9 + 8
    assert asyncio.run(one_by_one()) == [leaves] * 4 + [leaves + 5 + 1]
    nodes = fold(host.events)[0].nodes
    answers = {leaf: v.answer for leaf in ("0.0", "0.1", "0.2") if (v := nodes[leaf].verdict)}
    assert (answers["0.0"], answers["0.2"]) == ("Yes", "No")
    assert re.match(r"grass number \d", str(answers["0.1"]))
    assert host.verdict is not None and host.verdict["confidence"] is None


def test_a_leaf_whose_person_says_nothing_is_missing(tmp_path: Path) -> None:
    async def person(request: Mapping[str, str]) -> str:
        return "A" if request["node"] == "0.0" else ""

    record = conducted(begin(speakers(POLAR, POLAR), tmp_path, "rsd", inner=ME), ask=person)
    assert (record.status, record.tree.nodes["0.1"].status) == ("degraded", "missing")
    assert "the person gave no ruling" in record.tree.nodes["0.1"].notes
