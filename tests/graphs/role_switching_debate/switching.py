"""A role-switching debate with a scripted model: who says what, and all that came of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from langgraph.graph.state import CompiledStateGraph

from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.models.door import Run
from dialectree.nodes.role_switching_debate.candidates import SameAnswerReply
from dialectree.nodes.role_switching_debate.debater import (
    LocatedError,
    ProposalReply,
    RebuttalReply,
    SwitchReply,
    UncertaintyReply,
)
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply, DistractorReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.role_switching_debate.state import Question, Settings
from dialectree.records import Event
from tests.graphs import debating
from tests.graphs.debating import Debated, Ledger, told
from tests.scripted import Asked, ScriptedModel

QUESTION = "What do cows eat?"
TWO = ("animal products", "plant materials")
THREE = (*TWO, "solar energy")
FIVE = (*THREE, "clay", "sea water")
FIRST, SECOND = "B", "A"
"""Who debates :data:`TWO`, by label, in the order of their turns."""
PERCENT = {FIRST: 80}
"""What a debater discloses; any other one 60."""

Options = Sequence[str]
Say = Callable[[Asked], Any]


def side(call: Asked) -> str:
    """Which debater is asked, by its label; of a proposal nobody can tell from its prompt."""
    found = re.search(r"^You are debater ([A-Z])\.", call.prompt, re.MULTILINE)
    assert found
    return found[1]


def within(call: Asked, tag: str) -> str:
    """What stands in a tag of the prompt; empty where there is none."""
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", call.prompt, re.DOTALL)
    return found[1] if found else ""


def listed(call: Asked, tag: str) -> dict[str, str]:
    """Texts by label, in the order shown."""
    lines = (line.partition(": ") for line in within(call, tag).splitlines())
    return {label: text for label, _, text in lines}


def blocks_of(call: Asked) -> list[str]:
    """``A, proposal``: whose words of which phase the transcript shows, in order."""
    return re.findall(r"^debater ([A-Z], .+)$", within(call, "transcript"), re.MULTILINE)


def propose(call: Asked) -> ProposalReply:
    """The answer held, or the first that is offered; an open question has one answer."""
    answer = within(call, "answer") or next(iter(listed(call, "options").values()), "grass")
    return ProposalReply(answer=answer, argument=f"why {answer[:40]}")


def choose(*answers: str) -> Say:
    """Proposals of several debaters who may choose, in turn; whoever holds an answer keeps it."""
    left = list(answers)

    def choose(call: Asked) -> ProposalReply:
        answer = within(call, "answer") or left.pop(0)
        return ProposalReply(answer=answer, argument=f"why {answer[:40]}")

    return choose


def rebut(call: Asked) -> RebuttalReply:
    """One true quotation of the opponent's argument."""
    proposed = re.findall(r"debater ([A-Z]), proposal\nanswer: .*\nargument: (.*)", call.prompt)
    said = next(argument for label, argument in proposed if label != side(call))
    error = LocatedError(quote=said, fault=f"fault found by {side(call)}")
    return RebuttalReply(errors=[error], defence=f"defence by {side(call)}")


def switch(call: Asked) -> SwitchReply:
    return SwitchReply(argument=f"switch by {side(call)}")


def own_up(call: Asked) -> UncertaintyReply:
    return UncertaintyReply(
        percent=PERCENT.get(side(call), 60),
        unsure_of=f"doubt of {side(call)}",
        would_settle=f"fact for {side(call)}",
    )


def rule(label: str, answer: str, confidence: float | None = 0.8) -> JudgeReply:
    return JudgeReply(rationale="Because.", label=label, answer=answer, confidence=confidence)


def rule_for(answer: str, confidence: float | None = 0.8) -> Say:
    """Rules for ``answer``, or for the first label where nobody holds it."""

    def rule_for(call: Asked) -> JudgeReply:
        shown = listed(call, "candidates")
        label = next((label for label, text in shown.items() if text == answer), min(shown))
        return rule(label, shown[label], confidence)

    return rule_for


def rule_label(label: str) -> Say:
    """Rules for a label whatever was said."""
    return lambda call: rule(label, listed(call, "candidates")[label])


def direct(answer: str) -> DirectReply:
    return DirectReply(reasoning="It is known.", answer=answer)


def debaters(model: ScriptedModel | None = None, winner: str = TWO[1]) -> ScriptedModel:
    """A model that plays every role; the judge rules for ``winner``."""
    model = model or ScriptedModel()
    model.will_say(propose, to=ProposalReply)
    model.will_say(SameAnswerReply(same=False))
    model.will_say(rebut, to=RebuttalReply)
    model.will_say(switch, to=SwitchReply)
    model.will_say(own_up, to=UncertaintyReply)
    model.will_say(rule_for(winner), to=JudgeReply)
    model.will_say(direct(winner))
    model.will_say(lambda call: DistractorReply(label=min(listed(call, "options"))), to=DistractorReply)
    return model


def given(options: Options, gold: str | None = None, question: str = QUESTION) -> Question:
    """What goes into the graph."""
    asked: Question = {"question": question, "options": list(options)}
    if gold is not None:
        asked["gold"] = gold
    return asked


def context(model: ScriptedModel, **settings: Any) -> Settings:
    """Return the settings of a debate without the reply cache."""
    return debating.context(model, Settings, **settings)


async def adecide(
    model: ScriptedModel,
    options: Options = TWO,
    *,
    gold: str | None = None,
    question: str = QUESTION,
    graph: CompiledStateGraph[Any, Any, Any, Any] = graph,
    **settings: Any,
) -> Debated:
    """Decide ``question`` between ``options``; none: openly."""
    ledger, events = Ledger(), list[Event]()
    chosen = context(model, **settings)
    run = Run("run", chosen, ledger)
    ruling: Mapping[str, Any] = {}
    async for kind, data in told(graph, given(options, gold, question), {}, chosen, run):
        if kind == "values":
            ruling = data
        else:
            events.append(Event.model_validate(data))
    await run.land()
    return Debated(ruling, events, ledger.calls)


def decide(model: ScriptedModel, options: Options = TWO, **more: Any) -> Debated:
    """:func:`adecide` to its end."""
    return asyncio.run(adecide(model, options, **more))


class Cost(NamedTuple):
    """Calls in all, and the longest chain of calls where each needs the one before."""

    calls: int
    path: int


def cost(done: Debated) -> Cost:
    return Cost(done.usage.calls, done.usage.critical_path_calls)


def sides(done: Debated, node: str = "0") -> dict[str, str]:
    """Who held which answer at a node, as the record says."""
    turns = done.node(node).transcript
    return {t.speaker: str(t.side) for t in turns if t.phase == "uncertainty"}


def of(model: ScriptedModel, kind: type[Any]) -> list[Asked]:
    """The calls that asked for a ``kind`` of reply, in order."""
    return [call for call in model.calls if call.kind == kind.__name__]


def by(model: ScriptedModel, kind: type[Any], who: str) -> Asked:
    """The one call of a debater in a phase."""
    (call,) = (call for call in of(model, kind) if side(call) == who)
    return call
