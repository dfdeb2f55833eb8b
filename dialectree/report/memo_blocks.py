"""Define the parts of a memo. They say nothing about Markdown, HTML or Word."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Literal, NamedTuple

from dialectree.report.citations import Note

BlockKind = Literal["heading", "subheading", "answer", "warning", "paragraph", "quote", "bullets"]


LONGEST = 1200
"""The most characters of a span."""


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    strong: bool = False


class Line(NamedTuple):
    """A paragraph or an item of a list, with the numbers of the notes at its end."""

    spans: tuple[Span, ...]
    notes: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Return the text without its notes."""
        return "".join(span.text for span in self.spans)


class Block(NamedTuple):
    """A heading, a paragraph, a quotation or a list of a memo."""

    kind: BlockKind
    lines: tuple[Line, ...]


class Memo(NamedTuple):
    """One or two pages on a run."""

    title: str
    """The question, shortened if it is long."""
    subtitle: str
    blocks: list[Block]
    notes: list[Note]
    facts: list[tuple[str, str]]
    """How the answer was made: names and values."""


def line(*parts: str | Span, notes: tuple[int, ...] = ()) -> Line:
    """Return a line of spans and plain texts. Empty ones are left out and neighbours of a kind are joined."""
    spans = (Span(part) if isinstance(part, str) else part for part in parts if part)
    joined = (
        Span(_shorten("".join(span.text for span in group)), is_strong)
        for is_strong, group in groupby(spans, lambda span: span.strong)
    )
    return Line(tuple(span for span in joined if span.text), notes)


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def strong(text: str) -> Span:
    """Return a span in bold."""
    return Span(text, strong=True)


def heading(text: str) -> Block:
    """Return a heading of a section."""
    return Block("heading", (line(text),))


def subheading(text: str) -> Block:
    """Return a heading within a section."""
    return Block("subheading", (line(text),))


def paragraph(*parts: str | Span, notes: tuple[int, ...] = ()) -> Block:
    """Return a paragraph."""
    return Block("paragraph", (line(*parts, notes=notes),))


def bullets(items: Iterable[Line | str]) -> list[Block]:
    """Return a list in one block; no block without items."""
    lines = tuple(line(item) if isinstance(item, str) else item for item in items)
    return [Block("bullets", lines)] if lines else []
