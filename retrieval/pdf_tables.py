"""Which lines of a page are rows of a table: rows stand together, and their cells line up.

A line of running text may have gaps as wide, where long words are set to both edges of a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from dialectree.retrieval.pdf_lines import CELL_GAP, Line, Word

_REACH = 3.0
"""Of a line's size: rows farther apart do not stand together."""
_ASIDE = 0.25
"""Of a line's size: cells of one column stand no farther to one side."""
_INDENT = 5.0
"""Of a line's size: a first line begins no farther in."""
_BETWEEN = 0.6
"""Of a line's size: words that are not farther apart are of one cell."""
_BESIDE = 8
"""Lines above and below among which others are sought that line up."""
_SHORT = 3
"""Words of a cell; items of a list have more."""
_FIGURE = re.compile(r"[^\w(\[]*\d[\d\W]*\w?")

Cell = Sequence[Word]


def with_rows(page: Sequence[Line]) -> list[Line]:
    """The lines of one page, those that are rows of a table marked as such."""
    rows = {id(line) for line in [*_among_wide(page), *_in_grids(page)]}
    return [replace(line, row=True) if id(line) in rows else line for line in page]


def _among_wide(page: Sequence[Line]) -> Iterator[Line]:
    """Of the lines with wide gaps, those that are no text."""
    wide = sorted((line for line in page if len(line.cells) > 2), key=lambda line: -line.y)
    partners = [
        [other for other in wide[max(at - _BESIDE, 0) : at + _BESIDE + 1] if _line_up(line, other)]
        for at, line in enumerate(wide)
    ]
    counts = {id(line): len(others) for line, others in zip(wide, partners, strict=True)}
    ends = _ends(page) if wide else {}
    for line, others in zip(wide, partners, strict=True):
        third = len(others) > 1 or any(counts[id(other)] > 1 for other in others)
        # From edge to edge of the text only what lines up is a row; two lines do so by chance.
        if not _fills(line, ends) or (third if _is_even(line) else others):
            yield line


def _line_up(line: Line, other: Line) -> bool:
    """Whether they stand together, two or all cells of the one by cells of the other."""
    if not 0.5 * line.size < abs(other.y - line.y) < _REACH * line.size:
        return False
    found = sum(
        any(_stand_alike(cell, line, beside) for beside in other.cells[1:])
        for cell in line.cells[1:]
    )
    return found >= 2


def _stand_alike(cell: Cell, line: Line, other: Cell) -> bool:
    """Whether one stands right under the other: their left sides, middles or right sides meet.

    Lines of text all end alike; rows do so where figures stand, or not at the text's edge.
    """
    left, right = cell[0].x0 - other[0].x0, cell[-1].x1 - other[-1].x1
    sides = [left, (left + right) / 2]
    inside = cell[-1] is not line.words[-1] or line.x1 < line.right - line.size
    if inside or _are_figures(cell) or _are_figures(other):
        sides.append(right)
    return any(abs(side) < _ASIDE * line.size for side in sides)


def _are_figures(cell: Cell) -> bool:
    return _FIGURE.fullmatch("".join(word.text for word in cell)) is not None


def _ends(page: Sequence[Line]) -> dict[int, list[float]]:
    """Where the lines of each column that have no wide gaps, or even ones, end; from the right."""
    ends: dict[int, list[float]] = {}
    for line in sorted(page, key=lambda line: -line.x1):
        if len(line.cells) == 1 or _is_even(line):
            ends.setdefault(line.place[2], []).append(line.x1)
    return ends


def _fills(line: Line, ends: dict[int, list[float]]) -> bool:
    """Whether it begins where lines of its column may begin, and ends where three or more end."""
    column = ends.get(line.place[2], [])
    near = 0.5 * line.size
    edge = next((a for a, third in zip(column, column[2:], strict=False) if a - third < near), None)
    begins = line.x0 - line.left < _INDENT * line.size
    return begins and edge is not None and abs(line.x1 - edge) < 2 * line.size


def _is_even(line: Line) -> bool:
    """Whether all its words stand equally far apart, as in a line that is set to both edges."""
    gaps = [b.x0 - a.x1 for a, b in pairwise(line.words)]
    return max(gaps, default=0.0) < 1.25 * min(gaps, default=0.0) + 0.3 * line.size


def _in_grids(page: Sequence[Line]) -> Iterator[Line]:
    """Lines that stand word under word or cell under cell, in a column or across the page."""
    for _, column in groupby(page, key=lambda line: line.place):
        yield from _in_grid([[line] for line in column])
    yield from _in_grid(_side_by_side(page))


def _side_by_side(page: Sequence[Line]) -> list[list[Line]]:
    """What stands on one baseline, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y < _ASIDE * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.x0) for row in rows]


def _in_grid(rows: Sequence[Sequence[Line]]) -> Iterator[Line]:
    """The lines of all rows that have as many words, or cells, one under the other."""
    for cells in (_words, _cells):
        grid: list[Sequence[Line]] = []
        for row, below in pairwise([*rows, ()]):
            grid.append(row)
            near = below and row[0].y - below[0].y < _REACH * row[0].size
            if not near or not _are_under(cells(row), cells(below)):
                several = all(len(cells(lines)) > len(lines) for lines in grid)
                if several and _is_table([[c for c, _ in cells(g)] for g in grid], row[0].size):
                    yield from (line for lines in grid for line in lines)
                grid = []


def _words(row: Sequence[Line]) -> list[tuple[Cell, Line]]:
    return [((word,), line) for line in row for word in line.words]


def _cells(row: Sequence[Line]) -> list[tuple[Cell, Line]]:
    return [(cell, line) for line in row for cell in line.cells]


def _are_under(cells: Sequence[tuple[Cell, Line]], others: Sequence[tuple[Cell, Line]]) -> bool:
    """Whether each cell stands under one of the others."""
    return len(cells) == len(others) and all(
        _stand_alike(cell, line, other)
        for (cell, line), (other, _) in zip(cells, others, strict=True)
    )


def _is_table(rows: Sequence[Sequence[Cell]], size: float) -> bool:
    """Two rows with figures after a name, or three with words that are set apart."""
    columns = len(rows[0])
    if len(rows) < 2 or max(len(c) for row in rows for c in row[1:]) > _SHORT:
        return False
    if any(not _are_figures(row[0]) and 2 * sum(map(_are_figures, row)) >= columns for row in rows):
        return True
    gap = min(b[0].x0 - a[-1].x1 for row in rows for a, b in pairwise(row)) / size
    named = any(_is_name(row[0]) and _is_name(row[-1]) for row in rows)
    return len(rows) > 2 and named and gap > (_BETWEEN if columns > 2 else CELL_GAP)


def _is_name(cell: Cell) -> bool:
    """No item's label, no formula's number."""
    return sum(map(str.isalpha, "".join(word.text for word in cell))) > 1
