"""The moderator of a debate between two papers: which subtopics, and whether to go on.

ToD, sections 3.3 and 3.4.1, prompts 8 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.answers import normal
from dialectree.models.door import ask
from dialectree.nodes.tree_of_debate.evidence import among, note_misquotes, quotable
from dialectree.nodes.tree_of_debate.state import Claim, Question, Settings, Topic, TopicDebate
from dialectree.nodes.tree_of_debate.topics import countered, latest, questions
from dialectree.records import Place
from dialectree.trace.events import tell

_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Text = Annotated[str, Field(min_length=1, max_length=3000)]


class SubtopicText(BaseModel):
    """One part of a topic, and the claims that it is about."""

    title: _Title
    description: _Text
    claims_a: list[str]
    claims_b: list[str]
    raised_by: list[str]


class SubtopicsReply(BaseModel):
    """What of a topic is worth a debate of its own."""

    subtopics: list[SubtopicText]


class BareSubtopicText(BaseModel):
    """One part of a topic, where nobody made claims."""

    title: _Title
    description: _Text
    raised_by: list[str]


class BareSubtopicsReply(BaseModel):
    """What of a topic is worth a debate of its own, where nobody made claims."""

    subtopics: list[BareSubtopicText]


class ProgressReply(BaseModel):
    """Whether a debate got anywhere, and whether it should go on."""

    explanation: _Text
    progression_of_arguments: bool
    open_questions: list[str]
    clear_winner: bool


async def subtopics(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
    """Name up to k parts of the topic, each about a claim of either paper or of both."""
    most = runtime.context.max_subtopics
    claims = countered(state["own"], state["met"], state["weighed"])
    for claim in claims:
        if claim["counter"] is not None:
            counter = {claim["id"]: claim["counter"]}
            tell(runtime, state["id"], "noted", {"data": {"counter": counter}})
    a, b = ([claim["id"] for claim in claims if claim["paper"] == letter] for letter in "ab")

    def named(part: SubtopicText) -> list[str]:
        return [*among(part.claims_a, a), *among(part.claims_b, b)]

    def wrong(reply: SubtopicsReply) -> str | None:
        if not reply.subtopics:
            return "subtopics: give at least one"
        for number, part in enumerate(reply.subtopics[:most], 1):
            if not named(part):
                return f"subtopics: number {number} names no claim; it needs one of either paper"
        return None

    cited = [name for claim in claims for name in [*claim["evidence"], *(claim["counter"] or [])]]
    shown = quotable(runtime, state["authors"], cited)
    reply = await ask(
        runtime,
        Place(node=state["id"], phase="subtopics", role="moderator", round=1),
        "tree_of_debate/subtopics",
        SubtopicsReply,
        suggested={
            "subtopics.claims_a[]": a,
            "subtopics.claims_b[]": b,
            "subtopics.raised_by[]": [question["id"] for question in state["open_questions"]],
        },
        at_most={"subtopics": most},
        check=wrong,
        max_tokens=350 * most,
        authors=state["authors"],
        topic=state,
        claims=claims,
        evidence=shown,
        most=most,
    )
    by_id = {claim["id"]: claim for claim in claims}
    parts = [(part, [by_id[name] for name in named(part)]) for part in reply.subtopics[:most]]
    read = [segment.text for segment in shown]
    for claim in claims:
        read += [claim["title"], claim["description"]]
    return {"children": _children(state, runtime, parts, read)}


async def bare_subtopics(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
    """Name up to k parts of the topic where the papers made no claims (an ablation)."""
    most = runtime.context.max_subtopics
    reply = await ask(
        runtime,
        Place(node=state["id"], phase="subtopics", role="moderator", round=1),
        "no_self_deliberation/subtopics",
        BareSubtopicsReply,
        suggested={"subtopics.raised_by[]": [one["id"] for one in state["open_questions"]]},
        at_most={"subtopics": most},
        check=lambda reply: None if reply.subtopics else "subtopics: give at least one",
        max_tokens=300 * most,
        authors=state["authors"],
        topic=state,
        most=most,
    )
    parts = [(part, list[Claim]()) for part in reply.subtopics[:most]]
    return {"children": _children(state, runtime, parts, read=[])}


def _children(
    state: TopicDebate,
    runtime: Runtime[Settings],
    parts: Sequence[tuple[SubtopicText | BareSubtopicText, list[Claim]]],
    read: Sequence[str],
) -> list[Topic]:
    """Return each part with its claims as a topic, once; ``read`` is what it may quote."""
    own_words = normal(state["title"]), normal(state["description"])
    once: dict[tuple[str, str], tuple[SubtopicText | BareSubtopicText, list[Claim]]] = {}
    for part, claims in parts:
        once.setdefault((normal(part.title), normal(part.description)), (part, claims))
    children: list[Topic] = []
    for place, (words, (part, claims)) in enumerate(once.items()):
        where = f"subtopic {place + 1}"
        note_misquotes(state, runtime, where, [part.title, part.description], read)
        if words == own_words:
            tell(runtime, state["id"], "noted", {"note": f"{where} repeats its topic"})
        asked = state["open_questions"]
        child: Topic = {
            "id": f"{state['id']}.{place}",
            "question": state["question"],
            "title": part.title,
            "description": part.description,
            "depth": state["depth"] + 1,
            "authors": state["authors"],
            "claims": claims,
            "pools": state["pools"],
            "raised_by": [one["text"] for one in asked if one["id"] in part.raised_by],
            "open_questions": [],
        }
        children.append(child)
    return children


async def progress(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Judge whether the debate moved on, and name the questions left open."""
    asked = questions(state["said"])

    def left_open(reply: ProgressReply) -> list[Question]:
        return [one for one in asked if one["id"] in reply.open_questions]

    def with_flag(reply: ProgressReply) -> dict[str, Any]:
        return {**reply.model_dump(), "meaningful_questions": bool(left_open(reply))}

    reply = await ask(
        runtime,
        Place(node=state["id"], phase="progress", role="moderator", round=1),
        "tree_of_debate/progress",
        ProgressReply,
        suggested={"open_questions[]": [question["id"] for question in asked]},
        told=with_flag,
        max_tokens=500,
        topic=state,
        said=state["said"],
        before=[turn for turn in state["said"] if turn["stage"] == "present"],
        after=latest(state["said"]),
        asked=asked,
    )
    return {
        "progression_of_arguments": reply.progression_of_arguments,
        "meaningful_questions": bool(left_open(reply)),
        "clear_winner": reply.clear_winner,
        "open_questions": left_open(reply),
    }
