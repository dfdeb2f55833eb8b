"""One topic that two papers debate, and its subtopics: the graph calls itself for each subtopic.

ToD, sections 3.2.2 to 3.4. Each instance waits for its own subtopics only. The topic of the whole
comparison has no debate of its own: it is deliberated on and split.
"""

from __future__ import annotations

from typing import Literal, get_args

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from dialectree.flow import Flow, Graph
from dialectree.flow.steps import stop
from dialectree.nodes.tree_of_debate.evidence import pre_emption, relevance, retrieval
from dialectree.nodes.tree_of_debate.moderator import (
    bare_subtopics,
    branching,
    last_words,
    latest,
    progress,
    questions,
    subtopics,
)
from dialectree.nodes.tree_of_debate.persona import claims, persona
from dialectree.nodes.tree_of_debate.state import Compared, DebatedTopic, Settings, Topic, TopicDebate

Why = Literal["max_depth", "clear_winner", "no_progress", "one_topic", "failed"]
"""The reasons not to split a topic; each has its own step ``stop_...``."""


def after_start(state: Topic) -> Literal["expansion"] | list[Literal["present_a", "present_b"]]:
    """Split the topic of the whole comparison at once; debate any other topic first."""
    return "expansion" if state["depth"] == 0 else ["present_a", "present_b"]


def after_last_words(
    state: TopicDebate, settings: Settings
) -> Literal["progress", "stop_failed", "stop_max_depth"]:
    """Let the moderator judge a debate with arguments, unless the depth limit is reached."""
    if not latest(state["said"]):
        return "stop_failed"
    return "stop_max_depth" if state["depth"] >= settings.max_depth else "progress"


def after_only_debate(state: TopicDebate) -> Literal["stop_failed", "stop_one_topic"]:
    """Stop after the one debate of a run without a tree."""
    return "stop_one_topic" if latest(state["said"]) else "stop_failed"


def after_progress(
    state: TopicDebate, settings: Settings
) -> Literal["expansion", "stop_clear_winner", "stop_no_progress"]:
    """Split the topic if the debate moved on (ToD, section 3.4.1).

    By ``reference``, as in the authors' program, there must be no clear winner, either. By ``paper``,
    it is enough that the debate moved on, or that there is no clear winner. Open questions count as
    moving on only if a persona asked one.
    """
    has_questions = state["meaningful_questions"] and bool(questions(state["said"]))
    moved, won = state["progression_of_arguments"] or has_questions, state["clear_winner"]
    reference = settings.expansion_rule == "reference"
    if (moved and not won) if reference else (moved or not won):
        return "expansion"
    return "stop_clear_winner" if won else "stop_no_progress"


def after_pre_emption(
    state: TopicDebate, settings: Settings
) -> list[Send] | Literal["subtopics", "stop_failed"]:
    """Filter the segments for each claim in one call, or each segment in a call of its own."""
    if not state["own"]:
        return "stop_failed"
    per_segment = settings.filter == "per_segment"
    by_id = {claim["id"]: claim for claim in state["own"]}
    sends: list[Send] = []
    for claim, segments in state["met"].items():
        portions = [[segment] for segment in segments] if per_segment else [segments] if segments else []
        for place, portion in enumerate(portions):
            one_claim = {"own": [by_id[claim]], "met": {claim: portion}, "place": place}
            shared = {"id": state["id"], "authors": state["authors"]}
            sends.append(Send("relevance", shared | one_claim))
    return sends or "subtopics"


def children(state: TopicDebate) -> list[Topic]:
    """Return the subtopics; all are debated at once."""
    return state["children"]


def topic_debate(
    name: str, *, alternating: bool = False, deliberates: bool = True, splits: bool = True
) -> Graph:
    """Return the debate of a topic.

    ``alternating``: persona b sees a's turn of the same stage. ``deliberates``: with claims and
    pre-emption before the split. ``splits``: every subtopic is debated by itself, and split again.
    """
    flow = Flow(TopicDebate, settings=Settings, input=Topic, output=Compared, unresolved="stop_failed")
    flow.route(START, after_start)
    _exchange(flow, alternating=alternating)
    flow.step("last_words", last_words)
    if splits:
        flow.role("progress", progress, required=True)
        flow.route("last_words", after_last_words)
        flow.route("progress", after_progress)
    else:
        flow.route("last_words", after_only_debate)
    _deliberation(flow, deliberates=deliberates)
    flow.step("branching", branching(merges=not splits))

    async def debate(state: Topic, runtime: Runtime[Settings]) -> dict[str, list[DebatedTopic]]:
        compared = await graph.ainvoke(state)
        return {"debates": compared["debates"]}

    flow.step("debate", debate, calls_itself=True)
    flow.then("subtopics", "branching")
    flow.fan("branching", "debate", children)
    flow.then("debate", END)
    reasons = ("max_depth", "clear_winner", "no_progress") if splits else ("one_topic",)
    for why in get_args(Why):
        if why in (*reasons, "failed"):
            # A graph that writes no output would return None.
            flow.step(f"stop_{why}", stop(why, debates=[]))
            flow.then(f"stop_{why}", END)
    graph = flow.compile(name)
    return graph


def _exchange(flow: Flow, *, alternating: bool) -> None:
    """Add present, respond, revise: both personas at once, or b after a."""
    second = int(alternating)
    flow.role("present_a", persona("a", "present"))
    flow.role("present_b", persona("b", "present"))
    flow.role("respond_a", persona("a", "respond"))
    flow.role("respond_b", persona("b", "respond", step=second))
    flow.role("revise_a", persona("a", "revise"))
    flow.role("revise_b", persona("b", "revise", step=second))
    if alternating:
        flow.then(("present_a", "present_b"), "respond_a", "respond_b")
        flow.then("respond_b", "revise_a", "revise_b", "last_words")
    else:
        flow.then(
            ("present_a", "present_b"), ("respond_a", "respond_b"), ("revise_a", "revise_b"), "last_words"
        )


def _deliberation(flow: Flow, *, deliberates: bool) -> None:
    """Add retrieval, claims, pre-emption and subtopics; or subtopics alone."""
    flow.step("expansion")
    if not deliberates:
        flow.role("subtopics", bare_subtopics, required=True)
        flow.then("expansion", "subtopics")
        return
    flow.step("retrieval", retrieval)
    flow.role("claims_a", claims("a"))
    flow.role("claims_b", claims("b"))
    flow.step("pre_emption", pre_emption)
    flow.role("relevance", relevance)
    flow.role("subtopics", subtopics, required=True)
    flow.then("expansion", "retrieval", ("claims_a", "claims_b"), "pre_emption")
    flow.route("pre_emption", after_pre_emption, "relevance")
    flow.then("relevance", "subtopics")
