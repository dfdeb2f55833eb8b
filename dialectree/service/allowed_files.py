"""Check that the files that a client names are in folders that the client may read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from os.path import isfile
from pathlib import Path
from typing import Any, get_args

from dialectree.errors import InputError
from dialectree.protocols.protocol import ProtocolInput


def resolve_allowed_files(
    kind: type[ProtocolInput], values: Mapping[str, Any], folders: Sequence[str | Path]
) -> dict[str, Any]:
    """Return ``values`` with the full path of every file that they name.

    A field names a file if its type takes a Path; a list of paths may also name folders. A name is
    looked up in each of ``folders``; links are followed. Other texts, such as an arXiv id, stay as
    they are. Raises InputError for files outside the folders.
    """
    return {
        name: resolve_allowed_value(name, value, folders) if _takes_files(_annotation(kind, name)) else value
        for name, value in values.items()
    }


def _annotation(kind: type[ProtocolInput], name: str) -> Any:
    field = kind.model_fields.get(name)
    return None if field is None else field.annotation


def _takes_files(annotation: Any) -> bool:
    return annotation is Path or any(map(_takes_files, get_args(annotation)))


def resolve_allowed_value(
    name: str, value: Any, folders: Sequence[str | Path], exists: Callable[[Path], bool] = isfile
) -> Any:
    """Return ``value`` of the field ``name`` with full paths; see :func:`resolve_allowed_files`."""
    if isinstance(value, list | tuple):
        return [resolve_allowed_value(name, entry, folders, os.path.exists) for entry in value]
    if isinstance(value, Mapping):  # a text, or an earlier document: its path is not trusted
        return {key: entry for key, entry in value.items() if key != "path"}
    if not isinstance(value, str | Path) or "\0" in str(value):  # this cannot name a file
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
