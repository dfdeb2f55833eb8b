"""Plain text that was taken from a PDF: heads of pages, columns side by side, lone numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from statistics import median

from dialectree.retrieval import headings, mending

_EDGE = 3
"""Filled lines at the top and at the end of a page among which a head or a foot stands."""
_GAP = re.compile(r" {2,}(?! )")
_FEWEST = 8
"""Lines with text in both columns; a page with fewer has one."""
_LONE = re.compile(
    r"^ *(\d{1,2}(?:\.\d{1,2}){0,3}|[A-H](?:\.\d{1,2}){0,3})\.?\n\n+(?=(\S[^\n]*)(?:\n\n|\n?\Z))",
    re.MULTILINE,
)

_LETTERED = re.compile(r"^ *([A-H](?:\.\d{1,2}){0,3})\.? {2,}(\S+(?: \S+)*)$", re.MULTILINE)


def in_reading_order(text: str) -> str:
    """A text whose pages form feeds part, in one column, with numbers beside their headings.

    Page numbers and what every page shows are left out; any other text is left as it stands.
    """
    if "\f" not in text:
        return text
    pages = [
        [line.rstrip() for line in page.expandtabs().splitlines()]
        for page in text.split("\f")
        if page.strip()
    ]
    columns = ["\n".join(_in_one_column(page)) for page in _without_heads(pages)]
    return _with_numbers("\f".join(columns))


def _without_heads(pages: Sequence[list[str]]) -> list[list[str]]:
    """Each page without the numbers and the lines that other pages begin or end with, too."""
    filled = [[line for line in page if line.strip()] for page in pages]
    edges = [{_key(line) for line in (*page[:_EDGE], *page[-_EDGE:])} for page in filled]
    counts = Counter(chain.from_iterable(edges))
    repeated = {
        "",
        "#",
        *(key for key, n in counts.items() if n > 1 and len(key) < headings.LONGEST),
    }
    found = []
    for at, page in enumerate(pages):
        # The title may be the head of later pages: on the first, a head shows a number.
        tops = repeated if at else {key for key in repeated if not key or "#" in key}
        first, last = 0, len(page)
        while first < last and _key(page[first]) in tops:
            first += 1
        while first < last and _key(page[last - 1]) in repeated:
            last -= 1
        found.append(page[first:last])
    return found


def _key(line: str) -> str:
    """What a head shows on every page."""
    return re.sub(r"\d+", "#", " ".join(line.split()))


def _in_one_column(lines: Sequence[str]) -> list[str]:
    """The left column, then the right one; a line across both parts what is above and below it."""
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    done: list[str] = []
    left: list[str] = []
    right: list[str] = []
    for at, line in enumerate(lines):
        start = _right_start(line, gutter)
        level = [lines[i].strip() for i in (at - 1, at + 1) if 0 <= i < len(lines)]
        if start is None and len(line) > gutter + 2 and not (len(level) == 2 and all(level)):
            done += [*left, "", *right, "", line]
            left, right = [], []
            continue
        for column, part in ((left, line[:start]), (right, line[start or len(line) :])):
            # Rows of the two are not level: an empty one inside a sentence parts nothing.
            full = column and len(column[-1]) > 0.7 * gutter and mending.unfinished(column[-1])
            if part.strip() or not (full and line.strip()):
                column.append(part.rstrip())
    return [*done, *left, "", *right]


def _gutter(lines: Sequence[str]) -> int | None:
    """Where the right one of two columns of text begins; a table's cells are too short for it."""
    widest = max(map(len, lines), default=0)
    middle = [
        (line, start)
        for line in lines
        for start in _starts(line)
        if 0.3 * widest < start < 0.7 * widest
    ]
    if not middle:
        return None
    gutter = Counter(start for _, start in middle).most_common(1)[0][0]
    right = [line[start:] for line, start in middle if abs(start - gutter) <= 6]
    left = [line[: _right_start(line, gutter)] for line in lines if line[: gutter // 2].strip()]
    if min(len(left), len(right)) < max(_FEWEST, sum(map(bool, map(str.strip, lines))) / 4):
        return None
    words = [median(len(part.split()) for part in parts) for parts in (left, right)]
    longest = median(map(len, left))
    return gutter if min(words) >= 4 and longest <= gutter else None


def _starts(line: str) -> list[int]:
    """Where text begins in a line after more than one blank."""
    return [gap.end() for gap in _GAP.finditer(line)]


def _right_start(line: str, gutter: int) -> int | None:
    """Where what stands in the right column begins in a line, if anything does."""
    gaps = [(gap.start(), gap.end()) for gap in _GAP.finditer(line)]
    near = [
        end for start, end in gaps if 0.85 * gutter <= end <= gutter + 10 or start < gutter < end
    ]
    return min(near, key=lambda end: abs(end - gutter), default=None)


def _with_numbers(text: str) -> str:
    """Numbers in paragraphs of their own beside their headings, and lettered headings apart."""
    last = [0]

    def beside(found: re.Match[str]) -> str:
        nonlocal last
        parts = found[1].split(".")
        number = [int(part) if part.isdigit() else ord(part) for part in parts]
        near = number[0] <= last[0] + 2 or number[0] == ord("A")
        if not (last < number and near and headings.looks_like_one(f"1 {found[2]}")):
            return found[0]
        last = number
        return f"{found[1]} "

    def apart(found: re.Match[str]) -> str:
        headed = headings.looks_like_one(f"1 {found[2]}")
        return f"\n\n{found[1]} {found[2]}\n\n" if headed else found[0]

    return _LETTERED.sub(apart, _LONE.sub(beside, text))
