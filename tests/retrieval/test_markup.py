"""LaTeX and Markdown say what is printed, and nothing of their macros, switches and markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.retrieval.blocks import Reading
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.latex import read_latex
from dialectree.retrieval.markup import read_markdown
from tests.retrieval.test_papers import paper_of

# LaTeX


def said(body: str, preamble: str = "", folder: Path | None = None) -> str:
    """The paragraphs of a paper with that body."""
    text = f"\\documentclass{{a}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}"
    return "\n\n".join(block.text for block in latex_reading(text, folder).blocks)


def latex_reading(text: str, folder: Path | None = None) -> Reading:
    builder = DocumentBuilder()
    read_latex(text, builder, "a.tex", folder)
    return builder.finish()


def markdown_reading(text: str) -> Reading:
    builder = DocumentBuilder()
    read_markdown(text, builder)
    return builder.finish()


ACCURACY = r"\newcommand{\acc}[2]{accuracy of #1 at #2 points}"


READ = [
    (ACCURACY, r"An \acc{91.2}{500} in all.", "An accuracy of 91.2 at 500 points in all."),
    (ACCURACY, r"An \acc.", "An."),
    (r"\newcommand{\x}[1][]{x#1}", r"So \x, \x[y], \x done.", "So x, xy, x done."),
    (r"\newcommand{\x}{one}\renewcommand{\x}{two}", r"Say \x.", "Say two."),
    (r"\DeclareMathOperator*{\best}{arg\,max}", r"The $\best_x f$.", "The arg max_x f."),
    (r"\newcommand{\x}[1]{\textbf{#1}}", r"So \x{a {b} \x{c \x{d}}} e.", "So a b c d e."),
    (r"\newcommand{\x}[1]{<#1>}\let\y\x\renewcommand{\x}[1]{(#1)}", r"So \y{a} \x{b}.", "So <a> (b)."),
    (r"\newcommand{\m}{Fast\xspace}", r"So \m is, \m, \m{} was.", "So Fast is, Fast, Fast was."),
    (
        r"\newcommand{\a}{one \b}\newcommand{\b}{two \a \a}\def\x#1{\x{#1 more}}\let\y\y",
        r"So \a. And \x{it}. \y",
        "So one two. And it more.",
    ),
    ("", r"So \SI{91.2}{kg}, \dfrac{1}{2}, \textcolor[rgb]{1,0,0}{red}.", "So 91.2 kg, 1/2, red."),
    ("", r"At \SI{5}{\kilo\metre\per\hour} or \qty{1}{{k}m}.", "At 5 kilometre per hour or 1 km."),
    ("", r"So \texttt{GPT-4} and \mbox{it}.", "So GPT-4 and it."),
    ("", r"See Fig.~\ref{a}. So Eq.~\eqref{b}.", "See Fig. So Eq."),
    ("", "\\twocolumn[\\begin{center}It is [1]{}.\\end{center}]\n\\twocolumn So.", "It is [1].\n\nSo."),
    (
        "",
        r"So\footnote{A {note {of} \emph{ours}}.} it~is \citep[see][p. 2]{a}.",
        "So it is [1].\n\nA note of ours.",
    ),
    ("", r"At \url{https://x.y/a%20b--c?d=1&e=~f#g} so.", "At https://x.y/a%20b--c?d=1&e=~f#g so."),
    ("", r"At \href{https://x.y/a%20b}{our page} it is.", "At our page it is."),
    ("", r"Say \verb|--rate 5% \it{| so.", "Say --rate 5% \\it{ so."),
    ("", "A\\begin{verbatim} a % b \\end{verbatim} stays. % goes\nSo.", "A a % b stays. So."),
    ("", "It is 50\\% % not 60\n  of it, \\\\% and\nmore.", "It is 50% of it, more."),
    ("", r"One \iffalse two \else three \fi four.", "One three four."),
    ("", r"\item[Key] value here \item[\textbf{Two}:] more", "Key value here\n\nTwo: more"),
    (
        "",
        r"\item[$\bullet$] One. \item[--] Two. \item[] Three. \item Four.",
        "One.\n\nTwo.\n\nThree.\n\nFour.",
    ),
]
"""The preamble and the body of a source, and how it is read."""


@pytest.mark.parametrize(("preamble", "body", "text"), READ)
def test_a_source_is_read_as_it_is_printed(preamble: str, body: str, text: str) -> None:
    assert said(body, preamble) == text


def test_macros_that_grow_without_end_are_refused() -> None:
    preamble = r"\newcommand{\x}[1]{#1#1}\newcommand{\y}{" + r"\x{" * 40 + "a" + "}" * 40 + "}"
    with pytest.raises(InputError, match="too much text"):
        said(r"So \y it is.", preamble)


def folder_of(tmp_path: Path, **files: str) -> Path:
    """A folder with a paper's other files, beside one that is none of its business."""
    (tmp_path / "outside.tex").write_text("A secret.")
    folder = tmp_path / "paper"
    (folder / "sec").mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name.replace('__', '/')}.tex").write_text(text)
    return folder


def test_a_file_is_drawn_in_by_any_form_of_input(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path,
        sec__one="This is one.\n",
        sec__two="This is two.\n",
        sec__three="This is three.\n\n\\input{four}\n\n\\subfileinclude{sec/five}",
        sec__four="This is four.\n",
        sec__five="This is five.\n",
        a="This is itself.",
    )
    body = (
        "\\input sec/one\n\n\\input sec/two.tex \n\n\\import{sec/}{three}\n\n\\input a\n\n"
        "\\input{sec/one}\n\nEnd."
    )
    parts = [f"This is {name}." for name in ("one", "two", "three", "four", "five")]
    assert said(body, folder=folder) == "\n\n".join([*parts, "End."])


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (r"\piece{none}", "includes {?sec/none}?, which is not a .tex file in its folder"),
        (r"\input{sec/link}", "includes sec/link, which is not a .tex file"),
        (r"\input{sec/long}", r"includes sec/long, .* or is too large"),
    ],
)
def test_a_paper_without_one_of_its_files_is_refused(tmp_path: Path, body: str, named: str) -> None:
    folder = folder_of(tmp_path, sec__one="This is one.", sec__long="So it is. " * 50_000)
    (folder / "sec" / "link.tex").symlink_to(tmp_path / "outside.tex")
    with pytest.raises(InputError, match=named) as raised:
        said(f"So it is. {body}", r"\newcommand{\piece}[1]{\input{sec/#1}}", folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        r"\begin{figure*}\begin{tabular}{l}\input{none}\end{tabular}\input{none}\end{figure*}",
        "% \\input{none}\n\\begin{comment}\\input{none}\\end{comment}",
        r"\end{document}\input{none}",
    ],
)
def test_a_file_that_would_say_nothing_need_not_be_there(tmp_path: Path, body: str) -> None:
    preamble = r"\input{glyphtounicode}\input{macros}"
    assert said(f"So it is.\n{body}", preamble, folder_of(tmp_path)) == "So it is."


def test_a_missing_file_outside_the_body_is_a_notice(tmp_path: Path) -> None:
    text = (
        r"\documentclass{a}\input{glyphtounicode}\input{macros}\input{there}"
        r"\begin{document}So it is.\end{document}\input{notes}"
    )
    found = latex_reading(text, folder_of(tmp_path, there=""))
    assert [block.text for block in found.blocks] == ["So it is."]
    outside = "outside of its sentences, but the file is missing"
    assert found.notices == [f"it includes {name} {outside}" for name in ("macros", "notes")]


def test_hostile_sources_are_read_or_refused() -> None:
    pieces = [r"\a{", r"\a[", r"\a[{]}", r"\newcommand{\a}{", r"\iffalse ", "\\verb|\n", "%\n  "]
    units = [r"\SI{" * 500 + "}" * 500, rf"\num{{1{' ' * 50_000}y}}", r"\si{\kilo" * 20_000]
    for source in [*(piece * 4_000 for piece in [*pieces, r"\url{{"]), *units]:
        try:
            said(source, r"\newcommand{\a}[2][x]{#1#2}")
        except InputError as error:
            assert "\n" not in str(error)


ABSTRACTS = [
    "\\begin{abstract}It is so.\\end{abstract}",
    "\\begin{sciabstract}It is so.\\end{sciabstract}",
    "\\twocolumn[\\maketitle\\begin{onecolabstract}It is so.\\end{onecolabstract}]",
    "\\Abstract{It is so.}",
    "\\addsec*{Abstract} It is so.",
    "\\begin{center}\\textbf{Abstract}\\end{center} It is so.",
    "\\begin{abstract}It is so.\\end{abstract}\\begin{keyword}a \\sep b\\end{keyword}",
]


@pytest.mark.parametrize("abstract", ABSTRACTS)
def test_an_abstract_is_found_in_any_form(tmp_path: Path, abstract: str) -> None:
    body = f"\\begin{{document}}{abstract}\n\\section{{Introduction}} Why so.\\end{{document}}"
    paper = paper_of(tmp_path, f"\\title{{T}}{body}", "a.tex")
    assert paper.abstract == "It is so."
    assert [passage.text for passage in paper.passages] == ["Why so."]


LISTED = "\\bibitem{a} A. Author, 1999.\n\n\\bibitem[{B}(2000)]{b} B. Author, 2000."


@pytest.mark.parametrize("around", ["", "thebibliography"])
def test_a_list_of_works_ends_the_body_and_numbers_them(tmp_path: Path, around: str) -> None:
    listed = f"\\begin{{{around}}}{LISTED}\\end{{{around}}}" if around else LISTED
    source = (
        "\\title{T}\\begin{document}\\begin{abstract}It is so.\\end{abstract}"
        f"\\addsec{{Opening}} Why so \\cite{{b,a}}.\n\n{listed}\n\\end{{document}}"
    )
    paper = paper_of(tmp_path, source, "a.tex")
    assert [passage.text for passage in paper.passages] == ["Why so [2, 1]."]
    assert paper.passages[0].heading == "Opening"


def test_a_source_that_is_cut_short_says_so_in_one_line(tmp_path: Path) -> None:
    source = "\\title{T}\\begin{document}\\begin{abstract}It is so.\\end{abstract}Why so.\n"
    assert paper_of(tmp_path, f"{source}\\end {{document}}", "a.tex").abstract == "It is so."
    with pytest.raises(InputError, match=r"^a\.tex: LaTeX that is cut short, [^\n]*$"):
        paper_of(tmp_path, source, "a.tex")


# Markdown


def shown(body: str) -> str:
    """The paragraphs of a paper with that body."""
    return "\n\n".join(block.text for block in markdown_reading(body).blocks)


SHOWN = [
    ("as the picture\n![l](l.png)\nshows", "as the picture l shows"),
    ("so: <p>one.</p><p>two.</p>", "so:\n\none.\n\ntwo."),
    (r"$\lambda \in \{.1, .5\}$ and for $\mu$.", "λ∈{.1, .5} and for μ."),
    ("It matches `[^a-z]` or ``[`@x]``.", "It matches [^a-z] or [`@x]."),
    ('[Words](x){.smallcaps} of *it*{#a .b key="1, 2"}.', "Words of it."),
    ("See [a @ b](http://x.y/@z) and [@z](http://x.y).", "See a @ b and @z."),
    ("::: {.theorem #a}\nIt holds.\n:::\n\nSo.", "It holds.\n\nSo."),
    (
        "It is.\n\n| a | b |\n|---|---|\n| c | d |\n\n: A caption {#a}\n\nSo.",
        "It is.\n\na | b\n\na: c; b: d\n\n: A caption\n\nSo.",
    ),
    ("So\n\\begin{equation*}\na_1 = b_1.\n\\end{equation*}", "So\n\na_1 = b_1."),
    ("H~2~O, CO~2~, Fe^3+^ and 10^5^, ~a~ or a~b c~.", "H2O, CO2, Fe^3+ and 10^5, a or a~b c~."),
    (f"{'It is so. ' * 60}Here k = 3.\n\nitems", f"{'It is so. ' * 60}Here k = 3.\n\nitems"),
    (
        "It is x = y and:\n\n$$a = b$$\n\nso. It is.\n\n- of one",
        "It is x = y and:\n\na = b\n\nso. It is.\n\nof one",
    ),
    (r"As shown \citep[p.~3]{a,b}, it is; `\cite{a}`.", r"As shown, it is; \cite{a}."),
    ('<p align="justify">It fails on <b>hyperbolic</b> orbits.</p>', "It fails on hyperbolic orbits."),
    ("<div>\n**It** is $x_i$ &amp; `a`,\nso.\n</div>", "**It** is $x_i$ & `a`, so."),
    ("<div>\n<!-- <p>a\nb --> It <!-- c --> is.\n</div>", "It is."),
    ("<p><img src='a.png' alt='It'></p>\n\n<hr>\n\n<a id='x'></a>", "It"),
    ("<table><tr><td>1</td>\n\n<td>2</td></tr>\n\n</table>\n\nIt is.", "1 | 2\n\nIt is."),
]
"""Markdown, with what Pandoc adds to it and with markup, and how it is read."""


@pytest.mark.parametrize(("text", "words"), SHOWN)
def test_words_are_read_as_they_are_shown(text: str, words: str) -> None:
    assert shown(text) == words


@pytest.mark.parametrize("heading", ["", "# References {.unnumbered}\n\n"])
def test_the_works_that_pandoc_lists_are_no_text(tmp_path: Path, heading: str) -> None:
    works = "::: {#ref-a .csl-entry}\nDoe, J. 2019. *Orbits*.\n:::\n\n" * 2
    listed = f"{heading}::: {{#refs .references .csl-bib-body}}\n{works}:::"
    text = f"# T\n\n## Abstract\n\nIt is.\n\n# Body\n\nWhy so.\n\n{listed}"
    assert [one.text for one in paper_of(tmp_path, text, "a.md").passages] == ["Why so."]


@pytest.mark.parametrize("piece", ["[@a ]( ", 'x {#a " ', "<td>", "\\cite["])
def test_brackets_that_never_close_are_read(piece: str) -> None:
    shown("[" + piece * (20_000 // len(piece)))


@pytest.mark.parametrize(
    "top",
    [
        '<p align="center"><img src="a.png"> <a href="x">Pages</a></p>\n\n# Trees',
        "<!-- a note -->\n\n# Trees",
        "<p>Trees</p>\n\n## Abstract",
    ],
)
def test_the_title_stands_in_markup_or_under_it(tmp_path: Path, top: str) -> None:
    paper = paper_of(tmp_path, f"{top}\n\nIt is so.\n\n## Body\n\nIt is.", "a.md")
    assert paper.title == "Trees"
