"""Plain text: the first line is the title, the next paragraph the abstract, the rest the body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from statistics import median

from dialectree.retrieval import front_matter, headings, mending
from dialectree.retrieval.drafts import Block, Draft

_ONE_PARAGRAPH = 160
"""Characters; where a line is longer, the file has one line for each paragraph."""
_NARROWEST = 40
"""Characters; where lines are shorter, no text was broken into them."""
_LONGEST_TITLE = 300
_ITEM = re.compile(r"\s*(?:[-*•▪◦–]\s+|\(?\d{1,2}[.)]\s+|\[\d+\]\s+)\S")
_BULLET = re.compile(r"^\s*[-*•▪◦–]\s+(?=\S)")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,}|\*{3,}|_{3,})\s*$")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|algorithm|listing)\s+[\dIVX]+(?:\.\d+)*\s*(?:[:.|](?:\s|$)|$)"
    r"|algorithm\s+\d+\s+(?-i:[A-Z])",
    re.I,
)
_MARKED = re.compile(r"\s*(?:#+\s|title:)", re.I)
_ENDED = re.compile(r"[.!:;。]['\"”’)\]]*$")
_RUNS_ON = re.compile(r"(?:[:,–—-]|\b(?:of|the|for|and|with|in|a|an|to|on|by|from|via))$", re.I)


def draft(text: str, *, given: str | None = None, abstracted: bool = False) -> Draft:
    """Return what plain text shows; title or abstract may come from elsewhere."""
    paragraphs = _paragraphs(text)
    words = mending.words_of(line for lines in paragraphs for line in lines)
    title, paragraphs = _title(paragraphs, words, given)
    blocks = _flowing(paragraphs, words)
    abstract, body = front_matter.under_its_heading(blocks)
    if abstract is None and not abstracted:
        abstract, body = front_matter.first_paragraph(blocks)
    return Draft(title, abstract, body)


def blocks_of(text: str) -> list[Block]:
    """Return the headings and paragraphs of a text that is all body."""
    paragraphs = _paragraphs(text)
    return _flowing(paragraphs, mending.words_of(line for lines in paragraphs for line in lines))


def is_caption(text: str) -> bool:
    """Whether a paragraph is the caption of a figure or a table."""
    return _CAPTION.match(text) is not None


def _flowing(paragraphs: Sequence[list[str]], words: mending.Words) -> list[Block]:
    width = _width(paragraphs)
    blocks = [block for lines in paragraphs for block in _blocks(lines, words, width)]
    return mending.flowing(blocks, words)


def _width(paragraphs: Sequence[list[str]]) -> float:
    """Return the usual length of a line that another one follows."""
    followed = [len(line) for lines in paragraphs for line in lines[:-1]]
    return max(_NARROWEST, median(followed or [0]))


def _paragraphs(text: str) -> list[list[str]]:
    """Return the lines between empty lines, without numbers of pages and lines."""
    found: list[list[str]] = []
    for part in re.split(r"\n\s*\n|\f", text):
        lines = [mending.plain_signs(line).rstrip() for line in part.splitlines()]
        lines = [line for line in lines if line.strip() and not line.strip().isdigit()]
        if lines:
            found.append(lines)
    return found


def _title(
    paragraphs: Sequence[list[str]], words: mending.Words, given: str | None
) -> tuple[str | None, list[list[str]]]:
    """Return the title and the paragraphs under it; beside a given title, text at the top stays."""
    if not paragraphs:
        return None, []
    first, *rest = paragraphs[0]
    line = re.sub(r"^title:\s*", "", first.strip().strip("#* "), flags=re.IGNORECASE)
    if len(line) > _LONGEST_TITLE or headings.part(line):
        return None, list(paragraphs)
    marked = _MARKED.match(first) is not None
    if rest and _UNDERLINE.match(rest[0]):
        marked, rest = True, rest[1:]
    last = first
    while rest and (_RUNS_ON.search(line) or rest[0].lstrip()[:1].islower()):
        if len(line) + len(rest[0]) > _LONGEST_TITLE:
            break
        last = rest.pop(0)
        line, _ = mending.joined(line, last, words)
    wrapped = _is_full(last, "".join(rest[:1]), _width(paragraphs))
    if given and (wrapped or _is_text(line)) and not (marked or _alike(line, given)):
        return None, list(paragraphs)
    return line or None, [*([] if _are_authors(rest, paragraphs) else [rest]), *paragraphs[1:]]


def _is_text(line: str) -> bool:
    """Whether a line is too long for a title, or ends as a sentence does; a title may ask."""
    return len(line.split()) > 25 or _ENDED.search(line) is not None


def _are_authors(under_title: Sequence[str], paragraphs: Sequence[list[str]]) -> bool:
    """Whether the lines right under the title, if any, say nothing."""
    told = front_matter.ends_a_sentence(" ".join(under_title).rstrip())
    short = sum(map(len, under_title)) < 250 and len(paragraphs) > 2
    return not under_title or (short and not told)


def _alike(shown: str, given: str) -> bool:
    """Whether two titles are the same but for signs, capitals and a letter here and there."""
    left, right = ("".join(filter(str.isalnum, title)).casefold() for title in (shown, given))
    return SequenceMatcher(None, left, right, autojunk=False).ratio() > 0.9


def _blocks(lines: Sequence[str], words: mending.Words, width: float) -> Iterator[Block]:
    """Return the headings and paragraphs among lines that no empty line parts."""
    alone = len(lines) == 1 and not is_caption(lines[0].strip())
    if alone and headings.looks_like_one(lines[0]) and not _ITEM_TEXT.search(lines[0]):
        yield _heading(lines[0])
        return
    for headed, group in _groups(lines, width):
        if headed:
            yield _heading(group[0])
            group = group[1:]
        text = mending.on_one_line(group, words)
        text = re.sub(r"\s+", " ", _BULLET.sub("", text)).strip()
        if text and not is_caption(text):
            yield Block(text)


_ITEM_TEXT = re.compile(r"^\d+[.)] .{60,}")


def _groups(lines: Sequence[str], width: float) -> list[tuple[bool, list[str]]]:
    """Return the lines of each paragraph or item, and whether the first of them is its heading."""
    lines = [line for line in lines if not _UNDERLINE.match(line)]
    each = any(len(line) > _ONE_PARAGRAPH for line in lines)
    widest = max(map(len, lines), default=0)
    at_headings = _at_headings(lines, width)
    found: list[tuple[bool, list[str]]] = []
    for at, line in enumerate(lines):
        last = lines[at - 1].rstrip() if at else ""
        ended = len(lines) > 12 and len(last) < 0.75 * widest and last.endswith((".", "?", "!"))
        headed = at in at_headings
        cited = line.lstrip().startswith("[") and mending.unfinished(last)
        if not found or each or ended or headed or (_ITEM.match(line) and not cited):
            found.append((headed, []))
        found[-1][1].append(line)
    return found


def _at_headings(lines: Sequence[str], width: float) -> set[int]:
    """Return the places of headings among lines that no empty line parts."""
    found: set[int] = set()
    for at, line in enumerate(lines):
        marked = re.match(r"#{1,6}\s+\S", line)
        if marked and len(line) < 200:
            found.add(at)
        elif not marked and _is_heading(line):
            above = lines[at - 1] if at and at - 1 not in found else ""
            below = lines[at + 1] if at + 1 < len(lines) else ""
            if not _in_sentence(above, line, below, width):
                found.add(at)
    return found


def _is_heading(line: str) -> bool:
    """Among other lines only a known name or a number in a short line makes a heading."""
    text = line.strip()
    if len(text) > 60 or not headings.looks_like_one(text) or is_caption(text):
        return False
    return headings.part(text) is not None or not _ITEM.match(line)


def _in_sentence(above: str, line: str, below: str, width: float) -> bool:
    """Whether a line goes on with the sentence above it, or breaks off in one that goes on below.

    No single sign tells: a heading may stand under a formula, over "k-means ...", or fill its line.
    """
    opened = mending.unfinished(above) and _is_full(above, line, width)
    if opened and line.rstrip().endswith("."):
        return True
    label = mending.unfinished(below) and len(below.split()) == 1
    goes_on = below.lstrip()[:1].islower() and not label
    return [opened, _is_full(line, below, width), goes_on].count(True) > 1


def _is_full(line: str, below: str, width: float) -> bool:
    """Whether a line ends, more or less, where the first word below had no room in it."""
    word = re.match(r"\s*(\S+)", below)
    return word is not None and len(line.rstrip()) + 1 + len(word[1]) > 0.9 * width


def _heading(line: str) -> Block:
    return Block(" ".join(line.strip("#*_ \t").rstrip(":").split()), heading=True)
