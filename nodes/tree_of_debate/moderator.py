"""The moderator of a debate between two papers, and the topics of the debate.

ToD, sections 3.3 and 3.4.1, prompts 8 and 9: name subtopics, and decide on a further split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.answers import normal
from dialectree.flow import Step
from dialectree.models.door import ask
from dialectree.nodes.tree_of_debate.evidence import among, note_misquotes, quotable
from dialectree.nodes.tree_of_debate.state import (
    LETTERS,
    Author,
    Claim,
    DebatedTopic,
    Letter,
    Question,
    Settings,
    Topic,
    TopicDebate,
    Turn,
    Weighed,
)
from dialectree.protocols.inside import root
from dialectree.records import Place
from dialectree.trace.events import tell


def comparison_topic(question: str, authors: dict[Letter, Author]) -> Topic:
    """Return the topic of the whole comparison."""
    return {
        "id": root(),
        "question": question,
        "title": question,
        "description": "",
        "depth": 0,
        "authors": authors,
        "claims": [],
        "pools": {},
        "raised_by": [],
        "open_questions": [],
    }


def open_topic(topic: Topic, runtime: Runtime[Settings]) -> None:
    """Emit the event of a new topic."""
    data = {
        "text": topic["title"],
        "kind": "topic",
        "data": {
            "description": topic["description"],
            "relevant": [claim["id"] for claim in topic["claims"]],
            "raised_by": [*topic["raised_by"]],
        },
    }
    tell(runtime, topic["id"], "opened", data)


async def last_words(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[DebatedTopic]]:
    """Take both personas' last arguments as the outcome of the debate."""
    positions = latest(state["said"])
    position_fields = [
        {name: value for name, value in turn.items() if name not in ("stage", "questions")}
        for turn in positions
    ]
    status = "answered" if positions else "missing"
    settled = {"verdict": None, "status": status, "data": {"positions": position_fields}}
    tell(runtime, state["id"], "settled", settled)
    debated: DebatedTopic = {
        "id": state["id"],
        "title": state["title"],
        "description": state["description"],
        "positions": positions,
    }
    return {"debates": [debated]}


def branching(*, merges: bool = False) -> Step:
    """Return the step that opens the subtopics; ``merges`` makes them one topic (an ablation)."""

    async def branching(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
        children = [merge_topics(state["children"])] if merges else state["children"]
        for child in children:
            open_topic(child, runtime)
        ids = [child["id"] for child in children]
        tell(runtime, state["id"], "branched", {"children": ids, "kind": "topic"})
        return {"children": children}

    return branching


def merge_topics(topics: Sequence[Topic]) -> Topic:
    """Join topics in one: their titles, their descriptions with a tag each, and their claims."""
    claims = {claim["id"]: claim for topic in topics for claim in topic["claims"]}
    tagged = [
        f"[{number}] {topic['title']}: {topic['description']}" for number, topic in enumerate(topics, 1)
    ]
    return {
        **topics[0],
        "title": "; ".join(topic["title"] for topic in topics),
        "description": " ".join(tagged),
        "claims": [*claims.values()],
    }


def questions(turns: Sequence[Turn]) -> list[Question]:
    """Return the questions of a debate, numbered in the order of the personas, each once."""
    askers: dict[str, Letter] = {}
    for turn in sorted(turns, key=lambda turn: turn["paper"]):
        for text in turn["questions"]:
            askers.setdefault(text, turn["paper"])
    return [
        {"id": f"q{number}", "paper": paper, "text": text}
        for number, (text, paper) in enumerate(askers.items(), 1)
    ]


def latest(turns: Sequence[Turn]) -> list[Turn]:
    """Return each persona's last argument, a's first.

    A response is not an argument, but its concession counts until the persona argues again.
    """
    positions: list[Turn] = []
    for letter in LETTERS:
        stages = {turn["stage"]: turn for turn in turns if turn["paper"] == letter}
        if "revise" in stages:
            positions.append(stages["revise"])
        elif "present" in stages:
            concedes = any(turn["concedes"] for turn in stages.values())
            positions.append({**stages["present"], "concedes": concedes})
    return positions


def add_counter_segments(
    claims: Iterable[Claim], met: Mapping[str, Sequence[str]], weighed: Weighed
) -> list[Claim]:
    """Return the claims with the segments of the other paper that speak to them.

    The list of a claim is empty if no segment speaks to it, but None if some segments got no ruling.
    """
    counters: list[Claim] = []
    for claim in claims:
        speaks_by_segment = weighed.get(claim["id"], {})
        speaking = [segment for segment, speaks in speaks_by_segment.items() if speaks]
        complete = claim["id"] in met and len(speaks_by_segment) == len(met[claim["id"]])
        counters.append({**claim, "counter": speaking if speaking or complete else None})
    return counters


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
    max_subtopics = runtime.context.max_subtopics
    claims = add_counter_segments(state["own"], state["met"], state["weighed"])
    for claim in claims:
        if claim["counter"] is not None:
            counter = {claim["id"]: claim["counter"]}
            tell(runtime, state["id"], "noted", {"data": {"counter": counter}})
    a, b = ([claim["id"] for claim in claims if claim["paper"] == letter] for letter in "ab")

    def list_claim_ids(part: SubtopicText) -> list[str]:
        return [*among(part.claims_a, a), *among(part.claims_b, b)]

    def wrong(reply: SubtopicsReply) -> str | None:
        if not reply.subtopics:
            return "subtopics: give at least one"
        for number, part in enumerate(reply.subtopics[:max_subtopics], 1):
            if not list_claim_ids(part):
                return f"subtopics: number {number} names no claim; it needs one of either paper"
        return None

    cited = [name for claim in claims for name in [*claim["evidence"], *(claim["counter"] or [])]]
    evidence_texts = quotable(runtime, state["authors"], cited)
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
        at_most={"subtopics": max_subtopics},
        check=wrong,
        max_tokens=350 * max_subtopics,
        authors=state["authors"],
        topic=state,
        claims=claims,
        evidence=evidence_texts,
        most=max_subtopics,
    )
    by_id = {claim["id"]: claim for claim in claims}
    parts = [
        (part, [by_id[name] for name in list_claim_ids(part)]) for part in reply.subtopics[:max_subtopics]
    ]
    read = [*evidence_texts.values()]
    for claim in claims:
        read += [claim["title"], claim["description"]]
    return {"children": _children(state, runtime, parts, read)}


async def bare_subtopics(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
    """Name up to k parts of the topic where the papers made no claims (an ablation)."""
    max_subtopics = runtime.context.max_subtopics
    reply = await ask(
        runtime,
        Place(node=state["id"], phase="subtopics", role="moderator", round=1),
        "no_self_deliberation/subtopics",
        BareSubtopicsReply,
        suggested={"subtopics.raised_by[]": [question["id"] for question in state["open_questions"]]},
        at_most={"subtopics": max_subtopics},
        check=lambda reply: None if reply.subtopics else "subtopics: give at least one",
        max_tokens=300 * max_subtopics,
        authors=state["authors"],
        topic=state,
        most=max_subtopics,
    )
    parts = [(part, list[Claim]()) for part in reply.subtopics[:max_subtopics]]
    return {"children": _children(state, runtime, parts, read=[])}


def _children(
    state: TopicDebate,
    runtime: Runtime[Settings],
    parts: Sequence[tuple[SubtopicText | BareSubtopicText, list[Claim]]],
    read: Sequence[str],
) -> list[Topic]:
    """Return each distinct part with its claims as a topic. A topic may quote the texts ``read``."""
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
        open_questions = state["open_questions"]
        child: Topic = {
            "id": f"{state['id']}.{place}",
            "question": state["question"],
            "title": part.title,
            "description": part.description,
            "depth": state["depth"] + 1,
            "authors": state["authors"],
            "claims": claims,
            "pools": state["pools"],
            "raised_by": [
                question["text"] for question in open_questions if question["id"] in part.raised_by
            ],
            "open_questions": [],
        }
        children.append(child)
    return children


async def progress(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Judge whether the debate moved on, and name the questions left open."""
    debate_questions = questions(state["said"])

    def list_open_questions(reply: ProgressReply) -> list[Question]:
        return [question for question in debate_questions if question["id"] in reply.open_questions]

    def with_flag(reply: ProgressReply) -> dict[str, Any]:
        return {**reply.model_dump(), "meaningful_questions": bool(list_open_questions(reply))}

    reply = await ask(
        runtime,
        Place(node=state["id"], phase="progress", role="moderator", round=1),
        "tree_of_debate/progress",
        ProgressReply,
        suggested={"open_questions[]": [question["id"] for question in debate_questions]},
        told=with_flag,
        max_tokens=500,
        topic=state,
        said=state["said"],
        before=[turn for turn in state["said"] if turn["stage"] == "present"],
        after=latest(state["said"]),
        asked=debate_questions,
    )
    return {
        "progression_of_arguments": reply.progression_of_arguments,
        "meaningful_questions": bool(list_open_questions(reply)),
        "clear_winner": reply.clear_winner,
        "open_questions": list_open_questions(reply),
    }
