"""PDF: from the regions of its pages to title, abstract and paragraphs in reading order."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dialectree.errors import InputError
from dialectree.retrieval import front_matter, headings, latex, mending, plain
from dialectree.retrieval.drafts import Block, Draft
from dialectree.retrieval.pdf_process import Item, Page, Region, pages_of

_ABSTRACT_WORDS = 30
"""Fewer words above the first heading are an address, not an abstract without its name."""
_MARGIN = 0.12
"""The part of a page's height at its top and foot where running heads stand."""
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|cmbx|sfbx|TB\b", re.IGNORECASE)
_LINE_NUMBERS = 10
"""Numbers one under the other, at least, that number the lines of a page."""
_PAGE_NUMBER = re.compile(
    r"^\W*(?:page )?(?:\d+|[ivxlc]+)\b(?: of \d+)?(?![).\]])|\b\d+\W*$", re.IGNORECASE
)
_FORMULA = re.compile(r"\$([^$]*[\\^_{=][^$]*)\$")
_UNREAD = ("code", "table", "grid_fallback")
_ENDED = re.compile(r"[.!?:][\"'”’)\]]*\d{0,2}$")
_BULLET = re.compile(r"[•▪◦‣∙·–*-]\s+\S|\(?\d{1,2}[.)]\s+\S|\([a-z]\)\s+\S")
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
    x0: float
    x1: float
    top: float
    foot: float
    size: float
    bold: bool


@dataclass(frozen=True)
class Paragraph:
    """Lines that belong together."""

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


@dataclass(frozen=True)
class Shape:
    """What is usual in this document."""

    size: float
    bold: bool
    edges: set[int]
    """Where the lines of justified text end."""
    columns: dict[int, float]
    """By left edge, how far to the right most lines come."""

    def is_justified(self, line: Line) -> bool:
        """Whether a line ends where most lines of the document do."""
        return bool({round(line.x1) + step for step in range(-2, 3)} & self.edges)

    def is_full(self, line: Line) -> bool:
        """Whether little more would fit into a line."""
        right = self.columns.get(round(line.x0), line.x1)
        return self.is_justified(line) or line.x1 > right - 0.15 * (right - line.x0)

    def is_text(self, line: Line) -> bool:
        """Whether a line is one of a paragraph, whatever letters it begins with."""
        return self.is_justified(line) and len(re.findall(r"[^\W\d_]{2,}", line.text)) >= 8


def draft(data: bytes, *, name: str) -> Draft:
    """Return what a PDF shows: its largest words on page 1 are the title."""
    paragraphs = [
        Paragraph(region.kind, page.number, lines, lines[0].top > 0.65 * page.height)
        for page, regions in _without_margins(pages_of(data, name))
        for region in _in_order(regions)
        if (lines := _lines(region))
    ]
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    if not any(map(str.isalnum, "".join(line.text for line in lines))):
        raise InputError(f"{name}: no text in it, only pictures of pages; OCR it first")
    shape = _shape(lines)
    words = mending.words_of(line.text for line in lines)
    title, rest = _title(paragraphs, shape)
    blocks = mending.flowing(_without_names(_blocks(rest, shape, words)), words)
    abstract, body = front_matter.under_its_heading(blocks)
    if abstract is None:
        abstract, body = front_matter.under_a_summary(blocks)
    if abstract is None:
        abstract, body = front_matter.first_paragraph(blocks, _ABSTRACT_WORDS)
    return Draft(title, abstract, [block for block in body if block.heading or _is_prose(block)])


def _without_margins(pages: Sequence[Page]) -> Iterator[tuple[Page, list[Region]]]:
    """Drop running heads, page numbers, and numbers of lines."""
    margins = [_in_margin(page) for page in pages]
    seen = Counter(key for rows in margins for key in {_key(item) for row in rows for item in row})
    for page, rows in zip(pages, margins, strict=True):
        numbers = [item for item in _items(page) if item.text.isdecimal()]
        edges = Counter(round(item.x1) for item in numbers)
        unread = {item for item in numbers if edges[round(item.x1)] >= _LINE_NUMBERS}
        for row in rows:
            if all(not _key(item) or seen[_key(item)] > 1 for item in row):
                unread |= set(row)
        regions = [
            replace(region, items=[item for item in region.items if item not in unread])
            for region in page.regions
        ]
        yield page, [region for region in regions if region.items]


def _in_margin(page: Page) -> list[list[Item]]:
    """Return the rows at the top and the foot of a page that stand apart from its text."""
    rows = _rows(_items(page))
    feet = [0.0, *(row[0].foot for row in rows)]
    tops = [*(row[0].top for row in rows[1:]), page.height]
    return [
        row
        for above, row, below in zip(feet, rows, tops, strict=False)
        if (row[0].foot < _MARGIN * page.height and below - row[0].foot > row[0].size)
        or (row[0].top > (1 - _MARGIN) * page.height and row[0].top - above > row[0].size)
    ]


def _items(page: Page) -> list[Item]:
    return [item for region in page.regions for item in region.items]


def _key(item: Item) -> str:
    """Return the text of a running head, without the number of its page."""
    return _PAGE_NUMBER.sub("", item.text).strip()


def _in_order(regions: Sequence[Region]) -> list[Region]:
    """Read each of two columns to its end, between what runs across both of them."""
    regions = [part for region in regions for part in _columns(region)]
    left, right = min(map(_left, regions), default=0.0), max(map(_right, regions), default=0.0)
    middle, step = (left + right) / 2, 0.05 * (right - left)
    across = [one for one in regions if _left(one) < middle - step and _right(one) > middle + step]
    if len(across) > len(regions) / 3:
        return regions
    ordered: list[Region] = []
    waiting = [one for one in regions if one not in across]
    for wide in [*sorted(across, key=_top), None]:
        above = [one for one in waiting if wide is None or _top(one) < _top(wide)]
        waiting = [one for one in waiting if one not in above]
        ordered += sorted(above, key=lambda one: (_left(one) + _right(one) > 2 * middle, _top(one)))
        ordered += [wide] if wide else []
    return ordered


def _columns(region: Region) -> list[Region]:
    """Part a region that runs on from one column to the next."""
    columns: list[list[Item]] = []
    end = 0.0
    for item in sorted(region.items, key=lambda item: item.x0):
        if not columns or item.x0 > end + item.size:
            columns.append([])
        columns[-1].append(item)
        end = max(end, item.x1)
    if min(map(len, columns)) < 3:
        return [region]
    return [Region(region.kind, items) for items in columns]


def _left(region: Region) -> float:
    return min(item.x0 for item in region.items)


def _right(region: Region) -> float:
    return max(item.x1 for item in region.items)


def _top(region: Region) -> float:
    return min(item.top for item in region.items)


def _lines(region: Region) -> list[Line]:
    return [_line(row) for row in _rows(region.items)]


def _rows(items: Sequence[Item]) -> list[list[Item]]:
    """Put pieces of one height together, from left to right."""
    rows: list[list[Item]] = []
    for item in sorted(items, key=lambda item: item.foot):
        if rows and _beside(rows[-1], item):
            rows[-1].append(item)
        else:
            rows.append([item])
    return [sorted(row, key=lambda item: item.x0) for row in rows]


def _beside(row: Sequence[Item], item: Item) -> bool:
    top, foot = max(row[0].top, item.top), min(row[0].foot, item.foot)
    return foot - top > 0.5 * min(row[0].foot - row[0].top, item.foot - item.top)


def _line(row: Sequence[Item]) -> Line:
    text = row[0].text
    for before, item in pairwise(row):
        text += f"{' ' if item.x0 - before.x1 > 0.1 * item.size else ''}{item.text}"
    text = _FORMULA.sub(lambda formula: latex.readable(formula[0]), text)
    widest = max(row, key=lambda item: len(item.text))
    return Line(
        mending.plain_signs(text),
        row[0].x0,
        row[-1].x1,
        min(item.top for item in row),
        max(item.foot for item in row),
        widest.size,
        bool(_BOLD.search(widest.font)),
    )


def _shape(lines: Sequence[Line]) -> Shape:
    sizes, edges, bold = Counter[float](), Counter[int](), 0
    columns = defaultdict[int, list[float]](list)
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
        edges[round(line.x1)] += 1
        bold += len(line.text) if line.bold else 0
        columns[round(line.x0)].append(line.x1)
    return Shape(
        sizes.most_common(1)[0][0],
        bold > 0.5 * sum(sizes.values()),
        {edge for edge, count in edges.items() if count > max(3, 0.06 * len(lines))},
        {left: sorted(ends)[int(0.75 * len(ends))] for left, ends in columns.items()},
    )


def _title(paragraphs: Sequence[Paragraph], shape: Shape) -> tuple[str | None, list[Paragraph]]:
    """Return the largest words on page 1, and the paragraphs without them."""
    first = [one for one in paragraphs if one.page == paragraphs[0].page]
    worded = [one for one in first if sum(map(str.isalpha, one.text)) > 3]
    if not worded:
        return None, list(paragraphs)
    title = max(worded, key=lambda one: (round(one.size), len(one.text.split()) > 1))
    if title.size < 1.08 * shape.size:
        title = worded[0]
    text = title.text
    if len(text) > 400 or headings.part(text):
        return None, list(paragraphs)
    return text, [one for one in paragraphs if one is not title]


def _blocks(paragraphs: Sequence[Paragraph], shape: Shape, words: mending.Words) -> list[Block]:
    """Put paragraphs together that a column, a page or a figure parts."""
    blocks: list[Block] = []
    unfinished = False
    for paragraph in _without_asides(_without_code(paragraphs, shape), shape):
        for lines in _parted(paragraph.lines):
            heading = _is_heading(paragraph, lines, shape)
            text = mending.on_one_line((line.text for line in lines), words)
            block = Block(" ".join(text.split()), heading, paragraph.page)
            if not (heading or _is_prose(block) or mending.is_formula(block.text)):
                continue
            if _goes_on_from_heading(blocks, block):
                block = mending.after(replace(blocks.pop(), heading=False), block, words)
            unfinished = unfinished and len(blocks[-1].text) < mending.LONGEST
            if unfinished and not heading and not _BULLET.match(block.text):
                blocks[-1] = mending.after(blocks[-1], block, words)
            else:
                blocks.append(block)
            unfinished = not heading and shape.is_full(lines[-1]) and not _ENDED.search(block.text)
    return blocks


def _goes_on_from_heading(blocks: Sequence[Block], block: Block) -> bool:
    """Whether the last heading was but the first line of a sentence, in bold letters."""
    if not (blocks and blocks[-1].heading) or block.heading or not block.text[:1].islower():
        return False
    return len(blocks[-1].text.split()) > 6 and not headings.is_numbered(blocks[-1].text)


def _without_code(paragraphs: Sequence[Paragraph], shape: Shape) -> Iterator[Paragraph]:
    """Drop code and tables, but keep text that only begins with a name in typewriter letters."""
    last: Line | None = None
    for paragraph in paragraphs:
        first = paragraph.lines[0]
        if paragraph.kind not in _UNREAD or any(map(shape.is_text, paragraph.lines)):
            yield paragraph
        elif (
            last is not None
            and shape.is_full(last)
            and not _ENDED.search(last.text)
            and 0 < first.foot - last.foot < 1.6 * first.size
        ):
            yield replace(paragraph, kind="paragraph", lines=[first])
        last = paragraph.lines[-1]


def _without_names(blocks: Sequence[Block]) -> list[Block]:
    """Take large letters above the first section for the names of authors."""
    first = next((at for at, block in enumerate(blocks) if _opens_section(block)), 0)
    above = [replace(block, heading=False) for block in blocks[:first]]
    return [*above, *blocks[first:]]


def _opens_section(block: Block) -> bool:
    named = headings.part(block.text) is not None or headings.is_numbered(block.text)
    return block.heading and (named or block.text.lower() == "summary")


def _parted(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Part paragraphs where a line ends early or the next one is indented."""
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
    if headings.part(before.text) or headings.without_run_in(line.text):
        return True
    if not _ENDED.search(before.text):
        return False
    indented = 0.6 * line.size < abs(line.x0 - before.x0) < 5 * line.size
    return indented or bool(_BULLET.match(line.text)) or headings.is_numbered(line.text)


def _is_heading(paragraph: Paragraph, lines: Sequence[Line], shape: Shape) -> bool:
    text = " ".join(line.text for line in lines)
    if len(text) > 150 or sum(map(str.isalpha, text)) < 3 or plain.is_caption(text):
        return False
    if headings.part(text) is not None:
        return not next(filter(str.isalpha, text)).islower()
    if text[-1] in ",;":
        return False
    full = shape.is_full(lines[-1]) and not headings.is_numbered(text)
    if len(lines) <= 3 and min(line.size for line in lines) > 1.08 * shape.size:
        return True
    bold = all(line.bold for line in lines) and not shape.bold and paragraph.kind == "heading"
    return not full and (bold or (len(lines) == 1 and headings.looks_like_one(text)))


def _without_asides(paragraphs: Iterable[Paragraph], shape: Shape) -> Iterator[Paragraph]:
    """Drop captions, notices and footnotes; a footnote may run on."""
    note: Paragraph | None = None
    for paragraph in paragraphs:
        small = paragraph.kind != "heading" and paragraph.size < 0.93 * shape.size
        runs_on = note is not None and (note.page, note.size) == (paragraph.page, paragraph.size)
        if small and paragraph.in_foot and (_NOTE.match(paragraph.text) or runs_on):
            note = paragraph
        elif not (
            plain.is_caption(paragraph.text)
            or (small and _NOTICE.search(paragraph.text[:300]))
            or (small and paragraph.size < 0.6 * shape.size)
        ):
            yield paragraph


def _is_prose(block: Block) -> bool:
    """Tell text from what is mostly figures and signs: a table, or the axis of a plot."""
    words = re.findall(r"[^\W\d_]{3,}", block.text)
    letters = sum(map(str.isalpha, block.text))
    return len(words) >= 8 or (bool(words) and letters >= 0.5 * len(block.text.replace(" ", "")))
