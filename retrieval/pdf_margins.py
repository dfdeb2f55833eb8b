"""What stands on a page beside the text: running heads and feet, page numbers, line numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from dialectree.retrieval.pdf_lines import Line, Word

_ZONE = 0.19
"""Of the page's height: how far a head or a foot reaches in."""
_EDGE_LINES = 3
_FEWEST = 5
"""Numbers one under the other that make a column of line numbers."""
_PAGE_NUMBER = re.compile(
    r"[-–—|]?\s*(?:page\s*)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/|\|)\s*\d{1,4})?\s*[-–—|]?",
    re.IGNORECASE,
)

Pages = Sequence[Sequence[Line]]


def without_margins(pages: Pages) -> list[list[Line]]:
    """The pages' own text."""
    return _without_heads(_without_line_numbers(pages))


def _without_heads(pages: Pages) -> list[list[Line]]:
    """Without rows at head or foot that come again on other pages, but for the page's number.

    A short paper may show each of its heads once: those are told by their looks.
    """
    often = max(2, min(4, len(pages) // 4))
    alike = Counter(
        key for page in pages for key in {k for line in _edge(page) for k in _keys(line)}
    )
    usual = _usual_size(pages)
    found: list[list[Line]] = []
    for page in pages:
        rows = _rows(page)
        known = [_is_known(row, alike, often) for row in rows]
        head, foot = _outer(rows, known), _outer(rows[::-1], known[::-1])
        if not head and _is_lone_head(rows, usual):
            head = 1
        found.append([line for row in rows[head : len(rows) - foot] for line in row])
    return found


def _edge(page: Sequence[Line]) -> list[Line]:
    return [line for line in page if not _ZONE * line.height < line.y < (1 - _ZONE) * line.height]


def _rows(page: Sequence[Line]) -> list[list[Line]]:
    """Lines side by side, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y < 0.3 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _is_known(row: Sequence[Line], alike: Counter[tuple[str, int]], often: int) -> bool:
    """Whether it repeats other pages' row, or has the page's number at its outer edge.

    Beside other words only a number that counts other pages, too, is the page's: a line of text
    may end with "2011".
    """

    def times(line: Line) -> int:
        return max(alike[key] for key in _keys(line))

    if sum(times(line) >= often for line in row) >= len(row) / 2:
        return True
    ends = min(row, key=lambda line: line.x0), max(row, key=lambda line: line.x0)
    return any(_is_page_number(end) and (len(row) == 1 or times(end) > 1) for end in ends)


def _usual_size(pages: Pages) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=0.0)


def _is_lone_head(rows: Sequence[Sequence[Line]], usual: float) -> bool:
    """Whether the first row is one piece in small print, far above text that is not."""
    if len(rows) < 2 or not _edge(rows[0][:1]):
        return False
    above, below = rows[0][0], rows[1][0]
    small = above.size < 0.95 * usual < below.size
    alone = sum(not _is_page_number(line) for line in rows[0]) <= 1
    return small and alone and above.y - below.y > 2 * usual


def _is_page_number(line: Line) -> bool:
    return _PAGE_NUMBER.fullmatch(line.text) is not None


def _outer(rows: Sequence[Sequence[Line]], known: Sequence[bool]) -> int:
    """How many rows from the edge on are a head: up to a gap, or to text that looks unlike it."""
    count = 0
    steps = [abs(a[0].y - b[0].y) for a, b in pairwise(rows)]
    usual = median(steps) if steps else 0.0
    for at in range(min(_EDGE_LINES, len(rows))):
        if not known[at] or not _edge(rows[at][:1]):
            break
        apart = at + 1 == len(rows) or steps[at] > 1.3 * usual
        if apart or all(_unlike(line, rows[at + 1][0]) for line in rows[at]):
            count = at + 1
    return count


def _unlike(line: Line, other: Line) -> bool:
    return abs(other.size - line.size) > 0.4 or other.bold != line.bold


def _keys(line: Line) -> set[tuple[str, int]]:
    """Its words as they are and with a number that counts the pages made the same on each.

    Any other number makes a difference: a text may well say "Theorem 3" and "Theorem 4" at the
    foot of two pages. How high it stands belongs to it, to some points.
    """
    words = line.text.casefold()
    numbers = list(re.finditer(r"\d{1,5}", words))
    told = {words}
    for chosen in (numbers[:1], numbers[-1:], numbers):
        counted = words
        for found in reversed(chosen):
            place = f"#{int(found[0]) - line.page}"
            counted = counted[: found.start()] + place + counted[found.end() :]
        told.add(counted)
    return {(text, round(line.y / 6)) for text in told}


def _without_line_numbers(pages: Pages) -> list[list[Line]]:
    """Without the numbers that count a review copy's lines in its margins."""
    places: Counter[tuple[str, int]] = Counter()
    for page in pages:
        size = _usual_size([page])
        for edge, numbers in _stacks(page).items():
            if _counts(numbers, size):
                places[edge] += 1
    return [_without(page, places.keys()) for page in pages] if places else [list(p) for p in pages]


def _stacks(page: Iterable[Line]) -> dict[tuple[str, int], list[Word]]:
    """Numbers at a line's edge whose left or right sides stand one under the other."""
    stacks: defaultdict[tuple[str, int], list[Word]] = defaultdict(list)
    for line in page:
        for word in {line.words[0], line.words[-1]}:
            if _is_number(word):
                for side in _sides(word):
                    stacks[side].append(word)
    return stacks


def _is_number(word: Word) -> bool:
    return word.text.isascii() and word.text.isdigit() and len(word.text) <= 4


def _sides(word: Word) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("left", round(word.x0 / 3)), ("right", round(word.x1 / 3))


def _counts(words: Sequence[Word], size: float) -> bool:
    """Whether they count lines of that size downwards, by ones or by another small step.

    What is farther apart counts something else, such as headings.
    """
    if len(words) < _FEWEST:
        return False
    ordered = sorted(words, key=lambda word: -word.y)
    steps = Counter(int(b.text) - int(a.text) for a, b in pairwise(ordered))
    step, times = steps.most_common(1)[0]
    apart = median(a.y - b.y for a, b in pairwise(ordered))
    often = times >= 0.7 * (len(words) - 1)
    return step in (1, 2, 5, 10) and often and apart < 3 * step * size


def _without(page: Sequence[Line], places: Iterable[tuple[str, int]]) -> list[Line]:
    known = set(places)
    found: list[Line] = []
    for line in page:
        first, last = 0, len(line.words)
        if _is_number(line.words[0]) and known & set(_sides(line.words[0])):
            first = 1
        if last - first > 0 and _is_number(line.words[-1]) and known & set(_sides(line.words[-1])):
            last -= 1
        if line.words[first:last]:
            found.append(replace(line, words=line.words[first:last]))
    return found
