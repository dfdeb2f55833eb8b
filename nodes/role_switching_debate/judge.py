"""The judge of a role-switching debate, a model or a person, and the outcome of its rulings.

RSD, Method, phase V. In the paper, a debate that was won counted as lost, because its verdict was
mapped to the wrong candidate. So the judge names a label and the text of an answer, and both must
name the same candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Annotated, Any, NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.answers import LONGEST, letter, suggest_answers, tokens
from dialectree.answers import ruling as ruled_candidate
from dialectree.flow.human_input import ask_person
from dialectree.flow.jury import Count, count, jury
from dialectree.flow.state import Ruling
from dialectree.flow.steps import PERSON, settle
from dialectree.models.door import ByText
from dialectree.models.reading import rest_on
from dialectree.nodes.role_switching_debate.candidates import read_from, texts
from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    SWAPPED,
    Debated,
    FivePhases,
    RoleSwitchingDebate,
    Settings,
    Turn,
    blocks,
    get_opponent,
    latest,
)
from dialectree.protocols.inside import root
from dialectree.records import Place
from dialectree.text import figure
from dialectree.trace.events import tell

UNCERTAIN = "uncertain"


class JudgeReply(BaseModel):
    """A ruling on a debate, after the reasons for it."""

    rationale: Annotated[str, Field(min_length=1, max_length=3000)]
    label: Annotated[str, BeforeValidator(lambda v: letter(v) if isinstance(v, str) else v)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    confidence: Annotated[float, Field(ge=0, le=1)] | None


class NamedRuling(BaseModel):
    """A ruling by a model of medium size, which names the answer's text and no letter."""

    rationale: Annotated[str, Field(min_length=1, max_length=3000)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    confidence: Annotated[float, Field(ge=0, le=1)] | None


def by_text(possible: Mapping[str, str]) -> ByText[JudgeReply] | None:
    """Return the reply in which a model of medium size names the answer by its text.

    None if two candidates share a text. Asked for a letter, a model of medium size chose A in 23 of 24
    rulings, right or wrong.
    """
    labels = {text: label for label, text in possible.items()}
    if len(labels) < len(possible):
        return None

    def read(ruling: NamedRuling) -> JudgeReply:
        return JudgeReply(label=labels[ruling.answer], **ruling.model_dump())

    return ByText(NamedRuling, {"answer": [*labels]}, read)


def choices(state: FivePhases, settings: Settings) -> dict[str, str]:
    """Return the text of each label that a ruling may name."""
    labels = texts([*state["candidates"].values()])
    return {**labels, UNCERTAIN: UNCERTAIN} if settings.allow_uncertain else labels


async def judge(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, object]:
    """Judge in phase 5: weigh soundness and admitted doubts, in one or both orders of the sides.

    If label and answer of a ruling name different candidates, ask once more. A verdict needs at
    least one complete ruling.
    """
    context = runtime.context
    possible, firsts = (choices(state, context), {"": state["first"], SWAPPED: get_opponent(state["first"])})
    phases = {turn["phase"] for turn in state["turns"]}

    def candidate(reply: JudgeReply) -> str | None:
        return ruled_candidate(reply.label, reply.answer, possible)

    def place(round: int) -> Place:
        return Place(node=state["id"], phase="judgment", role="judge", round=round, step=round - 1)

    def build_order_fields(order: str) -> dict[str, object]:
        return {
            "candidates": read_from(firsts[order], state["candidates"]),
            "blocks": blocks(state, until="uncertainty", first=firsts[order]),
        }

    ask = partial(
        jury,
        runtime,
        prompt="role_switching_debate/judge",
        reply=JudgeReply,
        judges=context.jury,
        orders={order: build_order_fields(order) for order in context.orders()},
        ids={"label": [*possible]},
        suggested=suggest_answers([*possible.values()]),
        names=candidate,
        by_text=by_text(possible),
        max_tokens=900 + tokens(*possible.values()),
        question=state["question"],
        background=state["background"],
        switched="role_switch" in phases,
        admitted="uncertainty" in phases,
        allow_uncertain=context.allow_uncertain,
    )
    heard = await ask(place(1), mismatch=None)
    silent = {jury_ruling.judge for jury_ruling in heard if jury_ruling.reply is None}
    unclear = {
        jury_ruling.speaker: {"mismatch": jury_ruling.reply.model_dump()}
        for jury_ruling in heard
        if jury_ruling.reply and jury_ruling.judge not in silent and candidate(jury_ruling.reply) is None
    }
    if unclear:
        heard += await ask(place(2), again=unclear)
        silent = {jury_ruling.judge for jury_ruling in heard if jury_ruling.reply is None}
    turns: list[Turn] = [
        {
            "speaker": jury_ruling.speaker or "judge",
            "phase": "judgment",
            "fields": {**jury_ruling.reply.model_dump(), "candidate": candidate(jury_ruling.reply)},
        }
        for jury_ruling in heard
        if jury_ruling.reply is not None
    ]
    all_silent = len(silent) == len(context.rulings()) and not any(
        jury_ruling.dropped for jury_ruling in heard
    )
    return {"turns": turns, "failed": all_silent}


async def person(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Let a person rule: the run stops with the transcript and goes on with a label.

    An empty label means no ruling.
    """
    possible = choices(state, runtime.context)
    label = await ask_person(
        runtime,
        node=state["id"],
        kind="judge",
        question=state["question"],
        request=f"Which answer is right? Reply with one of: {', '.join(possible)}",
        transcript=_readable(state),
        labels=[*possible],
    )
    fields = {"rationale": "", "label": label, "confidence": None, "candidate": label or None}
    return {"turns": [{"speaker": "judge", "phase": "judgment", "fields": fields}]}


def _readable(state: FivePhases) -> str:
    """Return the whole transcript as a text for a person.

    Each part is on one line, so that one debater's words cannot pass for the other's.
    """
    candidates = read_from(state["first"], state["candidates"])
    lines = [f"{label}: {_line(text)}" for label, text in candidates.items()]
    for block in blocks(state, until="uncertainty", first=state["first"]):
        lines.append(f"\nDebater {block['label']}, {block['phase']}")
        lines += [f"  {_line(name)}: {_line(text)}" for name, text in block["lines"]]
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def find_common_label(rulings: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[str]]:
    """Return the label that all rulings of one judge name, or None; and notes on these rulings."""
    candidates = {ruling["candidate"] for ruling in rulings}
    if None in candidates:
        silent = not all(ruling["label"] for ruling in rulings)
        mismatch = "the judge's label and answer do not name the same candidate"
        return None, ["the person gave no ruling" if silent else mismatch]
    if len(candidates) > 1:
        return None, ["position bias: the judge ruled otherwise when the sides were swapped"]
    (label,) = candidates
    return label, ["the judge ruled that neither side convinced"] if label == UNCERTAIN else []


async def verdict(state: FivePhases, runtime: Runtime[Settings]) -> Debated:
    """Settle the debate, and note the confidences that both sides disclosed.

    A judge without a complete ruling has no vote, but the majority needs over half of all judges.
    """
    rulings = _collect_rulings(state["turns"], runtime.context.rulings())
    votes, label = rulings.votes, rulings.votes.value
    notes = [*rulings.notes] if rulings.rulings else [*rulings.notes, _NO_RULING]
    by_person = runtime.context.judge == "me" and label is not None
    if by_person:
        notes.insert(0, "a person ruled, and gave no confidence")
    winner = None if label == UNCERTAIN else label
    notes += describe_confidences(state, winner)
    if winner and rulings.alone:
        notes += _describe_two_orders(rulings.heard)
    ruling = await settle(
        runtime,
        texts([*state["candidates"].values()])[winner] if winner else None,
        node=state["id"],
        label=label,
        winner=winner,
        rationale="\n".join(ruling["rationale"] for ruling in rulings.heard).strip(),
        confidence=rulings.average_confidence() if winner else None,
        confidence_source=PERSON if by_person else "judge" if rulings.alone else "jury",
        notes=notes,
        agreement=None if rulings.alone else votes.agreement,
        dissent=votes.dissent,
    )
    return {"outcome": ruling["verdict"]}


_NO_RULING = "no ruling: a person took the ruling out"


class _Rulings(NamedTuple):
    """The complete rulings of all judges, and how their votes fell."""

    rulings: Mapping[str, Sequence[Mapping[str, Any]]]
    """By judge, a ruling for each order in which the judge read the sides."""
    votes: Count
    alone: bool
    """Whether there is one judge."""
    notes: Sequence[str]

    @property
    def heard(self) -> list[Mapping[str, Any]]:
        """The rulings that give the rationale: the only judge's, or those of the majority's first judge."""
        judges = [*self.rulings] if self.alone else self.votes.majority[:1]
        return [ruling for judge in judges for ruling in self.rulings[judge]]

    def average_confidence(self) -> float | None:
        """Return the mean of the majority's confidences, or None if the majority gave none."""
        confidences = [_lowest(self.rulings[judge]) for judge in self.votes.majority]
        known_confidences = [confidence for confidence in confidences if confidence is not None]
        return mean(known_confidences) if known_confidences else None


def _collect_rulings(turns: Sequence[Turn], judges: Sequence[Sequence[str]]) -> _Rulings:
    """Return the rulings of the ``judges`` that ruled in each order, and count their votes."""
    last = [[latest(turns, name, "judgment") for name in names] for names in judges]
    rulings = {
        str(n): [ruling for ruling in judge_rulings if ruling]
        for n, judge_rulings in enumerate(last, 1)
        if None not in judge_rulings
    }
    ruled = {judge: find_common_label(judge_rulings) for judge, judge_rulings in rulings.items()}
    votes = count({judge: label for judge, (label, _) in ruled.items()}, of=len(judges))
    alone = len(judges) == 1
    notes = [note for _, judge_notes in ruled.values() for note in judge_notes]
    return _Rulings(rulings, votes, alone, notes if alone else _spread(ruled, votes))


def _describe_two_orders(rulings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note if the only judge was not equally sure in both orders of the sides."""
    confidences = [ruling["confidence"] for ruling in rulings]
    if len({*confidences}) < 2:
        return []
    figures = " and ".join(figure(confidence, "none") for confidence in confidences)
    counted = "none" if None in confidences else "the lower one"
    return [f"the judge's confidence in the two orders: {figures}; {counted} counts"]


def _lowest(rulings: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the lower confidence of a judge's two orders, or None if one is missing."""
    confidences = [ruling["confidence"] for ruling in rulings]
    return None if None in confidences else min(confidences)


def _spread(ruled: Mapping[str, tuple[str | None, list[str]]], votes: Count) -> list[str]:
    """Return notes on a missing majority, and on judges whose ruling does not count."""
    notes = [
        f"judge {who} rules nothing: {', '.join(judge_notes)}"
        for who, (label, judge_notes) in ruled.items()
        if label is None
    ]
    if votes.value == UNCERTAIN:
        notes.insert(0, "the judges ruled that neither side convinced")
    return [votes.note, *notes] if votes.note else notes


async def broken_off(state: FivePhases, runtime: Runtime[Settings]) -> Debated:
    """End a debate that lost a necessary part."""
    ruled = await settle(runtime, None, node=state["id"])
    notes = ["a part that the debate needs failed for good", *describe_confidences(state)]
    return {"outcome": {**ruled["verdict"], "notes": notes}}


async def settle_without_debate(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> dict[str, object]:
    """Settle the question without an answer, because there was no debate."""
    ruled = await settle(runtime, None)
    notes = ["there is no distractor to debate against"]
    return {"settled": {root(): {**ruled["verdict"], "notes": notes}}}


def describe_confidences(state: FivePhases, winner: str | None = None) -> list[str]:
    """Return notes on both debaters' confidence, and on a loser surer than the winner."""
    sure = {
        state["candidates"][side]["label"]: report["percent"]
        for side in SIDES
        if (report := latest(state["turns"], side, "uncertainty"))
    }
    if not sure:
        return []
    confidence_texts = (f"{name} {figure(percent / 100)}" for name, percent in sure.items())
    notes = [f"the debaters disclosed their confidence: {', '.join(confidence_texts)}"]
    if winner in sure and max(sure.values()) > sure[winner]:
        notes.append("the loser disclosed more confidence than the winner")
    return notes


async def ruling(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """Return the outcome of the debate, or of a knockout's last debate, as the verdict.

    A debate without a winner ends a knockout, even if other debates of the round had winners.
    """
    debates = state["settled"]
    undecided_debates = [name for name, outcome in debates.items() if outcome["answer"] is None]
    outcome = debates[(undecided_debates or [*debates][-1:])[0]]
    notes = [*outcome["notes"]]
    if state["round"]:
        verdict_fields = {name: outcome[name] for name in ("answer", "rationale", "confidence")}
        verdict = None if undecided_debates else {**verdict_fields, "winner": outcome["label"]}
        tell(runtime, root(), "settled", {"verdict": verdict, "provenance": [*debates]})
        if undecided_debates:
            ended = f"the knockout ended in round {state['round']}"
            notes.append(f"{ended}: {', '.join(undecided_debates)} had no winner")
        else:
            rest_on([*debates][-1])
    if runtime.context.uses_gold():
        notes.append("a debate with the gold answer in it is binary: chance is 50%")
    label = outcome["label"] if state["options"] or undecided_debates else None
    return {"verdict": {**outcome, "label": label, "notes": notes}}
