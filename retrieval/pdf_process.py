"""Read the layout of a PDF in a process of its own, whose memory and time are limited.

A PDF of 100 kB can unpack to many gigabytes inside PDFium, where only the system can stop it.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from dialectree.errors import InputError

MEMORY = 3_000_000_000
"""Bytes of address space that the process may take; PDFium sets aside 1.2 GB for any file."""
SECONDS = 75.0
MOST_PAGES = 2_000


@dataclass(frozen=True)
class Item:
    """A piece of a line, with its place in points from the page's upper left corner."""

    text: str
    x0: float
    x1: float
    top: float
    foot: float
    size: float
    font: str


@dataclass(frozen=True)
class Region:
    """A piece of a page, and the kind that the layout analysis gives it."""

    kind: str
    items: list[Item]


@dataclass(frozen=True)
class Page:
    """One page, its regions in reading order; `number` counts from 1."""

    number: int
    height: float
    regions: list[Region]


_ANSWER = TypeAdapter[list[Page] | str](list[Page] | str)
"""The pages of a PDF, or why they cannot be read."""


def pages_of(data: bytes, name: str) -> list[Page]:
    """Return all pages; raise InputError where the file is no PDF or takes too much to read."""
    if b"%PDF-" not in data[:1024]:
        raise InputError(f"{name}: not a PDF, whatever its name says; give the paper's own file")
    if b"%%EOF" not in data.rstrip(b"\0\t\r\n ")[-4096:]:
        raise InputError(f"{name}: a PDF that is cut short; fetch or save it again")
    command = [sys.executable, "-P", "-m", __name__, str(MEMORY)]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=SECONDS, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise _too_much(name, f"{SECONDS:g} s") from None
    if done.returncode > 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace')}")
    if done.returncode < 0 or not done.stdout:
        raise _too_much(name, f"{MEMORY / 1e9:g} GB of memory")
    answer = _ANSWER.validate_json(done.stdout)
    if isinstance(answer, str):
        raise InputError(f"{name}: {answer}")
    return answer


def _too_much(name: str, limit: str) -> InputError:
    return InputError(
        f"{name}: reading this PDF takes more than {limit}, or it is damaged; "
        "print it to a new PDF, or give the paper's text"
    )


def _main(memory: int) -> None:
    """Read the PDF on stdin and write its pages, or why they cannot be read, to stdout."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    sys.stdout.buffer.write(_ANSWER.dump_json(_read(sys.stdin.buffer.read())))


def _read(data: bytes) -> list[Page] | str:
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
    return [Page(page.page_num, page.height, _regions(page)) for page in result.pages]


def _regions(page: Any) -> list[Region]:
    """Return the page's blocks in reading order, each with the pieces of lines inside it."""
    blocks = [block for block in page.blocks if block.bbox and block.kind not in ("rule", "figure")]
    regions = [Region(block.kind, []) for block in blocks]
    for item in page.text_items:
        place = _place(item, blocks)
        if place is not None:
            right, foot = item.x + item.width, item.y + item.height
            size, font = item.font_size or item.height, item.font_name or ""
            regions[place].items.append(Item(item.text, item.x, right, item.y, foot, size, font))
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
        _main(int(sys.argv[1]))
