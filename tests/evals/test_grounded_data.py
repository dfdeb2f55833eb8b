"""Data sets whose rows name documents to argue from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.evals import dataset_sources, evaluate
from dialectree.evals.datasets import load, notices
from tests.evals.evaluating import write
from tests.grounding import SOURCES, written

ROW = {"question": "What do cows eat?", "options": ["grass", "stones"], "gold": "A"}
UNREAD = "line 2: none of the 1 files of sources can be read:"
GOLD = "No cow eats animal products."


@pytest.fixture(autouse=True)
def docs() -> Path:
    return written(Path("docs"))


def test_sources_are_paths_beside_the_file_or_texts_and_evidence_is_gold() -> None:
    Path("other").mkdir()
    rows: list[dict[str, object]] = [
        {**ROW, "id": "a", "sources": "docs", "evidence": GOLD},
        {**ROW, "id": "b", "sources": ["docs/cows.txt", "docs/clay.md"], "evidence": [GOLD]},
        {**ROW, "id": "c", "sources": [{"name": "cows.txt", "text": f"One.\n\n{GOLD}"}]},
        {**ROW, "id": "d"},
    ]
    Path("docs").rename("other/docs")
    folder, files, text, none = load(write(rows, Path("other/rows.jsonl"))).items
    assert [one.name for one in folder.inputs.sources] == sorted(SOURCES)
    assert [one.name for one in files.inputs.sources] == ["cows.txt", "clay.md"]
    assert text.inputs.sources[0].name == "cows.txt" and not none.inputs.sources
    assert folder.reference.evidence == files.reference.evidence == (GOLD,)
    assert folder.inputs.task == "decide"


def test_a_table_names_one_path_or_a_list_as_json() -> None:
    Path("rows.csv").write_text(
        "frage,akten,beleg\nWhat do cows eat?,docs,Cows eat grass; they do.\n"
        'What is clay?,"[""docs/clay.md"", ""docs/cows.txt""]",\n'
    )
    one, two = load("rows.csv", mapped="question=frage,sources=akten,evidence=beleg").items
    assert len(one.inputs.sources) == 3 and one.reference.evidence == ("Cows eat grass; they do.",)
    assert len(two.inputs.sources) == 2 and two.reference.evidence == ()


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ("nowhere.md", "line 2: nowhere.md: no such file"),
        (["docs", "picture.png"], f"{UNREAD} picture.png"),
        ([{"name": "empty.md", "text": " "}], f"{UNREAD} empty.md"),
        ([{"text": "No name."}], "line 2: "),
        (["docs", 3], "line 2: "),
    ],
)
def test_what_cannot_be_read_is_named_with_its_row(sources: object, said: str) -> None:
    Path("picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        load(write([{**ROW, "sources": "docs"}, {**ROW, "sources": sources}]))


def test_what_is_left_out_of_a_folder_is_told_before_the_first_call() -> None:
    Path("docs/picture.png").write_bytes(b"\x89PNG")
    loaded = load(write([{**ROW, "sources": "docs"}]))
    assert any("picture.png" in told for told in notices(loaded, "decide", loaded.items))


def test_many_rows_on_one_folder_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[object]()
    documents = dataset_sources.SourceReader._documents

    def counted(self: dataset_sources.SourceReader, written: Any) -> object:
        read.append(written)
        return documents(self, written)

    monkeypatch.setattr(dataset_sources.SourceReader, "_documents", counted)
    rows = [{**ROW, "question": f"Question {n}?", "sources": ["docs"]} for n in range(200)]
    assert len(load(write(rows)).items) == 200
    assert read == [("docs",)]


def test_other_documents_are_other_items() -> None:
    data = write([{**ROW, "sources": "docs"}])
    first = load(data).items_sha256
    assert load(data).items_sha256 == first
    Path("docs/cows.txt").write_text("Cows eat clay.")
    assert load(data).items_sha256 != first


def test_rows_of_a_program_name_files_from_where_it_runs() -> None:
    path, _ = evaluate._write_rows([{**ROW, "sources": Path("docs")}], "elsewhere/out")
    assert len(load(path).items[0].inputs.sources) == 3
