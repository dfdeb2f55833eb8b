"""A reader of a user's own takes the place of ours, only where the user names it."""

from __future__ import annotations

import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document as Text

import dialectree
from dialectree.errors import InputError, SettingsError
from dialectree.protocols.reader_names import split_reader
from dialectree.retrieval import papers
from dialectree.retrieval.sources import read_sources

MODULE = """
from langchain_core.documents import Document

calls = []

def read(path):
    calls.append(path)
    if path.endswith(".md"):
        return None
    with open(path, "rb") as file:
        size = len(file.read())
    return f"# A scan\\n\\n| Town | Bytes |\\n| --- | --- |\\n| Orlen | {size} |\\n"

def pages(path):
    return [Document("Cows eat grass.", metadata={"page": 0, "page_label": "1", "title": "Farms"}),
            Document("Hay is dry.", metadata={"page": 1, "page_label": "2"})]

def broken(path):
    raise OSError("no scanner here")

number = 7
nothing = lambda path: ""
wrong = lambda path: 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a module with readers into the working folder."""
    (tmp_path / "my_readers.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("my_readers", None)


def write(name: str, text: str = "It is so.") -> str:
    Path("files").mkdir(exist_ok=True)
    Path("files", name).write_text(text)
    return "files"


def texts(reader: object, folder: str = "files") -> dict[str, list[str]]:
    found = read_sources(folder, reader=reader).documents
    return {document.name: [block.text for block in document.passages] for document in found}


def test_a_function_reads_files_of_any_ending_and_leaves_others_to_ours() -> None:
    write("scan.tiff", "xyz")
    write("notes.md", "# Hay\n\nHay is dry grass.")
    for _ in range(2):
        assert texts("my_readers:read") == {
            "notes.md": ["Hay", "Hay is dry grass."],
            "scan.tiff": ["A scan", "Town | Bytes", "Town: Orlen; Bytes: 3"],
        }
    calls = [Path(path).name for path in sys.modules["my_readers"].calls]
    assert calls.count("scan.tiff") == 1, "what was read is kept"
    Path("files/scan.tiff").write_text("wxyz")
    assert texts("my_readers.read")["scan.tiff"][-1] == "Town: Orlen; Bytes: 4"


def test_a_reader_takes_the_files_of_its_endings_alone() -> None:
    write("a.txt")
    write("b.PDF", "no PDF")
    assert texts(".pdf,.tiff=my_readers:pages") == {
        "a.txt": ["It is so."],
        "b.PDF": ["Cows eat grass.", "Hay is dry."],
    }
    [document] = read_sources("files/b.PDF", reader=".pdf=my_readers:pages").documents
    assert [block.page for block in document.passages] == [1, 2] and document.title == "Farms"


@pytest.mark.parametrize("name", ["langchain_community.document_loaders.TextLoader", "Own"])
def test_any_document_loader_of_langchain_reads_by_its_import_path(name: str) -> None:
    class Own(BaseLoader):
        def __init__(self, path: str) -> None:
            self.path = path

        def load(self) -> list[Text]:
            return [Text(Path(self.path).read_text())]

    write("a.unknown")
    assert texts(Own if name == "Own" else name) == {"a.unknown": ["It is so."]}


FAULTS = {
    "my_readers:broken": "a.txt: the reader my_readers:broken failed: OSError: no scanner here",
    "my_readers:nothing": "a.txt: no text in it",
    "my_readers:wrong": "returned a int, not a text or a document",
}


@pytest.mark.parametrize("reader", FAULTS)
def test_a_file_that_a_reader_cannot_read_is_named(reader: str) -> None:
    write("a.txt")
    with pytest.raises(InputError, match=FAULTS[reader]):
        read_sources("files", reader=reader)


@pytest.mark.parametrize("reader", ["my_readers:number", "my_readers:absent", "no_such:read"])
def test_a_reader_that_cannot_be_had_is_an_error_of_settings(reader: str) -> None:
    with pytest.raises(SettingsError, match="`reader`: "):
        texts(reader, write("a.txt"))


@pytest.mark.parametrize("named", ["read", "a:b:c", "pdf=a:b", "../x.py:read", ".pdf=", "a b:c"])
def test_what_is_no_name_of_a_reader_is_refused(named: str) -> None:
    with pytest.raises(ValueError, match="write a reader as module:function"):
        split_reader(named)


def test_a_paper_of_a_comparison_and_one_that_a_client_sent_are_read_by_it() -> None:
    write("paper.scan", "x" * 9)
    paper = papers.read("files/paper.scan", reader="my_readers:read", abstract="It counts.")
    assert paper.title == "A scan" and "Town: Orlen; Bytes: 9" in paper.body
    sent = b64encode(b"four").decode()
    paper = papers.read_attachment("it.scan", sent, reader="my_readers:read", abstract="It counts.")
    assert "Town: Orlen; Bytes: 4" in paper.body


def test_only_a_flag_a_variable_or_a_program_names_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.scan")
    given: dict[str, Any] = {"sources": ["files"], "model": "openai:x@http://127.0.0.1:9"}
    with pytest.raises(InputError, match=r"files that end in \.scan are not read"):
        dialectree.estimate("art", claim="Orlen has bytes.", **given)
    monkeypatch.setenv("DIALECTREE_READER", "my_readers:read")
    assert dialectree.estimate("art", claim="Orlen has bytes.", **given).calls.most
