"""Drive AutoGen: two assistants in turn for two rounds, then a third who decides."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.peers.driver import MODELS, URL, serve

agents: Any = import_module("autogen_agentchat.agents")
teams: Any = import_module("autogen_agentchat.teams")
openai: Any = import_module("autogen_ext.models.openai")
abilities = ("vision", "function_calling", "json_output", "structured_output")
client = openai.OpenAIChatCompletionClient(
    model=MODELS[0],
    base_url=URL,
    api_key="none",
    model_info={**dict.fromkeys(abilities, False), "family": "unknown"},
)


def assistant(name: str, task: str) -> Any:
    """Return an agent that answers in plain text."""
    return agents.AssistantAgent(name, model_client=client, system_message=task)


async def verdict(question: str) -> object:
    """Return the answer of the third assistant."""
    sides = [
        assistant("affirmative", "Argue that the answer is yes, and reply to the other side."),
        assistant("negative", "Argue that the answer is no, and reply to the other side."),
    ]
    debate = await teams.RoundRobinGroupChat(sides, max_turns=4).run(task=question)
    judge = assistant("judge", "Read the debate, and answer the question with reasons.")
    ruling = await judge.run(task=debate.messages)
    return ruling.messages[-1].content


serve(verdict)
