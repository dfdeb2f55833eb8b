"""The transcript of a role-switching debate, phase by phase, as debaters and judge read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dialectree.nodes.role_switching_debate.state import (
    SIDES,
    FivePhases,
    Phase,
    Side,
    Turn,
    other,
)

TITLES: dict[Phase, str] = {
    "proposals": "proposal",
    "cross_examination": "cross-examination",
    "role_switch": "switched sides",
    "uncertainty": "uncertainty",
}
_PHASES = (*TITLES,)
_LOST = ("missing", "this part is lost; that counts against nobody")
_NEXT_TEXT = "\n¶\n"
"""Between two texts, so that no quotation runs from one into the other."""


class Block(NamedTuple):
    """One debater's words in one phase."""

    phase: str
    label: str
    """The label of the answer that the debater defends. Debaters are called by it."""
    lines: list[tuple[str, str]]
    """Name and text of each part; one line each."""


def latest(turns: Sequence[Turn], speaker: str, phase: Phase) -> dict[str, Any] | None:
    """Return the fields of the turn that counts: the last one of ``speaker`` in ``phase``."""
    own = (turn for turn in reversed(turns) if (turn["speaker"], turn["phase"]) == (speaker, phase))
    return next((turn["fields"] for turn in own), None)


def blocks(
    state: FivePhases, *, until: Phase, first: Side = "a", under_way: bool = False
) -> list[Block]:
    """Return the transcript up to and with the phase ``until``.

    The words of ``first`` stand before the other's, except in the cross-examination: there b may
    have read what a wrote. If only one side has spoken in a phase, the other's part was lost, and
    the transcript says so: silence would look like having nothing to say. A phase ``under_way`` has
    lost nothing yet.
    """
    transcript: list[Block] = []
    for phase in _PHASES[: _PHASES.index(until) + 1]:
        lines = {side: _lines(state, phase, side) for side in SIDES}
        if any(lines.values()) and not (under_way and phase == until):
            lines = {side: own or [_LOST] for side, own in lines.items()}
        for side in SIDES if phase == "cross_examination" else (first, other(first)):
            if lines[side]:
                label = state["candidates"][side]["label"]
                transcript.append(Block(TITLES[phase], label, lines[side]))
    return transcript


def _lines(state: FivePhases, phase: Phase, side: Side) -> list[tuple[str, str]]:
    """Return name and text of each part of a turn; nothing where there is no turn."""
    fields = latest(state["turns"], side, phase)
    if fields is None:
        return []
    if phase == "proposals":
        return [("answer", fields["answer"]), ("argument", fields["argument"])]
    if phase == "role_switch":
        opponent = state["candidates"][other(side)]["label"]
        return [(f"argument for answer {opponent}", fields["argument"])]
    if phase == "uncertainty":
        return [
            ("confidence in its own answer", f"{fields['percent']} %"),
            ("unsure of", fields["unsure_of"]),
            ("would settle it", fields["would_settle"]),
        ]
    lines: list[tuple[str, str]] = []
    for number, error in enumerate(fields["errors"], 1):
        mark = "" if error["occurs"] else " (the opponent wrote no such words)"
        lines.append((f"quotation {number}{mark}", error["quote"]))
        lines.append((f"what is wrong with it {number}", error["fault"]))
    return [*lines, ("defence", fields["defence"])]


def written(turns: Sequence[Turn], side: Side) -> str:
    """Return all that ``side`` wrote in the phases that its opponent may quote from.

    The words that it quoted are its opponent's, unless the opponent wrote no such words.
    """
    proposal = latest(turns, side, "proposals")
    texts = [proposal["answer"], proposal["argument"]] if proposal else []
    if rebuttal := latest(turns, side, "cross_examination"):
        texts += [rebuttal["defence"], *(error["fault"] for error in rebuttal["errors"])]
        texts += [error["quote"] for error in rebuttal["errors"] if not error["occurs"]]
    return _NEXT_TEXT.join(texts)
