"""Read plain text: the first line is the title, the next paragraph the abstract, the rest the body."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from dialectree.retrieval import blocks, sections
from dialectree.retrieval.blocks import Block, timely
from dialectree.retrieval.builder import Cell, DocumentBuilder

_ONE_PARAGRAPH = 160
"""Characters of a line. If a group of lines has a longer one, each of its lines is a paragraph."""
_NARROWEST = 40
"""Fewest characters of a line in prose that is broken into lines."""
_LONGEST_TITLE = 300
_ITEM = re.compile(r"\s*(?:[-*•▪◦–]\s+|\(?\d{1,2}[.)]\s+|\[\d+\]\s+)\S")
_BULLET = re.compile(r"^\s*[-*•▪◦–]\s+(?=\S)")
_LONG_ITEM = re.compile(r"\d+[.)] .{60,}")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,}|\*{3,}|_{3,})\s*$")
_MARKED = re.compile(r"#{1,6}\s+\S")
_ENDED = re.compile(r"[.!?:;。]['\"”’)\]]*$")
_RUNS_ON = re.compile(r"(?:[:,–—-]|\b(?:of|the|for|and|with|in|a|an|to|on|by|from|via))$", re.I)


def sound(text: str) -> str:
    """Replace lone surrogates by question marks, so that `text` can be encoded."""
    return text.encode("utf-8", "replace").decode()


_MARKDOWN = re.compile(r"^ {0,3}(?:#{1,6} +\S|\|.*\|[ \t]*$)", re.MULTILINE)
"""A heading or a row of a table."""


def is_markdown(text: str) -> bool:
    """Return whether a text of unknown format has headings or tables of Markdown."""
    return _MARKDOWN.search(text) is not None


def read_text(text: str, builder: DocumentBuilder) -> None:
    """Add plain text to ``builder``; lines too short to be prose are blocks of their own."""
    add_text(_leave_out_page_numbers(text, builder), builder)


def read_titled_text(text: str, builder: DocumentBuilder, title: str | None) -> None:
    """Add a paper to ``builder``. Its first line is its title, unless this line is prose unlike ``title``."""
    paragraphs = _paragraphs(_leave_out_page_numbers(text, builder), is_whole_text=True)
    builder.title, authors, paragraphs = _title(paragraphs, title)
    if builder.title:
        builder.add(builder.title, "heading")
    builder.leave_out(" ".join(authors), "title page")
    _add_paragraphs(paragraphs, builder)


def _leave_out_page_numbers(text: str, builder: DocumentBuilder) -> str:
    builder.expect(text)
    pages = text.split("\f")
    for number, page in enumerate(pages, 1):
        lines = page.rstrip().splitlines()
        if len(pages) > 1 and lines and lines[-1].strip() == str(number):
            builder.leave_out(lines.pop(), "page numbers")
        pages[number - 1] = "\n".join(lines)
    return "\f".join(pages)


def add_text(text: str, builder: DocumentBuilder) -> None:
    """Add the headings and paragraphs of ``text``."""
    _add_paragraphs(_paragraphs(text, is_whole_text=True), builder)


def _add_paragraphs(paragraphs: Sequence[list[str]], builder: DocumentBuilder) -> None:
    table: list[list[Cell]] = []
    for block in _blocks(paragraphs, is_whole_text=True):
        if table and block.kind != "row":
            builder.add_table(table)
            table = []
        if block.apart:
            table.append([*map(Cell, block.text.split("\t"))])
        else:
            builder.add(block.text, block.kind)
    builder.add_table(table)


def blocks_of(text: str) -> list[Block]:
    """Return the headings and paragraphs of a body given as text, without captions.

    Old runs keep such bodies and the ids of their segments, so the cut must not change.
    """
    return _blocks(_paragraphs(text))


def _paragraphs(text: str, *, is_whole_text: bool = False) -> list[list[str]]:
    """Return groups of lines between empty lines, without lines of digits unless ``is_whole_text``."""
    paragraphs: list[list[str]] = []
    for part in timely(re.split(r"\n\s*\n|\f", text)):
        lines = [
            blocks.plain_signs(line).rstrip(" " if is_whole_text else None) for line in part.splitlines()
        ]
        lines = [line for line in lines if line.strip() and (is_whole_text or not line.strip().isdigit())]
        if lines:
            paragraphs.append(lines)
    return paragraphs


def _title(
    paragraphs: Sequence[list[str]], title: str | None
) -> tuple[str | None, list[str], list[list[str]]]:
    """Return the title, the lines of its authors and the paragraphs under them.

    With a given ``title``, prose at the top is kept as text.
    """
    if not paragraphs:
        return None, [], []
    first, *rest = paragraphs[0]
    line = re.sub(r"^title:\s*", "", first.strip().strip("#* "), flags=re.IGNORECASE)
    if len(line) > _LONGEST_TITLE or sections.part(line):
        return None, [], list(paragraphs)
    while rest and (_RUNS_ON.search(line) or rest[0].lstrip()[:1].islower()):
        if len(line) + len(rest[0]) > _LONGEST_TITLE:
            break
        line, _ = blocks.join_lines(line, rest.pop(0), Counter())
    prose = len(line.split()) > 25 or re.search(r"[.!:;。]['\"”’)\]]*$", line)
    if title and prose and sections.letters(line) != sections.letters(title):
        return None, [], list(paragraphs)
    if rest and _UNDERLINE.match(rest[0]):
        rest = rest[1:]
    short = sum(map(len, rest)) < 250 and len(paragraphs) > 2
    are_authors = short and not sections.ends_sentence(" ".join(rest))
    authors = rest if are_authors else []
    return line or None, authors, [*([rest] if rest and not are_authors else []), *paragraphs[1:]]


def _blocks(paragraphs: Sequence[list[str]], *, is_whole_text: bool = False) -> list[Block]:
    """Return blocks; if ``is_whole_text``, also captions, items, tables and single short lines."""
    words = blocks.words_of(line for lines in paragraphs for line in lines)
    followed = [len(line) for lines in paragraphs for line in lines[:-1]]
    width = max(_NARROWEST, median(followed or [0]))
    text_blocks = [
        block
        for lines in timely(paragraphs)
        for block in _split_into_blocks(lines, words, width, is_whole_text=is_whole_text)
    ]
    if not is_whole_text:
        text_blocks = [
            text_block
            for text_block in text_blocks
            if text_block.heading or not sections.is_caption(text_block.text)
        ]
    return blocks.flowing(text_blocks, words)


def _split_into_blocks(
    lines: Sequence[str], words: Counter[str], width: float, *, is_whole_text: bool
) -> Iterator[Block]:
    """Yield the headings and paragraphs in lines without an empty line between them."""
    if is_whole_text and (rows := _rows(lines)):
        yield from (Block("\t".join(row), "row" if at else "names") for at, row in enumerate(rows))
        return
    for headed, group in _groups(lines, width, is_whole_text=is_whole_text):
        if headed:
            heading = group.pop(0).strip("#*_ \t").rstrip(":")
            yield Block(" ".join(heading.split()), "heading")
        is_item = is_whole_text and bool(group) and _ITEM.match(group[0]) is not None
        text = " ".join(_BULLET.sub("", blocks.on_one_line(group, words)).split())
        if text:
            yield Block(text, "item" if is_item else "paragraph")


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines that tabs or bars split into equally many columns, else []."""
    for sign in "\t|":
        rows = [line.strip(" " if sign == "\t" else " |").split(sign) for line in lines]
        if len(lines) > 1 and all(sign in line for line in lines) and len({*map(len, rows)}) == 1:
            rows = [[cell.strip() for cell in row] for row in rows]
            return [row for row in rows if any(map(str.isalnum, "".join(row)))]
    return []


def _groups(lines: Sequence[str], width: float, *, is_whole_text: bool) -> list[tuple[bool, list[str]]]:
    """Return the lines of each paragraph or item, and whether its first line is a heading.

    If ``is_whole_text``, each line that is too short for broken prose is a paragraph.
    """
    underlined = set[int]()
    text_lines: list[str] = []
    for line in lines:
        if not _UNDERLINE.match(line):
            text_lines.append(line)
        elif is_whole_text and text_lines:
            underlined.add(len(text_lines) - 1)
    lines = text_lines
    longest = max(map(len, lines), default=0)
    one_each = longest > _ONE_PARAGRAPH or (is_whole_text and longest < _NARROWEST)
    groups: list[tuple[bool, list[str]]] = []
    for at, line in timely(enumerate(lines)):
        above, below = lines[at - 1] if at else "", "".join(lines[at + 1 : at + 2])
        headed = at in underlined or _is_heading(line, above, below, width)
        ended = len(lines) > 12 and len(above) < 0.75 * longest and above.endswith((".", "?", "!"))
        cited = line.lstrip().startswith("[") and not _ENDED.search(above)
        item = _ITEM.match(line) and not cited
        if not groups or one_each or ended or headed or item:
            groups.append((headed, []))
        groups[-1][1].append(line)
    return groups


def _is_heading(line: str, above: str, below: str, width: float) -> bool:
    """Return whether a line is a heading, not part of a sentence that looks like one."""
    text = line.strip()
    if _MARKED.match(line) or sections.is_caption(text):
        return len(line) < 200 and not sections.is_caption(text)
    if not sections.looks_like_heading(text) or _LONG_ITEM.match(text):
        return False
    if not above and not below:
        return True
    if len(text) > 60 or (_ITEM.match(line) and not sections.part(text)):
        return False
    runs_on = len(above) > 0.8 * width and not _ENDED.search(above)
    if runs_on and text.endswith("."):
        return False
    # One sign is too little: a heading may be below a formula, or above "k-means ...".
    signs = [runs_on, len(text) > 0.8 * width, below.lstrip()[:1].islower()]
    return signs.count(True) < 2
