"""``dialectree export memo``: a run as a memo on standard output or in a file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from docx import Document

from dialectree.records.folder import RunFolder
from tests.cli.commands import command, refused
from tests.report.recorded import RUN, record


@pytest.fixture(autouse=True)
def kept(tmp_path: Path) -> None:
    """Keep one run in the folder ``runs``."""
    RunFolder.create(tmp_path / "runs", RUN).write_whole(record("art"), [], [])


def test_a_memo_is_printed_as_markdown_or_html() -> None:
    printed = command("export", "memo", "last")
    assert (printed.status, printed.err) == (0, "")
    assert printed.out.startswith("# Over its whole life") and printed.out.endswith("(answered)\n")
    assert command("export", "memo", RUN[:10], "--format", "html").out.startswith("<!doctype html>")


@pytest.mark.parametrize("flag", ["--output", "--out"])
@pytest.mark.parametrize(
    ("name", "begins"),
    [("memo.md", b"# Over"), ("memo.HTML", b"<!doctype"), ("memo.docx", b"PK"), ("memo", b"# Over")],
)
def test_the_name_of_the_file_chooses_the_format(flag: str, name: str, begins: bytes) -> None:
    done = command("export", "memo", "last", flag, name)
    assert (done.status, done.out) == (0, "") and name in done.err
    assert Path(name).read_bytes().startswith(begins)


def test_a_memo_for_word_without_a_name_is_a_file_named_after_the_run() -> None:
    done = command("export", "memo", "last", "--format", "docx")
    assert (done.status, done.out) == (0, "") and f"memo-{RUN}.docx" in done.err
    titles = Document(io.BytesIO(Path(f"memo-{RUN}.docx").read_bytes())).paragraphs
    assert any(one.text.startswith("Over its whole life") for one in titles)


def test_a_wrong_run_or_format_is_refused() -> None:
    refused(command("export", "memo", "nosuch"), "nosuch")
    assert command("export", "memo", "last", "--format", "pdf").status == 2
    refused(command("export", "memo", "last", "--output", "no/memo.md"), "no/memo.md")
