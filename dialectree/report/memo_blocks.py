"""Define the parts of a memo. They say nothing about Markdown, HTML or Word."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Literal, NamedTuple

from dialectree.report.citations import Note

BlockKind = Literal["heading", "subheading", "answer", "warning", "paragraph", "quote", "bullets"]


LONGEST = 1200
"""The most characters of a span."""


class StyledText(NamedTuple):
    """A piece of a line."""

    text: str
    strong: bool = False


class MemoLine(NamedTuple):
    """A paragraph or an item of a list, with the numbers of the notes at its end."""

    spans: tuple[StyledText, ...]
    notes: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Return the text without its notes."""
        return "".join(span.text for span in self.spans)


class MemoBlock(NamedTuple):
    """A heading, a paragraph, a quotation or a list of a memo."""

    kind: BlockKind
    lines: tuple[MemoLine, ...]


class Memo(NamedTuple):
    """One or two pages on a run."""

    title: str
    """The question, shortened if it is long."""
    subtitle: str
    blocks: list[MemoBlock]
    notes: list[Note]
    facts: list[tuple[str, str]]
    """How the answer was made: names and values."""


def line(*parts: str | StyledText, notes: tuple[int, ...] = ()) -> MemoLine:
    """Return a line of spans and plain texts. Empty ones are left out and neighbours of a kind are joined."""
    spans = (StyledText(part) if isinstance(part, str) else part for part in parts if part)
    joined = (
        StyledText(_shorten("".join(span.text for span in group)), is_strong)
        for is_strong, group in groupby(spans, lambda span: span.strong)
    )
    return MemoLine(tuple(span for span in joined if span.text), notes)


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def strong(text: str) -> StyledText:
    """Return a span in bold."""
    return StyledText(text, strong=True)


def heading(text: str) -> MemoBlock:
    """Return a heading of a section."""
    return MemoBlock("heading", (line(text),))


def subheading(text: str) -> MemoBlock:
    """Return a heading within a section."""
    return MemoBlock("subheading", (line(text),))


def paragraph(*parts: str | StyledText, notes: tuple[int, ...] = ()) -> MemoBlock:
    """Return a paragraph."""
    return MemoBlock("paragraph", (line(*parts, notes=notes),))


def bullets(items: Iterable[MemoLine | str]) -> list[MemoBlock]:
    """Return a list in one block; no block without items."""
    lines = tuple(line(item) if isinstance(item, str) else item for item in items)
    return [MemoBlock("bullets", lines)] if lines else []
