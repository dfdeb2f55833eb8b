"""PDF: from the signs on its pages to title, abstract and paragraphs in reading order.

``pdfium`` says which sign stands where; ``pdf_accents`` puts accents back on their letters,
``pdf_lines`` makes lines of the signs, ``pdf_columns`` puts those in order, ``pdf_margins`` takes
away what is not the paper's text, ``pdf_tables`` marks the rows of tables.
Here lines become blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from dialectree.errors import InputError
from dialectree.retrieval import front_matter, headings, mending, plain
from dialectree.retrieval.drafts import Block, Draft
from dialectree.retrieval.pdf_columns import in_order
from dialectree.retrieval.pdf_lines import Line, lines_of
from dialectree.retrieval.pdf_margins import without_margins
from dialectree.retrieval.pdf_process import pages_of
from dialectree.retrieval.pdf_tables import with_rows

_ABSTRACT_WORDS = 30
"""Fewer words above the first heading are an address, not an abstract without its name."""
_MOST_LINES = 300
"""Of a paragraph; one that goes on and on is cut, for it would take too long to join."""
_ENDED = re.compile(r"(?:[.!?:][\"'”’)\]]*|(?<=[^\W\d])[.!?][\"'”’)\]]*\d{1,2})$")
_BULLET = re.compile(r"[•▪◦‣∙·–*-]\s+\S|\(?\d{1,2}[.)]\s+\S|\([a-z]\)\s+\S")
_NUMBER = re.compile(r"(?:\w+ )?(?:[\dIVX]+|[A-Z])(?:\.\d+)*[.:)]?")
_NOTE = re.compile(r"[\d*†‡§¶∗]{1,2}\s*\S")
_NOTICE = re.compile(
    r"permission to make|copyright|©|\(c\) \d{4}|arxiv:\d|proceedings of|preprint|"
    r"this work is licensed|corresponding author|accepted (?:at|to|by|for)|equal contribution",
    re.IGNORECASE,
)


@dataclass
class Shape:
    """What is usual in this document."""

    size: float
    leading: float
    bold: bool


@dataclass
class Run:
    """Lines that make one block, before they are text."""

    lines: list[Line]
    heading: bool = False
    words: mending.Words = field(default_factory=mending.Words)

    @property
    def size(self) -> float:
        return self.lines[0].size

    def block(self) -> Block:
        first = self.lines[0]
        made = Block(first.text, self.heading, first.page)
        for line in self.lines[1:]:
            made = mending.after(made, Block(line.text, page=line.page), self.words)
        return mending.squeezed(made)


def draft(data: bytes, *, name: str) -> Draft:
    """What a PDF shows: its largest words on page 1 are the title."""
    pages = without_margins([lines_of(page) for page in pages_of(data, name)])
    lines = [line for page in in_order(pages) for line in with_rows(page)]
    if not any(map(str.isalnum, "".join(line.text for line in lines))):
        raise InputError(f"{name}: no text in it, only pictures of pages; OCR it first")
    shape = _shape(lines)
    words = mending.words_of(line.text for line in lines)
    runs = [replace(run, words=words) for run in _runs(lines, shape)]
    title, runs = _title(runs, shape)
    kept = _resumed(_without_asides(runs, shape))
    blocks = mending.flowing([run.block() for run in kept], words)
    abstract, body = front_matter.under_its_heading(blocks)
    if abstract is None:
        abstract, body = front_matter.under_a_summary(blocks)
    if abstract is None:
        abstract, body = front_matter.first_paragraph(blocks, _ABSTRACT_WORDS)
    return Draft(title, abstract, [block for block in body if block.heading or _is_prose(block)])


def _shape(lines: Sequence[Line]) -> Shape:
    sizes: Counter[float] = Counter()
    bold = 0
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
        bold += len(line.text) if line.bold else 0
    size = sizes.most_common(1)[0][0]
    steps = [
        a.y - b.y
        for a, b in pairwise(lines)
        if a.place == b.place and abs(a.size - size) < 0.6 and 0 < a.y - b.y < 4 * size
    ]
    leading = median(steps) if steps else 1.2 * size
    return Shape(size, leading, bold > 0.5 * sum(sizes.values()))


def _runs(lines: Sequence[Line], shape: Shape) -> list[Run]:
    """Lines that belong together, in reading order."""
    found: list[Run] = []
    before: Line | None = None
    for line in lines:
        heading = _is_heading(line, before, shape)
        if before is None or not found or _begins(line, before, found[-1], heading, shape):
            found.append(Run([], heading))
        found[-1].lines.append(line)
        before = line
    return found


def _is_heading(line: Line, before: Line | None, shape: Shape) -> bool:
    """By its looks (large, bold, alone above a gap) or by its words."""
    text = line.text.strip()
    if len(text) > 150 or sum(map(str.isalpha, text)) < 3 or line.row or _is_cut(line):
        return False
    if plain.is_caption(text):  # in bold, or in capitals as "TABLE I"
        return False
    named = not text[0].islower()  # a line of text may well be "literature."
    if named and headings.part(text) is not None:
        return True
    if line.size > 1.08 * shape.size + 0.3:
        return not text.endswith(",")
    apart = before is None or before.place != line.place or before.y - line.y > 1.2 * shape.leading
    if line.bold and not shape.bold and line.size > 0.93 * shape.size:
        return (apart and text[-1] not in ",;") or headings.is_numbered(text)
    short = line.x1 - line.x0 < 0.85 * (line.right - line.left)
    return named and apart and short and headings.looks_like_one(text)


def _is_cut(line: Line) -> bool:
    """Whether wide gaps cut it, other than one behind its number."""
    first = " ".join(word.text for word in line.cells[0])
    return len(line.cells) > (2 if _NUMBER.fullmatch(first) else 1)


def _begins(line: Line, before: Line, run: Run, heading: bool, shape: Shape) -> bool:
    """Whether a new block begins with this line."""
    if len(run.lines) >= _MOST_LINES:
        return True
    if heading or run.heading:
        same = heading and run.heading and abs(line.size - before.size) < 0.6
        near = line.place == before.place and 0 < before.y - line.y < 1.6 * line.size
        return not (same and near and line.bold == before.bold and not _opens(line, before))
    if abs(line.size - before.size) > max(0.6, 0.07 * shape.size):
        return True
    if line.row != before.row:
        return True
    captioned = plain.is_caption(run.lines[0].text)
    if captioned and line.x0 < before.x0 - 2 * line.size:
        return True
    if line.place != before.place:
        if captioned or _is_wide(line) != _is_wide(before):
            return True
        if _is_stray(line, before):
            return True
        indented = 0.6 * line.size < line.x0 - line.left < 5 * line.size
        # A sentence may end with "Figure 3." in the next column.
        captioned = plain.is_caption(line.text) and len(line.words) > 2
        return indented or _ends(before, line) or captioned
    if not 0 < before.y - line.y < 1.25 * max(shape.leading * line.size / shape.size, 1):
        return True
    if _BULLET.match(line.text) and (
        _ENDED.search(before.text) or before.text.endswith((";", ","))
    ):
        return True
    return _is_indented(line, before) or _ends(before, line)


def _opens(line: Line, before: Line) -> bool:
    """Two headings one under the other, not one on two lines."""
    return headings.is_numbered(line.text) or headings.part(before.text) is not None


def _is_stray(line: Line, before: Line) -> bool:
    """Too short for a line that a column begins with, unless a sentence ends with it."""
    short = line.x1 - line.x0 < 0.6 * (before.right - before.left)
    return short and not _ENDED.search(line.text)


def _is_wide(line: Line) -> bool:
    return line.place[2] < 0


def _is_indented(line: Line, before: Line) -> bool:
    step = line.x0 - before.x0
    return 0.6 * line.size < step < 5 * line.size and before.x0 - before.left < 0.5 * line.size


def _ends(before: Line, line: Line) -> bool:
    """A sentence ended, and the next word would still have fitted behind it."""
    if not _ENDED.search(before.text):
        return False
    return before.x1 + line.first_word + 0.5 * line.size < before.right


def _resumed(runs: Sequence[Run]) -> list[Run]:
    """A paragraph that a figure, a note or a page's end had cut in two is one again."""
    found: list[Run] = []
    for run in runs:
        if found and _goes_on(found[-1], run) and len(found[-1].lines) < _MOST_LINES:
            found[-1] = replace(found[-1], lines=[*found[-1].lines, *run.lines])
        else:
            found.append(run)
    return found


def _goes_on(run: Run, later: Run) -> bool:
    last, first = run.lines[-1], later.lines[0]
    if run.heading or later.heading or last.place == first.place or _is_above_text(last, first):
        return False
    full = last.x1 > last.left + 0.7 * (last.right - last.left)
    unlike = abs(last.size - first.size) > 0.6 or first.x0 - first.left > 0.6 * first.size
    return full and not unlike and not _ENDED.search(last.text) and not _BULLET.match(first.text)


def _is_above_text(last: Line, first: Line) -> bool:
    """Whether an address across page 1 stands above the columns, or above the abstract itself."""
    across = last.page == 1 and _is_wide(last) and not _is_wide(first)
    return across or headings.without_run_in(first.text) is not None


def _title(runs: Sequence[Run], shape: Shape) -> tuple[str | None, list[Run]]:
    """The largest words on page 1, and the runs without them and what stands above them."""
    first = [run for run in runs if run.lines[0].page == runs[0].lines[0].page]
    worded = [run for run in first if sum(map(str.isalpha, run.block().text)) > 3]
    if not worded:
        return None, list(runs)
    several = [run for run in worded if len(run.block().text.split()) > 1]
    largest = max(worded, key=lambda run: run.size)
    title = max(several, key=lambda run: run.size) if several else largest
    if largest.size > 1.15 * shape.size >= title.size:
        title = largest
    if title.size < 1.08 * shape.size:
        title = _leading_line(worded)
    at = next(i for i, run in enumerate(runs) if run is title)
    text, end = title.block().text, at + 1
    while end < len(runs) and abs(runs[end].size - title.size) < 0.3 and runs[end].heading:
        if title.size < 1.15 * shape.size or headings.part(runs[end].block().text):
            break
        text = f"{text} {runs[end].block().text}"
        end += 1
    if len(text) > 400 or headings.part(text):
        return None, list(runs)
    return text, [*(run for run in runs[:at] if run.size <= shape.size * 1.08), *runs[end:]]


def _leading_line(runs: Sequence[Run]) -> Run:
    """Where all is of one size: what stands first."""
    bold = [run for run in runs[:4] if run.lines[0].bold and not headings.part(run.lines[0].text)]
    return bold[0] if bold else runs[0]


def _without_asides(runs: Sequence[Run], shape: Shape) -> list[Run]:
    """Without what interrupts the text: captions, the words in figures, tables and footnotes."""
    aside = [_is_aside(run, shape) for run in runs]
    captions = [at for at, run in enumerate(runs) if plain.is_caption(run.lines[0].text)]
    for at in captions:
        for beside in (range(at - 1, -1, -1), range(at + 1, len(runs))):
            for place in beside:
                if not aside[place] and not _is_label(runs[place], runs[at]):
                    break
                aside[place] = True
    return [run for run, is_aside in zip(runs, aside, strict=True) if not is_aside]


def _is_label(run: Run, caption: Run) -> bool:
    """A few words without an end, on the page of the caption that they stand by."""
    words = sum(len(line.words) for line in run.lines)
    near = run.lines[-1].page == caption.lines[0].page and not run.heading
    return near and words <= 6 and not _ENDED.search(run.lines[-1].text)


def _is_aside(run: Run, shape: Shape) -> bool:
    """Captions, tables, footnotes and notices, by themselves."""
    if run.heading:
        return False
    first, last = run.lines[0], run.lines[-1]
    if plain.is_caption(first.text):
        return True
    if sum(line.row for line in run.lines) > len(run.lines) / 2:
        return True
    if run.size >= 0.93 * shape.size:
        return False
    note = last.y < 0.35 * last.height and bool(_NOTE.match(first.text))
    return note or bool(_NOTICE.search(first.text[:300])) or run.size < 0.6 * shape.size


def _is_prose(block: Block) -> bool:
    """What is mostly figures and signs is a table or a plot's axis."""
    words = re.findall(r"[^\W\d_]{3,}", block.text)
    letters = sum(map(str.isalpha, block.text))
    return len(words) >= 8 or (bool(words) and letters >= 0.5 * len(block.text.replace(" ", "")))
