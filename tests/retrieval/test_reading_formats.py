"""What readers make of layouts that people meet: each case is a small file and its blocks."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Table,
    TableStyle,
)

from dialectree.retrieval.blocks import Reading
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.encoding import decode
from dialectree.retrieval.latex import read_latex
from dialectree.retrieval.markup import read_html, read_markdown
from dialectree.retrieval.pdf_document import read_pdf
from dialectree.retrieval.text import read_text
from dialectree.retrieval.word import read_word
from tests.retrieval.test_conservation import W, faults, word_file

PROSE = [
    "The valley lies in the north and has a river with many mills along it. People",
    "keep records of every harvest there, and the records are kept in the tower of",
    "the town for everybody to read on Sundays.",
]


def read(reader: Callable[..., None], content: object) -> Reading:
    builder = DocumentBuilder()
    reader(content, builder)
    reading = builder.finish()
    assert not faults(reading)
    return reading


def shown(reading: Reading, *kinds: str) -> list[str]:
    """The texts of blocks, of these kinds alone where some are named."""
    return [block.text for block in reading.blocks if not kinds or block.kind in kinds]


def left_out(reading: Reading) -> list[tuple[str, str]]:
    return [(part.reason, part.text) for part in reading.left_out]


# PDF


def pdf(draw: Callable[[Any], None]) -> Reading:
    content = io.BytesIO()
    canvas = Canvas(content)
    canvas.setFont("Times-Roman", 10)
    draw(canvas)
    canvas.save()
    return read(read_pdf, content.getvalue())


def lines(canvas: Any, top: float, texts: Sequence[str], x: float = 72, size: float = 10) -> None:
    canvas.setFont("Times-Roman", size)
    for row, text in enumerate(texts):
        canvas.drawString(x, top - row * 1.2 * size, text)


def cells(canvas: Any, top: float, rows: Sequence[Sequence[str]], font: str = "Times-Roman") -> float:
    canvas.setFont(font, 10)
    for row in rows:
        for x, text in zip((72, 220, 330), row, strict=False):
            canvas.drawString(x, top, text)
        top -= 14
    return top


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_text_that_was_turned_is_read_in_order(turn: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.translate(300, 400)
        canvas.rotate(turn)
        lines(canvas, 0, PROSE, x=-150)

    assert shown(pdf(draw)) == [" ".join(PROSE)]


def test_a_table_goes_on_over_the_page_with_the_names_of_its_columns() -> None:
    def draw(canvas: Any) -> None:
        cells(canvas, 800, [["Country", "Hospitals", "Schools"]], "Times-Bold")
        cells(canvas, 786, [[f"Land{n}", str(n), str(2 * n)] for n in range(50)])
        canvas.showPage()
        cells(canvas, 800, [[f"Land{n}", str(n), str(2 * n)] for n in range(50, 60)])

    reading = pdf(draw)
    assert shown(reading, "names") == ["Country | Hospitals | Schools"]
    rows = [f"Country: Land{n}; Hospitals: {n}; Schools: {2 * n}" for n in range(60)]
    assert shown(reading, "row") == rows and not reading.left_out
    assert {block.page for block in reading.blocks} == {1, 2}


def test_a_table_between_lines_keeps_the_lines_of_a_cell_together() -> None:
    styles = getSampleStyleSheet()
    long = Paragraph("A remark that wraps over several lines in its own cell", styles["BodyText"])
    table = Table(
        [["Country", "Hospitals", "Remark"], ["Arvania", "", "closed in\nwinter"], ["Belmark", "12", long]],
        colWidths=[90, 70, 120],
    )
    table_lines = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    table.setStyle(table_lines)
    content = io.BytesIO()
    body = Paragraph("Words before it. " * 20, styles["BodyText"])
    small = Table([["Town", "Mills"], ["Oak by\nthe river", "12"], ["Elm", "7"]])
    small.setStyle(table_lines)
    SimpleDocTemplate(content).build([body, table, Paragraph("Words after it.", styles["BodyText"]), small])
    reading = read(read_pdf, content.getvalue())
    assert [(block.kind, block.text) for block in reading.blocks][1:] == [
        ("names", "Country | Hospitals | Remark"),
        ("row", "Country: Arvania; Hospitals: –; Remark: closed in winter"),
        (
            "row",
            "Country: Belmark; Hospitals: 12; Remark: A remark that wraps over several lines in its own cell",
        ),
        ("paragraph", "Words after it."),
        ("names", "Town | Mills"),
        ("row", "Town: Oak by the river; Mills: 12"),
        ("row", "Town: Elm; Mills: 7"),
    ]


def test_boxes_behind_prose_are_no_table() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFillColor(colors.lightgrey)
        for x in (60, 120, 200):
            for y in (700, 740, 780):
                canvas.rect(x, y, 60, 30, stroke=0, fill=1)
        canvas.setFillColor(colors.black)
        lines(canvas, 800, PROSE)

    assert shown(pdf(draw)) == [" ".join(PROSE)]


def test_an_empty_cell_and_a_row_with_one_cell_keep_their_columns() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, 800, PROSE)
        rows = [["Year", "Boats", "Carts"], ["2019", "", "12"], ["2020"], ["2021", "7", "9"]]
        cells(canvas, 720, rows)
        lines(canvas, 600, PROSE)

    assert shown(pdf(draw), "names", "row") == [
        "Year | Boats | Carts",
        "Year: 2019; Boats: –; Carts: 12",
        "Year: 2020; Boats: –; Carts: –",
        "Year: 2021; Boats: 7; Carts: 9",
    ]


def test_a_form_is_read_with_what_was_filled_in() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, 800, PROSE)
        lines(canvas, 700, ["Amount due:"])
        place = {"x": 160, "y": 695, "width": 100, "height": 16}
        canvas.acroForm.textfield(name="amount", value="340 crowns", **place)
        lines(canvas, 660, ["Paid:"])
        canvas.acroForm.checkbox(name="paid", checked=True, x=160, y=655)

    assert shown(pdf(draw), "row") == ["Amount due: | 340 crowns", "Paid: | ☒"]


def running(canvas: Any) -> None:
    for page in range(1, 5):
        lines(canvas, 820, ["Journal of mills, volume 12"], size=9)
        lines(canvas, 780, [f"On day {page} the mill ground {page * 100} sacks of grain."])
        lines(canvas, 60, [f"{page}0 Data of the town, 20{page}1."], size=7)
        lines(canvas, 20, [f"Page {page} of 4"], x=290, size=9)
        canvas.showPage()


def test_running_heads_and_page_numbers_are_left_out_and_counted() -> None:
    reading = pdf(running)
    assert shown(reading, "note") == [
        "Journal of mills, volume 12",
        *(f"{page}0 Data of the town, 20{page}1." for page in range(1, 5)),
    ]
    reasons = [reason for reason, _ in left_out(reading)]
    assert reasons.count("page numbers") == 4
    assert reasons.count("heads and feet of earlier pages") == 3


def test_a_line_of_prose_in_the_margin_is_no_running_head() -> None:
    content = io.BytesIO()
    document = BaseDocTemplate(content)
    frames = [Frame(50, 50, 240, 740), Frame(305, 50, 240, 740)]
    document.addPageTemplates(PageTemplate(frames=frames))
    style = getSampleStyleSheet()["BodyText"]
    said = [
        f"Paragraph {n} tells of mill number {n} in the valley, which grinds sacks each year for "
        "the people of the town, and is seen by many."
        for n in range(60)
    ]
    document.build([Paragraph(text, style) for text in said])
    reading = read(read_pdf, content.getvalue())
    assert shown(reading) == said and not reading.left_out


def test_numbers_of_lines_are_left_out_and_a_column_of_figures_is_not() -> None:
    def draw(canvas: Any) -> None:
        for n in range(20):
            lines(canvas, 800 - 14 * n, [f"{n + 1}"], x=50 if n > 8 else 55)
            lines(canvas, 800 - 14 * n, [f"Line {n} of the text is here to be read."], x=90)

    reading = pdf(draw)
    assert {reason for reason, _ in left_out(reading)} <= {"numbers of lines"}
    text = " ".join(shown(reading))
    assert all(f"Line {n} of the text" in text for n in range(20))


def test_powers_notes_and_marks_of_lists() -> None:
    def draw(canvas: Any) -> None:
        said = canvas.beginText(72, 800)
        said.setFont("Times-Roman", 10)
        for text, rise in (
            ("The rate is 3.2 x 10", 0), ("-3", 4), (" per day and 25 m", 0), ("2", 4),
            (" large.", 0), ("7", 4), (" The CO", 0), ("2", -2), (" fell.", 0),
        ):  # fmt: skip
            said.setFont("Times-Roman", 6 if rise else 10)
            said.setRise(rise)
            said.textOut(text)
        canvas.drawText(said)
        lines(canvas, 700, ["•", "2"])
        lines(canvas, 700, ["bread 3 crowns", "cheese 12 crowns"], x=90)
        lines(canvas, 60, ["7 A note about the area of the field."], size=7)

    reading = pdf(draw)
    assert shown(reading) == [
        "The rate is 3.2 x 10^-3 per day and 25 m^2 large. The CO2 fell.",
        "bread 3 crowns",
        "2. cheese 12 crowns",
        "7 A note about the area of the field.",
    ]
    assert left_out(reading) == [("marks of notes", "7")]


def test_large_figures_above_their_names_stay_apart() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, 800, PROSE)
        for x, figure, name in ((72, "412", "employees"), (200, "37 %", "women")):
            canvas.setFont("Helvetica-Bold", 26)
            canvas.drawString(x, 650, figure)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(x, 635, name)

    assert shown(pdf(draw), "names", "row") == ["412 | 37 %", "412: employees; 37 %: women"]


def test_a_word_over_two_pages_is_joined_and_its_page_known() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, 100, ["The inter-"])
        canvas.showPage()
        lines(canvas, 700, ["national treaty of the town was signed by many people of the valley."])

    [block] = pdf(draw).blocks
    assert block.text.startswith("The international treaty") and block.page == 1
    assert block.breaks == ((len("The inter"), 2),)


# Web pages and Markdown

PAGES = {
    "heads of two rows": (
        "<table><thead><tr><th rowspan=2>Town</th><th colspan=2>2020</th></tr><tr><th>Beds</th>"
        "<th>Staff</th></tr></thead><tr><td>Arvan</td><td></td><td>8</td></tr>"
        "<tr><td colspan=3>North</td></tr></table>",
        ["Town | 2020 | 2020", "Town | Beds | Staff", "Town: Arvan; 2020 Beds: –; 2020 Staff: 8", "North"],
    ),
    "no marked head": (
        "<table><tr><td>Town</td><td>Beds</td></tr><tr><td>Arvan</td><td>12</td></tr>"
        "<tr><td>Belmar</td><td></td></tr></table>",
        ["Town | Beds", "Town: Arvan; Beds: 12", "Town: Belmar; Beds: –"],
    ),
    "words alone": (
        "<table><tr><td>Paris</td><td>France</td></tr><tr><td>Rome</td><td>Italy</td></tr></table>",
        ["Paris | France", "Rome | Italy"],
    ),
    "names of rows": (
        "<table><tr><th></th><th>2019</th></tr><tr><th>Beds</th><td>12</td></tr></table>",
        ["– | 2019", "Beds; 2019: 12"],
    ),
    "a table for layout": ("<table><tr><td><p>One.</p><p>Two.</p></td></tr></table>", ["One.", "Two."]),
    "a list in a cell": (
        "<table><tr><th>Town</th><th>Facts</th></tr><tr><td>A</td><td><ul><li>1 mill</li>"
        "<li>2 inns</li></ul></td></tr></table>",
        ["Town | Facts", "Town: A; Facts: 1 mill 2 inns"],
    ),
    "loose text": (
        "<div>Loose <span>one</span><div>inner</div>after</div><a href=x><div>link</div></a>",
        ["Loose one", "inner", "after", "link"],
    ),
    "drawn and written": (
        "<img src=a alt='A chart of 9 mills'><svg><title>Axis</title><text>45</text></svg>"
        "<input value='340 crowns'><input type=hidden value=secret><textarea>typed</textarea>",
        ["A chart of 9 mills Axis 45 340 crowns typed"],
    ),
    "broken words": ("Unter<wbr>nehmen tele<b>phone</b> A<br>B", ["Unternehmen telephone A B"]),
    "raised by style": (
        "10<span style='vertical-align: super'>6</span>, 10<sup>−3</sup>, 2<sup>nd</sup>, "
        "A<sup>TM</sup>, x<sup>n+1</sup>",
        ["10^6, 10^−3, 2nd, ATM, x^n+1"],
    ),
    "formulas": (
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>+</mo><msub><mi>x</mi><mn>1</mn></msub>"
        "<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt></math>"
        "<script type='math/tex'>E=mc^2</script>",
        ["1/2+x1√(a+b) E=mc^2"],
    ),
    "preformatted": ("<pre>a = 1\nb = 2</pre>", ["a = 1", "b = 2"]),
}


@pytest.mark.parametrize(("body", "texts"), PAGES.values(), ids=PAGES)
def test_a_page_is_read_as_it_is_seen(body: str, texts: list[str]) -> None:
    assert shown(read(read_html, f"<body>{body}</body>")) == texts


def test_what_a_page_hides_is_left_out_with_its_reason() -> None:
    style = ".off, .x {display:none} @media print {.y {display:none}} #gone { visibility: hidden }"
    body = (
        "<p class=off>one</p><p id=gone>two</p><p class=y>kept</p>"
        "<p style='opacity:0'>three</p>"
        "<dialog>four</dialog><dialog open>seen</dialog><nav>five</nav>"
        "<div role=navigation>six</div>"
        "<s>seven</s><span style='text-decoration: line-through'>eight</span>"
        "<noscript>nine</noscript>"
        "<p>It fell<sup><a href='#n'>[1]</a></sup> twice.<sup>7</sup></p>"
    )
    reading = read(read_html, f"<head><style>{style}</style></head><body>{body}</body>")
    assert shown(reading) == ["kept", "seen", "It fell twice."]
    assert left_out(reading) == [
        *(("hidden", word) for word in ("one", "two", "three", "four")),
        *(("navigation", word) for word in ("five", "six")),
        *(("struck", word) for word in ("seven", "eight")),
        ("scripts", "nine"),
        *(("marks of notes", mark) for mark in ("[1]", "7")),
    ]


def test_markdown_keeps_prices_numbers_of_items_and_notes() -> None:
    text = (
        "# T\n\nIt costs $5 and $6, $E=mc^2$.[^1] ~~300~~\n\n3. third\n4. fourth\n\n"
        "- a\n  - b\n\n"
        "| N | V |\n|---|---|\n| x | |\n\n[^1]: A note.\n\n<!-- never -->"
    )
    reading = read(read_markdown, text)
    assert [(block.kind, block.text) for block in reading.blocks] == [
        ("heading", "T"),
        ("paragraph", "It costs $5 and $6, E=mc^2."),
        ("item", "3. third"),
        ("item", "4. fourth"),
        ("item", "a"),
        ("item", "b"),
        ("names", "N | V"),
        ("row", "N: x; V: –"),
        ("note", "A note."),
    ]
    assert sorted(left_out(reading)) == [("marks of notes", "[1]"), ("struck", "300")]


def test_a_text_has_headings_items_and_tables() -> None:
    text = (
        "Title of it\n===========\n\nIntro words.\n\n1. First\n2. Second\n\n* third\n\n"
        "Country\tHospitals\nArvania\t\nBelmark\t12\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n12\n\n"
        "A sentence that is wrapped at a column goes on here with inter-\nnational words.\n\f2"
    )
    assert [(block.kind, block.text) for block in read(read_text, text).blocks] == [
        ("heading", "Title of it"),
        ("paragraph", "Intro words."),
        ("item", "1. First"),
        ("item", "2. Second"),
        ("item", "third"),
        ("names", "Country | Hospitals"),
        ("row", "Country: Arvania; Hospitals: –"),
        ("row", "Country: Belmark; Hospitals: 12"),
        ("names", "a | b"),
        ("row", "a: 1; b: 2"),
        ("paragraph", "12"),
        ("paragraph", "A sentence that is wrapped at a column goes on here with international words."),
    ]


# Word


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(text))}</w:tc>"


def row(*made: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(made)}</w:tr>"


def test_a_word_file_is_read_as_it_is_seen() -> None:
    up = '<w:vertAlign w:val="superscript"/>'
    box = f"<w:txbxContent>{paragraph(run('In the box: 67 barges.'))}</w:txbxContent>"
    fallback = f"<mc:Fallback>{box}</mc:Fallback>"
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    twin = (
        f'<mc:AlternateContent xmlns:mc="{mc}"><mc:Choice>{box}</mc:Choice>{fallback}</mc:AlternateContent>'
    )
    body = [
        paragraph(run("Report"), properties='<w:pStyle w:val="Heading1"/>'),
        paragraph(
            run("Area 25 m"), run("2", up), run(", "), run("off", "<w:vanish/>"), run("300", "<w:strike/>")
        ),
        paragraph(run("One"), properties="<w:numPr/>"),
        paragraph("<w:del><w:r><w:delText>old</w:delText></w:r></w:del>", f"<w:ins>{run('new')}</w:ins>"),
        paragraph(run("Styled", '<w:rStyle w:val="Off"/>'), run("kept", '<w:vanish w:val="0"/>')),
        paragraph(run("Before it."), f"<w:r>{twin}</w:r>"),
        "<w:tbl>"
        + row(cell("Region"), cell("Year"), cell("Yield"), properties="<w:tblHeader/>")
        + row(cell("North", '<w:vMerge w:val="restart"/>'), cell("2019"), cell("31"))
        + row(cell("", "<w:vMerge/>"), cell("2020"), cell(""))
        + row(cell("All", '<w:gridSpan w:val="2"/>'), cell("65"))
        + "</w:tbl>",
    ]
    reading = read(read_word, word_file("".join(body)))
    assert [(block.kind, block.text) for block in reading.blocks] == [
        ("heading", "Report"),
        ("paragraph", "Area 25 m^2,"),
        ("item", "One"),
        ("paragraph", "new"),
        ("paragraph", "kept"),
        ("paragraph", "Before it."),
        ("paragraph", "In the box: 67 barges."),
        ("names", "Region | Year | Yield"),
        ("row", "Region: North; Year: 2019; Yield: 31"),
        ("row", "Region: North; Year: 2020; Yield: –"),
        ("row", "Region: All; Year: All; Yield: 65"),
        ("note", "A note."),
    ]
    assert left_out(reading) == [
        ("hidden", "off"),
        ("struck", "300"),
        ("deleted", "old"),
        ("hidden", "Styled"),
    ]
    assert W


# LaTeX

LATEX = r"""\documentclass{article}\title{On mills}\begin{document}\maketitle
\begin{abstract}We count the mills. % a comment
\end{abstract}
\section{Introduction}
It has $10^5$ trees and 42\textsuperscript{7} metres\footnote{The guide says so.} of
wall~\cite{doe}.
\begin{table}\caption{Hospitals by country}\label{tab:a}
\begin{tabular}{lrr}\toprule & \multicolumn{2}{c}{2020} \\ Country & Hospitals & Schools \\\midrule
Arvania & & 45 \\ Belmark & 12 & 30 \\\bottomrule\end{tabular}\end{table}
\begin{figure}\includegraphics{x.png}\caption{A figure of 9 mills}\end{figure}
\begin{itemize}\item bread \item wine\end{itemize} Then the 2\textsuperscript{nd}.

\begin{verbatim}
x = 1 % kept
\end{verbatim}
\begin{thebibliography}{9}\bibitem{doe} J. Doe. Mills. 2019.\end{thebibliography}
\end{document}"""


def test_latex_is_read_with_its_tables_notes_and_code() -> None:
    builder = DocumentBuilder()
    read_latex(LATEX, builder, "a.tex", None)
    reading = builder.finish()
    assert [(block.kind, block.text) for block in reading.blocks] == [
        ("heading", "On mills"),
        ("paragraph", "We count the mills."),
        ("heading", "Introduction"),
        ("paragraph", "It has 10^5 trees and 42^7 metres of wall [1]."),
        ("note", "The guide says so."),
        ("note", "Hospitals by country"),
        ("names", "– | 2020 | 2020"),
        ("names", "Country | Hospitals | Schools"),
        ("row", "Country: Arvania; 2020 Hospitals: –; 2020 Schools: 45"),
        ("row", "Country: Belmark; 2020 Hospitals: 12; 2020 Schools: 30"),
        ("note", "A figure of 9 mills"),
        ("item", "bread"),
        ("item", "wine"),
        ("paragraph", "Then the 2nd."),
        ("paragraph", "x = 1 % kept"),
        ("heading", "References"),
        ("note", "J. Doe. Mills. 2019."),
    ]
    assert not faults(reading) and not reading.left_out


def test_no_word_of_latex_stands_for_a_part_of_it() -> None:
    said = "QQPART7. is a word, and QQPARTQ0 another."
    source = f"\\begin{{document}}{said}\\footnote{{A note.}}\\end{{document}}"
    builder = DocumentBuilder()
    read_latex(source, builder, "a.tex", None)
    assert shown(builder.finish()) == [said, "A note."]


# Encodings

TEXTS = {
    "pl": ("Główna ulica prowadzi do młyna. Ludzie chodzą tędy, żeby kupić mąkę.", "cp1250 iso8859_2 cp852"),
    "cs": ("Příliš žluťoučký kůň úpěl. Město má starý mlýn, který mele obilí.", "cp1250 iso8859_2"),
    "hu": ("Az árvíztűrő tükörfúrógép működik. A város malma őröl.", "cp1250 iso8859_2"),
    "tr": ("Öğrenciler her gün okula gidiyor. Şehrin değirmeni buğday öğütüyor.", "cp1254 iso8859_9"),
    "lt": ("Žemėlapis rodo seną malūną. Žmonės čia ateina kiekvieną dieną.", "cp1257 iso8859_13"),
    "ru": ("Библиотека открывается в девять часов. Мельница мелет.", "koi8_r cp1251 cp866 mac_cyrillic"),
    "uk": ("Бібліотека відкривається о дев'ятій. Старий млин меле, їх багато.", "koi8_u cp1251"),
    "el": ("Η βιβλιοθήκη ανοίγει στις εννέα. Ο παλιός μύλος αλέθει.", "cp1253 iso8859_7"),
    "fr": ("L'été dernier, la forêt a brûlé près du château. Les élèves y vont.", "mac_roman cp1252 cp850"),
    "de": ("Die alte Mühle mahlt Säcke. Die Straße führt über die Brücke.", "mac_roman cp1252 cp850"),
    "es": ("El año pasado el niño visitó el molino. ¿Qué pasó después?", "mac_roman cp1252 cp850"),
    "sv": ("Den gamla kvarnen maler säckar om året. Människor går dit på söndagar.", "cp1252 mac_roman"),
    "ja": ("図書館は九時に開きます。古い水車は粉をひきます。", "shift_jis euc_jp iso2022_jp utf_16"),
    "zh": ("图书馆九点开门。旧磨坊每年磨九百袋粮食。", "gb18030 utf_16_le utf_16_be"),
    "ko": ("도서관은 아홉 시에 문을 엽니다. 물레방아는 자루를 빻습니다.", "euc_kr"),
    "he": ("הספרייה של העיר נפתחת בשעה תשע. הטחנה הישנה היא גם מוזיאון.", "cp1255"),
    "ar": ("تفتح المكتبة في الساعة التاسعة. تطحن المطحنة القديمة.", "cp1256"),
    "th": ("ห้องสมุดเปิดเวลาเก้าโมง โรงสีเก่าบดข้าว", "cp874"),
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, encoding) for text, names in TEXTS.values() for encoding in names.split()]
)
def test_old_encodings_are_told_by_the_words_of_a_language(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding), "it")
    assert decoded.text == text and decoded.encoding
    assert decode(text.encode(), "it") == (text, None)


def test_what_a_page_declares_counts_and_stray_bytes_are_mended() -> None:
    assert decode("Žluť".encode("iso8859_2"), "it", "iso-8859-2").text == "Žluť"
    assert decode("Žluť".encode("cp1250"), "it", "no-such-encoding").text
    mixed = "Größe und Länge und Höhe ".encode() * 9 + b"caf\xe9"
    assert decode(mixed, "it").text.endswith("Höhe café")
