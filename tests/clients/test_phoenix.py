"""Traces in Arize Phoenix, by OpenTelemetry and the environment alone."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest

from dialectree.runs import RunFolder
from tests.endpoint import ROOT, LocalEndpoint
from tests.rules import FOUR_CHILDREN
from tests.server.trace_recorder import run_program

pytestmark = pytest.mark.clients

PHOENIX = ROOT / ".venv-phoenix" / "bin" / "python"
PROJECT = "debates"
PROGRAM = """
import dialectree
record = dialectree.answer("Which language do all people in Europe speak?", max_depth=1)
print(record.run_id)
"""
_direct = build_opener(ProxyHandler({}))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def get(url: str) -> Any:
    return json.load(_direct.open(url, timeout=30))


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Phoenix on this machine, with nothing in it."""
    assert PHOENIX.exists(), "make test-clients installs Phoenix in .venv-phoenix"
    port, folder = free_port(), tmp_path_factory.mktemp("phoenix")
    own = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [PHOENIX, "-m", "phoenix.server.main", "serve"],
            cwd=folder,
            env={**os.environ, **own},
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                get(f"{url}/v1/projects")
                break
            except (URLError, OSError):
                assert server.poll() is None, (folder / "log").read_text()[-2000:]
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def spans_in(phoenix: str, count: int) -> list[dict[str, Any]]:
    """Return the spans of the project, once ``count`` are there."""
    spans: list[dict[str, Any]] = []
    for _ in range(150):
        try:
            spans = get(f"{phoenix}/v1/projects/{PROJECT}/spans?limit=1000")["data"]
        except URLError:  # before the first span there is no project
            spans = []
        if len(spans) >= count:
            break
        time.sleep(0.2)
    return spans


def test_phoenix_shows_the_tree_of_a_debate(phoenix: str, tmp_path: Path) -> None:
    environment = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_PROJECT": PROJECT,
        "OTEL_EXPORTER_OTLP_ENDPOINT": phoenix,
    }
    with LocalEndpoint(rules=FOUR_CHILDREN) as endpoint:
        run_id = run_program(PROGRAM, tmp_path, endpoint.url, **environment).strip()
    record = RunFolder(tmp_path / "runs" / run_id).record()
    usage, tree = record.usage, record.tree.nodes
    spans = spans_in(phoenix, usage.calls + len(tree))
    assert len(spans) == usage.calls + len(tree)
    assert len({span["context"]["trace_id"] for span in spans}) == 1

    agents = [span for span in spans if span["span_kind"] == "AGENT"]
    node_of = {
        span["context"]["span_id"]: span["attributes"]["metadata.tree_node"] for span in agents
    }
    parents = {
        node_of[span["context"]["span_id"]]: node_of.get(span["parent_id"]) for span in agents
    }
    assert parents == {name: node.parent for name, node in tree.items()}
    root = next(span for span in agents if span["parent_id"] is None)
    assert root["name"] == "TSD: Which language do all people in Europe speak?"
    assert root["attributes"]["input.value"] == "Which language do all people in Europe speak?"
    assert record.verdict is not None
    assert json.loads(root["attributes"]["output.value"])["answer"] == record.verdict.answer

    calls = [span for span in spans if span["span_kind"] == "LLM"]
    tokens = [
        sum(call["attributes"][f"gen_ai.usage.{side}_tokens"] for call in calls)
        for side in ("input", "output")
    ]
    assert tokens == [usage.prompt_tokens, usage.completion_tokens]
    judge = next(call for call in calls if call["name"] == "leaf judge")["attributes"]
    shown = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": "leaf_judge",
        "gen_ai.conversation.id": run_id,
        "gen_ai.provider.name": "openai",
        "llm.model_name": "any",
    }
    assert {name: judge[name] for name in shown} == shown
    assert judge["llm.input_messages.0.message.role"] == "system"
