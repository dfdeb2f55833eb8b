"""The order in which a page is read: bands from the top, columns from the left within a band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from dialectree.retrieval import headings
from dialectree.retrieval.pdf_lines import Line, side_by_side

_EDGE = 3.0
"""Points by which the lines of one column may begin apart."""
_FILLED = 0.55
"""Of a column's width: a longer line is text, not a table's cell or a plot's label."""
_FEWEST = 3
"""Lines of text on either side that make two columns."""

Gutters = tuple[float, ...]
"""Where the right sides of the gaps between a page's columns are, from the left."""


def in_order(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Each page's lines as a reader takes them, whole, with their columns' edges."""
    found = [_gutters(page) for page in pages]
    usual = Counter(_rough(gutters) for gutters in found).most_common(1)
    common = next((g for g in found if usual and _rough(g) == usual[0][0]), ())
    return [
        _read(page, common if _lacks(gutters, common) and _fit(page, common) else gutters)
        for page, gutters in zip(pages, found, strict=True)
    ]


def _rough(gutters: Gutters) -> tuple[int, ...]:
    return tuple(round(gutter / 12) for gutter in gutters)


def _lacks(gutters: Gutters, common: Gutters) -> bool:
    """Whether all that it has are of the common ones, and it has fewer: a page that is not full."""
    known = all(any(abs(gutter - other) < 6 for other in common) for gutter in gutters)
    return known and len(gutters) < len(common)


def _fit(page: Sequence[Line], gutters: Gutters) -> bool:
    """Whether the columns of the other pages hold most of this page's lines."""
    across = sum(1 for line in page if any(_crosses(line, gutter) for gutter in gutters))
    return bool(gutters) and across <= 0.3 * len(page)


def _crosses(line: Line, gutter: float) -> bool:
    return line.x0 < gutter - _EDGE and line.x1 > gutter


def _gutters(page: Sequence[Line]) -> Gutters:
    """The left edges of all columns but the first: two or three, or none."""
    if len(page) < 2 * _FEWEST:
        return ()
    left, right = min(line.x0 for line in page), max(line.x1 for line in page)
    found = [
        g for g in _starts(page) if left + 0.2 * (right - left) < g < right - 0.12 * (right - left)
    ]
    good = sorted({_edge(page, g) for g in found if _divides(page, g, found, left, right)})
    if len(good) > 1 and not _alike([left, *good, right]):
        good = [min(good, key=lambda gutter: abs(gutter - (left + right) / 2))]
    return tuple(good)


def _edge(page: Sequence[Line], start: float) -> float:
    """Where the column really begins: most of its lines may be indented first ones."""
    left = min(line.x0 for line in page)
    before = [
        line.x1 for line in page if line.x1 < start and line.x1 - line.x0 > 0.3 * (start - left)
    ]
    return min(line.x0 for line in page if max(before, default=left) < line.x0 <= start + _EDGE)


def _alike(edges: Sequence[float]) -> bool:
    """Whether the columns between the edges are about as wide as one another."""
    widths = [b - a for a, b in pairwise(edges)]
    return max(widths) < 1.3 * min(widths)


def _starts(page: Sequence[Line]) -> list[float]:
    """Where several lines begin, one under the other; the most usual first."""
    starts = sorted(line.x0 for line in page)
    groups: list[list[float]] = []
    for start in starts:
        if groups and start - groups[-1][0] <= _EDGE:
            groups[-1].append(start)
        else:
            groups.append([start])
    large = sorted((g for g in groups if len(g) >= _FEWEST), key=len, reverse=True)
    return [group[0] for group in large[:8]]


def _divides(
    page: Sequence[Line], gutter: float, others: Sequence[float], left: float, right: float
) -> bool:
    """Whether lines of text fill both sides of the gap, and few run across it."""
    beside = [g for g in others if g > gutter + 0.2 * (right - left)]
    end = min(beside, default=right)
    before = max((g for g in others if g < gutter - 0.2 * (right - left)), default=left)
    rights = [
        line
        for line in page
        if -_EDGE <= line.x0 - gutter <= 4 * _EDGE and line.x1 - line.x0 > _FILLED * (end - gutter)
    ]
    lefts = [
        line
        for line in page
        if line.x1 < gutter and line.x1 - line.x0 > _FILLED * (gutter - before)
    ]
    if min(len(rights), len(lefts)) < _FEWEST:
        return False
    top, foot = max(line.y for line in rights), min(line.y for line in rights)
    across = [line for line in page if foot <= line.y <= top and _crosses(line, gutter)]
    everywhere = sum(1 for line in page if _crosses(line, gutter))
    return len(across) < 0.6 * len(rights) and everywhere < 5 * len(rights)


def _read(page: Sequence[Line], gutters: Gutters) -> list[Line]:
    """Band by band: a line across a gap ends the columns above it and begins new ones."""
    bands: list[list[Line]] = [[]]
    wide = False
    for line in sorted(page, key=lambda line: -line.y):
        across = any(_crosses(line, gutter) for gutter in gutters)
        if across != wide:
            bands.append([])
            wide = across
        bands[-1].append(line)
    return [
        line
        for number, band in enumerate(_without_authors(bands, gutters))
        for column, lines in _columns(band, gutters)
        for line in _whole(lines, number, column)
    ]


def _without_authors(bands: list[list[Line]], gutters: Gutters) -> list[list[Line]]:
    """On page 1, names and addresses side by side under the title are a band of their own."""
    for at, band in enumerate(bands[:3]):
        if not band or band[0].page != 1 or any(_crosses(x, g) for x in band for g in gutters):
            continue
        cut = _names_end(band, gutters)
        return [*bands[:at], band[:cut], band[cut:], *bands[at + 1 :]]
    return bands


def _names_end(band: Sequence[Line], gutters: Gutters) -> int:
    """How many lines from the top are short, but for the last, down to a gap across all columns.

    Where the abstract or the introduction begins, the names are over.
    """
    edges = [min(line.x0 for line in band), *gutters, max(line.x1 for line in band)]
    full = max(b - a for a, b in pairwise(edges))
    cut = 0
    for at, (line, below) in enumerate(pairwise(band), 1):
        if at > 40 or _opens_text(line):
            break
        if line.y - below.y > 1.7 * line.size:
            cut = at
        if line.x1 - line.x0 > 0.8 * full:
            break
    return cut


def _opens_text(line: Line) -> bool:
    return headings.part(line.text) is not None or headings.without_run_in(line.text) is not None


def _columns(band: Sequence[Line], gutters: Gutters) -> list[tuple[int, list[Line]]]:
    def column(line: Line) -> int:
        return sum(line.x0 >= gutter - _EDGE for gutter in gutters)

    if any(_crosses(line, gutter) for line in band for gutter in gutters):
        return [(-1, list(band))]
    ordered = sorted(band, key=column)
    return [(number, list(lines)) for number, lines in groupby(ordered, key=column)]


def _whole(lines: Sequence[Line], band: int, column: int) -> list[Line]:
    """The column's lines from the top, pieces on one baseline together."""
    whole = side_by_side(lines, float("inf"))
    starts = Counter(round(line.x0) for line in whole)
    most = max(starts.values(), default=0)
    left = min((start for start, times in starts.items() if times >= 0.5 * most), default=0)
    # A title or a formula set in the middle says nothing of how far the text's lines reach.
    flush = [line for line in whole if line.x0 - left < line.size] or whole
    right = max((line.x1 for line in flush), default=0.0)
    return [
        replace(line, place=(line.page, band, column), left=float(left), right=right)
        for line in whole
    ]
