"""Load the protocols that packages declare in the entry-point group ``dialectree.protocols``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "dialectree.protocols"


class Declaration:
    """Mark what an entry point of the group may name; ``protocol.Protocol`` is one."""


def load(path: str) -> Any:
    """Return what ``module:attribute`` names."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


@cache
def declared() -> tuple[dict[str, Any], dict[str, str]]:
    """Return the usable declarations by name, and why the others cannot be used by entry point.

    Load them in a thread where an event loop is running: a server's loop refuses to read files, and
    every import there would fail.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _load_all()
    with ThreadPoolExecutor(1, "protocols") as pool:
        return pool.submit(_load_all).result()


def _load_all() -> tuple[dict[str, Any], dict[str, str]]:
    """Load every declaration. A broken one stops nothing; of two with one name neither is used."""
    loaded: list[tuple[EntryPoint, Any]] = []
    faults: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            found = entry.load()
            if not isinstance(found, Declaration):
                raise TypeError(f"{entry.value} is no Protocol")
        except Exception as error:  # whatever a stranger's module raises
            faults[entry.value] = f"{type(error).__name__}: {error}"
        else:
            loaded.append((entry, found))
    protocols: dict[str, Any] = {}
    for entry, one in loaded:
        rivals = [
            other.value
            for other, another in loaded
            if another is not one
            and (another.name == one.name or (one.command and another.command == one.command))
        ]
        if rivals:
            faults[entry.value] = f"{', '.join(rivals)} has the same name or command"
        else:
            protocols[one.name] = one
    return protocols, faults


def setting_names() -> dict[str, Iterable[str]]:
    """Return the names of the settings of each installed protocol."""
    return {name: one.settings.model_fields for name, one in declared()[0].items()}


def _roles() -> list[tuple[str, str]]:
    """Return the roles of every method, each with its family."""
    every = [method for one in declared()[0].values() for method in one.methods().values()]
    return [pair for method in every for pair in method.own_roles().items()]


def families() -> dict[str, str]:
    """Return the roles that can be given a model together with others, each with its family."""
    return {role: family for role, family in _roles() if family}


def known_roles() -> tuple[str, ...]:
    """Return every role of every method, and the families."""
    roles = _roles()
    names = [*(role for role, _ in roles), *(family for _, family in roles if family)]
    return tuple(dict.fromkeys(names))
