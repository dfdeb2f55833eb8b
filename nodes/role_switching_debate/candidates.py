"""The candidates of a role-switching debate: where they come from, and who defends which.

Debaters are sides ``a`` and ``b``. Labels are the options' letters in the order given. Every draw
depends on the seed, the node and the question, so that over many questions no side is favoured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree import chance
from dialectree.context import settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import distinct_options, letter, same
from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    Candidate,
    FivePhases,
    Question,
    RoleSwitchingDebate,
    Settings,
    Side,
    latest,
    other,
)
from dialectree.steps import require_question


def prepare(
    given: Mapping[str, Any], settings: Settings, *, debated: bool = True
) -> dict[str, Any]:
    """Return the question, its options as texts and the gold answer as a letter.

    Raise InputError where the question cannot be ``debated``, or answered directly.
    """
    require_question(given)
    options, gold = (
        distinct_options(given.get("options") or []),
        letter(str(given.get("gold") or "")),
    )
    if debated and settings.candidates == "knockout" and not options:
        raise InputError("--candidates knockout: there are no options")
    if gold and gold not in [*ascii_uppercase[: len(options)]]:
        raise InputError(f"--gold {gold}: there is no such option")
    if settings.uses_gold() and not gold:
        why = "it is for evaluations, where the gold answer is known (--gold LABEL)"
        raise InputError(f"--candidates {settings.candidates}: {why}")
    if settings.asks_for_distractor() and not debated:
        raise InputError("--distractor model: only a debate asks a model; use first or random")
    return {"question": given["question"], "options": options or None, "gold": gold or None}


def labelled(options: Sequence[str]) -> list[Candidate]:
    """Return the options with their letters."""
    return [{"label": ascii_uppercase[n], "text": text} for n, text in enumerate(options)]


def texts(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return text by label, in the order of the labels."""
    return {c["label"]: c["text"] for c in sorted(candidates, key=lambda c: c["label"])}


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Tell of the question, label its options, and draw the order of a knockout."""
    context, question = settings(runtime, Settings), state["question"]
    given = prepare(state, context)
    options = labelled(given["options"] or [])
    knockout = context.candidates == "knockout" and len(options) > 2
    opened = {"text": question, "depth": 0, "kind": "knockout" if knockout else "leaf"}
    tell(runtime, "0", "opened", opened)
    return {
        "id": "0",
        "take": 1,
        "background": [],
        "options": options,
        "gold": given["gold"] or "",
        "waiting": shuffled(options, context.seed, "0", question) if knockout else [],
        "debates": 0,
        "asked": context.gate,
    }


async def pairing(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Choose who debates what next: gold and distractor, the winner so far and the next, or both.

    With more than two options or none, the debaters choose what they propose.
    """
    context, question = settings(runtime, Settings), state["question"]
    node, options, waiting = "0", state["options"], state["waiting"]
    pair: dict[Side, Candidate] = {}
    first: Side = "a"
    if context.uses_gold():
        gold, wrong = gold_pair(options, state["gold"], context, question)
        pair = {"a": gold, "b": state["distractor"] or wrong}
        if context.candidates == "balanced":
            pair = drawn(pair["a"], pair["b"], context.seed, node, question)
            first = "b" if chance.coin(context.seed, "first", node, question) else "a"
    elif waiting:
        node = f"0.{state['debates']}"
        if state["debates"]:
            winner = state["outcome"]["label"]
            waiting = [*(o for o in options if o["label"] == winner), *waiting]
        one, two, *waiting = waiting
        pair = drawn(one, two, context.seed, node, question)
        text = f"{one['label']} or {two['label']}: {question}"
        tell(runtime, node, "opened", {"text": text, "depth": 1, "parent": "0", "kind": "leaf"})
        rounds = [f"0.{n}" for n in range(state["debates"] + 1)]
        tell(runtime, "0", "branched", {"children": rounds, "kind": "knockout", "in_turn": True})
    elif len(options) == 2:
        pair = drawn(options[0], options[1], context.seed, node, question)
    return {
        "id": node,
        "assigned": bool(pair),
        "candidates": pair,
        "first": first,
        "waiting": waiting,
        "debates": state["debates"] + 1,
    }


def drawn(first: Candidate, second: Candidate, seed: int, *place: str) -> dict[Side, Candidate]:
    """Return who defends which of two candidates."""
    if chance.coin(seed, "candidates", *place):
        return {"a": first, "b": second}
    return {"a": second, "b": first}


def shuffled(options: Sequence[Candidate], seed: int, *place: str) -> list[Candidate]:
    """Return the options in an order drawn from the seed."""
    order = sorted(range(len(options)), key=lambda n: chance.seed(seed, "order", *place, n))
    return [options[number] for number in order]


def gold_pair(
    options: Sequence[Candidate], gold: str, settings: Settings, question: str
) -> tuple[Candidate, Candidate]:
    """Return the gold option and a wrong one: the first, or one drawn. Never ask a model."""
    right = next(option for option in options if option["label"] == gold)
    wrong = [option for option in options if option["label"] != gold]
    if settings.distractor == "random":
        wrong = shuffled(wrong, settings.seed, "0", question)
    return right, wrong[0]


def read_from(first: Side, candidates: Mapping[Side, Candidate]) -> dict[str, str]:
    """Return text by label, the candidate of ``first`` before the other's."""
    return {candidates[s]["label"]: candidates[s]["text"] for s in (first, other(first))}


class SameAnswerReply(BaseModel):
    """Whether two texts are the same answer."""

    same: bool


def proposed(state: FivePhases, side: Side) -> str:
    """Return the answer that ``side`` proposed; nothing where its proposal failed."""
    proposal = latest(state["turns"], side, "proposals")
    return "" if proposal is None else str(proposal["answer"])


async def meeting(state: FivePhases) -> dict[str, object]:
    """Compare the proposals: options as they are, open answers by their words.

    Two open answers in different words may still be one. A model has to say whether they are.
    """
    a, b = (proposed(state, side) for side in SIDES)
    if state["assigned"] or not a or not b:
        return {"agreed": "no"}
    if state["options"]:
        return {"agreed": "yes" if a == b else "no"}
    return {"agreed": "yes" if same(a, b) else "unknown"}


async def same_answer(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask whether the two proposals are the same answer."""
    reply = await ask(
        runtime,
        Place(state["id"], "judge", "proposals", 1, take=state["take"], speaker="same_answer"),
        "role_switching_debate/same_answer",
        SameAnswerReply,
        max_tokens=200,
        question=state["question"],
        background=state["background"],
        candidates=[proposed(state, side) for side in SIDES],
    )
    return {"agreed": "yes" if reply.same else "no"}


async def proposed_pair(state: FivePhases) -> dict[str, object]:
    """Let each debater defend what it proposed. Open answers are A and B."""
    labels = {option["text"]: option["label"] for option in state["options"]}
    candidates: dict[Side, Candidate] = {}
    for side in SIDES:
        answer = proposed(state, side)
        candidates[side] = {"label": labels.get(answer, side.upper()), "text": answer}
    return {"candidates": candidates}
