"""The leaves: A and B defend opposing answers turn by turn, and a judge rules.

Alternatively another protocol debates the leaf, and its verdict becomes a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.flow.debate import debate
from dialectree.flow.jury import count, jury
from dialectree.models.door import ByText, CopyCheck, ask
from dialectree.models.reading import NO_EVIDENCE, WITHOUT, without_evidence
from dialectree.models.run import run_of
from dialectree.nodes.tree_structured_debate.findings import make_finding, missing, settle
from dialectree.nodes.tree_structured_debate.sides import (
    CHOSEN,
    Debater,
    Side,
    is_polar,
    names_another,
    says_otherwise,
    side,
)
from dialectree.nodes.tree_structured_debate.state import Debated, Judged, LeafDebate, Settings, Statement
from dialectree.nodes.tree_structured_debate.tree import turn_tokens, words
from dialectree.protocols.protocol import WITHDRAWN
from dialectree.protocols.questions import question_for
from dialectree.records import Place, Turn
from dialectree.text import figure
from dialectree.trace.events import tell

_Text = Annotated[str, Field(min_length=1, max_length=1600)]


class OpeningReply(BaseModel):
    """The very first turn: there is nothing to rebut yet."""

    claim: _Text
    support: _Text


class DebaterReply(OpeningReply):
    """Every later turn."""

    rebuttal: _Text


def leaf_debater(name: Debater) -> Step:
    """Return debater ``name``, who defends the side that the question and the draw give it.

    A debater who chooses its answer must keep to its first claim in later rounds.
    """

    async def leaf_debater(state: LeafDebate, runtime: Runtime[Settings]) -> dict[str, list[Statement]]:
        context, transcript = runtime.context, state["transcript"]
        node, take, question = state["id"], state["take"], state["question"]
        round_, limit = len(transcript) // 2 + 1, turn_tokens(state["depth"])
        defends = side(context.seed, node, take, question, name)
        claims = [turn["claim"] for turn in transcript if turn["debater"] == name]
        binding = [claim for claim in claims if claim != WITHDRAWN and defends in CHOSEN]
        reply = await ask(
            runtime,
            Turn(
                node=node,
                phase="debate",
                role="leaf_debater",
                speaker=name,
                round=round_,
                step=len(transcript),
                take=take,
                side=defends,
            ),
            "tree_structured_debate/leaf_debater",
            DebaterReply if transcript else OpeningReply,
            copy_check=CopyCheck(
                [(turn["debater"] != name, statement_text(turn)) for turn in transcript],
                common=[question, *state["facts"]],
            ),
            max_tokens=4 * limit,
            who=name,
            side=defends,
            opening=not transcript,
            question=question,
            path=state["path"],
            facts=state["facts"],
            unclear=state["unclear"],
            transcript=transcript,
            first_claim=binding[0] if binding else None,
            word_limit=words(limit),
            round=round_,
            rounds=context.leaf_rounds,
        )
        statement: Statement = {
            "debater": name,
            "round": round_,
            "claim": reply.claim,
            "support": reply.support,
            "rebuttal": reply.rebuttal if isinstance(reply, DebaterReply) else "",
        }
        return {"transcript": [statement]}

    return leaf_debater


def statement_text(statement: Statement) -> str:
    """Return the words of a turn in a leaf's debate."""
    return " ¶ ".join([statement["claim"], statement["support"], statement["rebuttal"]])


class LeafJudgeReply(BaseModel):
    """A ruling on a leaf debate."""

    rationale: Annotated[str, Field(max_length=2000)]
    winner: Literal["A", "B"]
    answer: Annotated[str, Field(min_length=1, max_length=2000)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class NamedClaim(BaseModel):
    """A ruling by a model of medium size, which names a claim and no letter."""

    rationale: Annotated[str, Field(max_length=2000)]
    claim: Annotated[str, Field(min_length=1, max_length=1600)]
    confidence: Annotated[float, Field(ge=0, le=1)]


def by_text(claims: Mapping[str, str], sides: Mapping[str, Side]) -> ByText[LeafJudgeReply] | None:
    """Return the reply in which a model of medium size names the winning claim by its text.

    None without two distinct claims. Asked for a letter, a model of medium size chose A in 12 of 12
    debates, right or wrong.
    """
    names = {claim: name for name, claim in claims.items()}
    if len(names) < 2:
        return None

    def read(ruling: NamedClaim) -> LeafJudgeReply:
        name: Any = names[ruling.claim]
        word = {"YES": "Yes", "NO": "No"}.get(sides[name], "")
        begins_so = normal(ruling.claim).startswith(word.lower())
        return LeafJudgeReply(
            rationale=ruling.rationale,
            winner=name,
            answer=ruling.claim if begins_so else f"{word}: {ruling.claim}",
            confidence=ruling.confidence,
        )

    return ByText(NamedClaim, {"claim": [*names]}, read)


def last_claims(transcript: list[Statement]) -> dict[str, str]:
    """Return each debater's last claim; a withdrawn turn counts only if it is the first."""
    last: dict[str, str] = {}
    for turn in transcript:
        if turn["claim"] != WITHDRAWN or turn["debater"] not in last:
            last[turn["debater"]] = turn["claim"]
    return dict(sorted(last.items()))


async def leaf_judge(state: LeafDebate, runtime: Runtime[Settings]) -> Judged:
    """Rule by facts, not by style; the more careful answer wins a tie.

    With sources, a ruling without evidence gets a note; if memory is forbidden, the ruling does not
    count.
    """
    node, take, question = state["id"], state["take"], state["question"]
    seed, polar = runtime.context.seed, is_polar(question)
    claims = last_claims(state["transcript"])
    sides: dict[str, Side] = {name: side(seed, node, take, question, name) for name in claims}

    def conflict(reply: LeafJudgeReply) -> str | None:
        if polar:
            return says_otherwise(reply.answer, sides[reply.winner], f"debater {reply.winner}")
        return names_another(reply.winner, reply.answer, claims)

    place = Place(node=node, phase="debate", role="leaf_judge", step=len(state["transcript"]), take=take)
    heard = await jury(
        runtime,
        place,
        "tree_structured_debate/leaf_judge",
        LeafJudgeReply,
        judges=runtime.context.jury,
        ids={"winner": ("A", "B")},
        conflict=conflict,
        by_text=by_text(claims, sides),
        max_tokens=700,
        question=question,
        unclear=state["unclear"],
        transcript=state["transcript"],
        claims=[{"debater": n, "side": sides[n], "claim": claim} for n, claim in claims.items()],
        polar=polar,
    )
    overrides = run_of(runtime).overrides
    ruled = {juror.speaker: juror.reply for juror in heard if juror.reply is not None}
    # A person changes the text alone: the winner in the reply is still the model's.
    changed = {juror.speaker: overrides.at(juror.place) for juror in heard}
    labels = {
        who: reply.answer if (by := changed[who]) and by.what == "ruled" else reply.winner
        for who, reply in ruled.items()
    }
    overruled = overrides.is_ruled(node, take)
    votes = count(labels, of=len(labels if overruled else heard))
    if not votes.majority:
        if len(heard) > 1:
            tell(runtime, node, "noted", {"note": votes.note})
        return await missing(state, runtime)
    if not overruled and without_evidence(node):
        forbidden = runtime.context.memory == "forbidden"
        tell(runtime, node, "noted", {"note": NO_EVIDENCE if forbidden else f"the ruling {WITHOUT}"})
        if forbidden:
            return await missing(state, runtime)
    reply = ruled[votes.majority[0]]
    won = None if changed[votes.majority[0]] else sides[reply.winner]
    confidence = None if overruled else mean(ruled[who].confidence for who in votes.majority)
    finding = make_finding(state, reply.answer, reply.rationale, confidence, leaves=[node], side=won)
    agreed = votes if len(heard) > 1 and not overruled else None
    return settle(runtime, finding, confidence, reply.winner, agreed)


async def inner_debate(state: Debated, runtime: Runtime[Settings]) -> Judged:
    """Let another protocol settle the leaf; a polar question has the options Yes and No.

    A claim with a probability above 0.5 means yes, else no; the answer's probability is its confidence.
    """
    name, node, question = runtime.context.leaf_protocol, state["id"], state["question"]
    inner_question = question_for(
        name,
        question,
        background=[
            *(f"This is part of a larger question: {larger}" for larger in state["path"]),
            *(f"Settled elsewhere in the same inquiry: {fact}" for fact in state["facts"]),
            *(f"Left open by the question: {gap}" for gap in state["unclear"]),
        ],
        options=("Yes", "No") if is_polar(question) else (),
    )
    if "claim" in inner_question:
        tell(runtime, node, "noted", {"note": f"verified as a claim: {inner_question['claim']}"})
    verdict = await debate(runtime, name, node=node, text=question, take=state["take"], **inner_question)
    answer, confidence, reason = verdict.answer, verdict.confidence, verdict.rationale or ""
    if answer is None:
        return await missing(state, runtime)
    if (probability := verdict.probability) is None:
        return make_finding(state, answer, reason, confidence, [node])
    answer, confidence = ("Yes", probability) if probability > 0.5 else ("No", 1 - probability)
    probability_note = f"The claim that the answer is yes has a probability of {figure(probability)}."
    reason = "\n".join(filter(None, [probability_note, reason]))
    return settle(runtime, make_finding(state, answer, reason, confidence, [node]), confidence)
