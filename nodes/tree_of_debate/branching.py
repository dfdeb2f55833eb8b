"""The steps of a topic that ask nobody: opening it, its last words, and its subtopics."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from dialectree.events import tell
from dialectree.nodes.tree_of_debate.state import Settings, Subtopic, TopicDebate
from dialectree.nodes.tree_of_debate.topics import Debated, Topic, latest


def opened(topic: Topic, runtime: Runtime[Settings]) -> None:
    """Tell of a new topic."""
    told = {
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
    tell(runtime, topic["id"], "opened", told)


async def last_words(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Debated]]:
    """Take both personas' last arguments as the outcome of the debate."""
    positions = latest(state["said"])
    told = [
        {name: value for name, value in said.items() if name not in ("stage", "questions")}
        for said in positions
    ]
    status = "answered" if told else "missing"
    tell(
        runtime,
        state["id"],
        "settled",
        {"verdict": None, "status": status, "data": {"positions": told}},
    )
    debated: Debated = {
        "id": state["id"],
        "title": state["title"],
        "description": state["description"],
        "depth": state["depth"],
        "positions": positions,
    }
    return {"debates": [debated]}


async def branching(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
    """Make every subtopic a topic of its own."""
    return _branched(state, runtime, state["subtopics"])


async def merging(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, list[Topic]]:
    """Make all subtopics one topic: their titles and descriptions, one tag each (an ablation)."""
    merged: Subtopic = {
        "title": "; ".join(one["title"] for one in state["subtopics"]),
        "description": " ".join(
            f"[{number}] {one['title']}: {one['description']}"
            for number, one in enumerate(state["subtopics"], 1)
        ),
        "claims": [],
        "raised_by": [],  # the root, which alone is split here, has no debate of its own
    }
    for one in state["subtopics"]:
        merged["claims"] += [claim for claim in one["claims"] if claim not in merged["claims"]]
    return _branched(state, runtime, [merged])


def _branched(
    state: TopicDebate, runtime: Runtime[Settings], subtopics: Sequence[Subtopic]
) -> dict[str, list[Topic]]:
    children: list[Topic] = [
        {
            "id": f"{state['id']}.{place}",
            "question": state["question"],
            "title": one["title"],
            "description": one["description"],
            "depth": state["depth"] + 1,
            "authors": state["authors"],
            "claims": one["claims"],
            "pools": state["pooled"],
            "raised_by": one["raised_by"],
            "open_questions": [],
        }
        for place, one in enumerate(subtopics)
    ]
    for child in children:
        opened(child, runtime)
    names = [child["id"] for child in children]
    tell(runtime, state["id"], "branched", {"children": names, "kind": "topic"})
    return {"children": children}
