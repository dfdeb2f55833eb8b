"""A server whose project file leaves protocols out, as where one lacks a package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from tests import strangers
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import COWS, ROOT, ask, serving
from tests.waiting import PATIENCE_S


def test_a_server_without_one_of_the_protocols_starts_and_offers_the_others_presets(tmp_path: Path) -> None:
    strangers.install(tmp_path)
    project = json.loads((ROOT / "langgraph.json").read_text())
    project["graphs"] = {name: project["graphs"][name] for name in ("tsd", "tsd_chat")}
    project["dependencies"], project["env"] = [str(ROOT)], {}
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps(project))
    with serving(tmp_path, config=config, PYTHONPATH=str(tmp_path)) as url:
        found = httpx.post(f"{url}/assistants/search", json={}, timeout=PATIENCE_S).json()
    assert {one["graph_id"] for one in found} == {"tsd", "tsd_chat"}
    assert len(found) > 2


def test_a_server_with_a_strangers_graph_alone_knows_the_other_protocols(
    tmp_path: Path, target: Path
) -> None:
    graphs = {"majority_debate": {"path": "dialectree.interfaces.server.script_graphs:majority_debate"}}
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps({"dependencies": [str(ROOT)], "env": {}, "graphs": graphs}))
    variables: Any = {"PYTHONPATH": str(target), "DIALECTREE_MAX_DEPTH": "1"}
    with LocalEndpoint() as endpoint:
        variables["DIALECTREE_ALLOW_URLS"] = endpoint.url
        with serving(tmp_path, config=config, **variables) as url:
            roles = {"leaf_judge": "openai:other"}
            answer = ask(url, "majority_debate", endpoint.url, COWS, roles=roles)
    assert answer.get("verdict"), answer
