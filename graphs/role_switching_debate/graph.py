"""RSD, Uncertainty-Aware Role-Switching Debate: who debates what, and what comes of it.

Paper: Uncertainty-Aware Role-Switching Debate (Liu et al.), Method. One debate is ``five_phases``;
here are the candidates, the knockout of several options, and the gate that spares a debate.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from dialectree import chance
from dialectree import state as shared
from dialectree.context import settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.flow import Flow, Graph
from dialectree.graphs.role_switching_debate import five_phases
from dialectree.nodes.answers import letter, letters
from dialectree.nodes.role_switching_debate.candidates import (
    Candidate,
    Side,
    checked,
    drawn,
    gold_against,
    gold_pair,
    labelled,
    order,
)
from dialectree.nodes.role_switching_debate.direct_answerer import (
    DROPPED,
    Sample,
    ToSample,
    direct_answerer,
    votes,
)
from dialectree.nodes.role_switching_debate.distractor import distractor
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.nodes.role_switching_debate.verdict import Debated, Outcome
from dialectree.state import Ruling
from dialectree.steps import require_question


class Question(shared.Question):
    """A question, and what may be known of its answers."""

    options: NotRequired[list[str]]
    """The answers to choose from, 2 to 26; none: an open question."""
    gold: NotRequired[str]
    """The letter of the right option; only for evaluations."""


class RoleSwitchingDebate(shared.Debate, five_phases.Pair, Debated):
    """A question on its way to a verdict."""

    gold: str
    waiting: list[Candidate]
    """The options that a knockout has still to hear, in the order drawn."""
    heard: int
    """Debates that a knockout has held."""
    samples: Annotated[list[Sample], operator.add]
    dropped: Annotated[int, operator.add]
    """Direct answers that a person took out."""
    distractor: Candidate | None
    failed: bool
    """True when no distractor could be found."""


def require(given: Mapping[str, Any], context: Settings) -> None:
    """InputError where there is no question or no choice, or no such gold answer as needed."""
    require_question(given)
    options = checked(given.get("options") or [])
    if context.candidates == "knockout" and not options:
        raise InputError("--candidates knockout: there are no options")
    gold = require_gold(given)
    if context.candidates in ("oracle", "balanced") and not gold:
        why = "it is for evaluations, where the gold answer is known (--gold LABEL)"
        raise InputError(f"--candidates {context.candidates}: {why}")


def prepare(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return what the graph takes; InputError where the input cannot be debated."""
    require(given, settings)
    return tidied(given)


def tidied(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input with its options as texts and the gold answer as a letter."""
    options = checked(given.get("options") or [])
    return {
        "question": given["question"],
        "options": options or None,
        "gold": letter(str(given.get("gold") or "")) or None,
    }


def require_gold(given: Mapping[str, Any]) -> str:
    """The letter of the right option, or nothing; InputError where it is no option's letter."""
    gold, options = letter(str(given.get("gold") or "")), given.get("options") or []
    if gold and (not options or gold not in letters(len(options))):
        raise InputError(f"--gold {gold}: there is no such option")
    return gold


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """The question, its options with their letters, and the order of a knockout."""
    context = settings(runtime, Settings)
    require(state, context)
    options = labelled(checked(state.get("options") or []))
    knockout = context.candidates == "knockout" and len(options) > 2
    kind = "knockout" if knockout else "leaf"
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": kind})
    waiting: list[Candidate] = []
    if knockout:
        numbers = order(len(options), context.seed, "0", state["question"])
        waiting = [options[number] for number in numbers]
    return {
        "id": "0",
        "take": 1,
        "background": [],
        "options": options,
        "gold": letter(str(state.get("gold") or "")),
        "waiting": waiting,
        "heard": 0,
    }


def after_opening(
    state: RoleSwitchingDebate, settings: Settings
) -> list[Send] | Literal["distractor", "pairing"]:
    """The gate's direct answers come first; an evaluation may ask a model for a distractor."""
    if settings.gate:
        return [Send("gate", _sample(state, number)) for number in range(1, settings.gate + 1)]
    return before_pairing(state, settings)


def _sample(state: RoleSwitchingDebate, number: int) -> ToSample:
    return {
        "id": "0",
        "question": state["question"],
        "options": state["options"],
        "number": number,
    }


def before_pairing(
    state: RoleSwitchingDebate, settings: Settings
) -> Literal["distractor", "pairing"]:
    """Only a distractor of the model's choice costs a call."""
    evaluation = settings.candidates in ("oracle", "balanced")
    return "distractor" if evaluation and settings.distractor == "model" else "pairing"


def after_gate(
    state: RoleSwitchingDebate, settings: Settings
) -> Literal["agreed", "distractor", "pairing"]:
    """All of one mind: no debate. RSD, Discussion: debate only when necessary."""
    unanimous = len(votes(state["samples"])) == 1
    everybody = len(state["samples"]) + state["dropped"] == settings.gate
    return "agreed" if unanimous and everybody else before_pairing(state, settings)


async def agreed(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """The answer that every sample gave. Nobody was asked how sure it is."""
    first = min(state["samples"], key=lambda sample: sample["number"])
    count = len(state["samples"])
    note = f"no debate: {count} direct {'answer' if count == 1 else 'answers'} agreed"
    tell(runtime, "0", "noted", {"note": note})
    told = {"answer": first["answer"], "rationale": first["reasoning"]}
    tell(runtime, "0", "settled", {"take": 1, "verdict": told, "provenance": ["0"]})
    return {
        "verdict": {
            "answer": first["answer"],
            "label": first["label"],
            "explanation": first["reasoning"] or None,
            "confidence": None,
            "confidence_source": None,
            "notes": [note],
        }
    }


class Pairing(TypedDict):
    """The next debate."""

    id: str
    held: bool
    candidates: dict[Side, Candidate]
    first: Side
    waiting: list[Candidate]
    heard: int


async def pairing(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Pairing:
    """Who debates what: the two options, the winner so far and the next, or gold and distractor.

    More than two options, or none: the debaters choose what they propose.
    """
    context = settings(runtime, Settings)
    pair: dict[Side, Candidate] = {}
    first: Side = "a"
    node, question, waiting = "0", state["question"], state["waiting"]
    if context.candidates in ("oracle", "balanced"):
        pair = _gold(state, context)
        if context.candidates == "balanced" and chance.coin(context.seed, "first", node, question):
            first = "b"
    elif waiting:
        champion = state["outcome"]["candidate"] if state["heard"] else None
        one, *waiting = waiting if champion is None else [champion, *waiting]
        two, *waiting = waiting
        node = f"0.{state['heard']}"
        pair = drawn(one, two, context.seed, node, question)
        told = f"{one['label']} or {two['label']}: {question}"
        tell(runtime, node, "opened", {"text": told, "depth": 1, "parent": "0", "kind": "leaf"})
        rounds = [f"0.{n}" for n in range(state["heard"] + 1)]
        tell(runtime, "0", "branched", {"children": rounds, "kind": "knockout"})
    elif len(state["options"]) == 2:
        one, two = state["options"]
        pair = drawn(one, two, context.seed, node, question)
    return {
        "id": node,
        "held": bool(pair),
        "candidates": pair,
        "first": first,
        "waiting": waiting,
        "heard": state["heard"] + 1,
    }


def _gold(state: RoleSwitchingDebate, context: Settings) -> dict[Side, Candidate]:
    gold, wrong = gold_pair(
        state["options"], state["gold"], context.distractor, context.seed, state["question"]
    )
    against, place = state["distractor"] or wrong, ("0", state["question"])
    balanced = context.candidates == "balanced"
    return gold_against(gold, against, context.seed, *place, balanced=balanced)


def after_debate(state: RoleSwitchingDebate) -> Literal["pairing", "ruling"]:
    """The winner stays on while an option waits; without a winner nobody goes on."""
    won = state["outcome"]["candidate"] is not None
    return "pairing" if won and state["waiting"] else "ruling"


async def undecided(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Debated:
    """There was no debate."""
    tell(runtime, "0", "settled", {"verdict": None})
    notes = ["there is no distractor to debate against"]
    outcome: Outcome = {
        "candidate": None,
        "uncertain": False,
        "rationale": "",
        "confidence": None,
        "notes": notes,
    }
    return {"outcome": outcome}


async def ruling(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """The outcome of the (last) debate as a verdict; of a knockout also at its root."""
    outcome, options = state["outcome"], state["options"]
    won = outcome["candidate"]
    if state["id"] != "0":
        told = (
            None
            if won is None
            else {
                "answer": won["text"],
                "rationale": outcome["rationale"],
                "confidence": outcome["confidence"],
                "winner": won["label"],
            }
        )
        rounds = [f"0.{n}" for n in range(state["heard"])]
        tell(runtime, "0", "settled", {"take": 1, "verdict": told, "provenance": rounds})
    label = won["label"] if won is not None and options else None
    notes = [*outcome["notes"]]
    if won is None and state["id"] != "0":
        notes.append(f"the knockout ended in debate {state['heard']}")
    if settings(runtime, Settings).candidates in ("oracle", "balanced"):
        notes.append("a debate with the gold answer in it is binary: chance is 50%")
    return {
        "verdict": {
            "answer": None if won is None else won["text"],
            "label": "uncertain" if outcome["uncertain"] else label,
            "explanation": outcome["rationale"] or None,
            "confidence": outcome["confidence"],
            "confidence_source": "judge",
            "notes": notes,
        }
    }


def role_switching_debate(
    name: str,
    debate: Graph,
) -> Graph:
    """The protocol around ``debate``: the whole of it, or one of its ablations."""
    flow = Flow(
        RoleSwitchingDebate,
        settings=Settings,
        input=Question,
        opening=opening,
        unresolved="undecided",
    )
    flow.role("gate", direct_answerer("debater_a"), on_drop=DROPPED)
    flow.step("gated")
    flow.step("agreed", agreed)
    flow.role("distractor", distractor, required=True)
    flow.step("undecided", undecided)
    flow.step("pairing", pairing)
    flow.graph("debate", debate)
    flow.step("ruling", ruling)

    flow.route(START, after_opening, "gate")
    flow.then("gate", "gated")
    flow.route("gated", after_gate)
    flow.then("agreed", END)
    flow.then("distractor", "pairing", "debate")
    flow.then("undecided", "ruling")
    flow.route("debate", after_debate)
    flow.then("ruling", END)
    return flow.compile(name)


graph = role_switching_debate("role_switching_debate", five_phases.graph)
no_role_switch = role_switching_debate("rsd_no_role_switch", five_phases.no_role_switch)
no_uncertainty = role_switching_debate("rsd_no_uncertainty", five_phases.no_uncertainty)
basic = role_switching_debate("rsd_basic", five_phases.basic)
