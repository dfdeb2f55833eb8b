"""The debaters of a role-switching debate: propose, cross-examine, switch sides, own up.

RSD, Method, phases I to IV. Sides ``a`` and ``b`` speak from the same prompts.
"""

from __future__ import annotations

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import match_candidate, same
from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.candidates import (
    LONGEST,
    Candidate,
    Side,
    offered,
    other,
    shortened,
    texts,
    tokens,
)
from dialectree.nodes.role_switching_debate.exchange import (
    Error,
    Exchange,
    Proposal,
    Rebuttal,
    Report,
    Switch,
    blocks,
    proposal_of,
    written,
)
from dialectree.nodes.role_switching_debate.state import Settings

_Text = Annotated[str, Field(min_length=1, max_length=4000)]


class ProposalReply(BaseModel):
    """The reasons for an answer, then the answer."""

    argument: _Text
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]


class LocatedError(BaseModel):
    """One error: the opponent's words, and what is wrong with them."""

    quote: Annotated[str, Field(min_length=1, max_length=1000)]
    fault: Annotated[str, Field(min_length=1, max_length=1000)]


class RebuttalReply(BaseModel):
    """Located errors in the opponent's text, and the defence of one's own."""

    errors: Annotated[list[LocatedError], Field(max_length=4)]
    defence: _Text


class SwitchReply(BaseModel):
    """The strongest case for the opponent's answer."""

    argument: _Text


class UncertaintyReply(BaseModel):
    """What the debater is unsure of, what would settle it, and how sure it is of its own answer."""

    unsure_of: _Text
    would_settle: _Text
    percent: Annotated[int, Field(ge=0, le=100)]


class ToSpeak(Exchange):
    """What a debater reads."""

    id: str
    question: str
    take: int
    background: list[str]
    """What stands around the question, where it is part of a larger inquiry."""
    options: list[Candidate]
    """The answers to choose from; none for an open question."""
    held: bool
    """True where each debater was given its answer."""


class Proposed(TypedDict):
    """What a proposal leaves."""

    proposals: list[Proposal]


class CrossExamined(TypedDict):
    """What a rebuttal leaves."""

    rebuttals: list[Rebuttal]


class Switched(TypedDict):
    """What a switch leaves."""

    switches: list[Switch]


class OwnedUp(TypedDict):
    """What an uncertainty report leaves."""

    reports: list[Report]


def proposal(side: Side) -> Step:
    """Phase 1: an answer with its reasons, without a look at the other's."""

    async def proposal(state: ToSpeak, runtime: Runtime[Settings]) -> Proposed:
        if state["held"]:
            return await _held(state, runtime, side)
        return {"proposals": [await _propose(state, runtime, side)]}

    return proposal


async def alternative(state: ToSpeak, runtime: Runtime[Settings]) -> Proposed:
    """Both proposed the same: b proposes again, the strongest answer that is another one."""
    taken = _answer_of("a", state)
    step = 1 if state["options"] else 2
    mine = _answer_of("b", state)
    return {
        "proposals": [await _propose(state, runtime, "b", taken=taken, rejected=mine, step=step)]
    }


def _answer_of(side: Side, state: ToSpeak) -> str:
    found = proposal_of(state["proposals"], side)
    return found["answer"] if found else ""


async def _held(state: ToSpeak, runtime: Runtime[Settings], side: Side) -> Proposed:
    """The candidate stands; what the reply calls its answer is compared with it and no more."""
    mine = state["candidates"][side]
    reply = await ask(
        runtime,
        _place(state, side, "proposals"),
        "role_switching_debate/proposal",
        ProposalReply,
        suggested=offered([mine["text"]]),
        max_tokens=900 + tokens(mine["text"]),
        question=state["question"],
        background=state["background"],
        options={},
        answer=mine["text"],
        taken=None,
    )
    pair = texts([*state["candidates"].values()])
    meant = match_candidate(reply.answer, pair)
    if meant not in (None, mine["label"]):
        note = f"debater {mine['label']} named {meant} in its proposal"
        tell(runtime, state["id"], "noted", {"note": note})
    said: Proposal = {"side": side, "answer": mine["text"], "argument": reply.argument}
    return {"proposals": [said]}


async def _propose(
    state: ToSpeak,
    runtime: Runtime[Settings],
    side: Side,
    *,
    taken: str | None = None,
    rejected: str = "",
    step: int = 0,
) -> Proposal:
    """A proposal of one's own.

    It must differ from ``taken``, the other's answer, and from ``rejected``, one's own that was
    found to say the same.
    """
    options = texts(state["options"])
    left = {label: text for label, text in options.items() if taken is None or text != taken}

    def wrong(reply: ProposalReply) -> str | None:
        if options:  # what names one that is taken must not be read as one that is left
            meant = match_candidate(reply.answer, options) in left
            return None if meant else f"answer: it does not name one of {', '.join(left)}"
        if taken is not None and (same(reply.answer, taken) or same(reply.answer, rejected)):
            return "answer: it is the one that is taken; propose another"
        return None if any(map(str.isalnum, reply.answer)) else "answer: it is empty"

    place = Place(
        state["id"], "debater", "proposals", step, _turn(state, side), state["take"], side
    )
    if not options:  # open answers are A and B
        place = place._replace(label=side.upper(), called=side.upper())
    reply = await ask(
        runtime,
        place,
        "role_switching_debate/proposal",
        ProposalReply,
        suggested=offered([*left.values()]),
        check=wrong,
        names=(lambda reply: match_candidate(reply.answer, options)) if options else None,
        max_tokens=900 + tokens(*left.values()),
        question=state["question"],
        background=state["background"],
        options=left,
        answer=None,
        taken=taken,
    )
    label = match_candidate(reply.answer, options) if options else None
    answer = options[label] if label else reply.answer
    return {"side": side, "answer": answer, "argument": reply.argument}


def rebuttal(side: Side) -> Step:
    """Phase 2: located errors in the opponent's text. In turn, b has read a's rebuttal."""

    async def rebuttal(state: ToSpeak, runtime: Runtime[Settings]) -> CrossExamined:
        in_turn = settings(runtime, Settings).cross_examination == "in_turn"
        opponents = written(state, other(side))

        def located(reply: RebuttalReply) -> list[Error]:
            return [
                {"quote": e.quote, "fault": e.fault, "occurs": occurs(e.quote, opponents)}
                for e in reply.errors
            ]

        def told(reply: RebuttalReply) -> dict[str, JsonValue]:
            errors: list[JsonValue] = [
                {"quote": e["quote"], "fault": e["fault"], "occurs": e["occurs"]}
                for e in located(reply)
            ]
            return {"errors": errors, "defence": reply.defence}

        reply = await ask(
            runtime,
            _place(state, side, "cross_examination", step=int(in_turn and side == "b")),
            "role_switching_debate/cross_examination",
            RebuttalReply,
            told=told,
            max_tokens=1200,
            question=state["question"],
            background=state["background"],
            label=state["candidates"][side]["label"],
            own=state["candidates"][side]["text"],
            blocks=blocks(
                state,
                until="cross_examination" if in_turn else "proposals",
                under_way=True,
            ),
        )
        said: Rebuttal = {"side": side, "errors": located(reply), "defence": reply.defence}
        return {"rebuttals": [said]}

    return rebuttal


def switch(side: Side) -> Step:
    """Phase 3: the strongest case for what the opponent proposed."""

    async def switch(state: ToSpeak, runtime: Runtime[Settings]) -> Switched:
        theirs = state["candidates"][other(side)]
        reply = await ask(
            runtime,
            _place(state, side, "role_switch", defends=theirs),
            "role_switching_debate/role_switch",
            SwitchReply,
            max_tokens=800,
            question=state["question"],
            background=state["background"],
            label=state["candidates"][side]["label"],
            opponent=theirs["label"],
            theirs=theirs["text"],
            blocks=blocks(state, until="cross_examination"),
        )
        return {"switches": [{"side": side, "argument": reply.argument}]}

    return switch


def uncertainty(side: Side) -> Step:
    """Phase 4: how sure a debater is of its first answer, without a look at the other's report."""

    async def uncertainty(state: ToSpeak, runtime: Runtime[Settings]) -> OwnedUp:
        reply = await ask(
            runtime,
            _place(state, side, "uncertainty"),
            "role_switching_debate/uncertainty",
            UncertaintyReply,
            max_tokens=700,
            question=state["question"],
            background=state["background"],
            label=state["candidates"][side]["label"],
            own=state["candidates"][side]["text"],
            blocks=blocks(state, until="role_switch"),
        )
        report: Report = {
            "side": side,
            "percent": reply.percent,
            "unsure_of": reply.unsure_of,
            "would_settle": reply.would_settle,
        }
        return {"reports": [report]}

    return uncertainty


def _place(
    state: ToSpeak, side: Side, stage: str, step: int = 0, defends: Candidate | None = None
) -> Place:
    """Where a turn belongs, and what its speaker defends there."""
    own = defends or state["candidates"][side]
    turn, take, text = _turn(state, side), state["take"], shortened(own["text"])
    called = state["candidates"][side]["label"]
    return Place(state["id"], "debater", stage, step, turn, take, side, text, own["label"], called)


def _turn(state: ToSpeak, side: Side) -> int:
    """How often the debater has spoken with this turn: in the record no turn replaces another."""
    said = (state["proposals"], state["rebuttals"], state["switches"], state["reports"])
    return 1 + sum(turn["side"] == side for phase in said for turn in phase)
