"""What a reader of one format finds in a file, before it is a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Breaks = tuple[tuple[int, int], ...]
"""Where a new page begins inside a text: (characters into the text, page), in order."""


@dataclass(frozen=True)
class Block:
    """A paragraph or a heading, in reading order."""

    text: str
    heading: bool = False
    page: int | None = None
    """The page on which it begins, from 1; only a PDF has pages."""
    breaks: Breaks = ()


@dataclass(frozen=True)
class Draft:
    """A title and an abstract where the file shows them, and its body block by block."""

    title: str | None = None
    abstract: str | None = None
    blocks: Sequence[Block] = field(default_factory=tuple)
    introduction: str | None = None
    """Only where the file itself sets it apart, as a JSON object does."""
    notices: Sequence[str] = ()
    """What a reader should know is missing in the file."""
