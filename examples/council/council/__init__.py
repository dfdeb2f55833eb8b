"""Council: members answer, rank one another without names, and a chair merges the best answers."""

from functools import partial
from statistics import mean
from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import BaseModel, Field

from dialectree import Evaluation, ProtocolSettings, Script, Talk, chance, option

MEMBERS = tuple("12345678")


class Settings(ProtocolSettings):
    """The settings of a council."""

    members: int = option(3, ge=2, le=8, group="Council", common=True)
    """Number of members that answer; each can have a model of its own."""
    merged: int = option(2, ge=1, le=8, group="Council")
    """Number of best-ranked answers that the chair merges."""


class AnswerReply(BaseModel):
    """An answer after the reasons for it: a member's, or the chair's."""

    rationale: str
    answer: str


class Ranked(BaseModel):
    """The place of one answer, 1 for the best."""

    id: str
    place: Annotated[int, Field(ge=1, le=8)]


class RankingReply(BaseModel):
    """The places of all answers that a member was shown."""

    rationale: str
    ranking: list[Ranked]


def answers(talk: Talk) -> dict[str, str]:
    """Return the answers by the numbers of the members."""
    return {turn["name"]: turn["answer"] for turn in talk.said if turn["phase"] == "answers"}


def shown(talk: Talk, member: str) -> dict[str, str]:
    """Return the other answers by letters, in an order drawn from the seed, for a member to rank."""
    draw = partial(chance.seed, talk.settings.seed, talk.input["question"], member)
    return dict(zip(ascii_uppercase, sorted({*answers(talk)} - {member}, key=draw), strict=False))


def best(talk: Talk) -> dict[str, Any]:
    """Return the answers with the best mean places, for the chair."""
    places: dict[str, list[int]] = {member: [] for member in answers(talk)}
    for turn in talk.said:
        for ranked in turn.get("ranking", ()):
            places[shown(talk, turn["name"])[ranked["id"]]].append(ranked["place"])
    order = sorted(places, key=lambda member: mean(places[member] or [9]))
    return {"answers": [answers(talk)[member] for member in order[: talk.settings.merged]]}


script = Script(Settings)
script.speaks(
    "member",
    AnswerReply,
    speakers=MEMBERS,
    phase="answers",
    when=lambda talk: talk.name in MEMBERS[: talk.settings.members],
)
script.speaks(
    "ranker",
    RankingReply,
    role="member",
    speakers=MEMBERS,
    phase="ranking",
    ids=lambda talk: {"ranking.id": [*shown(talk, talk.name)]},
    reads=lambda talk: {"shown": shown(talk, talk.name), "answers": answers(talk)},
    when=lambda talk: talk.name in answers(talk) and len(answers(talk)) > 1,
)
script.speaks("chair", AnswerReply, phase="merging", required=True, reads=best, rules=True)
script.turns("member", "ranker", "chair")
protocol = script.protocol(
    name="council",
    title="Council",
    summary="Let several models answer and rank one another without names; a chair merges.",
    source="an example",
    examples=('"Why do cities grow?"', '"Why do cities grow?" --role chair=openai:NAME'),
    outcome="answer",
    speaking=lambda settings: ["chair", *(f"member_{n}" for n in MEMBERS[: settings.members])],
    evaluation=Evaluation(task="answer"),
)
