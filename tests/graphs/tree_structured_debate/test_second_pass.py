"""The second pass: who is heard again, with what facts, and what stands in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Interrupt
from pydantic import BaseModel

from dialectree.flow.human_input import payload_of
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.tree_structured_debate.decomposer import ComplexityReply
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, LeafJudgeReply, OpeningReply
from dialectree.nodes.tree_structured_debate.sides import opener
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisReply
from dialectree.records import Event
from tests.folding import fold
from tests.graphs.debating import QUESTION, Debated, context, debate, debaters, rate, rate_all, rule, told
from tests.scripted import Asked, Said, ScriptedModel, no_reply

FIRST = {"0.0.0": 0.9, "0.0.1": 0.5, "0.1.0": 0.3, "0.1.1": 0.7}
SECOND = 0.95


def doubtful(first: Mapping[str, float] = FIRST) -> ScriptedModel:
    """Return a model for two levels and four leaves; each is sure when it is heard again."""
    model = debaters(2)
    for leaf, confidence in first.items():
        model.will_say(rule(f"first of {leaf}", confidence), at=leaf)
        model.will_say(rule(f"second of {leaf}", SECOND), at=leaf)
    return model


def again(model: ScriptedModel) -> list[tuple[str, str]]:
    """(node, role) of all that was heard in the second pass."""
    return sorted({(call.node, call.role) for call in model.calls if call.take == 2})


def confidences(done: Debated) -> list[tuple[int, Any]]:
    """(pass, confidence) of the root's verdicts."""
    root = done.node()
    return [(v.take, v.confidence) for v in [*root.earlier, *([root.verdict] if root.verdict else [])]]


def test_it_is_off_unless_a_threshold_is_given_and_the_confidence_lies_below_it() -> None:
    for below in (None, 0.0, 0.2, 0.9 * 0.9 * 0.3):
        model = doubtful()
        debate(model, max_depth=2, second_pass_below=below)
        assert again(model) == []


def test_only_the_weakest_leaf_and_its_ancestors_are_heard_again() -> None:
    model = doubtful()
    done = debate(model, max_depth=2, second_pass_below=0.5)
    assert again(model) == [
        ("0", "synthesis_debater"),
        ("0", "synthesis_judge"),
        ("0.1", "synthesis_debater"),
        ("0.1", "synthesis_judge"),
        ("0.1.0", "leaf_debater"),
        ("0.1.0", "leaf_judge"),
    ]
    assert sum(call.take == 2 for call in model.calls) == 7 + 5 + 5
    assert model.asked.count("WriterReply") == 1
    first, second = confidences(done)
    assert first == (1, pytest.approx(0.9 * 0.9 * 0.3))
    assert second == (2, pytest.approx(0.9 * 0.9 * 0.5))  # the weakest is 0.0.1 now
    assert done.verdict.confidence == second[1]


def test_fresh_debaters_are_given_the_other_leaves_answers_as_facts() -> None:
    model = doubtful()
    debate(model, max_depth=2, second_pass_below=0.5)
    turns = [c for c in model.calls if c.take == 2 and c.role == "leaf_debater"]
    facts = "".join(
        f"\n- what of {name}? first of {leaf}"
        for name, leaf in [("aa", "0.0.0"), ("ab", "0.0.1"), ("bb", "0.1.1")]
    )
    assert all(f"<facts>{facts}\n</facts>" in turn.prompt for turn in turns)
    assert "<transcript>" not in turns[0].prompt  # they have not read the first debate
    assert f"1. {QUESTION}\n2. what of b?\n3. what of ba?" in turns[0].prompt
    assert not any("<facts>" in call.prompt for call in model.calls if call.take == 1)


def test_sides_are_drawn_anew_and_so_is_every_seed() -> None:
    changed = 0
    for seed in range(12):
        done = debate(doubtful(), max_depth=2, second_pass_below=0.5, seed=seed)
        first, again = (opener(seed, "0.1.0", take, "what of ba?") for take in (1, 2))
        assert done.spoke("0.1.0", take=2)[0] == again
        changed += first != again
        seeds = [(c.node, c.role, c.speaker, c.take, c.seed) for c in done.calls]
        assert len({s for *_, s in seeds}) == len({s[:4] for s in seeds})
    assert 0 < changed < 12


@pytest.mark.parametrize(
    ("confidences_first", "most", "visited"),
    [(FIRST, 2, {"0.0.1", "0.1.0"}), (FIRST, 100, {*FIRST}), (dict.fromkeys(FIRST, 0.5), 1, {"0.0.0"})],
    ids=["two", "all", "the first of equals"],
)
def test_the_least_confident_leaves_are_visited_as_many_as_asked_for(
    confidences_first: dict[str, float], most: int, visited: set[str]
) -> None:
    model = doubtful(confidences_first)
    debate(model, max_depth=2, second_pass_below=0.99, second_pass_leaves=most)
    assert {node for node, role in again(model) if role == "leaf_judge"} == visited
    merged = {node for node, role in again(model) if role == "synthesis_judge"}
    assert merged == {leaf[:length] for leaf in visited for length in (1, 3)}
    facts = [call.prompt.count("? first of") for call in model.calls if call.take == 2]
    assert facts[0] == 4 - len(visited)


def test_a_tree_of_one_leaf_is_debated_again() -> None:
    model = debaters()
    model.will_say_now(rule("first", 0.4), rule("second", 0.6))
    done = debate(model, max_depth=0, second_pass_below=0.5)
    assert again(model) == [("0", "leaf_debater"), ("0", "leaf_judge")]
    assert done.verdict.confidence == 0.6
    assert "second" in model.prompts[-1]


def test_what_a_leaf_leaves_open_is_still_known_in_the_second_pass() -> None:
    model = doubtful()
    model.will_say(rate(0.9, 0.9, decision="clarify", request="Which year?"), at="0.1")
    model.will_say(rule("first", 0.2), at="0.1")
    model.will_say(rule("second", 0.9), at="0.1")
    done = debate(model, max_depth=2, second_pass_below=0.5)
    turns = [c for c in model.calls if c.take == 2 and c.role.startswith("leaf")]
    assert {turn.node for turn in turns} == {"0.1"}
    assert all("- Which year?" in turn.prompt for turn in turns)
    assert done.verdict.notes == ["The question leaves something open: Which year?"]


@pytest.mark.parametrize("fault", ["not JSON", no_reply()], ids=["no valid reply", "no reply"])
@pytest.mark.parametrize("reply", [OpeningReply, DebaterReply, LeafJudgeReply])
def test_a_leaf_that_fails_leaves_the_first_verdict_standing_and_nothing_is_merged_anew(
    reply: type[BaseModel], fault: Said
) -> None:
    model = doubtful()
    usual = model.says(reply, at="0.1.0")
    model.will_say_now(lambda call: usual(call) if call.take == 1 else fault, to=reply, at="0.1.0")
    done = debate(model, max_depth=2, second_pass_below=0.5)
    assert {node for node, _ in again(model)} == {"0.1.0"}
    leaf = done.node("0.1.0")
    assert leaf.verdict is not None
    assert (leaf.status, leaf.verdict.take) == ("answered", 1)
    assert [node for node, _ in done.failures] == ["0.1.0"]
    assert confidences(done) == [(1, pytest.approx(0.9 * 0.9 * 0.3))]
    assert done.verdict.answer == "In the end, this."


def test_a_merging_that_fails_leaves_the_first_verdict_of_its_node_standing() -> None:
    model = doubtful()
    usual = model.says(SynthesisReply)
    model.will_say_now(
        lambda call: usual(call) if call.take == 1 else no_reply(), to=SynthesisReply, at="0.1"
    )
    done = debate(model, max_depth=2, second_pass_below=0.5)
    assert ("0", "synthesis_debater") not in again(model)
    assert done.node("0.1.0").verdict != done.node("0.1.0").earlier[0]
    assert confidences(done) == [(1, pytest.approx(0.9 * 0.9 * 0.3))]
    assert done.verdict.answer is not None
    stands = ["the second pass came to no verdict here; that of the first pass stands"]
    assert [done.node(name).notes for name in ("0", "0.1", "0.1.0")] == [stands, stands, []]


def test_the_writer_is_given_what_the_standing_verdict_rests_on() -> None:
    model = debaters(2)
    model.will_say(rule("old", 0.3), at="0.1")
    model.will_say(rule("new", 0.95), at="0.1")
    usual = model.says(SynthesisReply)
    model.will_say_now(lambda call: usual(call) if call.take == 1 else no_reply(), to=SynthesisReply, at="0")
    done = debate(model, second_pass_below=0.5)
    leaf, root = done.node("0.1").verdict, done.node().verdict
    assert leaf is not None and root is not None
    assert (leaf.answer, root.take) == ("new", 1)
    writer = model.prompts[-1]
    assert "what of b? old" in writer and "what of b? new" not in writer


MEDICINE = "What is the best medicine?"
REQUEST = "Which illness is meant?"


def unclear(*nodes: str, children: int = 2) -> ScriptedModel:
    """A model that finds the question at each of ``nodes`` unclear, until it is clarified."""
    model = debaters(children)
    usual = model.says(ComplexityReply)
    ask = rate_all(0.9, decision="clarify", request=REQUEST)

    def evaluate(call: Asked) -> Any:
        return ask(call) if call.node in nodes and call.round == 1 else usual(call)

    model.will_say_now(evaluate, to=ComplexityReply)
    return model


class Host:
    """Someone who drives the graph with a checkpointer, and reads what it stops for."""

    def __init__(self, model: ScriptedModel, **settings: Any) -> None:
        self.context = context(model, **{"ask": True, "max_depth": 2, **settings})
        self.graph = graph.copy({"checkpointer": InMemorySaver()})
        self.events: list[Event] = []
        self.verdict: dict[str, Any] | None = None

    async def drive(self, given: Any) -> dict[str, Interrupt]:
        """Go on with the thread; return the stops by node."""
        config: RunnableConfig = {"configurable": {"thread_id": "1"}}
        async for kind, data in told(self.graph, given, config, self.context):
            if kind == "custom":
                self.events.append(Event.model_validate(data))
        state = await self.graph.aget_state(config)
        stops = {payload_of(stop.value)["node"]: stop for stop in state.interrupts}
        self.verdict = state.values.get("verdict")
        return stops


def test_with_an_answer_the_clarified_question_is_split_anew_and_debated() -> None:
    model = unclear("0")
    host = Host(model)

    async def both() -> None:
        stops = await host.drive({"question": MEDICINE})
        request = {"node": "0", "kind": "clarification", "question": MEDICINE, "request": REQUEST}
        assert {node: payload_of(stop.value) for node, stop in stops.items()} == {"0": request}
        assert (len(model.calls), host.verdict) == (3, None)
        await host.drive(Command(resume={stops["0"].id: "  against\nmalaria "}))

    asyncio.run(both())
    tree, verdict = fold(host.events)
    assert len(model.calls) == 3 + 53
    assert tree.nodes["0"].kind == "branch"
    asked = [f"missing: {REQUEST}", f"a person is asked: {REQUEST}"]
    assert tree.nodes["0"].notes == [*asked, "the person answered: against malaria"]
    assert verdict is not None and verdict.notes == []
    clarified = f"{MEDICINE}\n(Clarified by the person who asks: against malaria)"
    later = [c for c in model.calls[3:] if c.role in ("decomposer", "synthesis_judge", "answer_writer")]
    assert later and all(clarified in c.prompt for c in later if c.node == "0")
    speakers = [(turn.speaker, turn.round) for turn in tree.nodes["0"].transcript[:6]]
    expansion = ["decomposer", "decomposition_judge", "complexity_evaluator"]
    assert speakers == [(who, 1) for who in expansion] + [(who, 2) for who in expansion]


@pytest.mark.parametrize("answer", ["", "  \n ", None])
def test_an_empty_answer_leaves_the_question_open(answer: str | None) -> None:
    model = unclear("0")
    host = Host(model)

    async def both() -> None:
        stops = await host.drive({"question": MEDICINE})
        await host.drive(Command(resume={stops["0"].id: answer}))

    asyncio.run(both())
    tree, verdict = fold(host.events)
    assert (tree.nodes["0"].kind, tree.nodes["0"].stopped) == ("leaf", "clarify")
    asked = [f"missing: {REQUEST}", f"a person is asked: {REQUEST}"]
    assert tree.nodes["0"].notes == [*asked, "the person gave no answer"]
    assert verdict is not None
    assert verdict.notes == [f"The question leaves something open: {REQUEST}"]
    assert len(model.calls) == 3 + 7 + 1


def test_the_person_is_asked_once_even_if_the_answer_does_not_help() -> None:
    model = unclear("0")
    model.will_say_now(rate_all(0.9, decision="clarify", request=REQUEST), to=ComplexityReply)
    host = Host(model)

    async def both() -> dict[str, Interrupt]:
        stops = await host.drive({"question": MEDICINE})
        return await host.drive(Command(resume={stops["0"].id: "no idea"}))

    assert asyncio.run(both()) == {}
    assert fold(host.events)[0].nodes["0"].stopped == "clarify"
    assert len(model.calls) == 3 + 3 + 7 + 1


def test_several_branches_ask_at_once_and_no_answer_makes_a_paid_call_again() -> None:
    model = unclear("0.0", "0.1", "0.2", children=3)
    host = Host(model)

    async def one_by_one() -> list[int]:
        stops = await host.drive({"question": MEDICINE})
        assert set(stops) == {"0.0", "0.1", "0.2"}
        paid = [len(model.calls)]
        for node in ("0.1", "0.2", "0.0"):
            assert node in stops
            left = await host.drive(Command(resume={stops[node].id: f"about {node}"}))
            assert set(left) == set(stops) - {node}
            stops = left
            paid.append(len(model.calls))
        return paid

    subtree = 3 + 3 * 7 + 5
    assert asyncio.run(one_by_one()) == [3 + 3 * 3, 12 + subtree, 12 + 2 * subtree, 12 + 3 * subtree + 5 + 1]
    assert len(set(model.calls)) == len(model.calls)
    for node in ("0.0", "0.1", "0.2"):
        said = next(c for c in model.calls if (c.node, c.role, c.round) == (node, "decomposer", 2))
        assert f"(Clarified by the person who asks: about {node})" in said.prompt


def test_safety_asks_above_its_floor_too_and_splits_whatever_the_answer() -> None:
    model = unclear("0")
    host = Host(model, depth_profile="safety")

    async def both() -> None:
        stops = await host.drive({"question": MEDICINE})
        await host.drive(Command(resume={stops["0"].id: ""}))

    asyncio.run(both())
    assert fold(host.events)[0].nodes["0"].kind == "branch"
