"""Each block of docs/providers.md runs as it is printed, against a recorder that stands in.

The shell runs the block. In its Python, every name is resolved to this machine, and every
connection leads to the recorder, whose certificate is signed by an authority made for the test.
"""

from __future__ import annotations

import json
import os
import random
import re
import ssl
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from tests.endpoint.instances import Inventor
from tests.programs import find_program

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^## ([^\n]+)\n[^#]*?^```console\n(.*?)^```", PAGE, re.M | re.S))
KEY = "sk-not-a-real-key-77e1"
REDIRECT = """
import asyncio, os, socket, sys, types

sys.modules["uvloop"] = types.SimpleNamespace(run=asyncio.run)  # it connects past Python's sockets
connect = socket.socket.connect


def redirected(self, address):
    name = "TLS_PORT" if address[1] == 443 else "PORT"
    return connect(self, ("127.0.0.1", int(os.environ[name])))


def resolved(host, port, *args, **options):
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port or 0)))]


socket.socket.connect, socket.getaddrinfo = redirected, resolved
"""
"""The ``sitecustomize.py`` of the block's Python."""


class Seen(NamedTuple):
    """One request."""

    host: str
    path: str
    key: str
    body: dict[str, Any]


class Recorder:
    """A server of every provider, with and without TLS, that keeps what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.requests: list[Seen] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                bearer = (self.headers["authorization"] or "").removeprefix("Bearer ")
                key = self.headers["x-api-key"] or bearer
                recorder.requests.append(Seen(self.headers["host"], self.path, key, body))
                content = json.dumps(answer(body)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None: ...

        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(folder / "authority.pem"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        hosts = {re.sub(r"/.*", "", url) for url in re.findall(r"https://([\w./-]+)", PAGE)}
        named = {*hosts, "api.openai.com", "api.anthropic.com"}
        authority.issue_cert(*sorted(host.lower() for host in named)).configure_cert(context)
        self.plain, self.tls = (ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2))
        self.tls.socket = context.wrap_socket(self.tls.socket, server_side=True)
        for server in (self.plain, self.tls):
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop both servers."""
        for server in (self.plain, self.tls):
            server.shutdown()
            server.server_close()


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Return a valid reply as OpenAI's or, for a request that gives tools, Anthropic's API."""
    words = [f"word{number}" for number in range(200)]  # two speakers write unlike turns
    seed = json.dumps(body, sort_keys=True)
    invent = Inventor(random.Random(seed), words, {"label": "A", "answer": "yes"})
    if tools := body.get("tools"):
        (tool,) = tools
        reply = invent.instance(tool["input_schema"])
        use = {"type": "tool_use", "id": "t1", "name": tool["name"], "input": reply}
        usage = {"input_tokens": 9, "output_tokens": 9}
        said = {"id": "m1", "type": "message", "role": "assistant", "content": [use]}
        return {**said, "model": body["model"], "stop_reason": "tool_use", "usage": usage}
    reply = invent.instance(body["response_format"]["json_schema"]["schema"])
    message = {"role": "assistant", "content": json.dumps(reply)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice]}


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """Record for one test."""
    recorder = Recorder(tmp_path)
    yield recorder
    recorder.close()


def run(block: str, recorder: Recorder, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``block`` in a shell, with a ``pip`` that installs nothing; its keys are a test's."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "pip").write_text("#!/bin/sh\nexit 0\n")
    (programs / "pip").chmod(0o755)
    (folder / "sitecustomize.py").write_text(REDIRECT)
    script = re.sub(r"^\$ ", "", block, flags=re.MULTILINE).replace("_API_KEY=...", f"_API_KEY={KEY}")
    environment = {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}:{os.defpath}",
        "HOME": str(folder),
        "PYTHONPATH": str(folder),
        "SSL_CERT_FILE": str(folder / "authority.pem"),
        "PORT": str(recorder.plain.server_port),
        "TLS_PORT": str(recorder.tls.server_port),
    }
    return subprocess.run(
        [find_program("bash"), "-euc", script], env=environment, cwd=folder, capture_output=True, text=True
    )


PROPOSAL = "Two debaters defend one answer each, and each is called by the letter of its answer."
"""What the prompt of a debate's first turns says."""
OPENAI_PATH = "/chat/completions"
PROVIDERS = [
    ("OpenAI", "api.openai.com", f"/v1{OPENAI_PATH}", "gpt-4.1-mini", KEY),
    ("Anthropic", "api.anthropic.com", "/v1/messages", "claude-sonnet-4-5", KEY),
    ("Gemini", "generativelanguage.googleapis.com", f"/v1beta/openai{OPENAI_PATH}", "gemini-2.5-flash", KEY),
    ("Ollama", "127.0.0.1:11434", f"/v1{OPENAI_PATH}", "llama3.1", "none"),
    ("LM Studio", "127.0.0.1:1234", f"/v1{OPENAI_PATH}", "qwen2.5-7b-instruct", "none"),
    ("vLLM", "127.0.0.1:8000", f"/v1{OPENAI_PATH}", "Qwen/Qwen2.5-7B-Instruct", "none"),
    ("OpenRouter", "openrouter.ai", f"/api/v1{OPENAI_PATH}", "meta-llama/llama-3.3-70b-instruct", KEY),
    ("Azure OpenAI", "name.openai.azure.com", f"/openai/v1{OPENAI_PATH}", "my-deployment", KEY),
]


@pytest.mark.parametrize(
    ("provider", "host", "path", "model", "key"),
    [
        pytest.param(*row, id=row[0], marks=[pytest.mark.clients] * (row[0] == "Anthropic"))
        for row in PROVIDERS
    ],
)
def test_the_block_of_a_provider_asks_its_model_for_the_first_turns(
    provider: str, host: str, path: str, model: str, key: str, recorder: Recorder, tmp_path: Path
) -> None:
    done = run(BLOCKS[provider], recorder, tmp_path)
    assert done.returncode in (0, 5), done
    seen = recorder.requests
    assert {(one.host.lower(), one.path, one.key) for one in seen} == {(host, path, key)}
    assert {one.body["model"] for one in seen} == {model}
    assert 9 <= len(seen) <= 12
    for first in seen[:2]:
        assert PROPOSAL in asked(first) and "Is a whale a fish?" in asked(first)


@pytest.mark.clients
def test_the_block_of_two_providers_asks_both(recorder: Recorder, tmp_path: Path) -> None:
    done = run(BLOCKS["Two providers in one debate"], recorder, tmp_path)
    assert done.returncode in (0, 5), done
    hosts = [one.host for one in recorder.requests]
    assert hosts[0] == "api.openai.com" and hosts[-1] == "api.anthropic.com"


def test_every_block_of_the_page_is_tested_and_what_it_installs_is_there_to_test() -> None:
    assert [*BLOCKS] == [row[0] for row in PROVIDERS] + ["Two providers in one debate"]
    assert PAGE.count("```console") == len(BLOCKS)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    clients = {re.split(r"[<>=\[]", one)[0] for one in extras["clients"]}
    assert {*re.findall(r"pip install (\S+)", PAGE)} <= clients


def asked(request: Seen) -> str:
    """Return the words of all messages of ``request``."""
    messages = [*request.body["messages"], {"content": request.body.get("system", "")}]
    return "\n".join(
        content if isinstance(content, str) else "".join(part["text"] for part in content)
        for content in (message["content"] for message in messages)
    )
