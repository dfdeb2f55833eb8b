"""The debaters of a role-switching debate: propose, cross-examine, switch sides, own up.

RSD, Method, phases I to IV. Sides ``a`` and ``b`` speak from the same prompts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.models.replies import Reply
from dialectree.nodes.answers import match_candidate, same
from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.candidates import (
    LONGEST,
    offered,
    proposed,
    shortened,
    texts,
    tokens,
)
from dialectree.nodes.role_switching_debate.state import (
    Candidate,
    FivePhases,
    Phase,
    Settings,
    Side,
    Turn,
    other,
)
from dialectree.nodes.role_switching_debate.transcript import Block, blocks, written

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


# Phase 1


def proposal(side: Side) -> Step:
    """Phase 1: an answer with its reasons, without a look at the other's."""

    async def proposal(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        return await _propose(state, runtime, side)

    return proposal


async def alternative(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Let b propose again after both proposed the same: the strongest other answer."""
    taken, rejected = proposed(state, "a"), proposed(state, "b")
    step = 1 if state["options"] else 2
    return await _propose(state, runtime, "b", taken=taken, rejected=rejected, step=step)


async def _propose(
    state: FivePhases,
    runtime: Runtime[Settings],
    side: Side,
    *,
    taken: str | None = None,
    rejected: str = "",
    step: int = 0,
) -> dict[str, list[Turn]]:
    """Argue for the assigned candidate, or for an answer of the debater's choice.

    A choice must differ from ``taken``, the other's answer, and from ``rejected``, the debater's
    own first answer, which turned out to be the same.
    """
    own = state["candidates"][side]["text"] if state["assigned"] else None
    options = {} if own else texts(state["options"])
    left = {label: text for label, text in options.items() if taken is None or text != taken}
    possible = [own] if own else [*left.values()]

    def fault(reply: ProposalReply) -> str | None:
        if own:  # whatever the reply calls its answer, the debater keeps its own
            return None
        if options:  # a reply that names the taken option must not be read as one that is left
            meant = match_candidate(reply.answer, options) in left
            return None if meant else f"answer: it does not name one of {', '.join(left)}"
        if taken is not None and (same(reply.answer, taken) or same(reply.answer, rejected)):
            return "answer: it is the one that is taken; propose another"
        return None if any(map(str.isalnum, reply.answer)) else "answer: it is empty"

    reply = await ask(
        runtime,
        _place(state, side, "proposals", step),
        "role_switching_debate/proposal",
        ProposalReply,
        suggested=offered(possible),
        check=fault,
        names=(lambda reply: match_candidate(reply.answer, options)) if options else None,
        max_tokens=900 + tokens(*possible),
        question=state["question"],
        background=state["background"],
        options=left,
        answer=own,
        taken=taken,
    )
    if own:
        _note_other_answer(state, runtime, side, reply.answer)
    label = match_candidate(reply.answer, options) if options else None
    answer = own or (options[label] if label else reply.answer)
    return _turn(side, "proposals", {"argument": reply.argument, "answer": answer})


def _note_other_answer(
    state: FivePhases, runtime: Runtime[Settings], side: Side, answer: str
) -> None:
    """Note that a debater named the other's candidate, for which it does not argue."""
    label = state["candidates"][side]["label"]
    meant = match_candidate(answer, texts([*state["candidates"].values()]))
    if meant not in (None, label):
        note = f"debater {label} named {meant} in its proposal"
        tell(runtime, state["id"], "noted", {"note": note})


# Phases 2 to 4


def rebuttal(side: Side) -> Step:
    """Phase 2: located errors in the opponent's text. In turn, b has read a's rebuttal."""

    async def rebuttal(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        in_turn = settings(runtime, Settings).cross_examination == "in_turn"
        opponents = written(state["turns"], other(side))

        def located(reply: RebuttalReply) -> dict[str, Any]:
            errors = [
                {**error.model_dump(), "occurs": occurs(error.quote, opponents)}
                for error in reply.errors
            ]
            return {"errors": errors, "defence": reply.defence}

        place = _place(state, side, "cross_examination", step=int(in_turn and side == "b"))
        until: Phase = "cross_examination" if in_turn else "proposals"
        transcript = blocks(state, until=until, under_way=True)
        reply = await _ask(state, runtime, place, RebuttalReply, transcript, 1200, told=located)
        return _turn(side, "cross_examination", located(reply))

    return rebuttal


def switch(side: Side) -> Step:
    """Phase 3: the strongest case for what the opponent proposed."""

    async def switch(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        place = _place(state, side, "role_switch", defends=state["candidates"][other(side)])
        transcript = blocks(state, until="cross_examination")
        reply = await _ask(state, runtime, place, SwitchReply, transcript, 800)
        return _turn(side, "role_switch", reply.model_dump())

    return switch


def uncertainty(side: Side) -> Step:
    """Phase 4: how sure a debater is of its first answer, without a look at the other's report."""

    async def uncertainty(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        place, transcript = _place(state, side, "uncertainty"), blocks(state, until="role_switch")
        reply = await _ask(state, runtime, place, UncertaintyReply, transcript, 700)
        return _turn(side, "uncertainty", reply.model_dump())

    return uncertainty


async def _ask(
    state: FivePhases,
    runtime: Runtime[Settings],
    place: Place,
    reply: type[Reply],
    transcript: list[Block],
    max_tokens: int,
    told: Callable[[Reply], dict[str, Any]] | None = None,
) -> Reply:
    """Ask the debater at ``place``, from the prompt of its phase."""
    side: Side = "a" if place.who == "a" else "b"
    own, theirs = state["candidates"][side], state["candidates"][other(side)]
    return await ask(
        runtime,
        place,
        f"role_switching_debate/{place.stage}",
        reply,
        told=told,
        max_tokens=max_tokens,
        question=state["question"],
        background=state["background"],
        label=own["label"],
        own=own["text"],
        opponent=theirs["label"],
        theirs=theirs["text"],
        blocks=transcript,
    )


def _turn(side: Side, phase: Phase, fields: dict[str, Any]) -> dict[str, list[Turn]]:
    """Return the update that a turn leaves."""
    return {"turns": [{"speaker": side, "phase": phase, "fields": fields}]}


def _place(
    state: FivePhases, side: Side, phase: Phase, step: int = 0, defends: Candidate | None = None
) -> Place:
    """Return where a turn belongs, and what its speaker defends there."""
    text: str | None = None
    label: str | None = None
    called = ""
    if own := state["candidates"].get(side):
        called = own["label"]
        text, label = shortened((defends or own)["text"]), (defends or own)["label"]
    elif not state["options"]:  # open answers are A and B
        called = label = side.upper()
    number = _round(state, side)
    return Place(
        state["id"], "debater", phase, step, number, state["take"], side, text, label, called
    )


def _round(state: FivePhases, side: Side) -> int:
    """Return the number of a debater's next turn. In the record no turn replaces another."""
    return 1 + sum(turn["speaker"] == side for turn in state["turns"])
