"""Read a PDF: paragraphs, headings, tables and notes from the lines of its pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

import pypdfium2

from dialectree.errors import InputError
from dialectree.retrieval import sections
from dialectree.retrieval.blocks import Block, BlockKind, after, on_one_line, timely, words_of
from dialectree.retrieval.builder import Cell, DocumentBuilder, read_raised_prefix
from dialectree.retrieval.pdf_pages import Line, Page, RuledTable, read_page

MOST_PAGES = 2_000
_MARGIN = 0.1
"""The share of a page's height, at top and foot, for running heads."""
_LARGE, _SMALL = 1.12, 0.93
"""Sizes of headings and of notes, relative to the text."""
_LONGEST_HEADING = 200
_CELL = 6
"""Most words of each cell in a row that is not part of a larger table."""
_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|p\.)?\s*(\d{1,4})(?:\s*(?:of|von|/)\s*\d+)?\W*", re.IGNORECASE)
_ITEM = re.compile(r"(?:[•‣▪◦–-]|\(?[a-z\d]{1,2}[.)]|\[\d+\])\s")
_LIST_MARK = re.compile(r"\(?(\d{1,2}|[a-zA-Z])[.)]?|[•‣▪◦–-]")
_BULLET = re.compile(r"[•‣▪◦]\s")
_ENDED = re.compile(r"[.!?:][\"'”’)\]]*\d{0,2}$")
_PROSE = 12
"""Fewest words of a paragraph whose continuation may begin with a capital or a figure."""
_PAGES_NAMED = 20
"""Most pages that a notice names."""


def read_pdf(data: bytes, builder: DocumentBuilder) -> None:
    """Add a PDF to ``builder``. Raises InputError if the PDF cannot be read."""
    document = _open_pdf(data)
    if len(document) > MOST_PAGES:
        raise InputError(f"{len(document)} pages, at most {MOST_PAGES} are read; cut it down")
    document.init_forms()
    stored_title = document.get_metadata_value("Title").strip()
    builder.stored_title = stored_title if stored_title != "untitled" else None
    pages = []
    for number in timely(range(1, len(document) + 1)):
        page = document[number - 1]
        pages.append(read_page(page, document.formenv.raw if document.formenv else None, number))
        page.close()
    for page in pages:
        builder.expect(page.plain_text)
        for line_number in page.line_numbers:
            builder.leave_out(line_number, "numbers of lines", page.number)
    empty = [page.number for page in pages if not page.regions]
    if len(empty) == len(pages):
        raise InputError("no text in it, only pictures of pages; OCR it first")
    if empty:
        numbers = ", ".join(map(str, empty[:_PAGES_NAMED]))
        more = f" and {len(empty) - _PAGES_NAMED} more" if len(empty) > _PAGES_NAMED else ""
        builder.notices.append(f"no text on page {numbers}{more}, only pictures; OCR it first")
    _Layout(pages, builder).read()


def _open_pdf(data: bytes) -> pypdfium2.PdfDocument:
    """Open a PDF, without bytes that a server or a mail added around it."""
    first, last = data.find(b"%PDF-"), data.rfind(b"%%EOF")
    inner = data[max(first, 0) : last + 5 if last > first else None]
    if first < 0:
        raise InputError("not a PDF, whatever its name says; give the document's own file")
    for candidate in dict.fromkeys((inner, data)):
        try:
            document = pypdfium2.PdfDocument(candidate)
            if len(document):
                return document
        except pypdfium2.PdfiumError as error:
            if "assword" in str(error):
                raise InputError("an encrypted PDF; save it without a password first") from None
    raise InputError("a damaged PDF, or one without pages; fetch or save it again")


class _Layout:
    """Sorts lines into headings, prose, tables and notes, by size and place in the whole document."""

    def __init__(self, pages: Sequence[Page], builder: DocumentBuilder) -> None:
        self._pages, self._builder = pages, builder
        lines = [line for page in pages for region in page.regions for line in region]
        self._words = words_of(line.text for line in lines)
        sizes = Counter[float]()
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
        self._usual = sizes.most_common(1)[0][0]
        self._number_places = self._page_number_places()
        self._last_table: tuple[int, list[float], Sequence[str]] = 0, [], ()
        """The page of the last table, the left edges of its columns, and their names."""

    def read(self) -> None:
        blocks: list[Block | None] = []
        heads: set[tuple[str, int]] = set()
        for page in timely(self._pages):
            margin = [line for region in page.regions for line in region if self._in_margin(line, page)]
            for region in page.regions:
                lines = [line for line in region if not self._is_furniture(line, page, heads)]
                blocks += self._blocks(lines, page)
            heads.update(map(_head_place, margin))
        _name_sections(blocks)
        self._set_title([block for block in blocks if block is not None])
        for block in self._run_on(blocks):
            self._builder.append(block)

    # Running heads and page numbers

    def _in_margin(self, line: Line, page: Page) -> bool:
        place = line.base / page.height if page.height else 0.5
        return line.turn == 0 and not _MARGIN < place < 1 - _MARGIN

    def _page_number_places(self) -> set[tuple[int, int]]:
        """Return the places of page numbers that at least two pages share.

        A place has two parts: the printed number minus the page's position in the file, and the
        height on the page.
        """
        places = Counter[tuple[int, int]]()
        for page in self._pages:
            lines = (line for region in page.regions for line in region)
            numbers = {self._number_place(line, page) for line in lines}
            places.update(place for place in numbers if place is not None)
        return {place for place, count in places.items() if count > 1}

    def _number_place(self, line: Line, page: Page) -> tuple[int, int] | None:
        match = _PAGE_NUMBER.fullmatch(line.text) if self._in_margin(line, page) else None
        return (int(match[1]) - page.number, round(line.base / 3)) if match else None

    def _is_furniture(self, line: Line, page: Page, heads: set[tuple[str, int]]) -> bool:
        """Return whether a line is a page number or repeats an earlier page's margin; if so, leave it out."""
        if not self._in_margin(line, page):
            return False
        if self._number_place(line, page) in self._number_places:
            self._builder.leave_out(line.text, "page numbers", page.number)
            return True
        goes_on = line.text[:1].islower()  # the last line of a paragraph
        if not goes_on and _head_place(line) in heads and self._stands_apart(line, page):
            self._builder.leave_out(line.text, "heads and feet of earlier pages", page.number)
            return True
        return False

    def _stands_apart(self, line: Line, page: Page) -> bool:
        """Return whether all lines above and below are farther away than in a paragraph."""
        other_lines = (
            other_line for region in page.regions for other_line in region if other_line is not line
        )
        return not any(
            0.1 < abs(other_line.base - line.base) / line.size < 1.6
            and other_line.left < line.right
            and line.left < other_line.right
            for other_line in other_lines
        )

    # Paragraphs and tables

    def _blocks(self, lines: Sequence[Line], page: Page) -> Iterator[Block]:
        rows = _rows(lines)
        text = [line for line in lines if line.size < _LARGE * self._usual] or lines
        edge = max((line.right for line in text), default=0.0)
        part: list[Line] = []
        at = 0
        while at < len(rows):
            if len(rows[at]) == 1 and isinstance(table := rows[at][0], RuledTable):
                yield from self._paragraph(part, page)
                part = []
                yield from self._read_ruled_table(table, page)
                at += 1
                continue
            end = self._table_end(rows, at)
            if end - at >= 2:
                yield from self._paragraph(part, page)
                part = []
                yield from self._table(rows[at:end], page)
                at = end
                continue
            if len(rows[at]) > 1 and all(len(line.text.split()) <= _CELL for line in rows[at]):
                yield from self._paragraph(part, page)
                part = []
                yield from self._row_block(rows[at], page)
                at += 1
                continue
            for line in rows[at]:
                if part and self._begins(line, part, edge):
                    yield from self._paragraph(part, page)
                    part = []
                part.append(line)
            at += 1
        yield from self._paragraph(part, page)

    def _begins(self, line: Line, part: Sequence[Line], edge: float) -> bool:
        """Return whether a line begins a new paragraph."""
        last = part[-1]
        left_edge = min(part_line.left for part_line in part)
        short = last.right < edge - 0.3 * (edge - left_edge)
        headed = len(part) == 1 and sections.is_section(last.text)
        indented = line.left > last.left + line.size and last.left <= left_edge + 1 and len(part) > 1
        return (
            line.base < last.base - 1.7 * last.size
            or line.base > last.base + 1
            or abs(line.size - last.size) > 0.1 * self._usual
            or line.bold != last.bold
            or _ITEM.match(line.text) is not None
            or read_raised_prefix(line.text) is not None
            or short
            or headed
            or (sections.is_section(line.text) and _ENDED.search(last.text) is not None)
            or (indented and last.text.rstrip()[-1:] in tuple(".!?:"))
        )

    def _paragraph(self, lines: Sequence[Line], page: Page) -> Iterator[Block]:
        if not lines:
            return
        text = on_one_line((line.text for line in lines), self._words)
        kind = self._kind(lines, text)
        text = _BULLET.sub("", text, count=1)
        block = self._builder.make(text, kind, page.number, note_marks=page.note_marks)
        if block is not None:
            yield block

    def _kind(self, lines: Sequence[Line], text: str) -> BlockKind:
        if sections.is_caption(text):
            return "note"
        if len(lines) == 1 and sections.is_section(text):
            return "heading"
        prominent = all(line.size > _LARGE * self._usual or line.bold for line in lines)
        if prominent and len(text) < _LONGEST_HEADING and text[-1] not in ".,;":
            return "heading"
        if max(line.size for line in lines) < _SMALL * self._usual:
            return "note"
        return "item" if _ITEM.match(text) else "paragraph"

    def _row_block(self, row: Sequence[Line], page: Page) -> Iterator[Block]:
        cells = [Cell(line.text) for line in row]
        yield from self._builder.make_rows([cells], 0, page.number, note_marks=page.note_marks)

    def _table_end(self, rows: Sequence[Sequence[Line]], start: int) -> int:
        """Return the end of the table that begins at row ``start``; a row may have only one filled cell."""
        end = start
        while end < len(rows) and len(rows[end]) > 1:
            end += 1
            between = end + 1 < len(rows) and len(rows[end]) == 1 and len(rows[end + 1]) > 1
            if between and self._is_row(rows[end][0], rows[end - 1], rows[end + 1]):
                end += 1
        return end

    def _is_row(self, line: Line, above: Sequence[Line], below: Sequence[Line]) -> bool:
        """Return whether a line between two rows is a row with one filled cell."""
        steps = above[0].base - line.base, line.base - below[0].base
        even = abs(steps[0] - steps[1]) < 0.3 * line.size
        inside = any(line.left < cell.right and cell.left < line.right for cell in (*above, *below))
        across = sum(line.left < cell.right and cell.left < line.right for cell in below)
        return even and inside and across < 2

    def _table(self, rows: Sequence[Sequence[Line]], page: Page) -> Iterator[Block]:
        spans: list[list[float]] = []
        for left_edge, right in sorted((line.left, line.right) for row in rows for line in row):
            if spans and left_edge < spans[-1][1]:
                spans[-1][1] = max(right, spans[-1][1])
            else:
                spans.append([left_edge, right])
        table = [
            [
                Cell(" ".join(line.text for line in row if left_edge <= line.left <= right))
                for left_edge, right in spans
            ]
            for row in rows
        ]
        bold = [line.bold for line in rows[0]], [line.bold for line in rows[-1]]
        yield from self._make_rows(table, bold, [left_edge for left_edge, _ in spans], page)

    def _read_ruled_table(self, ruled: RuledTable, page: Page) -> Iterator[Block]:
        table = [
            [Cell(on_one_line((line.text for line in cell), self._words)) for cell in row]
            for row in ruled.rows
        ]
        first, last = ([line.bold for cell in ruled.rows[at] for line in cell] for at in (0, -1))
        lefts = [min((line.left for line in cell), default=0.0) for cell in ruled.rows[-1]]
        yield from self._make_rows(table, (first, last), lefts, page)

    def _make_rows(
        self,
        table: Sequence[Sequence[Cell]],
        bold: tuple[Sequence[bool], Sequence[bool]],
        lefts: list[float],
        page: Page,
    ) -> Iterator[Block]:
        """Yield the rows of a table; ``bold`` says which cells of its first and last row are bold."""
        first, last = bold
        yield from self._builder.make_rows(
            table,
            1 if all(first) and not all(last) else None,
            page.number,
            note_marks=page.note_marks,
            names=self._names_from_above(lefts, page),
        )
        self._last_table = page.number, lefts, self._builder.column_names

    def _names_from_above(self, lefts: Sequence[float], page: Page) -> Sequence[str]:
        """Return the column names of a table that continues from the page before."""
        number, earlier, names = self._last_table
        alike = len(lefts) == len(earlier) and all(
            abs(left_edge - earlier_edge) < 2 * self._usual
            for left_edge, earlier_edge in zip(lefts, earlier, strict=True)
        )
        return names if page.number - number in (0, 1) and alike else ()

    # The document as a whole

    def _run_on(self, blocks: list[Block | None]) -> Iterator[Block]:
        """Join paragraphs that a column, a page, a note or a table separates."""
        open_at: int | None = None
        for at, block in enumerate(blocks):
            assert block is not None
            before = blocks[open_at] if open_at is not None else None
            if before is not None and _runs_on(before, block):
                assert open_at is not None
                blocks[open_at], blocks[at] = after(before, block, self._words), None
            elif block.kind in ("paragraph", "item"):
                open_at = at
            elif block.kind == "heading":
                open_at = None
        yield from filter(None, blocks)

    def _set_title(self, blocks: Sequence[Block]) -> None:
        """Set the title to the heading in the largest type of page 1."""
        lines = [line for region in self._pages[0].regions for line in region if not line.turn]
        largest = max((line.size for line in lines), default=0.0)
        if largest <= _LARGE * self._usual:
            return
        title = [line.text for line in lines if line.size > 0.95 * largest]
        text = on_one_line(title, self._words)
        headings = (block.text for block in blocks if block.heading and block.page == self._pages[0].number)
        self._builder.title = next((heading for heading in headings if heading[:20] in text), None)


def _name_sections(blocks: list[Block | None]) -> None:
    """Turn a single numbered line between paragraphs into a heading: a list has several items."""
    for at in range(1, len(blocks) - 1):
        before, block, below = blocks[at - 1 : at + 2]
        assert before and block and below
        if (
            block.kind == "item"
            and "item" not in (before.kind, below.kind)
            and below.kind == "paragraph"
            and len(below.text.split()) >= _PROSE
            and sections.is_numbered(block.text)
            and not _ENDED.search(block.text)
        ):
            blocks[at] = replace(block, kind="heading")


def _head_place(line: Line) -> tuple[str, int]:
    """Return the text of a running head, and its height on the page."""
    return line.text, round(line.base / 3)


def _runs_on(before: Block, block: Block) -> bool:
    """Return whether a paragraph continues a sentence of the paragraph before it."""
    if block.kind != "paragraph" or before.text.rstrip('"”’)')[-1:] in tuple(".!?:"):
        return False
    if block.text[:1].islower():
        return True
    last_page = before.breaks[-1][1] if before.breaks else before.page
    words = min(len(paragraph.text.split()) for paragraph in (before, block))
    return block.page != last_page and words >= _PROSE


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines at the same height into rows, in the order of the lines."""
    rows: list[list[Line]] = []
    for line in lines:
        if (
            rows
            and not isinstance(line, RuledTable)
            and not isinstance(rows[-1][0], RuledTable)
            and abs(rows[-1][0].base - line.base) < 0.3 * line.size
            and line.left > rows[-1][-1].left
        ):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [*map(_with_list_mark, rows)]


def _with_list_mark(row: list[Line]) -> list[Line]:
    """Join the number or the bullet of a list item to its words."""
    match = _LIST_MARK.fullmatch(row[0].text) if len(row) == 2 else None
    if match is None:
        return row
    line = copy(row[1])
    mark = f"{match[1]}. " if match[1] else "• "
    line.text, line.left = f"{mark}{line.text}", row[0].left
    return [line]
