"""The ways in which a debate is driven here: as the command does, and as a host does."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from benchmarks.shapes import QUESTION
from dialectree.graphs.tree_structured_debate.graph import graph
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocol import method
from dialectree.records import RunRecord
from dialectree.runner import start
from dialectree.state import Question, Ruling


async def conducted(context: Settings, runs: Path, question: str = QUESTION) -> RunRecord:
    """One debate with a run folder and its journal; the reply cache lies beside it."""
    os.environ["DIALECTREE_CACHE_DIR"] = str(runs)
    return await start(method("tsd"), {"question": question}, context, runs).conduct()


async def hosted(context: Settings, database: Path, question: str = QUESTION) -> Ruling:
    """One debate in a host's hands: no run folder, but a checkpointer of the host's own."""
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
        kept = graph.copy({"checkpointer": saver})
        asked = Question(question=question)
        ruling = await kept.ainvoke(asked, config, context=context, durability="async")
    return cast("Ruling", ruling)


async def conducted_together(context: Settings, runs: Path, count: int) -> list[RunRecord]:
    """Many debates at once, in one process."""
    asked = (f"{QUESTION} (Question {n})" for n in range(1, count + 1))
    return await asyncio.gather(*(conducted(context, runs, question) for question in asked))
