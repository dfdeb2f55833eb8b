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


def pairs(
    id: str, parent: str, children: Sequence[Argument], orders: Literal["one", "both"]
) -> list[Pair]:
    """Pair every supporter with every attacker, to be shown in one order or in both."""
    shown: tuple[Order, ...] = ("support_first", "attack_first")
    return [
        {"id": id, "parent": parent, "supporter": supporter, "attacker": attacker, "order": order}
        for supporter in children
        if supporter["stance"] == "support"
        for attacker in children
        if attacker["stance"] == "attack"
        for order in (shown if orders == "both" else shown[:1])
    ]
