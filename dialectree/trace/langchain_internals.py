"""Use private parts of langchain-core's tracer that its public interface lacks.

Checked with langchain-core 1.7.2. ``tests/trace/test_langchain_internals.py`` fails if another
version behaves differently.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langchain_core.utils.uuid import uuid7
from langgraph.graph.state import CompiledStateGraph

_Tracer = TypeVar("_Tracer", bound=LangChainTracer)
_NOTHING = object()


class TracedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph that replaces LangSmith's tracer by its own."""

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Stream the graph as LangGraph does, with its own tracer."""
        traced = self.replace_tracer(config)
        if traced is None:
            return super().astream(input, config, **options)
        steps: Any = super().astream(input, traced, **options)
        return _without_outer_tracer(steps)

    def replace_tracer(self, config: RunnableConfig | None) -> RunnableConfig | None:
        """Return ``config`` with another tracer, or None to keep the current one."""
        raise NotImplementedError


async def _without_outer_tracer(stream: AsyncGenerator[Any]) -> AsyncGenerator[Any]:
    """Yield the items of ``stream``; begin it without the tracer of the step around it.

    LangGraph would add that tracer to the one in the configuration.
    """
    async with aclosing(stream):
        around: RunnableConfig = {**(var_child_runnable_config.get() or {})}
        around.pop("callbacks", None)
        token = var_child_runnable_config.set(around)
        try:
            first = await anext(stream, _NOTHING)
        finally:
            var_child_runnable_config.reset(token)
        if first is not _NOTHING:
            yield first
        async for chunk in stream:
            yield chunk


class RunTracer(LangChainTracer):
    """Send runs to the address of LangSmith's client, as ``prepare_for_sending`` returns them."""

    def prepare_for_sending(self, run: Run) -> Run:
        """Return the run to send in place of ``run``."""
        raise NotImplementedError

    def is_sent_once(self, run: Run) -> bool:
        """Return whether ``run`` is sent once, when it ends."""
        return False

    def build_run(
        self,
        run_type: str,
        name: str,
        inputs: dict[str, Any],
        extra: dict[str, Any],
        parent: UUID | None,
        id: UUID | None,
    ) -> Run:
        """Return a run that begins now."""
        return Run(
            id=id or uuid7(),
            name=name,
            run_type=run_type,
            inputs=inputs,
            parent_run_id=parent,
            start_time=datetime.now(UTC),
            events=[],
            tags=[],
            **self._get_run_kwargs(parent, extra),
        )

    def begin(self, run: Run) -> None:
        """Send a run as it begins."""
        self._start_trace(run)
        self._persist_run_single(run)

    def end(self, run: Run, error: BaseException | None = None) -> None:
        """Send the end of a run, and send it again if the run ends again."""
        if error is not None:
            run.error = self._get_stacktrace(error)
        run.end_time = datetime.now(UTC)
        self.run_map.pop(str(run.id), None)
        self._update_run_single(run)

    def under_way(self, run: Run) -> bool:
        """Return whether a run began here and its end was not sent yet."""
        return str(run.id) in self.run_map

    def _persist_run_single(self, run: Run) -> None:
        if not run.extra.get("__disabled") and not self.is_sent_once(run):
            self.prepare_for_sending(run).post()

    def _update_run_single(self, run: Run) -> None:  # type: ignore[override]
        if run.extra.get("__disabled"):
            return
        outgoing_run = self.prepare_for_sending(run)
        if self.is_sent_once(run):
            outgoing_run.post()
        else:
            outgoing_run.patch()

    def _llm_run_with_token_event(self, token: Any, run_id: UUID, *_: Any, **__: Any) -> Run:
        return super()._llm_run_with_token_event("", run_id)  # the time of a token, without its text


def successor(kind: type[_Tracer], tracer: LangChainTracer) -> _Tracer:
    """Return a tracer of another ``kind`` that continues ``tracer``."""
    new: Any = tracer.copy_with_metadata_defaults()
    new.__class__ = kind
    return new  # type: ignore[no-any-return]


def with_tracer(
    config: RunnableConfig | None, replace: Callable[[LangChainTracer], LangChainTracer | None]
) -> RunnableConfig | None:
    """Return ``config`` with LangSmith's tracer replaced; None if that tracer stays or is missing.

    Args:
        replace: returns the new tracer, or None to keep the current one.
    """
    outer: RunnableConfig = var_child_runnable_config.get() or {}
    callbacks = (config or {}).get("callbacks") or outer.get("callbacks")
    manager = AsyncCallbackManager.configure(callbacks)
    tracer = next((handler for handler in manager.handlers if isinstance(handler, LangChainTracer)), None)
    new = None if tracer is None else replace(tracer)
    if new is None:
        return None
    for handlers in (manager.handlers, manager.inheritable_handlers):
        handlers[:] = [new if isinstance(handler, LangChainTracer) else handler for handler in handlers]
    return {**(config or {}), "callbacks": manager}


def current_tracer(kind: type[_Tracer]) -> _Tracer | None:
    """Return the tracer of this ``kind`` in the step that runs this code, or None."""
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    handlers = getattr(callbacks, "handlers", None) or ()
    return next((handler for handler in handlers if isinstance(handler, kind)), None)
