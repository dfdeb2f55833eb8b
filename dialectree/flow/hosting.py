"""What a graph asks for where a host drives it: the run that its steps belong to.

The keeper of such runs stands floors above, so it is loaded by name when the first host comes.
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
    """The sources as the graph takes them, whatever the host gave."""

    def build_thread_state(self) -> dict[str, Any]:
        """Return what the thread's state has of the run."""
        ...

    def step(self) -> AbstractAsyncContextManager[None]:
        """Do one step of the run, maybe beside others."""
        ...

    async def finish(self) -> dict[str, Any]:
        """Complete the record; return what the thread's state has of the run from here on."""
        ...


class Keeper(Protocol):
    """What begins the runs of a host and takes them up again."""

    def begin_run(
        self,
        method: Method | None,
        graph_input: Mapping[str, JsonValue],
        runtime: Runtime[Any],
        kind: type[ProtocolSettings],
    ) -> AbstractAsyncContextManager[HostRun]:
        """Begin a run of ``method``; ``graph_input`` is what its graph takes."""
        ...

    def find_run(
        self, method: Method | None, runtime: Runtime[Any], kind: type[ProtocolSettings]
    ) -> HostRun | None:
        """Return the run that the thread's state names, or None."""
        ...

    def settings_of(self, runtime: Runtime[Any] | None, kind: type[Own]) -> Own:
        """Return the settings of the run that a rule decides in."""
        ...


@cache
def load_keeper() -> Keeper:
    """Return the keeper of the runs that hosts drive."""
    return cast("Keeper", import_module(KEEPER))
