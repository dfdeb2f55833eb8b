"""A thief: an endpoint on the loopback that keeps what it is sent and answers nothing of use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-not-a-real-key-77e1"


class Recorder:
    """What came in: the Authorization of each request, and everything that was sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.keys: list[str | None] = []
        self.sent = ""


@contextmanager
def recorder() -> Iterator[Recorder]:
    """An endpoint that refuses every request once it has it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept.keys.append(self.headers["authorization"])
            kept.sent += f"{self.path}\n{self.headers}\n{body!r}\n"
            self.send_response(401)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept = Recorder(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
