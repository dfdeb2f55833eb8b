"""The input, the settings and the state of a role-switching debate."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from dialectree import state as shared
from dialectree.context import ProtocolSettings, option
from dialectree.protocol import ProtocolInput

SAMPLES = 9
"""Direct answers of ``self_consistency`` where the settings name no number: one debate's calls."""


class Input(ProtocolInput):
    """A question, and what may be known of its answers."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] | None = option(None, alias="option", metavar="TEXT")
    """The answers to choose from, 2 to 26, or none where the question is open."""
    gold: str | None = option(None, evaluation_only=True, metavar="LABEL")
    """The right option's letter; for evaluations only."""


class Settings(ProtocolSettings):
    """The settings of a role-switching debate."""

    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = option(
        "proposed", group="Candidates"
    )
    """Where the two candidates come from. ``oracle`` and ``balanced`` put the gold answer against a
    distractor; both are for evaluations."""
    distractor: Literal["first", "random", "model"] = option("first", group="Candidates")
    """The wrong option that stands against the gold one: the first, one drawn from the seed, or the
    one that the debaters' model finds most plausible."""
    cross_examination: Literal["in_turn", "simultaneous"] = option("in_turn", group="Debate")
    """Whether the second debater reads the first one's rebuttal before it writes its own."""
    judge_orders: Literal["one", "both"] = option("one", group="Debate", common=True)
    """Ask the judge once, or with both sides in either order."""
    gate: int = option(0, ge=0, le=25, group="Candidates", common=True)
    """Direct answers that are asked for first; if all agree there is no debate. 0: none. The paper
    gives no number; 3 is a good one."""
    allow_uncertain: bool = option(False, group="Debate")
    """Let the judge rule that neither side convinced."""
    judge: Literal["model", "me"] = option("model", group="Debate", person=True)
    """Who judges: a model, or the person who asks."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``self_consistency`` (none: 9, the calls of one debate)."""

    def uses_gold(self) -> bool:
        """Return whether one debater defends the gold answer."""
        return self.candidates in ("oracle", "balanced")


Side = Literal["a", "b"]
SIDES: tuple[Side, Side] = ("a", "b")
Phase = Literal["proposals", "cross_examination", "role_switch", "uncertainty", "judgment"]


def other(side: Side) -> Side:
    """Return the opponent of ``side``."""
    return "b" if side == "a" else "a"


class Candidate(TypedDict):
    """One answer that a debater defends."""

    label: str
    """The option's letter, never the name of a side."""
    text: str


class Turn(TypedDict):
    """One reply in a debate: a debater's, or a ruling."""

    speaker: Side | Literal["judge", "swapped"]
    """Debater a or b. The judge who read a's words first is ``judge``, the other ``swapped``."""
    phase: Phase
    fields: dict[str, Any]
    """Those of the reply. Each error of a rebuttal also has ``occurs``: whether the opponent wrote
    the words quoted. A ruling also has ``candidate``: the label whose text its answer is,
    ``uncertain`` included, or None."""


class Sample(TypedDict):
    """One direct answer."""

    number: int
    """From 1."""
    label: str | None
    """The option that it names; None where the question is open."""
    answer: str
    reasoning: str


class Pair(TypedDict):
    """What a debate is about."""

    id: str
    question: str
    take: int
    """1, or 2 in a second pass of the tree that the debate is part of."""
    background: list[str]
    """What stands around the question, where it is part of a larger inquiry."""
    options: list[Candidate]
    """The answers to choose from; none for an open question."""
    assigned: bool
    """True where the debaters do not choose which answers they defend."""
    candidates: dict[Side, Candidate]
    """Who defends what; empty until the debaters have chosen."""
    first: Side
    """Whose words the judge reads first."""


class Debated(TypedDict):
    """What a debate comes to."""

    outcome: shared.Verdict
    """Its label is that of the winner, an open answer's included, or ``uncertain``."""


class FivePhases(Pair, Debated):
    """A debate while it lasts."""

    turns: Annotated[list[Turn], operator.add]
    agreed: Literal["no", "yes", "unknown"]
    """Whether both proposals are the same answer."""
    failed: Annotated[bool, operator.or_]
    """True when a part failed that the debate cannot do without; two may fail at once."""


class Question(shared.Question):
    """A question, and what may be known of its answers."""

    options: NotRequired[list[str]]
    """The answers to choose from, 2 to 26; none: an open question."""
    gold: NotRequired[str]
    """The letter of the right option; only for evaluations."""


class RoleSwitchingDebate(shared.Debate, Pair, Debated):
    """A question on its way to a verdict, by debates or by direct answers alone."""

    gold: str
    distractor: Candidate | None
    """The wrong option that a model chose."""
    waiting: list[Candidate]
    """The options that a knockout has still to hear, in the order drawn."""
    debates: int
    """Debates that have begun."""
    asked: int
    """Direct answers that are asked for."""
    number: int
    """Which of them a step is to give."""
    samples: Annotated[list[Sample], operator.add]
    dropped: Annotated[int, operator.add]
    """Direct answers that a person took out."""
    failed: bool
    """True when no distractor could be found."""
