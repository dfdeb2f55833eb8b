"""An endpoint that writes the smallest reply that fits a schema, and counts what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "plants"
"""What stands wherever an answer is asked for."""


class Endpoint:
    """Serves OpenAI's chat completions at a loopback address, as a context manager."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self.latency_s = latency_s
        self.questions: list[str] = []
        """What was asked, the last message of each request."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a reply."""
        self.questions.append(str(request["messages"][-1]["content"]))
        time.sleep(self.latency_s)
        asked = request["response_format"]["json_schema"]["schema"]
        text = json.dumps(fill(asked, asked.get("$defs", {})))
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }


def make_handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    """Return the class that hands each request to ``endpoint``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.dumps(endpoint.answer(json.loads(self.rfile.read(length)))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(BrokenPipeError):  # who asked was killed
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    return Handler


def fill(schema: Mapping[str, Any], parts: Mapping[str, Any], name: str = "") -> Any:
    """Return the smallest value that fits ``schema``; ``parts`` are its definitions."""
    if "$ref" in schema:
        return fill(parts[schema["$ref"].rpartition("/")[2]], parts, name)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return fill(schema["anyOf"][0], parts, name)
    match schema.get("type"):
        case "object":
            return {key: fill(one, parts, key) for key, one in schema["properties"].items()}
        case "array":
            return [fill(schema["items"], parts)] * max(1, schema.get("minItems", 1))
        case "integer":
            return int(max(schema.get("minimum", 1), 1))
        case "number":
            return 0.75
        case "boolean":
            return False
        case _:
            return ANSWER if name == "answer" else "Cows graze on grass, which is a plant."
