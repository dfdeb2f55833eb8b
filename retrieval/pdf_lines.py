"""From signs to words, and from words to lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from dialectree.retrieval.mending import plain_signs
from dialectree.retrieval.pdf_accents import composed
from dialectree.retrieval.pdfium import Page, Sign

_GAP = 0.8
"""Of a sign's size: what is farther apart may belong to two columns."""
CELL_GAP = 2.0
"""Of a sign's size: what is farther apart may stand in two cells of a table."""
_MARK_SIZE = 0.8
"""Of a word's size: smaller and raised is a mark, such as a footnote's number."""


@dataclass(frozen=True, slots=True)
class Word:
    """Signs without a blank between them."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool


@dataclass(frozen=True)
class Line:
    """Words side by side: a whole line of a column, or a piece of one until columns are known."""

    words: tuple[Word, ...]
    page: int
    height: float
    """Of the page."""
    place: tuple[int, int, int] = (0, 0, 0)
    """Page, band of the page, and column (-1 runs across all of them).

    Lines of one place stand one under the other.
    """
    left: float = 0.0
    """Where the column's lines begin."""
    right: float = 0.0
    """Where the column's longest lines end."""
    row: bool = False
    """Of a table."""

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @cached_property
    def x0(self) -> float:
        return self.words[0].x0

    @cached_property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @cached_property
    def y(self) -> float:
        return self._main.y

    @cached_property
    def size(self) -> float:
        return self._main.size

    @cached_property
    def bold(self) -> bool:
        named = [word for word in self.words if any(map(str.isalpha, word.text))]
        return all(word.bold for word in named or self.words)

    @cached_property
    def first_word(self) -> float:
        return self.words[0].x1 - self.words[0].x0

    @cached_property
    def cells(self) -> list[tuple[Word, ...]]:
        """The pieces that wide gaps make of it."""
        gaps = [b.x0 - a.x1 > CELL_GAP * a.size for a, b in pairwise(self.words)]
        ends = [at for at, wide in enumerate(gaps, 1) if wide]
        return [self.words[a:b] for a, b in pairwise([0, *ends, len(self.words)])]

    @cached_property
    def _main(self) -> Word:
        """The longest word stands for the line: a first one may be a raised mark."""
        return max(self.words, key=lambda word: len(word.text))


def lines_of(page: Page) -> list[Line]:
    """The page's words, those side by side without a wide gap in one piece."""
    pieces: list[list[Word]] = []
    for word in _words(composed(page.signs)):
        if pieces and _follows(pieces[-1][-1], word):
            pieces[-1].append(word)
        else:
            pieces.append([word])
    lines = [Line(tuple(piece), page.number, page.height) for piece in pieces]
    return side_by_side(lines, _GAP)


def side_by_side(lines: Sequence[Line], gap: float) -> list[Line]:
    """Pieces on one baseline, as near as ``gap`` of their size, in one; in order from the top."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        for row in reversed(rows[-4:]):
            if abs(row[0].y - line.y) <= 0.25 * max(row[0].size, line.size):
                row.append(line)
                break
        else:
            rows.append([line])
    return [line for row in rows for line in _joined(row, gap)]


def _joined(row: Sequence[Line], gap: float) -> Iterator[Line]:
    first, *rest = sorted(row, key=lambda line: line.x0)
    for line in rest:
        if line.x0 - first.x1 <= gap * min(line.size, first.size):
            first = replace(first, words=(*first.words, *line.words))
        else:
            yield first
            first = line
    yield first


def _follows(before: Word, word: Word) -> bool:
    """Whether it goes on in the same line; what is raised or lowered a little does."""
    size = max(before.size, word.size)
    raised = 0.2 if abs(before.size - word.size) < 0.15 * size else 0.6
    # The blank of the smaller one: a large heading of the next column is no nearer for its size.
    near = -0.3 * size < word.x0 - before.x1 < _GAP * min(before.size, word.size)
    return near and abs(before.y - word.y) < raised * size


def _words(signs: Sequence[Sign]) -> Iterator[Word]:
    word: list[Sign] = []
    for sign in signs:
        if sign.text.isspace():
            yield from _word(word)
            word = []
            continue
        if word and not _touches(word[-1], sign):
            yield from _word(word)
            word = []
        word.append(sign)
    yield from _word(word)


def _touches(before: Sign, sign: Sign) -> bool:
    size = max(before.size, sign.size)
    # A ligature comes as its letters, all in one box.
    near = sign.x0 > before.x0 - 0.3 * size and sign.x0 - before.x1 < 0.3 * size
    return near and abs(before.y - sign.y) < 0.6 * size


def _word(signs: Sequence[Sign]) -> Iterator[Word]:
    """The signs as one word, without the raised mark of a note or an address behind it."""
    if not signs:
        return
    main = max(signs, key=lambda sign: sign.size)
    kept = list(signs)
    while len(kept) > 2 and _is_mark(kept[-1], main):
        kept.pop()
    base = "".join(sign.text for sign in kept)
    if len(kept) == len(signs) or not _takes_marks(base):
        kept, base = list(signs), "".join(sign.text for sign in signs)
    text = plain_signs(base.replace("\x02", "-").replace("\ufffe", "-")).strip()
    if text:
        x0, x1 = min(s.x0 for s in kept), max(s.x1 for s in kept)
        yield Word(text, x0, x1, main.y, main.size, main.bold)


def _is_mark(sign: Sign, main: Sign) -> bool:
    raised = 0.15 * main.size < sign.y - main.y < 0.8 * main.size
    return raised and sign.size < _MARK_SIZE * main.size and not sign.text.isalpha()


def _takes_marks(base: str) -> bool:
    """A word of a sentence may carry a note; a number or a symbol carries an exponent."""
    return sum(map(str.isalpha, base)) > 1 or base.endswith((".", ",", ")", "”"))
