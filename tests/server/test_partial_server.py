"""A server whose project file leaves a protocol out, as where that one lacks a package."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from tests.server.test_langgraph_dev import ROOT, serving


def test_a_server_without_one_of_the_protocols_starts_and_offers_the_others_presets(
    tmp_path: Path,
) -> None:
    project = json.loads((ROOT / "langgraph.json").read_text())
    project["graphs"] = {"tsd": project["graphs"]["tsd"]}
    project["dependencies"], project["env"] = [str(ROOT)], {}
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps(project))
    with serving(tmp_path, config=config) as url:
        found = httpx.post(f"{url}/assistants/search", json={}, timeout=30).json()
    assert {one["graph_id"] for one in found} == {"tsd"}
    assert len(found) > 1
