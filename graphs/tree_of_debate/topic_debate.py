"""One topic that two papers debate, and all below it: the same graph for each subtopic.

ToD, sections 3.2.2 to 3.4. Each instance waits for its own subtopics only. The topic of the whole
comparison has no debate of its own: it is deliberated on and split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree.context import Context, settings
from dialectree.events import tell
from dialectree.graphs.ruling import ruled
from dialectree.models.run import run_of
from dialectree.nodes.failures import may_fail
from dialectree.nodes.kinds import SAME_GRAPH, Node
from dialectree.nodes.tree_of_debate.evidence import retrieval
from dialectree.nodes.tree_of_debate.moderator import (
    Split,
    Subtopic,
    bare_subtopics,
    progress,
    subtopics,
)
from dialectree.nodes.tree_of_debate.persona import Claimed, claims, present, respond, revise
from dialectree.nodes.tree_of_debate.pre_emption import (
    Meeting,
    ToWeigh,
    Weighed,
    pre_emption,
    relevance,
)
from dialectree.nodes.tree_of_debate.topics import (
    Compared,
    Debated,
    Deliberated,
    Question,
    Spoken,
    Topic,
    latest,
)
from dialectree.nodes.tree_structured_debate.findings import parent

Why = Literal["max_depth", "clear_winner", "no_progress", "one_topic", "failed"]


class TopicDebate(Topic, Spoken, Deliberated, Compared):
    """One topic while it is debated."""

    stopped: Why | None
    """Why it is not split; None while it may be."""
    meetings: list[Meeting]
    subtopics: list[Subtopic]
    children: list[Topic]


class LastWords(TypedDict):
    """What a debate comes to."""

    debates: list[Debated]
    stopped: Why | None


class Undecided(TypedDict):
    """Why a topic is not split."""

    stopped: Why | None
    open_questions: list[Question]


class Branched(TypedDict):
    """The subtopics as topics."""

    children: list[Topic]


def opened(topic: Topic, runtime: Runtime[Context]) -> None:
    """Tells of a topic that came into being."""
    told = {
        "text": topic["title"],
        "description": topic["description"],
        "depth": topic["depth"],
        "parent": parent(topic["id"]),
        "kind": "topic",
        "relevant": [claim["id"] for claim in topic["claims"]],
        "raised_by": [*topic["raised_by"]],
    }
    tell(runtime, topic["id"], "opened", told)


def last_words(*, splits: bool) -> Node[TopicDebate, LastWords]:
    """Both personas' last arguments stand; ``splits``: the moderator may be asked whether to go on.

    At the depth limit nobody is asked.
    """

    async def last_words(state: TopicDebate, runtime: Runtime[Context]) -> LastWords:
        positions = latest(state["said"])
        told = [
            {name: value for name, value in said.items() if name not in ("stage", "questions")}
            for said in positions
        ]
        tell(runtime, state["id"], "debated", {"positions": told})
        stopped: Why | None = None
        if not positions:
            stopped = "failed"
        elif not splits:
            stopped = "one_topic"
        elif state["depth"] >= settings(runtime).topic_depth():
            stopped = "max_depth"
        debated: Debated = {
            "id": state["id"],
            "title": state["title"],
            "description": state["description"],
            "depth": state["depth"],
            "positions": positions,
        }
        return {"debates": [debated], "stopped": stopped}

    return last_words


def after_last_words(state: TopicDebate) -> Literal["progress", "stop"]:
    """Above the depth limit the moderator decides."""
    return "stop" if state.get("stopped") else "progress"


async def stop(state: TopicDebate, runtime: Runtime[Context]) -> Compared:
    """Tells why expansion ends here; a split that came to nothing failed."""
    tell(runtime, state["id"], "stopped", {"why": state.get("stopped") or "failed"})
    return {"debates": []}  # a graph that writes no output gives None instead


def after_pre_emption(
    state: TopicDebate, runtime: Runtime[Context]
) -> list[Send] | Literal["subtopics", "stop"]:
    """A filter call for each claim that segments were found for, or for each of its segments."""
    if not state["own"]:
        return "stop"
    each = settings(runtime).filter == "per_segment"
    sends = [
        Send("relevance", weighing)
        for meeting in state["meetings"]
        for weighing in _weighings(state, meeting, each=each)
    ]
    return sends or "subtopics"


def _weighings(state: TopicDebate, meeting: Meeting, *, each: bool) -> list[ToWeigh]:
    found = meeting["segments"]
    portions = [[segment] for segment in found] if each else [found][: len(found)]
    return [
        {
            "id": state["id"],
            "authors": state["authors"],
            "claim": meeting["claim"],
            "segments": portion,
            "place": place,
            "of": len(portions),
        }
        for place, portion in enumerate(portions)
    ]


def after_subtopics(state: TopicDebate) -> Literal["branching", "stop"]:
    """Without a subtopic it ends here."""
    return "branching" if state["subtopics"] else "stop"


async def branching(state: TopicDebate, runtime: Runtime[Context]) -> Branched:
    """Every subtopic becomes a topic of its own."""
    return _branched(state, runtime, state["subtopics"])


async def merging(state: TopicDebate, runtime: Runtime[Context]) -> Branched:
    """All subtopics become one topic: their titles and descriptions, one tag each (an ablation)."""
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
    state: TopicDebate, runtime: Runtime[Context], subtopics: Sequence[Subtopic]
) -> Branched:
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


def after_branching(state: TopicDebate) -> list[Send]:
    """The same graph for each subtopic, all at once."""
    return [Send("debate", child) for child in state["children"]]


unclaimed: Claimed = {"own": []}
unspoken: Spoken = {"said": []}
unsplit: Split = {"subtopics": []}
unweighed: Weighed = {"counters": []}
undecided: Undecided = {"stopped": "failed", "open_questions": []}

Compiled = CompiledStateGraph[TopicDebate, Context, Topic, Compared]


def topic_debate(
    name: str, *, alternating: bool = False, deliberates: bool = True, splits: bool = True
) -> Compiled:
    """The debate of a topic.

    ``alternating``: persona b sees a's turn of the same stage. ``deliberates``: with claims and
    pre-emption before the split. ``splits``: every subtopic is debated by itself, and further.
    """
    builder = StateGraph(
        TopicDebate, context_schema=Context, input_schema=Topic, output_schema=Compared
    )

    async def debate(state: Topic, runtime: Runtime[Context]) -> Compared:
        """One subtopic, by this very graph."""
        await run_of(runtime).baton.take(state["id"])
        compared = await graph.ainvoke(state)
        return {"debates": compared["debates"]}

    builder.add_node("debate", debate, metadata=SAME_GRAPH)
    builder.add_node("last_words", last_words(splits=splits))
    builder.add_node("stop", stop)
    _exchange(builder, alternating=alternating)
    _deliberation(builder, deliberates=deliberates)
    splitting = "retrieval" if deliberates else "subtopics"

    def after_start(state: Topic) -> list[str]:
        """The topic of the whole comparison is split at once."""
        return [splitting] if state["depth"] == 0 else ["present_a", "present_b"]

    def after_progress(state: TopicDebate) -> str:
        """Split further, or not."""
        return "stop" if state.get("stopped") else splitting

    builder.add_conditional_edges(START, ruled(after_start), [splitting, "present_a", "present_b"])
    builder.add_edge("stop", END)
    if splits:
        builder.add_node("progress", may_fail(progress, undecided))
        builder.add_node("branching", branching)
        builder.add_conditional_edges("last_words", ruled(after_last_words))
        builder.add_conditional_edges("progress", ruled(after_progress), [splitting, "stop"])
    else:
        builder.add_node("branching", merging)
        builder.add_edge("last_words", "stop")
    builder.add_conditional_edges("subtopics", ruled(after_subtopics))
    builder.add_conditional_edges("branching", ruled(after_branching), ["debate"])
    builder.add_edge("debate", END)
    graph: Compiled = builder.compile(name=name)
    return graph


def _exchange(builder: StateGraph[TopicDebate, Context, Any, Any], *, alternating: bool) -> None:
    """Present, respond, revise: both personas side by side, or b after a."""
    second = int(alternating)
    builder.add_node("present_a", may_fail(present("a"), unspoken))
    builder.add_node("present_b", may_fail(present("b"), unspoken))
    builder.add_node("respond_a", may_fail(respond("a"), unspoken))
    builder.add_node("respond_b", may_fail(respond("b", step=second), unspoken))
    builder.add_node("revise_a", may_fail(revise("a"), unspoken))
    builder.add_node("revise_b", may_fail(revise("b", step=second), unspoken))
    presented, responded = ["present_a", "present_b"], ["respond_a", "respond_b"]
    builder.add_edge(presented, "respond_a")
    if alternating:
        builder.add_edge("respond_a", "respond_b")
        builder.add_edge("respond_b", "revise_a")
        builder.add_edge("revise_a", "revise_b")
        builder.add_edge("revise_b", "last_words")
    else:
        builder.add_edge(presented, "respond_b")
        builder.add_edge(responded, "revise_a")
        builder.add_edge(responded, "revise_b")
        builder.add_edge(["revise_a", "revise_b"], "last_words")


def _deliberation(
    builder: StateGraph[TopicDebate, Context, Any, Any], *, deliberates: bool
) -> None:
    """Retrieval, claims, pre-emption and subtopics; or subtopics alone."""
    if not deliberates:
        builder.add_node("subtopics", may_fail(bare_subtopics, unsplit))
        return
    builder.add_node("retrieval", retrieval)
    builder.add_node("claims_a", may_fail(claims("a"), unclaimed))
    builder.add_node("claims_b", may_fail(claims("b"), unclaimed))
    builder.add_node("pre_emption", pre_emption)
    builder.add_node("relevance", may_fail(relevance, unweighed))
    builder.add_node("subtopics", may_fail(subtopics, unsplit))
    builder.add_edge("retrieval", "claims_a")
    builder.add_edge("retrieval", "claims_b")
    builder.add_edge(["claims_a", "claims_b"], "pre_emption")
    builder.add_conditional_edges(
        "pre_emption", ruled(after_pre_emption), ["relevance", "subtopics", "stop"]
    )
    builder.add_edge("relevance", "subtopics")
