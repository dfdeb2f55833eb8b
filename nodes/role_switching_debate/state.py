"""The input, the settings, the state and the transcript of a role-switching debate."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import model_validator
from typing_extensions import TypedDict

from dialectree.flow import state as shared
from dialectree.protocols.grounded import GroundedInput, GroundedSettings
from dialectree.protocols.options import Jury, option
from dialectree.protocols.phases import jurors

SAMPLES = 9
"""The default number of direct answers of ``self_consistency``: as many calls as one debate takes."""


class Input(GroundedInput):
    """A question, and known facts about its answers."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] | None = option(None, alias="option", metavar="TEXT")
    """The answers to choose from, 2 to 26, or none if the question is open."""
    background: list[str] | None = option(None, metavar="TEXT")
    """Facts that debaters and judge may take as known, a sentence each."""
    gold: str | None = option(None, evaluation_only=True, metavar="LABEL")
    """The right option's letter; for evaluations only."""


class Settings(GroundedSettings):
    """The settings of a role-switching debate."""

    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = option(
        "proposed",
        group="Candidates",
        title="Answers that are debated",
        choices={
            "proposed": "the two that the debaters choose",
            "knockout": "all options, two at a time, until one is left",
            "oracle": "right and wrong (evaluations)",
            "balanced": "right and wrong, sides drawn (evaluations)",
        },
    )
    """Source of the two candidates. ``oracle`` and ``balanced`` put the gold answer against a
    distractor; both are for evaluations."""
    distractor: Literal["first", "random", "model"] = option("first", evaluation_only=True)
    """The wrong option against the gold one: the first, one drawn from the seed, or the option that
    the debaters' model finds most plausible."""
    cross_examination: Literal["in_turn", "simultaneous"] = option(
        "in_turn", group="Debate", choices={"in_turn": "one after the other", "simultaneous": "both at once"}
    )
    """Write rebuttals in turn, so that the second debater reads the first one's, or both at once."""
    judge_orders: Literal["one", "both"] = option(
        "one",
        group="Debate",
        common=True,
        title="Orders in which the judge reads",
        choices={"one": "one order", "both": "both orders, two rulings"},
    )
    """Ask the judge once, or once in each order of the sides."""
    jury: Jury = option(
        default_factory=list,
        group="Debate",
        common=True,
        title="Judges of a jury",
        metavar="SPEC",
        jury_of="judge",
    )
    """A model that judges together with others; the majority of them rules."""
    gate: int = option(0, ge=0, le=25, group="Candidates", common=True, title="Direct answers first")
    """Direct answers that one model gives first; if all agree, there is no debate. `vote` asks
    several models, before any protocol. 0: none. The paper gives no number; 3 is a good one."""
    allow_uncertain: bool = option(False, group="Debate", title="The judge may be uncertain")
    """Let the judge rule that neither side convinced."""
    judge: Literal["model", "me"] = option(
        "model", group="Debate", person=True, choices={"model": "a model", "me": "I judge myself"}
    )
    """The judge: a model, or the person who asks."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``self_consistency`` (none: 9, the calls of one debate)."""

    @model_validator(mode="after")
    def _check_jury(self) -> Self:
        if self.jury and self.judge == "me":
            raise ValueError("`jury` and `judge` me exclude each other: a person judges alone")
        return self

    def orders(self) -> tuple[str, ...]:
        """Return the orders in which a judge reads the two sides, by name."""
        return ("", SWAPPED) if self.judge_orders == "both" else ("",)

    def rulings(self) -> list[list[str]]:
        """Return a list for each judge, with its name in each of the orders."""
        names = jurors(len(self.jury), self.orders())
        return [[name or "judge" for name in judge_names] for judge_names in names]

    def uses_gold(self) -> bool:
        """Return whether one debater defends the gold answer."""
        return self.candidates in ("oracle", "balanced")

    def asks_for_distractor(self) -> bool:
        """Return whether a model chooses the wrong option against the gold one."""
        return self.uses_gold() and self.distractor == "model"


SWAPPED = "swapped"
"""The name of the order in which a judge reads the other side's words first."""
Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")
Phase = Literal["proposals", "cross_examination", "role_switch", "uncertainty", "judgment"]


def get_opponent(side: Side) -> Side:
    """Return the opponent of ``side``."""
    return "b" if side == "a" else "a"


class Candidate(TypedDict):
    """One answer that a debater defends."""

    label: str
    """The option's letter, never the name of a side."""
    text: str


class Turn(TypedDict):
    """One reply in a debate: a debater's, or a ruling."""

    speaker: str
    """Debater ``a`` or ``b``, or a judge: ``judge`` in the first order of the sides, ``swapped`` in the
    other order. If there are several judges, they are ``1``, ``1_swapped``, ``2`` ..."""
    phase: str
    fields: dict[str, Any]
    """The fields of the reply. Each error of a rebuttal also has ``occurs``: True if the opponent
    wrote the quoted words. A ruling also has ``candidate``: the label that it rules for, which may be
    ``uncertain``, or None if the ruling is unclear."""


class Pair(TypedDict):
    """The question of one debate and its candidates."""

    id: str
    question: str
    background: list[str]
    """Facts that may be taken as known."""
    options: list[Candidate]
    """The answers to choose from; none for an open question."""
    assigned: bool
    """True if the answers to defend are given; False if the debaters choose them."""
    candidates: dict[Side, Candidate]
    """The answer that each side defends; empty until the debaters have chosen."""
    first: Side
    """The side whose words the judge reads first."""


class Debated(TypedDict):
    """The outcome of a debate."""

    outcome: shared.VerdictFields
    """The label of the outcome is the winner's, even for open answers, or ``uncertain``."""


class FivePhases(Pair, Debated):
    """A debate in progress."""

    turns: Annotated[list[Turn], operator.add]
    agreed: Literal["no", "yes", "unknown"]
    """``yes`` if both proposals are the same answer."""
    failed: Annotated[bool, operator.or_]
    """True if a part that the debate needs failed; two parts may fail at once."""


class Question(shared.Question):
    """A question, and known facts about its answers."""

    background: NotRequired[list[str]]
    """Facts that may be taken as known."""
    options: NotRequired[list[str]]
    """The answers to choose from, 2 to 26; none: an open question."""
    gold: NotRequired[str]
    """The letter of the right option; only for evaluations."""


class RoleSwitchingDebate(shared.Debate):
    """A question on its way to a verdict, by debates or by direct answers alone."""

    id: str
    background: list[str]
    options: list[Candidate]
    """The answers to choose from; none for an open question."""
    gold: str
    distractor: Candidate | None
    """The wrong option that a model chose."""
    waiting: list[Candidate]
    """The options of a knockout that are left, in the order of its next round."""
    round: int
    """The round of a knockout; 0 for a single debate."""
    pairs: list[Pair]
    """The debates that run at the same time."""
    settled: Annotated[dict[str, shared.VerdictFields], operator.or_]
    """The outcomes of the debates that have ended, by the debates' ids and in the order of the ids."""
    asked: int
    """The number of direct answers that are asked for."""
    number: int
    """The number of the direct answer that a step gives, from 1."""
    samples: Annotated[list[shared.VerdictFields], operator.add]
    """The answers, each as a verdict, in the order in which they were asked for."""
    dropped: Annotated[int, operator.add]
    """The number of direct answers that a person dropped."""
    failed: bool
    """True when no distractor could be found."""


# The transcript, as debaters and judge read it


TITLES: dict[Phase, str] = {
    "proposals": "proposal",
    "cross_examination": "cross-examination",
    "role_switch": "switched sides",
    "uncertainty": "uncertainty",
}
_LOST = ("missing", "this part is lost; that counts against nobody")


def latest(turns: Sequence[Turn], speaker: str, phase: Phase) -> dict[str, Any] | None:
    """Return the fields of the turn that counts: the last one of ``speaker`` in ``phase``."""
    matching_turns = (
        turn for turn in reversed(turns) if (turn["speaker"], turn["phase"]) == (speaker, phase)
    )
    return next((turn["fields"] for turn in matching_turns), None)


def blocks(
    state: FivePhases, *, until: Phase, first: Side = "a", under_way: bool = False
) -> list[dict[str, Any]]:
    """Return the transcript up to and including the phase ``until``: a block for each turn.

    A block has the ``phase``, the ``label`` of the answer that its debater defends, and
    ``lines``: name and text of each part.

    The words of ``first`` come first, except in the cross-examination, where b may have read a's
    words. If only one side has spoken in a phase, the transcript says that the other's part was
    lost: silence would look like having nothing to say. In a phase ``under_way`` nothing is lost yet.
    """
    transcript: list[dict[str, Any]] = []
    phases: list[Phase] = [*TITLES]
    for phase in phases[: phases.index(until) + 1]:
        lines = {side: _lines(state, phase, side) for side in SIDES}
        if any(lines.values()) and not (under_way and phase == until):
            lines = {side: side_lines or [_LOST] for side, side_lines in lines.items()}
        for side in SIDES if phase == "cross_examination" else (first, get_opponent(first)):
            if lines[side]:
                label = state["candidates"][side]["label"]
                block = {"phase": TITLES[phase], "label": label, "lines": lines[side]}
                transcript.append(block)
    return transcript


def _lines(state: FivePhases, phase: Phase, side: Side) -> list[tuple[str, str]]:
    """Return name and text of each part of a turn, or an empty list."""
    fields = latest(state["turns"], side, phase)
    if fields is None:
        return []
    if phase == "proposals":
        return [("answer", fields["answer"]), ("argument", fields["argument"])]
    if phase == "role_switch":
        opponent = state["candidates"][get_opponent(side)]["label"]
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


def collect_side_text(
    turns: Sequence[Turn], side: Side, phases: Sequence[Phase] = ("proposals", "cross_examination")
) -> str:
    """Return everything that ``side`` wrote in the ``phases``, for its opponent to quote from.

    Words that ``side`` quotes are left out, unless the opponent did not write them.
    """
    proposal = latest(turns, side, "proposals") if "proposals" in phases else None
    texts = [proposal["answer"], proposal["argument"]] if proposal else []
    rebuttal = latest(turns, side, "cross_examination") if "cross_examination" in phases else None
    if rebuttal:
        texts += [rebuttal["defence"], *(error["fault"] for error in rebuttal["errors"])]
        texts += [error["quote"] for error in rebuttal["errors"] if not error["occurs"]]
    return "\n¶\n".join(texts)  # no quotation runs from one text into the next
