"""The Python of the pages that speak to a server runs, from the top of the page to its end."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.docs.test_commands import ROOT, program
from tests.endpoint import LocalEndpoint
from tests.server.test_langgraph_dev import JUDGE_SAYS_B, serving

pytestmark = [
    pytest.mark.clients,
    # langgraph-supervisor builds on an agent that LangGraph has moved.
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
]


def test_the_pages_of_a_server_and_of_a_chat_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with LocalEndpoint(rules=JUDGE_SAYS_B) as endpoint:
        monkeypatch.setenv("DIALECTREE_MODEL", "openai:any")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with serving(tmp_path) as url:
            run_page("server.md", url, monkeypatch)
            printed = capsys.readouterr().out
            assert "{'verdict': {'answer': " in printed and "'run_id': " in printed
            names = run_page("chat.md", url, monkeypatch)
            question = {"role": "user", "content": "What do cows eat?"}
            answer = names["debate"].invoke({"messages": [question]})["messages"][-1]
            assert answer["response_metadata"]["dialectree"]["status"] == "answered"
            names.clear()
            with warnings.catch_warnings(action="ignore", category=ResourceWarning):
                gc.collect()  # the clients of the pages are never closed


def run_page(name: str, url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the Python of a page against the server at `url`, and return its names."""
    page = ROOT / "docs" / name
    text = program(page)
    for address in ("http://127.0.0.1:2024", "http://localhost:2024"):
        text = text.replace(address, url)
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    exec(compile(text, str(page), "exec"), module.__dict__)
    return module.__dict__
