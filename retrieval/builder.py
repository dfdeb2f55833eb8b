"""Build a document from a file's text: blocks to cite, and the text left out with its reasons.

A reader passes on all text from its library, as a block or as text left out with a reason.
Superscripts and subscripts are put between marks: ``10`` + ``raise_text("5")`` becomes "10^5".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from dialectree.retrieval.blocks import LIGATURES, Block, BlockKind, LeftOut, Reading, timely
from dialectree.retrieval.conservation import check_conservation, find_missing_words

_RAISED, _LINKED, _LOWERED, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
"""Marks around superscripts and subscripts. Unicode reserves them for programs, so no text contains them."""
_MARKED = re.compile(f"([{_RAISED}{_LINKED}])([^{_RAISED}-{_CLOSE}]*){_CLOSE}")
_SUNK = re.compile(f"{_LOWERED}([^{_RAISED}-{_CLOSE}]*){_CLOSE}")
_MARKS = re.compile(f"[{_RAISED}-{_CLOSE}]")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe]")
_UNSEEN = re.compile(f"[{_RAISED}-{_CLOSE}\ufffe\u00ad]")
"""Marks, and soft hyphens."""
_SOFT_HYPHENS = ("\u00ad", "\x02", "\ufffe")
_UNIT = re.compile(r"(?<![^\W\d_])(?:[munpcdk]m|ft|in|mi|kg|[^\W\d_])$")
"""A unit or a single letter: a superscript figure after it is a power."""
_SIGNED = re.compile(r"[-−–+]?\d+")
_WORKS = re.compile(r"\[?\d+(?:\s?[,–-]\s?\d+)*\]?")
"""Numbers of notes or works, as in "It grew.12,13"."""
_NOTE_SIGNS = re.compile(r"[*†‡§¶∗#]+")
_ORDINAL = re.compile(r"st|nd|rd|th|er?|re|ème|o|a|os|as|º|ª")
_TRADE = re.compile(r"TM|SM|®|™|©|℠")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_EMPTY = "–"
"""Shows an empty cell."""


class Cell(NamedTuple):
    """A cell's text, and whether it repeats a cell that spans several places."""

    text: str
    repeated: bool = False


def raise_text(text: str, *, linked: bool = False) -> str:
    """Mark text as a superscript. ``linked`` says that it is a link, and so the mark of a note."""
    return f"{_LINKED if linked else _RAISED}{text}{_CLOSE}" if text.strip() else text


def lower_text(text: str) -> str:
    """Mark text as a subscript."""
    return f"{_LOWERED}{text}{_CLOSE}" if text.strip() else text


def add_brackets(text: str) -> str:
    """Return a part of a fraction or a root, in brackets if it has several words."""
    text = text.strip()
    return text if text.isalnum() else f"({text})"


def read_raised_prefix(text: str) -> str | None:
    """Return the superscript at the start of ``text``, such as the number of a note, or None."""
    match = _MARKED.match(text)
    return match[2].strip() if match else None


def is_shifted(text: str) -> bool:
    """Return whether ``text`` begins with a superscript or a subscript."""
    return text[:1] in (_RAISED, _LINKED, _LOWERED)


def clean_text(text: str) -> str:
    """Compose accents, put one blank between words, and drop invisible characters."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text.translate(LIGATURES)))
    if not text.isascii() or not text.isprintable():
        text = "".join(sign for sign in text if sign in "\t\n\r\f\v" or not _is_control(sign))
    return " ".join(text.split())


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs")


class DocumentBuilder:
    """Collect the blocks of one document, and check at the end that no word was lost."""

    def __init__(self) -> None:
        self.title: str | None = None
        """The title that the file shows or marks."""
        self.abstract: str | None = None
        """The abstract, if the file marks it."""
        self.stored_title: str | None = None
        """The title in the file's properties, which may be wrong."""
        self.notices: list[str] = []
        self.column_names: Sequence[str] = ()
        """The names of the columns of the last table."""
        self._blocks: list[Block] = []
        self._left_out: list[LeftOut] = []
        self._plain_text: list[str] = []

    def expect(self, text: str) -> None:
        """Add the library's plain text, whose words must all be in blocks or left out."""
        self._plain_text.append(_UNSEEN.sub("", text))

    def note_encoding(self, encoding: str | None) -> None:
        """Add a notice if the text has another encoding than UTF-8."""
        if encoding is not None:
            self.notices.append(f"not UTF-8: read as {encoding}")

    def add(self, text: str, kind: BlockKind = "paragraph", *, source: str | None = None) -> None:
        """Add a block; see :meth:`make`."""
        if (block := self.make(text, kind, source=source)) is not None:
            self.append(block)

    def append(self, block: Block) -> None:
        """Add a block that :meth:`make` returned."""
        self._blocks.append(block)

    def make(
        self,
        text: str,
        kind: BlockKind = "paragraph",
        page: int | None = None,
        *,
        note_marks: Collection[str] = (),
        source: str | None = None,
    ) -> Block | None:
        """Return a block, or None if ``text`` is blank.

        ``source`` is the block's text in the file, if ``text`` adds words such as the names of columns.
        ``note_marks`` are the marks of the notes on the block's page; ``text`` loses these marks.
        """
        dropped: list[str] = []
        marked = _MARKS.search(text) is not None
        broken = text.rstrip()[-1:] in _SOFT_HYPHENS
        text = clean_text(text) + ("-" if broken else "")
        source_text = text if source is None else clean_text(source)
        if marked:
            text = _without_marks(text, note_marks, dropped)
            for mark in dropped:
                pattern = f"[{_RAISED}{_LINKED}]{re.escape(mark)}{_CLOSE}"
                source_text, removed_count = re.subn(pattern, "", source_text, count=1)
                if removed_count:  # a name of a column has its mark in each row
                    self.leave_out(mark, "marks of notes", page)
            source_text = _MARKS.sub("", source_text)
        return Block(text, kind, page, source=source_text) if text else None

    def extend(self, part: Reading) -> None:
        """Add a document that is inside this one and was read and checked by itself."""
        self._blocks += part.blocks
        self._left_out += part.left_out
        self.notices += part.notices
        self._plain_text += [block.source or block.text for block in part.blocks]
        self._plain_text += [omission.text for omission in part.left_out]

    def leave_out(self, text: str, reason: str, page: int | None = None) -> None:
        """Record text that is left out of the blocks."""
        if text := clean_text(_MARKS.sub("", text)):
            self._left_out.append(LeftOut(text, reason, page))

    def leave_out_missing(self, text: str, reason: str) -> None:
        """Leave out the words of ``text`` that a reader of prose did not put into blocks."""
        block_sources = (block.source for block in self._blocks)
        self.leave_out(" ".join(find_missing_words(text, block_sources)), reason)

    def add_table(self, rows: Sequence[Sequence[Cell]], head_rows: int | None = None) -> None:
        """Add the rows of a table; see :meth:`make_rows`."""
        self._blocks += self.make_rows(rows, head_rows)

    def make_rows(
        self,
        rows: Sequence[Sequence[Cell]],
        head_rows: int | None = None,
        page: int | None = None,
        *,
        note_marks: Collection[str] = (),
        names: Sequence[str] = (),
    ) -> Iterator[Block]:
        """Yield each row as a block to cite by itself: "Country: Belmark; Hospitals: 12".

        ``head_rows`` is the number of rows that name the columns; without it, the first row is a
        head if it has names above figures. ``names`` name the columns of a table without a head.
        """
        width = max(map(len, rows), default=0)
        table = [[*row, *[Cell("")] * (width - len(row))] for row in rows]
        heads = _count_head_rows(table) if head_rows is None else head_rows
        if heads or len(names) != width:
            names = [_column_name(table[:heads], column, note_marks) for column in range(width)]
        self.column_names = names
        for number, row in enumerate(timely(table)):
            source = " ".join(cell.text for cell in row if not cell.repeated)
            kind: BlockKind = "names" if number < heads else "row"
            text = _row_text(row, [] if number < heads else names)
            block = self.make(text, kind, page, note_marks=note_marks, source=source)
            if block is not None:
                yield block

    def finish(self) -> Reading:
        """Return the document, with its notices for the user."""
        sources = (block.source for block in self._blocks)
        left_out = (part.text for part in self._left_out)
        notices = [*self.notices]
        if self._plain_text:
            notices += check_conservation(" ".join(self._plain_text), sources, left_out)
        return Reading(self.title, self._blocks, self._left_out, notices, self.abstract, self.stored_title)


def _column_name(heads: Sequence[Sequence[Cell]], column: int, note_marks: Collection[str]) -> str:
    parts = dict.fromkeys(_without_marks(row[column].text, note_marks, []) for row in heads)
    return " ".join(filter(None, parts)).rstrip(": ")


def _row_text(row: Sequence[Cell], names: Sequence[str]) -> str:
    """Return a row with the names of its columns; without names, its cells in order."""
    texts = [cell.text.strip() for cell in row]
    if not any(texts):
        return ""
    spans_all = len(row) > 2 and all(cell.repeated for cell in row[1:])
    if spans_all and len(set(texts)) == 1:
        return texts[0]  # a heading inside the table, across all columns
    if not any(names):
        return " | ".join(text or _EMPTY for text in texts)
    pairs = zip(names, texts, strict=True)
    parts = [(f"{name}: {text or _EMPTY}" if name else text) for name, text in pairs]
    return "; ".join(filter(None, parts))


def _count_head_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """Return 1 if the first row has names, or years, above a column of figures, else 0."""
    if len(rows) < 2:
        return 0
    first, *later_rows = rows
    texts = [cell.text.strip() for cell in first[1:]]
    if not all(texts) or not all(_YEAR.fullmatch(text) or not _has_digit(text) for text in texts):
        return 0
    columns = ([text for row in later_rows if (text := row[at].text.strip())] for at in range(1, len(first)))
    return int(any(sum(map(_has_digit, column)) > len(column) / 2 for column in columns))


def _has_digit(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _without_marks(text: str, note_marks: Collection[str], dropped: list[str]) -> str:
    """Write 10⁵ as 10^5, and move the marks of notes from the text to ``dropped``."""

    def sunk(match: re.Match[str]) -> str:
        after_figure = text[: match.start()][-1:].isdigit()
        return f"_{match[1]}" if after_figure else match[1]

    text = _SUNK.sub(sunk, text)

    def mark(match: re.Match[str]) -> str:
        before, sign = _MARKS.sub("", text[: match.start()]), match[2].strip()
        if not before.strip():
            return match[2]
        if match[1] == _LINKED or _is_note_mark(sign, before, note_marks):
            dropped.append(match[2])
            return ""
        ordinal = before[-1].isdigit() and _ORDINAL.fullmatch(sign)
        return match[2] if ordinal or _TRADE.fullmatch(sign) else f"^{sign}"

    return clean_text(_MARKED.sub(mark, text))


def _is_note_mark(sign: str, before: str, note_marks: Collection[str]) -> bool:
    """Return whether a superscript is the mark of a note rather than an exponent."""
    if _NOTE_SIGNS.fullmatch(sign):
        return True
    if _SIGNED.fullmatch(sign):
        power = before.endswith("10") or _UNIT.search(before) or not sign[0].isdigit()
        if power or before[-1].isdigit():
            return False
    ended = before.rstrip()[-1:] in tuple('.,;:!?)”"’»。')
    return sign in note_marks or bool(ended and _WORKS.fullmatch(sign))
