"""What an argument tree is made of, as its roles read and leave it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

Stance = Literal["support", "attack"]
STANCES: tuple[Stance, Stance] = ("support", "attack")
Winner = Literal["SUPPORT", "ATTACK", "TIE"]
Order = Literal["support_first", "attack_first"]
NEUTRAL = 0.5
"""The claim's own strength where nobody estimates it, and the threshold of its truth."""


class Argument(TypedDict):
    """One argument for or against its parent."""

    id: str
    parent: str
    stance: Stance
    text: str


class Scored(TypedDict):
    """An argument's intrinsic strength."""

    id: str
    tau: float


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
    """What a tree, or a part of it, consists of."""

    arguments: Annotated[list[Argument], operator.add]
    scores: Annotated[list[Scored], operator.add]
    comparisons: Annotated[list[Compared], operator.add]
    unheard: Annotated[list[str], operator.add]
    """Ids of claims and arguments one side of which failed for good."""


class Pair(TypedDict):
    """Two arguments that meet."""

    supporter: Argument
    attacker: Argument
    order: Order


def pairs(children: Sequence[Argument], orders: Literal["one", "both"]) -> list[Pair]:
    """Every supporter against every attacker, in one order of showing them or in both."""
    shown: tuple[Order, ...] = ("support_first", "attack_first")
    return [
        {"supporter": supporter, "attacker": attacker, "order": order}
        for supporter in children
        if supporter["stance"] == "support"
        for attacker in children
        if attacker["stance"] == "attack"
        for order in (shown if orders == "both" else shown[:1])
    ]


def unmet(
    children: Sequence[Argument],
    comparisons: Sequence[Compared],
    ties: Literal["ignore", "half"],
) -> list[Argument]:
    """The arguments without a comparison that counts: only these need a strength at lambda = 1.

    A comparison that a person made void is taken as it was: nobody is asked anew because of it.
    """
    counts = [c for c in comparisons if ties == "half" or c["winner"] != "TIE"]
    met = {name for c in counts for name in (c["supporter"], c["attacker"])}
    return [argument for argument in children if argument["id"] not in met]
