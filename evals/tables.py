"""Reads rows from a JSONL, CSV or TSV file, with the line of each for messages.

Nothing is repaired: a row that is cut off, misses a column or is not text is an InputError of one
line. That is why the csv module reads tables here: pandas fills the cells of a row that is cut off.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from dialectree.errors import InputError

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".jsonl", ".ndjson", *_DELIMITERS)
_LONGEST_CELL = 64 << 20
"""Characters of one cell; a whole paper fits."""
_TRUTH = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}


@dataclass(frozen=True)
class Row:
    """One row and its line. The getters raise InputError for a value that is not there."""

    path: Path
    line: int
    values: Mapping[str, JsonValue]

    def fault(self, what: str) -> InputError:
        """Return an error that names the row."""
        return InputError(f"{self.path}, line {self.line}: {' '.join(what.split())}")

    def value(self, name: str) -> JsonValue:
        """Return the value of the column ``name``."""
        if name not in self.values:
            there = ", ".join(self.values) or "none"
            raise self.fault(f"there is no column {name!r}; there are: {there}")
        return self.values[name]

    def empty(self, name: str) -> bool:
        """Return whether the column is missing or empty."""
        return self.values.get(name) in (None, "")

    def text(self, name: str) -> str:
        """Return a text that is not empty; a number counts as one."""
        value = self.value(name)
        if type(value) in (int, float):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(f"{name!r} is not a text that says something: {repr(value)[:80]}")
        return value.strip()

    def optional(self, name: str) -> str | None:
        """Return the text, or None where the column is missing or empty."""
        return None if self.empty(name) else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return several texts: of a JSON list, or of one cell with ``;`` between them."""
        value = self.value(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _json(self, value)
        if isinstance(value, str):
            value = [part for part in value.split(";") if part.strip()]
        if not isinstance(value, list) or not all(type(v) in (str, int, float) for v in value):
            raise self.fault(f"{name!r} is not a list of texts: {repr(value)[:80]}")
        return tuple(str(text).strip() for text in value)

    def several(self, name: str) -> tuple[str, ...]:
        """Return the texts, or none where the column is missing or empty."""
        return () if self.empty(name) else self.texts(name)

    def truth(self, name: str) -> bool:
        """Return true or false, also written as yes or no, 1 or 0."""
        written = str(self.value(name)).strip().casefold()
        if written not in _TRUTH:
            raise self.fault(f"{name!r} is neither true nor false: {repr(self.value(name))[:80]}")
        return _TRUTH[written]


def read_text(path: Path) -> tuple[str, str]:
    """Return a file's text and the SHA-256 of its bytes; InputError where it is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = Row(path, line, {}).fault("that is not UTF-8 text; save the file as UTF-8")
        raise fault from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Row(path, line, {}).fault("a NUL byte; is it a text?")
    return text, hashlib.sha256(content).hexdigest()


def rows(path: Path, text: str) -> list[Row]:
    """Return the rows of a file in the form that its name ends with; InputError without any."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: a data set is a file that ends in {', '.join(SUFFIXES)}")
    delimiter = _DELIMITERS.get(suffix)
    found = list(_objects(path, text) if delimiter is None else cells(path, text, delimiter))
    if not found:
        raise InputError(f"{path} holds no rows")
    return found


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

    def once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        if len(value := dict(pairs)) < len(pairs):
            raise row.fault("a field stands there twice")
        return value

    def number(constant: str) -> JsonValue:
        raise row.fault(f"{constant} is not a number")

    try:
        value: JsonValue = json.loads(text, object_pairs_hook=once, parse_constant=number)
        json.dumps(value, ensure_ascii=False).encode()  # half a character is no text
    except (ValueError, RecursionError) as error:
        cut = "the row is cut off, or " if last else ""
        raise row.fault(f"{cut}that is not JSON: {str(error)[:200]}") from None
    return value


def cells(path: Path, text: str, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a table: the first one names the columns, quoted cells may have breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    row = Row(path, 1, {})
    try:
        for cell in reader:
            if any(part.strip() for part in cell):
                if not names:
                    names = _header(row, cell)
                elif len(cell) == len(names):
                    yield Row(path, row.line, dict(zip(names, cell, strict=True)))
                else:
                    cut = "; is it cut off?" if len(cell) < len(names) else ""
                    raise row.fault(f"{len(cell)} columns instead of {len(names)}{cut}")
            row = Row(path, reader.line_num + 1, {})
    except csv.Error as error:
        cut = "the row is cut off: " if "end of data" in str(error) else ""
        raise row.fault(f"{cut}{error}") from None


def _header(row: Row, cell: list[str]) -> list[str]:
    names = [name.strip() for name in cell]
    if "" in names:
        raise row.fault(f"column {names.index('') + 1} has no name")
    if twice := [name for name in names if names.count(name) > 1]:
        raise row.fault(f"two columns are called {twice[0]!r}")
    return names
