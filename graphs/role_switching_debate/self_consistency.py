"""Self-consistency: independent direct answers, and the one that most of them give.

A baseline of RSD: nine samples are as many calls as one role-switching debate makes. Of the judge's
model one answer is asked for: the judge alone. With the candidates of an evaluation (``oracle``,
``balanced``) both choose between the two options that a debate would be about.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from dialectree.flow import Flow, Graph, Step
from dialectree.flow.steps import unresolved
from dialectree.nodes.role_switching_debate import candidates
from dialectree.nodes.role_switching_debate.candidates import gold_pair, labelled
from dialectree.nodes.role_switching_debate.direct_answerer import (
    direct_answerer,
    plurality,
    requests,
)
from dialectree.nodes.role_switching_debate.state import (
    SAMPLES,
    Question,
    RoleSwitchingDebate,
    Settings,
)
from dialectree.protocols.settings import settings
from dialectree.trace.events import tell

prepare = partial(candidates.prepare, debated=False)


def opening(alone: bool) -> Step:
    """Return the step that opens a question; ``alone`` overrides the settings with one answer."""

    async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
        context, question = settings(runtime, Settings), state["question"]
        given = prepare(state, context)
        tell(runtime, "0", "opened", {"text": question, "depth": 0, "kind": "leaf"})
        options = labelled(given["options"] or [])
        if context.uses_gold():
            pair = gold_pair(options, given["gold"], context, question)
            options = sorted(pair, key=lambda option: option["label"])
        asked = 1 if alone else context.samples or SAMPLES
        return {"id": "0", "options": options, "asked": asked}

    return opening


def after_samples(state: RoleSwitchingDebate) -> Literal["plurality", "unresolved"]:
    """Count the answers that came; one is enough for a vote."""
    return "plurality" if state["samples"] else "unresolved"


def self_consistency(name: str, role: str, *, alone: bool = False) -> Graph:
    """Return the baseline in which the model of ``role`` answers."""
    flow = Flow(RoleSwitchingDebate, settings=Settings, input=Question, opening=opening(alone))
    flow.role("answerer", direct_answerer(role), on_drop={"dropped": 1})
    flow.step("sampled")
    flow.step("plurality", plurality)
    flow.step("unresolved", unresolved)
    flow.fan(START, "answerer", requests)
    flow.then("answerer", "sampled")
    flow.route("sampled", after_samples)
    flow.then("plurality", END)
    flow.then("unresolved", END)
    return flow.compile(name)


graph = self_consistency("self_consistency", "answerer")
judge_alone = self_consistency("judge_alone", "judge", alone=True)
