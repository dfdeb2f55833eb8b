"""The agents of examples/, with a scripted model that talks and a local endpoint that debates."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import dialectree
from tests.docs.files import write_files
from tests.endpoint import LocalEndpoint

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RULES = [
    {"match": "", "set": {"truth": 0.5, "weight": 0.5}},
    *(
        {
            "match": f"List the claims that it makes.*{claim}",
            "set": {"claims": [{"lines": ["1"], "claim": claim}]},
        }
        for claim in ("Ice is warm.", "Ice is cold.")
    ),
    {"match": "Say how likely it is to be true.*Ice is warm.", "set": {"truth": 0.1}},
    {"match": "Say how likely it is to be true.*Ice is cold.", "set": {"truth": 0.9}},
]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with LocalEndpoint(rules=RULES) as endpoint:
        yield f"openai:any@{endpoint.url}"


class Talker(GenericFakeChatModel):
    """Says one message after another, and takes tools."""

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        return self


def talker(*said: AIMessage) -> Talker:
    return Talker(messages=iter(said))


def calls(name: str, **given: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": given, "id": name}])


def example(name: str, script: str = "") -> Any:
    """Return the module of an example, which is a script."""
    file = EXAMPLES / name / f"{script or name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_verifying_agent_checks_a_claim_and_takes_a_wrong_one_back(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [calls("check_claim", claim="Ice is warm."), AIMessage("Ice is warm.")]
    monkeypatch.setenv("DIALECTREE_ROOT_STRENGTH", "estimated")
    monkeypatch.setenv("DIALECTREE_BLEND", "0")
    script = example("verifying_agent")
    monkeypatch.setattr(script, "init_chat_model", lambda spec: talker(*said, AIMessage("Ice is cold.")))
    asyncio.run(script.main(model, "What is ice like?"))
    answer, finding = capsys.readouterr().out.splitlines()
    assert answer == "Ice is cold." and finding.startswith("  0.9  Ice is cold. (run ")
    asked = [dialectree.load(run.name).input["question"] for run in sorted(Path("runs").iterdir())]
    assert sorted(map(str, asked)) == ["Ice is cold.", "Ice is warm.", "Ice is warm."]


def test_the_literature_assistant_compares_the_papers_of_its_folder(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("papers").mkdir()
    write_files(Path("papers"))
    papers = {"paper_a": "ladder.txt", "paper_b": "mesh.tex", "topic": "how orbits are estimated"}
    said = [calls("list_papers"), calls("compare_papers", **papers), AIMessage("They differ.")]
    monkeypatch.setenv("DIALECTREE_EMBEDDINGS", "bm25")
    monkeypatch.setenv("DIALECTREE_MAX_DEPTH", "1")
    script = example("literature_assistant")
    monkeypatch.setattr(script, "init_chat_model", lambda spec: talker(*said))
    asyncio.run(script.main(model, "papers", "How do they estimate orbits?"))
    shown = capsys.readouterr()
    assert shown.out == "They differ.\n" and "  0: how orbits are estimated\n" in shown.err
    (run,) = Path("runs").iterdir()
    assert dialectree.load(run.name).status == "answered"


def test_a_debate_argues_from_what_a_search_of_ones_own_finds(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = example("own_retriever")
    script.main(model, "archive.db", "Can large ships use the harbour of Aden?")
    answer, *grounds = capsys.readouterr().out.splitlines()
    assert answer and all(one.startswith("  s100") for one in grounds)
    record = dialectree.load("last")
    names = {segment.source for segment in record.tree.segments.values()}
    assert names == {"pilot.md", "survey of 2021"} and record.status == "answered"
    monkeypatch.setenv("ARCHIVE", "archive.db")
    [found] = script.archive().invoke("'Sand'?")
    assert found.metadata == {"source": "survey of 2021"}


SCRIPTS = {
    "verifying_agent": ["openai:made-up", "Is the Nile longer than the Amazon?"],
    "literature_assistant": ["openai:made-up", ".", "How do the two papers sample?"],
    "own_retriever": ["openai:made-up", "archive.db", "Can large ships use the harbour of Aden?"],
    "supervisor": ["Which language do all people in Europe speak?"],
}


@pytest.mark.clients
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_agent_runs_as_a_script_whatever_its_model_says(name: str) -> None:
    if name == "supervisor" and not importlib.util.find_spec("langgraph_supervisor"):
        pytest.skip("langgraph-supervisor is not installed")
    with LocalEndpoint() as endpoint:
        variables = {
            **os.environ,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": endpoint.url,
            "DIALECTREE_MODEL": "openai:made-up",
        }
        words = [sys.executable, str(EXAMPLES / name / f"{name}.py"), *SCRIPTS[name]]
        done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout and endpoint.stats()["calls"] > 0
