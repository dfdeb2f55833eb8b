"""What was said in a role-switching debate, phase by phase, as debaters and judge read it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Literal

from typing_extensions import TypedDict

from dialectree.nodes.role_switching_debate.candidates import SIDES, Candidate, Side, other

Phase = Literal["proposals", "cross_examination", "role_switch", "uncertainty"]


class Proposal(TypedDict):
    """Phase 1: an answer and the reasons for it."""

    side: Side
    answer: str
    argument: str


class Error(TypedDict):
    """One error that a debater located in its opponent's text."""

    quote: str
    fault: str
    occurs: bool
    """Whether the quotation stands in what the opponent wrote; the program looked."""


class Rebuttal(TypedDict):
    """Phase 2: what is wrong with the opponent's text, and what speaks for one's own."""

    side: Side
    errors: list[Error]
    defence: str


class Switch(TypedDict):
    """Phase 3: the strongest case for the opponent's answer."""

    side: Side
    argument: str


class Report(TypedDict):
    """Phase 4: how sure a debater is of its own answer, and of what it is not."""

    side: Side
    percent: int
    unsure_of: str
    would_settle: str


class Exchange(TypedDict):
    """All that the debaters said so far."""

    candidates: dict[Side, Candidate]
    proposals: Annotated[list[Proposal], operator.add]
    rebuttals: Annotated[list[Rebuttal], operator.add]
    switches: Annotated[list[Switch], operator.add]
    reports: Annotated[list[Report], operator.add]


class Block(TypedDict):
    """One debater's words in one phase."""

    phase: str
    label: str
    """The label of the answer that the debater defends: so it is called."""
    lines: list[tuple[str, str]]
    """Name and text of each part; one line each."""


def blocks(
    said: Exchange,
    *,
    until: Phase,
    first: Side = "a",
    under_way: bool = False,
) -> list[Block]:
    """The transcript up to and with the phase ``until``, ``first``'s words before the other's.

    The cross-examination keeps its own order: b may have read what a wrote. Where a side proposed
    twice, its last proposal is the one that counts. Of a phase that only one side has spoken in,
    the other's part was lost, unless the phase is still ``under_way``: silence would look like
    having nothing to say.
    """
    found: list[Block] = []
    for phase in _PHASES[: _PHASES.index(until) + 1]:
        lines = {side: _lines(said, phase, side) for side in SIDES}
        if any(lines.values()) and not (under_way and phase == until):
            lines = {side: spoken or [_LOST] for side, spoken in lines.items()}
        in_order = SIDES if phase == "cross_examination" else (first, other(first))
        for side in in_order:
            if lines[side]:
                label = said["candidates"][side]["label"]
                found.append({"phase": _TITLES[phase], "label": label, "lines": lines[side]})
    return found


_PHASES: tuple[Phase, ...] = ("proposals", "cross_examination", "role_switch", "uncertainty")
_TITLES = {
    "proposals": "proposal",
    "cross_examination": "cross-examination",
    "role_switch": "switched sides",
    "uncertainty": "uncertainty",
}
_LOST = ("missing", "this part is lost; that counts against nobody")
_NEXT_TEXT = "\n¶\n"
"""Between two texts, so that no quotation runs from one into the other."""


def _lines(said: Exchange, phase: Phase, side: Side) -> list[tuple[str, str]]:
    match phase:
        case "proposals":
            proposal = proposal_of(said["proposals"], side)
            if proposal is None:
                return []
            return [("answer", proposal["answer"]), ("argument", proposal["argument"])]
        case "cross_examination":
            return [line for r in said["rebuttals"] if r["side"] == side for line in _rebuttal(r)]
        case "role_switch":
            theirs = said["candidates"][other(side)]["label"]
            return [
                (f"argument for answer {theirs}", switch["argument"])
                for switch in said["switches"]
                if switch["side"] == side
            ]
        case "uncertainty":
            return [line for r in said["reports"] if r["side"] == side for line in _report(r)]


def proposal_of(proposals: Sequence[Proposal], side: Side) -> Proposal | None:
    """The proposal of ``side`` that counts: its last one."""
    return next((p for p in reversed(proposals) if p["side"] == side), None)


def _rebuttal(rebuttal: Rebuttal) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for number, error in enumerate(rebuttal["errors"], 1):
        mark = "" if error["occurs"] else " (the opponent wrote no such words)"
        lines.append((f"quotation {number}{mark}", error["quote"]))
        lines.append((f"what is wrong with it {number}", error["fault"]))
    return [*lines, ("defence", rebuttal["defence"])]


def _report(report: Report) -> list[tuple[str, str]]:
    return [
        ("confidence in its own answer", f"{report['percent']} %"),
        ("unsure of", report["unsure_of"]),
        ("would settle it", report["would_settle"]),
    ]


def written(said: Exchange, side: Side) -> str:
    """All that ``side`` wrote in the phases that its opponent may quote from.

    What it quoted is its opponent's, and its own only where the opponent wrote no such words.
    """
    proposal = proposal_of(said["proposals"], side)
    texts = [proposal["answer"], proposal["argument"]] if proposal else []
    for rebuttal in said["rebuttals"]:
        if rebuttal["side"] == side:
            texts += [rebuttal["defence"], *(e["fault"] for e in rebuttal["errors"])]
            texts += [e["quote"] for e in rebuttal["errors"] if not e["occurs"]]
    return _NEXT_TEXT.join(texts)
