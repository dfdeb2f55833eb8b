"""Self-consistency: independent direct answers, and the one that most of them give.

A baseline of RSD: nine samples are as many calls as one role-switching debate makes. Of the judge's
model one answer is asked for: the judge alone. With the candidates of an evaluation (``oracle``,
``balanced``) both choose between the two options that a debate would be held over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.context import settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.flow import Flow, Graph, Step
from dialectree.graphs.role_switching_debate.graph import Question, require_gold, tidied
from dialectree.nodes.answers import letter
from dialectree.nodes.role_switching_debate.candidates import (
    Candidate,
    checked,
    gold_pair,
    labelled,
)
from dialectree.nodes.role_switching_debate.direct_answerer import (
    DROPPED,
    Sampled,
    ToSample,
    direct_answerer,
)
from dialectree.nodes.role_switching_debate.plurality import plurality
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.state import Debate
from dialectree.steps import require_question, unresolved

SAMPLES = 9
"""Where the settings name no other number."""


class Opened(TypedDict):
    """What a question begins with."""

    id: str
    options: list[Candidate]
    asked: int
    """Samples that are asked for."""


class SelfConsistency(Debate, Opened, Sampled):
    """A question and the direct answers to it."""


def require(given: Mapping[str, Any], context: Settings) -> None:
    """InputError where there is no question, no choice between options, or no such gold answer."""
    require_question(given)
    checked(given.get("options") or [])
    gold = require_gold(given)
    if context.candidates not in ("oracle", "balanced"):
        return
    if not gold:
        why = "it is for evaluations, where the gold answer is known (--gold LABEL)"
        raise InputError(f"--candidates {context.candidates}: {why}")
    if context.distractor == "model":
        raise InputError(
            "--distractor model: only a debate asks a model for it; use first or random"
        )


def prepare(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return what the graph takes; InputError where the input cannot be answered."""
    require(given, settings)
    return tidied(given)


def opening(alone: bool) -> Step:
    """Return the node that opens a question; ``alone`` asks for one answer, whatever is set."""

    async def opening(state: Question, runtime: Runtime[Settings]) -> Opened:
        context = settings(runtime, Settings)
        require(state, context)
        tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": "leaf"})
        options = labelled(checked(state.get("options") or []))
        return {
            "id": "0",
            "options": offered(options, state, context),
            "asked": 1 if alone else context.samples or SAMPLES,
        }

    return opening


def offered(
    options: list[Candidate], given: Mapping[str, Any], context: Settings
) -> list[Candidate]:
    """Return the options to choose from: all, or the two of an evaluation's debate."""
    if context.candidates not in ("oracle", "balanced"):
        return options
    gold = letter(str(given["gold"]))
    pair = gold_pair(options, gold, context.distractor, context.seed, given["question"])
    return sorted(pair, key=lambda option: option["label"])


def samples(state: SelfConsistency) -> list[ToSample]:
    """Return what each sample is asked; all are asked at once."""
    return [
        {
            "id": state["id"],
            "question": state["question"],
            "options": state["options"],
            "number": number,
        }
        for number in range(1, state["asked"] + 1)
    ]


def after_samples(state: SelfConsistency) -> Literal["plurality", "unresolved"]:
    """One answer is enough for a vote; a lost one counts for nobody."""
    return "plurality" if state["samples"] else "unresolved"


def self_consistency(name: str, role: str, *, alone: bool = False) -> Graph:
    """Return the baseline in which the model of ``role`` answers."""
    flow = Flow(SelfConsistency, settings=Settings, input=Question, opening=opening(alone))
    flow.role("answerer", direct_answerer(role), on_drop=DROPPED)
    flow.step("sampled")
    flow.step("plurality", plurality)
    flow.step("unresolved", unresolved)
    flow.fan(START, "answerer", samples)
    flow.then("answerer", "sampled")
    flow.route("sampled", after_samples)
    flow.then("plurality", END)
    flow.then("unresolved", END)
    return flow.compile(name)


graph = self_consistency("self_consistency", "answerer")
judge_alone = self_consistency("judge_alone", "judge", alone=True)
