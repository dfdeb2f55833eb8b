"""The mark behind which Anthropic's API need not read a prompt again."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.protocols.settings import build
from tests.graphs.role_switching_debate.switching import QUESTION, TWO, given
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, says, sends

anthropic = pytest.importorskip("langchain_anthropic")
pytestmark = pytest.mark.anyio

REPLIES: dict[str, dict[str, Any]] = {
    "ProposalReply": {"argument": "So it is.", "answer": TWO[0]},
    "RebuttalReply": {"errors": [], "defence": "It still is."},
    "SwitchReply": {"argument": "It is otherwise."},
    "UncertaintyReply": {"unsure_of": "Little.", "would_settle": "A look.", "percent": 70},
    "JudgeReply": {"rationale": "Sound.", "label": "A", "answer": TWO[0], "confidence": 0.8},
}


def reply(body: Any) -> Answer:
    """A reply in Anthropic's API: a call of the tool that stands for the schema.

    The first rebuttal has to be repaired.
    """
    (tool,) = body["tools"]
    filled = REPLIES[tool["name"]]
    if tool["name"] == "RebuttalReply" and len(body["messages"]) == 1:
        filled = {}
    used = {"type": "tool_use", "id": "1", "name": tool["name"], "input": filled}
    usage = {"input_tokens": 9, "output_tokens": 5}
    message = {"id": "1", "type": "message", "role": "assistant", "model": "claude"}
    return sends({**message, "content": [used], "stop_reason": "tool_use", "usage": usage})


async def test_anthropics_models_are_told_where_the_shared_part_of_a_prompt_ends() -> None:
    async with ScriptedEndpoint(choose=reply) as served:
        url = served.url.removesuffix("/v1")
        claude = anthropic.ChatAnthropic(model="claude-any", base_url=url, api_key="none")
        await graph.ainvoke(given(TWO), context=build(Settings, model=claude, cache=False))
    assert len(served.bodies) == 9 + 2
    shared = []
    for body in served.bodies:
        marked, rest = body["messages"][0]["content"]
        assert marked["cache_control"] == {"type": "ephemeral"} and "cache_control" not in rest
        shared.append(marked["text"])
    assert {*shared[:2]} == {f"<question>\n{QUESTION}\n</question>"}
    assert all(text.endswith("\n</transcript>") for text in shared[2:])
    crossed, repaired, *_ = shared[2:]
    assert crossed == repaired and len({*shared[2:]}) == 5


async def test_no_other_provider_gets_the_mark() -> None:
    async with ScriptedEndpoint(says("no JSON")) as served:
        key = SecretStr("none")
        model = ChatOpenAI(model="any", base_url=served.url, api_key=key, max_retries=0)
        await graph.ainvoke(given(TWO), context=build(Settings, model=model, cache=False))
    assert all(isinstance(m["content"], str) for body in served.bodies for m in body["messages"])
