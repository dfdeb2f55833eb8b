"""Blocks: the paragraphs and headings that a reader makes of a file, within a limit of time."""

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
"""Seconds of the processor's time that one document may take."""
_ends: ContextVar[tuple[float, str] | None] = ContextVar("ends", default=None)


LONGEST = 20_000
"""Characters of a paragraph, after which nothing is added to it."""

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
"""Words that follow a hyphen which stays, as in "pre- and post-processing"."""
_PREFIXES = ("self", "non", "well", "multi", "one", "two", "three", "high", "low", "long", "state")
_SENTENCE_END = re.compile(r"[.!?]['\"”’)]*$")


BlockKind = Literal["heading", "paragraph", "item", "names", "row", "note"]
"""A part of a document: ``names`` is the row of a table that names its columns, ``row`` any other
one, and ``note`` a footnote, a caption or what stands in a margin."""


@dataclass(frozen=True)
class Block:
    """A part of a document that can be cited, in reading order."""

    text: str
    kind: BlockKind = "paragraph"
    page: int | None = None
    """The page on which it begins, from 1; None where a file has no pages."""
    breaks: tuple[tuple[int, int], ...] = ()
    """Where a new page begins inside it: (characters into the text, page), in order."""
    source: str = ""
    """The words that it took of the file: a row's text repeats the names of its columns."""

    @property
    def heading(self) -> bool:
        """Return whether it stands above other blocks as their heading."""
        return self.kind == "heading"

    @property
    def apart(self) -> bool:
        """Return whether no paragraph runs on into it."""
        return self.kind in ("names", "row")


class LeftOut(NamedTuple):
    """Text of a file that is in no block."""

    text: str
    reason: str
    page: int | None = None


def count_left_out(left_out: Iterable[LeftOut]) -> list[dict[str, Any]]:
    """Return for each reason how many words were left out, and on which pages."""
    reasons: dict[str, dict[str, Any]] = {}
    for part in left_out:
        row = reasons.setdefault(part.reason, {"reason": part.reason, "words": 0, "pages": []})
        row["words"] += len(part.text.split())
        if part.page is not None and part.page not in row["pages"]:
            row["pages"].append(part.page)
    return [*reasons.values()]


def describe_left_out(left_out: Iterable[LeftOut]) -> list[str]:
    """Return one line that says what was left out, or none."""
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
    """What a reader made of a file."""

    title: str | None
    blocks: Sequence[Block]
    left_out: Sequence[LeftOut] = ()
    notices: Sequence[str] = ()
    """What a person should know: how it was decoded, which pages have no text."""
    abstract: str | None = None
    """The abstract, where the file itself names one."""
    stored_title: str | None = None
    """The title in the file's properties, which need not be right."""

    def as_fields(self) -> dict[str, Any]:
        """Return it as plain data, without the words that each block took of the file."""
        blocks = [[block.text, block.kind, block.page, block.breaks] for block in self.blocks]
        return {**vars(self), "blocks": blocks}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Reading:
        """Return the reading of :meth:`as_fields`, which may have been JSON in between."""
        blocks = [
            Block(text, kind, page, tuple((at, on) for at, on in breaks))
            for text, kind, page, breaks in fields["blocks"]
        ]
        left_out = [LeftOut(*part) for part in fields["left_out"]]
        return cls(**{**fields, "blocks": blocks, "left_out": left_out})


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Let :func:`timely` end the reading of the document ``name`` after :data:`SECONDS`."""
    token = _ends.set((thread_time() + SECONDS, name))
    try:
        yield
    finally:
        _ends.reset(token)


def timely(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield ``parts`` of the document that is read; raise InputError at the end of its time."""
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
    """Write ligatures as letters and every blank as one; drop characters that do not show."""
    text = _CONTROLS.sub("", text.translate(_BLANKS).translate(LIGATURES))
    return text.encode("utf-8", "ignore").decode()


def words_of(lines: Iterable[str]) -> Counter[str]:
    """Count the words of lines, without the two parts of a word at a line's hyphen."""
    counts = Counter[str]()
    after_hyphen = False
    for line in timely(lines):
        words = _WORD.findall(line.lower())
        broken = line.rstrip().endswith(tuple(_LINE_END_HYPHENS))
        counts.update(words[after_hyphen : len(words) - broken])
        after_hyphen = broken
    return counts


def join_lines(first_line: str, right: str, words: Counter[str]) -> tuple[str, int]:
    """Join two lines, mend a hyphen between them, and return where the second begins."""
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
    """Join the lines of a paragraph; empty lines are left out."""
    pieces = [""]
    for line in timely(filter(str.strip, lines)):
        text, start = join_lines(pieces[-1], line, words)
        pieces[-1:] = [text[:start], text[start:]]
    return "".join(pieces)


def _keeps_its_hyphen(before: str, after: str, words: Counter[str]) -> bool:
    """Decide by the document's own use of the word, else by its parts."""
    if after[0].isupper() and not before.isupper():
        return True
    before, after = before.lower(), after.lower()
    joined_count, hyphened = words[before + after], words[f"{before}-{after}"]
    if joined_count != hyphened:
        return hyphened > joined_count
    # Of "multi-" and "agent-based" the inner pair decides.
    prefix, right = before.rpartition("-")[2], after.partition("-")[0]
    if prefix in _PREFIXES and (prefix, right) != (before, after):
        return True
    part_count = words[prefix] if right == after else words[prefix] or words[right]
    compound = (prefix, right) != (before, after)
    return bool(part_count) if compound else prefix in _PREFIXES and bool(words[right])


def after(first: Block, second: Block, words: Counter[str]) -> Block:
    """Join two blocks and keep the pages of both."""
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
    """Return whether a text is a displayed equation: short, with signs and hardly a word."""
    words = re.findall(r"[^\W\d_]{4,}", text)
    signs = re.search(r"[=<>≤≥≈∼∈∝≡→+∑∫∏√]", text)
    return bool(signs) and len(text) < 600 and len(words) <= 2 + len(text) // 60
