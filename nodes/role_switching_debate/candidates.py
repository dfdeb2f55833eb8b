"""The candidates of a role-switching debate: where they come from, and who defends which.

Debaters are sides ``a`` and ``b``. Labels are the options' letters in the order given. Every draw
is made from the seed and its ``place``, the node and the question, so that over many questions of
one seed no side is favoured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree import chance
from dialectree.context import settings
from dialectree.errors import InputError
from dialectree.events import tell
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import exact, letter, letters, same
from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    Candidate,
    FivePhases,
    Question,
    RoleSwitchingDebate,
    Settings,
    Side,
    other,
)
from dialectree.nodes.role_switching_debate.transcript import latest
from dialectree.steps import require_question

LONGEST = 6000
"""Characters of an answer: debaters and judge write it out word for word."""
_SHORT = 200


# The options of a question


def prepare(
    given: Mapping[str, Any], settings: Settings, *, debated: bool = True
) -> dict[str, Any]:
    """Return the input with its options as texts and the gold answer as a letter.

    InputError where it cannot be ``debated``, or answered directly.
    """
    require(given, settings, debated=debated)
    return {
        "question": given["question"],
        "options": checked(given.get("options") or []) or None,
        "gold": letter(str(given.get("gold") or "")) or None,
    }


def require(given: Mapping[str, Any], settings: Settings, *, debated: bool = True) -> None:
    """Raise InputError where there is no question, no choice, or no gold answer as needed."""
    require_question(given)
    options, gold = checked(given.get("options") or []), letter(str(given.get("gold") or ""))
    if debated and settings.candidates == "knockout" and not options:
        raise InputError("--candidates knockout: there are no options")
    if gold and (not options or gold not in letters(len(options))):
        raise InputError(f"--gold {gold}: there is no such option")
    if settings.uses_gold() and not gold:
        why = "it is for evaluations, where the gold answer is known (--gold LABEL)"
        raise InputError(f"--candidates {settings.candidates}: {why}")
    if settings.uses_gold() and settings.distractor == "model" and not debated:
        why = "only a debate asks a model for it; use first or random"
        raise InputError(f"--distractor model: {why}")


def checked(options: object) -> list[str]:
    """Return the options as texts; InputError where a debate cannot choose between them."""
    if isinstance(options, str):
        raise InputError("--option: the options are one text; give a list of them")
    if isinstance(options, Mapping) or not isinstance(options, Iterable):
        raise InputError("--option: the options are no list; give one, [] for an open question")
    texts: list[str] = []
    for number, option in enumerate(options, 1):
        if not isinstance(option, str | int | float):
            raise InputError(f"--option: option {number} is no text")
        texts.append(str(option).strip())
    if len(texts) == 1:
        raise InputError("--option: one option is no choice; give two or more, or none")
    if len(texts) > len(letters(26)):
        raise InputError(f"--option: {len(texts)} options; there are letters for 26")
    seen: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        if not exact(text):
            raise InputError(f"--option: option {number} is empty")
        if len(text) > LONGEST:
            raise InputError(f"--option: option {number} is longer than {LONGEST:,} characters")
        first = seen.setdefault(exact(text), number)
        if first != number:
            raise InputError(f"--option: options {first} and {number} are the same")
    return texts


def labelled(options: Sequence[str]) -> list[Candidate]:
    """Return the options with their letters."""
    labels = letters(len(options)) if options else ()
    return [{"label": label, "text": text} for label, text in zip(labels, options, strict=True)]


def texts(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return text by label, in the order of the labels."""
    return {c["label"]: c["text"] for c in sorted(candidates, key=lambda c: c["label"])}


# How a reply names one of several answers


def shortened(answer: str) -> str:
    """Return the beginning of an answer, where it only serves to say which one is meant."""
    return answer if len(answer) <= _SHORT else f"{answer[:_SHORT]}…"


def offered(answers: Sequence[str]) -> dict[str, list[str]]:
    """Return the answers as a suggestion for the schema; none where one is too long for it."""
    if not answers or any(len(answer) > _SHORT for answer in answers):
        return {}
    return {"answer": list(dict.fromkeys(answers))}


def tokens(*answers: str) -> int:
    """Return how many tokens more than a short answer one of ``answers`` may take."""
    return max((len(answer) // 3 for answer in answers if len(answer) > _SHORT), default=0)


# Who defends what


async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
    """Tell of the question, label its options, and draw the order of a knockout."""
    context = settings(runtime, Settings)
    require(state, context)
    options = labelled(checked(state.get("options") or []))
    knockout = context.candidates == "knockout" and len(options) > 2
    kind = "knockout" if knockout else "leaf"
    tell(runtime, "0", "opened", {"text": state["question"], "depth": 0, "kind": kind})
    drawn_order = order(len(options), context.seed, "0", state["question"]) if knockout else []
    return {
        "id": "0",
        "take": 1,
        "background": [],
        "options": options,
        "gold": letter(str(state.get("gold") or "")),
        "waiting": [options[number] for number in drawn_order],
        "debates": 0,
        "asked": context.gate,
    }


async def pairing(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Choose who debates what next: gold and distractor, the winner so far and the next, or both.

    With more than two options or none, the debaters choose what they propose.
    """
    context, question = settings(runtime, Settings), state["question"]
    node, waiting = "0", state["waiting"]
    pair: dict[Side, Candidate] = {}
    first: Side = "a"
    if context.uses_gold():
        gold, wrong = gold_pair(state["options"], state["gold"], context, question)
        pair = {"a": gold, "b": state["distractor"] or wrong}
        if context.candidates == "balanced":
            pair = drawn(pair["a"], pair["b"], context.seed, node, question)
            first = "b" if chance.coin(context.seed, "first", node, question) else "a"
    elif waiting:
        node = f"0.{state['debates']}"
        if state["debates"]:
            waiting = [_winner(state), *waiting]
        one, two, *waiting = waiting
        pair = drawn(one, two, context.seed, node, question)
        text = f"{one['label']} or {two['label']}: {question}"
        tell(runtime, node, "opened", {"text": text, "depth": 1, "parent": "0", "kind": "leaf"})
        rounds = [f"0.{n}" for n in range(state["debates"] + 1)]
        tell(runtime, "0", "branched", {"children": rounds, "kind": "knockout", "in_turn": True})
    elif len(state["options"]) == 2:
        one, two = state["options"]
        pair = drawn(one, two, context.seed, node, question)
    return {
        "id": node,
        "assigned": bool(pair),
        "candidates": pair,
        "first": first,
        "waiting": waiting,
        "debates": state["debates"] + 1,
    }


def _winner(state: RoleSwitchingDebate) -> Candidate:
    label = state["outcome"]["label"]
    return next(option for option in state["options"] if option["label"] == label)


def drawn(first: Candidate, second: Candidate, seed: int, *place: str) -> dict[Side, Candidate]:
    """Return who defends which of two candidates."""
    if chance.coin(seed, "candidates", *place):
        return {"a": first, "b": second}
    return {"a": second, "b": first}


def order(count: int, seed: int, *place: str) -> list[int]:
    """Return the numbers of ``count`` options in a drawn order."""
    return sorted(range(count), key=lambda number: chance.seed(seed, "order", *place, number))


def gold_pair(
    options: Sequence[Candidate], gold: str, settings: Settings, question: str
) -> tuple[Candidate, Candidate]:
    """Return the gold option and a wrong one: the first, or one drawn. Never ask a model."""
    right = next(option for option in options if option["label"] == gold)
    wrong = [option for option in options if option["label"] != gold]
    if settings.distractor != "random":
        return right, wrong[0]
    return right, wrong[order(len(wrong), settings.seed, "0", question)[0]]


def read_from(first: Side, candidates: Mapping[Side, Candidate]) -> dict[str, str]:
    """Return text by label, the candidate of ``first`` before the other's."""
    return {candidates[s]["label"]: candidates[s]["text"] for s in (first, other(first))}


def side_of(label: str, candidates: Mapping[Side, Candidate]) -> Side:
    """Return who defends the candidate ``label``."""
    return "a" if candidates["a"]["label"] == label else "b"


# Where two proposals meet


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
        Place(state["id"], "judge", "proposals", 1, take=state["take"], who="same_answer"),
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
    answers = {side: proposed(state, side) for side in SIDES}
    return {
        "candidates": {
            side: {"label": labels.get(answer, side.upper()), "text": answer}
            for side, answer in answers.items()
        }
    }
