"""A debate in three simultaneous rounds, and a consultancy: one debater alone, then the judge.

Khan et al., Debating with More Persuasive LLMs Leads to More Truthful Answers (arXiv 2402.06782).
docs/decisions/static-debate.md lists our changes.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from statistics import mean
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree import records
from dialectree.answers import ruling as ruled_candidate
from dialectree.answers import shorten_answer, suggest_answers, tokens
from dialectree.errors import InputError
from dialectree.flow import Step
from dialectree.flow.state import Ruling
from dialectree.flow.steps import settle
from dialectree.models.door import CopyCheck, ask
from dialectree.nodes.role_switching_debate import candidates
from dialectree.nodes.role_switching_debate.candidates import assign_sides, make_draw_key, read_from, texts
from dialectree.nodes.role_switching_debate.judge import JudgeReply, by_text
from dialectree.nodes.role_switching_debate.state import (
    SWAPPED,
    Candidate,
    Question,
    RoleSwitchingDebate,
    Settings,
    Side,
    get_opponent,
)
from dialectree.records import Place

ROUNDS, WORDS = 3, 100
"""The number of rounds, and the word limit of a statement."""
PHASE, RULING = "rounds", "weighing"


class Statement(TypedDict):
    """The statement of one debater in one round."""

    side: Side
    round: int
    """From 1."""
    argument: str


class Rounds(RoleSwitchingDebate):
    """A debate about two options, round by round."""

    candidates: dict[Side, Candidate]
    """The answer that each side defends. A consultant is side a."""
    statements: Annotated[list[Statement], operator.add]
    rulings: Annotated[list[dict[str, Any]], operator.add]
    failed: Annotated[bool, operator.or_]


class StatementReply(BaseModel):
    """One round's case for an answer."""

    argument: Annotated[str, Field(min_length=1, max_length=2000)]


def prepare(debate_input: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the question and its options; raise InputError unless two options are debated."""
    prepared = candidates.prepare(debate_input, settings, debated=False)
    count = len(prepared["options"] or [])
    if count != 2 and not settings.uses_gold():
        why = f"this debate is about two options, and there are {count or 'none'}"
        raise InputError(f"`options`: {why}; give two, or in an evaluation `candidates` balanced")
    return prepared


_labelled = candidates.opening(lambda settings: 0, debated=False)


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Draw from the seed the side that defends each of the two options."""
    prepare(state, runtime.context)
    state_update: dict[str, Any] = await _labelled(state, runtime)
    first, second = state_update["options"]
    sides = assign_sides(first, second, runtime.context.seed, *make_draw_key(state["question"]))
    return {**state_update, "candidates": sides}


def statement(side: Side, *, alone: bool = False) -> Step:
    """Return the role that argues in a round, without a look at the opponent's turn of the same round.

    ``alone``: there is no opponent.
    """

    async def statement(state: Rounds, runtime: Runtime[Settings]) -> dict[str, Any]:
        candidate, opponent = state["candidates"][side], state["candidates"][get_opponent(side)]
        round_ = 1 + sum(turn["side"] == side for turn in state["statements"])
        reply = await ask(
            runtime,
            records.Turn(
                node=state["id"],
                phase=PHASE,
                role="debater",
                speaker=side,
                round=round_,
                step=round_,
                side=shorten_answer(candidate["text"]),
                label=candidate["label"],
                called=candidate["label"],
            ),
            "static_debate/debater",
            StatementReply,
            copy_check=CopyCheck(
                [
                    (theirs, argument)
                    for _, theirs, argument in sorted(
                        (past_turn["round"], past_turn["side"] != side, past_turn["argument"])
                        for past_turn in state["statements"]
                    )
                ],
                common=[state["question"], candidate["text"], opponent["text"]],
            ),
            max_tokens=4 * WORDS,
            **_build_prompt_fields(state, "a"),
            label=candidate["label"],
            opponent=None if alone else opponent["label"],
            round=round_,
            rounds=ROUNDS,
            word_limit=WORDS,
        )
        return {"statements": [{"side": side, "round": round_, "argument": reply.argument}]}

    return statement


def judge(*, swapped: bool = False) -> Step:
    """Return the judge, who reads answers and debaters in one of two orders."""

    async def judge(state: Rounds, runtime: Runtime[Settings]) -> dict[str, Any]:
        possible = texts([*state["candidates"].values()])

        def candidate(reply: JudgeReply) -> str | None:
            return ruled_candidate(reply.label, reply.answer, possible)

        def fault(reply: JudgeReply) -> str | None:
            unlike = "answer: it is not the text of the answer that `label` names"
            return unlike if candidate(reply) is None else None

        speaker = SWAPPED if swapped else ""
        reply = await ask(
            runtime,
            Place(node=state["id"], phase=RULING, role="judge", speaker=speaker),
            "static_debate/judge",
            JudgeReply,
            ids={"label": [*possible]},
            suggested=suggest_answers([*possible.values()]),
            check=fault,
            names=candidate,
            by_text=by_text(possible),
            max_tokens=900 + tokens(*possible.values()),
            **_build_prompt_fields(state, "b" if swapped else "a"),
            alone=len({turn["side"] for turn in state["statements"]}) == 1,
        )
        return {"rulings": [reply.model_dump()]}

    return judge


def _build_prompt_fields(state: Rounds, first: Side) -> dict[str, Any]:
    """Return the prompt fields of debaters and judge; in each round ``first`` comes first."""
    statements = sorted(state["statements"], key=lambda turn: (turn["round"], turn["side"] != first))
    return {
        "question": state["question"],
        "background": state["background"],
        "candidates": read_from(first, state["candidates"]),
        "statements": [{"label": state["candidates"][turn["side"]]["label"], **turn} for turn in statements],
    }


async def verdict(state: Rounds, runtime: Runtime[Settings]) -> Ruling:
    """Take the answer with the higher mean probability over both orders; a tie gives no answer.

    A ruling without a confidence, such as a person's, counts as certain.
    """
    if not state["rulings"]:
        return await settle(runtime, None, notes=["no ruling: a person took the rulings out"])
    labels = texts([*state["candidates"].values()])
    rulings, ruled_labels = state["rulings"], {ruling["label"] for ruling in state["rulings"]}
    likely = {label: mean(_probability(ruling, label) for ruling in rulings) for label in labels}
    label = max(likely, key=lambda candidate_label: likely[candidate_label])
    notes = ["position bias: the judge ruled otherwise in the other order"] * (len(ruled_labels) > 1)
    if len(set(likely.values())) == 1:
        notes.append("both answers are equally likely in the mean of both orders")
        return await settle(runtime, None, notes=notes)
    rationales = [ruling["rationale"] for ruling in rulings if ruling["label"] == label]
    return await settle(
        runtime,
        labels[label],
        label=label,
        winner=label,
        rationale="\n".join(rationales),
        confidence=likely[label],
        confidence_source="mean of both orders",
        notes=notes,
    )


def _probability(ruling: Mapping[str, Any], label: str) -> float:
    sure = 1.0 if ruling["confidence"] is None else float(ruling["confidence"])
    return sure if ruling["label"] == label else 1 - sure
