"""Read sheets of Excel: each value as the sheet shows it, with its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from dialectree.errors import InputError
from dialectree.retrieval.archives import find_targets, iterate_texts, parse_xml, read_attribute, unpack_parts
from dialectree.retrieval.blocks import timely
from dialectree.retrieval.builder import Cell, DocumentBuilder
from dialectree.retrieval.charts import read_chart
from dialectree.retrieval.tables import add_values

_BOOK = "xl/workbook.xml"
_PERCENT, _DATES = ("9", "10"), (*map(str, range(14, 23)), "45", "46", "47")
"""Numbers of Excel's built-in formats."""
_QUOTED = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\\\.|_.|\*.")
_UNIT = re.compile(r"\[\$([^\]-]+)[^\]]*\]|\"([^\"]+)\"|([$€£¥])")
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_DIGITS = 12
"""Digits of a figure to show; further digits are rounding errors."""
_WIDEST = 1_000


class _Format(NamedTuple):
    """The signs that a cell's format adds to its figure."""

    percent: bool = False
    date: bool = False
    before: str = ""
    behind: str = ""


def read_sheets(data: bytes, builder: DocumentBuilder) -> None:
    """Add an Excel file to ``builder``, sheet by sheet; raise InputError for other files."""
    parts = unpack_parts(data, (".xml", ".rels"), format="Excel")
    if _BOOK not in parts:
        raise InputError("damaged, or another kind of file (it has no sheets)")
    book = parse_xml(parts[_BOOK])
    targets = find_targets(parts, _BOOK)
    reader = _Reader(parts, targets, book, builder)
    for sheet in book.iter("{*}sheet"):
        id = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), "")
        if targets.get(id) in parts:
            hidden = read_attribute(sheet, "state") in ("hidden", "veryHidden")
            reader.read(targets[id], read_attribute(sheet, "name"), hidden=hidden)


class _Reader:
    """Reads sheets with a file's shared parts: its texts and the formats of its cells."""

    def __init__(
        self, parts: dict[str, bytes], targets: dict[str, str], book: Any, builder: DocumentBuilder
    ) -> None:
        self._parts, self._builder = parts, builder
        names = {path.rpartition("/")[2].lower(): path for path in targets.values()}
        texts = parts.get(names.get("sharedstrings.xml", ""))
        self._texts = [*map(_text_of, parse_xml(texts))] if texts is not None else []
        styles = parts.get(names.get("styles.xml", ""))
        self._formats = _read_formats(parse_xml(styles)) if styles is not None else []
        old = read_attribute(book.find("{*}workbookPr"), "date1904") in ("1", "true")
        self._first_day = datetime(1904, 1, 1) if old else datetime(1899, 12, 30)

    def read(self, part: str, name: str, *, hidden: bool) -> None:
        """Add the sheet called ``name``, or leave it out if it is hidden."""
        tree = parse_xml(self._parts[part])
        rows = [*self._rows(tree)]
        if hidden:
            text = " ".join(cell.text for row in rows for cell in row)
            self._builder.leave_out(text, "hidden sheets")
            return
        self._builder.expect(name)
        self._builder.add(name, "heading")
        add_values(rows, self._builder)
        for target in find_targets(self._parts, part).values():
            for related_part in (target, *find_targets(self._parts, target).values()):
                if related_part not in self._parts:
                    continue
                if re.search("/charts?/chart", related_part):
                    read_chart(parse_xml(self._parts[related_part]), self._builder)
                elif re.search("/drawing|/comments", related_part):
                    self._add_notes(parse_xml(self._parts[related_part]))

    def _add_notes(self, tree: Any) -> None:
        """Add the comments or text boxes in a part."""
        for paragraph in tree.iter("{*}p", "{*}comment"):
            text = " ".join(iterate_texts(paragraph, "t"))
            self._builder.expect(text)
            self._builder.add(text, "note")

    def _rows(self, tree: Any) -> Iterator[list[Cell]]:
        """Yield the rows, and leave out hidden rows and formulas without a value."""
        covered = _read_spans(tree)
        hidden_columns = _read_hidden_columns(tree)
        cell_texts: dict[tuple[int, int], str] = {}
        before = 0
        for row in timely(tree.iter("{*}row")):
            number = int(read_attribute(row, "r") or before + 1)
            if number > before + 1:
                yield []
            before = number
            cells: list[Cell] = []
            column = -1
            for cell in row.iter("{*}c"):
                place = _PLACE.fullmatch(read_attribute(cell, "r"))
                column = _column_number(place[1]) if place else column + 1
                text = cell_texts[number, column] = self._format_cell(cell)
                self._builder.expect(text)
                while len(cells) < min(column, _WIDEST):
                    cells.append(self._make_spanned_cell(number, len(cells), covered, cell_texts))
                if column in hidden_columns:
                    self._builder.leave_out(text, "hidden columns")
                    text = ""
                is_uncovered = (number, column) not in covered
                cells.append(
                    Cell(text)
                    if is_uncovered
                    else self._make_spanned_cell(number, column, covered, cell_texts)
                )
            if read_attribute(row, "hidden") in ("1", "true"):
                text = " ".join(cell.text for cell in cells if not cell.repeated)
                self._builder.leave_out(text, "hidden rows")
            else:
                yield _without_empty_end(cells)

    @staticmethod
    def _make_spanned_cell(
        row: int,
        column: int,
        covered: dict[tuple[int, int], tuple[int, int]],
        cell_texts: dict[tuple[int, int], str],
    ) -> Cell:
        """Return a copy of the wider cell that covers this place, or an empty cell."""
        top = covered.get((row, column))
        return Cell(cell_texts.get(top, ""), repeated=True) if top else Cell("")

    def _format_cell(self, cell: Any) -> str:
        kind = read_attribute(cell, "t")
        value = "".join(iterate_texts(cell, "v"))
        if kind == "s":
            at = int(value or -1)
            return self._texts[at] if 0 <= at < len(self._texts) else ""
        if kind == "inlineStr":
            return _text_of(cell)
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if not value and cell.find("{*}f") is not None:
            formula = "".join(iterate_texts(cell, "f"))
            self._builder.expect(formula)
            self._builder.leave_out(f"={formula}", "formulas without a value")
        if kind not in ("", "n") or not value:
            return value
        style = int(read_attribute(cell, "s") or 0)
        format = self._formats[style] if style < len(self._formats) else _Format()
        return self._figure(value, format)

    def _figure(self, value: str, format: _Format) -> str:
        """Return a figure as its format shows it: 0.125 as "12.5 %", a day as 2021-07-03."""
        try:
            figure = float(value)
        except ValueError:
            return value
        if format.date and 0 <= figure < 3_000_000:
            moment = self._first_day + timedelta(days=figure) + timedelta(milliseconds=500)
            moment = moment.replace(microsecond=0)
            day, _, clock = moment.isoformat(sep=" ").partition(" ")
            if figure < 1:
                return clock
            return day if clock == "00:00:00" else f"{day} {clock}"
        figure = figure * 100 if format.percent else figure
        digits = f"{figure:.{_DIGITS}g}"
        if "e" in digits:
            digits = value if not format.percent else str(figure)
        unit = "%" if format.percent else format.behind
        return " ".join(filter(None, (format.before, digits, unit)))


def _text_of(element: Any) -> str:
    """Return a text, joined from parts in several fonts, without its phonetic guide."""
    for phonetic_run in [*element.iter("{*}rPh")]:
        phonetic_run.getparent().remove(phonetic_run)
    return "".join(iterate_texts(element, "t"))


def _read_formats(styles: Any) -> list[_Format]:
    """Return the format of each cell style."""
    format_codes = {
        read_attribute(number_format, "numFmtId"): read_attribute(number_format, "formatCode")
        for number_format in styles.iter("{*}numFmt")
    }
    cells = styles.find("{*}cellXfs")
    return [
        _read_format(read_attribute(cell_style, "numFmtId"), format_codes)
        for cell_style in (cells if cells is not None else ())
    ]


def _read_format(number: str, format_codes: dict[str, str]) -> _Format:
    if number not in format_codes:
        return _Format(percent=number in _PERCENT, date=number in _DATES)
    code = format_codes[number].split(";")[0]
    bare = _QUOTED.sub("", code)
    digits = re.search(r"[0#?]", bare)
    if "%" in bare:
        return _Format(percent=True)
    if not digits and re.search("[ymdhs]", bare, re.IGNORECASE):
        return _Format(date=True)
    match = _UNIT.search(code)
    if match is None:
        return _Format()
    unit = next(filter(None, match.groups())).strip()
    before = not re.search(r"[0#?]", _QUOTED.sub("", code[: match.start()]))
    return _Format(before=unit) if before else _Format(behind=unit)


def _read_spans(tree: Any) -> dict[tuple[int, int], tuple[int, int]]:
    """Return, for each place that a wider cell covers, the place of that cell."""
    covered: dict[tuple[int, int], tuple[int, int]] = {}
    for span in tree.iter("{*}mergeCell"):
        ends = [_PLACE.fullmatch(end) for end in read_attribute(span, "ref").split(":")]
        if len(ends) != 2 or not all(ends):
            continue
        (first_column, top), (right, foot) = ((_column_number(m[1]), int(m[2])) for m in ends if m)
        if (right - first_column + 1) * (foot - top + 1) > 100_000:
            continue
        for row in range(top, foot + 1):
            covered.update({(row, column): (top, first_column) for column in range(first_column, right + 1)})
        del covered[top, first_column]
    return covered


def _read_hidden_columns(tree: Any) -> set[int]:
    hidden: set[int] = set()
    for columns in tree.iter("{*}col"):
        if read_attribute(columns, "hidden") in ("1", "true"):
            first, last = (int(read_attribute(columns, name) or 1) for name in ("min", "max"))
            hidden.update(range(first - 1, min(last, _WIDEST)))
    return hidden


def _column_number(letters: str) -> int:
    """Return 0 for A, 26 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _without_empty_end(cells: list[Cell]) -> list[Cell]:
    while cells and not cells[-1].text:
        cells.pop()
    return cells
