"""What a record keeps of two papers that debate: segments, claims, positions, sentences."""

from __future__ import annotations

from typing import Literal

from dialectree.records.strict import Strict

Letter = Literal["a", "b"]
"""One of two papers, and the persona that speaks for it."""


class Segment(Strict):
    """A quotable piece of a paper, with its place."""

    id: str
    """The paper's letter and the segment's number: ``a:12``."""
    text: str
    page: int | None = None
    """Counted from 1; None where the source has no pages."""
    offset: int = 0
    """Characters into the paper's text."""
    heading: str | None = None
    contested: bool = False
    """True when a person wrote it in the place of what the paper says."""


class Found(Strict):
    """One segment that a retrieval found."""

    id: str
    score: float
    """Inner product of the normalised vectors, or what a lexical index gives."""


class Retrieval(Strict):
    """What was looked for in one paper, and what was found."""

    paper: Letter
    of: str
    """``topic``, or the id of the other paper's claim."""
    query: str
    found: list[Found]


class Claim(Strict):
    """What a paper claims to contribute to a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of the segments of its own paper that it rests on."""
    counter: list[str] = []
    """Ids of the segments of the other paper that speak to it."""
    addressed: bool | None = None
    """Whether the other paper speaks to it at all; None until somebody looked."""


class Position(Strict):
    """A persona's last word on a topic."""

    paper: Letter
    title: str
    description: str
    evidence: list[str] = []
    """Ids of the segments that it cites."""
    proposals: list[str] = []
    """What it suggests beyond either paper."""
    concedes: bool = False


class Sentence(Strict):
    """One sentence of a comparison, and what it rests on."""

    part: Literal["similarity", "difference", "proposal"]
    text: str
    nodes: list[str] = []
    segments: list[str] = []
    faults: list[str] = []
    """What the program found wrong with it: it rests on nothing, a quotation does not occur."""
