"""dialectree from Python: a question in, a record out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dialectree.conduct import Ask, Watch, start
from dialectree.context import build
from dialectree.graphs import METHODS, Method, method
from dialectree.records import RunRecord

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

T = TypeVar("T")


async def aanswer(
    question: str,
    *,
    method_name: str = "tsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Debate ``question`` and return the record; the same is left in a folder under ``runs``.

    ``settings`` are the fields of :class:`dialectree.Context`, such as ``model`` (a spec or a live
    LangChain chat model) or ``max_depth``. ``ask`` answers for the person when ``ask`` mode finds
    that something essential is missing. ``watch`` sees every event as it happens.

    Raises a DialectreeError: InputError for a wrong setting or an empty question, ModelUnavailable
    when there is no model to talk to, Halted when a budget is used up.
    """
    chosen = method(method_name, "tsd")
    context = build(**settings, **({"ask": True} if ask else {}))
    run = start(chosen, question, context, Path(runs))
    return await run.conduct(ask=ask, watch=watch)


def answer(question: str, **options: Any) -> RunRecord:
    """:func:`aanswer` for programs without an event loop (and for notebooks, which have one)."""
    return _run(aanswer(question, **options))


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, in a thread of its own where a loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    done: list[T] = []
    failed: list[BaseException] = []

    def target() -> None:
        try:
            done.append(asyncio.run(work))
        except BaseException as error:  # handed to the caller's thread
            failed.append(error)

    thread = threading.Thread(target=target, name="dialectree")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def as_tool(name: str = "tsd", *, runs: str | Path = "runs", **settings: Any) -> StructuredTool:
    """A LangChain tool that debates a question by the method ``name``.

    It returns the verdict as text, with the confidence and the run's id.
    """
    from langchain_core.tools import StructuredTool

    chosen: Method = method(name)

    async def debate(question: str) -> str:
        record = await aanswer(question, method_name=chosen.name, runs=runs, **settings)
        return _spoken(record)

    def debate_and_wait(question: str) -> str:
        return _run(debate(question))

    return StructuredTool.from_function(
        func=debate_and_wait,
        coroutine=debate,
        name=f"dialectree_{chosen.name}",
        description=(
            "Answers a question by a structured debate between language models. Slow and thorough: "
            "use it where a wrong answer would cost more than a minute."
        ),
    )


def _spoken(record: RunRecord) -> str:
    verdict = record.verdict
    if verdict is None or verdict.answer is None:
        return f"The debate reached no answer (run {record.run_id})."
    sure = "not determined" if verdict.confidence is None else f"{verdict.confidence:.2g}"
    label = " Demonstration model: no better than chance." if record.demonstration else ""
    degraded = " Some parts failed; the record says which." if record.status == "degraded" else ""
    return (
        f"{verdict.answer}\n{verdict.explanation or ''}\n"
        f"Confidence: {sure}. Run: {record.run_id}.{degraded}{label}"
    )


__all__ = ["METHODS", "aanswer", "answer", "as_tool"]
