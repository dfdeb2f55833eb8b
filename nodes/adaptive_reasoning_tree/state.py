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
"""The default number of verdicts of ``direct_samples``: about as many tokens as one debate."""
NEUTRAL = 0.5
"""The strength of a claim without an estimate, and the threshold of its truth."""


class Argument(TypedDict):
    """One argument for or against its parent."""

    id: str
    parent: str
    stance: Stance
    text: str


class Compared(TypedDict):
    """The pairwise judge's ruling on a supporter and an attacker of one parent."""

    parent: str
    supporter: str
    attacker: str
    winner: Winner
    order: Order
    void: NotRequired[bool]
    """True if a person made the comparison void."""


class Grown(TypedDict):
    """The parts of a tree, or of a branch."""

    arguments: Annotated[list[Argument], operator.add]
    scores: Annotated[dict[str, float], operator.or_]
    """Intrinsic strengths (tau), 0 to 1, by the ids of claims and arguments."""
    comparisons: Annotated[list[Compared], operator.add]
    unheard: Annotated[list[str], operator.add]
    """Ids of the claims and arguments whose supporter or attacker failed for good."""


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

    breadth: int = option(1, ge=1, le=100, group="Tree", common=True, title="Arguments on each side")
    """Supporters of each argument, and as many attackers."""
    depth: int = option(1, ge=1, le=50, group="Tree", common=True, title="Levels of arguments")
    """Levels of arguments below the claim."""
    jury: Jury = option(
        default_factory=list, group="Strengths", title="Scorers of a jury", metavar="SPEC", jury_of="scorer"
    )
    """A model that scores arguments together with others; the mean of their figures counts."""
    blend: Unit = option(0.5, group="Strengths", title="Weight of the tournament")
    """Weight of the tournament against the intrinsic strengths (lambda): 1 is the tournament alone,
    0 has none."""
    strength_rule: Literal["win_rate", "bradley_terry"] = option(
        "win_rate",
        group="Strengths",
        choices={"win_rate": "mean win rate", "bradley_terry": "Bradley-Terry fit, as in the paper"},
    )
    """Strength from an argument's comparisons: its mean win rate against the other side, or the
    paper's Bradley-Terry fit of 100 steps. ``win_rate`` ignores ``ties`` and counts a tie half for
    each side."""
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = option(
        "dfquad",
        group="Strengths",
        title="How strengths add up",
        choices={
            "dfquad": "DF-QuAD: many arguments saturate",
            "quadratic_energy": "quadratic energy: weak arguments count little",
            "euler": "Euler-based: attacks never take all of it away",
        },
    )
    """Rule that carries strengths upward."""
    root_strength: Literal["neutral", "estimated"] = option(
        "neutral",
        group="Strengths",
        title="Strength of the claim itself",
        choices={"neutral": "neutral, 0.5", "estimated": "as the scorer estimates it"},
    )
    """The claim's own strength: 0.5, or the scorer's estimate."""
    ties: Literal["ignore", "half"] = option(
        "ignore", group="Strengths", choices={"ignore": "left out", "half": "half for each side"}
    )
    """A tie is left out, or counts half for each. Only ``strength_rule`` ``bradley_terry`` reads it."""
    judge_orders: Literal["one", "both"] = option(
        "one",
        group="Strengths",
        title="Orders of a comparison",
        choices={"one": "one order", "both": "both orders"},
    )
    """Compare each pair once, or in either order."""
    check_stance: Literal["auto", "on", "off"] = option(
        "auto",
        group="Tree",
        title="Check which way arguments point",
        choices={"auto": "when it helps", "on": "always", "off": "never"},
        before="off",
    )
    """Let the scorer check which way each argument points; one that points the wrong way is
    replaced once, then left out. ``auto``: in a run with sources, or if the debaters are models of
    medium size (see ``prompt_form``)."""
    prune_below: Unit | None = option(None, group="Strengths", title="Leave out arguments below")
    """Leave out arguments weaker than this, and all arguments below them; none: keep all."""
    unsupported_at_most: Unit = option(0.5, group=EVIDENCE, title="Weight without evidence")
    """Largest weight of an argument without evidence, in a run with sources; 0 if ``memory`` is
    forbidden."""
    trees: int = option(1, ge=1, le=25, group="Tree", title="Independent trees")
    """Independent trees; the claim's strength is the mean of theirs."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``direct_samples`` (none: 8)."""

    def tie_rule(self) -> Literal["ignore", "half"]:
        """Return the rule for ties that the strength rule uses."""
        return "half" if self.strength_rule == "win_rate" else self.ties

    def find_unused_settings(self) -> Mapping[str, str]:
        """Return the settings that other settings leave without effect, and the reasons."""
        unread = {"check": "the scorer reads each argument with its sentences"}
        if self.strength_rule == "win_rate":
            unread["ties"] = "`strength_rule` win_rate counts a tie half always"
        return unread


class AdaptiveReasoningTree(Debate, Grown):
    """A claim and all arguments about it; ``question`` holds the claim."""

    id: str
    claims: list[str]
    """The ids of the claims at the roots: one, or one for each tree of an ensemble."""
    blend: float
    """Lambda."""
    theta: dict[str, float]
    """Tournament strengths, 0 to 1, by the ids of the arguments that have one."""
    blended: dict[str, float]
    """Intrinsic and tournament strength blended, 0 to 1, by the ids that have one."""
    notes: dict[str, list[str]]
    """Notes on odd comparisons, by the parent's id."""


class Sprout(TypedDict):
    """A claim or an argument below which a tree grows."""

    id: str
    text: str
    path: list[str]
    """The claim and the arguments from it down to the parent of ``text``; empty at the claim."""
    blend: float
    """Lambda: 0 for no tournament; at 1 only arguments that the tournament leaves undecided are scored."""
    argued: bool
    """True if the debaters argue about it; False if a person inserted all arguments below it."""
    stance: NotRequired[Stance]
    """The side that the argument is on; only for a scorer."""
    second_try: NotRequired[bool]
    """True if the argument replaces one that pointed the wrong way."""


Direction = Literal["supports", "attacks", "neither"]


class Directed(TypedDict):
    """An argument's text and the direction in which it points."""

    text: str
    direction: Direction | None
    """None if the scorers name no direction."""


class Growth(Sprout, Grown):
    """One argument while its own arguments grow."""

    drafts: Annotated[list[Argument], operator.add]
    """The arguments of both sides; a text is empty if a side has no (further) honest argument. A
    second try at a place replaces a near-duplicate."""
    again: dict[Stance, list[int]]
    """Places of near-duplicates on each side; set when they are asked for again."""
    directions: Annotated[dict[str, Directed], operator.or_]
    """The directions of arguments, by their ids; empty without a check."""
    misfiled: dict[Stance, list[int]]
    """Places of arguments that point the wrong way; set when they are asked for again."""
    checking: bool
    """True if the arguments are checked before they count."""
    children: list[Argument]
    """The arguments that the debaters gave."""
    inserted: list[Argument]
    """The arguments that a person inserted; they come after the debaters' own."""
    insertions_below: list[str]
    """The ids of the arguments below which a person inserted others."""
    pairs: list[Pair]
    """The pairs of a tournament that decides alone."""
