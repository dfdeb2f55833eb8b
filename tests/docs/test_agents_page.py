"""The Python of docs/agents.md runs, and does what the page says."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import LocalEndpoint

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"


def test_the_tool_the_agent_and_the_graph_of_the_page_work(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, agent, graph = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        exec(tool, names)
        assert "Probability: " in names["check"].invoke({"claim": "Fire is hot."})
        exec(agent, names)
        assert "ClaimGate.after_agent" in names["agent"].get_graph().nodes
        exec(graph, names)
        debate = names["graph"].ainvoke(
            {"question": "Is it so?"}, context={"model": "openai:any", "max_depth": 0}
        )
        assert asyncio.run(debate)["verdict"]["answer"]
