"""The moderator of a debate between two papers: which subtopics, and whether to go on.

ToD, sections 3.3 and 3.4.1, prompts 8 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.context import settings
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import normal
from dialectree.nodes.tree_of_debate.evidence import quotable
from dialectree.nodes.tree_of_debate.persona import among, of_topic, own_text, remark
from dialectree.nodes.tree_of_debate.state import Progress, Settings, Subtopic, TopicDebate
from dialectree.nodes.tree_of_debate.topics import Question, Topic, countered, latest, questions

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
    meaningful_questions: bool
    clear_winner: bool


async def subtopics(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Subtopic]]:
    """Name up to k parts of the topic, each about a claim of either paper or of both."""
    most = settings(runtime, Settings).max_subtopics
    claims = countered(state["own"], state["counters"])
    for claim in claims:
        if claim["counter"] is not None:
            told = {"data": {"counter": {claim["id"]: claim["counter"]}}}
            tell(runtime, state["id"], "noted", told)
    ids = {letter: [c["id"] for c in claims if c["paper"] == letter] for letter in ("a", "b")}

    def wrong(reply: SubtopicsReply) -> str | None:
        if not reply.subtopics:
            return "subtopics: give at least one"
        for number, one in enumerate(reply.subtopics[:most], 1):
            if not (among(one.claims_a, ids["a"]) or among(one.claims_b, ids["b"])):
                return f"subtopics: number {number} names no claim; it needs one of either paper"
        return None

    named = [name for claim in claims for name in [*claim["evidence"], *(claim["counter"] or [])]]
    shown = quotable(runtime, state["authors"], [*dict.fromkeys(named)])
    reply = await ask(
        runtime,
        Place(state["id"], "moderator", "subtopics", 0, 1),
        "tree_of_debate/subtopics",
        SubtopicsReply,
        suggested={
            "subtopics.claims_a[]": ids["a"],
            "subtopics.claims_b[]": ids["b"],
            "subtopics.raised_by[]": _ids(state["open_questions"]),
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
    found: list[Subtopic] = [
        {
            "title": one.title,
            "description": one.description,
            "claims": [
                *(by_id[name] for name in among(one.claims_a, ids["a"])),
                *(by_id[name] for name in among(one.claims_b, ids["b"])),
            ],
            "raised_by": _texts(state["open_questions"], one.raised_by),
        }
        for one in reply.subtopics[:most]
    ]

    def read() -> list[str]:
        texts = [segment.text for segment in shown]
        for claim in claims:
            texts += [claim["title"], claim["description"]]
        return texts

    return {"subtopics": _kept(found, state, runtime, read)}


def _kept(
    found: list[Subtopic],
    state: Topic,
    runtime: Runtime[Settings],
    read: Callable[[], Sequence[str]] = list,
) -> list[Subtopic]:
    """Return each subtopic once; quotations are looked up in all that the moderator read."""
    kept = _each_once(found)

    def known() -> list[str]:
        own = [text for author in state["authors"].values() for text in own_text(author)]
        asked = [question["text"] for question in state["open_questions"]]
        return [*read(), *of_topic(state), *asked, *own]

    for number, one in enumerate(kept, 1):
        texts = [one["title"], one["description"]]
        remark(state, runtime, f"subtopic {number}", texts, known)
        if [*map(normal, texts)] == [normal(state["title"]), normal(state["description"])]:
            tell(runtime, state["id"], "noted", {"note": f"subtopic {number} repeats its topic"})
    return kept


def _ids(questions: Sequence[Question]) -> list[str]:
    return [question["id"] for question in questions]


def _texts(questions: Sequence[Question], ids: Sequence[str]) -> list[str]:
    """Return the texts of the questions whose ids are among ``ids``."""
    return [question["text"] for question in questions if question["id"] in ids]


def _each_once(found: list[Subtopic]) -> list[Subtopic]:
    once: dict[tuple[str, str], Subtopic] = {}
    for one in found:
        once.setdefault((normal(one["title"]), normal(one["description"])), one)
    return [*once.values()]


async def bare_subtopics(state: Topic, runtime: Runtime[Settings]) -> dict[str, list[Subtopic]]:
    """Name up to k parts of the topic where the papers made no claims (an ablation)."""
    most = settings(runtime, Settings).max_subtopics
    reply = await ask(
        runtime,
        Place(state["id"], "moderator", "subtopics", 0, 1),
        "no_self_deliberation/subtopics",
        BareSubtopicsReply,
        suggested={"subtopics.raised_by[]": _ids(state["open_questions"])},
        at_most={"subtopics": most},
        check=lambda reply: None if reply.subtopics else "subtopics: give at least one",
        max_tokens=300 * most,
        authors=state["authors"],
        topic=state,
        most=most,
    )
    found: list[Subtopic] = [
        {
            "title": one.title,
            "description": one.description,
            "claims": [],
            "raised_by": _texts(state["open_questions"], one.raised_by),
        }
        for one in reply.subtopics[:most]
    ]
    return {"subtopics": _kept(found, state, runtime)}


async def progress(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Judge whether the debate moved on, and name the questions left open."""
    asked = questions(state["said"])
    reply = await ask(
        runtime,
        Place(state["id"], "moderator", "progress", 0, 1),
        "tree_of_debate/progress",
        ProgressReply,
        suggested={"open_questions[]": _ids(asked)},
        max_tokens=500,
        topic=state,
        said=state["said"],
        before=[said for said in state["said"] if said["stage"] == "present"],
        after=latest(state["said"]),
        asked=asked,
    )
    judged: Progress = {
        "progression_of_arguments": reply.progression_of_arguments,
        "meaningful_questions": reply.meaningful_questions,
        "clear_winner": reply.clear_winner,
    }
    left_open = [one for one in asked if one["id"] in reply.open_questions]
    return {"judged": judged, "open_questions": left_open}
