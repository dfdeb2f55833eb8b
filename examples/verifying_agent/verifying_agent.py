"""Run an agent that verifies its answers: it can check a claim, and each answer is verified.

    python verifying_agent.py openai:NAME "Why is the sky blue?"

It uses the OpenAI-compatible endpoint in OPENAI_BASE_URL, with OPENAI_API_KEY.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

import dialectree

PROMPT = """\
Answer the question in a few full sentences. Check a claim with the tool where you are not sure of
it. State only what you would bet on."""


def verifying_agent(chat: BaseChatModel, **settings: Any) -> Any:
    """Return the agent; ``settings`` are for its debates, such as ``model``."""
    check = dialectree.as_tool("art", name="check_claim", **settings)
    gate = dialectree.ClaimGate(min=0.6, action="revise", rounds=1, **settings)
    return create_agent(chat, tools=[check], middleware=[gate], system_prompt=PROMPT)


async def main(model: str, question: str) -> None:
    """Ask the agent, and print its answer and the finding about each claim."""
    agent = verifying_agent(init_chat_model(model), model=model)
    result = await agent.ainvoke({"messages": [("user", question)]})
    print(result["messages"][-1].text)
    for finding in result.get("claim_findings", []):
        print(f"  {finding['probability']}  {finding['claim']} (run {finding['run']})")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
