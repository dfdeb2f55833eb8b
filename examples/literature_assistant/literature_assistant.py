"""Run an assistant that compares the papers of a folder by a debate.

    python literature_assistant.py openai:NAME papers "How do these two save memory?"

It reads only files in that folder. It uses the OpenAI-compatible endpoint in OPENAI_BASE_URL,
with OPENAI_API_KEY.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool

import dialectree

PROMPT = """\
You help researchers to compare papers. See which papers there are, then let the two that the
question is about debate its topic. Answer from what comes back, and name the papers."""


def literature_assistant(chat: BaseChatModel, folder: Path, **settings: Any) -> Any:
    """Return the agent; ``settings`` are for its debates, such as ``model``."""

    @tool
    def list_papers() -> list[str]:
        """List the papers by the names of their files."""
        return sorted(path.name for path in folder.iterdir() if path.is_file())

    compare = dialectree.as_tool("tod", name="compare_papers", files_from=[folder], **settings)
    return create_agent(chat, tools=[list_papers, compare], system_prompt=PROMPT)


async def main(model: str, folder: str, question: str) -> None:
    """Ask the assistant; print each topic during its debate, then the answer."""
    agent = literature_assistant(init_chat_model(model), Path(folder), model=model)
    given, answer = {"messages": [("user", question)]}, ""
    async for mode, data in agent.astream(given, stream_mode=["custom", "values"]):
        if mode == "values":
            answer = data["messages"][-1].text
        elif data["kind"] == "opened":
            print(f"  {data['node']}: {data['data']['text']}", file=sys.stderr)
    print(answer)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
