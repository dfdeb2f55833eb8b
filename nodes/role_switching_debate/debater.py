"""The debaters of a role-switching debate: propose, cross-examine, switch sides, disclose doubts.

RSD, Method, phases I to IV. Sides ``a`` and ``b`` speak from the same prompts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree import records
from dialectree.answers import (
    LONGEST,
    is_same_answer,
    match_candidate,
    shorten_answer,
    suggest_answers,
    tokens,
)
from dialectree.flow import Step
from dialectree.models.door import ByText, CopyCheck, Reply, ask
from dialectree.models.reading import words_under
from dialectree.models.small_models import split_sentences
from dialectree.nodes.quotations import occurs
from dialectree.nodes.role_switching_debate.candidates import find_proposed_answer, read_from, texts
from dialectree.nodes.role_switching_debate.state import (
    FivePhases,
    Phase,
    Settings,
    Side,
    Turn,
    blocks,
    collect_side_text,
    get_opponent,
)
from dialectree.records import Place
from dialectree.trace.events import tell

MOST_SENTENCES = 40
"""The most sentences that a model of medium size may choose a quotation from."""
_Text = Annotated[str, Field(min_length=1, max_length=4000)]


class SwitchReply(BaseModel):
    """The strongest case for the opponent's answer."""

    argument: _Text


class ProposalReply(SwitchReply):
    """The reasons for an answer, then the answer."""

    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]


class LocatedError(BaseModel):
    """One error: the opponent's words, and what is wrong with them."""

    quote: Annotated[str, Field(min_length=1, max_length=1000)]
    fault: Annotated[str, Field(min_length=1, max_length=1000)]


class RebuttalReply(BaseModel):
    """Located errors in the opponent's text, and the defence of one's own."""

    errors: Annotated[list[LocatedError], Field(max_length=4)]
    defence: _Text


class QuotingReply(RebuttalReply):
    """The same by a model of medium size: asked for an empty list or errors, it wrote none."""

    errors: Annotated[list[LocatedError], Field(min_length=1, max_length=2)]


class UncertaintyReply(BaseModel):
    """What the debater is unsure of, what would settle it, and how sure it is of its own answer."""

    unsure_of: _Text
    would_settle: _Text
    percent: Annotated[int, Field(ge=0, le=100)]


def proposal(side: Side, *, again: bool = False) -> Step:
    """Return the role of phase 1: an answer with its reasons, without a look at the opponent's.

    ``again`` is for a debater that proposed its opponent's answer. The debater then argues for the
    strongest answer other than the opponent's and its own first one.
    """

    async def proposal(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        pair = state["candidates"]
        assigned_answer = pair[side]["text"] if state["assigned"] else None
        opponent_answer = find_proposed_answer(state, get_opponent(side)) if again else None
        options = {} if assigned_answer else texts(state["options"])
        remaining_options = {label: text for label, text in options.items() if text != opponent_answer}
        possible = [assigned_answer] if assigned_answer else [*remaining_options.values()]

        def label(reply: ProposalReply) -> str | None:
            return match_candidate(reply.answer, options)

        def fault(reply: ProposalReply) -> str | None:
            if assigned_answer:  # the debater keeps it, even if the reply names another answer
                return None
            if options:
                names = ", ".join(remaining_options)
                return (
                    None if label(reply) in remaining_options else f"answer: it does not name one of {names}"
                )
            if opponent_answer and any(
                is_same_answer(reply.answer, old)
                for old in (opponent_answer, find_proposed_answer(state, side))
            ):
                return "answer: it is the one that is taken; propose another"
            return None if any(map(str.isalnum, reply.answer)) else "answer: it is empty"

        reply = await ask(
            runtime,
            _place(state, side, "proposals", step=again * (1 if options else 2)),
            "role_switching_debate/proposal",
            ProposalReply,
            suggested=suggest_answers(possible),
            check=fault,
            names=label if options else None,
            max_tokens=900 + tokens(*possible),
            question=state["question"],
            background=state["background"],
            options=remaining_options,
            answer=assigned_answer,
            taken=opponent_answer,
        )
        if assigned_answer:
            theirs = pair[get_opponent(side)]["label"]
            if match_candidate(reply.answer, texts([*pair.values()])) == theirs:
                note = f"debater {pair[side]['label']} named {theirs} in its proposal"
                tell(runtime, state["id"], "noted", {"note": note})
        chosen = label(reply)
        answer = assigned_answer or (options[chosen] if chosen else reply.answer)
        fields = {"argument": reply.argument, "answer": answer}
        return {"turns": [{"speaker": side, "phase": "proposals", "fields": fields}]}

    return proposal


def rebuttal(side: Side) -> Step:
    """Return the role of phase 2, which quotes errors in the opponent's text.

    If the debaters speak in turn, b has read a's rebuttal.
    """

    async def rebuttal(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        in_turn = runtime.context.cross_examination == "in_turn"
        until: Phase = "cross_examination" if in_turn else "proposals"
        opponents = collect_side_text(state["turns"], get_opponent(side))
        opponents = "\n¶\n".join([opponents, *words_under(opponents)])

        def check_error_quotes(reply: RebuttalReply) -> dict[str, Any]:
            fields = reply.model_dump()
            for error in fields["errors"]:
                error["occurs"] = occurs(error["quote"], opponents)
            return fields

        place = _place(state, side, "cross_examination", step=int(in_turn and side == "b"))
        texts_said = opponents.split("\n¶\n")
        sentences = dict.fromkeys(s for text in texts_said for s in split_sentences(text))
        sentences.pop(state["candidates"][get_opponent(side)]["text"], None)  # an answer, not an argument
        quoting = ByText[RebuttalReply](
            QuotingReply, {"errors[].quote": [*sentences][:MOST_SENTENCES]}, lambda reply: reply
        )
        return await _speak(
            state,
            runtime,
            place,
            until,
            RebuttalReply,
            1200,
            check_error_quotes,
            by_text=quoting if sentences else None,
            own_words=lambda reply: " ¶ ".join([*(error.fault for error in reply.errors), reply.defence]),
        )

    return rebuttal


def switch(side: Side) -> Step:
    """Return the role of phase 3: the strongest case for the opponent's proposal."""

    async def switch(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        place = _place(state, side, "role_switch")
        return await _speak(state, runtime, place, "cross_examination", SwitchReply, 800)

    return switch


def uncertainty(side: Side) -> Step:
    """Return the role of phase 4: how sure a debater is of its first answer.

    The debater does not see its opponent's report.
    """

    async def uncertainty(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        place = _place(state, side, "uncertainty")
        return await _speak(state, runtime, place, "role_switch", UncertaintyReply, 700)

    return uncertainty


async def _speak(
    state: FivePhases,
    runtime: Runtime[Settings],
    place: Place,
    until: Phase,
    reply: type[Reply],
    max_tokens: int,
    fields: Callable[[Reply], dict[str, Any]] = BaseModel.model_dump,
    *,
    by_text: ByText[Reply] | None = None,
    own_words: Callable[[Any], str] | None = None,
) -> dict[str, list[Turn]]:
    """Return the turn of the debater at ``place``, who reads the transcript up to ``until``.

    The transcript has the order in which the judge reads it, so that the prompts of debaters and judge
    begin alike.
    """
    side: Side = "a" if place.speaker == "a" else "b"
    candidates, first = state["candidates"], state["first"]
    valid = await ask(
        runtime,
        place,
        f"role_switching_debate/{place.phase}",
        reply,
        told=fields,
        by_text=by_text,
        copy_check=CopyCheck(
            _order_texts(
                state["turns"], side, first="a" if runtime.context.cross_examination == "in_turn" else side
            ),
            [state["question"], *state["background"], *texts([*candidates.values()]).values()],
            own_words,
        ),
        max_tokens=max_tokens,
        question=state["question"],
        background=state["background"],
        candidates=read_from(first, candidates),
        blocks=blocks(state, until=until, first=first, under_way=until == place.phase),
        label=candidates[side]["label"],
        opponent=candidates[get_opponent(side)]["label"],
    )
    return {"turns": [{"speaker": side, "phase": place.phase, "fields": fields(valid)}]}


def _order_texts(turns: list[Turn], side: Side, *, first: Side) -> list[tuple[bool, str]]:
    """Return both debaters' texts in order, each with True if the opponent of ``side`` wrote it.

    Both debaters propose at the same time; in the cross-examination ``first`` speaks first.
    """
    phases: list[tuple[Phase, Side]] = [("proposals", side), ("cross_examination", first)]
    return [
        (speaker != side, collect_side_text(turns, speaker, [phase]))
        for phase, begins in phases
        for speaker in (begins, get_opponent(begins))
    ]


def _place(state: FivePhases, side: Side, phase: Phase, step: int = 0) -> Place:
    """Return the place of a turn, with the answer that its speaker defends there."""
    candidate = state["candidates"].get(side)
    defended = state["candidates"].get(get_opponent(side) if phase == "role_switch" else side)
    letter = "" if state["options"] else side.upper()  # open answers are A and B
    return records.Turn(
        node=state["id"],
        phase=phase,
        role="debater",
        speaker=side,
        round=1 + sum(turn["speaker"] == side for turn in state["turns"]),
        step=step,
        side=shorten_answer(defended["text"]) if defended else None,
        label=defended["label"] if defended else letter or None,
        called=candidate["label"] if candidate else letter,
    )
