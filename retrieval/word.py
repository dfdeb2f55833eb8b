"""Read Word files: every part with text. Elements are found by name, whatever their namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dialectree.errors import InputError
from dialectree.retrieval.archives import iterate_texts, local_name, parse_xml, read_attribute, unpack_parts
from dialectree.retrieval.blocks import BlockKind
from dialectree.retrieval.builder import Cell, DocumentBuilder, add_brackets, lower_text, raise_text
from dialectree.retrieval.charts import read_chart

_PARTS: tuple[tuple[str, BlockKind], ...] = (
    # in the order of the document; the kind of their paragraphs
    (r"word/document\d*\.xml", "paragraph"),
    (r"word/(?:footnotes|endnotes)\d*\.xml", "note"),
    (r"word/(?:charts/chart|diagrams/data)\d*\.xml", "note"),
    (r"word/(?:header|footer)\d*\.xml", "note"),
    (r"word/comments\d*\.xml", "note"),
)
_TEMPLATES = "word/glossary/"
"""Building blocks for authors to insert, outside the document's text."""
_BREAKS = {"tab": " ", "br": "\n", "cr": "\n", "ptab": " ", "noBreakHyphen": "-"}
_PROPERTIES = ("rPr", "pPr", "tblPr", "trPr", "tcPr", "sectPr", "sdtPr", "instrText", "delInstrText")
"""Elements without visible text."""
_MOVED = ("moveFrom", "del")
_OFF = ("0", "false", "off", "none")


def read_word(data: bytes, builder: DocumentBuilder) -> None:
    """Add a Word file to ``builder``. Raises InputError for other files."""
    texts = unpack_parts(data, format="Word")
    if not any(re.fullmatch(_PARTS[0][0], name) for name in texts):
        raise InputError("damaged, or another kind of file (it has no Word document)")
    _WordFile(texts, builder).read()


class _WordFile:
    """The parts of one file, and its styles."""

    def __init__(self, texts: dict[str, bytes], builder: DocumentBuilder) -> None:
        self._texts, self._builder = texts, builder
        self._styles = _read_styles(texts.get("word/styles.xml"))

    def read(self) -> None:
        read_parts: set[str] = set()
        for pattern, kind in _PARTS:
            for name in sorted(filter(re.compile(pattern).fullmatch, self._texts), key=_number_in):
                read_parts.add(name)
                root = _parse_part(self._texts[name])
                if local_name(root) == "chartSpace":
                    read_chart(root, self._builder)
                    continue
                for text in _texts_of(root):
                    self._builder.expect(text)
                self._walk(root, kind)
        for name in sorted(self._texts.keys() - read_parts):
            if name.startswith("word/"):
                for text in _texts_of(_parse_part(self._texts[name])):
                    self._builder.expect(text)
                    if name.startswith(_TEMPLATES):
                        self._builder.leave_out(text, "templates")

    def _walk(self, element: Any, kind: BlockKind) -> None:
        for child in element:
            tag = local_name(child)
            if tag == "p":
                self._add_paragraph(child, kind)
            elif tag == "tbl":
                self._add_table(child)
            elif tag not in _PROPERTIES:
                self._walk(child, kind)

    def _add_paragraph(self, paragraph: Any, kind: BlockKind) -> None:
        style = _value(paragraph.find("{*}pPr/{*}pStyle"))
        properties = self._style_of(paragraph)
        outlined = properties.outlined or paragraph.find("{*}pPr/{*}outlineLvl") is not None
        if outlined or re.match(r"(?i)heading|title", properties.name or style):
            kind = "heading"
        elif paragraph.find("{*}pPr/{*}numPr") is not None or properties.listed:
            kind = "item" if kind == "paragraph" else kind
        self._builder.add(self._text(paragraph, properties), kind)
        for box in paragraph.iter("{*}txbxContent"):
            if next(box.iterancestors("{*}p"), None) is paragraph:
                self._walk(box, "paragraph" if kind == "heading" else kind)

    def _add_table(self, table: Any) -> None:
        rows: list[list[Cell]] = []
        above: list[str] = []
        heads = 0
        for row in _children(table, "tr"):
            cells = [Cell("")] * _span(row.find("{*}trPr/{*}gridBefore"))
            for cell in _children(row, "tc"):
                text = " ".join(self._cell_text(cell).split())
                span = max(1, _span(cell.find("{*}tcPr/{*}gridSpan")))
                merge = cell.find("{*}tcPr/{*}vMerge")
                continued = merge is not None and _value(merge) != "restart"
                for number in range(span):
                    if continued and not text:
                        at = len(cells)
                        cells.append(Cell(above[at] if at < len(above) else "", repeated=True))
                    else:
                        cells.append(Cell(text, repeated=number > 0))
            above = [cell.text for cell in cells]
            rows.append(cells)
            if heads == len(rows) - 1 and _is_on(row.find("{*}trPr/{*}tblHeader")):
                heads += 1
        if not heads and len(rows) > 1 and self._is_bold(table):
            heads = 1
        self._builder.add_table(rows, heads or None)

    def _is_bold(self, table: Any) -> bool:
        """Return whether the first row is bold and the others are not."""

        def bold(row: Any) -> bool:
            runs = [run for run in row.iter("{*}r") if "".join(_texts_of(run)).strip()]
            return bool(runs) and all(_is_on(run.find("{*}rPr/{*}b")) for run in runs)

        first, *later_rows = _children(table, "tr")
        return bold(first) and not any(map(bold, later_rows))

    def _cell_text(self, cell: Any) -> str:
        return " ".join(self._text(paragraph, self._style_of(paragraph)) for paragraph in cell.iter("{*}p"))

    def _style_of(self, paragraph: Any) -> _Style:
        return self._styles.get(_value(paragraph.find("{*}pPr/{*}pStyle")), _Style())

    def _text(self, element: Any, style: _Style) -> str:
        """Return the words of a paragraph or a run, without text boxes: these are added below."""
        pieces: list[str] = []
        for child in element:
            tag = local_name(child)
            if tag == "t":
                pieces.append(child.text or "")
            elif tag in _BREAKS:
                pieces.append(_BREAKS[tag])
            elif tag == "sym":
                pieces.append(_symbol(read_attribute(child, "char")))
            elif tag in _MOVED:
                self._builder.leave_out("".join(_texts_of(child)), "deleted")
            elif tag == "r":
                pieces.append(self._run(child, style))
            elif tag in ("sup", "sub"):
                shift = raise_text if tag == "sup" else lower_text
                pieces.append(shift(self._text(child, style)))
            elif tag == "f":
                parts = (self._text(child.find(f"{{*}}{part}"), style) for part in ("num", "den"))
                pieces.append("/".join(map(add_brackets, parts)))
            elif tag not in _PROPERTIES and tag != "txbxContent":
                pieces.append(self._text(child, style))
        return "".join(pieces)

    def _run(self, run: Any, paragraph: _Style) -> str:
        text = self._text(run, paragraph)
        properties = run.find("{*}rPr")
        style = self._styles.get(_value(run.find("{*}rPr/{*}rStyle")), _Style())

        def is_set(name: str, *inherited: bool) -> bool:
            switch = properties.find(f"{{*}}{name}") if properties is not None else None
            return any(inherited) if switch is None else _is_on(switch)

        if is_set("vanish", style.hidden, paragraph.hidden):
            self._builder.leave_out(text, "hidden")
            return ""
        if is_set("strike", style.struck, paragraph.struck) or is_set("dstrike"):
            self._builder.leave_out(text, "struck")
            return ""
        place = run.find("{*}rPr/{*}vertAlign")
        where = _value(place) if place is not None else style.place or paragraph.place
        shift = _attribute(properties, "baseline") if properties is not None else 0
        if where == "superscript" or shift > 0:
            return raise_text(text)
        return lower_text(text) if where == "subscript" or shift < 0 else text


class _Style:
    """The formatting that a style gives to text."""

    name = ""
    hidden = struck = outlined = listed = False
    place = ""
    """``superscript``, ``subscript`` or empty."""

    def __init__(self, element: Any = None, parent: _Style | None = None) -> None:
        if parent is not None:
            self.hidden, self.struck, self.place = parent.hidden, parent.struck, parent.place
            self.outlined, self.listed = parent.outlined, parent.listed
        if element is not None:
            self.name = _value(element.find("{*}name"))
            self.hidden = self._is_set(element, "vanish", self.hidden)
            self.struck = self._is_set(element, "strike", self.struck)
            self.place = _value(element.find("{*}rPr/{*}vertAlign")) or self.place
            self.outlined |= element.find("{*}pPr/{*}outlineLvl") is not None
            self.listed |= element.find("{*}pPr/{*}numPr") is not None

    @staticmethod
    def _is_set(element: Any, name: str, inherited: bool) -> bool:
        switch = element.find(f"{{*}}rPr/{{*}}{name}")
        return inherited if switch is None else _is_on(switch)


def _read_styles(data: bytes | None) -> dict[str, _Style]:
    """Return the styles by id, each with the formatting that it inherits."""
    if data is None:
        return {}
    elements = {read_attribute(style, "styleId"): style for style in _parse_part(data).iter("{*}style")}
    styles: dict[str, _Style] = {}

    def style_of(id: str, seen_ids: frozenset[str]) -> _Style | None:
        if id not in elements or id in seen_ids:
            return None
        if id not in styles:
            parent = style_of(_value(elements[id].find("{*}basedOn")), seen_ids | {id})
            styles[id] = _Style(elements[id], parent)
        return styles[id]

    for id in elements:
        style_of(id, frozenset())
    return styles


def _parse_part(data: bytes) -> Any:
    """Return the tree of a part, without duplicate contents for older programs."""
    root = parse_xml(data)
    for twin in [*root.iter("{*}Fallback")]:
        if (choice := twin.getprevious()) is not None and any(_texts_of(choice)):
            twin.getparent().remove(twin)
    return root


def _texts_of(element: Any) -> Iterator[str]:
    """Yield the visible text of an element, and deleted text."""
    return iterate_texts(element, "t", "delText")


def _children(element: Any, tag: str) -> Iterator[Any]:
    """Yield the children called ``tag``, including those inside content controls and insertions."""
    for child in element:
        if local_name(child) == tag:
            yield child
        elif local_name(child) in ("sdt", "sdtContent", "ins", "customXml", "smartTag"):
            yield from _children(child, tag)


def _value(element: Any) -> str:
    return read_attribute(element, "val")


def _attribute(element: Any, name: str) -> int:
    text = read_attribute(element, name)
    return int(text) if re.fullmatch(r"-?\d{1,6}", text) else 0


def _span(element: Any) -> int:
    return min(1_000, _attribute(element, "val"))


def _is_on(element: Any) -> bool:
    return element is not None and _value(element) not in _OFF


def _symbol(code: str) -> str:
    """Return the Unicode character for a code in a symbol font, or ""."""
    number = int(code, 16) if re.fullmatch("[0-9A-Fa-f]{1,6}", code) else 0
    return chr(number) if 0x20 < number < 0xE000 else ""


def _number_in(name: str) -> int:
    return int((re.findall(r"\d+", name) or ["0"])[-1])
