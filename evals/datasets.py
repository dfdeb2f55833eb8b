"""Loads a data set by its name, or a file of the user's own.

A published file is fetched once, checked against its digest and kept in the cache folder. The
SHA-256 of the file goes into the results, and results go on only with the file that they were begun
with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from dialectree.errors import InputError
from dialectree.evals.data_files import (
    FIELDS,
    Columns,
    Row,
    columns,
    gold_place,
    item,
    read_text,
    renamed,
    rows,
)
from dialectree.evals.dataset_items import Item
from dialectree.evals.published_datasets import DATASETS
from dialectree.protocols.protocol import Dataset, installed
from dialectree.protocols.protocol import load as load_attribute
from dialectree.protocols.sources import cache_folder

TIMEOUT_S = 15.0
"""Seconds without a sign of life after which an address is given up."""


class Loaded(NamedTuple):
    """A data set that was read."""

    name: str
    items: list[Item]
    path: Path
    sha256: str
    """Of the file that was read."""
    unknown: tuple[str, ...] = ()
    """Columns of a user's own file that nothing reads, where no map names others."""
    by_place: int = 0
    """Rows of a user's own file that give the right option by its place, from 0."""

    @property
    def items_sha256(self) -> str:
        """Digest of the items as they were read: other columns make other items of a file."""
        lines = (item.model_dump_json(exclude_defaults=True) + "\n" for item in self.items)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def catalogue() -> dict[str, Dataset]:
    """Return the data sets that are known by name: the public ones, and those of protocols."""
    declared = [one.evaluation for one in installed().values() if one.evaluation]
    own = [dataset for evaluation in declared for dataset in evaluation.datasets]
    return {dataset.name: dataset for dataset in (*DATASETS, *own)}


def load(
    name_or_path: str | Path,
    data: str | Path | None = None,
    mapped: str | None = None,
    *,
    cluster: str | None = None,
    known: Mapping[str, Dataset] | None = None,
) -> Loaded:
    """Return the items of a data set by name, or of a file of the user's own.

    ``data`` is a file to read instead of fetching: in the documented form, or the published file
    itself. ``mapped`` says which column holds what (see :mod:`dialectree.evals.data_files`).
    ``cluster`` is the column whose value says which items belong together. ``known`` are the data
    sets by name. InputError, in one line, for whatever is wrong with name, file or row.
    """
    name = str(name_or_path)
    known = catalogue() if known is None else known
    dataset = known.get(name)
    path = _path(name, data, known)
    text, sha256 = read_text(path)
    own = columns(mapped) if mapped is not None else {}
    if dataset and dataset.published and sha256 == dataset.sha256 and not own:
        read = [Row(path, n, row) for n, row in enumerate(_published(dataset, path, text), 1)]
    else:
        read = rows(path, text)
    items = _items(read, None if own else dataset, own, cluster)
    if dataset is not None:
        if other := [one for one in items if one.inputs.task != dataset.task]:
            task = other[0].inputs.task
            raise InputError(f"{path}: row {other[0].id!r} is to {task}, not to {dataset.task}")
        return Loaded(name, items, path, sha256)
    there = dict.fromkeys(column for row in read for column in row.values)
    unread = () if own else tuple(n for n in there if n not in FIELDS and n != cluster)
    ours = [renamed(row, own) for row in read] if own else read
    by_place = sum(
        gold_place(r, i.inputs.options) is not None for r, i in zip(ours, items, strict=True)
    )
    return Loaded(path.stem, items, path, sha256, unread, by_place)


def _path(name: str, data: str | Path | None, known: Mapping[str, Dataset]) -> Path:
    if name in known:
        return Path(data) if data is not None else fetched(known[name])
    if not os.path.isfile(name):
        raise InputError(f"there is no data set and no file {name!r}; known are {', '.join(known)}")
    if data is not None:
        raise InputError(f"--data goes with a data set's name, and {name} is a file: leave one out")
    return Path(name)


def cached(dataset: Dataset) -> Path:
    """Return where the published file of a data set is kept."""
    file = dataset.url.rpartition("/")[2]
    return cache_folder() / "datasets" / f"{dataset.sha256[:12]}-{file}"


def fetched(dataset: Dataset, timeout_s: float = TIMEOUT_S) -> Path:
    """Return the path of the published file; it is fetched where it is missing or damaged.

    InputError where the address does not give this very file. Nothing else is kept.
    """
    if not dataset.url:
        raise InputError(
            f"{dataset.name} is not published where it could be checked: --data FILE with "
            f"{dataset.form}"
        )
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    # A streamed error page would stay unread and keep its connection open.
    downloader: Any = pooch.HTTPDownloader(timeout=timeout_s, stream=False)
    path = cached(dataset)
    try:
        pooch.retrieve(
            dataset.url,
            f"sha256:{dataset.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=downloader,
        )
    except (requests.RequestException, OSError, ValueError) as error:
        raise InputError(
            f"{dataset.url} cannot be fetched: {' '.join(str(error).split())[:300]}; nothing was "
            "kept, --data FILE reads a file of your own"
        ) from None
    return path


def _published(dataset: Dataset, path: Path, text: str) -> list[Mapping[str, Any]]:
    try:
        if published := [*load_attribute(dataset.published)(text)]:
            return published
        raise ValueError("it holds no rows")
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path} is not the published file: {str(error)[:200]}") from None


def _items(
    read: Sequence[Row], dataset: Dataset | None, mapped: Columns, cluster: str | None
) -> list[Item]:
    """Return an item a row; two rows of one id are an error that names both lines."""
    items: list[Item] = []
    lines: dict[str, int] = {}
    for number, row in enumerate(read, 1):
        made = _item(row, number, dataset, mapped)
        if cluster is not None:
            made = made.model_copy(update={"cluster": row.text(cluster)})
        if made.id in lines:
            hint = "; a row without an id is called by its number" if made.id.isdecimal() else ""
            raise row.fault(f"the id {made.id!r} stands in line {lines[made.id]} already{hint}")
        lines[made.id] = row.line
        items.append(made)
    if cluster is not None and not any(one.cluster for one in items):
        there = ", ".join(dict.fromkeys(name for row in read for name in row.values))
        raise InputError(
            f"--cluster {cluster}: there is no such column in {read[0].path}, or it is empty; "
            f"there are: {there}"
        )
    return items


def _item(row: Row, number: int, dataset: Dataset | None, mapped: Columns) -> Item:
    try:
        if mapped:
            return item(renamed(row, mapped), number)
        if dataset is None:
            return item(row, number)
        values = {"id": row.values["id"], "category": row.values.get("category")}
        values |= load_attribute(dataset.row)(row.values)
        return item(Row(row.path, row.line, values), number)
    except KeyError as error:
        raise row.missing(str(error.args[0])) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = [str(part) for part in first["loc"]]
        raise row.fault(": ".join([*place, first["msg"].removeprefix("Value error, ")])) from None
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise row.fault(str(error)) from None
