"""Blocks: the paragraphs and headings that a reader finds in a file, within a time limit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any, Literal, NamedTuple, TypeVar

from dialectree.errors import InputError

Part = TypeVar("Part")
SECONDS = 60.0
"""Seconds of processor time that one document may take."""
_ends: ContextVar[tuple[float, str] | None] = ContextVar("ends", default=None)


LONGEST = 20_000
"""Characters after which a paragraph takes no more text."""

_BLANKS = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u2002\u2003", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060", None),
    }
)
LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\u206a-\u206f\ufeff\ufff9-\ufffc]")
_LINE_END_HYPHENS = "-\u2010\u00ad\x02\ufffe"
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*$")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*$")
_HANGING = ("and", "or", "to", "und", "et")
"""Words before which a hyphen stays, as in "pre- and post-processing"."""
_PREFIXES = ("self", "non", "well", "multi", "one", "two", "three", "high", "low", "long", "state")
_SENTENCE_END = re.compile(r"[.!?]['\"”’)]*$")


BlockKind = Literal["heading", "paragraph", "item", "names", "row", "note"]
"""The kind of a block. ``names`` is the table row that names the columns, ``row`` any other row,
and ``note`` a footnote, a caption or text in a margin."""


@dataclass(frozen=True)
class Block:
    """A part of a document that can be cited, in reading order."""

    text: str
    kind: BlockKind = "paragraph"
    page: int | None = None
    """The page on which the block begins, from 1; None if the file has no pages."""
    breaks: tuple[tuple[int, int], ...] = ()
    """Page breaks inside the text: (characters into the text, new page), in order."""
    source: str = ""
    """The block's words in the file. The ``text`` of a row repeats the names of columns as well."""

    @property
    def heading(self) -> bool:
        """Return whether the block is a heading."""
        return self.kind == "heading"

    @property
    def apart(self) -> bool:
        """Return whether the block is part of a table, so that no paragraph continues in it."""
        return self.kind in ("names", "row")


class LeftOut(NamedTuple):
    """Text of a file that was left out of the blocks, and the reason."""

    text: str
    reason: str
    page: int | None = None


def count_left_out(left_out: Iterable[LeftOut]) -> list[dict[str, Any]]:
    """Count the words left out for each reason, and list their pages."""
    reasons: dict[str, dict[str, Any]] = {}
    for part in left_out:
        row = reasons.setdefault(part.reason, {"reason": part.reason, "words": 0, "pages": []})
        row["words"] += len(part.text.split())
        if part.page is not None and part.page not in row["pages"]:
            row["pages"].append(part.page)
    return [*reasons.values()]


def describe_left_out(left_out: Iterable[LeftOut]) -> list[str]:
    """Return one line that names the text left out, or an empty list."""
    rows = count_left_out(left_out)
    if not rows:
        return []
    parts = ", ".join(f"{row['reason']} ({row['words']})" for row in rows)
    if len(rows) == 1:
        parts = rows[0]["reason"]
    words = sum(row["words"] for row in rows)
    return [f"{words} word{'s' if words != 1 else ''} left out: {parts}"]


@dataclass(frozen=True)
class Reading:
    """The blocks and notices that a reader returns for a file."""

    title: str | None
    blocks: Sequence[Block]
    left_out: Sequence[LeftOut] = ()
    notices: Sequence[str] = ()
    """Facts for the user, such as the encoding or pages without text."""
    abstract: str | None = None
    """The abstract, if the file marks it."""
    stored_title: str | None = None
    """The title in the file's properties, which may be wrong."""

    def as_fields(self) -> dict[str, Any]:
        """Return the reading as plain data, without the ``source`` of each block."""
        blocks = [[block.text, block.kind, block.page, block.breaks] for block in self.blocks]
        return {**vars(self), "blocks": blocks}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Reading:
        """Return the reading from the fields of :meth:`as_fields`, also after a pass through JSON."""
        blocks = [
            Block(text, kind, page, tuple((at, on) for at, on in breaks))
            for text, kind, page, breaks in fields["blocks"]
        ]
        left_out = [LeftOut(*part) for part in fields["left_out"]]
        return cls(**{**fields, "blocks": blocks, "left_out": left_out})


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Let :func:`timely` stop reading the document ``name`` after :data:`SECONDS`."""
    token = _ends.set((thread_time() + SECONDS, name))
    try:
        yield
    finally:
        _ends.reset(token)


def timely(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield ``parts`` of the current document; raise InputError when its time is over."""
    ends = _ends.get()
    for part in parts:
        if ends is not None and thread_time() > ends[0]:
            raise too_much(ends[1], f"{SECONDS:g} s")
        yield part


def too_much(name: str, limit: str) -> InputError:
    """Return the error for a document that takes too much to read."""
    return InputError(
        f"{name}: reading it takes more than {limit}, or it is damaged; cut it down, "
        "print a PDF to a new one, or give the paper's text"
    )


def plain_signs(text: str) -> str:
    """Write ligatures as letters and each white space as a blank; drop invisible characters."""
    text = _CONTROLS.sub("", text.translate(_BLANKS).translate(LIGATURES))
    return text.encode("utf-8", "ignore").decode()


def words_of(lines: Iterable[str]) -> Counter[str]:
    """Count the words of lines, without the parts of words hyphenated at a line's end."""
    counts = Counter[str]()
    after_hyphen = False
    for line in timely(lines):
        words = _WORD.findall(line.lower())
        broken = line.rstrip().endswith(tuple(_LINE_END_HYPHENS))
        counts.update(words[after_hyphen : len(words) - broken])
        after_hyphen = broken
    return counts


def join_lines(first_line: str, right: str, words: Counter[str]) -> tuple[str, int]:
    """Join two lines, mend a hyphen between them, and return the second line's offset, too."""
    first_line, right = first_line.rstrip(), right.lstrip()
    if not first_line or not right or (first_line[-1] in "./_" and _ADDRESS.search(first_line[-300:])):
        return first_line + right, len(first_line)
    if first_line[-1] not in _LINE_END_HYPHENS:
        glue = "" if first_line[-1] in "–—/" and first_line[-2:-1].strip() else " "
        return first_line + glue + right, len(first_line) + len(glue)
    soft, stem = first_line[-1] not in "-\u2010", first_line[:-1]
    before, after = _LAST_PART.search(stem[-300:]), _WORD.match(right)
    if before is None or (after is not None and after[0] in _HANGING and not soft):
        glue = "" if stem and not stem[-1].isspace() and before is None else " "
        return f"{stem}-{glue}{right}", len(stem) + 1 + len(glue)
    if after is None or (not soft and _keeps_its_hyphen(before[0], after[0], words)):
        return f"{stem}-{right}", len(stem) + 1
    return stem + right, len(stem)


def on_one_line(lines: Iterable[str], words: Counter[str]) -> str:
    """Join the lines of a paragraph, without empty lines."""
    pieces = [""]
    for line in timely(filter(str.strip, lines)):
        text, start = join_lines(pieces[-1], line, words)
        pieces[-1:] = [text[:start], text[start:]]
    return "".join(pieces)


def _keeps_its_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """Return whether a hyphen at a line's end stays, by other uses of the word, else by its parts."""
    if after[0].isupper() and not before.isupper():
        return True
    before, after = before.lower(), after.lower()
    joined_count, hyphened = words[before + after], words[f"{before}-{after}"]
    if joined_count != hyphened:
        return hyphened > joined_count
    # For "multi-" and "agent-based", look at the inner pair "multi-agent".
    prefix, right = before.rpartition("-")[2], after.partition("-")[0]
    if prefix in _PREFIXES and (prefix, right) != (before, after):
        return True
    part_count = words[prefix] if right == after else words[prefix] or words[right]
    compound = (prefix, right) != (before, after)
    return bool(part_count) if compound else prefix in _PREFIXES and bool(words[right])


def after(first: Block, second: Block, words: Counter[str]) -> Block:
    """Return two blocks joined, with the pages of both."""
    text, start = join_lines(first.text, second.text, words)
    pages = [*first.breaks]
    later = [(0, second.page), *second.breaks] if second.page is not None else []
    for offset, page in later:
        if page != (pages[-1][1] if pages else first.page):
            pages.append((start + offset, page))
    source = f"{first.source} {second.source}".strip()
    return replace(first, text=text, breaks=tuple(pages), source=source)


def flowing(blocks: Sequence[Block], words: Counter[str]) -> list[Block]:
    """Join paragraphs that an equation, a figure or a page's end cuts in two."""
    flow: list[Block] = []
    for block in timely(blocks):
        prose = bool(flow) and flow[-1].kind in ("paragraph", "item") and block.kind == "paragraph"
        if prose and _continues(flow[-1], block):
            flow[-1] = after(flow[-1], block, words)
        else:
            flow.append(block)
    return flow


def _continues(first: Block, second: Block) -> bool:
    if len(first.text) > LONGEST:
        return False
    text = first.text[-600:].rstrip()
    ended = _SENTENCE_END.search(text) is not None
    if second.text[:1].islower():
        last_sentence = re.split(r"[.!?]['\"”’)]*\s", text)[-1]
        return not ended or (is_formula(text) and is_formula(last_sentence))
    return not ended and not text.endswith(";") and is_formula(second.text)


def is_formula(text: str) -> bool:
    """Return whether a text is a displayed equation: short, with signs and few words."""
    words = re.findall(r"[^\W\d_]{4,}", text)
    signs = re.search(r"[=<>≤≥≈∼∈∝≡→+∑∫∏√]", text)
    return bool(signs) and len(text) < 600 and len(words) <= 2 + len(text) // 60
