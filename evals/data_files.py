"""Reads items from JSONL, CSV and TSV files.

A column bears the name of what it holds (``question``, ``options``, ``gold`` ...), or ``--columns``
maps it: ``question=Frage,options=a|b|c,gold=key``, with ``|`` between columns that together are a
list. A backslash before ``,``, ``=`` or ``|`` makes it part of a name. Nothing is repaired: every
fault is an InputError of one line that names file and line.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from pydantic import JsonValue
from pydantic_core import from_json

from dialectree.answers import match_candidate, match_text
from dialectree.errors import InputError
from dialectree.evals.dataset_items import Inputs, Item, Paper, Reference

Columns = Mapping[str, Sequence[str]]
"""The file's columns for each of our names."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = (".jsonl", ".ndjson", *_DELIMITERS)
_LONGEST_CELL = 64 << 20
"""Characters of one cell; a whole paper fits."""
_TRUTH = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}
_PAPER = ("title", "abstract", "introduction", "body")
_LISTS = ("options", "true", "false")
FIELDS = (
    *("id", "category", "question", "options", "gold", "claim", "label"),
    *("true", "false", "best", "best_false", "topic"),
    *(f"{part}_{side}" for side in "ab" for part in _PAPER),
)
"""Everything that a column can be mapped to. ``gold`` is a letter, the text of an option, or its
place from 0."""


@dataclass(frozen=True)
class Row:
    """One row and its line. The getters raise InputError for a value of another kind."""

    path: Path
    line: int
    values: Mapping[str, JsonValue]

    def fault(self, what: str) -> InputError:
        """Return an error that names the row."""
        return InputError(f"{self.path}, line {self.line}: {' '.join(what.split())}")

    def missing(self, name: str) -> InputError:
        """Return an error that names a missing column and those that are there."""
        return self.fault(f"there is no column {name!r}; there are: {', '.join(self.values)}")

    def text(self, name: str) -> str | None:
        """Return the text or number of a column, None where it is missing or empty."""
        value = self.values.get(name)
        if not isinstance(value, str | int | float | None):
            raise self.fault(f"{name!r} is not a text: {repr(value)[:80]}")
        return None if value is None else str(value).strip() or None

    def texts(self, name: str) -> list[str]:
        """Return several texts: a JSON list, or one cell with ``;`` between them.

        Empty ones at the end are left out: some questions have fewer options than others.
        """
        value = self.values.get(name)
        if isinstance(value, str):
            value = _json(self, value) if value.lstrip().startswith("[") else [*value.split(";")]
        parts = [value] if value is None else value
        if not isinstance(parts, list) or isinstance(parts, str):
            raise self.fault(f"{name!r} is not a list of texts: {repr(value)[:80]}")
        texts = [Row(self.path, self.line, {name: part}).text(name) or "" for part in parts]
        while texts and not texts[-1]:
            texts.pop()
        return texts

    def truth(self, name: str) -> bool | None:
        """Return true or false, also written as yes or no, 1 or 0; None where the cell is empty."""
        written = self.text(name)
        if written is None:
            return None
        if written.casefold() not in _TRUTH:
            raise self.fault(f"{name!r} is neither true nor false: {written[:80]!r}")
        return _TRUTH[written.casefold()]


def read_text(path: Path) -> tuple[str, str]:
    """Return a file's text and the SHA-256 of its bytes; InputError where it is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = Row(path, line, {}).fault("that is not UTF-8 text; save the file as UTF-8")
        raise fault from None


def rows(path: Path, text: str) -> list[Row]:
    """Return the rows of a file in the form that its name ends with; InputError without any."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: a data set is a file that ends in {', '.join(_SUFFIXES)}")
    delimiter = _DELIMITERS.get(suffix)
    every = [*(_objects(path, text) if delimiter is None else cells(path, text, delimiter))]
    if not every:
        raise InputError(f"{path} holds no rows")
    return every


def _objects(path: Path, text: str) -> Iterator[Row]:
    """Yield an object a line; only a line feed ends a line, for a text may hold other breaks."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = Row(path, number, {})
            value = _json(row, line, last=number == len(lines))
            if not isinstance(value, dict):
                raise row.fault(f"that is not a JSON object: {repr(value)[:80]}")
            yield Row(path, number, value)


def _json(row: Row, text: str, *, last: bool = False) -> JsonValue:
    """Return a JSON value; ``last`` says that no line feed follows, as after a row cut off."""
    try:
        value: JsonValue = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        cut = "the row is cut off, or " if last else ""
        raise row.fault(f"{cut}that is not JSON: {str(error)[:200]}") from None
    return value


def cells(path: Path, text: str, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table: the first one names the columns, quoted cells may have breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    try:
        for record in reader:
            row = Row(path, reader.line_num, {})
            if not any(cell.strip() for cell in record):
                continue
            if not names:
                names = [name.strip() for name in record]
                if "" in names or len(set(names)) < len(names):
                    raise row.fault(f"every column needs a name of its own: {', '.join(names)}")
            elif len(record) != len(names):
                cut = "; is it cut off?" if len(record) < len(names) else ""
                raise row.fault(f"{len(record)} columns instead of {len(names)}{cut}")
            else:
                yield Row(path, row.line, dict(zip(names, record, strict=True)))
    except csv.Error as error:
        cut = "the row is cut off: " if "end of data" in str(error) else ""
        raise Row(path, reader.line_num, {}).fault(f"{cut}{error}") from None


def columns(written: str) -> dict[str, tuple[str, ...]]:
    """Return the map that ``--columns`` writes; InputError for an unknown or repeated name."""
    mapped: dict[str, tuple[str, ...]] = {}
    for part in _split(written, ","):
        name, *theirs = (text.strip() for text in _split(part, "="))
        several = tuple(
            re.sub(r"\\([,=|])", r"\1", column).strip() for column in _split("=".join(theirs), "|")
        )
        if name not in FIELDS:
            raise InputError(f"--columns {part.strip()}: known are {', '.join(FIELDS)}")
        if len(theirs) != 1 or not all(several):
            raise InputError(f"--columns {part.strip()}: write {name}=COLUMN")
        if len(several) > 1 and name not in _LISTS:
            raise InputError(f"--columns {part.strip()}: only {', '.join(_LISTS)} take several")
        if name in mapped:
            raise InputError(f"--columns: {name} is mapped twice")
        mapped[name] = several
    return mapped


def _split(text: str, sign: str) -> list[str]:
    """Split ``text`` at each ``sign`` that has no backslash before it."""
    return re.split(rf"(?<!\\){re.escape(sign)}", text)


def renamed(row: Row, mapped: Columns) -> Row:
    """Return the row with its values by our names, as the map says."""
    values: dict[str, JsonValue] = {}
    for name, theirs in mapped.items():
        for column in theirs:
            if column not in row.values:
                raise row.missing(column)
        own = [row.values[column] for column in theirs]
        values[name] = own if len(own) > 1 else own[0]
    return Row(row.path, row.line, values)


def item(row: Row, number: int) -> Item:
    """Return the item of a row whose columns bear our names.

    ``number``, the row's own from 1, is its id where it has none.
    """
    if not row.values.keys() & {"question", "claim", "topic"}:
        raise row.fault(
            f"no column is its question, claim or topic; there are: {', '.join(row.values)}: name "
            "the one that is, as in --columns question=COLUMN"
        )
    options = row.texts("options")
    papers = [{part: row.text(f"{part}_{side}") or "" for part in _PAPER} for side in "ab"]
    return Item(
        id=row.text("id") or str(number),
        category=row.text("category"),
        inputs=Inputs(
            question=row.text("question"),
            options=tuple(options),
            claim=row.text("claim"),
            topic=row.text("topic"),
            papers=tuple(Paper(**parts) for parts in papers if any(parts.values())),
        ),
        reference=Reference(
            gold=_gold(row, options),
            label=row.truth("label"),
            true=tuple(filter(None, row.texts("true"))),
            false=tuple(filter(None, row.texts("false"))),
            best=row.text("best"),
            best_false=row.text("best_false"),
        ),
    )


def _gold(row: Row, options: Sequence[str]) -> str | None:
    """Return the right option's letter; a text that two options share names none.

    A number that is no option's text is a place, counted from 0.
    """
    written = row.text("gold")
    if written is None:
        return None
    place = gold_place(row, options)
    if place is not None:
        if place >= len(options):
            raise row.fault(f"there is no option {place} among {len(options)}, counted from 0")
        return ascii_uppercase[place]
    gold = match_candidate(written, dict(zip(ascii_uppercase, options, strict=False)))
    if gold is None:
        raise row.fault(
            f"the right option {written!r} names none of the options, or more than one option: "
            "give a letter, a text, or a place from 0"
        )
    return gold


def gold_place(row: Row, options: Sequence[str]) -> int | None:
    """Return the place of the right option where a number gives it, and no option is that number.

    A column of numbers with gaps is one of floats, so 1.0 is a place as well.
    """
    number = re.fullmatch(r"(\d{1,2})(\.0)?", row.text("gold") or "")
    if number is None or match_text(number[0], dict(zip(ascii_uppercase, options, strict=False))):
        return None
    return int(number[1])
