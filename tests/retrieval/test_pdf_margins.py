"""What stands at a page's head and foot: the page's own is left out, the text's is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dialectree.retrieval import pdf
from dialectree.retrieval.pdf_lines import Line, Word
from tests.retrieval import pdfs

TOP = 740
ROWS = 54

Piece = tuple[float, float, str, float]
"""x, y, words and size of what one page shows besides its lines of text."""


def said(data: bytes) -> str:
    draft = pdf.draft(data, name="paper.pdf")
    return " ".join(block.text for block in draft.blocks)


def pages(
    *pages: Sequence[Piece], columns: int = 1, rows: int = ROWS, numbered: bool = True
) -> bytes:
    """Full pages without a paragraph's end, each with pieces of its own."""

    def draw(canvas: Any) -> None:
        page = canvas.getPageNumber()
        if page == 1:
            canvas.setFont("Times-Bold", 16)
            canvas.drawCentredString(pdfs.WIDTH / 2, 800, "A Paper about the Margins of Its Pages")
            canvas.setFont("Times-Roman", 10)
            canvas.drawString(
                60, 774, "Abstract. We look at what stands beside the text of a paper."
            )
            canvas.drawString(60, 757, "1 INTRODUCTION")
        canvas.setFont("Times-Roman", 10)
        end = "says so, and so on" if columns == 2 else "says so " * 9
        for column in range(columns):
            for row in range(rows):
                text = f"page {page} column {column} row {row} {end}"
                canvas.drawString(60 + 250 * column, TOP - 12 * row, text)
        for x, y, text, size in pages[page - 1]:
            canvas.setFont("Times-Roman", size)
            canvas.drawString(x, y, text)
        if numbered:
            canvas.setFont("Times-Roman", 9)
            canvas.drawCentredString(pdfs.WIDTH / 2, 30, str(page))

    return pdfs.drawn(draw, pages=len(pages))


@pytest.mark.parametrize("end", ["2011.", "2023).", "[3].", "(1)"])
def test_a_line_beside_the_end_of_a_reference_or_of_a_sentence_is_text(end: str) -> None:
    beside = [(310.0, TOP - 12 * (ROWS - 1) - 13, end, 9.0), (60.0, 91.0, "ends here. The", 10.0)]
    above = [(60.0, TOP + 12.0, "so it begins", 10.0), (310.0, TOP + 13.0, end, 9.0)]
    text = said(pages([], above, beside, [], columns=2))
    assert "so it begins" in text and "ends here. The" in text


@pytest.mark.parametrize("end", ["2023).", "[3].", "(Raheja, 2023)."])
def test_a_last_line_that_is_the_end_of_a_sentence_is_text(end: str) -> None:
    foot = [(60.0, TOP - 12.0 * ROWS, end, 10.0)]
    assert end in said(pages([], foot, [], numbered=False))


def test_a_line_of_numbers_is_as_bold_as_they_are() -> None:
    for bold in (False, True):
        number = Word("2014.", 0, 20, 0, 9, bold)
        assert Line((number,), page=1, height=800).bold is bold
        assert not Line((number, Word("word", 30, 40, 0, 9, False)), page=1, height=800).bold


@pytest.mark.parametrize("number", ["117", "- 117 -", "Page 117 of 119", "xii"])
def test_a_number_that_stands_alone_at_a_page_end_is_the_page_s(number: str) -> None:
    text = said(pages([], [(290.0, 40.0, number, 10.0)], [], numbered=False))
    assert f" {number} " not in text


def test_the_page_number_of_a_short_text_stands_high_and_is_not_text() -> None:
    """TeX's own "article" on A4 has it at a sixth of the page's height."""
    feet = [[(295.0, 139.0, str(page), 10.0)] for page in (1, 2, 3)]
    text = said(pages(*feet, rows=48, numbered=False))
    assert "says so page 2" in text and "says so page 3" in text


def test_a_page_number_takes_a_head_with_it_that_other_pages_lack() -> None:
    heads = [[], [(60.0, 806.0, "2", 9.0), (400.0, 806.0, "Ann Author and Others", 9.0)]]
    heads += [
        [(60.0, 806.0, "Vol. 3", 9.0), (300.0, 806.0, "Margins", 9.0), (530.0, 806.0, "3", 9.0)]
    ]
    text = said(pages(*heads, numbered=False))
    assert "Others" not in text and "Vol. 3" not in text and "Margins" not in text


def test_a_head_that_a_short_paper_shows_once_is_none_of_its_text() -> None:
    heads = [(60.0, 806.0, "Ann Author", 8.0)], [(400.0, 806.0, "The Margins of Pages", 8.0)]
    for columns in (1, 2):
        text = said(pages([], *heads, columns=columns))
        assert "Ann Author" not in text and "Margins of Pages" not in text
        assert "page 2 column 0 row 0" in text


@pytest.mark.parametrize(
    ("y", "size"), [(806.0, 10.0), (756.0, 8.0)], ids=["as large as the text", "near to it"]
)
def test_a_first_line_that_does_not_look_like_a_head_is_text(y: float, size: float) -> None:
    tail = "which is how the sentence of this quotation ends, and so it is said."
    assert tail in said(pages([], [(60.0, y, tail, size)]))


def test_small_print_above_small_print_is_text() -> None:
    small = [(60.0, 806.0, "so ends the quotation of one who spoke in small letters.", 8.0)]
    small += [
        (60.0, 780.0 - 9 * row, f"small row {row} says so and so on here", 8.0) for row in range(4)
    ]
    assert "in small letters" in said(pages([], small))


def test_raised_digits_one_under_the_other_are_no_line_numbers() -> None:
    raised = [(40.0, TOP - 12.0 * row, "²", 7.0) for row in range(ROWS)]
    assert said(pages(raised, raised)).count("²") == 2 * ROWS


def test_numbers_of_headings_one_under_the_other_are_no_line_numbers() -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 16)
        canvas.drawString(60, 790, "A Paper of Short Sections")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 766, "Abstract. We write six sections on one page.")
        for at in range(6):
            canvas.setFont("Times-Bold", 10)
            canvas.drawString(60, 740 - 90 * at, f"{at + 1} Section {'ABCDEF'[at]}")
            canvas.setFont("Times-Roman", 10)
            for row in range(5):
                canvas.drawString(
                    60, 722 - 90 * at - 12 * row, f"row {row} of {at} " + "says so " * 9
                )

    blocks = pdf.draft(pdfs.drawn(draw), name="paper.pdf").blocks
    assert [b.text for b in blocks if b.heading] == [
        f"{n} Section {'ABCDEF'[n - 1]}" for n in range(1, 7)
    ]
