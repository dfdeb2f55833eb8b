"""A whole debate with a scripted model: the replies of every role, and all that came of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypeVar

from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.models.door import Run
from dialectree.nodes.tree_structured_debate.answer_writer import WriterReply
from dialectree.nodes.tree_structured_debate.decomposer import (
    ChildReply,
    ComplexityReply,
    DecomposerReply,
    DecompositionJudgeReply,
    Score,
)
from dialectree.nodes.tree_structured_debate.leaf_debater import DebaterReply, LeafJudgeReply, OpeningReply
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.nodes.tree_structured_debate.synthesis_debater import SynthesisJudgeReply, SynthesisReply
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Call, Event, Failure, Node, Tree, Usage, Verdict, usage
from dialectree.records.journal import Journal, Retrievals
from tests.folding import critical_path, fold
from tests.scripted import Asked, Said, ScriptedModel, no_reply

Own = TypeVar("Own", bound=ProtocolSettings, default=Settings)
QUESTION = "What ended the Bronze Age?"


def split(*texts: str, stop: bool = False) -> DecomposerReply:
    """A split into ``texts``."""
    return DecomposerReply(
        canonical_parent="The question, made explicit.",
        children=parts(*texts),
        coverage_justification="Together they suffice.",
        stop=stop,
    )


def parts(*texts: str) -> list[ChildReply]:
    return [ChildReply(qid=f"q{n}", text=text) for n, text in enumerate(texts)]


def part(node: str) -> str:
    """The question at a node, in letters."""
    return f"what of {''.join(chr(97 + int(n)) for n in node.split('.')[1:])}?"


def split_into(count: int) -> Callable[[Asked], DecomposerReply]:
    """A split into ``count`` children whose texts name their place."""
    return lambda call: split(*(part(f"{call.node}.{n}") for n in range(count)))


def approve() -> DecompositionJudgeReply:
    return DecompositionJudgeReply(
        decision="approve", children=[], rationale="Passes all three tests.", confidence=0.9
    )


def revise(*texts: str) -> DecompositionJudgeReply:
    return DecompositionJudgeReply(
        decision="revise", children=parts(*texts), rationale="One was missing.", confidence=0.9
    )


def rate(*difficulties: float, decision: str = "decompose", request: str = "") -> ComplexityReply:
    """Difficulties of the children c1, c2, ... in turn."""
    scores = [Score(qid=f"c{n}", reason="So it is.", difficulty=d) for n, d in enumerate(difficulties, 1)]
    return ComplexityReply.model_validate(
        {"scores": scores, "decision": decision, "clarification_request": request or None}
    )


def rate_all(difficulty: float, **more: str) -> Callable[[Asked], ComplexityReply]:
    """The same difficulty for every child that was shown."""
    return lambda call: rate(*[difficulty] * sum(f"\nc{n}: " in call.prompt for n in range(1, 13)), **more)


def rule(answer: str = "it was this", confidence: float = 0.8, winner: str = "A") -> LeafJudgeReply:
    return LeafJudgeReply.model_validate(
        {"winner": winner, "answer": answer, "rationale": "Because.", "confidence": confidence}
    )


def choose(confidence: float = 0.9, winner: str = "A") -> SynthesisJudgeReply:
    return SynthesisJudgeReply.model_validate(
        {"winner": winner, "answer": "all in all", "rationale": "Fits.", "confidence": confidence}
    )


def write(confidence: float | None = None) -> WriterReply:
    return WriterReply(
        final_answer="In the end, this.", final_confidence=confidence, explanation="For these."
    )


def write_as_given(call: Asked) -> WriterReply:
    """With the confidence that the writer was shown."""
    shown = re.search(r"^Confidence: (0\.\d+|1\.0+)", call.prompt, re.MULTILINE)
    return write(float(shown[1]) if shown else None)


def debaters(children: int = 2, difficulty: float = 0.9, model: ScriptedModel | None = None) -> ScriptedModel:
    """A model that plays every role: questions split into ``children`` of one ``difficulty``."""
    model = model or ScriptedModel()
    model.will_say(split_into(children), to=DecomposerReply)
    model.will_say(approve())
    model.will_say(rate_all(difficulty), to=ComplexityReply)
    model.will_say(OpeningReply(claim="It is so.", support="Facts."))
    model.will_say(DebaterReply(claim="It is not so.", support="Others.", rebuttal="Wrong."))
    model.will_say(rule())
    model.will_say(SynthesisReply(integration="Taken together.", assumptions="None."))
    model.will_say(choose())
    model.will_say(write_as_given, to=WriterReply)
    return model


FAULTS: dict[str, Said] = {"no valid reply": "this is not JSON", "no reply": no_reply()}
"""What a role says, or raises, that fails for good."""


class Ledger(Journal):
    """A journal that is kept in memory."""

    def __init__(self, past: Mapping[str, Call] | None = None) -> None:
        self.past = past or {}
        self.retrievals = Retrievals()
        self.calls: list[Call] = []

    def append(self, call: Call, texts: Mapping[str, str] | None = None) -> None:
        self.calls.append(call)

    def close(self) -> None:
        pass


class Debated(NamedTuple):
    """What came of a debate."""

    ruling: Mapping[str, Any]
    events: list[Event]
    calls: list[Call]

    @property
    def tree(self) -> Tree:
        return fold(self.events)[0]

    @property
    def verdict(self) -> Verdict:
        verdict = fold(self.events)[1]
        assert verdict is not None
        return verdict

    @property
    def usage(self) -> Usage:
        """The sums as a record has them."""
        path = critical_path(self.tree, self.calls)
        return usage(self.calls).model_copy(update={"critical_path_calls": path})

    def node(self, node: str = "0") -> Node:
        return self.tree.nodes[node]

    @property
    def failures(self) -> list[tuple[str, Failure]]:
        return [(node.id, failure) for node in self.tree.nodes.values() for failure in node.failures]

    @property
    def lost(self) -> list[tuple[str, str, str]]:
        """(node, role, name) of every failure."""
        return [(node, failure.role, failure.speaker) for node, failure in self.failures]

    def spoke(self, node: str = "0", take: int = 1) -> list[str]:
        """Who spoke at a node, in the order of the transcript."""
        return [turn.speaker for turn in self.node(node).transcript if turn.take == take]


def context(
    model: ScriptedModel,
    kind: type[Own] = Settings,  # type: ignore[assignment]
    **settings: Any,
) -> Own:
    """Return settings of ``kind``: without the reply cache, and with trees of one level."""
    shape = {"max_depth": 1} if "max_depth" in kind.model_fields else {}
    return build_settings(kind, **{"model": model, "cache": False, **shape, **settings})


async def adebate(
    model: ScriptedModel,
    question: str = QUESTION,
    graph: CompiledStateGraph[Any, Any, Any, Any] = graph,
    given: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Debated:
    """Debate ``question``; at most one level deep unless ``max_depth`` says otherwise.

    ``given`` is what the protocol takes beside it.
    """
    ledger, events = Ledger(), list[Event]()
    chosen = context(model, graph.builder.context_schema or Settings, **settings)
    run = Run("run", chosen, ledger)
    ruling: Mapping[str, Any] = {}
    todo = {"question": question, **(given or {})}
    async for kind, data in told(graph, todo, {}, chosen, run):
        if kind == "values":
            ruling = data
        else:
            events.append(Event.model_validate(data))
    await run.land()
    return Debated(ruling, events, ledger.calls)


def debate(model: ScriptedModel, question: str = QUESTION, **options: Any) -> Debated:
    """:func:`adebate` to its end."""
    return asyncio.run(adebate(model, question, **options))


async def told(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    given: Any,
    config: RunnableConfig,
    chosen: ProtocolSettings,
    run: Run | None = None,
) -> AsyncIterator[tuple[str, Any]]:
    """The events of every level, and the root's values."""
    async for part in graph.astream(
        given,
        config,
        context=chosen,
        control=run,
        stream_mode=["custom", "values"],
        subgraphs=True,
        version="v2",
    ):
        if part["type"] == "custom" or not part["ns"]:
            yield part["type"], part["data"]
