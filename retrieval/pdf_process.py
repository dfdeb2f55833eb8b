"""Read a PDF in a process of its own, whose memory and time are limited.

A PDF of 100 kB can unpack to many gigabytes inside PDFium, where only the system can stop it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """A piece of a page in reading order, and what the layout analysis takes it for."""

    kind: str
    items: list[Item]


@dataclass(frozen=True)
class Page:
    """One page; `number` counts from 1."""

    number: int
    height: float
    regions: list[Region]


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
    answer = json.loads(done.stdout)
    if isinstance(answer, str):
        raise InputError(f"{name}: {answer}")
    return [
        Page(
            number,
            height,
            [Region(kind, [Item(*item) for item in items]) for kind, items in regions],
        )
        for number, height, regions in answer
    ]


def _too_much(name: str, limit: str) -> InputError:
    return InputError(
        f"{name}: reading this PDF takes more than {limit}, or it is damaged; "
        "print it to a new PDF, or give the paper's text"
    )


def _main(memory: int) -> None:
    """Read the PDF on stdin and write its pages, or what is wrong with it, to stdout."""
    _limit(memory)
    json.dump(_read(sys.stdin.buffer.read()), sys.stdout)


def _read(data: bytes) -> object:
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
    return [(page.page_num, page.height, _regions(page)) for page in result.pages]


def _regions(page: Any) -> list[tuple[str, list[tuple[object, ...]]]]:
    """Return the page's blocks in reading order, each with the pieces of lines inside it."""
    blocks = [block for block in page.blocks if block.bbox and block.kind not in ("rule", "figure")]
    regions: list[tuple[str, list[tuple[object, ...]]]] = [(block.kind, []) for block in blocks]
    for item in page.text_items:
        place = _place(item, blocks)
        if place is not None:
            right, foot = item.x + item.width, item.y + item.height
            size = item.font_size or item.height
            fields = (item.text, item.x, right, item.y, foot, size, item.font_name or "")
            regions[place][1].append(fields)
    return [region for region in regions if region[1]]


def _place(item: Any, blocks: Sequence[Any]) -> int | None:
    """Return the block that an item lies in; a box may lack the last lines of its block."""
    x, y = item.x + item.width / 2, item.y + item.height / 2
    for place, block in enumerate(blocks):
        box = block.bbox
        if box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height:
            return place
    below = {
        y - block.bbox.y - block.bbox.height: place
        for place, block in enumerate(blocks)
        if item.text in (block.text or "")
    }
    near = [gap for gap in below if 0 < gap < 4 * item.height]
    return below[min(near)] if near else None


def _limit(memory: int) -> None:
    """Take no more memory than that; Windows knows no such limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory, most))


if __name__ == "__main__":
    with contextlib.suppress(MemoryError):
        _main(int(sys.argv[1]))
