"""Show the fields of input and settings to agents and clients: their texts, their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache
from os.path import isfile
from pathlib import Path
from typing import Any, get_args

from pydantic import ConfigDict, create_model
from pydantic.fields import FieldInfo

from dialectree.errors import InputError
from dialectree.protocols.options import about
from dialectree.protocols.protocol import ProtocolInput


def description(field: FieldInfo) -> str:
    """Return a field's docstring in one line, without what the command line alone does."""
    text = " ".join((field.description or "").split())
    return text.replace("; - reads it from standard input", "")


class _Shown(ProtocolInput):
    """The input that an agent may give, whose fields come with their descriptions."""

    model_config = ConfigDict(use_attribute_docstrings=False)  # else pydantic reads our sources


@cache
def arguments(given: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and rare parts."""
    given.model_rebuild()
    shown: dict[str, Any] = {
        name: (field.annotation, _described(field))
        for name, field in given.model_fields.items()
        if not (about(given, name).get("evaluation_only") or about(given, name).get("hidden"))
    }
    return create_model(given.__name__, __doc__=given.__doc__, __base__=_Shown, **shown)


def _described(field: FieldInfo) -> FieldInfo:
    """Return ``field`` with its :func:`description`."""
    shown = copy(field)
    shown.description = description(field)
    return shown


def allowed_files(
    kind: type[ProtocolInput], values: Mapping[str, Any], folders: Sequence[str | Path]
) -> dict[str, Any]:
    """Return ``values`` with the whole path of every file that they name.

    A field names a file where its type takes a Path, and a list of them folders, too. A name counts
    from each of ``folders``, links included. A text that names no file, such as an arXiv id, stays
    as it is. Raises InputError for what lies outside of the folders.
    """
    return {
        name: allowed(name, value, folders) if _takes_files(_annotation(kind, name)) else value
        for name, value in values.items()
    }


def _annotation(kind: type[ProtocolInput], name: str) -> Any:
    field = kind.model_fields.get(name)
    return None if field is None else field.annotation


def _takes_files(annotation: Any) -> bool:
    return annotation is Path or any(map(_takes_files, get_args(annotation)))


def allowed(
    name: str, value: Any, folders: Sequence[str | Path], exists: Callable[[Path], bool] = isfile
) -> Any:
    """Return ``value`` of the field ``name`` with whole paths; see :func:`allowed_files`."""
    if isinstance(value, list | tuple):
        return [allowed(name, one, folders, os.path.exists) for one in value]
    if isinstance(value, Mapping):  # a text, or what was read before: its path is not believed
        return {key: one for key, one in value.items() if key != "path"}
    if not isinstance(value, str | Path) or "\0" in str(value):  # no file has such a name
        return value
    for folder in folders:
        top = Path(os.path.realpath(folder))
        path = Path(os.path.realpath(top / value))
        if path.is_relative_to(top) and exists(path):
            return path
    path = Path(value)
    if path.is_absolute() or ".." in path.parts or os.path.lexists(path):
        which = f"only files in {', '.join(map(str, folders))}" if folders else "no files"
        raise InputError(f"{name}: {str(value)!r:.100}: {which} can be read here")
    return value
