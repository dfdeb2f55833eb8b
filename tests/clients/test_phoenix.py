"""Traces in Arize Phoenix, by OpenTelemetry and the environment alone."""

import asyncio
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest
from langgraph_sdk import get_client

from dialectree.records.folder import RunFolder
from tests.endpoint import ROOT, LocalEndpoint
from tests.server.test_langgraph_dev import serving
from tests.servers import OTHER_PORT, PORT, run_server
from tests.trace.trace_recorder import run_program
from tests.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.clients

PHOENIX = ROOT / ".venv-phoenix" / "bin" / "python"
TOPIC = "noise in Zweisimmen"
PAPERS = {
    name: f"{name} of Obersimmental\n\nAbstract\n\nThey bound noise.\n\n1 Introduction\n\n"
    f"{name} treat noise well."
    for name in ("Ladders", "Meshes")
}
MARKED = ["Zweisimmen", "Obersimmental", "treat noise", "Unterbach"]
MARKED += [b64encode(text.encode()).decode() for text in PAPERS.values()]
"""Words of the topic, of the papers, of the replies, and of a file as it is sent."""
RULES = [{"match": "", "set": {"description": "Unterbach", "title": "Unterbach"}}]
SETTINGS: dict[str, Any] = {"embeddings": "bm25", "max_depth": 1}
COMMAND = """
import runpy, sys
sys.argv = ["dialectree", "compare", "Ladders.txt", "Meshes.txt", "--topic", {topic!r}]
sys.argv += ["--embeddings", "bm25", "--max-depth", "1"]
runpy.run_module("dialectree", run_name="__main__")
"""
CHAT = """
import asyncio
from langchain_core.tracers.langchain import wait_for_all_tracers
from dialectree.interfaces.server.chat import tod_chat

asyncio.run(tod_chat.ainvoke({sent!r}, context={settings!r}))
wait_for_all_tracers()
"""
_direct = build_opener(ProxyHandler({}))


def get(url: str) -> Any:
    return json.load(_direct.open(url, timeout=PATIENCE_S))


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Phoenix on this machine, with nothing in it."""
    assert PHOENIX.exists(), "make test-clients installs Phoenix in .venv-phoenix"
    folder = tmp_path_factory.mktemp("phoenix")
    variables = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": PORT,
        "PHOENIX_GRPC_PORT": OTHER_PORT,
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    words = [str(PHOENIX), "-m", "phoenix.server.main", "serve"]
    with run_server(words, folder / "log", lists_projects, variables, cwd=folder) as server:
        yield server.url


def lists_projects(port: int) -> bool:
    """Return whether a Phoenix at the port takes requests."""
    try:
        get(f"http://127.0.0.1:{port}/v1/projects")
    except OSError:  # URLError is one
        return False
    return True


def spans_in(phoenix: str, project: str, count: int) -> list[dict[str, Any]]:
    """Return the spans of the project, once ``count`` are there."""

    def spans() -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = get(f"{phoenix}/v1/projects/{project}/spans?limit=1000")["data"]
        except URLError:  # before the first span there is no project
            return []
        return found if len(found) >= count else []

    return wait_until(spans, pause_s=0.2)


def sent() -> dict[str, Any]:
    """Return the message that begins the comparison in a chat."""
    files = [
        {
            "type": "file",
            "data": b64encode(text.encode()).decode(),
            "mimeType": "text/plain",
            "metadata": {"filename": f"{name}.txt"},
        }
        for name, text in PAPERS.items()
    ]
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": TOPIC}, *files]}]}


@contextmanager
def by_command(folder: Path, endpoint: str, **environment: str) -> Iterator[None]:
    for name, text in PAPERS.items():
        (folder / f"{name}.txt").write_text(text)
    run_program(COMMAND.format(topic=TOPIC), folder, endpoint, **environment)
    yield


@contextmanager
def by_chat(folder: Path, endpoint: str, **environment: str) -> Iterator[None]:
    run_program(CHAT.format(sent=sent(), settings=SETTINGS), folder, endpoint, **environment)
    yield


@contextmanager
def by_server(folder: Path, endpoint: str, **environment: str) -> Iterator[None]:
    async def asked() -> None:
        async with get_client(url=url) as client:
            context: Any = SETTINGS
            thread = (await client.threads.create())["thread_id"]
            await client.runs.wait(thread, "tod_chat", input=sent(), context=context)

    environment |= {"DIALECTREE_MODEL": f"openai:any@{endpoint}", "OPENAI_API_KEY": "-"}
    with serving(folder, kill=False, config="langgraph.all.json", **environment) as url:
        asyncio.run(asked())
        yield  # spans are sent every few seconds


@pytest.mark.parametrize("shown", ["full", "redacted"])
@pytest.mark.parametrize("asked", [by_command, by_chat, by_server])
def test_phoenix_shows_the_tree_of_a_debate(
    phoenix: str, tmp_path: Path, asked: Callable[..., AbstractContextManager[None]], shown: str
) -> None:
    project = f"{asked.__name__}-{shown}"
    environment = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_PROJECT": project,
        "OTEL_EXPORTER_OTLP_ENDPOINT": phoenix,
        "DIALECTREE_TRACE": shown,
        "DIALECTREE_CACHE": "false",
    }
    with LocalEndpoint(rules=RULES, seed=3) as endpoint, asked(tmp_path, endpoint.url, **environment):
        (folder,) = (tmp_path / "runs").iterdir()
        record = RunFolder(folder).record()
        usage, tree = record.usage, record.tree.nodes
        retrieved = sum(len(node.retrievals) for node in tree.values())
        own = 0 if asked is by_command else 5  # the chat, and the steps that it takes
        spans = spans_in(phoenix, project, usage.calls + len(tree) + retrieved + own)
    marked = [word for word in MARKED if word in json.dumps(spans)]
    if shown == "redacted":
        assert marked == []
    elif asked is not by_command:
        assert marked == MARKED
    kinds = Counter(span["span_kind"] for span in spans)
    assert kinds == Counter({"LLM": usage.calls, "AGENT": len(tree), "RETRIEVER": retrieved, "CHAIN": own})
    assert len({span["context"]["trace_id"] for span in spans}) == 1

    agents = [span for span in spans if span["span_kind"] == "AGENT"]
    node_of = {span["context"]["span_id"]: span["attributes"]["metadata.tree_node"] for span in agents}
    parents = {node_of[span["context"]["span_id"]]: node_of.get(span["parent_id"]) for span in agents}
    assert parents == {name: node.parent for name, node in tree.items()}
    debate = [span for span in spans if span["span_kind"] != "CHAIN"]
    named = {span["attributes"]["gen_ai.conversation.id"] for span in debate}
    assert named == {record.run_id}

    calls = [span for span in spans if span["span_kind"] == "LLM"]
    tokens = [
        sum(call["attributes"][f"gen_ai.usage.{side}_tokens"] for call in calls)
        for side in ("input", "output")
    ]
    assert tokens == [usage.prompt_tokens, usage.completion_tokens]
    persona = next(call for call in calls if call["name"].startswith("persona a, respond"))
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": "persona a",
        "gen_ai.provider.name": "openai",
        "llm.model_name": "any",
        "llm.input_messages.0.message.role": "system",
    }
    assert {name: persona["attributes"][name] for name in expected} == expected
    found = next(span for span in spans if span["name"] == "evidence of paper a, topic")
    assert found["attributes"]["retrieval.documents.0.document.score"] > 0
    if shown == "redacted":
        return

    outputs = {
        node_of[span["context"]["span_id"]]: json.loads(span["attributes"]["output.value"]) for span in agents
    }
    assert record.verdict is not None
    assert outputs["0"]["answer"] == record.verdict.answer
    assert outputs["0.0"]["positions"] == tree["0.0"].data["positions"]
    root = next(span for span in spans if span["parent_id"] is None)
    if asked is by_command:
        assert root["name"] == f"TOD: {TOPIC}"
        assert root["attributes"]["input.value"] == TOPIC
    else:
        assert root["name"] == "tod_chat"
        assert TOPIC in root["attributes"]["input.value"]
        assert root["attributes"]["llm.input_messages.0.message.role"] == "user"
