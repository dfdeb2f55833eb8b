"""Load a data set by its name, or a file of the user's own, and say what is odd about it.

A published file is fetched once, checked against its digest and kept in the cache folder. The
SHA-256 of the file goes into the results, and results go on only with the file that they were begun
with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from pydantic import ValidationError

from dialectree.errors import InputError, MissingPackage
from dialectree.evals.dataset_items import (
    FIELDS,
    ColumnMap,
    Columns,
    Item,
    Row,
    Task,
    columns,
    read_text,
    renamed,
    rows,
)
from dialectree.evals.dataset_sources import Reader
from dialectree.evals.faults import fault_lines
from dialectree.evals.published_datasets import documented, public
from dialectree.evals.tasks import TASKS
from dialectree.protocols.protocol import Dataset, Method, installed
from dialectree.protocols.protocol import load as load_attribute
from dialectree.protocols.sources import cache_folder
from dialectree.text import count, line, listed

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
    unread: tuple[str, ...] = ()
    """What could not be read of the sources, a line each."""

    @property
    def items_sha256(self) -> str:
        """Digest of the items as they were read: other columns make other items of a file."""
        lines = (item.model_dump_json(exclude_defaults=True) + "\n" for item in self.items)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def catalogue() -> dict[str, Dataset]:
    """Return the data sets that are known by name: the public ones, and those of protocols."""
    declared = [one.evaluation for one in installed().values() if one.evaluation]
    own = [dataset for evaluation in declared for dataset in evaluation.datasets]
    return {dataset.name: dataset for dataset in (*public(), *own)}


def load(
    name_or_path: str | Path,
    data: str | Path | None = None,
    mapped: str | None = None,
    *,
    cluster: str | None = None,
    known: Mapping[str, Dataset] | None = None,
    reader: object = None,
) -> Loaded:
    """Return the items of a data set by name, or of a file of the user's own.

    InputError, in one line, names what is wrong with name, file or row. A file of one's own that
    is a published file, or has the columns of TruthfulQA, is read as that data set is.

    Args:
        name_or_path: The name, or the file.
        data: A file to read instead of fetching: the published one, or one in the documented form.
        mapped: Which column holds what; see :mod:`dialectree.evals.dataset_items`.
        cluster: The column whose value says which items belong together.
        known: The data sets by name.
        reader: What reads the documents of its questions, in place of ours.
    """
    name = str(name_or_path)
    known = catalogue() if known is None else known
    path = _path(name, data, known)
    text, sha256 = read_text(path)
    own = columns(mapped) if mapped is not None else {}
    same = (one for one in known.values() if one.published and one.sha256 == sha256 and not own)
    dataset = known.get(name) or next(same, None)
    if dataset and dataset.published and dataset.sha256 in ("", sha256) and not own:
        read = [Row(path, n, row) for n, row in enumerate(_published(dataset, path, text), 1)]
    else:
        read = rows(path, text)
        if not own and (form := documented(read[0].values)):
            dataset = dataset or known.get("truthfulqa")
            values = form(row.values for row in read)
            read = [Row(path, row.line, one) for row, one in zip(read, values, strict=True)]
    ours = [_columns(row, None if own else dataset, own) for row in read]
    sources = Reader(path.parent, reader)
    items = _items(read, ours, cluster, sources)
    unknown: tuple[str, ...] = ()
    by_place = 0
    if dataset is None:
        there = dict.fromkeys(column for row in read for column in row.values)
        unknown = () if own else tuple(n for n in there if n not in FIELDS and n != cluster)
        by_place = sum(one.gold_place() is not None for one in ours)
    elif other := [one for one in items if one.inputs.task != dataset.task]:
        task = other[0].inputs.task
        raise InputError(f"{path}: row {other[0].id!r} is to {task}, not to {dataset.task}")
    called, unread = name if name in known else path.stem, tuple(sources.notices)
    return Loaded(called, items, path, sha256, unknown, by_place, unread)


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
        about = [text] if dataset.sha256 else [text, path.parent]
        if published := [*load_attribute(dataset.published)(*about)]:
            return published
        raise ValueError("it holds no rows")
    except (ValueError, LookupError, TypeError, AttributeError, OSError) as error:
        raise InputError(f"{path} is not the published file: {str(error)[:200]}") from None


def _columns(row: Row, dataset: Dataset | None, mapped: ColumnMap) -> Columns:
    """Return the columns of a row by our names."""
    try:
        values = renamed(row, mapped) if mapped else dict(row.values)
        if dataset is not None:
            values = {"id": values.get("id"), "category": values.get("category")}
            values |= load_attribute(dataset.row)(row.values)
        if not values.keys() & {"question", "claim", "topic"}:
            raise ValueError(
                f"no column is its question, claim or topic; there are: {', '.join(row.values)}: "
                "name the one that is, as in --columns question=COLUMN"
            )
        return Columns.model_validate(values)
    except KeyError as error:
        raise row.missing(str(error.args[0])) from None
    except (ValueError, TypeError) as error:
        raise row.fault(_wrong(error)) from None


def _items(
    read: Sequence[Row], ours: Sequence[Columns], cluster: str | None, reader: Reader
) -> list[Item]:
    """Return an item a row; two rows of one id are an error that names both lines."""
    items: list[Item] = []
    lines: dict[str, int] = {}
    for number, (row, one) in enumerate(zip(read, ours, strict=True), 1):
        try:
            made = one.item(number, reader.read(one.sources))
        except MissingPackage:
            raise
        except (ValueError, InputError) as error:
            raise row.fault(_wrong(error)) from None
        if cluster is not None:
            group = str(row.values.get(cluster) or "").strip() or None
            made = made.model_copy(update={"cluster": group})
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


def _wrong(error: Exception) -> str:
    return next(fault_lines(error)) if isinstance(error, ValidationError) else str(error)


# What is told before the first call is paid


def repeated(items: Sequence[Item], of: str) -> str | None:
    """Return how many items ask the same as one before, or None if none does.

    Their ids, letters and blanks do not matter. With 4 rows in ``of``: ``3 of 4 rows repeat
    another's claim, 1 of them with another right answer``.
    """
    asked = set[Hashable]()
    first: dict[Hashable, frozenset[str]] = {}
    again = otherwise = 0
    for item in items:
        same, right = _asked(item), _right(item)
        again += same in asked
        asked.add(same)
        if right:
            otherwise += not right & first.setdefault(same, right)
    if not again:
        return None
    word = "repeats" if again == 1 else "repeat"
    others = f", {otherwise} of them with another right answer" * bool(otherwise)
    return f"{again} of {of} {word} another's {TASKS[items[0].inputs.task].asks}{others}"


def _asked(item: Item) -> Hashable:
    """Return what is asked; options in another order are the same options."""
    inputs = item.inputs
    papers = tuple(_bare(paper.model_dump_json()) for paper in inputs.papers)
    options, sources = frozenset(map(_bare, inputs.options)), frozenset(inputs.sources)
    return inputs.task, _bare(inputs.text), options, papers, sources


def _right(item: Item) -> frozenset[str]:
    """Return the texts that are right, any of them."""
    reference = item.reference
    if reference.gold is not None:
        return frozenset({_bare(item.inputs.options[ascii_uppercase.index(reference.gold)])})
    if reference.label is not None:
        return frozenset({str(reference.label)})
    return frozenset(map(_bare, reference.true))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()


def notices(
    loaded: Loaded, task: Task, items: Sequence[Item], methods: Sequence[Method] = ()
) -> Iterator[str]:
    """Yield a line each on what is unread, on repeated rows and on rows without a gold answer.

    ``methods`` are those that are asked.
    """
    if loaded.unknown:
        unknown = "column" if len(loaded.unknown) == 1 else "columns"
        names = listed(line(name, 40) for name in loaded.unknown)
        known = f"known are {', '.join(FIELDS)}, and others by --columns"
        yield f"{loaded.path}: unknown {unknown} {names}; {known}"
    if loaded.by_place:
        numbers = f"{loaded.by_place} of {count(len(loaded.items), 'row')}"
        yield f"{loaded.path}: gold is a number in {numbers}: the option's place, counted from 0"
    yield from loaded.unread
    unread = dict.fromkeys(one.name for one in methods if not one.grounded)
    if unread and any(item.inputs.sources for item in items):
        yield f"{loaded.path}: asked without the sources: {', '.join(unread)}"
    items = [item for item in items if not item.repeat]
    if again := repeated(items, count(len(items), "row")):
        yield f"{loaded.path}: {again}: all count as questions of their own"
    needed, score = TASKS[task].references, TASKS[task].right
    without = [i for i in items if all(getattr(i.reference, one) in (None, ()) for one in needed)]
    if needed and without:
        some = f"{len(without)} of {len(items)} rows do not say"
        which = "no row says" if len(without) == len(items) else some
        names = " or ".join(needed)
        yield f"{loaded.path}: {which} what is right ({names}): such answers have no score {score}"
