"""From the judges' rulings to the outcome of a role-switching debate: a candidate, or none."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.events import tell
from dialectree.figures import percent
from dialectree.nodes.role_switching_debate.candidates import SIDES, Candidate, Side, other, side_of
from dialectree.nodes.role_switching_debate.exchange import Report
from dialectree.nodes.role_switching_debate.judge import (
    UNCERTAIN,
    Orders,
    Ruled,
    Rulings,
    last_ruling,
)
from dialectree.nodes.role_switching_debate.state import Settings

ORDERS: tuple[Orders, Orders] = ("as_held", "swapped")


class Outcome(TypedDict):
    """What one role-switching debate comes to."""

    candidate: Candidate | None
    """The one that won; None where the debate is unresolved."""
    uncertain: bool
    """True when the judge ruled that neither side convinced."""
    rationale: str
    confidence: float | None
    """The judge's own, 0 to 1; None where it gave none."""
    notes: list[str]


class Debated(TypedDict):
    """What a debate leaves."""

    outcome: Outcome


class ToConclude(Rulings):
    """What the outcome rests on."""

    id: str
    take: int
    candidates: dict[Side, Candidate]
    reports: list[Report]


def settle(rulings: list[Ruled]) -> tuple[str | None, str | None]:
    """The label that every ruling names, or None and why there is none."""
    said = {ruled["candidate"] for ruled in rulings}
    if not rulings:
        return None, "there is no ruling"
    if None in said:
        if any(not ruled["label"] for ruled in rulings):
            return None, "the person gave no ruling"
        return None, "the judge's label and answer do not name the same candidate"
    if len(said) > 1:
        return None, "position bias: the judge ruled otherwise when the sides were swapped"
    if said == {UNCERTAIN}:
        return None, "the judge ruled that neither side convinced"
    return said.pop(), None


async def verdict(state: ToConclude, runtime: Runtime[Settings]) -> Debated:
    """Settles the debate, says what both sides admitted, and guesses nothing."""
    last = [last_ruling(state, order) for order in ORDERS]
    rulings = [ruled for ruled in last if ruled is not None]
    label, why_not = settle(rulings)
    notes = [why_not] if why_not else []
    notes += disclosed(label, state["candidates"], state["reports"])
    rationale = "\n".join(ruled["rationale"] for ruled in rulings).strip()
    if label is None:
        _note(state, runtime, notes)
        if state["take"] == 1:
            tell(runtime, state["id"], "settled", {"verdict": None})
        uncertain = {ruled["candidate"] for ruled in rulings} == {UNCERTAIN}
        return _outcome(None, uncertain, rationale, None, notes)
    side = side_of(label, state["candidates"])
    won = state["candidates"][side]
    confidences = [ruled["confidence"] for ruled in rulings]
    confidence = lowest(confidences)
    if len(set(confidences)) > 1:
        notes.append(f"the judge's confidence in the two orders: {percents(confidences)}")
    told = {
        "answer": won["text"],
        "rationale": rationale,
        "confidence": confidence,
        "local_confidence": confidence,
        "winner": label,
        "take": state["take"],
    }
    _note(state, runtime, notes)
    tell(
        runtime,
        state["id"],
        "settled",
        {"take": state["take"], "verdict": told, "provenance": [state["id"]]},
    )
    return _outcome(won, False, rationale, confidence, notes)


def _note(state: ToConclude, runtime: Runtime[Settings], notes: Sequence[str]) -> None:
    """The notes of a second pass say so: they are not about the verdict of the first."""
    for note in notes:
        of = "" if state["take"] == 1 else "second pass: "
        tell(runtime, state["id"], "noted", {"note": of + note})


async def broken_off(state: ToConclude, runtime: Runtime[Settings]) -> Debated:
    """A debate that lost what it cannot do without."""
    if state["take"] == 1:
        tell(runtime, state["id"], "settled", {"verdict": None})
    notes = ["a part that the debate needs failed for good"]
    notes += disclosed(None, state["candidates"], state["reports"])
    return _outcome(None, False, "", None, notes)


def lowest(confidences: Sequence[float | None]) -> float | None:
    """Of two rulings the lower confidence; none where one gave none."""
    known = [c for c in confidences if c is not None]
    return min(known) if known and len(known) == len(confidences) else None


def percents(confidences: Sequence[float | None]) -> str:
    """Two confidences in words, and which of them counts: in digits enough to tell them apart."""
    shown = ["none" if c is None else percent(c) for c in confidences]
    for digits in range(1, 9):
        if len({*shown}) == len({*confidences}):
            break
        shown = ["none" if c is None else _percent(c, digits) for c in confidences]
    return f"{' and '.join(shown)}; {'none' if None in confidences else 'the lower one'} counts"


def _percent(share: float, digits: int) -> str:
    """In so many digits; only certainty itself is shown as 100% or 0%."""
    least = 0.1 ** (digits + 2)
    return f"{share if share in (0, 1) else min(max(share, least), 1 - least):.{digits}%}"


def disclosed(
    label: str | None, candidates: dict[Side, Candidate], reports: list[Report]
) -> list[str]:
    """What both debaters said of their own confidence, and whether the loser was the surer one."""
    percent = {report["side"]: report["percent"] for report in reports}
    if not percent:
        return []
    shown = [f"{candidates[s]['label']} {percent[s]}%" for s in SIDES if s in percent]
    notes = [f"disclosed confidence: {', '.join(shown)}"]
    if label is not None and len(percent) == 2:
        winner = side_of(label, candidates)
        if percent[other(winner)] > percent[winner]:
            notes.append("the loser disclosed more confidence than the winner")
    return notes


def _outcome(
    candidate: Candidate | None,
    uncertain: bool,
    rationale: str,
    confidence: float | None,
    notes: list[str],
) -> Debated:
    return {
        "outcome": {
            "candidate": candidate,
            "uncertain": uncertain,
            "rationale": rationale,
            "confidence": confidence,
            "notes": notes,
        }
    }
