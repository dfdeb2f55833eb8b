"""The routes by which a page prepares, prices, stops and answers debates."""

from __future__ import annotations

import shutil
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dialectree.evidence import documents
from dialectree.interfaces.server import acting, debates
from dialectree.records.folder import RunFolder
from tests.report.recorded import FOLDERS, record
from tests.web.test_acting import paper

ASKED = {"question": "What do cows eat?", "options": ["plants", "meat"]}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client of a server with two runs, one of which a thread drives."""
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path))
    art = RunFolder(FOLDERS["art"])
    RunFolder.create(tmp_path, "art").write_whole(art.record(), art.events(), art.ledger())
    driven = record("rsd").model_copy(update={"run_id": "driven", "thread": "t1"})
    RunFolder.create(tmp_path, "driven").write_whole(driven, [], [])
    every, faults = [*debates.routes, *acting.routes], debates.exception_handlers
    client = TestClient(Starlette(routes=every, exception_handlers=faults))
    client.event_hooks = {"response": [require_json]}
    return client


def require_json(response: Any) -> None:
    assert response.headers["content-type"] == "application/json"


def prepared(client: TestClient, name: str, given: Any, **settings: Any) -> Any:
    body = {"given": given, "settings": {"model": "openai:any", **settings}}
    return client.post(f"/protocols/{name}/prepare", json=body)


def test_what_a_person_gave_becomes_the_input_of_the_graph_with_its_price(client: TestClient) -> None:
    answer = prepared(client, "rsd", ASKED).json()
    assert answer["input"].items() >= ASKED.items()
    assert 1 < answer["estimate"]["calls"]["most"] <= 10
    assert "calls, " in answer["estimate"]["line"]
    body = {"given": {"claim": "It is so."}, "settings": {}, "estimate": False}
    assert client.post("/protocols/art/prepare", json=body).json()["estimate"] is None


def test_papers_are_read_from_the_files_that_a_client_sends(client: TestClient) -> None:
    sent = {
        name: {"name": file["name"], "base64": b64encode(file["buffer"]).decode()}
        for name, file in {"paper_a": paper("Stone"), "paper_b": paper("Rope")}.items()
    }
    answer = prepared(client, "tod", {**sent, "topic": "Bridges"}).json()
    assert [one["title"] for one in answer["input"]["papers"]] == ["Stone", "Rope"]


def test_sources_are_read_from_what_a_client_sends_and_from_no_file_of_the_server(
    client: TestClient, tmp_path: Path
) -> None:
    content = b64encode(b"Cows eat grass. They eat hay.").decode()
    sent = [{"name": "a.md", "base64": content}, {"name": "b.md", "text": "Cows eat hay."}]
    answer = prepared(client, "rsd", {**ASKED, "sources": sent}, embeddings="bm25").json()
    listed = answer["input"]["sources"]
    assert [(one["id"], one["name"]) for one in listed] == [("s1", "a.md"), ("s2", "b.md")]
    assert "path" not in listed[0] and answer["estimate"]["calls"]["most"] >= 10
    assert not [path for path in tmp_path.glob("*/run.json") if path.parent.name != "art"][1:]
    again = prepared(client, "rsd", {**ASKED, "sources": listed}, embeddings="bm25").json()
    assert again["input"]["sources"] == listed
    (tmp_path / "own.md").write_text("Cows eat grass.")
    for sources in (["own.md"], "own.md", [str(tmp_path / "own.md")], [*listed, "own.md"]):
        refused = prepared(client, "rsd", {**ASKED, "sources": sources})
        assert refused.status_code == 422 and "attach the file" in refused.json()["detail"]
    change = {"change": "add_source", "where": str(tmp_path / "own.md")}
    refused = client.post("/debates/art/contest", json={"changes": [change]})
    assert refused.status_code == 422 and "no files can be read here" in refused.json()["detail"]


def test_where_there_are_keys_a_digest_counts_for_who_gave_the_document(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debates, "owner_of", lambda identity: identity)  # as with keys

    def asked(name: str, sources: Any) -> Any:
        named = TestClient(Named(client.app, name))
        return prepared(named, "rsd", {**ASKED, "sources": sources}, embeddings="bm25")

    sent = asked("ann", [{"name": "a.md", "text": "Cows eat clover."}]).json()
    (source,) = sent["input"]["sources"]
    for name, digest in (("bob", source["digest"]), ("ann", "0" * 32), ("bob", "../../ann"), ("bob", "*")):
        refused = asked(name, [{**source, "digest": digest}])
        assert refused.status_code == 422
        assert "no document of yours has such a digest" in refused.json()["detail"]
    assert asked("ann", [source]).json()["input"]["sources"] == [source]
    shutil.rmtree(tmp_path / ".documents")
    assert asked("ann", [source]).status_code == 422  # no run of hers has it, either
    run = RunFolder.create(tmp_path, "hers")
    run.write_whole(record("rsd").model_copy(update={"run_id": "hers", "owner": "ann"}), [], [])
    documents.keep_texts(documents.locate_texts([source]), run)
    assert asked("ann", [source]).status_code == 200
    assert asked("bob", [source]).status_code == 422


class Named:
    """Lets a client in under a name, as a server does by its key."""

    def __init__(self, app: Any, name: str) -> None:
        self._app, self._user = app, SimpleNamespace(identity=name)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app({**scope, "user": self._user}, receive, send)


PATHS = {"paper_a": "/etc/passwd", "paper_b": "2502.14767", "topic": "It"}
REFUSED: list[tuple[str, Any, dict[str, Any], str]] = [
    ("tod", PATHS, {}, "attach the file"),
    ("rsd", {"question": "What?", "options": ["one"]}, {}, "one option is no choice"),
    ("rsd", ASKED, {"judge_order": "both"}, "judge_orders"),
    ("rsd", ASKED, {"base_url": "http://elsewhere.example/v1"}, "base_url"),
    ("rsd", ASKED, {"concurrency": 99}, "concurrency"),
    ("nosuch", ASKED, {}, "nosuch"),
]


@pytest.mark.parametrize(("name", "given", "settings", "why"), REFUSED)
def test_what_a_server_would_refuse_is_refused_before_the_start(
    client: TestClient, name: str, given: Any, settings: dict[str, Any], why: str
) -> None:
    refused = prepared(client, name, given, **settings)
    assert refused.status_code == 422
    assert why in refused.json()["detail"]


def test_a_contest_has_its_price(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    free = {"changes": [{"change": "set", "where": "0.0=0.2"}]}
    priced = client.post("/debates/art/contest/estimate", json=free).json()
    assert (priced["calls"]["most"], priced["line"][:7]) == (0, "0 calls")
    added = {"changes": [{"change": "add", "where": "support:0", "text": "It is so."}]}
    again = {**added, "settings": {"model": "openai:gpt-4o"}}
    priced = client.post("/debates/art/contest/estimate", json=again).json()
    assert priced["calls"]["least"] > 0 and 0 < priced["cost"]["most"] < 0.1
    assert priced["line"].endswith(f"by list prices of {priced['list_prices']}")
    wrong = {"changes": [{"change": "set", "where": "0.99=0.2"}]}
    assert client.post("/debates/art/contest/estimate", json=wrong).status_code == 422


def test_a_run_that_is_not_under_way_here_is_neither_answered_nor_stopped_for_its_thread(
    client: TestClient,
) -> None:
    assert client.get("/debates/art/asked").json() is None
    assert client.post("/debates/art/answer", json={"answer": "B"}).status_code == 422
    for act in ("cancel", "resume"):
        refused = client.post(f"/debates/driven/{act}")
        assert refused.status_code == 422 and "t1" in refused.json()["detail"]
    assert client.post("/debates/art/cancel").json()["status"] == "answered"
