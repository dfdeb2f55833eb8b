"""Uploading to LangSmith: whole, once however often, and never unasked."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest

from dialectree.errors import InputError, Unreachable
from dialectree.evals.reporting.study import study
from dialectree.interfaces.cli.evaluation_report import report_after_run, upload_after_run
from tests.evals import sample
from tests.nobody import nobody

TENANT = str(uuid4())
STAMP = "2026-01-31T12:00:00+00:00"


class LangSmith(ThreadingHTTPServer):
    """What a server of LangSmith's would hold."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str]] = []
        self.datasets: dict[str, dict[str, Any]] = {}
        self.examples: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.feedback: dict[str, dict[str, Any]] = {}
        self.refusing = 0
        """A status to answer everything with."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> LangSmith:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def named(self, kept: dict[str, dict[str, Any]], name: list[str]) -> list[dict[str, Any]]:
        return [one for one in kept.values() if not name or one["name"] in name]


class Handler(BaseHTTPRequestHandler):
    """The few doors that are knocked at."""

    server: LangSmith  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def _answer(self, body: object, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = parse_qs(address.query)
        self.server.requests.append(("GET", address.path))
        if self.server.refusing:
            return self._answer({"detail": "no"}, self.server.refusing)
        if address.path == "/datasets":
            return self._answer(self.server.named(self.server.datasets, asked.get("name", [])))
        if address.path == "/sessions":
            return self._answer(self.server.named(self.server.sessions, asked.get("name", [])))
        if address.path == "/examples":
            begin, most = int(asked["offset"][0]), int(asked["limit"][0])
            return self._answer([*self.server.examples.values()][begin : begin + most])
        return self._answer({"detail": "not here"}, 404)

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, self._body()
        self.server.requests.append(("POST", path))
        if path == "/datasets":
            made = {**body, "id": str(uuid4()), "created_at": STAMP, "modified_at": STAMP}
            self.server.datasets[made["id"]] = made
            return self._answer(made)
        if path == "/sessions":
            made = {**body, "tenant_id": TENANT, "start_time": STAMP}
            self.server.sessions[made["id"]] = made
            return self._answer(made)
        if path == "/examples/bulk":
            sent = [{**one, "created_at": STAMP, "modified_at": STAMP} for one in body]
            if any(one["id"] in self.server.examples for one in sent):
                return self._answer({"detail": "there already"}, 409)
            self.server.examples |= {one["id"]: one for one in sent}
            return self._answer(sent)
        kept = {"/runs": self.server.runs, "/feedback": self.server.feedback}.get(path)
        if kept is None:
            return self._answer({"detail": "not here"}, 404)
        if body["id"] in kept:
            return self._answer({"detail": "there already"}, 409)
        kept[body["id"]] = body
        return self._answer({}, 202)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmith]:
    with LangSmith() as serving:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", serving.address)
        monkeypatch.setenv("LANGSMITH_API_KEY", "a-key")
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        yield serving


def test_a_data_set_and_an_experiment_for_each_row_arrive(server: LangSmith, tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, "decide", 6)
    message = upload_after_run(folder, "spring")
    found = study([folder])
    (dataset,) = server.datasets.values()
    assert dataset["name"] == f"made-up {sample.SHA[:12]}"
    examples = {one["metadata"]["id"]: one for one in server.examples.values()}
    assert [*examples] == found.items
    assert {"question", "options"} == set(examples["q1"]["inputs"])
    assert examples["q1"]["outputs"] == {"gold": found.texts["q1"].reference.gold}
    names = [f"spring {name}" for name in found.rows]
    assert [one["name"] for one in server.sessions.values()] == names
    assert {one["reference_dataset_id"] for one in server.sessions.values()} == {dataset["id"]}
    assert len(server.runs) == 24 and "(24 runs)" in message
    for run in server.runs.values():
        example = server.examples[run["reference_example_id"]]
        result = found.rows[run["name"]].results[example["metadata"]["id"]]
        assert run["inputs"] == example["inputs"]
        assert (run["outputs"] or {}).get("label") == (result.verdict and result.verdict.label)
        assert run["end_time"] == "2026-01-31T12:00:00+00:00"
        marks = [f for f in server.feedback.values() if f["run_id"] == run["id"]]
        assert [f.get("score") for f in marks] == [score.score for score in result.scores]
        assert UUID(run["id"]).version == 7


def test_the_same_upload_again_doubles_nothing(server: LangSmith, tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, n=3)
    upload_after_run(folder, "spring")
    before = [dict(kept) for kept in (server.datasets, server.examples, server.sessions)]
    before += [dict(server.runs), dict(server.feedback)]
    message = upload_after_run(folder, "spring")
    after = [server.datasets, server.examples, server.sessions, server.runs, server.feedback]
    assert after == before and server.requests.count(("POST", "/examples/bulk")) == 1
    assert "(0 new examples)" in message


def test_what_langsmith_logs_is_as_loud_after_an_upload_as_before(server: LangSmith, tmp_path: Path) -> None:
    log = logging.getLogger("langsmith")
    before = log.level
    upload_after_run(sample.evaluation(tmp_path, n=1), "spring")
    assert log.level == before != logging.CRITICAL


def test_another_evaluation_takes_another_name(server: LangSmith, tmp_path: Path) -> None:
    upload_after_run(sample.evaluation(tmp_path / "a", n=1), "spring")
    other = sample.evaluation(tmp_path / "b", n=1, started="2026-02-01T12:00:00.000000Z")
    with pytest.raises(InputError, match="of another evaluation: give another name"):
        upload_after_run(other, "spring")


def test_without_the_flag_nothing_leaves_the_machine(
    server: LangSmith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.evaluation(tmp_path, n=3)

    def refused(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert report_after_run(folder)[-1].startswith("report: ")
    assert server.requests == []


def test_a_refusal_is_one_line_and_so_is_an_address_without_a_server(
    server: LangSmith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.evaluation(tmp_path, n=1)
    server.refusing = 401
    with pytest.raises(InputError, match="LangSmith refuses") as caught:
        upload_after_run(folder, "spring")
    assert "\n" not in str(caught.value)
    with nobody() as address, pytest.raises(Unreachable, match="LangSmith cannot be reached"):
        monkeypatch.setenv("LANGSMITH_ENDPOINT", address)
        upload_after_run(folder, "spring")
