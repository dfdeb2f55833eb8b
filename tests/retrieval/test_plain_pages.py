"""Plain text that was taken from a PDF is read as the PDF is."""

from __future__ import annotations

import time
from itertools import zip_longest
from pathlib import Path

import pytest

from dialectree.retrieval.plain import blocks_of
from dialectree.retrieval.plain_pages import in_reading_order
from tests.retrieval.pdfs import sentences
from tests.retrieval.test_papers import paper_of, told

TOP = "A Paper on Orbits\n\nAbstract\nWe estimate orbits.\n\n"


def lines_of(text: str, width: int = 50) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def side_by_side(left: list[str], right: list[str], gutter: int = 56, level: bool = True) -> str:
    """Two columns as they stand beside one another; else the rows of one between the other's."""
    if level:
        rows = [f"{a:{gutter}}{b}" for a, b in zip_longest(left, right, fillvalue="")]
    else:
        pairs = zip_longest(left, right, fillvalue="")
        rows = [row for a, b in pairs for row in (a, f"{'':{gutter}}{b}")]
    return "\n".join(row.rstrip() for row in rows)


@pytest.mark.parametrize("level", [True, False])
def test_columns_that_stand_side_by_side_are_read_one_after_the_other(
    tmp_path: Path, level: bool
) -> None:
    first, second = " ".join(sentences(5)), " ".join(sentences(5, 5))
    left = ["1      Introduction", "", *lines_of(first)]
    right = [*lines_of(second), "", "                 R EFERENCES", "", "[1] Nobody reads this."]
    page = side_by_side(left, right, level=level)
    paper = paper_of(tmp_path, f"{TOP}{page}\n\n{'':50}1\n\f")
    assert {heading for heading, _ in told(paper)} == {"1 Introduction"}
    assert paper.body.replace("\n\n", " ") == f"{first} {second}"


def test_a_line_across_both_columns_parts_what_stands_above_it_from_what_stands_below() -> None:
    parts = [" ".join(sentences(4, 4 * n)) for n in range(4)]
    first, second, third, fourth = map(lines_of, parts)
    figure = "Figure 1: This caption is so long that it goes across the columns of the page."
    upper, lower = side_by_side(first, second), side_by_side(third, fourth)
    blocks = blocks_of(f"{upper}\n\n{figure}\n\n{lower}\n\f")
    assert " ".join(block.text for block in blocks) == " ".join(parts)


def test_a_table_is_no_text_in_columns() -> None:
    rows = "\n".join(f"Method number {n:<30}{n}.{n}          {n * 7}" for n in range(20))
    assert in_reading_order(f"It is so.\n\n{rows}\n\f").strip() == f"It is so.\n\n{rows}"


def test_what_every_page_shows_is_no_text_but_the_title_is(tmp_path: Path) -> None:
    said = sentences(8)
    pages = [
        f"{TOP}Introduction\n\n{said[0]}\n{said[1]}\n\nJournal of Orbits, page 1\n",
        f"A Paper on Orbits\n\n2\n\n{said[2]}\n{said[3]}\n\nJournal of Orbits, page 2\n",
        f"3\n\nA Paper on Orbits\n\n{said[4]}\n{said[5]}\n\nJournal of Orbits, page 3\n",
    ]
    paper = paper_of(tmp_path, "\f".join([*pages, ""]))
    assert paper.title == "A Paper on Orbits"
    assert paper.body.replace("\n\n", " ") == " ".join(said[:6])


def test_a_head_with_a_number_is_no_title(tmp_path: Path) -> None:
    said = sentences(4)
    pages = [f"ORBITS, VOL. 3, MAY 2023\n\n{n}\n\n{told}\n" for n, told in enumerate(said)]
    pages[0] = f"ORBITS, VOL. 3, MAY 2023\n\n1\n\n{TOP}{said[0]}\n"
    paper = paper_of(tmp_path, "\f".join([*pages, ""]))
    assert paper.title == "A Paper on Orbits"


def test_a_number_in_a_line_of_its_own_belongs_to_the_heading_under_it(tmp_path: Path) -> None:
    text = (
        f"{TOP}1\n\nIntroduction\n\nOrbits are old.\n\n2\n\nThe Ladder\n\nIt has rungs.\n\n"
        "2.1\n\nRungs and Steps\n\nThere are four.\n\n50\n\nEpochs\n\n1\n\fReferences\n\n"
        "[1] Nobody reads this.\n\nA\n\nProofs\n\nIt holds.\n\nB\n\nData\n\nThey are there.\n\f"
    )
    assert told(paper_of(tmp_path, text)) == [
        ("1 Introduction", "Orbits are old."),
        ("2 The Ladder", "It has rungs."),
        ("2.1 Rungs and Steps", "There are four."),
        ("2.1 Rungs and Steps", "Epochs"),
        ("A Proofs", "It holds."),
        ("B Data", "They are there."),
    ]


def test_a_letter_and_blanks_open_an_appendix(tmp_path: Path) -> None:
    listed = "References\n [1] Nobody reads this.\n"
    appendix = "A      Proofs\nIt holds.\n\nB    Data\nSo.\n\f"
    text = f"{TOP}1      Introduction\nWhy so.\n\n{listed}\n{appendix}"
    assert told(paper_of(tmp_path, text)) == [
        ("1 Introduction", "Why so."),
        ("A Proofs", "It holds."),
        ("B Data", "So."),
    ]


@pytest.mark.parametrize("piece", [" ", "a  ", "\t", "1\n\n", "A  B ", "1.1", "\f", "\n \n"])
def test_whatever_is_repeated_is_read_in_time(piece: str) -> None:
    began = time.monotonic()
    in_reading_order(f"It is so.\n{piece * (300_000 // len(piece))}\n\f")
    assert time.monotonic() - began < 10


def test_a_text_without_pages_is_left_as_it_stands() -> None:
    text = "A title\n\n1\n\nIt stands\n\n   as it  stands.\n"
    assert in_reading_order(text) == text
