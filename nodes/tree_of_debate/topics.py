"""A topic of a comparison: its query, its questions, its outcome, and the topics below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from langgraph.runtime import Runtime

from dialectree.flow import Step
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
from dialectree.trace.events import tell


def root(question: str, authors: dict[Letter, Author]) -> Topic:
    """Return the topic of the whole comparison."""
    return {
        "id": "0",
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
    """Tell of a new topic."""
    data = {
        "text": topic["title"],
        "depth": topic["depth"],
        "parent": topic["id"].rpartition(".")[0] or None,
        "kind": "topic",
        "data": {
            "description": topic["description"],
            "relevant": [claim["id"] for claim in topic["claims"]],
            "raised_by": [*topic["raised_by"]],
        },
    }
    tell(runtime, topic["id"], "opened", data)


async def last_words(
    state: TopicDebate, runtime: Runtime[Settings]
) -> dict[str, list[DebatedTopic]]:
    """Take both personas' last arguments as the outcome of the debate."""
    positions = latest(state["said"])
    shown = [
        {name: value for name, value in turn.items() if name not in ("stage", "questions")}
        for turn in positions
    ]
    status = "answered" if positions else "missing"
    settled = {"verdict": None, "status": status, "data": {"positions": shown}}
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
        children = [merged(state["children"])] if merges else state["children"]
        for child in children:
            open_topic(child, runtime)
        ids = [child["id"] for child in children]
        tell(runtime, state["id"], "branched", {"children": ids, "kind": "topic"})
        return {"children": children}

    return branching


def merged(topics: Sequence[Topic]) -> Topic:
    """Join topics in one: their titles, their descriptions with a tag each, and their claims."""
    claims = {claim["id"]: claim for topic in topics for claim in topic["claims"]}
    tagged = [
        f"[{number}] {topic['title']}: {topic['description']}"
        for number, topic in enumerate(topics, 1)
    ]
    return {
        **topics[0],
        "title": "; ".join(topic["title"] for topic in topics),
        "description": " ".join(tagged),
        "claims": [*claims.values()],
    }


def query(topic: Topic) -> str:
    """Return "title : description" of a topic; the root has no description."""
    return " : ".join(filter(None, (topic["title"], topic["description"])))


def questions(said: Sequence[Turn]) -> list[Question]:
    """Return the questions of a debate, numbered in the order of the personas, each once."""
    asked: dict[str, Letter] = {}
    for turn in sorted(said, key=lambda turn: turn["paper"]):
        for text in turn["questions"]:
            asked.setdefault(text, turn["paper"])
    return [
        {"id": f"q{number}", "paper": paper, "text": text}
        for number, (text, paper) in enumerate(asked.items(), 1)
    ]


def latest(said: Sequence[Turn]) -> list[Turn]:
    """Return each persona's last argument, a's first.

    A response is no argument, but a concession in it counts until the persona argues again.
    """
    positions: list[Turn] = []
    for letter in LETTERS:
        stages = {turn["stage"]: turn for turn in said if turn["paper"] == letter}
        if "revise" in stages:
            positions.append(stages["revise"])
        elif "present" in stages:
            concedes = any(turn["concedes"] for turn in stages.values())
            positions.append({**stages["present"], "concedes": concedes})
    return positions


def countered(
    claims: Iterable[Claim], met: Mapping[str, Sequence[str]], weighed: Sequence[Weighed]
) -> list[Claim]:
    """Return the claims with the segments of the other paper that speak to them.

    That none does is known only if every segment that may speak to the claim was weighed.
    """
    counters: list[Claim] = []
    for claim in claims:
        own = {one["segment"]: one["speaks"] for one in weighed if one["claim"] == claim["id"]}
        speaking = [segment for segment, speaks in own.items() if speaks]
        complete = claim["id"] in met and len(own) == len(met[claim["id"]])
        counters.append({**claim, "counter": speaking if speaking or complete else None})
    return counters
