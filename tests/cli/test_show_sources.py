"""``dialectree sources``: what a debate would read, before anything is paid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.commands import command, refused
from tests.retrieval.test_awkward_documents import FOLDER

TABLE, HIDDEN = FOLDER / "table.pdf", FOLDER / "hidden.html"


def test_blocks_and_what_is_left_out_are_printed_by_page() -> None:
    done = command("sources", str(TABLE), str(HIDDEN))
    lines = done.out.splitlines()
    assert lines[:3] == ["s1  table.pdf: Valley", "  page 1", "  # Valley"]
    assert "  | Country: Arvania; Hospitals: –; Schools: 45" in lines
    assert "s2  hidden.html: Valley" in lines
    assert "  left out (hidden): Hidden words about cheese." in lines
    assert "hidden.html: 11 words left out: hidden" in done.err


def test_json_has_every_block_with_its_place() -> None:
    report = json.loads(command("sources", str(TABLE), str(HIDDEN), "--json").out)
    table, hidden = report["documents"]
    assert [table["name"], table["title"], table["left_out"]] == ["table.pdf", "Valley", []]
    text = "\n\n".join(block["text"] for block in table["blocks"])
    for block in table["blocks"]:
        assert text[block["start"] :].startswith(block["text"]) and block["page"] == 1
        assert block["heading"] == "Valley"
    assert [block["kind"] for block in table["blocks"]] == [
        "heading", "paragraph", "names", "row", "row", "paragraph",
    ]  # fmt: skip
    assert hidden["notices"] == ["11 words left out: hidden"]
    assert {part["reason"] for part in hidden["left_out"]} == {"hidden"}
    assert report["notices"] == ["hidden.html: 11 words left out: hidden"] and "find" not in report


@pytest.mark.parametrize("as_json", [False, True])
def test_the_sentences_that_a_debate_is_shown_are_found(as_json: bool) -> None:
    words = ["sources", str(FOLDER), "--find", "How many hospitals has Belmark?", "--segments", "2"]
    done = command(*words, "--embeddings", "bm25", *(["--json"] if as_json else []))
    row = "Country: Belmark; Hospitals: 12; Schools: 30"
    if not as_json:
        before, _, beside = done.out.partition("\nShown as well:\n")
        assert row in before and before.count("\n\n") == 1 and beside
        assert re.search(r"\n\d+ of \d+ sentences shown\n$", done.out)
        return
    report = json.loads(done.out)
    found = [segment for segment in report["find"] if segment["found"]]
    assert len(found) == 2 and report["shown"] == sum(len(segment["sentences"]) for segment in report["find"])
    said = {one["id"]: one["text"] for segment in found for one in segment["sentences"]}
    assert row in said.values()
    assert all(id.startswith(segment["id"]) for segment in found for id in said if id in str(segment))


def test_no_word_in_common_is_said_and_a_wrong_path_is_refused(tmp_path: Path) -> None:
    words = ["sources", str(TABLE), "--find", "xylophone", "--embeddings", "bm25"]
    found = command(*words)
    assert found.out.startswith("no segment shares a word with it\n\nShown as well, as the sources")
    found = command("sources", str(TABLE), "--find", "xylophone", "--embeddings", "bm25", "--whole=0")
    assert re.fullmatch(r"no segment shares .*\n\n0 of \d+ sentences shown\n", found.out)
    refused(command("sources", str(tmp_path / "none")), "no such file or folder")
