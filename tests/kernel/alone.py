"""What holds where the kernel is all there is, which is where ``make kernel`` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialectree
from dialectree.errors import MissingPackage
from tests.kernel.endpoint import Endpoint
from tests.kernel.test_kernel import MODEL, OPTIONS, QUESTION, debate
from tests.kernel.test_kernel import endpoint as endpoint


def test_a_protocol_of_somebody_else_debates(endpoint: Endpoint, tmp_path: Path) -> None:
    record = dialectree.run("mad", QUESTION, model=MODEL, runs=tmp_path)
    assert (record.protocol, record.status) == ("mad", "answered")


def test_what_needs_a_part_names_it(endpoint: Endpoint, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("Cows graze.")
    for ask in (
        lambda: debate(tmp_path, sources=[str(notes)]),
        lambda: dialectree.contest(debate(tmp_path), [], runs=tmp_path),
        lambda: dialectree.estimate("rsd", QUESTION, options=OPTIONS, model=MODEL, runs=tmp_path),
        lambda: debate(tmp_path, model="local:smollm2"),
        lambda: dialectree.load("last", runs=tmp_path),
    ):
        with pytest.raises(MissingPackage, match=r"needs the part `[a-z_]+` of dialectree"):
            ask()
