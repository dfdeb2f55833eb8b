"""Write a memo as a document for Word and its like."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from dialectree.report.memo_blocks import Memo, MemoBlock, MemoLine
from dialectree.system.packages import explain_missing_package
from dialectree.text import clean

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_STYLES = {"heading": "Heading 1", "subheading": "Heading 2", "quote": "Quote", "bullets": "List Bullet"}
"""The style of each kind of block; the others are paragraphs."""
_SIZES_PT = {"Normal": 10.5, "Title": 18, "Heading 1": 12, "Heading 2": 10.5}
_ANSWER_PT, _SMALL_PT = 13, 9
_MARGIN_CM, _INDENT_CM = 2.2, 0.7
_NAMES_CM, _VALUES_CM = 2.8, 13.6
"""The widths of the columns of the table at the end."""
_WARNING = "6D4A00"


def write_docx(memo: Memo) -> bytes:
    """Return the memo as a .docx file; raise MissingPackage without python-docx."""
    with explain_missing_package("a memo for Word", "dialectree[memo]"):
        from docx import Document
    document = Document()
    _set_up(document, memo)
    _add_small(document.add_paragraph(), memo.subtitle)
    document.add_paragraph(clean(memo.title), "Title")
    for block in memo.blocks:
        for line in block.lines:
            _add_line(document.add_paragraph(style=_STYLES.get(block.kind)), block, line)
    if memo.notes:
        document.add_heading("Cited sentences", 1)
    for note in memo.notes:
        quote = f"{note.place}: “{note.quote}{'…' * note.cut}” ({note.id})"
        _add_small(document.add_paragraph(), f"[{note.number}] {quote}", hanging=True)
    document.add_heading("How it was made", 1)
    _add_facts(document, memo)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _set_up(document: Document, memo: Memo) -> None:
    """Set margins, sizes and properties. The template's own properties name another author."""
    from docx.shared import Cm, Pt
    from docx.styles.style import ParagraphStyle

    for section in document.sections:
        section.left_margin = section.right_margin = Cm(_MARGIN_CM)
        section.top_margin = section.bottom_margin = Cm(_MARGIN_CM)
    for name, size in _SIZES_PT.items():
        style = document.styles[name]
        assert isinstance(style, ParagraphStyle)
        style.font.size = Pt(size)
        style.paragraph_format.space_after = Pt(4)
    properties = document.core_properties
    properties.title, properties.author, properties.comments = clean(memo.title), "dialectree", ""


def _add_line(paragraph: Paragraph, block: MemoBlock, line: MemoLine) -> None:
    """Write a line into a new paragraph, with the numbers of its notes raised."""
    from docx.shared import Pt, RGBColor

    for span in line.spans:
        run = paragraph.add_run(clean(span.text))
        run.bold = span.strong or block.kind == "warning" or None
        if block.kind == "answer":
            run.font.size = Pt(_ANSWER_PT)
        elif block.kind == "warning":
            run.font.color.rgb = RGBColor.from_string(_WARNING)
    if line.notes:
        run = paragraph.add_run(" " + "".join(f"[{number}]" for number in line.notes))
        run.font.superscript = True


def _add_small(paragraph: Paragraph, text: str, *, hanging: bool = False) -> None:
    """Write a text in small letters, with all lines but the first indented if ``hanging``."""
    from docx.shared import Cm, Pt

    paragraph.add_run(clean(text)).font.size = Pt(_SMALL_PT)
    paragraph.paragraph_format.space_after = Pt(2)
    if hanging:
        paragraph.paragraph_format.left_indent = Cm(_INDENT_CM)
        paragraph.paragraph_format.first_line_indent = Cm(-_INDENT_CM)


def _add_facts(document: Document, memo: Memo) -> None:
    """Add the table that says how the answer was made."""
    from docx.shared import Cm

    table = document.add_table(0, 2)
    table.autofit = False
    for fact in memo.facts:
        for cell, text, width in zip(table.add_row().cells, fact, (_NAMES_CM, _VALUES_CM), strict=True):
            cell.width = Cm(width)
            _add_small(cell.paragraphs[0], text)
