"""Show the fields of input and settings as each door does: their names, their texts, their files.

A message of the kernel writes a field as its flag, ``--max-depth``. The command line prints it so,
and every other door calls :func:`in_python` with the names of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import create_model
from pydantic.fields import FieldInfo

from dialectree.errors import DialectreeError, InputError
from dialectree.protocols.options import about
from dialectree.protocols.protocol import ProtocolInput, installed

_FLAG = re.compile(r"(?<![\w-])--(no-)?([a-z]+(?:-[a-z]+)*)")
WISHES = {
    name: name.title() for name in ["replace", "drop", "restore", "set", "flip", "void", "add"]
}
WISHES["verdict"] = "Rule"
"""The names that a program has for changes: the classes of ``dialectree.contests``."""
CLIENTS = {"method": "method", **{name: name for name in WISHES}}
"""The names that the clients of a server have for methods and changes."""


def in_python(message: str, more: Mapping[str, str] | None = None) -> str:
    """Return ``message`` with the parameter ``max_depth`` where it has the flag ``--max-depth``.

    ``more`` adds names by flag, without the dashes.
    """
    names = {"method": "method_name"}
    for protocol in installed().values():
        for kind in (protocol.settings, protocol.input):
            for name in kind.model_fields:
                flag = name.replace("_", "-")
                names |= {flag: name, about(kind, name).get("alias") or flag: name}
    names |= more or {}

    def parameter(flag: re.Match[str]) -> str:
        name = names.get(flag[2])
        return flag[0] if name is None else f"{name}=False" if flag[1] else name

    return _FLAG.sub(parameter, message)


@contextmanager
def naming_parameters(more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Name parameters in the message of an error raised in here; see :func:`in_python`."""
    try:
        yield
    except DialectreeError as error:
        error.args = (in_python(str(error), more), *error.args[1:])
        raise


def description(field: FieldInfo) -> str:
    """Return a field's docstring in one line, in Python's terms."""
    text = " ".join((field.description or "").split())
    return in_python(text.replace("; - reads it from standard input", ""))  # the command alone does


@cache  # pydantic reads our source files for it, which would block a server
def arguments(given: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and rare parts."""
    given.model_rebuild()
    shown: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in given.model_fields.items()
        if not (about(given, name).get("evaluation_only") or about(given, name).get("hidden"))
    }
    return create_model(given.__name__, __doc__=given.__doc__, __base__=ProtocolInput, **shown)


def allowed_files(
    kind: type[ProtocolInput], values: Mapping[str, Any], folders: Sequence[str | Path]
) -> dict[str, Any]:
    """Return ``values`` with the whole path of every file that they name.

    A field names a file where its type takes a Path. A name counts from each of ``folders``, links
    included. A text that names no file, such as an arXiv id, stays as it is. Raises InputError
    for a file outside of the folders.
    """
    return {
        name: _located(name, value, folders) if _takes_files(_annotation(kind, name)) else value
        for name, value in values.items()
    }


def _annotation(kind: type[ProtocolInput], name: str) -> Any:
    field = kind.model_fields.get(name)
    return None if field is None else field.annotation


def _takes_files(annotation: Any) -> bool:
    return annotation is Path or any(map(_takes_files, get_args(annotation)))


def _located(name: str, value: Any, folders: Sequence[str | Path]) -> Any:
    if isinstance(value, list | tuple):
        return [_located(name, one, folders) for one in value]
    if not isinstance(value, str | Path) or "\0" in str(value):  # no file has such a name
        return value
    for folder in folders:
        top = Path(os.path.realpath(folder))
        path = Path(os.path.realpath(top / value))
        if path.is_relative_to(top) and os.path.isfile(path):
            return path
    path = Path(value)
    if path.is_absolute() or ".." in path.parts or os.path.lexists(path):
        allowed = f"only files in {', '.join(map(str, folders))}" if folders else "no files"
        raise InputError(f"{name}: {str(value)!r:.100}: {allowed} can be read here")
    return value
