"""Read OpenDocument: texts, sheets and slides of LibreOffice, in one XML format."""

from __future__ import annotations

from typing import Any, NamedTuple

from dialectree.errors import InputError
from dialectree.retrieval.archives import local_name, parse_xml, read_attribute, unpack_parts
from dialectree.retrieval.blocks import BlockKind
from dialectree.retrieval.builder import Cell, DocumentBuilder, lower_text, raise_text

_LEFT_OUT = {
    "tracked-changes": "deleted",
    "forms": "forms",
    "table-of-content-source": "templates",
    "alphabetical-index-source": "templates",
    "illustration-index-source": "templates",
    "table-index-source": "templates",
    "bibliography-source": "templates",
}
"""Elements whose text is left out, with the reason."""
_MARGINS = ("{*}header", "{*}footer", "{*}header-left", "{*}footer-left", "{*}header-first")
_WIDEST = 1_000
"""Repetitions from which a cell counts once: sheets fill the end of a row with empty cells."""


def read_open_document(data: bytes, builder: DocumentBuilder) -> None:
    """Add an OpenDocument file to ``builder``; raise InputError for other files."""
    parts = unpack_parts(data, format="OpenDocument")
    if "content.xml" not in parts:
        raise InputError("damaged, or another kind of file (it has no content)")
    _Reader(builder, [parse_xml(parts[name]) for name in ("styles.xml", "content.xml") if name in parts])


class _Style(NamedTuple):
    """The formatting that a style gives to text."""

    raised: int = 0
    """1 for superscripts, -1 for subscripts, 0 for other text."""
    struck: bool = False
    hidden: bool = False


class _Reader:
    """Walks over the content of a document, and adds it to a builder."""

    def __init__(self, builder: DocumentBuilder, trees: list[Any]) -> None:
        self._builder = builder
        self._styles = {
            read_attribute(style, "name"): _read_style(style.find("{*}text-properties"))
            for tree in trees
            for style in tree.iter("{*}style")
        }
        self._notes: list[str] = []
        """Notes of the current paragraph; they are added below it."""
        self._page: int | None = None
        for part in (part for tree in trees[:-1] for part in tree.iter(*_MARGINS)):
            builder.expect(" ".join(part.itertext()))
            self._walk(part, "note")
        body = trees[-1].find("{*}body")
        if body is not None:
            builder.expect(" ".join(body.itertext()))
            self._walk(body, "paragraph")

    def _walk(self, element: Any, kind: BlockKind) -> None:
        for child in element:
            name = local_name(child)
            if name in _LEFT_OUT:
                self._builder.leave_out(" ".join(child.itertext()), _LEFT_OUT[name])
            elif name in ("p", "h"):
                self._add(self._text(child), "heading" if name == "h" else kind)
                for note in self._notes:
                    self._add(note, "note")
                self._notes.clear()
            elif name == "table":
                self._add_table(child)
            elif name == "page":
                self._page = (self._page or 0) + 1
                self._walk(child, kind)
            elif name == "list-item":
                self._walk(child, "item")
            elif name in ("notes", "annotation"):
                self._walk(child, "note")
            elif name:
                self._walk(child, kind)

    def _add(self, text: str, kind: BlockKind) -> None:
        block = self._builder.make(text, kind, self._page)
        if block is not None:
            self._builder.append(block)
            if kind == "heading" and self._builder.title is None:
                self._builder.title = block.text

    def _add_table(self, table: Any) -> None:
        rows: list[list[Cell]] = []
        name = read_attribute(table, "name")
        if table.getparent() is not None and local_name(table.getparent()) == "spreadsheet":
            self._builder.expect(name)
            self._add(name, "heading")
        for row in table.iter("{*}table-row"):
            cells: list[Cell] = []
            for at, cell in enumerate(row):
                if local_name(cell) == "covered-table-cell":
                    above = rows[-1][at].text if rows and at < len(rows[-1]) else ""
                    cells.append(Cell(cells[-1].text if cells else above, repeated=True))
                elif local_name(cell) == "table-cell":
                    text = " ".join(map(self._text, cell.iter("{*}p")))
                    times = int(read_attribute(cell, "number-columns-repeated") or 1)
                    cells += [Cell(text)] * (times if times < _WIDEST else 1)
                    for _ in range(times - 1 if text and times < _WIDEST else 0):
                        self._builder.expect(text)
            while cells and not cells[-1].text:
                cells.pop()
            if cells:
                rows.append(cells)
        head = table.find("{*}table-header-rows")
        heads = len(head.findall("{*}table-row")) if head is not None else None
        for block in self._builder.make_rows(rows, heads, self._page):
            self._builder.append(block)

    def _text(self, element: Any) -> str:
        """Return the words of a paragraph, without its notes: these are added after the paragraph."""
        pieces = [element.text or ""]
        for child in element:
            name = local_name(child)
            if name in ("s", "tab", "line-break"):
                pieces.append(" ")
            elif name == "note":
                citation = child.find("{*}note-citation")
                body = child.find("{*}note-body")
                self._builder.leave_out(
                    "" if citation is None else "".join(citation.itertext()), "marks of notes"
                )
                self._notes.append("" if body is None else self._text(body))
            elif name == "annotation":
                self._notes.append(" ".join(child.itertext()))
            elif name in _LEFT_OUT:
                self._builder.leave_out(" ".join(child.itertext()), _LEFT_OUT[name])
            elif name == "span":
                pieces.append(self._apply_style(self._text(child), read_attribute(child, "style-name")))
            elif name in ("p", "h", "list-item"):
                pieces.append(f" {self._text(child)} ")
            elif name:
                pieces.append(self._text(child))
            pieces.append(child.tail or "")
        return "".join(pieces)

    def _apply_style(self, text: str, name: str) -> str:
        style = self._styles.get(name, _Style())
        if style.struck or style.hidden:
            self._builder.leave_out(text, "struck" if style.struck else "hidden")
            return ""
        if style.raised:
            return raise_text(text) if style.raised > 0 else lower_text(text)
        return text


def _read_style(properties: Any) -> _Style:
    place = read_attribute(properties, "text-position")
    lowered = place.startswith(("sub", "-"))
    raised = 1 if place.startswith("super") or (place[:1].isdigit() and place[:1] != "0") else 0
    struck = read_attribute(properties, "text-line-through-style") not in ("", "none")
    hidden = read_attribute(properties, "display") == "none"
    return _Style(-1 if lowered else raised, struck, hidden)
