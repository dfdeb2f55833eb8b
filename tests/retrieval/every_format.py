"""One small file of each format that is read, with a sentence of the caller's in it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from email.message import EmailMessage

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from tests.retrieval.test_office_formats import (
    OFFICE,
    OPEN,
    SHEET,
    SLIDE,
    archive,
    paragraph,
    relations,
    shape,
    slide,
)

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _pdf(text: str) -> bytes:
    content, style = io.BytesIO(), getSampleStyleSheet()["BodyText"]
    SimpleDocTemplate(content).build([Paragraph(text, style)])
    return content.getvalue()


def _word(text: str) -> bytes:
    body = f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    return archive(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) ", text)


def _excel(text: str) -> bytes:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{said}</t></is></c></row>'
        for n, said in enumerate(_sentences(text), 1)
    )
    return archive(
        {
            "xl/workbook.xml": f'<workbook {SHEET} {OFFICE}><sheets><sheet name="One" r:id="a"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(a="worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>",
        }
    )


def _slides(text: str) -> bytes:
    return archive(
        {
            "ppt/presentation.xml": f"<p:presentation {SLIDE} {OFFICE}><p:sldIdLst>"
            '<p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relations(a="slides/slide1.xml"),
            "ppt/slides/slide1.xml": slide(shape(paragraph(text))),
        }
    )


def _open_document(text: str) -> bytes:
    body = f"<office:body><office:text><text:p>{text}</text:p></office:text></office:body>"
    document = f"<office:document-content {OPEN}>{body}</office:document-content>"
    return archive({"content.xml": document})


def _mail(text: str) -> bytes:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Minutes", "clerk@town.example"
    mail.set_content(text)
    return mail.as_bytes()


def _book(text: str) -> bytes:
    return archive(
        {
            "META-INF/container.xml": '<container><rootfile full-path="book.opf"/></container>',
            "book.opf": '<package><metadata/><manifest><item id="x" href="one.xhtml"/></manifest>'
            '<spine><itemref idref="x"/></spine></package>',
            "one.xhtml": f"<html><body><p>{text}</p></body></html>",
        }
    )


EVERY_FORMAT: Mapping[str, Callable[[str], bytes]] = {
    "pdf": _pdf,
    "docx": _word,
    "html": lambda text: f"<h1>Minutes</h1><p>{text}</p>".encode(),
    "md": lambda text: f"# Minutes\n\n{text}\n".encode(),
    "txt": str.encode,
    "tex": lambda text: f"\\section{{Minutes}}\n{text}\n".encode(),
    "json": lambda text: json.dumps({"minutes": _sentences(text)}).encode(),
    "jsonl": lambda text: "".join(f"{json.dumps(said)}\n" for said in _sentences(text)).encode(),
    "csv": lambda text: "".join(f'Monday,"{said}"\n' for said in _sentences(text)).encode(),
    "xlsx": _excel,
    "pptx": _slides,
    "odt": _open_document,
    "rtf": lambda text: f"{{\\rtf1\\ansi {text}\\par}}".encode(),
    "eml": _mail,
    "epub": _book,
}
"""By the ending of the file."""
