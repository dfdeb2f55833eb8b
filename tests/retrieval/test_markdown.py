"""Markdown says what it shows: every word of its text, and nothing of its markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialectree.retrieval import markdown
from tests.retrieval.test_papers import paper_of


def said(body: str) -> str:
    """The paragraphs of a paper with that body."""
    blocks = markdown.draft(f"# Title\n\n## Abstract\n\nIt is so.\n\n## Body\n\n{body}").blocks
    return "\n\n".join(block.text for block in blocks[1:])


READ = [
    ("as the picture\n![l](l.png)\nshows", "as the picture shows"),
    ("so: <p>one.</p><p>two.</p>", "so: one. two."),
    (
        "of multi-\n![l](l.png)\nagent systems by multi-agent",
        "of multi-agent systems by multi-agent",
    ),
    (r"$\lambda \in \{.1, .5\}$ and for $\mu$.", "λ∈{.1, .5} and for μ."),
    ("It matches `[^a-z]` or ``[`@x]``.", "It matches [^a-z] or [`@x]."),
    ('[Words](x){.smallcaps} of *it*{#a .b key="1, 2"}.', "Words of it."),
    ("See [a @ b](http://x.y/@z) and [@z](http://x.y).", "See a @ b and @z."),
    ("::: {.theorem #a}\nIt holds.\n:::\n\nSo.", "It holds.\n\nSo."),
    ("It is.\n\n| a | b |\n|---|---|\n| c | d |\n\n: A caption {#a}\n\nSo.", "It is.\n\nSo."),
    (
        "It is.\n\n\\begin{table}\n\\begin{tabular}{l}a\\end{tabular}\n\n\\end{table}\n\nSo.",
        "It is.\n\nSo.",
    ),
    ("So\n\\begin{equation*}\na_1 = b_1.\n\\end{equation*}", "So a_1 = b_1."),
    (
        "H~2~O, CO~2~, Fe^3+^ and 10^5^, ~a~ or a~b c~.",
        "H2O, CO2, Fe^3+ and 10^5, ~a~ or a~b c~.",
    ),
    (f"{'It is so. ' * 60}Here k = 3.\n\nitems", f"{'It is so. ' * 60}Here k = 3.\n\nitems"),
    (
        "It is x = y and:\n\n$$a = b$$\n\nso. It is.\n\n- of one",
        "It is x = y and: a = b so. It is.\n\nof one",
    ),
    (r"As shown \citep[p.~3]{a,b}, it is; `\cite{a}`.", r"As shown, it is; \cite{a}."),
    (
        '<p align="justify">It fails on <b>hyperbolic</b> orbits.</p>',
        "It fails on hyperbolic orbits.",
    ),
    ("<div>\n**It** is $x_i$ &amp; `a`,\nso.\n</div>", "It is x_i & a, so."),
    ("<div>\n<!-- <p>a\nb --> It <!-- c --> is.\n</div>", "It is."),
    ("<p><img src='a.png' alt='It'></p>\n\n<hr>\n\n<a id='x'></a>", ""),
    ("<table><tr><td>1</td>\n\n<td>2</td></tr>\n\n</table>\n\nIt is.", "It is."),
]
"""Markdown, with what Pandoc adds to it and with markup, and how it is read."""


@pytest.mark.parametrize(("text", "words"), READ)
def test_words_are_read_as_they_are_shown(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize("heading", ["", "# References {.unnumbered}\n\n"])
def test_the_works_that_pandoc_lists_are_no_text(tmp_path: Path, heading: str) -> None:
    works = "::: {#ref-a .csl-entry}\nDoe, J. 2019. *Orbits*.\n:::\n\n" * 2
    listed = f"{heading}::: {{#refs .references .csl-bib-body}}\n{works}:::"
    text = f"# T\n\n## Abstract\n\nIt is.\n\n# Body\n\nWhy so.\n\n{listed}"
    assert [one.text for one in paper_of(tmp_path, text, "a.md").passages] == ["Why so."]


@pytest.mark.parametrize("piece", ["[@a ]( ", 'x {#a " ', "<td>", "\\cite["])
def test_brackets_that_never_close_are_read(piece: str) -> None:
    said("[" + piece * (20_000 // len(piece)))


@pytest.mark.parametrize(
    "top",
    [
        '<p align="center"><img src="a.png"> <a href="x">Pages</a></p>\n\n# Trees',
        "<!-- a note -->\n\n# Trees",
        "<p>Trees</p>\n\n## Abstract",
    ],
)
def test_the_title_stands_in_markup_or_under_it(top: str) -> None:
    assert markdown.draft(f"{top}\n\nIt is so.\n\n## Body\n\nIt is.").title == "Trees"
