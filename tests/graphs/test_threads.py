"""A host asks several questions in one thread: no answer knows anything of the one before it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Interrupt

from dialectree.errors import InputError
from dialectree.nodes.adaptive_reasoning_tree.verifier import ReasonedReply, VerifierReply
from dialectree.nodes.role_switching_debate.debater import ProposalReply
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.tree_of_debate.comparer import ComparisonReply, PaperSummaryReply
from dialectree.nodes.tree_of_debate.persona import ArgumentReply
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.complexity_evaluator import ComplexityReply
from dialectree.nodes.tree_structured_debate.critic import CriticReply
from dialectree.nodes.tree_structured_debate.explorer import ExplorerReply
from dialectree.nodes.tree_structured_debate.leaf_judge import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.picker import PickerReply
from dialectree.protocol import methods
from dialectree.records import Event, Tree, Verdict
from tests.folding import fold
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.debating import context, told
from tests.graphs.role_switching_debate import switching
from tests.graphs.tree_of_debate import comparing
from tests.scripted import Asked, Said, ScriptedModel, no_reply

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Way(NamedTuple):
    """One way of answering, and what it takes beside a question."""

    method: str
    settings: Mapping[str, Any] = MappingProxyType({})
    options: tuple[str, ...] = ()

    def given(self, word: str) -> dict[str, Any]:
        """A question, or a claim, that holds ``word`` like all that belongs to it."""
        more: dict[str, Any] = {}
        if methods()[self.method].protocol.name == "rsd":
            more = {"options": [f"{word} {option}" for option in self.options]}
            if self.settings.get("candidates") == "oracle":
                more["gold"] = "B"
        if methods()[self.method].protocol.name == "art":
            return {"question": f"It was the {word}."}
        if methods()[self.method].protocol.name == "tod":
            papers = [
                {**paper, "title": f"{word} {paper['title']}", "abstract": f"The {word}."}
                for paper in (comparing.PAPER_A, comparing.PAPER_B)
            ]
            return {"question": f"the {word} of orbits", "papers": papers}
        return {"question": f"Was it the {word}?", **more}


SHORT = {"leaf_rounds": 1, "synthesis_rounds": 1}
COMPARED = {"embeddings": "bm25", "segments": 2, "max_claims": 1}
FOUR = ("plants", "meat", "sunlight", "clay")
WAYS = {
    **{name: Way(name) for name in ("two_round", "cot", "two_stage")},
    "tsd": Way("tsd", {**SHORT, "second_pass_below": 0.9}),
    "tsd with rsd": Way("tsd", {**SHORT, "leaf_protocol": "rsd"}),
    "rsd": Way("rsd", {"gate": 2, "candidates": "knockout"}, FOUR[:3]),
    "rsd against a distractor": Way("rsd", {"candidates": "oracle", "distractor": "model"}, FOUR),
    "no_uncertainty": Way("no_uncertainty", {"judge_orders": "both"}, FOUR),
    "self_consistency": Way("self_consistency", {"samples": 3}, FOUR),
    "best_of_n": Way("best_of_n", {"samples": 3}),
    "art": Way("art", {"trees": 2, "root_strength": "estimated"}),
    "tod": Way("tod", {**COMPARED, "max_depth": 2}),
}


class Speakers(ScriptedModel):
    """Plays every role of every method; all that it makes up holds ``word``."""

    word: str
    breaks_at: int = 0
    """The call that raises what ends the run."""
    loses: tuple[int, ...] | None = ()
    """The calls that get no reply; None: all."""

    _number: int = 0

    def _next(self, call: Asked) -> Said:
        self._number += 1
        if self._number == self.breaks_at:
            raise ZeroDivisionError
        if self.loses is None or self._number in self.loses:
            raise no_reply()
        return super()._next(call)


def speakers(word: str, confidence: float = 0.8, **more: Any) -> Speakers:
    model = Speakers(word=word, **more)
    debating.debaters(model=model)
    switching.debaters(model, winner=f"{word} {FOUR[1]}")
    model.will_say_now(lambda call: propose(call, word), to=ProposalReply)
    arguing.arguers(model=model)
    model.will_say_now(debating.rule(f"the {word}", confidence), to=LeafJudgeReply)
    answer = AnswererReply(answer=f"the {word}", explanation=f"{word}!", confidence=confidence)
    model.will_say(answer)
    model.will_say(
        lambda call: PickerReply(rationale=word, number="1", confidence=0.9), to=PickerReply
    )
    model.will_say(ExplorerReply(answer=f"the {word}"), CriticReply(critique=f"Why the {word}?"))
    model.will_say_now(lambda call: direct(call, word, model._number), to=DirectReply)
    model.will_say(VerifierReply(answer="yes"), ReasonedReply(reasoning=word, answer="yes"))
    comparing.personas(1, 1, model)
    model.will_say_now(
        lambda call: comparing.argue(f"the {word}", evidence=comparing.shown_segments(call)[:1]),
        to=ArgumentReply,
    )
    model.will_say_now(PaperSummaryReply(summary=word), ComparisonReply(summary=f"the {word}"))
    model.will_say_now(comparing.summarise(comparing.sentence(f"the {word}", "0.0")))
    return model


def propose(call: Asked, word: str) -> ProposalReply:
    """Of an open question the debaters give the same answer at first."""
    if "<options>" in call.prompt or "<answer>" in call.prompt:
        return switching.propose(call)
    answer = f"not the {word}" if "<taken>" in call.prompt else f"the {word}"
    return ProposalReply(answer=answer, argument=f"why {answer}")


def direct(call: Asked, word: str, number: int) -> DirectReply:
    """Two of the options in turn: a gate lets the debate begin."""
    offered = [*switching.listed(call, "options").values()] or [f"the {word}", f"no {word}"]
    return switching.direct(offered[number % 2])


class Answer(NamedTuple):
    """All that came of one question."""

    verdict: dict[str, Any] | None
    recorded: tuple[Tree, Verdict | None]
    asked: Counter[Asked]
    stops: tuple[Interrupt, ...]


class Thread:
    """A host's thread, in which questions follow one another."""

    def __init__(self, way: Way) -> None:
        chosen = methods()[way.method]
        self.graph = chosen.graph().copy({"checkpointer": InMemorySaver()})
        self.settings, self.kind = way.settings, chosen.protocol.settings

    async def ask(self, model: ScriptedModel, given: Any) -> Answer:
        """One question, or a person's answer, to the end or to where it stops."""
        chosen = context(model, self.kind, **self.settings)
        told_of = [part async for part in told(self.graph, given, CONFIG, chosen)]
        events = [Event.model_validate(data) for kind, data in told_of if kind == "custom"]
        state = await self.graph.aget_state(CONFIG)
        verdict = state.values["verdict"]
        return Answer(verdict, fold(events), Counter(model.calls), state.interrupts)

    async def values(self) -> dict[str, Any]:
        """What a host finds in the thread."""
        state = await self.graph.aget_state(CONFIG)
        return dict(state.values)


ADDED_UP = (
    *("samples", "transcript", "arguments", "scores", "comparisons", "unheard"),
    *("finding", "findings", "certified"),
    *("authors", "debates", "summaries"),
)


@pytest.mark.parametrize("name", WAYS)
def test_a_question_is_answered_as_if_it_were_the_first_of_its_thread(name: str) -> None:
    way = WAYS[name]

    async def one_after_another() -> None:
        thread = Thread(way)

        async def first(**faults: Any) -> int:
            model = speakers("alpha", 0.4, **faults)
            await thread.ask(model, way.given("alpha"))
            return len(model.calls)

        async def second(lost: tuple[int, ...] | None = ()) -> None:
            alone = await Thread(way).ask(speakers("omega", loses=lost), way.given("omega"))
            assert alone.verdict is not None and (lost != () or alone.verdict["answer"])
            model = speakers("omega", loses=lost)
            assert await thread.ask(model, way.given("omega")) == alone
            values = await thread.values()
            assert "alpha" not in str([values.get(name) for name in ADDED_UP])

        calls = await first()
        await second()
        await first()
        await second(lost=None)
        await first(loses=None)
        await second()
        await first(loses=(1,))
        await second(lost=(calls - 1, calls))
        for number in {1, calls}:
            with pytest.raises(ZeroDivisionError):
                await first(breaks_at=number)
            await second()

    asyncio.run(one_after_another())


REFUSED: dict[str, dict[str, Any]] = {
    "rsd": {"question": "Was it the alpha?", "options": ["the alpha"]},
    "art": {"question": "Was it the alpha?"},
    "tod": {"question": "the alpha", "papers": [comparing.PAPER_A, comparing.PAPER_A]},
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_question_that_is_refused_leaves_nothing_behind(name: str) -> None:
    way = WAYS[name]

    async def one_after_another() -> None:
        alone = await Thread(way).ask(speakers("omega"), way.given("omega"))
        thread = Thread(way)
        with pytest.raises(InputError):
            await thread.ask(speakers("alpha"), REFUSED[name])
        assert await thread.ask(speakers("omega"), way.given("omega")) == alone

    asyncio.run(one_after_another())


ASKING = {
    "rsd": Way("rsd", {"judge": "me"}, FOUR[:2]),
    "tsd": Way("tsd", {**SHORT, "ask": True}),
    "tsd with rsd": Way("tsd", {**SHORT, "leaf_protocol": "rsd", "leaf": {"judge": "me"}}),
}


@pytest.mark.parametrize("name", ASKING)
def test_a_question_may_be_asked_while_another_one_waits_for_a_person(name: str) -> None:
    way = ASKING[name]

    def unclear(word: str) -> ScriptedModel:
        model = speakers(word)
        ask = debating.rate_all(0.9, decision="clarify", request=f"Which {word}?")
        usual = model.says(ComplexityReply)
        if name == "tsd":
            model.will_say_now(
                lambda call: (ask if call.round == 1 else usual)(call), to=ComplexityReply
            )
        return model

    async def answered(thread: Thread) -> list[Answer]:
        """The question up to its stops, and on with an answer to each of them."""
        model = unclear("omega")
        stopped = await thread.ask(model, way.given("omega"))
        assert stopped.stops and stopped.verdict is None
        assert "alpha" not in str([stop.value for stop in stopped.stops])
        model.calls.clear()
        replies = {stop.id: "B" for stop in stopped.stops}
        return [stopped, await thread.ask(model, Command(resume=replies))]

    async def one_after_another() -> None:
        alone = await answered(Thread(way))
        thread = Thread(way)
        waiting = await thread.ask(unclear("alpha"), way.given("alpha"))
        assert waiting.stops
        found = await answered(thread)
        assert not {stop.id for stop in waiting.stops} & {stop.id for stop in found[0].stops}
        for one, other in zip(found, alone, strict=True):
            assert (one.recorded, one.asked) == (other.recorded, other.asked)
            assert one.verdict == other.verdict

    asyncio.run(one_after_another())
