"""Loads a data set by its name, or a file of the user's own.

A file that is fetched is checked against its pin. Any file in the documented form can be given; its
SHA-256 goes into the results, and results go on only with the file that they were begun with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from dialectree.errors import InputError
from dialectree.evals.catalogue import CATALOGUE, Dataset
from dialectree.evals.columns import FIELDS, Columns, columns, item
from dialectree.evals.fetching import fetched
from dialectree.evals.items import Item
from dialectree.evals.tables import Row, read_text, rows


class Loaded(NamedTuple):
    """A data set that was read."""

    name: str
    items: list[Item]
    path: Path
    sha256: str
    """Of the file that was read."""
    unknown: tuple[str, ...] = ()
    """Columns of a user's own file that nothing reads, where no map names others."""

    @property
    def items_sha256(self) -> str:
        """Digest of the items as they were read: other columns make other items of a file."""
        lines = (item.model_dump_json(exclude_defaults=True) + "\n" for item in self.items)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def load(
    name_or_path: str | Path,
    data: str | Path | None = None,
    mapped: str | None = None,
    *,
    cluster: str | None = None,
    catalogue: Mapping[str, Dataset] = CATALOGUE,
) -> Loaded:
    """Return the items of a data set by name, or of a file of the user's own.

    ``data`` is a file to read instead of fetching: in the documented form, or the published file
    itself. ``mapped`` says which column holds what (see :mod:`dialectree.evals.columns`).
    ``cluster`` is the column whose value says which items belong together. InputError, in one line,
    for whatever is wrong with name, file or row.
    """
    name = str(name_or_path)
    own = columns(mapped) if mapped is not None else {}
    dataset = catalogue.get(name)
    path = _path(name, data, dataset, catalogue)
    text, sha256 = read_text(path)
    found: Sequence[Row]
    if dataset and dataset.pin and dataset.published and sha256 == dataset.pin.sha256 and not own:
        found = [*dataset.published(path, text)]
    else:
        found = rows(path, text)
    items = _items(found, dataset.item if dataset and not own else own, cluster)
    if dataset is not None:
        if other := [one for one in items if one.inputs.task != dataset.task]:
            task = other[0].inputs.task
            raise InputError(f"{path}: row {other[0].id!r} is to {task}, not to {dataset.task}")
        return Loaded(name, items, path, sha256)
    there = dict.fromkeys(name for row in found for name in row.values)
    unknown = () if own else tuple(n for n in there if n not in FIELDS and n != cluster)
    return Loaded(path.stem, items, path, sha256, unknown)


def _path(
    name: str, data: str | Path | None, dataset: Dataset | None, catalogue: Iterable[str]
) -> Path:
    if dataset is None:
        if not os.path.isfile(name):
            known = ", ".join(catalogue)
            raise InputError(f"there is no data set and no file {name!r}; known are {known}")
        if data is not None:
            raise InputError(
                f"--data goes with a data set's name, and {name} is a file: leave one out"
            )
        return Path(name)
    if data is not None:
        return Path(data)
    if dataset.pin is None:
        raise InputError(
            f"{name} is not published where it could be checked: --data FILE with {dataset.form}"
        )
    return fetched(dataset.pin)


def _items(
    found: Sequence[Row], make: Callable[[Row], Item] | Columns, cluster: str | None
) -> list[Item]:
    """Return an item a row; two rows of one id are an error that names both lines."""
    items: list[Item] = []
    seen: dict[str, Row] = {}
    for number, row in enumerate(found, 1):
        try:
            made = make(row) if callable(make) else item(row, make, number)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = [str(part) for part in first["loc"]]
            message = first["msg"].removeprefix("Value error, ")
            raise row.fault(": ".join([*place, message])) from None
        except ValueError as error:
            raise row.fault(str(error)) from None
        if cluster is not None:
            made = made.model_copy(update={"cluster": row.optional(cluster)})
        if made.id in seen:
            hint = "; a row without an id is called by its number" if made.id.isdecimal() else ""
            raise row.fault(f"the id {made.id!r} stands in line {seen[made.id].line} already{hint}")
        seen[made.id] = row
        items.append(made)
    if cluster is not None and not any(one.cluster for one in items):
        there = dict.fromkeys(name for row in seen.values() for name in row.values)
        wrong = "the column is empty" if cluster in there else "there is no such column"
        known = f"{found[0].path}; there are: {', '.join(there)}"
        raise InputError(f"--cluster {cluster}: {wrong} in {known}")
    return items
