"""Documents of any kind come in whole, in a stable order, and hostile ones are refused by name."""

from __future__ import annotations

import os
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from dialectree.errors import InputError
from dialectree.retrieval import papers, reading_process
from dialectree.retrieval.sources import Document, read_sources
from tests.retrieval import pdfs

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", str(folder))
    return folder


def said(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{said(cell)}</w:tc>' for cell in cells)}</w:tr>"


def docx(path: Path, body: str, opening: str = "") -> None:
    """Write a Word file with that body, in XML."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        part = f'<Override PartName="/word/document.xml" ContentType="{TYPE}"/>'
        types = f'<Types xmlns="{PACKAGE}/content-types">{part}</Types>'
        target = f'<Relationship Id="r" Type="{RELATION}" Target="word/document.xml"/>'
        file.writestr("[Content_Types].xml", types)
        related = f'<Relationships xmlns="{PACKAGE}/relationships">{target}</Relationships>'
        file.writestr("_rels/.rels", related)
        document = f"{opening}<w:document {W}><w:body>{body}</w:body></w:document>"
        file.writestr("word/document.xml", document)


def kinds_and_texts(document: Document) -> list[tuple[str, str]]:
    return [(passage.kind, passage.text) for passage in document.passages]


def read_one(path: Path, text: str | bytes, *told: str) -> Document:
    """The document in a file, of which exactly ``told`` is to be noticed."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    [document], notices = read_sources(path)
    assert notices == tuple(f"{path.name}: {line}" for line in told)
    return document


TOLD = {
    "page.html": ["2 words left out: navigation"],
    "old.htm": ["not UTF-8: read as shift_jis"],
    "long.html": ["90 words left out: navigation"],
}
"""What is noticed of a file, by its name."""


PAGE = """<html><head><title>On tides</title></head><body>
<nav><a href="a">Home</a> <a href="b">Shop</a></nav><main><h1>Tides</h1>
<p>The moon <b>pulls</b> the sea, and the sea comes up twice a day.<script>let a = 1</script></p>
<blockquote><p>So it is.</p><p>So it was.</p></blockquote>
<ul><li>Spring tide<ul><li>is high</li></ul></li></ul>
<table><tr><th>Port</th><th>Range</th></tr><tr><td>Saint-Malo</td><td>12 m</td></tr></table>
<div>At last.</div></main><footer>Our terms.</footer></body></html>"""

READ = [
    ("one.txt", "The sky is blue at noon.", "one", [("paragraph", "The sky is blue at noon.")]),
    ("long.txt", "It is so, and " * 90 + "so.", "long", [("paragraph", "It is so, and " * 90 + "so.")]),
    (
        "note.txt",
        "Minutes\n\nA. Person was there.\n\nTable 1: Votes\n\n# Vote\n\nAll were for it.",
        "note",
        [
            ("paragraph", "Minutes"),
            ("paragraph", "A. Person was there."),
            ("paragraph", "Table 1: Votes"),
            ("heading", "Vote"),
            ("paragraph", "All were for it."),
        ],
    ),
    (
        "mark.md",
        "---\ntitle: Rates\nabstract: We count.\n---\n\n# Abstract\n\nThey rose.\n\n"
        "| year | up |\n| - | - |\n| 2020 | yes |\n\n```python\nx = 1\n\nshow(x)\n```\n\n"
        "<table><tr><td>a</td><td>b</td></tr></table>\n\nSo it is.\n\n3. It ends.",
        "Rates",
        [
            ("note", "title: Rates"),
            ("note", "abstract: We count."),
            ("heading", "Abstract"),
            ("paragraph", "They rose."),
            ("names", "year | up"),
            ("row", "year: 2020; up: yes"),
            ("paragraph", "x = 1"),
            ("paragraph", "show(x)"),
            ("row", "a | b"),
            ("paragraph", "So it is."),
            ("item", "3. It ends."),
        ],
    ),
    (
        "paper.tex",
        "\\begin{document}\\begin{abstract}We prove it.\\end{abstract}\n\n"
        "\\section{One}\n\nIt holds.\\end{document}",
        "paper",
        [("paragraph", "We prove it."), ("heading", "One"), ("paragraph", "It holds.")],
    ),
    (
        "paper.json",
        '{"title": "T", "abstract": "We ask.", "introduction": "Why.", "year": 2020, "ok": true, '
        '"body": ["So it is.", "It ends."], "rows": [{"town": "Ar", "mills": 3}, {"town": "Be"}]}',
        "T",
        [
            ("heading", "T"),
            ("paragraph", "We ask."),
            ("paragraph", "Why."),
            ("paragraph", "year: 2020"),
            ("paragraph", "ok: true"),
            ("paragraph", "So it is. It ends."),
            ("names", "town | mills"),
            ("row", "town: Ar; mills: 3"),
            ("row", "town: Be; mills: –"),
        ],
    ),
    (
        "page.html",
        PAGE,
        "On tides",
        [
            ("heading", "On tides"),
            ("heading", "Tides"),
            ("paragraph", "The moon pulls the sea, and the sea comes up twice a day."),
            ("paragraph", "So it is."),
            ("paragraph", "So it was."),
            ("item", "Spring tide"),
            ("item", "is high"),
            ("names", "Port | Range"),
            ("row", "Port: Saint-Malo; Range: 12 m"),
            ("paragraph", "At last."),
            ("note", "Our terms."),
        ],
    ),
    (
        "old.htm",
        '<meta charset="shift_jis"><title>潮</title><p>海は一日に二度満ちる。'.encode("shift_jis"),
        "潮",
        [("heading", "潮"), ("paragraph", "海は一日に二度満ちる。")],
    ),
]


@pytest.mark.parametrize(("name", "text", "title", "passages"), READ, ids=[one[0] for one in READ])
def test_a_document_is_read_whole(
    tmp_path: Path, name: str, text: str | bytes, title: str, passages: list[tuple[str, str]]
) -> None:
    document = read_one(tmp_path / name, text, *TOLD.get(name, []))
    assert (document.name, document.title) == (name, title)
    assert kinds_and_texts(document) == passages
    above = None
    for passage in document.passages:
        above = passage.text if passage.kind == "heading" else above
        assert passage.heading == above
    [again], _ = read_sources(tmp_path / name)  # now out of the cache
    assert again == document and again.digest == document.digest


def test_a_word_file_has_its_headings_and_the_rows_of_its_tables(tmp_path: Path) -> None:
    table = f"<w:tbl>{row('Year', 'Share')}{row('2020', '12 %')}</w:tbl>"
    body = said("Report", "Heading1") + said("All went well.") + table + said("So it ends.")
    docx(tmp_path / "r.docx", body)
    [document], _ = read_sources(tmp_path / "r.docx")
    assert document.title == "Report"
    assert kinds_and_texts(document) == [
        ("heading", "Report"),
        ("paragraph", "All went well."),
        ("names", "Year | Share"),
        ("row", "Year: 2020; Share: 12 %"),
        ("paragraph", "So it ends."),
    ]


def test_a_long_page_keeps_every_sentence_and_no_navigation(tmp_path: Path) -> None:
    sentences = [f"In year {n} the harbour of town {n * 7} saw {n * 3} ships." for n in range(300)]
    parts = [" ".join(sentences[at : at + 4]) for at in range(0, 300, 4)]
    article = "".join(f"<h2>Part {n}</h2><p>{part}</p>" for n, part in enumerate(parts))
    links = "".join(f'<li><a href="/{n}">Menu entry {n}</a></li>' for n in range(30))
    page = f"<body><nav><ul>{links}</ul></nav><article>{article}</article><footer>F.</footer>"
    document = read_one(tmp_path / "long.html", page, *TOLD["long.html"])
    assert [text for kind, text in kinds_and_texts(document) if kind == "paragraph"] == parts
    assert document.passages[-2].heading == "Part 74"
    [left_out] = document.left_out
    assert left_out.reason == "navigation" and len(left_out.text.split()) == 90


def test_a_pdf_keeps_what_a_paper_has_for_its_abstract(tmp_path: Path) -> None:
    (tmp_path / "p.pdf").write_bytes(pdfs.paper(["# Introduction", *pdfs.sentences(9)]))
    [document], _ = read_sources(tmp_path / "p.pdf")
    paper = papers.read(tmp_path / "p.pdf")
    assert document.title == paper.title
    body = " ".join(text for _, text in kinds_and_texts(document))
    assert paper.abstract in body and all(passage.text in body for passage in paper.passages)
    assert {passage.page for passage in document.passages} >= {1}


def test_folders_are_read_in_order_and_every_file_once(tmp_path: Path) -> None:
    for name in ("b/x.txt", "b/a.txt", "a/x.txt", ".git/x.txt", "b/.hidden.txt", "b/c/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"It is {name}.")
    (tmp_path / "a" / "out.txt").symlink_to(tmp_path / "b" / "a.txt")
    (tmp_path / "a" / "far").symlink_to(tmp_path / "b")
    (tmp_path / "a" / "y.odg").write_text("x")
    (tmp_path / "a" / "gone.txt").symlink_to(tmp_path / "a" / "gone.txt")
    documents, notices = read_sources(tmp_path)
    everything = ["a/x.txt", "b/a.txt", "b/x.txt", "b/c/d.txt"]
    assert [document.name for document in documents] == everything
    told = [f"{tmp_path}/{name}" for name in ("b/x.txt", "a", "b/c", "b")]
    documents, notices = read_sources(told)
    names = [document.name for document in documents]
    both = [f"{tmp_path}/b/x.txt", f"{tmp_path}/a/x.txt"]
    assert names == [*both, "d.txt", "a.txt"]
    for file in ("a/far", "a/out.txt"):
        assert any(one.startswith(f"{tmp_path}/{file}: a link that leads out") for one in notices)
    assert any("files that end in .odg are not read; give one of .pdf, " in one for one in notices)
    assert len(notices) == 3


def encrypted(path: Path) -> None:
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))


def laughing(path: Path) -> None:
    letters = "abcdefghij"
    more = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(letters))
    docx(path, said("&j;"), f'<!DOCTYPE w [<!ENTITY a "haha">{more}]>')


HOSTILE = [
    ("laughs.docx", laughing, "damaged, or another kind of file"),
    ("bomb.docx", lambda path: docx(path, "<w:p/>" * 7_000_000), "it unpacks to over 30 MB"),
    ("locked.docx", encrypted, "an encrypted Word file"),
    ("no.docx", lambda path: path.write_bytes(b"PK"), "damaged, or another kind of file"),
    ("blank.docx", lambda path: docx(path, ""), "no text in it"),
    ("deep.html", lambda path: path.write_text("<div>" * 99_999 + "x"), "no text in it"),
    ("bytes.html", lambda path: path.write_bytes(bytes(range(256)) * 99), "not text"),
    ("big.html", lambda path: path.write_text("<p>It is so.</p>" * 700_000), "over 10 MB"),
    ("empty.md", lambda path: path.write_text(" \n"), "an empty file"),
    ("key.pdf", lambda path: path.write_bytes(pdfs.paper(["So."], encrypt="x")), "encrypted PDF"),
    ("no.pdf", lambda path: path.write_text("It is so."), "not a PDF"),
    ("pipe.txt", os.mkfifo, "a folder or special file"),
]


def test_hostile_files_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    for name, write, _ in HOSTILE:
        write(tmp_path / name)
    (tmp_path / "z.html").write_text("<p>It is so.</p>")
    [document], notices = read_sources(tmp_path)
    assert (document.name, kinds_and_texts(document)) == ("z.html", [("paragraph", "It is so.")])
    for name, _, why in HOSTILE:
        assert any(re.match(f"{re.escape(name)}: .*{why}", one) for one in notices), name
    assert len(notices) == len(HOSTILE) and not any("\n" in one for one in notices)


def test_a_page_that_takes_too_much_is_refused_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.html").write_text("<p>It is so.</p>" * 20_000)
    (tmp_path / "b.txt").write_text("It is so.")
    with monkeypatch.context() as small:
        small.setattr(reading_process, "MEMORY", 20_000_000)
        documents, [notice] = read_sources(tmp_path)
    assert [document.name for document in documents] == ["b.txt"]
    assert notice.startswith("a.html: reading it takes more than 60 s or 0.02 GB of memory")
    assert len(read_sources(tmp_path).documents) == 2


def test_no_readable_file_is_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.odg").write_text("x")
    with pytest.raises(InputError, match=r"none of the 1 files .* a\.odg: files that end in"):
        read_sources([tmp_path])
    with pytest.raises(InputError, match="no such file or folder"):
        read_sources([tmp_path / "none"])
    with pytest.raises(InputError, match="no sources are named"):
        read_sources([])
