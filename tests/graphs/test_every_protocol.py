"""What holds of every protocol: interrupted hosts, orders of arrival, errors, roles, budgets.

Its CPU goes into some thousand whole debates of 16 ways, most of it inside LangGraph.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from dialectree.errors import BudgetReached, DialectreeError, DiskFull, InputError, KeyRefused, Unreachable
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.tree_structured_debate.decomposer import ComplexityReply
from dialectree.protocols.protocol import methods
from dialectree.protocols.settings import build_settings
from dialectree.records import Event
from dialectree.retrieval import library
from tests.breaking_off import Crash, Fragile
from tests.contesting import speakers
from tests.folding import fold
from tests.graphs.debating import Debated, adebate, context, rate_all, split, told
from tests.graphs.role_switching_debate.switching import FIVE, TWO, direct
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.scripted import Asked, Said, ScriptedModel, no_reply

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}
PAPERS = {"papers": [PAPER_A, PAPER_B]}


class Way(NamedTuple):
    """A method, its settings, and what it takes beside the question."""

    method: str
    settings: Mapping[str, Any] = MappingProxyType({})
    given: Mapping[str, Any] = MappingProxyType({})

    @property
    def graph(self) -> Any:
        return methods()[self.method].graph()

    def speakers(self, **more: Any) -> Fragile:
        """A model that plays every role; direct answers differ, and one leaf is polar."""
        model = speakers(model=Fragile(**more))
        model.will_say_now(lambda c: direct("AB"[int(c.speaker or 1) % 2]), to=DirectReply)
        if "leaf_protocol" in self.settings:
            model.will_say(split("is it so?", "what of b?"), at="0")
        return model

    def context(self, model: ScriptedModel, **more: Any) -> Any:
        kind = methods()[self.method].protocol.settings
        return context(model, kind, **{**self.settings, **more})

    async def debate(self, model: ScriptedModel, question: str = "It is so.") -> Debated:
        return await adebate(model, question, self.graph, self.given, **self.settings)


SHORT = {"leaf_rounds": 1, "synthesis_rounds": 1}
COMPARED = {"embeddings": "bm25", "segments": 2, "max_claims": 1, "max_depth": 2}
WAYS = {
    "tsd": Way("tsd", {**SHORT, "max_depth": 2, "second_pass_below": 1.0}),
    "tsd with rsd": Way("tsd", {**SHORT, "leaf_protocol": "rsd"}),
    "tsd with art": Way("tsd", {**SHORT, "leaf_protocol": "art", "inner": {"art": {"trees": 2}}}),
    "rsd": Way("rsd", {"gate": 2, "judge_orders": "both"}, {"options": [*FIVE]}),
    "knockout": Way("rsd", {"candidates": "knockout"}, {"options": [*FIVE]}),
    "art": Way("art", {"breadth": 2, "judge_orders": "both", "trees": 2}),
    "deep art": Way("art", {"depth": 2, "root_strength": "estimated"}),
    "tod": Way("tod", COMPARED, PAPERS),
    "no_self_deliberation": Way("no_self_deliberation", COMPARED, PAPERS),
    "two_stage": Way("two_stage", {}, PAPERS),
    "vote": Way("vote_first", {"agree_at": 1.1}, {"options": [*TWO]}),
    "best_of_n": Way("best_of_n"),
    "two_round": Way("two_round"),
    "direct_samples": Way("direct_samples", {"samples": 3}),
    "best_comparison": Way("best_comparison", {"samples": 3}, PAPERS),
    "self_consistency": Way("self_consistency", {"samples": 3}, {"options": [*TWO]}),
}
every = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def some_time(call: Asked) -> float:
    return 0.004 * (crc32(repr(call).encode()) % 997) / 997


@every
def test_which_call_returns_first_never_matters(way: Way) -> None:
    straight = asyncio.run(way.debate(way.speakers()))
    late = way.speakers()
    late.wait = some_time
    shuffled = asyncio.run(way.debate(late))
    assert (shuffled.tree, shuffled.verdict) == (straight.tree, straight.verdict)
    assert shuffled.usage == straight.usage
    assert {call.key for call in shuffled.calls} == {call.key for call in straight.calls}
    assert len({call.key for call in shuffled.calls}) == len(shuffled.calls)


@every
def test_questions_at_once_do_not_mix(way: Way) -> None:
    async def asked(number: int) -> Debated:
        model = way.speakers()
        model.wait = some_time
        return await way.debate(model, f"Number {number} it is.")

    async def at_once() -> list[Debated]:
        return [*await asyncio.gather(*map(asked, range(3)))]

    for number, done in enumerate(asyncio.run(at_once())):
        alone = asyncio.run(way.debate(way.speakers(), f"Number {number} it is."))
        assert (done.tree, done.verdict) == (alone.tree, alone.verdict)


STOPS = {"budget": BudgetReached, "key": KeyRefused("no"), "ours": ZeroDivisionError("ours")}


SHARES = (0.1, 0.5, 0.95)
STOPPED = [
    pytest.param(way, stop, SHARES[(row + column) % 3], id=f"{name}-{stop}")
    for row, (name, way) in enumerate(WAYS.items())
    for column, stop in enumerate(STOPS)
]
"""Each way with each stop and each share; each stop with each share at many ways."""


@pytest.mark.parametrize(("way", "stop", "share"), STOPPED)
def test_a_host_goes_on_where_its_run_stopped_and_pays_no_finished_call_again(
    way: Way, stop: str, share: float, caplog: pytest.LogCaptureFixture
) -> None:
    alone = asyncio.run(way.debate(way.speakers()))
    total = alone.usage.calls
    last, model = max(1, int(total * share)), way.speakers()
    error = STOPS[stop]
    limit = {"max_calls": last} if stop == "budget" else {}
    if isinstance(error, Exception):
        model.fragile_at, model.error = last, error

    async def twice() -> tuple[int, Any]:
        given: Any = {"question": "It is so.", **way.given}
        thread = way.graph.copy({"checkpointer": InMemorySaver()})
        first = way.context(model, concurrency=1, **limit)
        with pytest.raises(error if isinstance(error, type) else type(error)):
            await thread.ainvoke(given, CONFIG, context=first)
        unpaid = len(model.calls) - last + (stop != "budget")
        model.fragile_at = 0
        library.clear()  # a new process has read no paper
        return unpaid, await thread.ainvoke(None, CONFIG, context=way.context(model))

    with caplog.at_level(logging.WARNING, logger="langgraph"):
        unpaid, ruling = asyncio.run(twice())
    assert ruling["verdict"] == alone.ruling["verdict"]
    assert unpaid == 0 or stop != "budget"
    assert len({*model.calls}) == total
    assert len(model.calls) - unpaid - total <= 3  # those whose steps were under way
    warned = [record for record in caplog.records if record.name.startswith("langgraph")]
    assert stop == "ours" or warned == []


class Thread:
    """A host's thread, in which questions follow one another."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.graph = way.graph.copy({"checkpointer": InMemorySaver()})

    async def ask(self, model: ScriptedModel, given: Any) -> tuple[Any, ...]:
        """Return the verdict, the record, the calls and the stops."""
        told_of = [part async for part in told(self.graph, given, CONFIG, self.way.context(model))]
        events = [Event.model_validate(data) for kind, data in told_of if kind == "custom"]
        state = await self.graph.aget_state(CONFIG)
        stops = [stop.value for stop in state.interrupts]
        return state.values["verdict"], fold(events), Counter(model.calls), stops


FIRST = ("answered", "broken off early", "silent", "broken off late", "refused")
FIRST_OF_THREADS = [
    pytest.param(way, [FIRST[row % 5], FIRST[(row + 2) % 5]], id=name)
    for row, (name, way) in enumerate(WAYS.items())
]
"""Each way after two kinds of first questions; each kind before many ways."""


@pytest.mark.parametrize(("way", "first_ones"), FIRST_OF_THREADS)
def test_a_question_is_answered_as_if_it_were_the_first_of_its_thread(
    way: Way, first_ones: list[str]
) -> None:
    first: Any = {"question": "Alpha it was.", **way.given}
    second: Any = {"question": "It is so.", **way.given}

    async def one_after_another() -> None:
        alone = await Thread(way).ask(way.speakers(), second)
        calls = alone[2].total()
        thread = Thread(way)
        for kind in first_ones:
            broken_at = {"broken off early": 1, "broken off late": calls - 1}.get(kind, 0)
            model = way.speakers(fragile_at=broken_at)
            if kind == "silent":
                model.will_always_say(no_reply())
            question = {**first, "question": " "} if kind == "refused" else first
            fails = broken_at > 0 or kind == "refused"
            with pytest.raises((Crash, InputError)) if fails else nullcontext():
                await thread.ask(model, question)
            assert await thread.ask(way.speakers(), second) == alone

    asyncio.run(one_after_another())


ASKING = {
    "rsd": Way("rsd", {"judge": "me"}, {"options": [*TWO]}),
    "tsd": Way("tsd", {**SHORT, "ask": True}),
    "tsd with rsd": Way("tsd", {**SHORT, "leaf_protocol": "rsd", "inner": {"rsd.judge": "me"}}),
}


@pytest.mark.parametrize("way", ASKING.values(), ids=ASKING)
def test_a_question_may_be_asked_while_another_one_waits_for_a_person(way: Way) -> None:
    def unclear() -> ScriptedModel:
        model = way.speakers()
        usual = model.says(ComplexityReply)
        request = rate_all(0.9, decision="clarify", request="Which one?")
        model.will_say_now(
            lambda call: request(call) if "ask" in way.settings and call.round == 1 else usual(call),
            to=ComplexityReply,
        )
        return model

    async def answered(thread: Thread) -> list[Any]:
        """Return what came of a question up to its stops, and of an answer to each of them."""
        stopped = await thread.ask(unclear(), {"question": "It is so.", **way.given})
        state = await thread.graph.aget_state(CONFIG)
        replies = {stop.id: "B" for stop in state.interrupts}
        return [stopped, await thread.ask(unclear(), Command(resume=replies))]

    async def one_after_another() -> None:
        thread = Thread(way)
        *_, stops = await thread.ask(unclear(), {"question": "Alpha it was.", **way.given})
        assert stops
        assert await answered(thread) == await answered(Thread(way))

    asyncio.run(one_after_another())


ENDS = [KeyRefused("no"), Unreachable("gone"), DiskFull("full"), ZeroDivisionError("ours")]


@every
def test_an_error_that_is_no_failure_of_one_part_ends_the_run_wherever_it_strikes(way: Way) -> None:
    total = asyncio.run(way.debate(way.speakers())).usage.calls
    for number, last in enumerate(range(1, total + 1, 1 + total // 4)):
        model = way.speakers(fragile_at=last, error=ENDS[number % len(ENDS)])
        with pytest.raises(type(model.error)) as raised:
            asyncio.run(way.debate(model))
        assert raised.value is model.error or not isinstance(model.error, DialectreeError)


@every
def test_every_role_may_fail_at_once_and_the_run_ends_unresolved(way: Way, fault: Said) -> None:
    model = way.speakers()
    model.will_always_say(fault)
    done = asyncio.run(way.debate(model))
    assert (done.verdict.answer, done.node().status) == (None, "missing")
    assert done.failures != []


ROLES: list[tuple[str, dict[str, Any], str, set[str], int]] = [
    ("tsd", {"max_depth": 0}, "leaf_judge", {"leaf_judge"}, 2),
    ("tsd", {"max_depth": 0}, "leaf_debater_a", {"leaf_debater"}, 2),
    ("tsd", {"max_depth": 0}, "leaf_debater", {"leaf_debater"}, 4),
    ("tsd with rsd", {}, "debater_b", {"debater"}, 8),
    ("tsd with art", {}, "generator", {"supporter", "attacker"}, 4),
    ("rsd", {"gate": 0}, "debater_a", {"debater"}, 4),
    ("rsd", {}, "judge", {"judge"}, 2),
    ("deep art", {}, "evaluator", {"scorer", "pairwise_judge"}, 10),
    ("tod", {"max_depth": 1}, "persona_a", {"persona"}, 8),
    ("tod", {"max_depth": 1}, "moderator", {"moderator"}, 2),
]


@pytest.mark.parametrize(("name", "more", "role", "speaks", "calls"), ROLES)
def test_a_model_for_a_role_or_family_speaks_for_it_alone(
    name: str, more: dict[str, Any], role: str, speaks: set[str], calls: int
) -> None:
    way = WAYS[name]
    everybody, one = way.speakers(), way.speakers()
    settings = {**way.settings, **more, "roles": {role: one}}
    done = asyncio.run(way._replace(settings=settings).debate(everybody))
    assert ({call.role for call in one.calls}, len(one.calls)) == (speaks, calls)
    assert len(everybody.calls) + len(one.calls) == done.usage.calls


@pytest.mark.parametrize(
    ("way", "field", "sizes", "children"),
    [
        (Way("tsd", {"max_nodes": 100}), "max_depth", (1, 2), 4),
        (Way("art", {"breadth": 2}), "depth", (2, 3), 4),
    ],
)
def test_checkpoints_grow_in_step_with_the_tree_and_hold_plain_data(
    way: Way, field: str, sizes: tuple[int, int], children: int, caplog: pytest.LogCaptureFixture
) -> None:
    def stored(depth: int) -> float:
        """Return the bytes of checkpoints and writes for each node of the tree."""
        saver = InMemorySaver()
        thread = way.graph.copy({"checkpointer": saver})
        settings = way.context(speakers(split=children), **{field: depth})
        asyncio.run(thread.ainvoke({"question": "It is so."}, CONFIG, context=settings))
        size = sum(len(blob[1]) for blob in saver.blobs.values())
        size += sum(len(w[2][1]) for writes in saver.writes.values() for w in writes.values())
        return float(size / sum(children**level for level in range(depth + 1)))

    small, large = map(stored, sizes)
    assert large < 1.5 * small
    assert small < 40_000
    assert caplog.records == []


CALLED = {"art": "claim", "tod": "topic"}
NOTHING: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "empty"),
    "null": ({"question": None}, "empty"),
    "what cannot be seen": ({"question": " \n\u200b"}, "empty"),
    "no text": ({"question": ["Why?"]}, "not text"),
}


@pytest.mark.parametrize(("given", "fault"), NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("name", methods())
def test_a_question_that_is_none_is_refused_before_any_call(
    name: str, given: dict[str, Any], fault: str
) -> None:
    chosen, model = methods()[name], ScriptedModel()
    protocol = chosen.protocol.name
    papers = PAPERS if protocol == "tod" else {}
    settings = build_settings(chosen.protocol.settings, model=model)
    with pytest.raises(InputError, match=f"^the {CALLED.get(protocol, 'question')} is {fault}"):
        asyncio.run(chosen.graph().ainvoke({**given, **papers}, context=settings))
    assert model.calls == []
