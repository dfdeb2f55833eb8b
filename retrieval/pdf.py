"""PDF: from the regions of its pages to title, abstract and paragraphs in reading order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dialectree.errors import InputError
from dialectree.retrieval import blocks, sections
from dialectree.retrieval.blocks import Block, Draft
from dialectree.retrieval.pdf_process import Item, Page, pages_of

_ABSTRACT_WORDS = 30
"""Fewer words above the first heading are an address, not an abstract without its name."""
_MARGIN = 0.12
"""The part of a page's height at its top and foot where running heads stand."""
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|cmbx|sfbx|TB\b", re.IGNORECASE)
_LINE_NUMBERS = 10
"""Numbers one under the other, at least, that number the lines of a page."""
_LONGEST_HEAD = 18
"""Words; a line with more in the margin is text."""
_PAGE_NUMBER = re.compile(r"\d+|\b[ivxl]+\b|\W+|page", re.IGNORECASE)
_UNREAD = ("code", "table", "grid_fallback")
_ENDED = re.compile(r"[.!?:][\"'”’)\]]*\d{0,2}$")
_NOTE = re.compile(r"[\d*†‡§¶∗]{1,2}\s*\S")
_NOTICE = re.compile(
    r"permission to make|copyright|©|\(c\) \d{4}|arxiv:\d|proceedings of|preprint|"
    r"this work is licensed|corresponding author|accepted (?:at|to|by|for)|equal contribution",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Line:
    """One line of a region."""

    text: str
    left: float
    right: float
    top: float
    foot: float
    size: float
    bold: bool

    def is_text(self) -> bool:
        """Whether a line has as many words as one of a paragraph."""
        return len(re.findall(r"[^\W\d_]{2,}", self.text)) >= 6


@dataclass(frozen=True)
class Region:
    """Lines that stand together on a page."""

    kind: str
    page: int
    lines: list[Line]
    in_foot: bool
    """Whether it begins in the lowest third of its page."""

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def left(self) -> float:
        return min(line.left for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.right for line in self.lines)

    @property
    def top(self) -> float:
        return self.lines[0].top


def draft(data: bytes, *, name: str) -> Draft:
    """Return what a PDF shows: its largest words on page 1 are the title."""
    regions = list(_regions(pages_of(data, name)))
    lines = [line for region in regions for line in region.lines]
    if not any(map(str.isalnum, "".join(line.text for line in lines))):
        raise InputError(f"{name}: no text in it, only pictures of pages; OCR it first")
    sizes = Counter[float]()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    words = blocks.words_of(line.text for line in lines)
    title, rest = _title(regions, usual)
    body = blocks.flowing(_without_names(_blocks(rest, usual, words)), words)
    abstract, body = sections.abstract_by_heading(body, summary=True)
    if abstract is None:
        abstract, body = sections.abstract_by_place(body, _ABSTRACT_WORDS)
    return Draft(title, abstract, [one for one in body if one.heading or _is_prose(one.text)])


def _regions(pages: Sequence[Page]) -> Iterator[Region]:
    """Return the regions of all pages in reading order, without running heads."""
    every = [list(_parts(page)) for page in pages]
    margins = [_margin(page, regions) for page, regions in zip(pages, every, strict=True)]
    seen = Counter(head for margin in margins for head in set(margin.values()))
    for regions, margin in zip(every, margins, strict=True):
        heads = {line for line, head in margin.items() if not head or seen[head] > 1}
        body = [
            replace(region, lines=[line for line in region.lines if line not in heads])
            for region in regions
        ]
        yield from _in_order([region for region in body if region.lines])


def _margin(page: Page, regions: Sequence[Region]) -> dict[Line, str]:
    """Return the lines at the top and foot that stand apart, each without its page number."""
    lines = [line for region in regions for line in region.lines]
    edge = _MARGIN * page.height
    return {
        line: _PAGE_NUMBER.sub("", line.text)
        for line in lines
        if (line.foot < edge or line.top > page.height - edge)
        and len(line.text.split()) < _LONGEST_HEAD
        and not any(-0.5 < _gap(line, other) / line.size < 1 for other in lines)
    }


def _gap(line: Line, other: Line) -> float:
    return max(other.top - line.foot, line.top - other.foot)


def _parts(page: Page) -> Iterator[Region]:
    """Return the regions of a page, column by column, without the numbers of its lines."""
    items = [item for region in page.regions for item in region.items]
    edges = Counter(round(item.x1) for item in items if item.text.isdecimal())
    for region in page.regions:
        own = [
            item
            for item in region.items
            if not item.text.isdecimal() or edges[round(item.x1)] < _LINE_NUMBERS
        ]
        for column in _columns(own):
            lines = _lines(column)
            yield Region(region.kind, page.number, lines, lines[0].top > 0.65 * page.height)


def _columns(items: Sequence[Item]) -> list[list[Item]]:
    """Part a region that runs on from one column to the next."""
    columns: list[list[Item]] = []
    end = 0.0
    for item in sorted(items, key=lambda item: item.x0):
        if not columns or item.x0 > end + item.size:
            columns.append([])
        columns[-1].append(item)
        end = max(end, item.x1)
    return columns if min(map(len, columns), default=3) >= 3 else [list(items)]


def _lines(items: Sequence[Item]) -> list[Line]:
    """Put pieces of one height together, from left to right."""
    rows: list[list[Item]] = []
    for item in sorted(items, key=lambda item: item.foot):
        if rows and _beside(rows[-1][0], item):
            rows[-1].append(item)
        else:
            rows.append([item])
    return [_line(sorted(row, key=lambda item: item.x0)) for row in rows]


def _beside(first: Item, item: Item) -> bool:
    common = min(first.foot, item.foot) - max(first.top, item.top)
    return common > 0.5 * min(first.foot - first.top, item.foot - item.top)


def _line(row: Sequence[Item]) -> Line:
    text = row[0].text
    for before, item in pairwise(row):
        text += f"{' ' if item.x0 - before.x1 > 0.1 * item.size else ''}{item.text}"
    widest = max(row, key=lambda item: len(item.text))
    return Line(
        blocks.plain_signs(text),
        row[0].x0,
        row[-1].x1,
        min(item.top for item in row),
        max(item.foot for item in row),
        widest.size,
        bool(_BOLD.search(widest.font)),
    )


def _in_order(regions: Sequence[Region]) -> list[Region]:
    """Read each of two columns to its end, between what runs across both of them."""
    left = min((region.left for region in regions), default=0.0)
    right = max((region.right for region in regions), default=0.0)
    middle, step = (left + right) / 2, 0.05 * (right - left)
    tops = sorted(r.top for r in regions if r.left < middle - step and r.right > middle + step)
    if len(tops) > len(regions) / 3:
        return list(regions)

    def place(region: Region) -> tuple[int, bool, bool, float]:
        across = region.top in tops
        in_right = region.left + region.right > 2 * middle
        return bisect_right(tops, region.top), not across, in_right, region.top

    return sorted(regions, key=place)


def _title(regions: Sequence[Region], usual: float) -> tuple[str | None, list[Region]]:
    """Return the largest words on page 1, and the regions without them."""
    first = [region for region in regions if region.page == regions[0].page]
    worded = [region for region in first if sum(map(str.isalpha, region.text)) > 3]
    if not worded:
        return None, list(regions)
    title = max(worded, key=lambda region: (round(region.size), len(region.text.split()) > 1))
    if title.size < 1.08 * usual:
        title = worded[0]
    if len(title.text) > 400 or sections.part(title.text):
        return None, list(regions)
    return title.text, [region for region in regions if region is not title]


def _blocks(regions: Sequence[Region], usual: float, words: Counter[str]) -> list[Block]:
    """Make paragraphs; one goes on after a figure, a column or a page until its sentence ends."""
    flow: list[Block] = []
    for region in regions:
        if _is_aside(region, usual):
            continue
        for lines in _split(region.lines):
            heading = _is_heading(region, lines, usual)
            text = " ".join(blocks.on_one_line((line.text for line in lines), words).split())
            if not (heading or _is_prose(text)):
                continue
            block = Block(text, heading, region.page)
            if not heading and flow and _is_open(flow[-1]):
                flow[-1] = blocks.after(flow[-1], block, words)
            else:
                flow.append(block)
    return flow


def _is_aside(region: Region, usual: float) -> bool:
    """Whether a region is code, a table, a caption, a notice or a footnote."""
    if region.kind in _UNREAD:
        return not any(line.is_text() for line in region.lines)
    if sections.is_caption(region.text):
        return True
    if region.kind == "heading" or region.size >= 0.93 * usual:
        return False
    note = region.in_foot and _NOTE.match(region.text)
    return bool(note or _NOTICE.search(region.text[:300])) or region.size < 0.6 * usual


def _split(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Part a heading from the text that the layout analysis joins with it."""
    part: list[Line] = []
    for line in lines:
        if part and _begins(line, part[-1]):
            yield part
            part = []
        part.append(line)
    yield part


def _begins(line: Line, before: Line) -> bool:
    if line.top - before.foot > 0.6 * line.size or abs(line.size - before.size) > 0.08 * line.size:
        return True
    numbered = _ENDED.search(before.text) is not None and sections.is_numbered(line.text)
    return bool(numbered or sections.part(before.text) or sections.without_run_in(line.text))


def _is_heading(region: Region, lines: Sequence[Line], usual: float) -> bool:
    text = " ".join(line.text for line in lines)
    if len(text) > 150 or sum(map(str.isalpha, text)) < 3 or sections.is_caption(text):
        return False
    if sections.part(text) is not None:
        return not next(filter(str.isalpha, text)).islower()
    if text[-1] in ",;":
        return False
    if len(lines) <= 3 and min(line.size for line in lines) > 1.08 * usual:
        return True
    bold = region.kind == "heading" and all(line.bold for line in lines)
    if bold and (not _ENDED.search(text) or sections.is_numbered(text)):
        return True
    return len(lines) == 1 and sections.looks_like_heading(text)


def _is_open(block: Block) -> bool:
    """Whether the sentence at the end of a paragraph goes on in the next one."""
    ended = block.heading or _ENDED.search(block.text)
    return not ended and len(block.text) < blocks.LONGEST


def _without_names(flow: Sequence[Block]) -> list[Block]:
    """Take large letters above the first section for the names of authors."""
    first = next((at for at, block in enumerate(flow) if _opens_section(block)), 0)
    return [*(replace(block, heading=False) for block in flow[:first]), *flow[first:]]


def _opens_section(block: Block) -> bool:
    known = sections.part(block.text) or sections.is_numbered(block.text)
    return block.heading and bool(known or block.text.lower() == "summary")


def _is_prose(text: str) -> bool:
    """Tell text from what is mostly figures and signs: a table, or the axis of a plot."""
    words = re.findall(r"[^\W\d_]{3,}", text)
    letters = sum(map(str.isalpha, text))
    return len(words) >= 8 or (bool(words) and letters >= 0.5 * len(text.replace(" ", "")))
