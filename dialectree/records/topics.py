"""The data of a node at which two papers debate a topic; the view ``topics`` shows it.

A protocol tells of them by ``noted`` and ``settled`` events, in the shape of :class:`Topic`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from dialectree.records.place import Strict, fitting
from dialectree.records.tree import Node

Letter = Literal["a", "b"]
"""One of two papers, and the speaker for it."""


class Claim(Strict):
    """One contribution that a paper claims on a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of the segments of its own paper that it rests on."""


class Position(Strict):
    """A speaker's last word on a topic."""

    paper: Letter
    title: str
    description: str
    evidence: list[str] = []
    """Ids of the segments that it cites."""
    proposals: list[str] = []
    """Suggestions beyond either paper."""
    concedes: bool = False


class Sentence(Strict):
    """One sentence of a comparison, and its sources."""

    part: Literal["similarity", "difference", "proposal"]
    text: str
    nodes: list[str] = []
    segments: list[str] = []
    faults: list[str] = []
    """Faults that the program found: it rests on nothing, a quotation does not occur."""


class Topic(BaseModel):
    """The data of one topic; a node may hold other data beside them."""

    description: str = ""
    """The matter of debate."""
    relevant: list[str] = []
    """The ids of its parent's claims that the topic is about."""
    raised_by: list[str] = []
    """Questions that the debate of its parent left open and that led to this topic."""
    claims: dict[Letter, list[Claim]] = {}
    """The claims of both papers, made before the topic was split."""
    counter: dict[str, list[str]] = {}
    """By claim, the segments of the other paper that speak to it: empty if none does. A claim
    that nobody looked at is absent."""
    positions: list[Position] = []
    """Both speakers' last word on it."""
    sentences: list[Sentence] = []
    """The comparison; at the root."""

    @property
    def all_claims(self) -> list[Claim]:
        """Return the claims of both papers."""
        return [claim for letter in sorted(self.claims) for claim in self.claims[letter]]


def topic_of(node: Node) -> Topic:
    """Return the data of ``node`` as those of a topic, so far as they have its shape."""
    return fitting(Topic, node.data)
