"""Traces, as a LangSmith-compatible place receives them."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.endpoint import LocalEndpoint
from tests.rules import FOUR_CHILDREN

INGEST = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 16,
    "scale_down_nempty_trigger": 4,
}
KEY = "not-a-real-key-5f2c"


class Recorder:
    """Takes what a tracing client sends, and keeps it."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, Any]] = {}
        self.requests = 0
        self.sent = b""

    def take(self, kind: str, body: bytes) -> None:
        """One multipart request: parts named post.ID, post.ID.extra, patch.ID.outputs, ..."""
        self.requests += 1
        self.sent += body
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        for part in BytesParser().parsebytes(head + body).walk():
            name = part.get_param("name", header="content-disposition")
            payload = part.get_payload(decode=True)
            if not isinstance(name, str) or not isinstance(payload, bytes):
                continue
            _, run, *field = name.split(".")
            value = json.loads(payload)
            self.runs.setdefault(run, {}).update({field[0]: value} if field else value)


@contextmanager
def recorder() -> Iterator[tuple[str, Recorder]]:
    kept = Recorder()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({"version": "0", "batch_ingest_config": INGEST})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept.take(self.headers["content-type"], body)
            self._reply({})

        def _reply(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kept
    finally:
        server.shutdown()
        server.server_close()


PROGRAM = """
import dialectree
from langchain_core.tracers.langchain import wait_for_all_tracers
record = dialectree.answer("Which language do all people in Europe speak?", max_depth=1)
assert record.status == "answered", record
wait_for_all_tracers()
"""


def _debate(folder: Path, url: str, **environment: str) -> None:
    settings = {"DIALECTREE_MODEL": f"openai:any@{url}", "DIALECTREE_CACHE": "false"}
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH", "LANGCHAIN"))}
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**env, **settings, "OPENAI_API_KEY": KEY, **environment},
        check=True,
        timeout=60,
    )


def test_a_trace_names_every_role_with_its_node_of_the_tree(tmp_path: Path) -> None:
    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint, recorder() as (url, kept):
        tracing = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": KEY}
        _debate(tmp_path, endpoint.url, **tracing, LANGSMITH_ENDPOINT=url)
    names = [run["name"] for run in kept.runs.values()]
    models = [run for run in kept.runs.values() if run.get("run_type") == "llm"]
    assert len(models) == 37
    assert {"decomposer 0", "leaf_debater A 0.2", "leaf_judge 0.3", "answer_writer 0"} <= set(names)
    roots = [run for run in kept.runs.values() if not run.get("parent_run_id")]
    assert [root["name"].split()[0] for root in roots] == ["tsd"]
    judge = next(run for run in models if run["name"] == "leaf_judge 0.3")
    metadata = judge["extra"]["metadata"]
    assert metadata["tree_node"] == "0.3"
    assert metadata["role"] == "leaf_judge"
    assert metadata["prompt"] == "tree_structured_debate/leaf_judge@2"
    assert KEY.encode() not in kept.sent


def test_without_tracing_nothing_is_sent(tmp_path: Path) -> None:
    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint, recorder() as (url, kept):
        _debate(tmp_path, endpoint.url, LANGSMITH_ENDPOINT=url, LANGSMITH_API_KEY=KEY)
        assert endpoint.stats()["calls"] == 37
    assert kept.requests == 0
