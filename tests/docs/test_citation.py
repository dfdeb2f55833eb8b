"""What the citation says of the project is true of it."""

from __future__ import annotations

from importlib.metadata import metadata
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_names_the_version_and_the_licence_of_the_project() -> None:
    project = metadata("dialectree")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == project["Version"]
    assert citation["license"] == project["License-Expression"]
    assert f"version = {{{project['Version']}}}" in (ROOT / "docs" / "cite.md").read_text()
