"""A run finds the documents of its sources by their digests, wherever they are kept."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.models.run import Run
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import build_settings
from dialectree.retrieval import corpus_files, library, material
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Material
from dialectree.retrieval.material import material_of
from dialectree.retrieval.sources import (
    Document,
    documents_folder,
    find_document_file,
    read_document,
    read_sources,
    write_document,
)

ROOT = Path(__file__).parents[2]
SKY = Document.from_blocks("sky.txt", [Block("The sky is blue at noon. It is high — 空は青い。")], "Sky")
SEA = Document.from_blocks("sea.txt", [Block("The sea is deep. It is wide.")])


def listed(*documents: Document) -> list[dict[str, Any]]:
    """Return the sources of a run's input."""
    return [
        {"id": f"s{n}", "name": one.name, "title": one.title, "digest": one.digest}
        for n, one in enumerate(documents, 1)
    ]


def made(sources: Sequence[Mapping[str, Any]], at: Path | None = None, **values: Any) -> Material:
    context = build_settings(GroundedSettings, **{"embeddings": "bm25", **values})
    run = Run("", context)
    vars(run)["sources_at"] = at
    return asyncio.run(material_of(sources, context, run))


def test_a_document_is_written_whole_and_read_back_by_its_digest(tmp_path: Path) -> None:
    for document in (SKY, SEA):
        file = write_document(document, tmp_path / "sources")
        assert file == tmp_path / "sources" / f"{document.digest}.json"
        assert read_document(file, document.name) == document
    assert find_document_file(SKY.digest, [tmp_path, tmp_path / "sources"]) == tmp_path / "sources" / SKY.file
    assert find_document_file("../sources/" + SKY.digest, [tmp_path / "sources"]) is None
    for damage in (b"", b"{}", file.read_bytes()[:-9], file.read_bytes().replace(b"deep", b"dark")):
        file.write_bytes(damage)
        with pytest.raises(InputError, match=r"sea\.txt: its text in .* cannot be read"):
            read_document(file, "sea.txt")
    write_document(SEA, tmp_path / "sources")
    assert read_document(file, "sea.txt") == SEA


def test_what_was_read_is_kept_by_its_digest_and_a_damaged_one_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Tides\n\nThe moon pulls the sea.")
    [document], _ = read_sources(tmp_path / "a.md")
    file = documents_folder() / document.file
    assert read_document(file, "a.md") == document
    linked = write_document(document, tmp_path / "run")
    assert linked.samefile(file)
    file.unlink()
    file.write_text("{")
    assert read_sources(tmp_path / "a.md").documents == (document,)
    assert read_document(file, "a.md") == document == read_document(linked, "a.md")


def test_a_run_searches_the_documents_of_its_folder_or_of_the_cache(tmp_path: Path) -> None:
    write_document(SKY, documents_folder())
    write_document(SEA, tmp_path / "run")
    found = made(listed(SKY, SEA), tmp_path / "run")
    assert [*found.sources] == ["s1", "s2"] and found.sources["s1"].title == "Sky"
    [[best]] = asyncio.run(found.search(["deep sea"], 1))
    assert best.id == "s2:1" and found.sentence("s2:1.2") == "It is wide."
    assert made(listed(SKY, SEA), tmp_path / "run") is found
    renamed = made([{**listed(SKY)[0], "name": "other.txt"}])
    assert renamed.sources["s1"].name == "other.txt"
    library.clear()
    with pytest.raises(InputError, match=r"sea\.txt: its text is not in the run's folder"):
        made(listed(SKY, SEA))


def test_a_run_is_indexed_before_it_begins_and_shows_how_far(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    context = build_settings(GroundedSettings, embeddings="bm25")
    material.prepare([SKY, SEA], context, lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    found = made(listed(SKY, SEA))  # whose documents are nowhere else
    assert found.sources["s2"].name == "sea.txt"


def test_too_many_segments_are_refused_and_a_retriever_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_files, "SEGMENTS", 1)
    with pytest.raises(InputError, match=r"more than 1 segments: .* name it by `retriever`"):
        material.prepare([SKY, SEA], build_settings(GroundedSettings, embeddings="bm25"))
    with pytest.raises(InputError, match="there are no sources, and no retriever"):
        made([])


WITHOUT = """
import sys
from dialectree.protocols.grounded import GroundedSettings
for package in ("charset_normalizer", "bm25s", "nupunkt", "faiss", "sentence_transformers"):
    sys.modules[package] = None
from dialectree.retrieval import library, material
try:
    import dialectree.retrieval.sources
except ImportError as error:
    print(type(error).__name__, error)
try:
    material.prepare([], GroundedSettings(embeddings="bm25"))
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_a_missing_package_is_named_with_the_line_that_installs_it() -> None:
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for line, work in zip(done.stdout.splitlines(), ("reading", "searching"), strict=True):
        assert line.startswith(f"MissingPackage {work} sources needs ")
        assert line.endswith("(not installed): pip install 'dialectree[sources]'")
