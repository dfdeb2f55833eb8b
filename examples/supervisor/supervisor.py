"""Run a supervisor that gives hard questions to a debate, and answers easy ones itself.

Settings come from the environment: OPENAI_BASE_URL and OPENAI_API_KEY name an OpenAI-compatible
endpoint whose models call tools, DIALECTREE_MODEL its model, as in ``openai:NAME``.

    pip install langgraph-supervisor
    python supervisor.py "Is a four-day week good for a small firm?"
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph_supervisor import create_supervisor

from dialectree.interfaces.server.chat import chat_graph

PROMPT = (
    "You lead a team of one: tsd_chat splits a question into parts and debates each of them. Hand "
    "every question over to it that reasonable people could dispute, and answer the others "
    "yourself. When its verdict is there, tell it in two sentences, with its confidence. Hand over "
    "as well what begins with why or with contest: both are about its last verdict."
)


def team(model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the supervisor of a debate; ``model`` is the model of the supervisor."""
    supervisor = create_supervisor([chat_graph("tsd")], model=model, prompt=PROMPT)
    return supervisor.compile(checkpointer=InMemorySaver(), name="team")


async def main(question: str) -> None:
    """Ask the team, and print all messages of its chat."""
    model = init_chat_model(os.environ.get("DIALECTREE_MODEL", "openai:gpt-5-mini"))
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    ended = await team(model).ainvoke({"messages": [("user", question)]}, thread)
    for message in ended["messages"]:
        message.pretty_print()


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
