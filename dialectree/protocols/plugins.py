"""Load the protocols that packages declare in the entry-point group ``dialectree.protocols``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from threading import Lock
from typing import Any, TextIO

from dialectree.system.parts import load_off_loop

GROUP = "dialectree.protocols"
COMMANDS = (
    "cache contest delete demo doctor eval export gate mcp model protocols resume run"
    " server-file show sources version view"
)
TOOLS = "cancel contest estimate result resume runs show status submit"
"""The commands and the MCP tools that do not belong to a protocol."""
_LONGEST = 300


class Declaration:
    """Mark the classes of declarations, such as ``protocol.Protocol``: an entry point may name them."""

    name: str


def load(path: str) -> Any:
    """Import and return the object that ``module:attribute`` names."""
    module, _, attribute = path.partition(":")
    return getattr(import_safely(module), attribute)


def import_safely(module: str) -> Any:
    """Import ``module``; keep the import from ending the program and from printing to stdout."""
    if module in sys.modules:
        return import_module(module)
    with _print_to_stderr(), _no_exit(module):
        return import_module(module)


@contextmanager
def _print_to_stderr() -> Iterator[None]:
    """Redirect to stderr what modules print during import, also in several threads at once.

    The last thread restores stdout. If each thread restored the stream that it found, output to stdout
    could go to stderr for ever.
    """
    with _stdout_lock:
        _stdouts.append(sys.stdout)
        sys.stdout = sys.stderr
    try:
        yield
    finally:
        with _stdout_lock:
            stdout = _stdouts.pop()
            if not _stdouts:  # so this is the real one
                sys.stdout = stdout


_stdout_lock = Lock()
_stdouts: list[TextIO] = []
"""The stdout that each running import found; the first is the real one."""


@contextmanager
def _no_exit(module_path: str) -> Iterator[None]:
    """Raise ImportError if a module exits the program; let KeyboardInterrupt through."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ImportError(f"{module_path}: {type(error).__name__}: {error}") from error


@cache
def load_declarations() -> tuple[dict[str, Any], dict[str, str]]:
    """Return the usable declarations by name, and the faults of the others by entry point.

    If an event loop is running, load them in a thread: a server's loop refuses to read files, so
    imports would fail there.
    """
    return load_off_loop(_load_all)


def _load_all() -> tuple[dict[str, Any], dict[str, str]]:
    """Load every declaration, ours first. Leave out broken ones, and those whose name is taken."""
    protocols: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=_ours_first):
        try:
            with _print_to_stderr(), _no_exit(entry.value):
                declaration = entry.load()
            if not isinstance(declaration, Declaration):
                raise TypeError(f"{entry.value} is not a Protocol")
            if any(declaration is protocol for protocol in protocols.values()):
                continue
            _require_free_names(declaration, protocols)
        except Exception as error:  # whatever a stranger's module raises
            faults[entry.value] = fault(error)
        else:
            protocols[declaration.name] = declaration
    for protocol in protocols.values():
        protocol.settings.declaration = protocol  # a refused declaration may have set it before
    return protocols, faults


def _ours_first(entry: EntryPoint) -> tuple[bool, str, str]:
    return not entry.value.startswith("dialectree."), entry.name, entry.value


def _require_free_names(new: Any, protocols: dict[str, Any]) -> None:
    """Raise ValueError if ``new`` takes a name of dialectree or of one of ``protocols``."""
    homes: dict[str, str] = import_module("dialectree")._HOMES
    verbs = {name for name, home in homes.items() if home == "dialectree.functions"}
    reserved_names = {*COMMANDS.split(), *TOOLS.split(), *homes} - verbs
    for name in _names(new):
        if name in reserved_names or find_spec(f"dialectree.{name}"):
            raise ValueError(f"dialectree itself has the name {name}")
        for protocol in protocols.values():
            if name in _names(protocol) or name in protocol.methods():
                raise ValueError(f"the protocol {protocol.name} has the name {name}")


def _names(protocol: Any) -> list[str]:
    """Return the names of a protocol's command, functions, tool and graphs."""
    names = [protocol.name, f"{protocol.name}_chat"]
    return [*names, protocol.command, f"a{protocol.command}"] if protocol.command else names


def refuse(name: str, error: Exception) -> None:
    """Remove the protocol ``name`` from the usable ones, because it cannot be built."""
    protocols, faults = load_declarations()
    faults[name] = fault(error)
    del protocols[name]


def fault(error: Exception) -> str:
    """Return one line on an error in another package's code."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]


def setting_names() -> dict[str, Iterable[str]]:
    """Return the names of the settings of each installed protocol."""
    return {name: protocol.settings.model_fields for name, protocol in load_declarations()[0].items()}


def _roles() -> list[tuple[str, str]]:
    """Return the roles of every method, each with its family."""
    methods = [
        method for protocol in load_declarations()[0].values() for method in protocol.methods().values()
    ]
    return [pair for method in methods for pair in method.own_roles().items()]


def families() -> dict[str, str]:
    """Return the roles that share a family with others, each with its family."""
    return {role: family for role, family in reversed(_roles()) if family}  # the first one counts


def list_roles() -> tuple[str, ...]:
    """Return every role of every method, and the families."""
    roles = _roles()
    names = [*(role for role, _ in roles), *(family for _, family in roles if family)]
    return tuple(dict.fromkeys(names))
