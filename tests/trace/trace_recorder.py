"""A LangSmith of this machine that keeps the traces it is sent."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import zstandard

from tests.forking import python
from tests.waiting import PATIENCE_S

ABILITIES = {
    "version": "0",
    "instance_flags": {"zstd_compression_enabled": True},
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": 100,
        "size_limit_bytes": 20_000_000,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 16,
        "scale_down_nempty_trigger": 4,
    },
}
KEY = "not-a-real-key-5f2c"


class Recorder:
    """Takes what a tracing client sends, and keeps it."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, Any]] = {}
        self.requests = 0
        self.transferred = 0
        """Bytes, as they came: compressed."""
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

    def root(self) -> dict[str, Any]:
        """Return the only run without a parent."""
        [root] = [run for run in self.runs.values() if not run.get("parent_run_id")]
        return root

    def under(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the runs under ``run``, in their order."""
        children = [one for one in self.runs.values() if one.get("parent_run_id") == run["id"]]
        return sorted(children, key=lambda one: str(one["dotted_order"]))


@contextmanager
def recorder() -> Iterator[tuple[str, Recorder]]:
    """Serve a recorder; yield its address and what it keeps."""
    kept = Recorder()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(ABILITIES)

        def do_POST(self) -> None:
            body = self._body()
            kept.transferred += len(body)
            if self.headers["content-encoding"] == "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            kept.take(self.headers["content-type"], body)
            self._reply({})

        def _body(self) -> bytes:
            if (length := self.headers["content-length"]) is not None:
                return self.rfile.read(int(length))
            body = b""
            while (size := int(self.rfile.readline(), 16)) > 0:
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _reply(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kept
    finally:
        server.shutdown()
        server.server_close()


def tracing_to(url: str) -> dict[str, str]:
    """Return the environment that sends traces to ``url``."""
    return {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": KEY, "LANGSMITH_ENDPOINT": url}


def run_program(program: str, folder: Path, endpoint: str, **environment: str) -> str:
    """Run a Python program that debates with ``endpoint``; return what it printed."""
    settings = {
        "DIALECTREE_MODEL": f"openai:any@{endpoint}",
        "DIALECTREE_CACHE_DIR": str(folder / "cache"),
        "OPENAI_API_KEY": KEY,
    }
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH", "LANGCHAIN"))}
    done = subprocess.run(
        [python(), "-c", program],
        cwd=folder,
        env={**env, **settings, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    return done.stdout
