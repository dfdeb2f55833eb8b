"""The parts that a debate can do without: each plugs in at a place that the kernel names.

A part is an entry point of the group ``dialectree.parts``, called like the place where it plugs in.
The kernel imports no part. It loads one when a debate needs it for the first time. A part that is
not installed costs nothing, and the feature that needs it says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

from dialectree.errors import MissingPackage

GROUP = "dialectree.parts"
Part = TypeVar("Part")
Loaded = TypeVar("Loaded")


class PlugPoint(Generic[Part]):
    """A place of the kernel at which one part plugs in.

    Args:
        name: The name under which the part registers.
        feature: What needs the part, for the message where it is missing.
    """

    def __init__(self, name: str, feature: str) -> None:
        self.name, self.feature = name, feature

    def find(self) -> Part | None:
        """Return the part, which is loaded the first time; None where it is not installed."""
        return self._part

    def require(self) -> Part:
        """Return the part; MissingPackage where it is not installed."""
        if (part := self.find()) is None:
            raise MissingPackage(
                f"{self.feature} needs the part `{self.name}` of dialectree, "
                "which is not installed here (a checkout that has changed is installed again by "
                "pip install -e .)"
            )
        return part

    @cached_property
    def _part(self) -> Part | None:
        return load_off_loop(self._load)

    def _load(self) -> Part | None:
        entries = sorted(entry_points(group=GROUP, name=self.name), key=lambda entry: entry.value)
        return cast("Part", entries[0].load()) if entries else None


def load_off_loop(load: Callable[[], Loaded]) -> Loaded:
    """Return what ``load`` returns, in a thread where an event loop is running.

    A server's loop refuses to read files, and every import there would fail.
    """
    if not _loop_is_running():
        return load()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "parts") as pool:
        return pool.submit(load).result()


def _loop_is_running() -> bool:
    """Tell whether this thread runs an event loop. None does where nobody has imported asyncio."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False
