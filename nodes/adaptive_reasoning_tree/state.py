"""Adaptive Reasoning Trees: the input, the settings, and the tree while it grows."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from dialectree.flow.state import Debate
from dialectree.protocols.grounded import EVIDENCE, GroundedInput, GroundedSettings
from dialectree.protocols.options import Jury, Unit, option

Stance = Literal["support", "attack"]
STANCES: tuple[Stance, Stance] = ("support", "attack")
Winner = Literal["SUPPORT", "ATTACK", "TIE"]
Order = Literal["support_first", "attack_first"]
SAMPLES = 8
"""Direct verdicts of ``direct_samples`` where the settings name no number: about as many tokens as
one debate."""
NEUTRAL = 0.5
"""The claim's own strength where nobody estimates it, and the threshold of its truth."""


class Argument(TypedDict):
    """One argument for or against its parent."""

    id: str
    parent: str
    stance: Stance
    text: str


class Compared(TypedDict):
    """A supporter and an attacker of one parent before the pairwise judge."""

    parent: str
    supporter: str
    attacker: str
    winner: Winner
    order: Order
    void: NotRequired[bool]
    """True where a person let the comparison count for nobody."""


class Grown(TypedDict):
    """Hold the parts of a tree, or of a branch of it."""

    arguments: Annotated[list[Argument], operator.add]
    scores: Annotated[dict[str, float], operator.or_]
    """Intrinsic strengths (tau), 0 to 1, by the ids of claims and arguments."""
    comparisons: Annotated[list[Compared], operator.add]
    unheard: Annotated[list[str], operator.add]
    """Ids of claims and arguments one side of which failed for good."""


class Pair(TypedDict):
    """Two arguments that a pairwise judge compares."""

    id: str
    """The id of their parent."""
    parent: str
    """The text of their parent."""
    supporter: Argument
    attacker: Argument
    order: Order


def pairs(id: str, parent: str, children: Sequence[Argument], orders: Literal["one", "both"]) -> list[Pair]:
    """Pair every supporter with every attacker, to be shown in one order or in both."""
    both_orders: tuple[Order, ...] = ("support_first", "attack_first")
    return [
        {"id": id, "parent": parent, "supporter": supporter, "attacker": attacker, "order": order}
        for supporter in children
        if supporter["stance"] == "support"
        for attacker in children
        if attacker["stance"] == "attack"
        for order in (both_orders if orders == "both" else both_orders[:1])
    ]


class Input(GroundedInput):
    """A claim to verify."""

    claim: str = option(positional=True)
    """A statement that is true or false, not a question; - reads it from standard input."""


class Settings(GroundedSettings):
    """The settings of an argument tree."""

    breadth: int = option(1, ge=1, le=100, group="Tree", common=True)
    """Supporters, and attackers, of one argument."""
    depth: int = option(1, ge=1, le=50, group="Tree", common=True)
    """Levels of arguments below the claim."""
    jury: Jury = option(default_factory=list, group="Strengths", metavar="SPEC", jury_of="scorer")
    """A model that scores arguments beside others; the mean of their figures counts."""
    blend: Unit = option(0.5, group="Strengths")
    """Weight of the tournament against the intrinsic strengths (lambda): 1 is the tournament alone,
    0 has none."""
    strength_rule: Literal["win_rate", "bradley_terry"] = option("win_rate", group="Strengths")
    """What an argument's comparisons make of it: its mean win rate against the other side, or a
    Bradley-Terry fit of 100 steps, which is the paper's. ``win_rate`` counts a tie half for each
    side, whatever ``ties`` says."""
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = option("dfquad", group="Strengths")
    """How strengths carry upward."""
    root_strength: Literal["neutral", "estimated"] = option("neutral", group="Strengths")
    """The claim's own strength: 0.5, or what the scorer says."""
    ties: Literal["ignore", "half"] = option("ignore", group="Strengths")
    """A tie counts for nobody, or half for each. Only ``strength_rule`` bradley_terry reads it."""
    judge_orders: Literal["one", "both"] = option("one", group="Strengths")
    """Compare each pair once, or in either order."""
    check_stance: Literal["auto", "on", "off"] = option("auto", group="Tree", before="off")
    """Whether the scorer says which way an argument points, and one that points the wrong way is
    asked for again once and then left out. auto: in a run with sources, and where the debaters are
    models of medium size (see ``prompt_form``)."""
    prune_below: Unit | None = option(None, group="Strengths")
    """Arguments weaker than this take no part, nor does what hangs below them; none: all do."""
    unsupported_at_most: Unit = option(0.5, group=EVIDENCE)
    """Weight that an argument without evidence has at most, in a run with sources; with ``memory``
    forbidden it is 0."""
    trees: int = option(1, ge=1, le=25, group="Tree")
    """Independent trees; the claim's strength is the mean of theirs."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``direct_samples`` (none: 8)."""

    def tie_rule(self) -> Literal["ignore", "half"]:
        """Return how ties count under the strength rule."""
        return "half" if self.strength_rule == "win_rate" else self.ties

    def find_unused_settings(self) -> Mapping[str, str]:
        """Return the settings that others leave without a meaning, and why."""
        unread = {"check": "the scorer reads each argument with its sentences"}
        if self.strength_rule == "win_rate":
            unread["ties"] = "`strength_rule` win_rate counts a tie half always"
        return unread


class AdaptiveReasoningTree(Debate, Grown):
    """A claim and all arguments about it; ``question`` holds the claim."""

    id: str
    claims: list[str]
    """The ids of the claims at the roots of the trees: one, or one a tree of an ensemble."""
    blend: float
    """Lambda."""
    theta: dict[str, float]
    """Tournament strengths, 0 to 1, by the ids of the arguments that have one."""
    blended: dict[str, float]
    """Intrinsic and tournament strength blended, 0 to 1, by the ids that have one."""
    notes: dict[str, list[str]]
    """What is odd about the comparisons, by the parent's id."""


class Sprout(TypedDict):
    """A claim or an argument about which a tree grows on."""

    id: str
    text: str
    path: list[str]
    """The claim and the arguments from it down to the parent of ``text``; none at the claim."""
    blend: float
    """Lambda: 0 holds no tournament; at 1 only arguments that it left undecided are scored."""
    argued: bool
    """Whether the debaters argue about it; False where only arguments of a person stand below."""
    stance: NotRequired[Stance]
    """The side of an argument that a scorer weighs."""
    second_try: NotRequired[bool]
    """Whether it was asked for again, as the first one pointed the wrong way."""


Direction = Literal["supports", "attacks", "neither"]


class Directed(TypedDict):
    """Which way an argument points."""

    text: str
    direction: Direction | None
    """None where no scorer says so."""


class Growth(Sprout, Grown):
    """One argument while its own arguments grow."""

    drafts: Annotated[list[Argument], operator.add]
    """What the sides said; a text is empty where a side has no (further) honest argument. A second
    try at a place replaces a near-duplicate."""
    again: dict[Stance, list[int]]
    """Places of near-duplicates on each side; there once they are asked for again."""
    directions: Annotated[dict[str, Directed], operator.or_]
    """Which way arguments point, by their ids; none where that is not checked."""
    misfiled: dict[Stance, list[int]]
    """Places of arguments that point the wrong way; there once they are asked for again."""
    checking: bool
    """Whether the arguments are to be checked before they count."""
    children: list[Argument]
    """The arguments that the debaters gave."""
    inserted: list[Argument]
    """The arguments that a person inserted after them."""
    insertions_below: list[str]
    """The ids of those of all these arguments below which a person inserted others."""
    pairs: list[Pair]
    """Those of a tournament that alone decides."""
