"""Load the optional parts: each plugs in at a place that the kernel names.

A part is an entry point of the group ``dialectree.parts``, with the name of its place. The kernel
does not import parts: it loads one when a debate first needs it. If the part is not installed, only
the feature that needs it fails, with a message.
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
        feature: The feature that needs the part, for the message if it is missing.
    """

    def __init__(self, name: str, feature: str) -> None:
        self.name, self.feature = name, feature

    def find(self) -> Part | None:
        """Return the part, loaded on first use; None if it is not installed."""
        return self._part

    def require(self) -> Part:
        """Return the part; raise MissingPackage if it is not installed."""
        if (part := self.find()) is None:
            raise MissingPackage(
                f"{self.feature} needs the part `{self.name}` of dialectree, "
                "which is not installed here (after a change of the checkout, install it again by "
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
    """Return the result of ``load``, run in a thread if an event loop is running.

    A server's loop refuses to read files, so imports would fail there.
    """
    if not _loop_is_running():
        return load()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "parts") as pool:
        return pool.submit(load).result()


def _loop_is_running() -> bool:
    """Return whether this thread runs an event loop; False while asyncio is not imported."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False
