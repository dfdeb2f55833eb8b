"""Tables in PDFs are left out; loosely set lines of running text are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from dialectree.retrieval.papers import Paper, read
from tests.retrieval import pdfs

LONG = (
    "Heteroscedastic regularisation of overparameterised representations significantly outperforms "
    "straightforward approximations, although incomprehensibility of semiparametric "
    "reparameterisations, however counterintuitively characterised, systematically overcompensates "
    "misinterpretations and thereby underrepresents multidimensional generalisations"
)
TEXT = " ".join(f"Statement {n} says so and so of it. {LONG} in {n} of 9 cases." for n in range(9))
RESULTS = [
    ["Method", "RMSE", "Time", "Memory"],
    ["Exact", "0.20", "300", "12"],
    ["Sparse", "0.31", "12", "3"],
    ["Ours", "0.22", "9", "1"],
]
WORDS = [
    ["model", "encoder", "decoder", "sampler"],
    ["small", "linear", "linear", "greedy"],
    ["large", "gated", "local", "nucleus"],
    ["ours", "sparse", "local", "exact"],
]
WIDTH: dict[int, float] = {1: pdfs.WIDTH - 120, 2: 225.0, 3: 143.0}
"""Of a column, by how many there are."""


class Sheet:
    """A page that is filled line by line, column by column."""

    def __init__(self, canvas: Any, columns: int) -> None:
        self.canvas, self.columns, self.width = canvas, columns, WIDTH[columns]
        canvas.setFont("Times-Bold", 18)
        canvas.drawCentredString(pdfs.WIDTH / 2, 790, "Rows and Lines")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(60, 770, "Abstract. We set lines loosely and tables among them.")
        self.top = self.y = 740.0
        self.column = 0

    @property
    def x(self) -> float:
        return 60 + self.column * (self.width + 24)

    def down(self, step: float = 12.0) -> float:
        self.y -= step
        if self.y < 60:
            self.column, self.y = self.column + 1, self.top - step
        if self.column == self.columns:
            self.canvas.showPage()
            self.column, self.top = 0, 790.0
            self.y = self.top - step
        self.canvas.setFont("Times-Roman", 10)
        return self.y

    def heading(self, text: str) -> None:
        y = self.down(24)
        self.canvas.setFont("Times-Bold", 12)
        self.canvas.drawString(self.x, y, text)
        self.down(8)

    def text(self, text: str) -> None:
        """Set justified, without hyphens: lines of long words come out loose."""
        *lines, last = pdfs.wrapped(text, self.width)
        for line in lines:
            self.row(line.split(), self._spread(line.split()))
        self.row([last], [0.0])

    def _spread(self, words: Sequence[str]) -> list[float]:
        widths = [stringWidth(word, "Times-Roman", 10) for word in words]
        gap = (self.width - sum(widths)) / max(len(words) - 1, 1)
        return [sum(widths[:n]) + gap * n for n in range(len(words))]

    def row(self, cells: Sequence[str], places: Sequence[float], step: float = 12.0) -> None:
        y = self.down(step)
        for cell, place in zip(cells, places, strict=True):
            self.canvas.drawString(self.x + place, y, cell)

    def table(self, rows: Sequence[Sequence[str]], width: float, start: float = 0.0) -> None:
        """Rows ``width`` wide, all in one column."""
        if self.y < 80 + 14 * len(rows):
            self.y = 0
        self.down(6)
        last = width - max(stringWidth(cells[-1], "Times-Roman", 10) for cells in rows)
        for cells in rows:
            places = [start + n * width / len(cells) for n in range(len(cells) - 1)]
            self.row(cells, [*places, start + last], 14)
        self.down(8)


def paper_of(folder: Path, draw: Any) -> Paper:
    (folder / "paper.pdf").write_bytes(pdfs.drawn(draw))
    return read(folder / "paper.pdf")


def told(paper: Paper) -> str:
    return " ".join(passage.text for passage in paper.passages)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_loosely_set_lines_are_text(tmp_path: Path, columns: int) -> None:
    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, columns)
        sheet.heading("1 Introduction")
        sheet.text(TEXT)
        sheet.text(TEXT)

    assert told(paper_of(tmp_path, draw)) == f"{TEXT} {TEXT}"


def test_a_last_page_that_is_not_full_has_the_columns_of_the_others(tmp_path: Path) -> None:
    text = " ".join(f"Statement {n} says so." for n in range(340))
    rest = " ".join(f"Remark {n} says so and so." for n in range(14))

    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, 3)
        sheet.heading("1 Introduction")
        sheet.text(text)
        canvas.showPage()
        sheet.column, sheet.top = 0, 790.0
        *lines, last = pdfs.wrapped(rest, sheet.width)
        third = (len(lines) + 3) // 3
        for n, line in enumerate([*lines, last]):
            sheet.column, sheet.y = n // third, 760 - 12 * (n % third)
            sheet.row([line], [0.0])

    assert told(paper_of(tmp_path, draw)) == f"{text} {rest}"


@pytest.mark.parametrize("rows", [RESULTS, WORDS])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("share", [0.7, 1.0])
def test_a_table_inside_running_text_is_left_out(
    tmp_path: Path, rows: list[list[str]], columns: int, share: float
) -> None:
    """Whether or not it reaches both edges of the column, with or without a caption."""

    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, columns)
        sheet.heading("1 Introduction")
        for _ in range(3):
            sheet.text(TEXT)
            sheet.table(rows, sheet.width * share, sheet.width * (1 - share) / 2)
        sheet.text(TEXT)

    paper = paper_of(tmp_path, draw)
    assert told(paper) == " ".join([TEXT] * 4)
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}


@pytest.mark.parametrize("rows", [RESULTS, WORDS, [[*row, *row[1:]] for row in RESULTS]])
@pytest.mark.parametrize("share", [0.6, 1.0])
def test_a_table_over_both_columns_is_left_out(
    tmp_path: Path, rows: list[list[str]], share: float
) -> None:
    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, 2)
        sheet.canvas.drawString(60, 740, "1 INTRODUCTION")
        sheet.y = 730
        full = pdfs.WIDTH - 120
        lines = [(x, top) for top in (730, 440) for x in (60, 60 + sheet.width + 24)]
        for x, top in lines:
            sheet.y, sheet.column = top, int(x > 60)
            sheet.text(f"{LONG}.")
            sheet.text(f"{LONG}.")
        sheet.y, sheet.column = 528, 0
        sheet.table(rows, full * share, full * (1 - share) / 2)

    assert told(paper_of(tmp_path, draw)) == " ".join([f"{LONG}."] * 8)


def test_the_rows_of_a_table_in_larger_letters_are_no_heading(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, 2)
        sheet.heading("1 Introduction")
        sheet.text(TEXT)
        sheet.down()
        for cells in (("Method", "Acc", "F1"), ("Ours", "91.2", "88")):
            y = sheet.down(14)
            sheet.canvas.setFont("Times-Roman", 13)
            for cell, place in zip(cells, (0, 46, 74), strict=True):
                sheet.canvas.drawString(sheet.x + place, y, cell)
        sheet.row(["Table 1: Accuracy of all."], [0.0])
        sheet.down(8)
        sheet.text(TEXT)

    paper = paper_of(tmp_path, draw)
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
    assert told(paper) == f"{TEXT} {TEXT}"


def test_the_bold_head_of_a_table_is_no_heading(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas, 2)
        sheet.heading("1 Introduction")
        sheet.text(TEXT)
        y = sheet.down(24)
        sheet.canvas.setFont("Times-Bold", 10)
        sheet.canvas.drawString(sheet.x, y, "Method")
        sheet.canvas.drawString(sheet.x + 90, y, "Accuracy")
        sheet.row(["Ours", "91.2"], [0.0, 90.0])
        sheet.row(["Theirs", "81.2"], [0.0, 90.0])
        sheet.down()
        sheet.text(TEXT)

    paper = paper_of(tmp_path, draw)
    assert {passage.heading for passage in paper.passages} == {"1 Introduction"}
