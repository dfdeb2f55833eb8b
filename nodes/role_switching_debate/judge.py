"""The judge of a role-switching debate, a model or a person, and the outcome of its rulings.

RSD, Method, phase V. The paper lost a debate that was won, because its verdict was mapped to the
wrong candidate. So the judge names a label and the answer's text, and both must name one candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, BeforeValidator, Field

from dialectree.context import settings
from dialectree.events import tell
from dialectree.flow import Step
from dialectree.formatting import percent
from dialectree.human_input import ask_person
from dialectree.models.door import Place, ask
from dialectree.nodes.answers import letter
from dialectree.nodes.answers import ruling as ruled_candidate
from dialectree.nodes.role_switching_debate.candidates import (
    LONGEST,
    offered,
    read_from,
    side_of,
    tokens,
)
from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    Debated,
    FivePhases,
    RoleSwitchingDebate,
    Settings,
    Side,
    Turn,
    other,
)
from dialectree.nodes.role_switching_debate.transcript import blocks, latest
from dialectree.state import Ruling, Verdict

UNCERTAIN = "uncertain"


def _letter(value: object) -> object:
    return letter(value) if isinstance(value, str) else value


class JudgeReply(BaseModel):
    """A ruling on a debate, after the reasons for it."""

    rationale: Annotated[str, Field(min_length=1, max_length=3000)]
    label: Annotated[str, BeforeValidator(_letter)]
    answer: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    confidence: Annotated[float, Field(ge=0, le=1)] | None


# A model as the judge


def judge(*, swapped: bool = False, again: bool = False) -> Step:
    """Phase 5: weigh soundness and admitted doubts.

    ``swapped`` reads the words of the other side first. ``again`` is the one repair of a ruling
    whose label and answer do not name the same candidate.
    """
    speaker: Literal["judge", "swapped"] = "swapped" if swapped else "judge"

    async def judge(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
        context = settings(runtime, Settings)
        first = other(state["first"]) if swapped else state["first"]
        candidates = read_from(first, state["candidates"])
        labels = sorted(candidates)
        neither = [UNCERTAIN] if context.allow_uncertain else []
        spoken = {turn["phase"] for turn in state["turns"]}

        def candidate(reply: JudgeReply) -> str | None:
            texts = {**candidates, **{label: label for label in neither}}
            return ruled_candidate(reply.label, reply.answer, texts)

        step, who = int(again), speaker if swapped else ""
        reply = await ask(
            runtime,
            Place(state["id"], "judge", "judgment", step, 1 + step, state["take"], who),
            "role_switching_debate/judge",
            JudgeReply,
            ids={"label": [*labels, *neither]},
            suggested=offered([*(candidates[label] for label in labels), *neither]),
            names=candidate,
            max_tokens=900 + tokens(*candidates.values()),
            question=state["question"],
            background=state["background"],
            candidates=candidates,
            blocks=blocks(state, until="uncertainty", first=first),
            switched="role_switch" in spoken,
            admitted="uncertainty" in spoken,
            allow_uncertain=context.allow_uncertain,
            mismatch=latest(state["turns"], speaker, "judgment") if again else None,
        )
        fields = {**reply.model_dump(), "candidate": candidate(reply)}
        return {"turns": [{"speaker": speaker, "phase": "judgment", "fields": fields}]}

    return judge


# A person as the judge


async def person(state: FivePhases, runtime: Runtime[Settings]) -> dict[str, list[Turn]]:
    """Let a person rule: the run stops with the transcript and goes on with a label.

    An empty label rules nothing.
    """
    context = settings(runtime, Settings)
    candidates = read_from(state["first"], state["candidates"])
    labels = [*sorted(candidates), *([UNCERTAIN] if context.allow_uncertain else [])]
    label = ask_person(
        runtime,
        node=state["id"],
        kind="judge",
        question=state["question"],
        request=f"Which answer is right? Reply with one of: {', '.join(labels)}",
        transcript=_readable(state, candidates),
        labels=labels,
    )
    fields = {
        "rationale": "",
        "label": label,
        "answer": candidates.get(label, ""),
        "confidence": None,
        "candidate": label or None,
    }
    return {"turns": [{"speaker": "judge", "phase": "judgment", "fields": fields}]}


def _readable(state: FivePhases, candidates: Mapping[str, str]) -> str:
    """Return the whole transcript as a text for a person."""
    parts = [f"{label}: {_line(text)}" for label, text in candidates.items()]
    for block in blocks(state, until="uncertainty", first=state["first"]):
        parts.append(f"\nDebater {block.label}, {block.phase}")
        parts += [f"  {_line(name)}: {_line(text)}" for name, text in block.lines]
    return "\n".join(parts)


def _line(text: str) -> str:
    """Return ``text`` on one line: one debater's words cannot pass for the other's."""
    return " ".join(text.split())


# The outcome of a debate


def rulings(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the ruling of each order that counts: its last one."""
    last = (latest(turns, speaker, "judgment") for speaker in ("judge", "swapped"))
    return [ruling for ruling in last if ruling is not None]


def settle(rulings: Sequence[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Return the label that every ruling names, or None and why there is none."""
    candidates = {ruling["candidate"] for ruling in rulings}
    if not rulings:
        return None, "there is no ruling"
    if None in candidates:
        if any(not ruling["label"] for ruling in rulings):
            return None, "the person gave no ruling"
        return None, "the judge's label and answer do not name the same candidate"
    if len(candidates) > 1:
        return None, "position bias: the judge ruled otherwise when the sides were swapped"
    if candidates == {UNCERTAIN}:
        return None, "the judge ruled that neither side convinced"
    return candidates.pop(), None


async def verdict(state: FivePhases, runtime: Runtime[Settings]) -> Debated:
    """Settle the debate, note what both sides admitted, and guess nothing."""
    counted, first_pass = rulings(state["turns"]), state["take"] == 1
    label, why_not = settle(counted)
    notes = [why_not] if why_not else []
    notes += disclosed(label, state)
    rationale = "\n".join(ruling["rationale"] for ruling in counted).strip()
    confidences = [ruling["confidence"] for ruling in counted]
    confidence = None if label is None else lowest(confidences)
    if label is not None and len(set(confidences)) > 1:
        notes.append(f"the judge's confidence in the two orders: {percents(confidences)}")
    for note in notes:  # those of a second pass are not about the verdict of the first
        tell(
            runtime, state["id"], "noted", {"note": note if first_pass else f"second pass: {note}"}
        )
    if label is None:
        if first_pass:
            tell(runtime, state["id"], "settled", {"verdict": None})
        uncertain = {ruling["candidate"] for ruling in counted} == {UNCERTAIN}
        return _outcome(notes, label=UNCERTAIN if uncertain else None, rationale=rationale)
    answer = state["candidates"][side_of(label, state["candidates"])]["text"]
    fields = {
        "answer": answer,
        "rationale": rationale,
        "confidence": confidence,
        "local_confidence": confidence,
        "winner": label,
        "take": state["take"],
    }
    settled = {"take": state["take"], "verdict": fields, "provenance": [state["id"]]}
    tell(runtime, state["id"], "settled", settled)
    return _outcome(notes, answer, label, rationale, confidence)


async def broken_off(state: FivePhases, runtime: Runtime[Settings]) -> Debated:
    """End a debate that lost a part which it needs."""
    if state["take"] == 1:
        tell(runtime, state["id"], "settled", {"verdict": None})
    return _outcome(["a part that the debate needs failed for good", *disclosed(None, state)])


async def undecided(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Debated:
    """Say that there was no debate."""
    tell(runtime, "0", "settled", {"verdict": None})
    return _outcome(["there is no distractor to debate against"])


def _outcome(
    notes: list[str],
    answer: str | None = None,
    label: str | None = None,
    rationale: str = "",
    confidence: float | None = None,
) -> Debated:
    verdict: Verdict = {
        "answer": answer,
        "label": label,
        "rationale": rationale or None,
        "confidence": confidence,
        "confidence_source": "judge",
        "notes": notes,
    }
    return {"outcome": verdict}


def disclosed(label: str | None, state: FivePhases) -> list[str]:
    """Note both debaters' own confidence, and whether the loser was surer than the winner."""
    sure: dict[Side, int] = {}
    for side in SIDES:
        if report := latest(state["turns"], side, "uncertainty"):
            sure[side] = report["percent"]
    if not sure:
        return []
    shown = [f"{state['candidates'][side]['label']} {sure[side]}%" for side in sure]
    notes = [f"disclosed confidence: {', '.join(shown)}"]
    if label is not None and len(sure) == 2:
        winner = side_of(label, state["candidates"])
        if sure[other(winner)] > sure[winner]:
            notes.append("the loser disclosed more confidence than the winner")
    return notes


def lowest(confidences: Sequence[float | None]) -> float | None:
    """Return the lower confidence of two rulings; None where one gave none."""
    known = [c for c in confidences if c is not None]
    return min(known) if known and len(known) == len(confidences) else None


def percents(confidences: Sequence[float | None]) -> str:
    """Return two confidences, in digits enough to tell them apart, and which of them counts."""
    shown = ["none" if c is None else percent(c) for c in confidences]
    for digits in range(1, 9):
        if len({*shown}) == len({*confidences}):
            break
        shown = ["none" if c is None else _percent(c, digits) for c in confidences]
    return f"{' and '.join(shown)}; {'none' if None in confidences else 'the lower one'} counts"


def _percent(share: float, digits: int) -> str:
    """Return ``share`` in so many digits; only certainty itself is shown as 100% or 0%."""
    least = 0.1 ** (digits + 2)
    return f"{share if share in (0, 1) else min(max(share, least), 1 - least):.{digits}%}"


# The verdict of the whole protocol


async def ruling(state: RoleSwitchingDebate, runtime: Runtime[Settings]) -> Ruling:
    """Return the outcome of the (last) debate as the verdict; settle a knockout's root."""
    outcome, notes = state["outcome"], [*state["outcome"]["notes"]]
    won, knockout = outcome["answer"] is not None, state["id"] != "0"
    if knockout:
        fields = {
            "answer": outcome["answer"],
            "rationale": outcome["rationale"] or "",
            "confidence": outcome["confidence"],
            "winner": outcome["label"],
        }
        rounds = [f"0.{n}" for n in range(state["debates"])]
        settled = {"take": 1, "verdict": fields if won else None, "provenance": rounds}
        tell(runtime, "0", "settled", settled)
        if not won:
            notes.append(f"the knockout ended in debate {state['debates']}")
    if settings(runtime, Settings).uses_gold():
        notes.append("a debate with the gold answer in it is binary: chance is 50%")
    open_answer = won and not state["options"]
    label = None if open_answer else outcome["label"]
    return {"verdict": {**outcome, "label": label, "notes": notes}}
