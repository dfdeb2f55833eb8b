"""Read the layout of a PDF in a process of its own, whose memory and time are limited.

A PDF of 100 kB can unpack to many gigabytes inside PDFium, where only the system can stop it.
"""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from threading import BoundedSemaphore
from typing import Any

from pydantic import TypeAdapter

from dialectree.errors import InputError

_READERS = BoundedSemaphore(2)
"""Each may take gigabytes, and the whole of a processor."""
MEMORY = 3_000_000_000
"""Bytes of address space that the process may take; PDFium sets aside 1.2 GB for any file."""
WAIT_S = 300.0
"""Seconds after which the process is ended on a system without a limit of the processor's time."""
MOST_PAGES = 2_000


_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|cmbx|sfbx|TB\b", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line, or a piece of one, with its place in points from the page's upper left corner."""

    text: str
    left: float
    right: float
    top: float
    foot: float
    size: float
    bold: bool


@dataclass(frozen=True)
class Region:
    """Lines that stand together on a page, and the kind that the layout analysis gives them."""

    kind: str
    page: int
    """The number of the page, from 1."""
    height: float
    """The height of the page."""
    lines: list[Line]

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def left(self) -> float:
        return min(line.left for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.right for line in self.lines)

    @property
    def top(self) -> float:
        return self.lines[0].top


@dataclass(frozen=True)
class Layout:
    """The regions of all pages, each with the pieces of its lines."""

    regions: list[Region]
    title: str | None
    """The title in the PDF's metadata, which need not be the paper's."""


_ANSWER = TypeAdapter[Layout | str](Layout | str)
"""The layout of a PDF, or why it cannot be read."""


def layout_of(data: bytes, name: str) -> Layout:
    """Return the layout of all pages.

    Raises InputError if the file is another kind of file or takes too much to read.
    """
    if b"%PDF-" not in data[:1024]:
        raise InputError(f"{name}: not a PDF, whatever its name says; give the paper's own file")
    if b"%%EOF" not in data.rstrip(b"\0\t\r\n ")[-4096:]:
        raise InputError(f"{name}: a PDF that is cut short; fetch or save it again")
    from dialectree.retrieval import blocks  # the process that reads needs none of it

    seconds, too_much = blocks.SECONDS, blocks.too_much
    command = [sys.executable, "-P", "-m", __name__, str(MEMORY), str(ceil(seconds))]
    try:
        with _READERS:
            done = subprocess.run(
                command, input=data, capture_output=True, timeout=WAIT_S, start_new_session=True
            )
    except subprocess.TimeoutExpired:
        raise too_much(name, f"{WAIT_S:g} s") from None
    if done.returncode < 0 and signal.Signals(-done.returncode).name == "SIGXCPU":
        raise too_much(name, f"{seconds:g} s")
    if done.returncode > 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace')}")
    if done.returncode < 0 or not done.stdout:
        raise too_much(name, f"{MEMORY / 1e9:g} GB of memory")
    answer = _ANSWER.validate_json(done.stdout)
    if isinstance(answer, str):
        raise InputError(f"{name}: {answer}")
    return answer


def _main(memory: int, seconds: int) -> None:
    """Read the PDF on stdin and write its layout, or why it cannot be read, to stdout."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limit
        import resource

        for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    sys.stdout.buffer.write(_ANSWER.dump_json(_read(sys.stdin.buffer.read())))


def _read(data: bytes) -> Layout | str:
    from liteparse.parser import LiteParse
    from liteparse.types import ParseError

    parser = LiteParse(
        ocr_enabled=False,
        extract_blocks=True,
        image_mode="off",
        keep_headers_footers=True,
        max_pages=MOST_PAGES,
        num_workers=1,
        quiet=True,
    )
    try:
        result = parser.parse(data)
    except ParseError as error:
        if "password" in str(error).lower() or (b"/Encrypt" in data and "ecurity" in str(error)):
            return "an encrypted PDF; save it without a password first"
        return "a damaged PDF, or one without pages; fetch or save it again"
    if result.total_pages > MOST_PAGES:
        return f"{result.total_pages} pages, at most {MOST_PAGES} are read; cut it down"
    return Layout([region for page in result.pages for region in _regions(page)], _title(data))


def _title(data: bytes) -> str | None:
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        title: str = PdfDocument(data).get_metadata_value("Title")
    except PdfiumError:
        return None
    return None if title in ("", "untitled") else title


def _regions(page: Any) -> list[Region]:
    """Return the page's blocks in reading order, each with the pieces of lines inside it."""
    blocks = [block for block in page.blocks if block.bbox and block.kind not in ("rule", "figure")]
    regions = [Region(block.kind, page.page_num, page.height, []) for block in blocks]
    for item in page.text_items:
        if (place := _place(item, blocks)) is not None:
            x, y, size = item.x, item.y, item.font_size or item.height
            bold = bool(_BOLD.search(item.font_name or ""))
            piece = Line(item.text, x, x + item.width, y, y + item.height, size, bold)
            regions[place].lines.append(piece)
    return regions


def _place(item: Any, blocks: Sequence[Any]) -> int | None:
    """Return the block that an item lies in; a box may lack the last lines of its block."""
    x, y = item.x + item.width / 2, item.y + item.height / 2
    gaps: dict[float, int] = {}
    for place, block in enumerate(blocks):
        box = block.bbox
        gap = y - box.y - box.height
        if box.x <= x <= box.x + box.width and box.y <= y and gap <= 0:
            return place
        if 0 < gap < 4 * item.height and item.text in (block.text or ""):
            gaps[gap] = place
    return gaps[min(gaps)] if gaps else None


if __name__ == "__main__":
    with contextlib.suppress(MemoryError):
        _main(int(sys.argv[1]), int(sys.argv[2]))
