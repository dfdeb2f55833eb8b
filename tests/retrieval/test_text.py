"""Plain text: the lines around a line say whether it is a heading; a title is told from text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialectree.retrieval import text as plain
from dialectree.retrieval.papers import read
from tests.retrieval.test_papers import paper_of, told

TOP = "A Paper on Orbits\n\nAbstract\nWe estimate orbits.\n\n1 Introduction\n"
END = "\n\n2 Method\nThe ladder has four rungs."


@pytest.mark.parametrize("last", ["literature.", "Literature."])
def test_the_last_line_of_a_sentence_is_no_heading(tmp_path: Path, last: str) -> None:
    said = "Orbits have been estimated for a long time. The reader finds a survey of that in the"
    for after in ("\n\nWe add to it.", "\nWe add to it."):
        passages = told(paper_of(tmp_path, f"{TOP}{said}\n{last}{after}{END}"))
        assert {heading for heading, _ in passages} == {"1 Introduction", "2 Method"}
        assert f"{said} {last}" in passages[0][1]
        assert any("We add to it." in text for _, text in passages)


MID_SENTENCE = [
    """
The ladder is fast, and it was tested on Intel and on an
IBM PC AT AND XT CPU
machine that was old. The budget was ten hours in total.
""",
    """
2 Because the orbit is short, the fit converges in three
steps. All of this was repeated for every single planet.
""",
]
"""Narrow lines of which one looks like a heading by itself."""


@pytest.mark.parametrize("text", MID_SENTENCE)
def test_a_line_in_the_middle_of_a_sentence_is_no_heading(text: str) -> None:
    (block,) = plain.blocks_of(text)
    assert (block.text, block.heading) == (" ".join(text.split()), False)


TIGHT = [
    ("It is so.", "2 Method", "The ladder has rungs."),
    ("It is so.", "2 Method", "k-means has no rungs, and it does not need any of them."),
    ("y = ax + b", "Method", "k-means has no rungs, and it does not need any of them."),
    ("It is so.", "3 A Ladder of Rungs for Each of the Planets", "It has four of them."),
]
"""The line above a heading, the heading, the line below it: no empty line between them."""


@pytest.mark.parametrize(("above", "heading", "below"), TIGHT)
def test_a_heading_needs_no_empty_line_around_it(above: str, heading: str, below: str) -> None:
    said = "These are the lines of a paragraph, all of them\nas wide as its text is elsewhere in it."
    text = "\n".join([said, above, heading, below, said])
    assert [b.text for b in plain.blocks_of(text) if b.heading] == [heading]


FIRST = (
    "We estimate the orbits of planets with a ladder of linear\nfits. Each rung is fast, and the\n"
    "last is exact."
)
REST = "\n\nOrbits have been estimated for a long time.\n\nThe ladder has four rungs."


@pytest.mark.parametrize("first", [FIRST, "We ask what a reader may ask:", "本文研究轨道估计。"])
def test_a_given_title_leaves_a_first_paragraph_of_text_where_it_is(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.txt").write_text(first + REST)
    shown = " ".join(first.split())
    paper = read(tmp_path / "a.txt", title="Orbits", abstract="Given.")
    assert paper.passages[0].text == shown
    assert len(paper.passages) == 3


@pytest.mark.parametrize("first", ["A Paper on Orbits", "# Another\nJane Doe", "Another\n=======\nJane Doe"])
def test_a_title_that_the_file_shows_is_no_text_beside_the_given_one(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.txt").write_text(first + REST)
    paper = read(tmp_path / "a.txt", title="A Paper on Orbits", abstract="Given.")
    assert [text for _, text in told(paper)] == REST.strip().split("\n\n")


@pytest.mark.parametrize("title", [None, "A Paper on Orbits"])
def test_a_sentence_right_under_the_title_is_not_taken_for_its_authors(
    tmp_path: Path, title: str | None
) -> None:
    (tmp_path / "a.txt").write_text(f"A Paper on Orbits\nWe estimate\norbits.{REST}")
    paper = read(tmp_path / "a.txt", title=title)
    assert paper.abstract == "We estimate orbits."
    assert [text for _, text in told(paper)] == REST.strip().split("\n\n")


CHINESE = [
    ("摘 要：", "一、引言", "二、方法与数据", "参考文献："),
    ("【摘要】\n", "（一）引言", "（二）方法", "参考文献 (References)"),
    ("要旨\n", "1 引言", "2 方法", "参考文献"),
]


@pytest.mark.parametrize(("opening", "first", "second", "last"), CHINESE)
def test_chinese_and_japanese_headings_are_known(
    tmp_path: Path, opening: str, first: str, second: str, last: str
) -> None:
    top = f"轨道估计的新方法\n\n{opening}本文研究轨道估计。\n\n关键词：轨道；估计"
    parts = [top, first, "轨道很老。", second, "我们用梯子。", last, "[1] 张三. 轨道[J]. 2019."]
    paper = paper_of(tmp_path, "\n\n".join(parts))
    assert (paper.abstract, paper.introduction) == ("本文研究轨道估计。", "轨道很老。")
    assert told(paper) == [(first, "轨道很老。"), (second, "我们用梯子。")]


def test_a_line_that_begins_with_a_citation_goes_on_with_its_sentence(tmp_path: Path) -> None:
    first = "We follow earlier work on the orbits of planets"
    said = f"{first}\n[7] and go on with it.\n[8] is older."
    text = f"{TOP}{said}\n\nReferences\n\n[1] A. Author. 2019.\n[2] B. Author. 2020."
    passages = [text for _, text in told(paper_of(tmp_path, text))]
    assert passages == [f"{first} [7] and go on with it.", "[8] is older."]


LATEX = r"""\documentclass{article}\title{A Title}\begin{document}
\begin{abstract}It is so.\end{abstract}
\section{Introduction}
Why so.
"""

AFTER_REFERENCES: list[tuple[list[str], list[str]]] = [
    (["# Appendix", "Kept."], ["Kept."]),
    (["# A Proofs", "Kept.", "# B Data", "Kept as well."], ["Kept.", "Kept as well."]),
    (["# Appendix", "Kept.", "# References", "[2] Gone.", "# Notes", "Gone."], ["Kept."]),
    (["# A Setup", "We follow Ren et al. (2018), mostly."], ["We follow Ren et al. (2018), mostly."]),
    (["# A Setup", "[1] A. Author, 2019.", "# B More", "B. Writer (2020)."], []),
    (["# A Survey of Trees", "A. Author, 2019."], []),
]
"""What stands after the references, and what of it is read."""


@pytest.mark.parametrize(("after", "kept"), AFTER_REFERENCES)
def test_only_an_appendix_is_read_after_the_references(
    tmp_path: Path, after: list[str], kept: list[str]
) -> None:
    parts = ["# A Title", "It is so.", "# Introduction", "Why so.", "# References", "[1] Gone.", *after]
    text = "\n\n".join(parts)
    body = json.dumps({"title": "T", "abstract": "a", "body": "\n\n".join(parts[2:])})
    for name, source in (("a.md", text), ("a.txt", text), ("a.json", body)):
        paper = paper_of(tmp_path, source, name)
        assert [passage.text for passage in paper.passages] == ["Why so.", *kept]


@pytest.mark.parametrize(
    ("after", "kept"),
    [(["A Proof", "A.1 Lemmas", "Kept."], ["Kept."]), (["A Survey", "Springer, Berlin."], [])],
)
def test_a_letter_alone_opens_no_appendix_where_nothing_marks_a_heading(
    tmp_path: Path, after: list[str], kept: list[str]
) -> None:
    text = "A Title\n\nIt is so.\n\n# Introduction\n\nWhy so.\n\nReferences\n\n[1] Nobody reads this."
    paper = paper_of(tmp_path, "\n\n".join([text, *after]))
    assert [passage.text for passage in paper.passages] == ["Why so.", *kept]


@pytest.mark.parametrize(
    "references",
    [
        "\\bibliographystyle{plain}\\bibliography{refs}",
        "\\printbibliography[heading=none]",
        "\\begin{thebibliography}{9}\\bibitem{a} A. Author.\\end{thebibliography}",
    ],
)
@pytest.mark.parametrize(
    "appendix",
    [
        "\\appendix\\section{Proofs}\nIt holds.",
        "\\begin{appendices}\\section{Proofs}\nIt holds.\\end{appendices}",
        "\\section*{Appendix}\\subsection{Proofs}\nIt holds.",
    ],
)
def test_latex_is_read_to_its_references_and_in_its_appendix(
    tmp_path: Path, references: str, appendix: str
) -> None:
    notes = "\\section{Notes}\nNobody reads this."
    text = "\n".join([LATEX, references, notes, appendix, "\\end{document}"])
    paper = paper_of(tmp_path, text, "paper.tex")
    assert told(paper) == [("Introduction", "Why so."), ("Proofs", "It holds.")]


def test_the_references_in_a_list_of_contents_end_nothing(tmp_path: Path) -> None:
    contents = "# 1 Introduction\n\n# References\n\n# A Proofs"
    text = f"# T\n\nIt is so.\n\n{contents}\n\n# 1 Introduction\n\nWhy so.\n\n# References\n\n[1] B."
    assert told(paper_of(tmp_path, text, "a.md")) == [("1 Introduction", "Why so.")]
