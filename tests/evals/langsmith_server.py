"""A LangSmith of this machine only: it keeps what it is sent, and refuses an id a second time."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

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
