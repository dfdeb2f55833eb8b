"""Read the data of a node in the shape that a view shows.

The view ``topics`` shows nodes at which two papers debate. A protocol sends their data in
``noted`` and ``settled`` events, in the shape of :class:`Topic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from dialectree.records.place import Strict
from dialectree.records.tree import Node

Shape = TypeVar("Shape", bound=BaseModel)
Letter = Literal["a", "b"]
"""One of two papers, and the speaker for it."""


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
    """Ids of the segments of its own paper that support it."""


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
    """Faults that the program found: it cites nothing, or a quotation does not occur."""


class Topic(BaseModel):
    """The data of one topic; a node may hold other data, too."""

    description: str = ""
    """The matter of debate."""
    relevant: list[str] = []
    """The ids of its parent's claims that the topic is about."""
    raised_by: list[str] = []
    """Questions that the debate of its parent left open and that led to this topic."""
    claims: dict[Letter, list[Claim]] = {}
    """The claims of both papers, made before the topic was split."""
    counter: dict[str, list[str]] = {}
    """By claim, the segments of the other paper about it; empty if the paper has none. A claim
    that was not looked up is absent."""
    positions: list[Position] = []
    """Both speakers' last word on the topic."""
    sentences: list[Sentence] = []
    """The comparison; at the root."""

    @property
    def all_claims(self) -> list[Claim]:
        """Return the claims of both papers."""
        return [claim for letter in sorted(self.claims) for claim in self.claims[letter]]


def topic_of(node: Node) -> Topic:
    """Return the data of ``node`` that have the shape of a topic."""
    return read_fields(Topic, node.data)
