"""The candidates of a role-switching debate: their sources and their defenders.

Debaters are sides ``a`` and ``b``. Labels are the options' letters in the order given. Every draw
depends on the seed, the node and the question, so that sides are balanced over many questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree.answers import distinct_options, is_same_answer, letter
from dialectree.errors import InputError
from dialectree.flow import Step
from dialectree.flow.steps import require_question
from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    Candidate,
    FivePhases,
    Pair,
    Question,
    RoleSwitchingDebate,
    Settings,
    Side,
    get_opponent,
    latest,
)
from dialectree.protocols.inside import inside, root
from dialectree.records import Place
from dialectree.system import chance
from dialectree.trace.events import tell


def prepare(inputs: Mapping[str, Any], settings: Settings, *, debated: bool = True) -> dict[str, Any]:
    """Return the question, its options as texts and the gold answer as a letter.

    Raise InputError if the question cannot be debated or, without ``debated``, be answered directly.
    """
    require_question(inputs)
    options = distinct_options(inputs.get("options") or [])
    gold = letter(str(inputs.get("gold") or ""))
    if debated and settings.candidates == "knockout" and not options:
        raise InputError("`candidates` knockout: there are no options")
    if gold and gold not in [*ascii_uppercase[: len(options)]]:
        raise InputError(f"`gold` {gold}: there is no such option")
    if settings.uses_gold() and not gold:
        why = "it is for evaluations, where the gold answer is known (`gold` LABEL)"
        raise InputError(f"`candidates` {settings.candidates}: {why}")
    if settings.asks_for_distractor() and not debated:
        raise InputError("`distractor` model: only a debate asks a model; use first or random")
    background_field = {"background": [*inputs["background"]]} if inputs.get("background") else {}
    return {
        "question": inputs["question"],
        **background_field,
        "options": options or None,
        "gold": gold or None,
    }


prepare_alone = partial(prepare, debated=False)


def label_options(options: Sequence[str]) -> list[Candidate]:
    """Return the options with their letters."""
    return [{"label": ascii_uppercase[n], "text": text} for n, text in enumerate(options)]


def texts(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return text by label, in the order of the labels."""
    return {c["label"]: c["text"] for c in sorted(candidates, key=lambda c: c["label"])}


def opening(count_answers: Callable[[Settings], int], *, debated: bool = True) -> Step:
    """Return the step that labels a question's options, and draws the order of a knockout.

    ``count_answers`` returns the number of direct answers. If an evaluation chooses two options for
    its debates, a question that is not ``debated`` keeps only these two.
    """

    async def opening(state: Question, runtime: Runtime[Settings]) -> dict[str, object]:
        context, question = runtime.context, state["question"]
        inputs = prepare(state, context, debated=debated)
        options, gold = label_options(inputs["options"] or []), inputs["gold"] or ""
        if context.uses_gold() and not debated:
            pair = gold_pair(options, gold, context, question)
            options = sorted(pair, key=lambda option: option["label"])
        knockout = debated and context.candidates == "knockout" and len(options) > 2
        kind = "knockout" if knockout else "leaf"
        tell(runtime, root(), "opened", {"text": question, "kind": kind})
        waiting = shuffle_options(options, context.seed, *make_draw_key(question)) if knockout else []
        update = {"options": options, "gold": gold, "waiting": waiting, "round": 0}
        background = state.get("background") or []
        return {"id": root(), "asked": count_answers(context), "background": background, **update}

    return opening


async def pairing(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Choose the next debates: a knockout's round, the gold answer against a distractor, or two options.

    With more than two options, or with none, the debaters propose the answers themselves.
    """
    context, question, options = runtime.context, state["question"], state["options"]
    if state["waiting"]:
        return next_round(state, runtime)
    candidates: dict[Side, Candidate] = {}
    first: Side = "a"
    if context.uses_gold():
        gold, wrong = gold_pair(options, state["gold"], context, question)
        candidates = {"a": gold, "b": state["distractor"] or wrong}
        if context.candidates == "balanced":
            candidates = assign_sides(
                candidates["a"], candidates["b"], context.seed, *make_draw_key(question)
            )
            first = "b" if chance.coin(context.seed, "first", *make_draw_key(question)) else "a"
    elif len(options) == 2:
        candidates = assign_sides(options[0], options[1], context.seed, *make_draw_key(question))
    return {"pairs": [pair(state, root(), candidates, first)]}


def next_round(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Pair the waiting options in their order; the last of an odd number has a bye."""
    waiting, number, question = state["waiting"], state["round"] + 1, state["question"]
    seed, pairs, met = runtime.context.seed, list[Pair](), list[str]()
    for first_option, two in zip(waiting[::2], waiting[1::2], strict=False):
        node = f"{root()}.{len(state['settled']) + len(pairs)}"
        text = f"{first_option['label']} or {two['label']}: {question}"
        tell(runtime, node, "opened", {"text": text, "kind": "leaf", "round": number})
        pairs.append(pair(state, node, assign_sides(first_option, two, seed, node, question)))
        met.append(f"{first_option['label']} against {two['label']}")
    bye = waiting[2 * len(pairs) :]
    out = "".join(f"; {option['label']} has a bye" for option in bye)
    debates = [f"{root()}.{n}" for n in range(len(state["settled"]) + len(pairs))]
    tell(runtime, root(), "branched", {"children": debates, "kind": "knockout"})
    tell(runtime, root(), "noted", {"note": f"round {number}: {', '.join(met)}{out}"})
    return {"round": number, "pairs": pairs, "waiting": bye}


def pair(state: RoleSwitchingDebate, node: str, candidates: dict[Side, Candidate], first: Side = "a") -> Pair:
    """Return the input for the graph of one debate."""
    return {
        "id": node,
        "question": state["question"],
        "background": state["background"],
        "options": state["options"],
        "assigned": bool(candidates),
        "candidates": candidates,
        "first": first,
    }


async def standing(state: RoleSwitchingDebate) -> dict[str, object]:
    """Let the winners of a round wait for the next one, after the option that had a bye.

    A debate without a winner ends a knockout, so no option waits any longer.
    """
    outcomes = [state["settled"][pair["id"]] for pair in state["pairs"]]
    if not state["round"] or any(outcome["answer"] is None for outcome in outcomes):
        return {"waiting": []}
    options = {option["label"]: option for option in state["options"]}
    winners = [options[str(outcome["label"])] for outcome in outcomes]
    return {"waiting": [*state["waiting"], *winners]}


def make_draw_key(question: str) -> tuple[str, ...]:
    """Return what the draws about ``question`` depend on, besides the seed."""
    return (*inside.get().draw(), question)


def assign_sides(first: Candidate, second: Candidate, seed: int, *place: str) -> dict[Side, Candidate]:
    """Return the two candidates by the side that defends each."""
    if chance.coin(seed, "candidates", *place):
        return {"a": first, "b": second}
    return {"a": second, "b": first}


def shuffle_options(options: Sequence[Candidate], seed: int, *place: str) -> list[Candidate]:
    """Return the options in an order drawn from the seed."""
    order = sorted(range(len(options)), key=lambda n: chance.seed(seed, "order", *place, n))
    return [options[number] for number in order]


def gold_pair(
    options: Sequence[Candidate], gold: str, settings: Settings, question: str
) -> tuple[Candidate, Candidate]:
    """Return the gold option and a wrong one: the first, or a drawn one, without a model call."""
    right = next(option for option in options if option["label"] == gold)
    wrong = [option for option in options if option["label"] != gold]
    if settings.distractor == "random":
        wrong = shuffle_options(wrong, settings.seed, *make_draw_key(question))
    return right, wrong[0]


def read_from(first: Side, candidates: Mapping[Side, Candidate]) -> dict[str, str]:
    """Return the candidates' texts by label, beginning with the candidate of side ``first``."""
    return {candidates[s]["label"]: candidates[s]["text"] for s in (first, get_opponent(first))}


class SameAnswerReply(BaseModel):
    """Whether two texts are the same answer."""

    same: bool


def find_proposed_answer(state: FivePhases, side: Side) -> str:
    """Return the answer that ``side`` proposed; empty if its proposal failed."""
    proposal = latest(state["turns"], side, "proposals")
    return "" if proposal is None else str(proposal["answer"])


async def meeting(state: FivePhases) -> dict[str, object]:
    """Compare the proposals: options as they are, open answers by their words.

    Two open answers in different words may still be the same answer: a model decides.
    """
    a, b = (find_proposed_answer(state, side) for side in SIDES)
    if state["assigned"] or not a or not b:
        return {"agreed": "no"}
    if state["options"]:
        return {"agreed": "yes" if a == b else "no"}
    return {"agreed": "yes" if is_same_answer(a, b) else "unknown"}


async def same_answer(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, object]:
    """Ask whether the two proposals are the same answer."""
    reply = await ask(
        runtime,
        Place(node=state["id"], phase="proposals", role="judge", speaker="same_answer", step=1),
        "role_switching_debate/same_answer",
        SameAnswerReply,
        max_tokens=200,
        question=state["question"],
        background=state["background"],
        candidates=[find_proposed_answer(state, side) for side in SIDES],
    )
    return {"agreed": "yes" if reply.same else "no"}


async def pair_proposals(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, object]:
    """Let each debater defend its proposal. Open answers have the labels A and B.

    A notice of the run names the options that are left out.
    """
    labels = {option["text"]: option["label"] for option in state["options"]}
    candidates: dict[Side, Candidate] = {}
    for side in SIDES:
        answer = find_proposed_answer(state, side)
        candidates[side] = {"label": labels.get(answer, side.upper()), "text": answer}
    debated = [candidate["label"] for candidate in candidates.values()]
    if out := ", ".join(label for label in labels.values() if label not in debated):
        notice = f"left out of the debate: {out}; `candidates` knockout debates every option"
        run_of(runtime).notices.append(notice)
    return {"candidates": candidates}
