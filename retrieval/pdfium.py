"""The signs of a PDF and where they stand, as PDFium sees them."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from dialectree.errors import InputError

MOST_PAGES = 2_000
_MOST_SIGNS = 3_000_000
_SECONDS = 60.0
"""A paper takes a second or two; what takes longer was made to."""
_ALONE = threading.Lock()  # PDFium is not safe for threads, not even with two documents
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|cmbx|sfbx", re.IGNORECASE)
_OLD_LIGATURES = {
    **{0x0B: "ff", 0x0C: "fi", 0x0D: "fl", 0x0E: "ffi", 0x0F: "ffl"},
    **{0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"},
}
"""Where TeX's first fonts have them, and its later ones; a PDF that does not say so, as one with
letters of dots does not, shows the bare codes."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One character, upright, with y growing upwards from the page's foot."""

    text: str
    x0: float
    x1: float
    y: float
    """Its baseline."""
    size: float
    bold: bool


@dataclass(frozen=True)
class Page:
    """The signs of one page in the order of the file."""

    number: int
    height: float
    signs: list[Sign]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sign as it lies on the page; ``turn`` counts quarter turns, 4 is askew."""

    text: str
    box: tuple[float, float, float, float]
    x: float
    y: float
    size: float
    bold: bool
    turn: int


def pages_of(data: bytes, name: str) -> list[Page]:
    """All pages; raises InputError where the PDF is locked, damaged or no PDF."""
    if b"%PDF-" not in data[:1024]:
        raise InputError(f"{name}: not a PDF, whatever its name says; give the paper's own file")
    if b"%%EOF" not in data.rstrip(b"\0\t\r\n ")[-4096:]:
        raise InputError(f"{name}: a PDF that is cut short; fetch or save it again")
    with _ALONE:
        try:
            document = pypdfium2.PdfDocument(data)
            try:
                return _pages(document, name)
            finally:
                document.close()
        except pypdfium2.PdfiumError as error:
            raise InputError(f"{name}: {_told(error, data)}") from None


def _told(error: pypdfium2.PdfiumError, data: bytes) -> str:
    """What is wrong; of a file without pages PDFium says what was wrong with the one before."""
    locked = "password" in str(error).lower() or "security" in str(error).lower()
    if locked and b"/Encrypt" in data:
        return "an encrypted PDF; save it without a password first"
    return "a damaged PDF, or one without pages; fetch or save it again"


def _pages(document: Any, name: str) -> list[Page]:
    count = len(document)
    if count > MOST_PAGES:
        raise InputError(f"{name}: {count} pages, at most {MOST_PAGES} are read; cut it down")
    if not count:
        raise InputError(f"{name}: a PDF without pages; fetch or save it again")
    until, signs = time.monotonic() + _SECONDS, 0
    pages: list[Page] = []
    for number in range(count):
        page = document[number]
        try:
            pages.append(_page(page, number + 1, until))
        finally:
            page.close()
        signs += len(pages[-1].signs)
        if signs > _MOST_SIGNS or time.monotonic() > until:
            raise InputError(f"{name}: too much in it for a paper; cut it down")
    return pages


def _page(page: Any, number: int, until: float) -> Page:
    """The signs that run the way most do, turned upright; a stamp along the margin runs another."""
    left, foot, right, top = page.get_cropbox()
    text = page.get_textpage()
    try:
        found = list(_placed(text, until))
    finally:
        text.close()
    turns = Counter(placed.turn for placed in found if placed.text.strip())
    usual = turns.most_common(1)[0][0] if turns else 0
    width, height = right - left, top - foot
    kept = [placed for placed in found if placed.turn == usual]
    signs = [_upright(placed, left, foot, width, height) for placed in kept]
    return Page(number, width if usual % 2 else height, signs)


def _placed(text: Any, until: float) -> Iterator[_Placed]:
    """Every sign of a page; a blank that PDFium puts in has the style of what stands before it."""
    reader = _Reader(text.raw)
    for at in range(text.count_chars()):
        if at % 10_000 == 0 and time.monotonic() > until:
            return
        if (placed := reader.sign(at)) is not None:
            yield placed


class _Reader:
    """Asks PDFium about one sign after another, with the same few pieces of memory."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.styles: dict[int, tuple[float, bool, int]] = {}
        self.style = (10.0, False, 0)
        self.left, self.right = ctypes.c_double(), ctypes.c_double()
        self.foot, self.top = ctypes.c_double(), ctypes.c_double()
        self.x, self.y = ctypes.c_double(), ctypes.c_double()

    def sign(self, at: int) -> _Placed | None:
        """The sign at that place; None for one that stands nowhere."""
        text = self._text(at)
        self._take_style(at)
        boxed = pdfium.FPDFText_GetCharBox(
            self.page, at, self.left, self.right, self.foot, self.top
        )
        if (
            not text
            or not boxed
            or not pdfium.FPDFText_GetCharOrigin(self.page, at, self.x, self.y)
        ):
            return None
        box = (self.left.value, self.foot.value, self.right.value, self.top.value)
        return _Placed(text, box, self.x.value, self.y.value, *self.style)

    def _text(self, at: int) -> str:
        """What it says; the line ends that PDFium puts in have the code of a ligature."""
        code = self._code(at)
        if code in _OLD_LIGATURES and not pdfium.FPDFText_IsGenerated(self.page, at):
            return _OLD_LIGATURES[code]
        return chr(code) if 0 < code < 0x110000 else ""

    def _code(self, at: int) -> int:
        """Its number in Unicode; a pair of surrogates counts as one sign, at the first of them."""
        code: int = pdfium.FPDFText_GetUnicode(self.page, at)
        if not 0xD800 <= code < 0xE000:
            return code
        low: int = pdfium.FPDFText_GetUnicode(self.page, at + 1)
        paired = code < 0xDC00 <= low < 0xE000
        return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) if paired else 0

    def _take_style(self, at: int) -> None:
        pointer = pdfium.FPDFText_GetTextObject(self.page, at)
        address = ctypes.cast(pointer, ctypes.c_void_p).value if pointer else None
        if address is None:
            return
        known = self.styles.get(address)
        if known is None:
            known = self.styles[address] = self._style(at)
        self.style = known

    def _style(self, at: int) -> tuple[float, bool, int]:
        """Size in points as seen, whether bold, and how many quarter turns the text makes."""
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self.page, at, matrix)
        size = pdfium.FPDFText_GetFontSize(self.page, at) * math.hypot(matrix.c, matrix.d)
        name, flags = ctypes.create_string_buffer(200), ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(self.page, at, name, 200, flags)
        bold = bool(_BOLD.search(name.value.decode("latin-1")))
        bold = bold or pdfium.FPDFText_GetFontWeight(self.page, at) >= 600
        turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        askew = min(abs(matrix.a), abs(matrix.b)) > 0.2 * max(abs(matrix.a), abs(matrix.b), 1e-9)
        return size or 10.0, bold, 4 if askew else turn


def _upright(placed: _Placed, left: float, foot: float, width: float, height: float) -> Sign:
    """The sign as one sees it who turns the page until its text is upright."""
    x0, y0, x1, y1 = placed.box
    if placed.turn == 1:
        x0, x1, y = y0 - foot, y1 - foot, width - (placed.x - left)
    elif placed.turn == 2:
        x0, x1, y = width - (x1 - left), width - (x0 - left), height - (placed.y - foot)
    elif placed.turn == 3:
        x0, x1, y = height - (y1 - foot), height - (y0 - foot), placed.x - left
    else:
        x0, x1, y = x0 - left, x1 - left, placed.y - foot
    return Sign(placed.text, x0, x1, y, placed.size, placed.bold)
