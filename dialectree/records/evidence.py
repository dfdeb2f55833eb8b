"""Evidence: segments of sources, and the retrievals that found them."""

from __future__ import annotations

from dialectree.records.strict import Strict


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
    """True if a person wrote it in place of the paper's own text."""


class Found(Strict):
    """One segment that a retrieval found."""

    id: str
    score: float
    """The inner product of normalised vectors, or the score of a lexical index."""


class Retrieval(Strict):
    """A query to one paper, and the segments that it found."""

    paper: str
    """The paper's letter."""
    of: str
    """``topic``, or the id of the other paper's claim."""
    query: str
    found: list[Found]
