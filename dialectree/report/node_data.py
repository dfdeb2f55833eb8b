"""Read the data of a node in the shape that a view shows.

The view ``topics`` shows nodes at which two papers debate. A protocol sends the data of these
nodes in ``noted`` and ``settled`` events, in the shape of :class:`Topic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from dialectree.records.place import Strict
from dialectree.records.tree import Node

Shape = TypeVar("Shape", bound=BaseModel)
Letter = Literal["a", "b"]
"""The letter of one of two papers, and of the speaker for that paper."""


def read_fields(kind: type[Shape], fields: object) -> Shape:
    """Return ``fields`` as a ``kind``, whose fields must all have defaults.

    A field of another shape is ignored: a protocol may use the same name for other data.
    """
    mapping = fields if isinstance(fields, Mapping) else {}
    try:
        return kind.model_validate(mapping)
    except ValidationError as error:
        misshaped = {fault["loc"][0] for fault in error.errors()}
        return kind.model_validate({k: v for k, v in mapping.items() if k not in misshaped})


class Claim(Strict):
    """One contribution that a paper claims on a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of the segments of the claim's own paper that support the claim."""


class Position(Strict):
    """A speaker's last word on a topic."""

    paper: Letter
    title: str
    description: str
    evidence: list[str] = []
    """Ids of the segments that the speaker cites."""
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
    """Faults that the program found: the sentence cites nothing, or quotes words that occur nowhere."""


class Topic(BaseModel):
    """The data of one topic; a node may hold other data, too."""

    description: str = ""
    """The matter of debate."""
    relevant: list[str] = []
    """The ids of the parent topic's claims that this topic is about."""
    raised_by: list[str] = []
    """Questions that the parent topic's debate left open and that led to this topic."""
    claims: dict[Letter, list[Claim]] = {}
    """The claims of both papers, made before the topic was split."""
    counter: dict[str, list[str]] = {}
    """For each claim, the segments of the other paper about the claim; empty if that paper has none.
    A claim that was not looked up is absent."""
    positions: list[Position] = []
    """Both speakers' last word on the topic."""
    sentences: list[Sentence] = []
    """The sentences of the comparison; only the root has them."""

    @property
    def all_claims(self) -> list[Claim]:
        """Return the claims of both papers."""
        return [claim for letter in sorted(self.claims) for claim in self.claims[letter]]


def topic_of(node: Node) -> Topic:
    """Return the data of ``node`` that have the shape of a topic."""
    return read_fields(Topic, node.data)
