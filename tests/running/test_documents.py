"""The sources of a run: taken from files and texts, kept in its folder, compared at a resume."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.errors import Halted, InputError
from dialectree.evidence import documents
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import build_settings
from dialectree.records.folder import RunFolder
from dialectree.retrieval import library
from dialectree.retrieval.sources import documents_folder
from dialectree.running.runner import begin, prepare_graph_input
from tests.grounding import pointing, written

QUESTION = "What do cows eat?"
OPTIONS = ["plants", "meat"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three documents and a file that is none."""
    library.clear()
    made = written(tmp_path / "notes")
    (made / "tool.exe").write_bytes(b"MZ")
    return made


def decided(sources: Any, **values: Any) -> Any:
    own = {"model": pointing(), "cache": False, **values}
    if sources:
        own["embeddings"] = "bm25"
    return dialectree.run("rsd", QUESTION, OPTIONS, sources=sources, **own)


def texts(run: Path) -> set[str]:
    return {path.name for path in (run / "sources").iterdir()}


def test_a_run_lists_its_sources_keeps_their_texts_and_names_what_it_could_not_read(folder: Path) -> None:
    record = decided([folder])
    listed = record.input["sources"]
    assert [(one["id"], one["name"]) for one in listed] == [
        ("s1", "clay.md"),
        ("s2", "cows.txt"),
        ("s3", "tides.md"),
    ]
    assert listed[0]["title"] == "Clay" and listed[0]["path"] == str(folder / "clay.md")
    assert texts(record.path) == {f"{one['digest']}.json" for one in listed}
    assert [notice for notice in record.notices if "tool.exe" in notice and ".pdf" in notice]
    assert record.status == "answered" and record.tree.segments
    assert record.settings["memory"] == "allowed" and "checker" in record.models
    linked = documents_folder() / f"{listed[0]['digest']}.json"
    assert (record.path / "sources" / linked.name).samefile(linked)
    again = dialectree.load(record.run_id)
    RunFolder(again.path).remove()
    assert not again.path.exists() and linked.exists()


def test_a_run_without_sources_is_recorded_as_before(folder: Path) -> None:
    nothing: list[Any] = [None, []]
    for sources in nothing:
        record = decided(sources)
        assert not (record.path / "sources").exists() and "sources" not in record.input
        assert not {"memory", "check", "embeddings", "segments"}.intersection(record.settings)
        assert "checker" not in {*record.models, *record.declared["rsd"].roles}
        assert "check" not in record.declared["rsd"].order.phases
    with pytest.warns(UserWarning, match="`memory`: there are no sources, so it changes nothing"):
        assert "memory" not in decided(None, memory="forbidden").settings


def test_texts_of_a_program_are_sources_and_so_are_files_that_a_client_sends(folder: Path) -> None:
    content = base64.b64encode((folder / "cows.txt").read_bytes()).decode()
    given: list[Any] = [
        {"name": "../sky.md", "text": "# The sky\n\nThe sky is blue. It is high."},
        folder / "clay.md",
        {"name": "cows.txt", "base64": content},
        {"text": "A text of no name. It has two sentences."},
    ]
    listed: Any = documents.read_given(given)
    assert [(one["name"], one["title"]) for one in listed][:3] == [
        ("sky.md", "The sky"),
        ("clay.md", "Clay"),
        ("cows.txt", "cows"),
    ]
    assert listed[3]["name"] == "text 4"
    assert [one.get("path") for one in listed] == [None, str(folder / "clay.md"), None, None]
    assert documents.read_given(listed) == listed
    for wrong in ({"name": "x"}, {"name": "x", "base64": "?"}, {**listed[1], "digest": "../x"}):
        with pytest.raises(InputError):
            documents.read_given([wrong])
    with pytest.raises(InputError, match=r"^none of the 1 files of sources can be read: x\.pdf: "):
        documents.read_given([{"name": "x.pdf", "base64": content}])


def test_a_source_says_what_was_left_out_of_it() -> None:
    page = b"<p>Cows eat grass.</p><p hidden>Not so.</p><nav>Home</nav><s>old</s>"
    given = {"name": "cows.html", "base64": base64.b64encode(page).decode()}
    taken: Any = documents.read_given([given])
    [source] = taken
    rows = [("hidden", 2), ("navigation", 1), ("struck", 1)]
    assert source["left_out"] == [{"reason": reason, "words": words, "pages": []} for reason, words in rows]
    told = "cows.html: 4 words left out: hidden (2), navigation (1), struck (1)"
    assert source["notices"] == [told]
    assert documents.read_given([source]) == [source]
    for wrong in ("all", [3], [{"reason": "x"}], [{"reason": "x", "words": "y", "pages": []}]):
        with pytest.raises(InputError, match="left_out"):
            documents.read_given([{**source, "left_out": wrong}])


def test_a_run_lives_without_the_cache_and_without_its_files(folder: Path) -> None:
    with pytest.raises(Halted) as stop:
        decided([folder], max_calls=3)
    shutil.rmtree(folder)
    shutil.rmtree(os.environ["DIALECTREE_CACHE_DIR"])
    library.clear()
    record = dialectree.resume(str(stop.value.run_id), model=pointing())
    assert record.status == "answered" and record.usage.calls == 10


def test_a_run_whose_source_has_changed_is_refused_by_name(folder: Path) -> None:
    with pytest.raises(Halted) as stop:
        decided([folder], max_calls=3)
    run = str(stop.value.run_id)
    before = (folder / "cows.txt").read_text()
    (folder / "cows.txt").write_text("Cows eat meat. They do.")
    with pytest.raises(InputError, match=r"s2 \(.*/notes/cows.txt\)") as refused:
        dialectree.resume(run, model=pointing())
    assert "s1" not in str(refused.value)
    (folder / "cows.txt").write_text(before)
    (folder / "clay.md").unlink()
    assert dialectree.resume(run, model=pointing()).status == "answered"


def test_a_source_whose_text_is_nowhere_begins_no_run(folder: Path, tmp_path: Path) -> None:
    chosen = method("rsd")
    context = build_settings(chosen.protocol.settings, model=pointing())
    given = prepare_graph_input(chosen, {"question": QUESTION, "sources": [str(folder)]}, context)
    shutil.rmtree(documents_folder())
    with pytest.raises(InputError, match=r"s1 \(clay.md\): its text is gone"):
        begin(chosen, given, context, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_documents_that_no_cache_can_keep_reach_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALECTREE_CACHE_DIR", "/dev/null/cache")
    record = decided([folder / "cows.txt"])
    assert record.status == "answered" and len(texts(record.path)) == 1


def test_a_host_that_drives_the_graph_gives_texts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = method("rsd")
    context = build_settings(chosen.protocol.settings, model=pointing(), cache=False, embeddings="bm25")
    sources = [{"name": "cows.md", "text": "Cows eat grass. They eat plants."}]
    asked: Any = {"question": QUESTION, "options": OPTIONS, "sources": sources}
    state = asyncio.run(chosen.graph().ainvoke(asked, context=context))
    assert state["verdict"]["answer"]  # a run that is kept nowhere
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path / "kept"))
    state = asyncio.run(chosen.graph().ainvoke(asked, context=context))
    record = dialectree.load(state["run_id"])
    listed: Any = record.input["sources"]
    (source,) = listed
    assert (source["id"], source["name"]) == ("s1", "cows.md")
    assert record.tree.segments and texts(record.path) == {f"{source['digest']}.json"}
    with pytest.raises(InputError, match="best_of_n does not argue from sources; tsd, "):
        best = method("best_of_n").graph()
        asked.pop("options")
        asyncio.run(best.ainvoke(asked, context=None))
