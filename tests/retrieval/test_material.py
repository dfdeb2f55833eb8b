"""A run finds the documents of its sources by their digests, wherever they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.models.run import Run
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import build
from dialectree.retrieval import material
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.material import Material, material_of
from dialectree.retrieval.sources import (
    Document,
    documents_folder,
    kept,
    read_document,
    read_sources,
    write_document,
)

SKY = Document.of("sky.txt", [Block("The sky is blue at noon. It is high — 空は青い。")], "Sky")
SEA = Document.of("sea.txt", [Block("The sea is deep. It is wide.")])


def listed(*documents: Document) -> list[dict[str, Any]]:
    """Return the sources of a run's input."""
    return [
        {"id": f"s{n}", "name": one.name, "title": one.title, "digest": one.digest}
        for n, one in enumerate(documents, 1)
    ]


def made(sources: Sequence[Mapping[str, Any]], at: Path | None = None, **values: Any) -> Material:
    context = build(GroundedSettings, **{"embeddings": "bm25", **values})
    run = Run("", context)
    vars(run)["sources_at"] = at
    return asyncio.run(material_of(sources, context, run))


def test_a_document_is_written_whole_and_read_back_by_its_digest(tmp_path: Path) -> None:
    for document in (SKY, SEA):
        file = write_document(document, tmp_path / "sources")
        assert file == tmp_path / "sources" / f"{document.digest}.json"
        assert read_document(file, document.name) == document
    assert kept(SKY.digest, [tmp_path, tmp_path / "sources"]) == tmp_path / "sources" / SKY.file
    assert kept("../sources/" + SKY.digest, [tmp_path / "sources"]) is None
    for damage in (b"", b"{}", file.read_bytes()[:-9], file.read_bytes().replace(b"deep", b"dark")):
        file.write_bytes(damage)
        with pytest.raises(InputError, match=r"sea\.txt: its text in .* cannot be read"):
            read_document(file, "sea.txt")
    write_document(SEA, tmp_path / "sources")
    assert read_document(file, "sea.txt") == SEA


def test_what_was_read_is_kept_by_its_digest_and_a_damaged_one_is_read_anew(
    tmp_path: Path,
) -> None:
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
    material.clear()
    with pytest.raises(InputError, match=r"sea\.txt: its text is not in the run's folder"):
        made(listed(SKY, SEA))
