"""The door through which rows come in: a data set by its name, or a file of the user's own.

A pin guards what is fetched. A file given by hand may be any file in the documented form; its
SHA-256 goes into the results, and results go on only with the file that they were begun with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import InputError
from dialectree.evals.catalogue import CATALOGUE, Dataset
from dialectree.evals.columns import FIELDS, built, columns, item, numbered
from dialectree.evals.fetching import fetched
from dialectree.evals.items import Item, Task
from dialectree.evals.tables import Row, read, rows


class Loaded(NamedTuple):
    """A data set that was read."""

    name: str
    items: list[Item]
    path: Path
    sha256: str
    """Of the file that was read."""
    unknown: tuple[str, ...] = ()
    """Columns of a user's own file that mean nothing here, where no map names others."""

    @property
    def items_sha256(self) -> str:
        """Of the items as they were read: other columns make other items of the same file."""
        lines = (item.model_dump_json(exclude_defaults=True) + "\n" for item in self.items)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def load(
    name_or_path: str | Path,
    data: str | Path | None = None,
    mapped: str | Mapping[str, str | Iterable[str]] | None = None,
    *,
    cluster: str | None = None,
    catalogue: Mapping[str, Dataset] = CATALOGUE,
) -> Loaded:
    """The items of a data set by name, or of a file of the user's own.

    ``data`` is a file to read instead of fetching: in the documented form, or the published file
    itself. ``mapped`` says which column holds what (see :mod:`dialectree.evals.columns`), as text
    or as a mapping. ``cluster`` is the column whose value says which items belong together.
    InputError, in one line, for whatever is wrong with name, file or row.
    """
    name = str(name_or_path)
    own = columns(mapped) if isinstance(mapped, str) else _named(mapped or {})
    if name not in catalogue:
        return _own_file(name, data, own, cluster, catalogue)
    dataset = catalogue[name]
    path = Path(data) if data is not None else _fetched(dataset)
    content, sha256 = read(path)
    if own:
        items = _mapped(path, content, own, cluster)
    elif dataset.pin and dataset.published and sha256 == dataset.pin.sha256:
        items = _items(dataset.published(path, content), dataset.item, cluster)
    else:
        items = _items(rows(path, content), dataset.item, cluster)
    _require_task(path, items, dataset.task)
    return Loaded(name, items, path, sha256)


def require_same(where: Path, before: str, now: str) -> None:
    """InputError, with both hashes, where results would go on with other data than before."""
    if before != now:
        raise InputError(
            f"{where} was begun with data of sha256 {before}, and this file has {now}: "
            "give the first file, or begin another folder"
        )


def require_same_items(where: Path, before: str | None, now: str) -> None:
    """InputError where the same file is read in another way; older folders do not say in which."""
    if before not in (None, now):
        raise InputError(
            f"{where} was begun with other items of this file: give the --columns of then, or "
            "begin another folder"
        )


def _named(mapped: Mapping[str, str | Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """A mapping as :func:`columns` gives it, checked by the same rules."""

    def kept(name: str) -> str:
        return "".join(f"\\{sign}" if sign in ",=|" else sign for sign in name)

    written = [
        f"{kept(ours)}={'|'.join(map(kept, [theirs] if isinstance(theirs, str) else theirs))}"
        for ours, theirs in mapped.items()
    ]
    return columns(",".join(written)) if written else {}


def _own_file(
    name: str,
    data: str | Path | None,
    own: Mapping[str, tuple[str, ...]],
    cluster: str | None,
    catalogue: Mapping[str, Dataset],
) -> Loaded:
    path = Path(name)
    if data is not None and os.path.isfile(path):
        raise InputError(f"--data goes with a data set's name, and {name} is a file: leave one out")
    if not os.path.isfile(path):
        known = ", ".join(catalogue)
        raise InputError(f"there is no data set and no file {name!r}; known are {known}")
    content, sha256 = read(path)
    items = _mapped(path, content, own, cluster)
    unknown = [] if own else [name for name in _unknown(path, content) if name != cluster]
    return Loaded(path.stem, items, path, sha256, tuple(unknown))


def _fetched(dataset: Dataset) -> Path:
    if dataset.pin is None:
        raise InputError(
            f"{dataset.name} is not published where it could be checked: --data FILE with "
            f"{dataset.form}"
        )
    return fetched(dataset.pin)


def _mapped(
    path: Path, content: bytes, own: Mapping[str, tuple[str, ...]], cluster: str | None
) -> list[Item]:
    numbers = iter(range(1, len(content) + 2))

    def make(row: Row) -> Item:
        return item(row, own, next(numbers))

    return _items(rows(path, content), make, cluster, lambda row: numbered(row, own))


def _unknown(path: Path, content: bytes) -> tuple[str, ...]:
    named = dict.fromkeys(name for row in rows(path, content) for name in row.values)
    return tuple(name for name in named if name not in FIELDS)


def _items(
    found: Iterable[Row],
    make: Callable[[Row], Item],
    cluster: str | None,
    numbered: Callable[[Row], bool] = lambda row: False,
) -> list[Item]:
    """An item a row; two rows of one id are an error that names both lines."""
    items: list[Item] = []
    seen: dict[str, Row] = {}
    row: Row | None = None
    for row in found:
        made = built(row, partial(make, row))
        if cluster is not None:
            made = made.model_copy(update={"cluster": row.optional(cluster)})
        if made.id in seen:
            raise _twice(made.id, seen[made.id], row, numbered)
        seen[made.id] = row
        items.append(made)
    if cluster is not None and row is not None and not any(item.cluster for item in items):
        raise InputError(f"--cluster {cluster}: {_no_column(cluster, row)}")
    return items


def _no_column(name: str, row: Row) -> str:
    if name in row.values:
        return f"the column is empty in all rows of {row.path}"
    return f"there is no such column in {row.path}; there are: {', '.join(row.values)}"


def _twice(name: str, first: Row, row: Row, numbered: Callable[[Row], bool]) -> InputError:
    if bare := [one for one in (first, row) if numbered(one)]:
        return row.fault(
            f"the row in line {bare[0].line} has no id and is called by its number, {name}, which "
            f"is another row's id (lines {first.line} and {row.line}): give all rows an id, or none"
        )
    return row.fault(f"the id {name!r} stands in line {first.line} already")


def _require_task(path: Path, items: list[Item], task: Task) -> None:
    """InputError where there is nothing to do, or something else than the set is for."""
    if not items:
        raise InputError(f"{path} holds no rows")
    if other := [made for made in items if made.inputs.task != task]:
        raise InputError(f"{path}: row {other[0].id!r} is to {other[0].inputs.task}, not to {task}")
