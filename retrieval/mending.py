"""Make text of lines: ligatures, hyphens at line ends, paragraphs cut in two."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, takewhile

from ftfy.fixes import fix_latin_ligatures, remove_control_chars

from dialectree.retrieval.drafts import Block, Breaks

_BLANKS = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u2002\u2003", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060", None),
    }
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_LINE_END_HYPHENS = "-\u2010\u00ad\x02\ufffe"
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*$")
_FIRST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_UNFINISHED = re.compile(r"[^.!?:;]['\"”’)\]]*$")
_OPEN = ("self", "non", "well", "multi", "one", "two", "three", "high", "low", "long", "state")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*$")
_HANGING = ("and", "or", "to", "und", "et")

LONGEST = 20_000
"""Characters of a paragraph, after which nothing is added to it."""


class Words(Counter[str]):
    """Counts the words of a document in small letters; complete before its first use."""

    def beginning(self, start: str) -> int:
        """Return how often words begin with `start`."""
        at = bisect_left(self._in_order, start)
        found = takewhile(lambda word: word.startswith(start), islice(self._in_order, at, at + 50))
        return sum(self[word] for word in found)

    @cached_property
    def _in_order(self) -> list[str]:
        return sorted(self)


def plain_signs(text: str) -> str:
    """Write ligatures as letters and every blank as one; drop what does not show."""
    text = fix_latin_ligatures(text.translate(_BLANKS))
    return _SURROGATES.sub("", remove_control_chars(text))


def words_of(lines: Iterable[str]) -> Words:
    """Count the words of lines, without the two parts of a word at a line's hyphen."""
    found = Words()
    after_hyphen = False
    for line in lines:
        words = _WORD.findall(line.lower())
        broken = line.rstrip().endswith(tuple(_LINE_END_HYPHENS))
        found.update(words[after_hyphen : len(words) - broken])
        after_hyphen = broken
    return found


def joined(left: str, right: str, words: Words) -> tuple[str, int]:
    """Join two lines, mend a hyphen between them, and return where the second begins."""
    left, right = left.rstrip(), right.lstrip()
    if not left or not right:
        return left + right, len(left)
    if left[-1] in "./_" and _ADDRESS.search(left[-300:]):
        return left + right, len(left)
    if left[-1] not in _LINE_END_HYPHENS:
        glue = "" if left[-1] in "–—/" and left[-2:-1].strip() else " "
        return left + glue + right, len(left) + len(glue)
    soft, stem = left[-1] not in "-\u2010", left[:-1]
    before, after = _LAST_PART.search(stem[-300:]), _FIRST_PART.match(right)
    if before is None:
        glue = " " if not stem or stem[-1].isspace() else ""
        return f"{stem}-{glue}{right}", len(stem) + 1 + len(glue)
    if after is not None and after[0] in _HANGING and not soft:
        return f"{stem}- {right}", len(stem) + 2
    if soft and after is not None:
        return stem + right, len(stem)
    kept = after is None or _keeps_its_hyphen(before[0], after[0], words)
    return (f"{stem}-{right}", len(stem) + 1) if kept else (stem + right, len(stem))


def on_one_line(lines: Iterable[str], words: Words) -> str:
    """Join the lines of a paragraph; empty lines are left out."""
    pieces = [""]
    for line in filter(str.strip, lines):
        text, start = joined(pieces[-1], line, words)
        pieces[-1:] = [text[:start], text[start:]]
    return "".join(pieces)


def _keeps_its_hyphen(before: str, after: str, words: Words) -> bool:
    """Whether a word at a line's end keeps its hyphen, by the document's own use."""
    named = after[0].isupper() and not before.isupper()
    before, after = before.lower(), after.lower()
    whole, hyphened = words[before + after], words[f"{before}-{after}"]
    if whole == hyphened:  # neither, most often: "dimension" goes by "one-dimensional"
        whole, hyphened = words.beginning(before + after), words.beginning(f"{before}-{after}")
    if whole != hyphened:
        return hyphened > whole
    if named:
        return True
    # Of "multi-" and "agent-based" the inner pair decides.
    left, right = before.rpartition("-")[2], after.partition("-")[0]
    if (left, right) != (before, after) and not words.beginning(left + right[:3]):
        return left in _OPEN or bool(words[left] or words[right])
    return left in _OPEN and bool(words[right])


def after(first: Block, second: Block, words: Words) -> Block:
    """Join two blocks and keep the pages of both."""
    text, start = joined(first.text, second.text, words)
    pages = [*first.breaks]
    later = [(0, second.page), *second.breaks] if second.page is not None else []
    for offset, page in later:
        if page != (pages[-1][1] if pages else first.page):
            pages.append((start + offset, page))
    return replace(first, text=text, breaks=tuple(pages))


def flowing(blocks: Sequence[Block], words: Words) -> list[Block]:
    """Join paragraphs that an equation, a figure or a page's end cuts in two."""
    found: list[Block] = []
    for block in blocks:
        if found and not found[-1].heading and not block.heading and _goes_on(found[-1], block):
            found[-1] = after(found[-1], block, words)
        else:
            found.append(block)
    return found


def unfinished(text: str) -> bool:
    """Whether a text stops before its sentence does."""
    return _UNFINISHED.search(text.rstrip()) is not None


def _goes_on(first: Block, second: Block) -> bool:
    if len(first.text) > LONGEST:
        return False
    text = first.text[-600:].rstrip()
    if second.text[:1].islower():
        if not text.endswith((".", "!", "?", '."', ".”", ".)")):
            return True
        last_sentence = re.split(r"[.!?]['\"”’)]*\s", text)[-1]
        return is_formula(text) and is_formula(last_sentence)
    return (unfinished(text) or text.endswith(":")) and is_formula(second.text)


def is_formula(text: str) -> bool:
    """Whether a text is a displayed equation: short, with signs and hardly a word."""
    real = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.isalpha()]
    signs = re.search(r"[=<>≤≥≈∼∈∝≡→+∑∫∏√]", text)
    return bool(signs) and len(text) < 600 and len(real) <= 2 + len(text) // 60


def squeezed(block: Block) -> Block:
    """Runs of blanks as one, its page breaks moved along."""
    places = [offset for offset, _ in block.breaks]
    text, moved, at = "", [], 0
    for place in [*places, len(block.text)]:
        piece = re.sub(r"\s+", " ", block.text[at:place])
        text += piece.lstrip() if not text or text.endswith(" ") else piece
        moved.append(len(text))
        at = place
    breaks: Breaks = tuple(
        (offset, page) for offset, (_, page) in zip(moved, block.breaks, strict=False)
    )
    return replace(block, text=text.rstrip(), breaks=breaks)
