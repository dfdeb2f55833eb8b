"""Rows out of a file: JSONL, CSV or TSV, with the line of each, so that a fault can be found.

A file is read once, as bytes, so that its digest is the digest of what was read. Nothing is
repaired: a row that is cut off, misses a column or is no text is an InputError of one line.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pydantic import JsonValue

from dialectree.errors import InputError

SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv")
_LONGEST_CELL = 64 << 20
"""Characters of one cell; a whole paper fits."""
_YES = {"true", "yes", "1"}
_NO = {"false", "no", "0"}


def fault(path: Path, line: int, what: str) -> InputError:
    """What is wrong with a line of a file, in one line."""
    return InputError(f"{path}, line {line}: {' '.join(what.split())}")


@dataclass(frozen=True)
class Row:
    """One row and where it begins. The getters raise InputError for what is not there."""

    path: Path
    line: int
    values: Mapping[str, JsonValue]

    def fault(self, what: str) -> InputError:
        """What is wrong with this row."""
        return fault(self.path, self.line, what)

    def value(self, name: str) -> JsonValue:
        """Whatever stands in the column ``name``."""
        if name not in self.values:
            there = ", ".join(self.values) or "none"
            raise self.fault(f"there is no column {name!r}; there are: {there}")
        return self.values[name]

    def text(self, name: str) -> str:
        """A text that is not empty; a number counts as one."""
        value = self.value(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(f"{name!r} is not a text that says something: {_shown(value)}")
        return value.strip()

    def optional(self, name: str) -> str | None:
        """The same, or None where the column is missing or empty."""
        return None if self.values.get(name) in (None, "") else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Several texts: a JSON list, or in one cell with ``;`` between them."""
        value = self.value(name)
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = _json(self.path, self.line, value)
        if isinstance(value, str):
            value = [part for part in value.split(";") if part.strip()]
        if not isinstance(value, list) or not all(
            type(text) in (str, int, float) for text in value
        ):
            raise self.fault(f"{name!r} is not a list of texts: {_shown(value)}")
        return tuple(str(text).strip() for text in value)

    def several(self, name: str) -> tuple[str, ...]:
        """The same, or none where the column is missing or empty."""
        return () if self.values.get(name) in (None, "") else self.texts(name)

    def truth(self, name: str) -> bool:
        """True or false, also as yes or no, 1 or 0."""
        said = str(self.value(name)).strip().casefold()
        if said not in _YES | _NO:
            raise self.fault(f"{name!r} is neither true nor false: {_shown(self.value(name))}")
        return said in _YES


def read(path: Path) -> tuple[bytes, str]:
    """A file's bytes and their SHA-256; InputError where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return data, hashlib.sha256(data).hexdigest()


def rows(path: Path, data: bytes) -> list[Row]:
    """The rows of a file, told by its name's ending; InputError for an empty one."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: a data set is a file that ends in {', '.join(SUFFIXES)}")
    text = decoded(path, data)
    jsonl = suffix in (".jsonl", ".ndjson")
    found = list(
        _lines(path, text) if jsonl else cells(path, text, "\t" if suffix == ".tsv" else ",")
    )
    if not found:
        raise InputError(f"{path} holds no rows")
    return found


def decoded(path: Path, data: bytes) -> str:
    """UTF-8 text, without the mark that some programs put before it."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(path, line, "that is not UTF-8 text; save the file as UTF-8") from None
    if "\0" in text:
        raise fault(path, text.count("\n", 0, text.index("\0")) + 1, "a NUL byte; is it a text?")
    return text


def _lines(path: Path, text: str) -> Iterator[Row]:
    """JSONL: an object a line; only a line feed ends a line, for a text may hold other breaks."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            value = _json(path, number, line, last=number == len(lines))
            if not isinstance(value, dict):
                raise fault(path, number, f"that is not a JSON object: {_shown(value)}")
            yield Row(path, number, value)


def _json(path: Path, number: int, text: str, *, last: bool = False) -> JsonValue:
    """``last`` says that no line feed follows, as after a row that was cut off."""

    def once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        value = dict(pairs)
        if len(value) < len(pairs):
            raise fault(path, number, "a field stands there twice")
        return value

    def no_number(constant: str) -> NoReturn:
        raise fault(path, number, f"{constant} is not a number")

    try:
        value: JsonValue = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise fault(path, number, "half of a character (a lone surrogate)") from None
    except (ValueError, RecursionError) as error:
        cut = "the row is cut off, or " if last else ""
        raise fault(path, number, f"{cut}that is not JSON: {str(error)[:200]}") from None
    return value


def cells(path: Path, text: str, between: str) -> Iterator[Row]:
    """CSV or TSV: the first row names the columns; quoted cells may hold line breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    names: list[str] | None = None
    begins = 1
    try:
        for cell in reader:
            line, begins = begins, reader.line_num + 1
            if not any(part.strip() for part in cell):
                continue
            if names is None:
                names = _header(path, line, cell)
                continue
            if len(cell) != len(names):
                cut = "; is it cut off?" if len(cell) < len(names) else ""
                raise fault(path, line, f"{len(cell)} columns instead of {len(names)}{cut}")
            yield Row(path, line, dict(zip(names, cell, strict=True)))
    except csv.Error as error:
        cut = "the row is cut off: " if "end of data" in str(error) else ""
        raise fault(path, begins, f"{cut}{error}") from None


def _header(path: Path, line: int, cell: list[str]) -> list[str]:
    names = [name.strip() for name in cell]
    if "" in names:
        raise fault(path, line, f"column {names.index('') + 1} has no name")
    if twice := [name for name in names if names.count(name) > 1]:
        raise fault(path, line, f"two columns are called {twice[0]!r}")
    return names


def _shown(value: object) -> str:
    return repr(value)[:80]
