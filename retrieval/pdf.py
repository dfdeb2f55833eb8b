"""PDF: from the regions of its pages to title, abstract and paragraphs in reading order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from dialectree.errors import InputError
from dialectree.retrieval import blocks, sections
from dialectree.retrieval.blocks import Block, Draft, timely
from dialectree.retrieval.pdf_process import Line, Region, layout_of

_ABSTRACT_WORDS = 30
"""Fewer words above the first heading are an address, not an abstract without its name."""
_MARGIN = 0.12
"""The part of a page's height at its top and foot where running heads stand."""
_LINE_NUMBERS = 10
"""Numbers one under the other, at least, that number the lines of a page."""
_LONGEST_HEAD = 18
"""Words; a line with more in the margin is text."""
_PAGE_NUMBER = re.compile(r"\d+|\b[ivxl]+\b|\W+|page", re.IGNORECASE)
_FOOT = 0.65
"""The part of a page's height above the place where footnotes may begin."""
_UNREAD = ("code", "table", "grid_fallback")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS = 6
"""Words of a line of text, at least; the lines of a table have fewer."""
_ENDED = re.compile(r"[.!?:][\"'”’)\]]*\d{0,2}$")
_NOTE = re.compile(r"[\d*†‡§¶∗]{1,2}\s*\S")
_NOTICE = re.compile(
    r"permission to make|copyright|©|\(c\) \d{4}|arxiv:\d|proceedings of|preprint|"
    r"this work is licensed|corresponding author|accepted (?:at|to|by|for)|equal contribution",
    re.IGNORECASE,
)


def draft(data: bytes, *, name: str) -> Draft:
    """Return what a PDF shows: its largest words on page 1 are the title, or its metadata's."""
    layout = layout_of(data, name)
    regions = list(_regions(layout.regions))
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
    notices = []
    if title is None and layout.title is not None:
        title = layout.title
        notices.append(f"no title found on page 1; the file's metadata names it {title!r}")
    return Draft(title, abstract, body, notices=notices)


def _regions(regions: Sequence[Region]) -> Iterator[Region]:
    """Put the regions of each page into reading order, without running heads."""
    pages = [list(_parts([*page])) for _, page in groupby(regions, lambda region: region.page)]
    margins = [_margin(page) for page in pages]
    seen = Counter(head for margin in margins for head in set(margin.values()))
    for page, margin in zip(pages, margins, strict=True):
        heads = {line for line, head in margin.items() if not head or seen[head] > 1}
        body = [
            replace(region, lines=[line for line in region.lines if line not in heads])
            for region in page
        ]
        yield from _in_order([region for region in body if region.lines])


def _margin(page: Sequence[Region]) -> dict[Line, str]:
    """Return the lines at the top and foot that stand apart, each without its page number."""
    lines = [line for region in page for line in region.lines]
    height = page[0].height if page else 0.0
    return {
        line: _PAGE_NUMBER.sub("", line.text)
        for line in timely(lines)
        if (line.foot < _MARGIN * height or line.top > (1 - _MARGIN) * height)
        and len(line.text.split()) < _LONGEST_HEAD
        and not any(-0.5 < _gap(line, other) / line.size < 1 for other in lines)
    }


def _gap(line: Line, other: Line) -> float:
    return max(other.top - line.foot, line.top - other.foot)


def _parts(page: Sequence[Region]) -> Iterator[Region]:
    """Return the regions of a page, column by column, without the numbers of its lines."""
    pieces = [piece for region in page for piece in region.lines]
    edges = Counter(round(piece.right) for piece in pieces if piece.text.isdecimal())
    for region in page:
        own = [
            piece
            for piece in region.lines
            if not piece.text.isdecimal() or edges[round(piece.right)] < _LINE_NUMBERS
        ]
        for column in _columns(own):
            yield replace(region, lines=_lines(column))


def _columns(pieces: Sequence[Line]) -> list[list[Line]]:
    """Part a region that runs on from one column to the next."""
    columns: list[list[Line]] = []
    end = 0.0
    for piece in sorted(pieces, key=lambda piece: piece.left):
        if not columns or piece.left > end + piece.size:
            columns.append([])
        columns[-1].append(piece)
        end = max(end, piece.right)
    return columns if min(map(len, columns), default=3) >= 3 else [list(pieces)]


def _lines(pieces: Sequence[Line]) -> list[Line]:
    """Put pieces of one height together, from left to right."""
    rows: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: piece.foot):
        if rows and _beside(rows[-1][0], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_line(sorted(row, key=lambda piece: piece.left)) for row in rows]


def _beside(first: Line, piece: Line) -> bool:
    common = min(first.foot, piece.foot) - max(first.top, piece.top)
    return common > 0.5 * min(first.foot - first.top, piece.foot - piece.top)


def _line(row: Sequence[Line]) -> Line:
    text = row[0].text
    for before, piece in pairwise(row):
        text += f"{' ' if piece.left - before.right > 0.1 * piece.size else ''}{piece.text}"
    return replace(
        max(row, key=lambda piece: len(piece.text)),
        text=blocks.plain_signs(text),
        left=row[0].left,
        right=row[-1].right,
        top=min(piece.top for piece in row),
        foot=max(piece.foot for piece in row),
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
    title = max(worded, key=lambda region: round(region.size))
    if title.size < 1.08 * usual:
        title = worded[0]
    if len(title.text) > 400 or sections.part(title.text):
        return None, list(regions)
    return title.text, [region for region in regions if region is not title]


def _blocks(regions: Sequence[Region], usual: float, words: Counter[str]) -> list[Block]:
    """Make paragraphs; one goes on after a figure, a column or a page until its sentence ends."""
    flow: list[Block] = []
    for region in timely(regions):
        if _is_aside(region, usual):
            continue
        for lines in _split(region.lines):
            heading = _is_heading(region, lines, usual)
            text = " ".join(blocks.on_one_line((line.text for line in lines), words).split())
            if not (heading or _is_prose(text)):
                continue
            block = Block(text, "heading" if heading else "paragraph", region.page)
            if flow and not (heading or flow[-1].heading or _ENDED.search(flow[-1].text)):
                flow[-1] = blocks.after(flow[-1], block, words)
            else:
                flow.append(block)
    return flow


def _is_aside(region: Region, usual: float) -> bool:
    """Return whether a region is code, a table, a caption, a notice or a footnote."""
    if region.kind in _UNREAD:
        return not any(len(_WORD.findall(line.text)) >= _WORDS for line in region.lines)
    if sections.is_caption(region.text):
        return True
    if region.kind == "heading" or region.size >= 0.93 * usual:
        return False
    note = region.top > _FOOT * region.height and _NOTE.match(region.text)
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
    if len(text) > 150 or text[-1] in ",;" or sum(map(str.isalpha, text)) < 3:
        return False
    if sections.part(text) is not None:
        return not next(filter(str.isalpha, text)).islower()
    if len(lines) <= 3 and min(line.size for line in lines) > 1.08 * usual:
        return True
    bold = region.kind == "heading" and all(line.bold for line in lines)
    if bold and (not _ENDED.search(text) or sections.is_numbered(text)):
        return True
    return len(lines) == 1 and sections.looks_like_heading(text)


def _without_names(flow: Sequence[Block]) -> list[Block]:
    """Take large letters above the first section for the names of authors."""
    first = next((at for at, block in enumerate(flow) if _opens_section(block)), 0)
    return [*(replace(block, kind="paragraph") for block in flow[:first]), *flow[first:]]


def _opens_section(block: Block) -> bool:
    known = sections.part(block.text) or sections.is_numbered(block.text)
    return block.heading and bool(known or block.text.lower() == "summary")


def _is_prose(text: str) -> bool:
    """Tell text from what is mostly figures and signs: a table, or the axis of a plot."""
    words = re.findall(r"[^\W\d_]{3,}", text)
    letters = sum(map(str.isalpha, text))
    return len(words) >= 8 or (bool(words) and letters >= 0.5 * len(text.replace(" ", "")))
