"""Read slides of PowerPoint: titles, paragraphs, tables, charts and speaker's notes."""

from __future__ import annotations

import re
from typing import Any

from dialectree.errors import InputError
from dialectree.retrieval.archives import (
    find_targets,
    iterate_texts,
    local_name,
    parse_xml,
    read_attribute,
    unpack_parts,
)
from dialectree.retrieval.blocks import BlockKind, timely
from dialectree.retrieval.builder import Cell, DocumentBuilder, lower_text, raise_text
from dialectree.retrieval.charts import read_chart

_SHOW = "ppt/presentation.xml"
_DRAWN = re.compile("/charts?/chart|/diagrams/data")
_TITLES = ("title", "ctrTitle")
_FURNITURE = {"sldNum": "page numbers", "dt": "dates of slides", "ftr": "feet of slides"}
"""Placeholders whose text repeats on every slide."""


def read_slides(data: bytes, builder: DocumentBuilder) -> None:
    """Add a PowerPoint file to ``builder``; raise InputError for other files."""
    parts = unpack_parts(data, (".xml", ".rels"), format="PowerPoint")
    if _SHOW not in parts:
        raise InputError("damaged, or another kind of file (it has no slides)")
    targets = find_targets(parts, _SHOW)
    slides = parse_xml(parts[_SHOW]).iter("{*}sldId")
    # An id of a slide has two attributes called "id"; the one with a namespace names its part.
    ids = (next(v for k, v in slide.attrib.items() if k.endswith("}id")) for slide in slides)
    for number, part in enumerate(timely(targets[id] for id in ids), 1):
        slide = parse_xml(parts[part])
        related_parts = [name for name in find_targets(parts, part).values() if name in parts]
        notes = [parse_xml(parts[name]) for name in related_parts if "/notesSlide" in name]
        drawings = [
            parse_xml(parts[name]) for name in related_parts if re.search("/chart|/diagrams/data", name)
        ]
        if read_attribute(slide, "show") == "0":
            for tree in (slide, *notes, *drawings):
                text = " ".join(iterate_texts(tree, "t", "v"))
                builder.expect(text)
                builder.leave_out(text, "hidden slides", number)
            continue
        reader = _Slide(builder, number)
        reader.read(slide, "paragraph")
        for tree in drawings:
            if local_name(tree) == "chartSpace":
                read_chart(tree, builder, number)
            else:
                reader.read(tree, "note")
        for tree in notes:
            reader.read(tree, "note")
        for name in related_parts:
            if "/comments/" in name:
                reader.read_comments(parse_xml(parts[name]))


class _Slide:
    """Reads a slide, or the notes below it."""

    def __init__(self, builder: DocumentBuilder, number: int) -> None:
        self._builder, self._number = builder, number

    def add(self, text: str, kind: BlockKind) -> None:
        """Add a block with the number of the slide."""
        block = self._builder.make(text, kind, self._number)
        if block is not None:
            self._builder.append(block)

    def read(self, tree: Any, kind: BlockKind) -> None:
        """Add the contents of a tree; paragraphs other than titles are of ``kind``."""
        self._builder.expect(" ".join(iterate_texts(tree, "t")))
        self._walk(tree, kind)

    def read_comments(self, tree: Any) -> None:
        """Add people's comments on the slide."""
        for comment in tree:
            text = " ".join(iterate_texts(comment, "t", "text"))
            self._builder.expect(text)
            self.add(text, "note")

    def _walk(self, element: Any, kind: BlockKind) -> None:
        for child in element:
            name = local_name(child)
            if name == "sp":
                self._read_shape(child, kind)
            elif name == "tbl":
                self._add_table(child)
            elif name == "p":
                self.add(self._text(child), kind)
            elif name:
                self._walk(child, kind)

    def _read_shape(self, shape: Any, kind: BlockKind) -> None:
        place = read_attribute(shape.find("{*}nvSpPr/{*}nvPr/{*}ph"), "type")
        if place in _FURNITURE:
            text = " ".join(iterate_texts(shape, "t"))
            self._builder.leave_out(text, _FURNITURE[place], self._number)
            return
        shape_kind: BlockKind = "heading" if place in _TITLES and kind == "paragraph" else kind
        if shape_kind == "heading" and self._builder.title is None:
            title = " ".join(" ".join(iterate_texts(shape, "t")).split())
            self._builder.title = title or None
        self._walk(shape, shape_kind)

    def _add_table(self, table: Any) -> None:
        rows: list[list[Cell]] = []
        for row in table.iter("{*}tr"):
            cells: list[Cell] = []
            for at, cell in enumerate(row.iterchildren("{*}tc")):
                text = " ".join(map(self._text, cell.iter("{*}p"))).strip()
                if read_attribute(cell, "hMerge") == "1" and cells:
                    cells.append(Cell(cells[-1].text, repeated=True))
                elif read_attribute(cell, "vMerge") == "1" and rows and at < len(rows[-1]):
                    cells.append(Cell(rows[-1][at].text, repeated=True))
                else:
                    cells.append(Cell(text))
            rows.append(cells)
        first_row = read_attribute(table.find("{*}tblPr"), "firstRow") == "1"
        for block in self._builder.make_rows(rows, int(first_row) or None, self._number):
            self._builder.append(block)

    def _text(self, paragraph: Any) -> str:
        pieces: list[str] = []
        for run in paragraph:
            if local_name(run) == "br":
                pieces.append(" ")
            text = "".join(iterate_texts(run, "t"))
            properties = run.find("{*}rPr")
            if read_attribute(properties, "strike") in ("sngStrike", "dblStrike"):
                self._builder.leave_out(text, "struck", self._number)
                continue
            shift = read_attribute(properties, "baseline") or "0"
            if shift != "0":
                text = lower_text(text) if shift.startswith("-") else raise_text(text)
            pieces.append(text)
        return "".join(pieces)
