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

from dialectree.graphs.tree_structured_debate.graph import graph
from tests.graphs.debating import QUESTION, context, debaters
from tests.scripted import Asked, Said, ScriptedModel

CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


class CountingModel(ScriptedModel):
    """Writes down what is asked and what is replied."""

    log: Path
    hang: str

    def write(self, what: str, call: Asked) -> None:
        line = json.dumps([what, call.node, call.role, call.round, call.prompt])
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def takes(self, call: Asked) -> float:
        self.write("asked", call)
        return 3600 if call.node == self.hang else 0.002

    def _next(self, call: Asked) -> Said:
        self.write("replied", call)
        return super()._next(call)


async def main(folder: Path, hang: str) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(folder / "host.db")) as saver:
        thread = graph.copy({"checkpointer": saver})
        begun = (await thread.aget_state(CONFIG)).values
        given: Any = None if begun else {"question": QUESTION}
        model = CountingModel(log=folder / "calls.jsonl", hang=hang)
        model.wait = model.takes
        ruling = await thread.ainvoke(
            given, CONFIG, context=context(debaters(3, model=model), max_depth=2), durability="async"
        )
    print(json.dumps(ruling["verdict"]))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
