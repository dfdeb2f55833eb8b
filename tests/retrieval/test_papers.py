"""A paper comes in from whatever file it is in, or says in one line why not."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialectree.errors import InputError
from dialectree.retrieval import blocks, formats
from dialectree.retrieval.papers import Paper, PartMissing, Passage, read
from dialectree.retrieval.segments import cut
from tests.retrieval.test_sources import docx

PLAIN = """Debates on Trees

We let papers debate, each in the words
of its own authors. They do it well.

1 Introduction

Debates are old. They were held in all ages.

## Method

We hold them on trees, by a method that is

new to us.

CONCLUSION

They work.

References

[1] Nobody reads this.
"""


def paper_of(folder: Path, text: str | bytes, name: str = "paper.txt") -> Paper:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path)


def told(paper: Paper) -> list[tuple[str | None, str]]:
    return [(passage.heading, passage.text) for passage in paper.passages]


def test_plain_text_has_its_title_first_and_its_abstract_next(tmp_path: Path) -> None:
    paper = paper_of(tmp_path, PLAIN)
    assert paper.name == "paper.txt"
    assert paper.title == "Debates on Trees"
    assert paper.abstract == "We let papers debate, each in the words of its own authors. They do it well."
    assert paper.introduction == "Debates are old. They were held in all ages."
    assert told(paper) == [
        ("1 Introduction", "Debates are old. They were held in all ages."),
        ("Method", "We hold them on trees, by a method that is new to us."),
        ("CONCLUSION", "They work."),
    ]


@pytest.mark.parametrize("opening", ["## Abstract\n\n", "ABSTRACT\n", "Abstract: "])
def test_a_heading_opens_the_abstract_and_authors_belong_nowhere(tmp_path: Path, opening: str) -> None:
    text = f"A Title\n\nJane Doe\n\nA University\n\n{opening}It is so.\n\n# Introduction\n\nWhy so."
    paper = paper_of(tmp_path, text)
    assert (paper.title, paper.abstract) == ("A Title", "It is so.")
    assert told(paper) == [("Introduction", "Why so.")]


def test_broken_lines_and_hyphens_are_mended_in_plain_text(tmp_path: Path) -> None:
    text = "A Title\n\nAn ab-\nstract of ﬁve words.\n\nA well-known fact is well-\nknown here, but abstract."
    paper = paper_of(tmp_path, text)
    assert paper.abstract == "An abstract of five words."
    assert paper.body == "A well-known fact is well-known here, but abstract."


MARKDOWN = """---
title: 'Trees: a package'
tags: [a, b]
---

# Summary

The *package* `trees` does [many things](http://x.y) [@doe2020; @roe] for $\\sigma_i^2$.[^1]

![A picture](a.png)

| a | b |
| - | - |
| 1 | 2 |

```python
print("code")
```

# Statement of need

People need
trees.

- First of all
- Second

# References
"""


def test_markdown_keeps_its_words_its_tables_and_its_code(tmp_path: Path) -> None:
    paper = paper_of(tmp_path, MARKDOWN, "paper.md")
    assert paper.title == "Trees: a package"
    assert paper.abstract.startswith("The package trees does many things for σ_i^2.")
    assert told(paper) == [
        ("Summary", "The package trees does many things for σ_i^2."),
        ("Summary", "A picture"),
        ("Summary", "a | b"),
        ("Summary", "a: 1; b: 2"),
        ("Summary", 'print("code")'),
        ("Statement of need", "People need trees."),
        ("Statement of need", "First of all"),
        ("Statement of need", "Second"),
    ]


LATEX = r"""\documentclass{article}
\newcommand{\ours}{\textsc{Tree}Net}
\title{A Study of \ours:\\ Why\thanks{Funded by nobody.}}
\begin{document}
\maketitle
\begin{abstract}
We study \ours, 50\% of it. % a comment
\end{abstract}
\section{Introduction}\label{a}
Trees are ``old'' \citep[see][p.~2]{b}, as \citet{c} show\footnote{Or not.}. Let
$x_i \in \mathbb{R}$ be
\begin{equation} y = \frac{a}{b}, \end{equation}
where $a \leq b$.
\begin{figure}\includegraphics{x}\caption{A figure.}\end{figure}
\input{part}
\bibliography{refs}
\end{document}
"""


def test_latex_becomes_sentences(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text("\\section*{Method}\nWe plant them.\n")
    paper = paper_of(tmp_path, LATEX, "paper.tex")
    assert paper.title == "A Study of TreeNet: Why"
    assert paper.abstract == "We study TreeNet, 50% of it."
    assert told(paper) == [
        ("Introduction", "Trees are “old” [1], as [2] show. Let x_i ∈ℝ be y = a/b, where a ≤ b."),
        ("Introduction", "Or not."),
        ("Introduction", "A figure."),
        ("Method", "We plant them."),
    ]
    assert {passage.text: passage.kind for passage in paper.passages}["A figure."] == "note"
    assert "Or not." not in paper.introduction


def test_json_gives_its_parts_by_name(tmp_path: Path) -> None:
    row = {"title": "A Title", "abstract": "It is so.", "body": "## Introduction\n\nWhy so.\n\n## B\n\nC d."}
    paper = paper_of(tmp_path, json.dumps(row), "paper.json")
    assert told(paper) == [("Introduction", "Why so."), ("B", "C d.")]
    assert paper.introduction == "Why so."
    same = {**row, "text": row["body"]}
    del same["body"]
    assert paper_of(tmp_path, json.dumps(same), "paper.json") == paper


@pytest.mark.parametrize(
    ("text", "name"), [("A sentence that goes on. " * 30, "paper.txt"), ('{"body": "b c"}', "paper.json")]
)
def test_a_missing_title_is_asked_for(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(PartMissing, match=f"^{name}: no title found in it; give its title$"):
        paper_of(tmp_path, text, name)


LONG = "One of the many words. " * 200


@pytest.mark.parametrize(
    ("text", "name", "opening"),
    [
        ("A Title\n\n## Introduction\n\nNo abstract here.", "paper.txt", "No abstract here."),
        ('{"title": "a", "body": "b c"}', "paper.json", "b c"),
        (f'{{"title": "a", "body": "{LONG}"}}', "paper.json", f"{LONG[:2000].rsplit(None, 1)[0]} …"),
    ],
)
def test_without_an_abstract_the_opening_stands_in_its_place(
    tmp_path: Path, text: str, name: str, opening: str
) -> None:
    paper = paper_of(tmp_path, text, name)
    assert paper.abstract == opening
    said = f"{name}: no abstract found in it; its opening paragraphs are used as the abstract"
    assert paper.notices[-1] == said
    given = read(tmp_path / name, abstract="Given.")
    assert (given.abstract, given.notices) == ("Given.", ())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_told_apart(tmp_path: Path, encoding: str) -> None:
    text = "Über Bäume\n\nWe say café and naïve in it.\n\nThe body is über-long."
    paper = paper_of(tmp_path, text.encode(encoding))
    assert paper.title == "Über Bäume"
    assert "café" in paper.abstract
    stray = paper_of(tmp_path, text.encode() + b" It is caf\xe9 too.")
    assert (stray.title, stray.body) == (paper.title, "The body is über-long. It is café too.")


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "paper.txt", "empty"),
        (bytes(range(256)) * 8, "paper.txt", "not text"),
        (b"[1, 2]", "paper.json", "not a JSON object"),
        (b'{"title": "a", "abstract": "b", "body": ["c"]}', "paper.json", '"body" is not text'),
        (b"[" * 100_000, "paper.json", "not one JSON object"),
        (b"A Title\n\nOnly an abstract is here.", "paper.txt", "no text besides"),
    ],
)
def test_what_is_no_paper_says_why(tmp_path: Path, data: bytes, name: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        paper_of(tmp_path, data, name)
    assert str(caught.value).startswith(f"{name}: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_places_without_a_paper_say_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match=f"^{re.escape(str(tmp_path))}/gone.txt: no such file"):
        read(tmp_path / "gone.txt")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a folder or special file"):
        read(tmp_path / "pipe")


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "T", "abstract": "a", "body": "b c d"}',
        "\\documentclass{a}\\title{T}\\begin{document}A b.\\end{document}",
        "T\n\nA b c.\n\nD e f.",
    ],
)
def test_without_an_ending_the_file_itself_says_what_it_is(tmp_path: Path, text: str) -> None:
    for name in ("paper", "2402.13234", "Doe et al. A paper"):
        assert paper_of(tmp_path, text, name).title == "T"


def test_an_ending_that_is_not_read_is_refused_with_those_that_are(tmp_path: Path) -> None:
    known = r"\.pdf, \.txt, .*, \.tex, .*, \.json, .*, \.docx, .*, or the paper's arXiv id"
    with pytest.raises(InputError, match=rf"^paper\.odg: .* end in \.odg .*{known}"):
        paper_of(tmp_path, PLAIN, "paper.odg")


def test_the_digest_follows_what_is_read(tmp_path: Path) -> None:
    paper = paper_of(tmp_path, PLAIN)
    assert paper.digest == paper_of(tmp_path, PLAIN.replace("\n", "\r\n"), "other.txt").digest
    assert paper.digest != paper_of(tmp_path, PLAIN.replace("old", "new")).digest
    assert Paper.model_validate_json(paper.model_dump_json()).digest == paper.digest


def test_the_digest_of_a_paper_is_the_same_in_every_version() -> None:
    """Runs and caches of earlier versions name papers by it."""
    passages = (
        Passage(text="Debates are old.", page=1, offset=0, heading="1 Introduction"),
        Passage(text="They last.", offset=18),
    )
    paper = Paper(
        name="debates.txt",
        title="Debates on Trees",
        abstract="Papers debate.",
        introduction="Debates are old.",
        passages=passages,
    )
    assert paper.digest == "3d0887c0e6cc2142d8a812a5a7797ca0"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=400), name=st.sampled_from(["a.txt", "a.md", "a.tex", "a.json", "a.pdf", "a"]))
def test_whatever_a_file_holds_the_offsets_are_right_or_one_line_says_why(
    tmp_path: Path, text: str, name: str
) -> None:
    (tmp_path / name).write_bytes(text.encode(errors="surrogatepass"))
    try:
        paper = read(tmp_path / name, title="T", abstract="A")
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert paper.passages
    for passage in paper.passages:
        assert passage.text.strip() and passage.page is None
        assert paper.body[passage.offset : passage.offset + len(passage.text)] == passage.text


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = formats.FORMATS["text"]._replace(largest=1_000_000)
    monkeypatch.setitem(formats.FORMATS, "text", small)
    with pytest.raises(InputError, match="over 1 MB"):
        paper_of(tmp_path, "words and words " * 100_000)


@pytest.mark.parametrize("kind", ["txt", "md", "tex", "json"])
def test_a_document_that_takes_too_long_is_refused_in_one_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One-word paragraphs of 19 MB take longer than the limit; here it is shorter instead."""
    path = tmp_path / f"long.{kind}"
    text = PLAIN.replace("They work.", "They work.\n\n" * 100)
    path.write_text(json.dumps({"title": "A", "body": text}) if kind == "json" else text)
    assert read(path, title="A title").passages
    monkeypatch.setattr(blocks, "SECONDS", 0.0)
    with pytest.raises(InputError, match=rf"^long\.{kind}: .* more than 0 s") as error:
        read(path, title="A title")
    assert "\n" not in str(error.value)


PAGE = """<html><head><title>Debates on Trees</title></head><body><h1>Debates on Trees</h1>
<h2>Abstract</h2><p>We let papers debate.</p><h2>1 Introduction</h2><p>Debates are old.</p>
<table><tr><th>Tree</th><th>Debates</th></tr><tr><td>Oak</td><td>10<sup>5</sup></td></tr></table>
<h2>References</h2><p>A. Author. Trees. 2020.</p></body></html>"""


def test_a_web_page_and_a_word_file_are_papers_too(tmp_path: Path) -> None:
    page = paper_of(tmp_path, PAGE, "a.html")
    assert (page.title, page.abstract) == ("Debates on Trees", "We let papers debate.")
    assert told(page)[-1] == ("1 Introduction", "Tree: Oak; Debates: 10^5")
    assert page.notices == ("a.html: 6 words left out: title page (1), references (5)",)
    parts = [("Heading1", "Debates on Trees"), ("Heading1", "Abstract"), ("", "We debate.")]
    parts += [("Heading1", "Introduction"), ("", "Debates are old.")]
    style = '<w:pPr><w:pStyle w:val="{}"/></w:pPr>'
    body = "".join(
        f"<w:p>{style.format(name) if name else ''}<w:r><w:t>{text}</w:t></w:r></w:p>" for name, text in parts
    )
    docx(tmp_path / "a.docx", body)
    word = read(tmp_path / "a.docx")
    assert (word.title, word.abstract) == ("Debates on Trees", "We debate.")
    assert told(word) == [("Introduction", "Debates are old.")]


def test_a_paper_of_an_earlier_run_keeps_its_name_and_its_cuts() -> None:
    """Its data has no version: it is cut by the rules of English, as it was then."""
    text = "Das ist z.B. so. Es war am 3. Mai so. Es war wieder so, und dann noch einmal so."
    passages = [{"text": text, "offset": 0}]
    fields = {"name": "a", "title": "T", "abstract": "A", "introduction": "", "passages": passages}
    earlier = Paper.model_validate(fields)
    now = Paper.model_validate({**fields, "version": 2})
    assert earlier.digest == "1cadd409c57cc5265fff8ddc1dc06c20" and now.digest != earlier.digest
    sentences = {
        paper.version: [span for _, spans in cut(paper.passages, version=paper.version) for span in spans]
        for paper in (earlier, now)
    }
    assert sentences[1] != sentences[2]
    as_data = earlier.model_dump(mode="json", exclude_defaults=True)
    assert Paper.model_validate(as_data).digest == earlier.digest
