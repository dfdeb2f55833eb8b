"""A host with a checkpointer of its own, as a process that a test can kill.

``python -m tests.graphs.interrupted_host FOLDER [HANG]`` starts or continues the debate in FOLDER
with a model that never ends the calls of the node HANG. Each call writes a line when it is asked
and one when it replies.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from dialectree.graphs.tree_structured_debate import graph
from tests.graphs.debating import QUESTION, context, debaters
from tests.scripted import Asked, Said, ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


def counting(log: Path, hang: str) -> ScriptedModel:
    """Writes down what is asked and what is replied."""
    model = debaters(3)
    usual = model._next

    def write(what: str, call: Asked) -> None:
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, call.node, call.role, call.round, call.prompt]) + "\n")

    def wait(call: Asked) -> float:
        write("asked", call)
        return 3600 if call.node == hang else 0.002

    def next_(call: Asked) -> Said:
        write("replied", call)
        return usual(call)

    model.wait = wait
    object.__setattr__(model, "_next", next_)
    return model


async def main(folder: Path, hang: str) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(folder / "host.db")) as saver:
        thread = graph.copy({"checkpointer": saver})
        begun = (await thread.aget_state(CONFIG)).values
        given: Any = None if begun else {"question": QUESTION}
        model = counting(folder / "calls.jsonl", hang)
        ruling = await thread.ainvoke(
            given, CONFIG, context=context(model, max_depth=2, max_nodes=13), durability="async"
        )
    print(json.dumps(ruling["verdict"]))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
