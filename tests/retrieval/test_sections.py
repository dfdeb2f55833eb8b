"""After the references only an appendix is read, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.retrieval.test_papers import paper_of, told

LATEX = r"""\documentclass{article}\title{A Title}\begin{document}
\begin{abstract}It is so.\end{abstract}
\section{Introduction}
Why so.
"""

AFTER_REFERENCES: list[tuple[list[str], list[str]]] = [
    (["# Appendix", "Kept."], ["Kept."]),
    (["# A Proofs", "Kept.", "# B Data", "Kept as well."], ["Kept.", "Kept as well."]),
    (["# Appendix", "Kept.", "# References", "[2] Gone.", "# Notes", "Gone."], ["Kept."]),
    (
        ["# A Setup", "We follow Ren et al. (2018), mostly."],
        ["We follow Ren et al. (2018), mostly."],
    ),
    (["# A Setup", "[1] A. Author, 2019.", "# B More", "B. Writer (2020)."], []),
    (["# A Survey of Trees", "A. Author, 2019."], []),
]
"""What stands after the references, and what of it is read."""


@pytest.mark.parametrize(("after", "kept"), AFTER_REFERENCES)
def test_only_an_appendix_is_read_after_the_references(
    tmp_path: Path, after: list[str], kept: list[str]
) -> None:
    parts = [
        "# A Title",
        "It is so.",
        "# Introduction",
        "Why so.",
        "# References",
        "[1] Gone.",
        *after,
    ]
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
    text = (
        "A Title\n\nIt is so.\n\n# Introduction\n\nWhy so.\n\nReferences\n\n[1] Nobody reads this."
    )
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
    text = (
        f"# T\n\nIt is so.\n\n{contents}\n\n# 1 Introduction\n\nWhy so.\n\n# References\n\n[1] B."
    )
    assert told(paper_of(tmp_path, text, "a.md")) == [("1 Introduction", "Why so.")]
