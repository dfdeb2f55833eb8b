"""Define the run that the steps of a graph need if a host drives the graph.

The keeper of hosts' runs is in a room above this one, so it is loaded by name when first needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

from langgraph.runtime import Runtime
from pydantic import JsonValue

from dialectree.protocols.protocol import Method
from dialectree.protocols.settings import Own, ProtocolSettings

KEEPER = "dialectree.running.hosted"


@runtime_checkable
class HostRun(Protocol):
    """A run that a host drives."""

    run_id: str
    sources: Sequence[Any]
    """The sources as the graph takes them, converted from what the host gave."""

    def build_thread_state(self) -> dict[str, Any]:
        """Return the run's fields in the thread's state."""
        ...

    def step(self) -> AbstractAsyncContextManager[None]:
        """Return a context for one step of the run; steps may run side by side."""
        ...

    async def finish(self) -> dict[str, Any]:
        """Complete the record; return the run's final fields in the thread's state."""
        ...


class Keeper(Protocol):
    """The keeper that begins and resumes the runs of a host."""

    def begin_run(
        self,
        method: Method | None,
        graph_input: Mapping[str, JsonValue],
        runtime: Runtime[Any],
        kind: type[ProtocolSettings],
    ) -> AbstractAsyncContextManager[HostRun]:
        """Begin a run of ``method`` with the input ``graph_input`` of its graph."""
        ...

    def find_run(
        self, method: Method | None, runtime: Runtime[Any], kind: type[ProtocolSettings]
    ) -> HostRun | None:
        """Return the run that the thread's state names, or None."""
        ...

    def settings_of(self, runtime: Runtime[Any] | None, kind: type[Own]) -> Own:
        """Return the run's settings, for a rule of the graph."""
        ...


@cache
def load_keeper() -> Keeper:
    """Return the keeper of the runs that hosts drive."""
    return cast("Keeper", import_module(KEEPER))
