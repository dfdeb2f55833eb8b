"""The personas of two papers: each speaks for its own paper on a topic.

ToD, section 3.3 (self-deliberation) and 3.2.2 (debate), prompts 11 and 13 to 15. Personas ``a`` and
``b`` speak from the same prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Step
from dialectree.models.door import Place, ask
from dialectree.models.replies import Reply
from dialectree.nodes.answers import normal
from dialectree.nodes.quotations import quoted, unfounded
from dialectree.nodes.tree_of_debate.evidence import pool_of, quotable
from dialectree.nodes.tree_of_debate.state import Settings, TopicDebate
from dialectree.nodes.tree_of_debate.topics import (
    Author,
    Claim,
    Letter,
    Said,
    Stage,
    Topic,
    opponent,
)

_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Text = Annotated[str, Field(min_length=1, max_length=4000)]
_Line = Annotated[str, Field(min_length=1, max_length=600)]


class ClaimText(BaseModel):
    """One contribution, and the segments that show it."""

    title: _Title
    description: _Text
    evidence: list[str]


class ClaimsReply(BaseModel):
    """What a paper contributes to a topic."""

    claims: list[ClaimText]


class ArgumentReply(BaseModel):
    """Why a paper's contribution is the better one, or that it is not."""

    title: _Title
    description: _Text
    evidence: list[str]
    proposals: list[_Line]
    concedes: bool


class ResponseReply(BaseModel):
    """What a persona says to the other's last turn."""

    description: _Text
    questions: list[_Line]
    evidence: list[str]
    concedes: bool


def claims(letter: Letter) -> Step:
    """Return the role that claims what one's paper contributes, from its retrieved segments."""

    async def claims(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Claim]]:
        author, most = state["authors"][letter], settings(runtime, Settings).max_claims
        offered = pool_of(state["pooled"], letter)
        shown = quotable(runtime, state["authors"], offered)
        reply = await ask(
            runtime,
            Place(state["id"], "persona", "claims", 0, 1, who=letter),
            "tree_of_debate/claims",
            ClaimsReply,
            suggested={"claims.evidence[]": offered},
            at_most={"claims": most},
            check=lambda reply: None if reply.claims else "claims: give at least one",
            max_tokens=400 * most,
            paper=author,
            topic=state,
            evidence=shown,
            most=most,
        )
        made = _claims(letter, reply, offered, most)
        told = {"data": {"claims": {letter: [_told(c) for c in made]}}}
        tell(runtime, state["id"], "noted", told)

        def read() -> list[str]:
            asked = [question["text"] for question in state["open_questions"]]
            texts = [segment.text for segment in shown]
            return [*texts, *asked, *own_text(author), *of_topic(state)]

        for claim in made:
            said = [claim["title"], claim["description"]]
            remark(state, runtime, f"claim {claim['id']}", said, read)
        return {"own": made}

    return claims


def _claims(letter: Letter, reply: ClaimsReply, offered: Sequence[str], most: int) -> list[Claim]:
    """Return the claims of a reply, each once, without ids that were not offered."""
    made: dict[tuple[str, str], ClaimText] = {}
    for claim in reply.claims:
        made.setdefault((normal(claim.title), normal(claim.description)), claim)
    return [
        {
            "id": f"{letter}{number}",
            "paper": letter,
            "title": claim.title,
            "description": claim.description,
            "evidence": among(claim.evidence, offered),
            "counter": None,
        }
        for number, claim in enumerate([*made.values()][:most], 1)
    ]


def _told(claim: Claim) -> dict[str, object]:
    return {name: value for name, value in claim.items() if name != "counter"}


def among(ids: Iterable[str], offered: Sequence[str]) -> list[str]:
    """Return the ids that were offered, each once."""
    return [name for name in dict.fromkeys(ids) if name in offered]


def present(letter: Letter, *, step: int = 0) -> Step:
    """Return the role that argues why one's contribution is the better one, or concedes."""
    return _argument(letter, "present", step)


def revise(letter: Letter, *, step: int = 0) -> Step:
    """Return the role that argues anew, meeting the doubts that were right, or concedes."""
    return _argument(letter, "revise", step)


def _argument(letter: Letter, stage: Stage, step: int) -> Step:
    async def argument(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Said]]:
        shown = _shown(state, letter)
        place = Place(state["id"], "persona", stage, step, 1, who=letter)
        reply = await _speak(state, runtime, place, ArgumentReply, shown, {"proposals": 3})
        said: Said = {
            "paper": letter,
            "stage": stage,
            "title": reply.title,
            "description": reply.description,
            "evidence": among(reply.evidence, shown),
            "questions": [],
            "proposals": reply.proposals[:3],
            "concedes": reply.concedes,
        }
        _look_at_quotations(state, runtime, said, shown)
        return {"said": [said]}

    argument.__name__ = stage
    return argument


def respond(letter: Letter, *, step: int = 0) -> Step:
    """Return the role that acknowledges, answers, asks, clarifies or concedes."""

    async def respond(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Said]]:
        if not any(turn["paper"] == opponent(letter) for turn in state["said"]):
            return {"said": []}  # the other could not speak: there is nothing to respond to
        shown = _shown(state, letter)
        place = Place(state["id"], "persona", "respond", step, 1, who=letter)
        reply = await _speak(state, runtime, place, ResponseReply, shown, {"questions": 3})
        said: Said = {
            "paper": letter,
            "stage": "respond",
            "title": "",
            "description": reply.description,
            "evidence": among(reply.evidence, shown),
            "questions": reply.questions[:3],
            "proposals": [],
            "concedes": reply.concedes,
        }
        _look_at_quotations(state, runtime, said, shown)
        return {"said": [said]}

    return respond


async def _speak(
    state: TopicDebate,
    runtime: Runtime[Settings],
    place: Place,
    reply: type[Reply],
    shown: Sequence[str],
    at_most: Mapping[str, int],
) -> Reply:
    """Speak once in a debate; ``shown`` are the segments that the persona reads."""
    letter: Letter = "a" if place.who == "a" else "b"
    return await ask(
        runtime,
        place,
        f"tree_of_debate/{place.stage}",
        reply,
        suggested={"evidence[]": shown},
        at_most=at_most,
        max_tokens=900,
        letter=letter,
        paper=state["authors"][letter],
        opponent=state["authors"][opponent(letter)],
        topic=state,
        claims=_own(state, letter),
        evidence=quotable(runtime, state["authors"], shown),
        said=state["said"],
    )


def _own(state: Topic, letter: Letter) -> list[Claim]:
    return [claim for claim in state["claims"] if claim["paper"] == letter]


def _shown(state: TopicDebate, letter: Letter) -> list[str]:
    """Return the ids of the segments that a persona reads.

    These are the segments of its claims with the other paper's on them, or those retrieved for the
    parent where it has no claim; and all that were cited since.
    """
    shown: list[str] = []
    for claim in _own(state, letter):
        shown += [*claim["evidence"], *(claim["counter"] or [])]
    if not shown:
        shown = pool_of(state["pools"], letter)
    for turn in state["said"]:
        shown += turn["evidence"]
    return [*dict.fromkeys(shown)]


def own_text(author: Author) -> list[str]:
    """Return what everybody may read of a paper."""
    return [author["title"], author["abstract"], author["introduction"]]


def of_topic(topic: Topic) -> list[str]:
    """Return what everybody may read of a topic."""
    return [topic["question"], topic["title"], topic["description"], *topic["raised_by"]]


def _look_at_quotations(
    state: TopicDebate, runtime: Runtime[Settings], said: Said, shown: Sequence[str]
) -> None:
    """Compare a turn with all that the persona has read."""

    def read() -> list[str]:
        texts = [segment.text for segment in quotable(runtime, state["authors"], shown)]
        for author in state["authors"].values():
            texts += own_text(author)
        for claim in _own(state, said["paper"]):
            texts += [claim["title"], claim["description"]]
        for turn in state["said"]:
            texts += [turn["title"], turn["description"], *turn["questions"]]
        return [*texts, *of_topic(state)]

    where = f"{said['stage']}, persona {said['paper']}"
    texts = [said["title"], said["description"], *said["questions"], *said["proposals"]]
    remark(state, runtime, where, texts, read)


def remark(
    state: Topic,
    runtime: Runtime[Settings],
    where: str,
    said: Sequence[str],
    read: Callable[[], Sequence[str]],
) -> None:
    """Note quotations that stand in nothing that the speaker has ``read``."""
    if not any(map(quoted, said)):
        return
    sources = read()
    quotes = [quote for text in said for quote in unfounded(text, sources)]
    for quote in dict.fromkeys(quotes):
        note = f"{where}: quotes what no evidence says: “{quote}”"
        tell(runtime, state["id"], "noted", {"note": note})
