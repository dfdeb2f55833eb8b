"""PDFs: columns, line ends, margins and pages come out as a reader sees them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from dialectree.errors import InputError
from dialectree.retrieval import pdf, pdf_lines, pdf_process, pdfium
from dialectree.retrieval.mending import joined, plain_signs, words_of
from dialectree.retrieval.papers import Paper, read
from tests.retrieval import pdfs

WITHOUT_PAGES = b"""%PDF-1.3
1 0 obj << /Pages 2 0 R /Type /Catalog >> endobj
2 0 obj << /Count 0 /Kids [ ] /Type /Pages >> endobj
trailer << /Root 1 0 R /Size 3 >>
%%EOF
"""


def paper_of(folder: Path, data: bytes) -> Paper:
    path = folder / "paper.pdf"
    path.write_bytes(data)
    return read(path)


def told(paper: Paper) -> str:
    """The body on one line: where a full line ends a column, a paragraph's end cannot be seen."""
    return " ".join(passage.text for passage in paper.passages)


def paragraphs(count: int) -> list[str]:
    said = pdfs.sentences(count * 3)
    return ["# 1 Introduction", *(" ".join(said[3 * n : 3 * n + 3]) for n in range(count))]


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("row_by_row", [False, True])
def test_columns_are_read_one_after_the_other(
    tmp_path: Path, columns: int, row_by_row: bool
) -> None:
    text = paragraphs(30)
    paper = paper_of(tmp_path, pdfs.paper(text, columns=columns, row_by_row=row_by_row))
    assert paper.title == "A Study of Paired Debates"
    assert paper.abstract == "We study debates in pairs. They help readers to see both sides."
    assert told(paper) == " ".join(text[1:])
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    assert paper.introduction == paper.body


def test_a_figure_across_both_columns_parts_what_stands_above_it_from_what_stands_below() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 16)
        canvas.drawCentredString(pdfs.WIDTH / 2, 780, "Two Halves of One Page Are Read Apart")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 762, "Abstract. We read a page with a figure across it.")
        canvas.drawString(60, 746, "1 INTRODUCTION")
        for column, x in ((1, 60), (2, 320)):
            for row in range(8):
                end = "." if row == 7 else ""
                canvas.drawString(
                    x, 730 - 12 * row, f"above column {column} row {row} says so and so{end}"
                )
                canvas.drawString(
                    x, 440 - 12 * row, f"below column {column} row {row} says so and so{end}"
                )
        canvas.drawCentredString(
            pdfs.WIDTH / 2,
            480,
            "Figure 1: A wide picture that runs across both of the columns here.",
        )

    blocks = pdf.draft(pdfs.drawn(draw), name="paper.pdf")
    body = " ".join(block.text for block in blocks.blocks)
    places = [body.find(f"{half} column {n} row 3") for half in ("above", "below") for n in (1, 2)]
    assert -1 not in places and places == sorted(places)
    assert "wide picture" not in body


def test_a_heading_in_large_letters_is_no_end_of_the_line_beside_it(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 20)
        canvas.drawCentredString(pdfs.WIDTH / 2, 790, "Words Beside Large Headings")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 766, "Abstract. We set two columns as near to one another as TeX.")
        canvas.drawString(60, 745, "1 INTRODUCTION")
        for row in range(10, 60):
            canvas.setFont("Times-Roman", 10)
            end = "says one thing and then another one and so on"
            canvas.drawString(60, 850 - 12 * row, f"left {row} {end}")
            beside = 70 + stringWidth(f"left {row} {end}", "Times-Roman", 10)
            if row in (25, 40):
                canvas.setFont("Times-Bold", 14.4)
                canvas.drawString(beside, 850 - 12 * row, f"{row - 20} Large Words")
            elif row not in (24, 26, 39, 41):
                canvas.drawString(beside, 850 - 12 * row, f"right {row} {end}")

    paper = paper_of(tmp_path, pdfs.drawn(draw))
    assert {passage.heading for passage in paper.passages} > {"5 Large Words", "20 Large Words"}
    text = told(paper)
    assert all(text.find("left 59") < text.find(f"right {row}") for row in (10, 23, 27, 59))


@pytest.mark.parametrize("caption", ["Figure 1: We find so.", "TABLE I", "Algorithm 1 Our Search"])
def test_a_caption_in_bold_is_no_heading_and_no_text(tmp_path: Path, caption: str) -> None:
    text = paragraphs(4)
    data = pdfs.paper([*text[:3], f"# {caption}", *text[3:]])
    paper = paper_of(tmp_path, data)
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    assert told(paper) == " ".join(text[1:])


def test_a_sentence_may_end_with_a_figure_in_the_next_column() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 16)
        canvas.drawCentredString(pdfs.WIDTH / 2, 790, "A Figure Named at a Column's Head")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 766, "Abstract. We name a figure where a column begins.")
        canvas.drawString(60, 745, "1 INTRODUCTION")
        for row in range(10, 50):
            canvas.drawString(60, 850 - 12 * row, f"left {row} says one thing and then so on")
            right = f"right {row} says one thing and then so on"
            canvas.drawString(300, 850 - 12 * row, "Figure 3." if row == 10 else right)

    blocks = pdf.draft(pdfs.drawn(draw), name="paper.pdf").blocks
    assert "left 49 says one thing and then so on Figure 3." in " ".join(b.text for b in blocks)


def first_page(*, across: str, left: str, right: str) -> bytes:
    """A title, one line across both columns, and two columns that begin with these lines."""

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 16)
        canvas.drawCentredString(pdfs.WIDTH / 2, 780, "Words Above Two Columns")
        canvas.setFont("Times-Roman", 10)
        canvas.drawCentredString(pdfs.WIDTH / 2, 760, across)
        for x, words, side in ((60, left, "left"), (310, right, "right")):
            canvas.drawString(x, 725, words)
            for row in range(50):
                text = f"{side} {row} says one thing and then another one"
                heading = side == "left" and row == 5
                canvas.drawString(x, 707 - 12 * row, "1 INTRODUCTION" if heading else text)

    return pdfs.drawn(draw)


@pytest.mark.parametrize("right", ["2 RELATED WORK", "the end of a paragraph."])
def test_an_abstract_beside_a_short_line_begins_the_left_column(tmp_path: Path, right: str) -> None:
    names = "Ann Author, Bob Writer and Carol Reader of the University of Somewhere"
    data = first_page(across=names, left="Abstract", right=right)
    paper = paper_of(tmp_path, data)
    assert paper.abstract.startswith("left 0 says") and "right" not in paper.abstract
    text = " ".join(f"{passage.heading} {passage.text}" for passage in paper.passages)
    assert text.find("left 49 says") < text.find(right) < text.find("right 0 says")


@pytest.mark.parametrize("name", ["Abstract. ", "Abstract—", "ABSTRACT: ", ""])
def test_an_address_across_the_page_is_no_part_of_an_abstract(tmp_path: Path, name: str) -> None:
    address = "Department of Computing, University of Somewhere, Elsewhere, and an Institute of"
    start = f"{name}We say so in a line of the left column" if name else "We say so in a line and"
    data = first_page(across=address, left=start, right="the right column begins with this")
    paper = paper_of(tmp_path, data)
    assert paper.abstract.startswith("We say so in a line")
    assert "University" not in paper.abstract + paper.body


def test_hyphens_at_line_ends_follow_the_document_own_use(tmp_path: Path) -> None:
    text = (
        "A state-of-the-art approach needs long computation and every approach with computation "
        "is slow, so that a state-of-the-art system for computation is slow as well. "
    )
    hyphens = {"computation": "compu", "state-of-the-art": "state-of-the", "approach": "ap"}
    for width in range(12):
        padded = "x" * (width + 1) + " " + text * 6
        paper = paper_of(
            tmp_path, pdfs.paper(["# Introduction", padded.strip()], columns=2, hyphens=hyphens)
        )
        assert paper.body == padded.strip()


@pytest.mark.parametrize(
    ("left", "right", "known", "whole"),
    [
        ("state-of-the-", "art", "we say what is the best", "state-of-the-art"),
        ("off-", "the-shelf", "we say what is the best", "off-the-shelf"),
        ("multi-", "agent-based", "nothing of that kind", "multi-agent-based"),
        ("decision-", "tree-based", "each decision of ours", "decision-tree-based"),
        ("high-per-", "forming", "nothing of that kind", "high-performing"),
        ("high-per-", "forming", "ten per cent of its performance", "high-performing"),
        ("Con-", "tent-addressable", "nothing of that kind", "Content-addressable"),
    ],
)
def test_a_compound_broken_inside_a_word_is_told_from_one_broken_between_two(
    left: str, right: str, known: str, whole: str
) -> None:
    assert joined(left, right, words_of([known]))[0] == whole


def test_ligatures_are_letters_again() -> None:
    assert (
        plain_signs("ﬁrst eﬀect, ﬂow, oﬃce, baﬄe\u00a0now")
        == "first effect, flow, office, baffle now"
    )


@pytest.mark.parametrize("codes", [(0x0B, 0x0C, 0x0D, 0x0E, 0x0F), range(0x1B, 0x20)])
def test_ligatures_of_bitmap_fonts_are_letters_and_line_ends_are_none(codes: Sequence[int]) -> None:
    ff, fi, fl, ffi, ffl = map(chr, codes)
    lines = [f"the di{ff}erent {fi}nds of a con{fl}ict", f"an o{ffi}ce that ba{ffl}es them"]
    (page,) = pdfium.pages_of(pdfs.in_letters_of_dots(lines), "paper.pdf")
    said = [line.text for line in pdf_lines.lines_of(page)]
    assert said == ["the different finds of a conflict", "an office that baffles them"]


@pytest.mark.parametrize("late", [False, True])
def test_accents_set_as_signs_of_their_own_are_on_their_letters(late: bool) -> None:
    """TeX's first fonts have no letter with an accent; some files set all accents after a word."""

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Roman", 10)
        at = 60 + stringWidth("In 1931 G", "Times-Roman", 10)
        pieces = [(60.0, "In 1931 G"), (at + 0.8, "\u00a8"), (at, "odel spoke")]
        for x, text in [pieces[0], *(pieces[:0:-1] if late else pieces[1:])]:
            canvas.drawString(x, 700, text)

    (page,) = pdfium.pages_of(pdfs.drawn(draw), "paper.pdf")
    assert [line.text for line in pdf_lines.lines_of(page)] == ["In 1931 Gödel spoke"]


def test_running_heads_and_page_numbers_are_not_text(tmp_path: Path) -> None:
    text = paragraphs(40)
    for columns in (1, 2):
        data = pdfs.paper(text, columns=columns, furniture=pdfs.heads_and_numbers)
        paper = paper_of(tmp_path, data)
        assert told(paper) == " ".join(text[1:])


@pytest.mark.parametrize("columns", [1, 2])
def test_line_numbers_in_the_margin_are_not_text(tmp_path: Path, columns: int) -> None:
    text = paragraphs(30)
    data = pdfs.paper(text, columns=columns, furniture=pdfs.line_numbers)
    assert told(paper_of(tmp_path, data)) == " ".join(text[1:])


@pytest.mark.parametrize("name", ["References", "7 References", "REFERENCES", "VII. BIBLIOGRAPHY"])
def test_the_body_ends_at_the_references_but_for_an_appendix(tmp_path: Path, name: str) -> None:
    entries = ["[1] A. Author. A reference. 2020.", "# Acknowledgements", "Thanks."]
    text = [*paragraphs(6), f"# {name}", *entries, "# A  Proofs", "The proof is simple."]
    paper = paper_of(tmp_path, pdfs.paper(text, columns=2))
    assert [passage.text for passage in paper.passages] == [*text[1:7], "The proof is simple."]
    assert paper.passages[-1].heading == "A Proofs"


def test_a_line_of_text_that_reads_like_a_heading_is_text(tmp_path: Path) -> None:
    start = "This is what the text of these columns says, and it is an"
    text = (
        f"{start} introduction to the mathematical ground of it, as found in all of the literature."
    )
    said = ["# 1 Introduction", text, *paragraphs(30)[1:]]
    for columns in (1, 2):
        for pad in range(0, 44, 8):
            said[1] = f"{'x' * pad} {text}".strip()
            paper = paper_of(tmp_path, pdfs.paper(said, columns=columns))
            assert told(paper).startswith(said[1])
            assert {passage.heading for passage in paper.passages} == {"1 Introduction"}


def test_forty_pages_take_seconds_and_every_sentence_knows_its_page(tmp_path: Path) -> None:
    text = paragraphs(440)
    data = pdfs.paper(text, columns=2, furniture=pdfs.heads_and_numbers)
    start = time.thread_time()  # the machine may be busy with other things
    paper = paper_of(tmp_path, data)
    assert time.thread_time() - start < 10
    assert told(paper) == " ".join(text[1:])
    last = paper.passages[-1]
    assert (last.page_at(len(last.text) - 1) or 0) >= 40
    pages = [page for p in paper.passages for page in (p.page, *(page for _, page in p.breaks))]
    assert None not in pages and pages == sorted(pages, key=lambda page: page or 0)
    assert any(passage.breaks for passage in paper.passages)
    for passage in paper.passages:
        assert paper.body[passage.offset :].startswith(passage.text)


def test_a_paragraph_over_a_page_end_has_both_pages(tmp_path: Path) -> None:
    text = paragraphs(30)
    paper = paper_of(tmp_path, pdfs.paper(text))
    passage = next(passage for passage in paper.passages if passage.breaks)
    [(start, page)] = passage.breaks
    assert passage.page == page - 1 == passage.page_at(start - 1)
    assert passage.page_at(start) == page
    assert passage.text[start - 1] == " " and passage.text[start] != " "


def test_pdfs_that_cannot_be_read_say_why_in_one_line(tmp_path: Path) -> None:
    whole = pdfs.paper(paragraphs(12))
    cases = {
        "encrypted": pdfs.paper(paragraphs(2), encrypt="secret"),
        "OCR it first": pdfs.scanned(),
        "cut short": whole[: len(whole) // 2],
        "not a PDF": b"<html>Please log in</html>",
        "damaged": b"%PDF-1.7\n" + b"\x00rubbish" * 200 + b"\n%%EOF\n",
        "without pages": WITHOUT_PAGES,
        "empty file": b"",
    }
    for why, data in cases.items():
        with pytest.raises(InputError) as caught:
            paper_of(tmp_path, data)
        assert why in str(caught.value) and str(caught.value).startswith("paper.pdf: ")
        assert "\n" not in str(caught.value)


def test_a_pdf_without_pages_is_not_taken_for_the_encrypted_one_before_it(tmp_path: Path) -> None:
    for data, why in (
        (pdfs.paper(["Text."], encrypt="secret"), "encrypted"),
        (WITHOUT_PAGES, "pages"),
    ):
        with pytest.raises(InputError, match=why):
            paper_of(tmp_path, data)


def test_blanks_behind_a_whole_pdf_do_no_harm(tmp_path: Path) -> None:
    whole = pdfs.paper(paragraphs(6))
    assert paper_of(tmp_path, whole + b"\0" * 50_000 + b"\r\n") == paper_of(tmp_path, whole)


def test_any_damage_gives_a_paper_or_one_line(tmp_path: Path) -> None:
    whole = pdfs.paper(paragraphs(6))
    for at in range(20, len(whole) - 40, len(whole) // 25):
        data = whole[:at] + bytes([(whole[at] + 77) % 256]) * 9 + whole[at + 9 :]
        try:
            paper_of(tmp_path, data)
        except InputError as error:
            assert "\n" not in str(error)


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdfium, "MOST_PAGES", 20)
    with pytest.raises(InputError, match="21 pages, at most 20"):
        pdfium.pages_of(pdfs.drawn(lambda canvas: None, pages=21), "paper.pdf")


@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [("MEMORY", 200_000_000, "more than 0.2 GB of memory"), ("SECONDS", 0.01, "more than 0.01 s")],
)
def test_a_pdf_that_takes_too_much_is_refused(
    limit: str, value: float, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_process, limit, value)
    assert len(pdfs.bomb()) < 100_000
    with pytest.raises(InputError, match=rf"^paper\.pdf: .*{told}"):
        paper_of(tmp_path, pdfs.bomb())


def test_text_along_the_margin_and_turned_pages(tmp_path: Path) -> None:
    def stamp(canvas: Any, page: int) -> None:
        canvas.saveState()
        canvas.translate(24, 300)
        canvas.rotate(90)
        canvas.setFont("Times-Roman", 20)
        canvas.drawString(0, 0, "arXiv:2402.13234v1 [math.GT] 20 Feb 2024")
        canvas.restoreState()
        if page == 2:
            canvas.setPageRotation(90)

    text = paragraphs(20)
    paper = paper_of(tmp_path, pdfs.paper(text, columns=2, furniture=stamp))
    assert paper.title == "A Study of Paired Debates"
    assert told(paper) == " ".join(text[1:])


def headed(*lines: str) -> bytes:
    """A title and lines under it; those that begin with "# " are bold and stand apart."""

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 18)
        canvas.drawString(60, 790, "What a Paper Says First")
        y = 770
        for line in lines:
            heading = line.startswith("# ")
            canvas.setFont("Times-Bold" if heading else "Times-Roman", 10)
            y -= 24 if heading else 12
            canvas.drawString(60, y, line.removeprefix("# "))

    return pdfs.drawn(draw)


def test_a_pdf_without_abstract_has_its_opening_in_place_of_one(tmp_path: Path) -> None:
    opening = "We begin with the ground of it, and then we go on to the rest of it all."
    paper = paper_of(tmp_path, headed("Ann Author", "# Introduction", opening))
    assert paper.abstract == opening
    assert "no abstract found in it" in paper.notices[0]
    with pytest.raises(InputError, match="no text besides title and abstract"):
        paper_of(tmp_path, headed("Two words."))


def test_a_summary_before_all_sections_is_the_abstract(tmp_path: Path) -> None:
    text = [
        "# Introduction",
        "We begin with the ground of it, and then we go on to the rest of it all.",
    ]
    summary = "We tell in one line what we say in all of them."
    paper = paper_of(tmp_path, headed("Ann Author", "# Summary", summary, *text))
    assert paper.abstract == summary
    assert paper.passages[0].heading == "Introduction"
    for late in ("# Summary", "# 5 Summary"):
        opened = paper_of(tmp_path, headed("Ann Author", *text, late, summary))
        assert opened.abstract.startswith("We begin with") and opened.notices


def test_two_papers_are_read_at_once(tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(pdfs.paper(paragraphs(10), columns=2))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: read(tmp_path / n).body, ["a.pdf", "b.pdf"] * 4))
    assert len(set(found)) == 1
