"""No word of a file is lost or made up, whatever the file; a loss that happens is noticed."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from dialectree.retrieval.blocks import Reading
from dialectree.retrieval.builder import DocumentBuilder
from dialectree.retrieval.conservation import find_invented_words, find_missing_words
from dialectree.retrieval.json_text import read_json
from dialectree.retrieval.markup import read_html, read_markdown
from dialectree.retrieval.pdf_document import read_pdf
from dialectree.retrieval.text import read_text
from dialectree.retrieval.word import read_word
from tests.retrieval.test_awkward_documents import FOLDER

ROOT = Path(__file__).parents[2]
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(reader: Callable[..., None], content: object, *more: str) -> Reading:
    builder = DocumentBuilder()
    reader(content, builder, *more)
    return builder.finish()


def texts(reading: Reading) -> list[str]:
    return [*(block.source for block in reading.blocks), *(part.text for part in reading.left_out)]


def faults(reading: Reading) -> list[str]:
    return [one for one in reading.notices if "not read" in one or "wrongly" in one]


# Files as they come

WORDS = st.sampled_from(
    [
        *("mill", "10<sup>5</sup>", "42<sup>7</sup>", "Größe", "3&nbsp;km", "CO<sub>2</sub>"),
        *("<b>x</b>y", "<del>300</del>", "&shy;soft", "<span hidden>no</span>", "<br>"),
        *("<a href='#a'><sup>[1]</sup></a>", "it ends.<sup>3</sup>", "<!-- never -->"),
        *("<i style='display:none'>off</i>", "&lt;tag&gt;", "x<sup>n</sup>"),
    ]
)
INLINE = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def box(tag: str) -> Callable[[str], str]:
    return lambda inside: f"<{tag}>{inside}</{tag}>"


CELLS = st.tuples(
    st.sampled_from(("td", "th")), st.integers(0, 3), st.integers(0, 3), INLINE | st.just("")
).map(lambda cell: f"<{cell[0]} rowspan={cell[1]} colspan={cell[2]}>{cell[3]}</{cell[0]}>")
TABLES = st.lists(st.lists(CELLS, max_size=4).map(lambda row: f"<tr>{''.join(row)}</tr>"), max_size=4).map(
    lambda rows: f"<table><caption>Of it</caption>{''.join(rows)}</table>"
)
LEAVES = st.one_of(
    *(INLINE.map(box(tag)) for tag in ("p", "h2", "li", "div", "pre", "dt", "figcaption", "span")),
    INLINE,
    TABLES,
)
PAGES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4)
        .map("".join)
        .flatmap(
            lambda text: st.sampled_from(("div", "ul", "nav", "section", "a", "td")).map(
                lambda tag: box(tag)(text)
            )
        )
    ),
    max_leaves=12,
)


@given(PAGES)
@settings(max_examples=150, deadline=None)
def test_every_word_of_a_page_is_accounted_for(body: str) -> None:
    reading = read(read_html, f"<html><head><title>T</title></head><body>{body}</body></html>")
    assert not faults(reading)


@given(st.text(st.sampled_from("ab 1.\n#-*|>`[]()!^~$_:=\\<"), max_size=200))
@settings(max_examples=150, deadline=None)
def test_every_word_of_markdown_is_accounted_for(text: str) -> None:
    assert not faults(read(read_markdown, text))


@given(st.text(st.sampled_from("abc 12.\n\f-•#=ÄßＡ①\u00ad\u200b"), max_size=300))
@settings(max_examples=150, deadline=None)
def test_every_word_of_a_text_is_accounted_for(text: str) -> None:
    assert not faults(read(read_text, text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc 12.\n", max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abt"), inner),
    max_leaves=10,
)


@given(JSON)
@settings(max_examples=100, deadline=None)
def test_every_word_of_json_is_accounted_for(value: object) -> None:
    assert not faults(read(read_json, json.dumps(value), "a.json"))


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@settings(max_examples=30)
def test_a_number_of_json_keeps_its_digits_as_they_are_written(number: str) -> None:
    (block,) = read(read_json, f'{{"mills": {number}}}', "a.json").blocks
    assert block.text == f"mills: {number}"


RUNS = st.tuples(
    st.sampled_from(("10", "5", "mill ", "grows. ", "12", " m", "Größe")),
    st.sampled_from(
        (
            "",
            '<w:vertAlign w:val="superscript"/>',
            '<w:vertAlign w:val="subscript"/>',
            "<w:strike/>",
            "<w:vanish/>",
            "<w:b/>",
            '<w:rStyle w:val="Off"/>',
        )
    ),
).map(lambda run: f"<w:r><w:rPr>{run[1]}</w:rPr><w:t>{run[0]}</w:t></w:r>")
WRAPPED = st.tuples(
    RUNS,
    st.sampled_from(
        (
            "{}",
            "<w:ins>{}</w:ins>",
            "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>",
            "<w:moveFrom>{}</w:moveFrom>",
        )
    ),
).map(lambda pair: pair[1].format(pair[0]))
PARAGRAPHS = st.tuples(
    st.sampled_from(("", "<w:numPr/>", '<w:pStyle w:val="Heading1"/>')), st.lists(WRAPPED, max_size=5)
).map(lambda parts: f"<w:p><w:pPr>{parts[0]}</w:pPr>{''.join(parts[1])}</w:p>")
MERGES = ("", "<w:vMerge/>", '<w:vMerge w:val="restart"/>', '<w:gridSpan w:val="2"/>')
WORD_CELLS = st.tuples(st.sampled_from(MERGES), PARAGRAPHS).map(
    lambda cell: f"<w:tc><w:tcPr>{cell[0]}</w:tcPr>{cell[1]}</w:tc>"
)
WORD_TABLES = st.lists(
    st.lists(WORD_CELLS, max_size=3).map(lambda row: f"<w:tr>{''.join(row)}</w:tr>"), max_size=4
).map(lambda rows: f"<w:tbl>{''.join(rows)}</w:tbl>")
STYLES = (
    f'<w:styles xmlns:w="{W}"><w:style w:styleId="Off" w:type="character"><w:rPr><w:vanish/>'
    "</w:rPr></w:style></w:styles>"
)


def word_file(body: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        document = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
        archive.writestr("word/document.xml", document)
        archive.writestr("word/styles.xml", STYLES)
        note = f'<w:footnotes xmlns:w="{W}"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>'
        archive.writestr("word/footnotes.xml", note)
    return content.getvalue()


@given(st.lists(PARAGRAPHS | WORD_TABLES, max_size=6).map("".join))
@settings(max_examples=100, deadline=None)
def test_every_word_of_a_word_file_is_accounted_for(body: str) -> None:
    reading = read(read_word, word_file(body))
    assert not faults(reading)
    assert reading.blocks[-1].text == "A note." and reading.blocks[-1].kind == "note"


PIECES = st.tuples(
    st.integers(40, 500),
    st.integers(20, 800),
    st.sampled_from((7, 10, 10, 16)),
    st.sampled_from((0, 0, 0, 90, 180)),
    st.sampled_from(("mill", "10", "The mill grinds", "900 sacks a year.", "Ä-ö", "1", "inter-")),
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=25), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_every_word_of_a_pdf_is_accounted_for(pages: list[list[tuple[int, int, int, int, str]]]) -> None:
    content = io.BytesIO()
    canvas = Canvas(content)
    for page in pages:
        for x, y, size, turn, text in page:
            canvas.saveState()
            canvas.translate(x, y)
            canvas.rotate(turn)
            canvas.setFont("Times-Roman", size)
            canvas.drawString(0, 0, text)
            canvas.restoreState()
        canvas.showPage()
    canvas.save()
    reading = read(read_pdf, content.getvalue())
    assert not [fault for fault in faults(reading) if "not read" in fault]


# A loss is noticed


READERS: dict[str, Callable[..., None]] = {
    ".html": lambda data, builder: read_html(data.decode(), builder),
    ".md": lambda data, builder: read_markdown(data.decode(), builder),
    ".docx": read_word,
    ".pdf": read_pdf,
}
FILES = [path for path in sorted(FOLDER.iterdir()) if path.suffix in READERS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_lost_block_and_a_half_one_are_missed(path: Path) -> None:
    reading = read(READERS[path.suffix], path.read_bytes())
    assert not faults(reading)
    whole = texts(reading)
    plain_text = " ".join(whole)
    assert not find_missing_words(plain_text, whole) and not find_invented_words(plain_text, whole)
    for at, text in enumerate(whole):
        if any(map(str.isalnum, text)):
            assert find_missing_words(plain_text, [*whole[:at], *whole[at + 1 :]])
            half = text[: len(text) // 2]
            if any(map(str.isalnum, text[len(text) // 2 :])):
                assert find_missing_words(plain_text, [*whole[:at], half, *whole[at + 1 :]])
            assert find_invented_words(plain_text, [*whole, text])


@pytest.mark.parametrize(
    ("plain", "accounted", "missing"),
    [
        ("A mill grinds. It stops.", "A mill grinds. It stops.", []),
        ("A mill grinds. It stops.", "A mill grinds.", ["It", "stops."]),
        ("The mill grinds corn.", "The mill grinds", ["corn."]),
        ("The wind-mill grinds corn.", "The windmill grinds", ["corn."]),  # a mended hyphen is no loss
        ("* The mill – it grinds corn.", "The mill it grinds", ["corn."]),  # nor is a mark
    ],
)
def test_the_words_that_were_lost_are_named_and_no_others(
    plain: str, accounted: str, missing: list[str]
) -> None:
    assert find_missing_words(plain, [accounted]) == missing


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_hardly_a_word_is_left_out_where_nothing_is_hidden(path: Path) -> None:
    if path.stem in ("hidden", "del"):
        return
    reading = read(READERS[path.suffix], path.read_bytes())
    words = sum(len(block.text.split()) for block in reading.blocks)
    assert sum(len(part.text.split()) for part in reading.left_out) <= 0.02 * words


WATCHED = """
import sys, os
from pathlib import Path
from dialectree.retrieval import pdf_document, markup, reading_process, word
from dialectree.retrieval.sources import read_sources
folder = Path(sys.argv[1])
kinds = {".pdf": "pdf", ".html": "html", ".docx": "word", ".md": "markdown"}
files = [(one.read_bytes(), kinds[one.suffix]) for one in folder.iterdir() if one.suffix in kinds]
texts = [path for path in sorted(folder.iterdir()) if path.suffix in (".txt", ".json")]
places = (folder, sys.argv[2], sys.prefix, sys.base_prefix, os.getcwd())
allowed = tuple(map(os.path.realpath, places))
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        print(event, arguments)
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not path.startswith((*allowed, "/dev/", "/proc/")):
            print("open", path)
sys.addaudithook(hook)
for data, kind in files:
    assert not isinstance(reading_process._read(data, kind), str)
assert len(read_sources(texts).documents) == len(texts)
"""


def test_reading_asks_no_network_and_opens_no_other_file(tmp_path: Path) -> None:
    (folder := tmp_path / "given").mkdir()
    for path in FOLDER.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "far.html").write_text(
        "<base href='http://127.0.0.1:9/'><link rel=stylesheet href=/etc/hostname>"
        "<iframe src='file:///etc/passwd'></iframe><img src=/etc/hosts><p>It is so.</p>"
    )
    (folder / "far.md").write_text("![x](/etc/hostname)\n\n<img src='file:///etc/passwd'>\n\nSo.\n")
    entity = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    with zipfile.ZipFile(folder / "far.docx", "w") as archive:
        said = "<w:p><w:r><w:t>So &x; it is.</w:t></w:r></w:p>"
        text = f'{entity}<w:document xmlns:w="{W}">{said}</w:document>'
        archive.writestr("word/document.xml", text)
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", WATCHED, str(folder), str(cache)]
    environment = {"DIALECTREE_CACHE_DIR": str(cache), "PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
