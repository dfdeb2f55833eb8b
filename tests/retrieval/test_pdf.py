"""PDFs: columns, line ends, margins and pages come out as a reader sees them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.errors import InputError
from dialectree.retrieval import blocks, reading_process
from dialectree.retrieval.blocks import join_lines, words_of
from dialectree.retrieval.papers import Paper, read
from dialectree.retrieval.pdf_pages import FontRun, Line, find_columns
from dialectree.retrieval.sources import read_sources
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
    return " ".join(passage.text for passage in paper.passages if passage.kind == "paragraph")


def paragraphs(count: int) -> list[str]:
    said = pdfs.sentences(count * 3)
    return ["# 1 Introduction", *(" ".join(said[3 * n : 3 * n + 3]) for n in range(count))]


@pytest.mark.parametrize(
    "layout",
    [
        {"columns": 1, "furniture": pdfs.heads_and_numbers},
        {"columns": 1, "furniture": pdfs.line_numbers},
        {"columns": 2},
        {"columns": 2, "row_by_row": True},
    ],
    ids=["heads", "line numbers", "columns", "row by row"],
)
def test_columns_are_read_one_after_the_other_and_margins_not_at_all(
    tmp_path: Path, layout: dict[str, Any]
) -> None:
    text = paragraphs(30)
    paper = paper_of(tmp_path, pdfs.paper(text, **layout))
    assert paper.title == "A Study of Paired Debates"
    assert paper.abstract == "We study debates in pairs. They help readers to see both sides."
    assert told(paper) == " ".join(text[1:])
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    prose = [passage.text for passage in paper.passages if passage.kind == "paragraph"]
    assert paper.introduction == "\n\n".join(prose)


def test_a_figure_across_both_columns_parts_what_stands_above_it_from_what_stands_below(
    tmp_path: Path,
) -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Bold", 16)
        canvas.drawCentredString(pdfs.WIDTH / 2, 780, "Two Halves of One Page Are Read Apart")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 762, "Abstract. We read a page with a figure across it.")
        canvas.drawString(60, 746, "1 INTRODUCTION")
        for column, x in ((1, 60), (2, 320)):
            for row in range(8):
                end = "." if row == 7 else ""
                canvas.drawString(x, 730 - 12 * row, f"above column {column} row {row} says so and so{end}")
                canvas.drawString(x, 440 - 12 * row, f"below column {column} row {row} says so and so{end}")
        canvas.drawCentredString(
            pdfs.WIDTH / 2, 480, "Figure 1: A wide picture that runs across both of the columns here."
        )

    paper = paper_of(tmp_path, pdfs.drawn(draw))
    body = " ".join(passage.text for passage in paper.passages)
    places = [body.find(f"{half} column {n} row 3") for half in ("above", "below") for n in (1, 2)]
    assert -1 not in places and places == sorted(places)
    assert places[1] < body.find("wide picture") < places[2]


@pytest.mark.parametrize("caption", ["Figure 1: We find so.", "TABLE I"])
def test_a_caption_in_bold_is_no_heading_and_no_text(tmp_path: Path, caption: str) -> None:
    text = paragraphs(4)
    data = pdfs.paper([*text[:3], f"# {caption}", *text[3:]])
    paper = paper_of(tmp_path, data)
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    assert told(paper) == " ".join(text[1:])


@pytest.mark.parametrize("line", ["We say so in large letters,", "Large letters say many things, too;"])
def test_a_large_line_whose_sentence_goes_on_is_no_heading(tmp_path: Path, line: str) -> None:
    text = paragraphs(4)
    paper = paper_of(tmp_path, pdfs.paper([*text[:3], f"# {line}", *text[3:]]))
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    assert told(paper) == " ".join([*text[1:3], line, *text[3:]])


def test_hyphens_at_line_ends_follow_the_document_own_use(tmp_path: Path) -> None:
    text = (
        "A state-of-the-art approach needs long computation and every approach with computation "
        "is slow, so that a state-of-the-art system for computation is slow as well. "
    )
    hyphens = {"computation": "compu", "state-of-the-art": "state-of-the", "approach": "ap"}
    for width in range(4):
        padded = "x" * (width + 1) + " " + text * 6
        paper = paper_of(tmp_path, pdfs.paper(["# Introduction", padded.strip()], columns=2, hyphens=hyphens))
        assert paper.body == padded.strip()


@pytest.mark.parametrize("name", ["References", "VII. BIBLIOGRAPHY"])
def test_the_body_ends_at_the_references_but_for_an_appendix(tmp_path: Path, name: str) -> None:
    entries = ["[1] A. Author. A reference. 2020.", "# Acknowledgements", "Thanks."]
    text = [*paragraphs(6), f"# {name}", *entries, "# A  Proofs", "The proof is simple."]
    paper = paper_of(tmp_path, pdfs.paper(text, columns=2))
    assert [passage.text for passage in paper.passages] == [*text[1:7], "The proof is simple."]
    assert paper.passages[-1].heading == "A Proofs"


def test_every_sentence_of_forty_pages_knows_its_page(tmp_path: Path) -> None:
    text = paragraphs(440)
    data = pdfs.paper(text, columns=2, furniture=pdfs.heads_and_numbers)
    paper = paper_of(tmp_path, data)
    assert told(paper) == " ".join(text[1:])
    last = paper.passages[-1]
    assert (last.page_at(len(last.text) - 1) or 0) >= 40
    pages = [page for p in paper.passages for page in (p.page, *(page for _, page in p.breaks))]
    assert None not in pages and pages == sorted(pages, key=lambda page: page or 0)
    assert any(passage.breaks for passage in paper.passages)
    for passage in paper.passages:
        assert paper.body[passage.offset :].startswith(passage.text)


def test_pdfs_that_cannot_be_read_say_why_in_one_line(tmp_path: Path) -> None:
    whole = pdfs.paper(paragraphs(12))
    cases = {
        "encrypted": pdfs.paper(paragraphs(2), encrypt="secret"),
        "OCR it first": pdfs.scanned(),
        "a damaged PDF": whole[: len(whole) // 2],
        "not a PDF": b"<html>Please log in</html>",
        "without pages": WITHOUT_PAGES,
        "empty file": b"",
        "2001 pages, at most 2000": pdfs.drawn(lambda canvas: None, pages=2001),
        "no text besides title and abstract": pdfs.paper([]),
    }
    for why, data in cases.items():
        with pytest.raises(InputError) as caught:
            paper_of(tmp_path, data)
        assert why in str(caught.value) and str(caught.value).startswith("paper.pdf: ")
        assert "\n" not in str(caught.value)


def test_any_damage_gives_a_paper_or_one_line(tmp_path: Path) -> None:
    whole = pdfs.paper(paragraphs(6))
    for at in range(20, len(whole) - 40, len(whole) // 6):
        data = whole[:at] + bytes([(whole[at] + 77) % 256]) * 9 + whole[at + 9 :]
        try:
            paper_of(tmp_path, data)
        except InputError as error:
            assert "\n" not in str(error)


def test_the_metadata_name_a_paper_whose_first_page_does_not(tmp_path: Path) -> None:
    untitled = pdfs.paper(paragraphs(5), title="Introduction", metadata="Ladders Söund")
    paper = paper_of(tmp_path, untitled)
    assert paper.title == "Ladders Söund"
    assert "metadata" in paper.notices[0]
    titled = paper_of(tmp_path, pdfs.paper(paragraphs(5), metadata="Microsoft Word - draft3.doc"))
    assert titled.title == "A Study of Paired Debates"
    assert titled.notices == ("paper.pdf: 6 words left out: title page",)


@pytest.mark.parametrize(
    ("module", "limit", "value", "told"),
    [
        (reading_process, "MEMORY", 200_000_000, "or 0.2 GB of memory"),
        (reading_process, "WAIT_S", 0.01, "takes more than"),
        (blocks, "SECONDS", 1.0, "more than 1 s or"),
    ],
)
def test_a_pdf_that_takes_too_much_is_refused(
    module: ModuleType, limit: str, value: float, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, value)
    assert len(pdfs.bomb()) < 100_000
    with pytest.raises(InputError, match=rf"^paper\.pdf: .*{told}"):
        paper_of(tmp_path, pdfs.bomb())


def test_a_pdf_without_abstract_has_its_opening_in_place_of_one(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for y, size, line in (
            (790, 18, "What a Paper Says First"),
            (758, 10, "Ann Author"),
            (734, 12, "Introduction"),
            (722, 10, "We begin with the ground of it, and then we go on to the rest."),
        ):
            canvas.setFont("Times-Roman", size)
            canvas.drawString(60, y, line)

    paper = paper_of(tmp_path, pdfs.drawn(draw))
    assert paper.abstract == "We begin with the ground of it, and then we go on to the rest."
    assert "no abstract found in it" in paper.notices[0]


@pytest.mark.parametrize(
    ("left", "right", "known", "whole"),
    [
        ("state-of-the-", "art", "we say what is the best", "state-of-the-art"),
        ("off-", "the-shelf", "we say what is the best", "off-the-shelf"),
        ("multi-", "agent-based", "nothing of that kind", "multi-agent-based"),
        ("decision-", "tree-based", "each decision of ours", "decision-tree-based"),
        ("Con-", "tent-addressable", "nothing of that kind", "Content-addressable"),
    ],
)
def test_a_compound_broken_inside_a_word_is_told_from_one_broken_between_two(
    left: str, right: str, known: str, whole: str
) -> None:
    assert join_lines(left, right, words_of([known]))[0] == whole


PLACES = st.tuples(st.integers(1, 6), st.integers(0, 400), st.integers(1, 300), st.integers(0, 30))


@given(st.lists(PLACES, max_size=40))
def test_no_line_is_lost_or_read_twice_wherever_it_stands(places: list[tuple[int, int, int, int]]) -> None:
    lines = [
        Line([FontRun("word " * words, left, left + width, 12.0 * row, 10, False, 0, True)])
        for words, left, width, row in places
    ]
    assert Counter(line for region in find_columns(lines) for line in region) == Counter(lines)


def test_a_line_beside_one_across_both_columns_is_read(tmp_path: Path) -> None:
    """As in a journal whose running head stands at the height of its volume."""

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Roman", 10)
        for row in range(30):
            for column, x in ((1, 60), (2, 320)):
                canvas.drawString(x, 700 - 12 * row, f"column {column} has its row {row} here")
        canvas.drawString(60, 740, "A wide line above both columns says what stands below it on this page:")
        canvas.drawString(430, 740, "and June 2009 is beside it.")

    (tmp_path / "a.pdf").write_bytes(pdfs.drawn(draw))
    [document], notices = read_sources(tmp_path / "a.pdf")
    assert "June 2009 is beside it." in " ".join(passage.text for passage in document.passages)
    assert not any("were not read" in notice for notice in notices)


def test_narrow_and_wide_columns_beside_each_other_are_read_apart(tmp_path: Path) -> None:
    """As the dates of an article and its abstract."""
    dates = ["Article history:", "Received in May", "Revised in June", "", "Keywords:", "Solar cell"]
    abstract = [f"Row {row} of the abstract goes on and on over its line" for row in range(8)]

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Roman", 10)
        for x, lines, step in ((60, dates, 17), (220, abstract, 12)):
            for row, line in enumerate(lines):
                canvas.drawString(x, 700 - step * row, line)
        for row in range(30):
            for x in (60, 320):
                canvas.drawString(x, 560 - 12 * row, "The body of the paper has two columns.")

    (tmp_path / "a.pdf").write_bytes(pdfs.drawn(draw))
    [document], _ = read_sources(tmp_path / "a.pdf")
    text = " ".join(passage.text for passage in document.passages)
    assert " ".join(abstract) in text


def test_a_numbered_line_between_paragraphs_is_a_heading_and_one_of_a_list_is_not(tmp_path: Path) -> None:
    said = pdfs.sentences(9)
    lines = [said[0], "2. Experimental method", said[1], "1. Sand", "2. Gravel", said[2]]

    def draw(canvas: Any) -> None:
        canvas.setFont("Times-Roman", 10)
        y = 760.0
        for paragraph in lines:
            for line in pdfs.wrapped(paragraph, 400):
                canvas.drawString(60, y, line)
                y -= 12
            y -= 14

    (tmp_path / "a.pdf").write_bytes(pdfs.drawn(draw))
    [document], _ = read_sources(tmp_path / "a.pdf")
    kinds = {passage.text: passage.kind for passage in document.passages}
    assert kinds["2. Experimental method"] == "heading"
    assert kinds["1. Sand"] == kinds["2. Gravel"] == "item"
