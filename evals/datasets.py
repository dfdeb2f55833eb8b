"""Load a data set by its name, or a user's file, and report oddities.

A published file is downloaded once, checked against its digest and kept in the cache folder. The
results store the SHA-256 of the file, and an evaluation goes on only with this very file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from pydantic import ValidationError

from dialectree.errors import InputError, MissingPackage
from dialectree.evals.cell_forms import is_filled
from dialectree.evals.column_names import choose_right_column, list_option_columns, list_right_columns
from dialectree.evals.column_recognition import ColumnReading, recognise_columns
from dialectree.evals.dataset_items import (
    FIELDS,
    IGNORE,
    ColumnMap,
    Columns,
    DatasetRow,
    Item,
    Task,
    columns,
    read_text,
    rename_columns,
    rows,
)
from dialectree.evals.dataset_sources import SourceReader
from dialectree.evals.faults import fault_lines
from dialectree.evals.published_datasets import find_row_converter, public
from dialectree.evals.tasks import TASKS
from dialectree.evals.unread_columns import require_columns_read, suggest_columns
from dialectree.protocols.protocol import Dataset, Method, load_protocols
from dialectree.protocols.protocol import load as load_attribute
from dialectree.protocols.sources import cache_folder
from dialectree.system.addresses import describe_missing_file
from dialectree.text import count, format_list, line, suggest_nearest

TIMEOUT_S = 15.0
"""Seconds without data after which a download fails."""


class LoadedDataset(NamedTuple):
    """A data set after reading."""

    name: str
    items: list[Item]
    path: Path
    sha256: str
    """Digest of the file."""
    unused: tuple[str, ...] = ()
    """Columns of a user's file that are not read; empty if ``--columns`` maps columns."""
    recognised: str = ""
    """The columns of a user's file that were read by other names than ours; see :class:`ColumnReading`."""
    by_place: int = 0
    """The number of rows of a user's file that give the right option by its place, from 0."""
    unread: tuple[str, ...] = ()
    """A line for each part of the sources that could not be read."""

    @property
    def items_sha256(self) -> str:
        """Digest of the items; the same file gives other items with other ``--columns``."""
        lines = (item.model_dump_json(exclude_defaults=True) + "\n" for item in self.items)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def catalogue() -> dict[str, Dataset]:
    """Return the data sets by name: the public ones, and those that protocols declare."""
    declared = [declaration.evaluation for declaration in load_protocols().values() if declaration.evaluation]
    protocol_datasets = [dataset for evaluation in declared for dataset in evaluation.datasets]
    return {dataset.name: dataset for dataset in (*public(), *protocol_datasets)}


def load(
    name_or_path: str | Path,
    data: str | Path | None = None,
    mapped: str | None = None,
    *,
    cluster: str | None = None,
    datasets_by_name: Mapping[str, Dataset] | None = None,
    reader: object = None,
) -> LoadedDataset:
    """Return the items of a data set by name, or of a user's file.

    Raises InputError, of one line, for a wrong name, file or row, and for a column that looks like
    options or right answers and would not be read. A user's file that equals a published file, or has the
    columns of TruthfulQA, is read like that data set. The columns of other published files are recognised;
    see :mod:`dialectree.evals.column_recognition`.

    Args:
        name_or_path: The name, or the file.
        data: A file to read instead of downloading: the published file, or one in documented form.
        mapped: The map of columns; see :mod:`dialectree.evals.dataset_items`.
        cluster: The column in which equal values mark items that belong together.
        datasets_by_name: The data sets by name.
        reader: A user's reader of the questions' documents; None: the default one.
    """
    name = str(name_or_path)
    datasets_by_name = catalogue() if datasets_by_name is None else datasets_by_name
    path = _path(name, data, datasets_by_name)
    text, sha256 = read_text(path)
    column_map = columns(mapped) if mapped is not None else {}
    renamed = {ours: theirs for ours, theirs in column_map.items() if ours != IGNORE}
    same = (
        candidate
        for candidate in datasets_by_name.values()
        if candidate.published and candidate.sha256 == sha256 and not column_map
    )
    dataset = datasets_by_name.get(name) or next(same, None)
    if dataset and dataset.published and dataset.sha256 in ("", sha256) and not column_map:
        read = [
            DatasetRow(path, n, row) for n, row in enumerate(_parse_published_rows(dataset, path, text), 1)
        ]
    else:
        read = [row.leave_out(column_map.get(IGNORE, ())) for row in rows(path, text)]
        if not renamed and (form := find_row_converter(read[0].values)):
            dataset = dataset or datasets_by_name.get("truthfulqa")
            values = form(row.values for row in read)
            read = [
                DatasetRow(path, row.line, row_fields) for row, row_fields in zip(read, values, strict=True)
            ]
    reading = ColumnReading([])
    if dataset is not None and not renamed:
        ours = [_parse_documented_columns(row, dataset) for row in read]
    else:
        reading = recognise_columns(
            [_rename(row, renamed) for row in read] if renamed else read, mapped=bool(renamed)
        )
        require_columns_read(read, reading, column_map, cluster)
        ours = [_parse_columns(row, values) for row, values in zip(read, reading.values, strict=True)]
    sources = SourceReader(path.parent, reader)
    items = _items(read, ours, cluster, sources)
    unused: tuple[str, ...] = ()
    by_place = 0
    if dataset is None:
        names = dict.fromkeys(name for row in read for name in row.values if name not in FIELDS)
        names |= dict.fromkeys(n for row in read for n in row.values if is_filled(row.values[n]))
        unused = () if renamed else tuple(name for name in names if name not in {*reading.read, cluster})
        by_place = sum(row_columns.gold_place() is not None for row_columns in ours)
    elif other_items := [dataset_item for dataset_item in items if dataset_item.inputs.task != dataset.task]:
        task = other_items[0].inputs.task
        raise InputError(f"{path}: row {other_items[0].id!r} is to {task}, not to {dataset.task}")
    called, unread = name if name in datasets_by_name else path.stem, tuple(sources.notices)
    recognised = "" if renamed else reading.renaming
    return LoadedDataset(called, items, path, sha256, unused, recognised, by_place, unread)


def _path(name: str, data: str | Path | None, datasets_by_name: Mapping[str, Dataset]) -> Path:
    if name in datasets_by_name:
        return Path(data) if data is not None else fetch_dataset(datasets_by_name[name])
    if not os.path.isfile(name):
        suggestion = suggest_nearest(name, datasets_by_name) or ";"
        if re.match(r"https?://", name):
            raise InputError(describe_missing_file(name, ""))
        raise InputError(
            f"there is no data set and no file {name!r}{suggestion} known are {', '.join(datasets_by_name)}"
        )
    if data is not None:
        raise InputError(f"--data goes with a data set's name, and {name} is a file: leave one out")
    return Path(name)


def make_cache_path(dataset: Dataset) -> Path:
    """Return the path of a data set's published file in the cache."""
    file = dataset.url.rpartition("/")[2]
    return cache_folder() / "datasets" / f"{dataset.sha256[:12]}-{file}"


def fetch_dataset(dataset: Dataset, timeout_s: float = TIMEOUT_S) -> Path:
    """Return the path of the published file; download it if it is missing or damaged.

    Raises InputError if the address gives another file, which is not kept.
    """
    if not dataset.url:
        raise InputError(
            f"{dataset.name} has no published file to download: use --data FILE with {dataset.form}"
        )
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    # A streamed error page would stay unread and keep its connection open.
    downloader: Any = pooch.HTTPDownloader(timeout=timeout_s, stream=False)
    path = make_cache_path(dataset)
    try:
        pooch.retrieve(
            dataset.url, f"sha256:{dataset.sha256}", fname=path.name, path=path.parent, downloader=downloader
        )
    except (requests.RequestException, OSError, ValueError) as error:
        raise InputError(
            f"{dataset.url} cannot be fetched: {' '.join(str(error).split())[:300]}; nothing was "
            "kept; use --data FILE to read your own file"
        ) from None
    return path


def _parse_published_rows(dataset: Dataset, path: Path, text: str) -> list[Mapping[str, Any]]:
    try:
        about = [text] if dataset.sha256 else [text, path.parent]
        if published := [*load_attribute(dataset.published)(*about)]:
            return published
        raise ValueError("it holds no rows")
    except (ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        raise InputError(f"{path} is not the published file: {str(error)[:200]}") from None


def _parse_documented_columns(row: DatasetRow, dataset: Dataset) -> Columns:
    """Return the columns of a row in the documented form of a data set, by our names."""
    try:
        values = {"id": row.values.get("id"), "category": row.values.get("category")}
        return Columns.model_validate(values | dict(load_attribute(dataset.row)(row.values)))
    except KeyError as error:
        raise row.missing(str(error.args[0])) from None
    except (ValueError, TypeError) as error:
        raise row.fault(_wrong(error)) from None


def _rename(row: DatasetRow, mapped: ColumnMap) -> DatasetRow:
    """Return a row with our names; InputError for a column that it lacks."""
    try:
        return DatasetRow(row.path, row.line, rename_columns(row, mapped))
    except KeyError as error:
        raise row.missing(str(error.args[0])) from None


def _parse_columns(row: DatasetRow, values: Mapping[str, Any]) -> Columns:
    """Return the columns of a user's row, whose ``values`` have our names."""
    if not values.keys() & {"question", "claim", "topic"}:
        names = [*row.values]
        flag = suggest_columns({}, list_option_columns(names), choose_right_column(list_right_columns(names)))
        raise row.fault(
            f"no column is the question, claim or topic; there are: {', '.join(names)}: name one, as in "
            f"--columns {shlex.quote(flag)}"
        )
    try:
        return Columns.model_validate(values)
    except (ValueError, TypeError) as error:
        raise row.fault(_wrong(error)) from None


def _items(
    read: Sequence[DatasetRow], ours: Sequence[Columns], cluster: str | None, reader: SourceReader
) -> list[Item]:
    """Return an item per row; InputError names the lines of two rows with the same id."""
    items: list[Item] = []
    lines: dict[str, int] = {}
    for number, (row, row_columns) in enumerate(zip(read, ours, strict=True), 1):
        try:
            new_item = row_columns.item(number, reader.read(row_columns.sources))
        except MissingPackage:
            raise
        except (ValueError, InputError) as error:
            raise row.fault(_wrong(error)) from None
        if cluster is not None:
            group = str(row.values.get(cluster) or "").strip() or None
            new_item = new_item.model_copy(update={"cluster": group})
        if new_item.id in lines:
            hint = "; a row without an id gets its number" if new_item.id.isdecimal() else ""
            raise row.fault(f"the id {new_item.id!r} is in line {lines[new_item.id]} already{hint}")
        lines[new_item.id] = row.line
        items.append(new_item)
    if cluster is not None and not any(dataset_item.cluster for dataset_item in items):
        column_names = ", ".join(dict.fromkeys(name for row in read for name in row.values))
        raise InputError(
            f"--cluster {cluster}: there is no such column in {read[0].path}, or it is empty; "
            f"there are: {column_names}"
        )
    return items


def _wrong(error: Exception) -> str:
    return next(fault_lines(error)) if isinstance(error, ValidationError) else str(error)


# Notices before the first paid call


def describe_repeats(items: Sequence[Item], of: str) -> str | None:
    """Return a text with the number of items that repeat an earlier question, or None.

    Ids, letter case and blanks do not matter. If ``of`` is "4 rows", an example is ``3 of 4 rows
    repeat another's claim, 1 of them with another right answer``.
    """
    question_keys = set[Hashable]()
    first: dict[Hashable, frozenset[str]] = {}
    again = otherwise = 0
    for item in items:
        same, right = _make_question_key(item), _right(item)
        again += same in question_keys
        question_keys.add(same)
        if right:
            otherwise += not right & first.setdefault(same, right)
    if not again:
        return None
    word = "repeats" if again == 1 else "repeat"
    answer_note = f", {otherwise} of them with another right answer" * bool(otherwise)
    return f"{again} of {of} {word} another's {TASKS[items[0].inputs.task].asks}{answer_note}"


def _make_question_key(item: Item) -> Hashable:
    """Return a key that is equal for the same question; the order of options does not matter."""
    inputs = item.inputs
    papers = tuple(_normalise_text(paper.model_dump_json()) for paper in inputs.papers)
    options, sources = frozenset(map(_normalise_text, inputs.options)), frozenset(inputs.sources)
    return inputs.task, _normalise_text(inputs.text), options, papers, sources


def _right(item: Item) -> frozenset[str]:
    """Return the texts of the right answers."""
    reference = item.reference
    if reference.gold is not None:
        return frozenset({_normalise_text(item.inputs.options[ascii_uppercase.index(reference.gold)])})
    if reference.label is not None:
        return frozenset({str(reference.label)})
    return frozenset(map(_normalise_text, reference.true))


def _normalise_text(text: str) -> str:
    return " ".join(text.split()).casefold()


def notices(
    loaded: LoadedDataset, task: Task, items: Sequence[Item], methods: Sequence[Method] = ()
) -> Iterator[str]:
    """Yield lines on unread columns and sources, repeated rows, and rows without a gold answer.

    ``methods`` are the methods of the evaluation.
    """
    if loaded.recognised:
        yield f"{loaded.path}: read with {loaded.recognised}"
    if loaded.unused:
        column = "column" if len(loaded.unused) == 1 else "columns"
        names = format_list(line(name, 40) for name in loaded.unused)
        yield f"{loaded.path}: unused {column} {names}; --columns NAME=COLUMN reads as {', '.join(FIELDS)}"
    if loaded.by_place:
        numbers = f"{loaded.by_place} of {count(len(loaded.items), 'row')}"
        yield f"{loaded.path}: gold is a number in {numbers}: the option's place, counted from 0"
    yield from loaded.unread
    unread = dict.fromkeys(method.name for method in methods if not method.grounded)
    if unread and any(item.inputs.sources for item in items):
        yield f"{loaded.path}: asked without the sources: {', '.join(unread)}"
    items = [item for item in items if not item.repeat]
    if again := describe_repeats(items, count(len(items), "row")):
        yield f"{loaded.path}: {again}: all count as questions of their own"
    needed, score = TASKS[task].references, TASKS[task].right
    without = [
        i for i in items if all(getattr(i.reference, field_name) in (None, ()) for field_name in needed)
    ]
    if needed and without:
        some = f"{len(without)} of {len(items)} rows do not say"
        which = "no row says" if len(without) == len(items) else some
        names = " or ".join(needed)
        yield f"{loaded.path}: {which} what is right ({names}): such answers have no score {score}"
