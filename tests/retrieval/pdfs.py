"""Small PDFs, drawn line by line, as a printer of papers would set them."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
LEADING = 12.0
SIZE = 10.0

Furniture = Callable[[Any, int], None]
"""Draws what every page shows besides the text: (canvas, page)."""


def wrapped(text: str, width: float, hyphens: dict[str, str] | None = None) -> list[str]:
    """Lines no wider than ``width``; a word in ``hyphens`` is cut there at a line's end."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if stringWidth(longer, "Times-Roman", SIZE) <= width:
            line = longer
            continue
        head = (hyphens or {}).get(word)
        if head and stringWidth(f"{line} {head}-", "Times-Roman", SIZE) <= width:
            lines.append(f"{line} {head}-")
            line = word[len(head) :].lstrip("-")
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def paper(
    paragraphs: Sequence[str],
    *,
    title: str = "A Study of Paired Debates",
    abstract: str = "We study debates in pairs. They help readers to see both sides.",
    columns: int = 1,
    furniture: Furniture | None = None,
    hyphens: dict[str, str] | None = None,
    row_by_row: bool = False,
    encrypt: str | None = None,
    metadata: str = "",
) -> bytes:
    """A paper with a large title, an abstract and headed sections ("# Introduction")."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, encrypt=encrypt, invariant=True)
    canvas.setTitle(metadata)
    canvas.setFont("Times-Bold", 18)
    canvas.drawCentredString(WIDTH / 2, HEIGHT - 90, title)
    canvas.setFont("Times-Roman", SIZE)
    canvas.drawCentredString(WIDTH / 2, HEIGHT - 110, "Ann Author and Bob Writer")
    gap = 24.0
    width = (WIDTH - 120 - gap * (columns - 1)) / columns
    lines = _lines(["# Abstract", abstract, *paragraphs], width, hyphens)
    page, top = 1, HEIGHT - 150
    while lines:
        held = int((top - 70) / LEADING)
        drawn: list[tuple[float, float, str, bool]] = []
        for column in range(columns):
            for row, (text, bold) in enumerate(lines[:held]):
                indent = 60 + column * (width + gap)
                drawn.append((indent, top - row * LEADING, text, bold))
            lines = lines[held:]
        if row_by_row:
            drawn.sort(key=lambda item: (-item[1], item[0]))
        for x, y, text, bold in drawn:
            canvas.setFont("Times-Bold" if bold else "Times-Roman", 12 if bold else SIZE)
            canvas.drawString(x, y, text)
        if furniture:
            furniture(canvas, page)
        canvas.showPage()
        page, top = page + 1, HEIGHT - 80
    canvas.save()
    return stream.getvalue()


def _lines(paragraphs: Iterable[str], width: float, hyphens: dict[str, str] | None) -> list[tuple[str, bool]]:
    lines: list[tuple[str, bool]] = []
    for paragraph in paragraphs:
        if paragraph.startswith("# "):
            lines += [("", False), (paragraph[2:], True), ("", False)]
        else:
            lines += [(line, False) for line in wrapped(paragraph, width, hyphens)]
            lines.append(("", False))
    return lines


def drawn(draw: Callable[[Any], None], pages: int = 1) -> bytes:
    """Pages on which ``draw`` draws."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, invariant=True)
    for _ in range(pages):
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def bomb() -> bytes:
    """A page of a million rectangles in a few kB: they take gigabytes once they are unpacked."""
    packed = zlib.compress(b"0 0 1 1 re f " * 1_000_000, 9)
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>",
            b"<< /Length %d /Filter /FlateDecode >> stream\n%s\nendstream" % (len(packed), packed),
        ]
    )


def _file(objects: Sequence[bytes]) -> bytes:
    body = b"\n".join(b"%d 0 obj %s endobj" % numbered for numbered in enumerate(objects, 1))
    size = len(objects) + 1
    return b"%%PDF-1.4\n%s\ntrailer << /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (body, size)


def scanned(pages: int = 2) -> bytes:
    """Pages that are one picture each."""
    from PIL import Image

    picture = ImageReader(Image.new("L", (100, 140), 200))
    return drawn(lambda canvas: canvas.drawImage(picture, 0, 0, WIDTH, HEIGHT), pages)


def heads_and_numbers(canvas: Any, page: int) -> None:
    """A running head on every page, another on every other, and page numbers."""
    canvas.setFont("Times-Italic", 9)
    canvas.drawString(60, HEIGHT - 40, f"Paired Debates, Volume {page}")
    canvas.drawRightString(WIDTH - 60, HEIGHT - 40, "Author et al.")
    canvas.drawCentredString(WIDTH / 2, 40, str(page))


def line_numbers(canvas: Any, page: int) -> None:
    """Three figures beside every line, as in a copy for review."""
    canvas.setFont("Helvetica", 7)
    top = HEIGHT - 150 if page == 1 else HEIGHT - 80
    for row in range(int((top - 70) / LEADING)):
        canvas.drawRightString(48, top - row * LEADING, f"{row + (page - 1) * 60:03d}")


def sentences(count: int, start: int = 0) -> list[str]:
    """Sentences that differ from one another and are longer than a line."""
    return [
        f"Sentence number {n} of this paper says that the pair {n * 7} was debated over and over "
        f"by two models until the moderator of round {n * 3} saw that nothing new was said."
        for n in range(start, start + count)
    ]
