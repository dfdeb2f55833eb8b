"""The routes of a server for the runs in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dialectree.records.folder import RunFolder
from dialectree.server.debates import exception_handlers, routes
from tests.report.recorded import record

DROP = '"changes": [{"change": "drop", "where": "0"}]'


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client of a server with one run, ``good``."""
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path))
    good = record("rsd").model_copy(update={"run_id": "good"})
    RunFolder.create(tmp_path, "good").write_whole(good, [], [])
    return TestClient(Starlette(routes=routes, exception_handlers=exception_handlers))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"null", b'"changes"', b'{"changes": null}',
        b'{"changes": []}', b'{"changes": ["drop"]}', b'{"changes": [{"change": 1, "where": "0"}]}',
        b'{"changes": [{"change": "\\ud800", "where": "0"}]}',
        *(f'{{{DROP}, "settings": {one}}}'.encode() for one in ("1", '"max_calls"', "[1]", "NaN")),
        f'{{{DROP}, "settings": {{"max_calls": "x"}}}}'.encode(),
        f'{{{DROP}, "more": 1}}'.encode(),
    ],
)  # fmt: skip
def test_a_contest_whose_body_is_of_another_shape_is_refused_in_one_line(
    client: TestClient, body: bytes
) -> None:
    refused = client.post("/debates/good/contest", content=body)
    assert refused.status_code == 422
    assert "\n" not in refused.json()["detail"]


def test_a_run_that_cannot_be_read_is_passed_over(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    listed = client.get("/debates")
    assert [one["run_id"] for one in listed.json()] == ["good"]
    assert client.get("/debates/bad").status_code == 404


def test_no_client_is_told_where_the_server_keeps_its_runs(
    client: TestClient, tmp_path: Path
) -> None:
    (tmp_path / "good" / "calls.jsonl").write_text("{}\n")
    refused = client.get("/debates/good/report.md")
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("good/calls.jsonl, line 1 cannot be read: ")
