"""Council: members answer, rank one another without names, and a chair merges the best answers."""

import operator
from statistics import mean
from string import ascii_uppercase
from typing import Annotated, Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import BaseModel, Field

from council import Settings
from dialectree import Debate, Flow, Place, Question, Ruling, ask, settle, unresolved
from dialectree.system import chance


class AnswerReply(BaseModel):
    """An answer after the reasons for it: a member's, or the chair's."""

    reasons: str
    answer: str


class Ranked(BaseModel):
    """The place of one answer, 1 for the best."""

    id: str
    place: Annotated[int, Field(ge=1, le=8)]


class RankingReply(BaseModel):
    """The places of all answers that a member was shown."""

    reasons: str
    ranking: list[Ranked]


class Council(Debate):
    """A question, the answers by member, and the places that others gave a member."""

    number: int
    answers: Annotated[list[tuple[int, str]], operator.add]
    places: Annotated[list[tuple[int, int]], operator.add]


def members(state: Council, settings: Settings) -> list[dict[str, Any]]:
    """Return what each member is asked; all are asked at once."""
    return [{**state, "number": number} for number in range(1, settings.members + 1)]


async def member(state: Council, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Answer the question."""
    number = str(state["number"])
    place = Place(node="0", phase="answers", role="member", speaker=number, round=1, step=1)
    reply = await ask(runtime, place, "council/member", AnswerReply, question=state["question"])
    return {"answers": [(state["number"], reply.answer)]}


def after_answers(state: Council) -> list[Send] | Literal["chair", "unresolved"]:
    """Let each member who answered rank the others; one answer alone needs no ranking."""
    if len(state["answers"]) < 2:
        return "chair" if state["answers"] else "unresolved"
    return [Send("ranker", {**state, "number": number}) for number, _ in state["answers"]]


async def ranker(state: Council, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Rank the answers of the others, without names and in an order drawn from the seed."""
    number, seed = state["number"], runtime.context.seed
    others = [answer for answer in state["answers"] if answer[0] != number]
    others.sort(key=lambda answer: chance.seed(seed, state["question"], number, answer[0]))
    shown = dict(zip(ascii_uppercase, others, strict=False))
    reply = await ask(
        runtime,
        Place(node="0", phase="ranking", role="member", speaker=str(number), round=2, step=2),
        "council/ranker",
        RankingReply,
        ids={"ranking.id": [*shown]},  # each of them exactly once
        question=state["question"],
        answers={letter: text for letter, (_, text) in shown.items()},
    )
    return {"places": [(shown[ranked.id][0], ranked.place) for ranked in reply.ranking]}


async def chair(state: Council, runtime: Runtime[Settings]) -> Ruling:
    """Merge the best-ranked answers into one."""
    places, answers = state["places"], dict(sorted(state["answers"]))
    means = {n: mean([p for member, p in places if member == n] or [9]) for n in answers}
    best = sorted(answers, key=lambda number: means[number])[: runtime.context.merged]
    reply = await ask(
        runtime,
        Place(node="0", phase="merging", role="chair", step=3),
        "council/chair",
        AnswerReply,
        question=state["question"],
        answers=[answers[number] for number in best],
    )
    merged = ", ".join(f"member {number} (mean place {means[number]:.3g})" for number in best)
    return settle(runtime, reply.answer, rationale=reply.reasons, notes=[f"merged: {merged}"])


flow = Flow(Council, settings=Settings, input=Question)
flow.role("member", member)
flow.step("answered")
flow.role("ranker", ranker)
flow.role("chair", chair, required=True)
flow.step("unresolved", unresolved)
flow.fan(START, "member", members)
flow.then("member", "answered")
flow.route("answered", after_answers, "ranker")
flow.then("ranker", "chair", END)
flow.then("unresolved", END)
graph = flow.compile("council")
