"""Sheets, slides, OpenDocument, mails, books and tables of values say what they show."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.errors import InputError
from dialectree.retrieval.blocks import Reading
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.formats import FORMATS, File, find_format
from dialectree.retrieval.papers import read as read_paper
from dialectree.retrieval.sources import read_sources

OFFICE = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
OPEN = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "draw")
)


def archive(parts: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return stream.getvalue()


def relations(**targets: str) -> str:
    rows = (f'<Relationship Id="{id}" Target="{target}"/>' for id, target in targets.items())
    return f"<Relationships>{''.join(rows)}</Relationships>"


def read(name: str, data: bytes) -> Reading:
    builder = DocumentBuilder()
    FORMATS[find_format(name, data).name].read(File(name, data), builder)
    return builder.finish()


def shown(reading: Reading) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in reading.blocks]


def left_out(reading: Reading) -> list[tuple[str, str]]:
    return [(part.reason, part.text) for part in reading.left_out]


ROWS = """
<row r="1"><c r="A1" t="s"><v>0</v></c></row>
<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" t="inlineStr"><is><t>Share</t></is></c>
<c r="C3" t="str"><v>Since</v></c><c r="D3" t="str"><v>Cost</v></c></row>
<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" s="1"><v>0.125</v></c><c r="C4" s="2">
<v>44380</v></c><c r="D4" s="3"><v>1200.5</v></c><c r="E4"><f>B4*2</f></c></row>
<row r="5"><c r="B5" s="1"><v>0.30000000000000004</v></c><c r="C5" s="2"><v>44381.5</v></c>
<c r="D5" s="4"><v>-3</v></c></row>
<row r="6" hidden="1"><c r="A6" t="str"><v>Hidden</v></c></row>
"""
BOOK = {
    "xl/workbook.xml": f'<workbook {SHEET} {OFFICE}><sheets><sheet name="Care" r:id="a"/>'
    '<sheet name="Old" state="hidden" r:id="b"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": relations(
        a="worksheets/sheet1.xml", b="/xl/worksheets/sheet2.xml", c="sharedStrings.xml", d="styles.xml"
    ),
    "xl/sharedStrings.xml": f"<sst {SHEET}><si><t>Hospitals of Belmark</t></si>"
    "<si><t>Country</t></si><si><r><t>Bel</t></r><r><t>mark</t></r><rPh><t>spoken</t></rPh></si></sst>",
    "xl/styles.xml": f'<styleSheet {SHEET}><numFmts><numFmt numFmtId="164" formatCode="'
    '&quot;$&quot;#,##0.00"/><numFmt numFmtId="165" formatCode="0&quot; kg&quot;"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="164"/>'
    '<xf numFmtId="165"/></cellXfs></styleSheet>',
    "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{ROWS}</sheetData><mergeCells>"
    '<mergeCell ref="A4:A5"/></mergeCells></worksheet>',
    "xl/worksheets/sheet2.xml": f'<worksheet {SHEET}><sheetData><row r="1"><c r="A1" t="str">'
    "<v>Secret</v></c></row></sheetData></worksheet>",
    "xl/worksheets/_rels/sheet1.xml.rels": relations(a="../comments1.xml"),
    "xl/comments1.xml": f"<comments {SHEET}><comment><text><t>As counted.</t></text></comment></comments>",
}


def test_a_sheet_shows_its_figures_as_excel_does() -> None:
    reading = read("a.xlsx", archive(BOOK))
    assert shown(reading) == [
        ("heading", "Care"),
        ("row", "Hospitals of Belmark"),
        ("names", "Country | Share | Since | Cost"),
        ("row", "Country: Belmark; Share: 12.5 %; Since: 2021-07-03; Cost: $ 1200.5"),
        ("row", "Country: Belmark; Share: 30 %; Since: 2021-07-04 12:00:00; Cost: -3 kg"),
        ("note", "As counted."),
    ]
    assert left_out(reading) == [
        ("formulas without a value", "=B4*2"),
        ("hidden rows", "Hidden"),
        ("hidden sheets", "Secret"),
    ]
    assert not reading.notices


def paragraph(text: str, more: str = "") -> str:
    return f"<a:p><a:r><a:rPr {more}/><a:t>{text}</a:t></a:r></a:p>"


def shape(text: str, place: str = "") -> str:
    place = f'<p:ph type="{place}"/>' if place else ""
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def slide(*shapes: str, more: str = "") -> str:
    return f"<p:sld {SLIDE} {more}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


TABLE = (
    '<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr>'
    "<a:tr><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr></a:tbl></p:graphicFrame>"
).format(*map(paragraph, ("Country", "Hospitals", "Belmark", "12")))
SHOW = {
    "ppt/presentation.xml": f"<p:presentation {SLIDE} {OFFICE}><p:sldIdLst>"
    '<p:sldId id="256" r:id="b"/>'
    '<p:sldId id="257" r:id="a"/><p:sldId id="258" r:id="c"/></p:sldIdLst></p:presentation>',
    "ppt/_rels/presentation.xml.rels": relations(
        a="slides/slide1.xml", b="slides/slide2.xml", c="slides/slide3.xml"
    ),
    "ppt/slides/slide2.xml": slide(
        shape(paragraph("Care in Belmark"), "ctrTitle"),
        shape(
            "<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>5</a:t></a:r>"
            "<a:r><a:t> cells</a:t></a:r></a:p>" + paragraph("gone", 'strike="sngStrike"')
        ),
        shape(paragraph("7"), "sldNum"),
    ),
    "ppt/slides/slide1.xml": slide(TABLE),
    "ppt/slides/_rels/slide1.xml.rels": relations(a="../notesSlides/notesSlide1.xml"),
    "ppt/notesSlides/notesSlide1.xml": slide(shape(paragraph("Say it slowly."))),
    "ppt/slides/slide3.xml": slide(shape(paragraph("Not shown.")), more='show="0"'),
}


def test_what_people_wrote_beside_a_slide_is_a_note() -> None:
    comments = f"<p:cmLst {SLIDE}><p:cm><p:text>Is that so?</p:text></p:cm></p:cmLst>"
    parts = {
        **SHOW,
        "ppt/comments/comment1.xml": comments,
        "ppt/slides/_rels/slide1.xml.rels": relations(a="../comments/comment1.xml"),
    }
    assert ("note", "Is that so?") in shown(read("a.pptx", archive(parts)))


def test_slides_come_in_the_order_in_which_they_are_shown() -> None:
    reading = read("a.pptx", archive(SHOW))
    assert reading.title == "Care in Belmark"
    assert [(block.page, block.kind, block.text) for block in reading.blocks] == [
        (1, "heading", "Care in Belmark"),
        (1, "paragraph", "10^5 cells"),
        (2, "names", "Country | Hospitals"),
        (2, "row", "Country: Belmark; Hospitals: 12"),
        (2, "note", "Say it slowly."),
    ]
    assert left_out(reading) == [("struck", "gone"), ("page numbers", "7"), ("hidden slides", "Not shown.")]
    assert not reading.notices


def series(name: str, *values: float) -> str:
    def points(texts: tuple[object, ...]) -> str:
        return "".join(f'<c:pt idx="{at}"><c:v>{text}</c:v></c:pt>' for at, text in enumerate(texts))

    return (
        f"<c:ser><c:tx>{points((name,))}</c:tx><c:cat>{points(('2020', '2021'))}</c:cat>"
        f"<c:val><c:formatCode>0%</c:formatCode>{points(values)}</c:val></c:ser>"
    )


CHART = (
    '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:title><a:p><a:r><a:t>Share of beds</a:t></a:r></a:p>'
    f"</c:title>{series('Belmark', 0.125, 0.5)}{series('Lund', 0.25, 1)}</c:chartSpace>"
)
CHARTED = {
    "a.pptx": {
        **SHOW,
        "ppt/charts/chart1.xml": CHART,
        "ppt/slides/_rels/slide1.xml.rels": relations(a="../charts/chart1.xml"),
    },
    "a.xlsx": {
        **BOOK,
        "xl/charts/chart1.xml": CHART,
        "xl/drawings/drawing1.xml": "<x/>",
        "xl/drawings/_rels/drawing1.xml.rels": relations(a="../charts/chart1.xml"),
        "xl/worksheets/_rels/sheet1.xml.rels": relations(a="../drawings/drawing1.xml"),
    },
    "a.docx": {"word/document.xml": "<x/>", "word/charts/chart1.xml": CHART},
}


@pytest.mark.parametrize("name", CHARTED)
def test_a_chart_is_a_table_with_the_names_of_its_series(name: str) -> None:
    reading = read(name, archive(CHARTED[name]))
    at = [block.text for block in reading.blocks].index("Share of beds")
    assert shown(reading)[at : at + 4] == [
        ("note", "Share of beds"),
        ("names", "– | Belmark | Lund"),
        ("row", "2020; Belmark: 12.5 %; Lund: 25 %"),
        ("row", "2021; Belmark: 50 %; Lund: 100 %"),
    ]
    assert not reading.notices


CONTENT = f"""<office:document-content {OPEN}><office:automatic-styles><style:style style:name="up">
<style:text-properties style:text-position="super 58%"/></style:style></office:automatic-styles>
<office:body><office:text><text:h>Care</text:h><text:p>About 10<text:span
text:style-name="up">5</text:span> cells.<text:note><text:note-citation>1</text:note-citation>
<text:note-body><text:p>As counted.</text:p></text:note-body></text:note></text:p>
<text:list><text:list-item><text:p>One.</text:p></text:list-item></text:list>
<text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes><table:table>
<table:table-header-rows><table:table-row><table:table-cell><text:p>Country</text:p></table:table-cell>
<table:table-cell><text:p>Beds</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Belmark</text:p>
</table:table-cell><table:table-cell><text:p>40</text:p></table:table-cell></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><text:p>50</text:p>
</table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"""


def test_open_documents_keep_their_tables_notes_and_raised_figures() -> None:
    reading = read("a.odt", archive({"content.xml": CONTENT}))
    assert shown(reading) == [
        ("heading", "Care"),
        ("paragraph", "About 10^5 cells."),
        ("note", "As counted."),
        ("item", "One."),
        ("names", "Country | Beds"),
        ("row", "Country: Belmark; Beds: 40"),
        ("row", "Country: Belmark; Beds: 50"),
    ]
    assert left_out(reading) == [("marks of notes", "1"), ("deleted", "Deleted.")]
    assert not reading.notices


def test_heads_and_feet_of_open_documents_are_notes() -> None:
    master = "<style:header><text:p>Draft of May</text:p></style:header>"
    styles = f"<x {OPEN}><style:master-page>{master}</style:master-page></x>"
    reading = read("a.odt", archive({"styles.xml": styles, "content.xml": CONTENT}))
    assert shown(reading)[0] == ("note", "Draft of May")
    assert not reading.notices


def test_only_a_book_whose_chapters_are_encrypted_is_locked() -> None:
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="book.opf"/></container>',
        "book.opf": '<package><metadata/><manifest><item id="x" href="a%20b.xhtml"/></manifest>'
        '<spine><itemref idref="x"/></spine></package>',
        "a b.xhtml": "<html><body><p>It begins.</p></body></html>",
    }
    for locked in ("font.otf", "a%20b.xhtml"):
        parts["META-INF/encryption.xml"] = f'<encryption><CipherReference URI="{locked}"/></encryption>'
        if locked == "font.otf":
            assert shown(read("a.epub", archive(parts))) == [("paragraph", "It begins.")]
        else:
            with pytest.raises(InputError, match="locked"):
                read("a.epub", archive(parts))


def test_a_book_is_read_in_the_order_of_its_chapters() -> None:
    package = (
        "<package><metadata><title>On Mills</title></metadata><manifest>"
        '<item id="x" href="two.xhtml"/><item id="y" href="text/one.xhtml"/></manifest>'
        '<spine><itemref idref="y"/><itemref idref="x"/></spine></package>'
    )
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="in/book.opf"/></container>',
        "in/book.opf": package,
        "in/two.xhtml": "<html><body><p>Then it ends.</p></body></html>",
        "in/text/one.xhtml": "<html><body><h1>One</h1><p>First it begins.</p></body></html>",
    }
    reading = read("a.epub", archive(parts))
    assert reading.title == "On Mills"
    assert [text for _, text in shown(reading)] == ["One", "First it begins.", "Then it ends."]
    assert not reading.notices


def test_a_mail_is_read_with_the_files_that_it_brings() -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Beds in Belmark", "a@b.example"
    mail.set_content("It has 40 beds.\n\nThat is all.")
    mail.add_attachment(b"Country,Beds\nBelmark,40\n", "text", "csv", filename="beds.csv")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="mill.png")
    mail.add_attachment(b"%PDF-1.4 no", "application", "pdf", filename="no.pdf")
    reading = read("a.eml", mail.as_bytes())
    assert reading.title == "Beds in Belmark"
    assert [text for _, text in shown(reading)] == [
        "Beds in Belmark",
        "From: a@b.example",
        "It has 40 beds.",
        "That is all.",
        "beds.csv",
        "Country | Beds",
        "Country: Belmark; Beds: 40",
        "no.pdf",
    ]
    assert left_out(reading) == [("attachments", "mill.png")]
    [notice] = reading.notices
    assert notice.startswith("no.pdf: cannot be read")


LINES = '{"town": "Lund", "people": 900}\n\n{"town": "Oak", "people": 1200}\n'
VALUES = [
    ("a.csv", b"Country;Beds\nBelmark;40\nLund;\n", "Country: Lund; Beds: –"),
    ("a.tsv", b"Country\tBeds\nBelmark\t40\n", "Country: Belmark; Beds: 40"),
    ("a.csv", b'Name,Said\nAnn,"Yes, it is\nso."\nBob,No\n', "Name: Ann; Said: Yes, it is so."),
    ("a.csv", "Ort,Größe\nKöln,3\nBonn,4\n".encode("cp1252"), "Ort: Köln; Größe: 3"),
    ("a.csv", b"1,2\n3,4\n", "3 | 4"),
    ("a.jsonl", LINES.encode(), "town: Oak; people: 1200"),
    ("a.rtf", rb"{\rtf1\ansi Caf\'e9 is open.\par It is {\b old}.\par}", "Café is open."),
]


@pytest.mark.parametrize(("name", "data", "text"), VALUES)
def test_values_are_cited_with_the_names_of_their_columns(name: str, data: bytes, text: str) -> None:
    assert text in [block.text for block in read(name, data).blocks]


@given(st.lists(st.lists(st.text(st.sampled_from("ab1,;\"' \n|")), min_size=2), min_size=1))
def test_every_word_of_a_table_of_values_is_accounted_for(rows: list[list[str]]) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    assert not read("a.csv", stream.getvalue().encode()).notices


def test_what_is_no_file_of_its_format_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    for ending in ("xlsx", "pptx", "odt", "epub"):
        (tmp_path / f"a.{ending}").write_bytes(b"PK no archive")
        (tmp_path / f"b.{ending}").write_bytes(archive({"x.xml": "<x/>"}))
        bomb = archive({name: "<x/>" for name in (*BOOK, *SHOW)} | {"big.xml": " " * 31_000_000})
        (tmp_path / f"c.{ending}").write_bytes(bomb)
    (tmp_path / "a.rtf").write_text("It is so.")
    (tmp_path / "a.eml").write_text("It is so.")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": ')
    (tmp_path / "z.csv").write_text("Country,Beds\nBelmark,40\n")
    documents, notices = read_sources(tmp_path)
    assert [document.name for document in documents] == ["z.csv"]
    assert len(notices) == 15 and not any("\n" in notice for notice in notices)
    assert sum("unpacks to over 30 MB" in notice for notice in notices) == 4
    assert any(notice.startswith("a.jsonl: line 2 is not JSON") for notice in notices)


def test_a_paper_may_be_an_open_document(tmp_path: Path) -> None:
    body = "<text:h>Trees</text:h><text:h>Abstract</text:h><text:p>We debate.</text:p>"
    body += "<text:h>Introduction</text:h><text:p>Debates are old.</text:p>"
    content = f"<x {OPEN}><office:body>{body}</office:body></x>"
    (tmp_path / "a.odt").write_bytes(archive({"content.xml": content}))
    paper = read_paper(tmp_path / "a.odt")
    assert (paper.title, paper.abstract, paper.body) == ("Trees", "We debate.", "Debates are old.")
