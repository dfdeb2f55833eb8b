"""Read pages of a PDF: put PDFium's characters into lines and columns by their places.

All characters are kept, including superscripts, turned text and the text of form fields.
"""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from dialectree.retrieval.builder import is_shifted, lower_text, raise_text, read_raised_prefix

_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|sfbx|TB\b", re.IGNORECASE)
_WIDE_GAP = 1.1
"""Gap that splits a line in two, relative to its type size."""
_BLANK, _LEAST_BLANK = 0.15, 0.06
"""Gap that counts as a blank, and least gap where PDFium reports a blank; relative to the type size."""
_THICKEST, _TOUCH = 3.0, 3.0
"""Greatest width of a ruled line, and greatest gap between ruled lines that meet, in points."""
_MOST_RULES = 5_000
_MOST_CLUSTERS = 200
"""Most groups of ruled lines on a page; more are a drawing."""
_MOST_CROSSING = 0.1
"""Largest share of a table's pieces that may cross its lines."""
_FEWEST_NUMBERS = 10
"""Fewest numbers, one under the other, that are line numbers of a page."""
_FEW_WORDS, _MANY_WORDS, _BESIDE = 4, 8, 0.6
"""Two sides are columns of prose if each has ``_FEW_WORDS`` words per line. If one side has fewer, the
other needs ``_MANY_WORDS``; and of the left lines, less than the share ``_BESIDE`` may have a right line
at equal height, as the cells of a table have."""
_STEPS, _REGULAR = (1, 2, 5, 10), 0.9
"""Steps between line numbers, and least share of equal steps."""


class FontRun(NamedTuple):
    """Neighbouring characters of one font; places are in points from the page's lower left corner."""

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool
    turn: int
    """Anticlockwise quarter turns; places are those on the page turned until the text is upright."""
    blank: bool
    """Whether a blank comes before the run."""


class Line:
    """Runs of characters that are at one height and close together."""

    __slots__ = ("base", "bold", "left", "right", "size", "text", "turn")

    def __init__(self, pieces: Sequence[FontRun]) -> None:
        self.text = _join_pieces(pieces)
        self.left, self.right = pieces[0].left, max(piece.right for piece in pieces)
        self.base, self.turn = pieces[0].base, pieces[0].turn
        self.size = max(pieces, key=lambda piece: len(piece.text)).size
        self.bold = all(piece.bold for piece in pieces)

    def __repr__(self) -> str:
        return f"Line({self.text!r}, {self.left:.0f}-{self.right:.0f}, {self.base:.0f})"


class RuledTable(Line):
    """A table between ruled lines: the lines of each cell, row by row."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[list[list[Line]]], box: tuple[float, float, float, float]) -> None:
        lines = [line for row in rows for cell in row for line in cell]
        self.rows = rows
        self.left, _, self.right, self.base = box
        self.text = " ".join(line.text for line in lines)
        self.turn, self.bold = 0, False
        self.size = lines[0].size


class Page(NamedTuple):
    """A page: its columns and other regions in reading order, each with its lines."""

    number: int
    """From 1."""
    height: float
    regions: list[list[Line]]
    line_numbers: list[str]
    """The page's line numbers, which are left out of the regions."""
    plain_text: str
    """All text of the page, from PDFium."""

    @property
    def note_marks(self) -> set[str]:
        """Return the superscripts at the start of lines: the marks of the page's notes."""
        marks = (read_raised_prefix(line.text) for region in self.regions for line in region)
        return {mark for mark in marks if mark is not None and len(mark) <= 3}


def read_page(page: Any, form: Any, number: int) -> Page:
    """Return the text of ``page``; ``form`` is the document's form, or None."""
    text = page.get_textpage()
    fields = [*_fields(page.raw, form)]
    plain_text = " ".join([text.get_text_range(), *(field.text for field in fields)])
    pieces = _raise_small_pieces([*_pieces(text.raw)])
    pieces += [_move_to_line(field, pieces) for field in fields]
    turn = attrgetter("turn")
    regions: list[list[Line]] = []
    numbers: list[str] = []
    tables, pieces = _find_ruled_tables(_rules(page.raw), pieces)
    for _, turned in groupby(sorted(pieces, key=turn), key=turn):
        lines = _lines([*turned])
        if not lines[0].turn:
            for table in tables:
                below = (at for at, line in enumerate(lines) if line.base < table.base)
                lines.insert(next(below, len(lines)), table)
            tables = []
        counted = _line_numbers(lines)
        numbers += [line.text for line in lines if line in counted]
        regions += find_columns([line for line in lines if line not in counted])
    if tables:
        regions.append([*tables])
    return Page(number, page.get_height(), regions, numbers, plain_text)


# Characters


def _pieces(text: Any) -> Iterator[FontRun]:
    """Yield the characters of a page in the file's order, with neighbours of one font joined."""
    box, matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    fonts: dict[tuple[bytes, int], bool] = {}
    signs: list[str] = []
    last = FontRun("", 0, 0, 0, 0, False, 0, True)
    blank = True
    for at in range(pdfium.FPDFText_CountChars(text)):
        sign = chr(pdfium.FPDFText_GetUnicode(text, at))
        if sign.isspace() or sign == "\0":
            blank = True
            continue
        pdfium.FPDFText_GetLooseCharBox(text, at, box)
        pdfium.FPDFText_GetCharOrigin(text, at, x, y)
        pdfium.FPDFText_GetMatrix(text, at, matrix)
        turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        scale = math.hypot(matrix.c, matrix.d) or 1
        size = round(pdfium.FPDFText_GetFontSize(text, at) * scale, 1)
        base = (y.value, -x.value, -y.value, x.value)[turn]
        left_edge, right = (
            (box.left, box.right),
            (box.bottom, box.top),
            (-box.right, -box.left),
            (-box.top, -box.bottom),
        )[turn]
        bold = _is_bold(text, at, fonts)
        joins = (
            signs
            and not blank
            and (last.size, last.turn, last.bold) == (size, turn, bold)
            and abs(last.base - base) < 0.1 * size
            and -0.5 * size < left_edge - last.right < 0.25 * size
        )
        if joins:
            signs.append(sign)
            last = last._replace(right=max(right, last.right))
        else:
            if signs:
                yield last._replace(text="".join(signs))
            signs = [sign]
            last = FontRun("", left_edge, right, base, size, bold, turn, blank)
        blank = False
    if signs:
        yield last._replace(text="".join(signs))


def _is_bold(text: Any, at: int, fonts: dict[tuple[bytes, int], bool]) -> bool:
    """Return whether a character is bold, by its weight or the name of its font."""
    name, flags = ctypes.create_string_buffer(64), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text, at, name, 64, flags)
    key = name.value, flags.value
    if key not in fonts:
        heavy = pdfium.FPDFText_GetFontWeight(text, at) >= 600
        fonts[key] = heavy or _BOLD.search(name.value.decode("utf-8", "replace")) is not None
    return fonts[key]


def _fields(page: Any, form: Any) -> Iterator[FontRun]:
    """Yield the texts of form fields and of notes on the page, with their places."""
    for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, at)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET and form:
            text = _wide_string(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
            field = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
            if field in _SWITCHES:
                text = "☒" if pdfium.FPDFAnnot_IsChecked(form, annotation) else "☐"
            elif field == pdfium.FPDF_FORMFIELD_PUSHBUTTON:
                text = ""
        elif kind in (pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_TEXT):
            text = _wide_string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        else:
            text = ""
        box = pdfium.FS_RECTF()
        pdfium.FPDFAnnot_GetRect(annotation, box)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if text.strip():
            size = min(12.0, max(4.0, abs(box.top - box.bottom) * 0.7))
            base = box.bottom + 0.25 * abs(box.top - box.bottom)
            yield FontRun(" ".join(text.split()), box.left, box.right, base, size, False, 0, True)


_SWITCHES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)


def _wide_string(function: Any, *arguments: Any) -> str:
    length = function(*arguments, None, 0)
    if length <= 2:
        return ""
    buffer = (pdfium.FPDF_WCHAR * (length // 2))()
    function(*arguments, buffer, length)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


def _move_to_line(field: FontRun, pieces: Sequence[FontRun]) -> FontRun:
    """Move a form field's text to the line of the words next to it."""
    near = [piece for piece in pieces if not piece.turn and abs(piece.base - field.base) < field.size]
    if not near:
        return field
    closest = min(near, key=lambda piece: abs(piece.base - field.base))
    return field._replace(base=closest.base, size=closest.size)


def _raise_small_pieces(pieces: list[FontRun]) -> list[FontRun]:
    """Mark small pieces as superscripts or subscripts, and put each on its neighbour's line."""
    for at, piece in enumerate(pieces):
        neighbours = [*pieces[max(0, at - 1) : at], *pieces[at + 1 : at + 2]]
        for neighbour in neighbours:
            gap = min(abs(piece.left - neighbour.right), abs(neighbour.left - piece.right))
            small = piece.size < 0.92 * neighbour.size and len(piece.text) < 12
            if neighbour.turn != piece.turn or not small or gap >= 0.5 * neighbour.size:
                continue
            shift = (piece.base - neighbour.base) / neighbour.size
            overlaps = piece.base + 0.7 * piece.size > neighbour.base
            if 0.1 < abs(shift) < 0.8 and overlaps:
                text = raise_text(piece.text) if shift > 0 else lower_text(piece.text)
                pieces[at] = piece._replace(text=text, base=neighbour.base, size=neighbour.size)
                break
    return pieces


# Lines and columns


def _lines(pieces: Sequence[FontRun]) -> list[Line]:
    """Return lines from top to bottom, split at gaps wider than a blank."""
    rows: list[list[FontRun]] = []
    for piece in sorted(pieces, key=lambda piece: (-piece.base, piece.left)):
        near = rows and abs(rows[-1][0].base - piece.base) < 0.3 * min(piece.size, rows[-1][0].size)
        if near:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    lines: list[Line] = []
    for row in rows:
        row.sort(key=lambda piece: piece.left)
        part = row[:1]
        for before, piece in pairwise(row):
            if piece.left - before.right < _WIDE_GAP * min(before.size, piece.size):
                part.append(piece)
            else:
                lines.append(Line(part))
                part = [piece]
        lines.append(Line(part))
    return lines


def _join_pieces(pieces: Sequence[FontRun]) -> str:
    text = pieces[0].text
    for before, piece in pairwise(pieces):
        gap = (piece.left - before.right) / piece.size
        has_blank = piece.blank and not is_shifted(piece.text)
        blank = gap > (_LEAST_BLANK if has_blank else _BLANK)
        text += f"{' ' if blank else ''}{piece.text}"
    return text


# Ruled tables


class _Rules(NamedTuple):
    """Ruled lines of a page: ``across`` as (height, left, right), ``down`` as (place, foot, top)."""

    across: list[tuple[float, float, float]]
    down: list[tuple[float, float, float]]


def _rules(page: Any) -> _Rules:
    """Return the straight lines and the edges of boxes on a page."""
    rules = _Rules([], [])
    corners = [ctypes.c_float() for _ in range(4)]
    for at in range(pdfium.FPDFPage_CountObjects(page)):
        item = pdfium.FPDFPage_GetObject(page, at)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(item, *corners):
            continue
        left_edge, foot, right, top = (corner.value for corner in corners)
        wide, high = right - left_edge > _THICKEST, top - foot > _THICKEST
        if wide and high and not _is_drawn(item):
            continue  # a background
        if wide:
            rules.across.extend((y, left_edge, right) for y in ((foot, top) if high else (foot,)))
        if high:
            rules.down.extend((x, foot, top) for x in ((left_edge, right) if wide else (left_edge,)))
        if len(rules.across) + len(rules.down) > _MOST_RULES:
            return _Rules([], [])  # a drawing
    return rules


def _find_ruled_tables(rules: _Rules, pieces: list[FontRun]) -> tuple[list[RuledTable], list[FontRun]]:
    """Return the tables between ruled lines, and the pieces outside them."""
    tables: list[RuledTable] = []
    for columns, rows in _grids(rules):
        inside: dict[tuple[int, int], list[FontRun]] = {}
        outside_pieces: list[FontRun] = []
        for piece in pieces:
            x, y = (piece.left + piece.right) / 2, piece.base + 0.3 * piece.size
            at = bisect_right(columns, x) - 1, bisect_right(rows, y) - 1
            if piece.turn or not (0 <= at[0] < len(columns) - 1 and 0 <= at[1] < len(rows) - 1):
                outside_pieces.append(piece)
            else:
                inside.setdefault(at, []).append(piece)
        filled = {row for _, row in inside}, {column for column, _ in inside}
        within = [piece for cell in inside.values() for piece in cell]
        crossing = sum(any(piece.left + 1 < x < piece.right - 1 for x in columns) for piece in within)
        if min(map(len, filled)) < 2 or crossing > _MOST_CROSSING * len(within):
            continue
        pieces = outside_pieces
        cells = [
            [_lines(inside.get((column, row), [])) for column in range(len(columns) - 1)]
            for row in range(len(rows) - 2, -1, -1)
        ]
        box = columns[0], rows[0], columns[-1], rows[-1]
        tables.append(RuledTable([row for row in cells if any(row)], box))
    return tables, pieces


def _is_drawn(path: Any) -> bool:
    """Return whether a shape has an outline, not only a filled inside."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    return bool(stroke.value)


def _grids(rules: _Rules) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the places of columns and rows of each table, from crossing lines."""
    boxes = [[left_edge, y, right, y] for y, left_edge, right in rules.across]
    boxes += [[x, foot, x, top] for x, foot, top in rules.down]
    for left_edge, foot, right, top in _clusters(boxes):
        down = [rule for rule in rules.down if left_edge - 1 <= rule[0] <= right + 1]
        across = [rule for rule in rules.across if foot - 1 <= rule[0] <= top + 1]
        columns = _places([rule for rule in down if rule[1] < top and rule[2] > foot], top - foot)
        rows = _places(
            [rule for rule in across if rule[1] < right and rule[2] > left_edge], right - left_edge
        )
        if len(columns) > 2 and len(rows) > 2:
            yield columns, rows


def _clusters(boxes: list[list[float]]) -> list[list[float]]:
    """Join boxes that touch."""
    clusters: list[list[float]] = []
    for box in sorted(boxes, key=lambda box: -box[3]):
        touching = [
            cluster
            for cluster in clusters
            if cluster[0] - _TOUCH <= box[2]
            and box[0] - _TOUCH <= cluster[2]
            and cluster[1] - _TOUCH <= box[3]
            and box[1] - _TOUCH <= cluster[3]
        ]
        for cluster in touching:
            clusters.remove(cluster)
            box = [*map(min, cluster[:2], box[:2]), *map(max, cluster[2:], box[2:])]
        clusters.append(box)
        if len(clusters) > _MOST_CLUSTERS:
            return []  # a drawing
    return clusters


def _places(rules: Sequence[tuple[float, float, float]], length: float) -> list[float]:
    """Return, in order, the places whose ruled lines cover half of ``length`` or more."""
    places: list[tuple[float, float]] = []  # place, length of its rules
    for place, start, end in sorted(rules):
        if places and place - places[-1][0] <= _TOUCH:
            places[-1] = places[-1][0], places[-1][1] + end - start
        else:
            places.append((place, end - start))
    return [place for place, run in places if run >= length / 2]


def _line_numbers(lines: Sequence[Line]) -> set[Line]:
    """Return the line numbers of a page: one under the other, in equal steps."""
    edges_of_text = (line.left for line in lines if not line.text.isdecimal())
    start = min(edges_of_text, default=0.0)
    numbers = [line for line in lines if line.text.isdecimal() and line.right < start]
    edges = Counter(round(line.right) for line in numbers)
    counted: set[Line] = set()
    for edge, count in edges.items():
        if count >= _FEWEST_NUMBERS:
            column = [line for line in numbers if round(line.right) == edge]
            steps = Counter(int(below.text) - int(above.text) for above, below in pairwise(column))
            step, times = steps.most_common(1)[0]
            if step in _STEPS and times >= _REGULAR * steps.total():
                counted.update(column)
    return counted


def find_columns(lines: list[Line]) -> list[list[Line]]:
    """Return regions in reading order: the left column of prose comes first."""
    parts: tuple[list[Line], ...] = ()
    best = 1
    for gap in sorted({line.left for line in lines}):
        left_lines = [line for line in lines if line.right <= gap - 1]
        right = [line for line in lines if line.left >= gap - 2 and line.right > gap - 1]
        lines_of_column = min(len(left_lines), len(right))
        if lines_of_column > best and _are_columns(left_lines, right):
            across = [line for line in lines if line.left < gap - 2 and line.right > gap - 1]
            if len(across) <= len(lines) / 3:
                best, parts = lines_of_column, (across, left_lines, right)
    if not parts:
        return [lines] if lines else []
    across, *sides = parts
    bands = sorted({line.base for line in across}, reverse=True)
    regions: list[list[Line]] = []
    above: set[Line] = set()
    for top, foot in pairwise([math.inf, *bands, -math.inf]):
        above.update(line for line in across if line.base == top)
        between = [[line for line in side if foot < line.base <= top] for side in sides]
        if all(between):
            regions += _one_below_another(above, lines)
            regions += [region for side in between for region in find_columns(side)]
            above = set()
        else:
            above.update(*between)
    return regions + _one_below_another(above, lines)


def _one_below_another(chosen: set[Line], lines: list[Line]) -> list[list[Line]]:
    """Return the regions of ``chosen``, lines above or below two columns; these may be columns, too."""
    if len(chosen) == len(lines):
        return [lines]
    return find_columns([line for line in lines if line in chosen])


def _are_columns(left_lines: Sequence[Line], right: Sequence[Line]) -> bool:
    """Return whether lines next to each other are columns of text rather than of a table."""
    fewer, more = sorted((_words(left_lines), _words(right)))
    if fewer >= _FEW_WORDS:
        return True
    beside = sum(
        any(abs(left_line.base - right_line.base) < 1 for right_line in right) for left_line in left_lines
    )
    return more >= _MANY_WORDS and beside < _BESIDE * len(left_lines)


def _words(lines: Sequence[Line]) -> float:
    return sum(len(line.text.split()) for line in lines) / len(lines)
