"""Define one row of a data set, and read rows from JSONL, CSV and TSV files.

An item keeps inputs for a method apart from references for scorers. Only prompts of the ``oracle``
and ``balanced`` debaters may contain a gold answer, so a method gets only ``item.inputs``.

A file's columns have our names (``question``, ``options``, ``gold`` ...), or ``--columns`` maps them:
``question=Frage,options=a|b|c,gold=key``, with ``|`` between columns that together form a list. A
backslash before ``,``, ``=`` or ``|`` makes it part of a name, and ``ignore=a|b`` leaves columns out.
Nothing is repaired: every fault is an InputError of one line that names file and line.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import from_json

from dialectree.answers import match_candidate, match_text
from dialectree.errors import InputError
from dialectree.evals.cell_forms import read_truth
from dialectree.protocols.protocol import Task as Task


class Frozen(BaseModel):
    """Base of this module's frozen models: it forbids unknown fields and changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetPaper(Frozen):
    """One of two papers to compare; unknown parts are empty texts."""

    title: Annotated[str, Field(min_length=1)]
    abstract: str = ""
    introduction: str = ""
    body: str = ""
    """The full text, if known."""


class DatasetSource(Frozen):
    """A document to argue from; the digest identifies its stored text."""

    name: str
    title: str
    digest: str


class Inputs(Frozen):
    """A question (with options or without), a claim, or two papers: the input of a method."""

    question: str | None = None
    options: tuple[str, ...] = ()
    claim: str | None = None
    topic: str | None = None
    papers: tuple[DatasetPaper, ...] = ()
    sources: tuple[DatasetSource, ...] = ()
    """The documents to argue from, after reading."""

    @property
    def task(self) -> Task:
        """The task of the row."""
        if self.claim is not None:
            return "verify"
        if self.topic is not None:
            return "compare"
        return "decide" if self.options else "answer"

    @property
    def text(self) -> str:
        """The question, claim or topic."""
        return self.question or self.claim or self.topic or ""

    @model_validator(mode="after")
    def _one_task(self) -> Self:
        if [self.question, self.claim, self.topic].count(None) != 2:
            raise ValueError("a row needs one question, one claim, or one topic with two papers")
        if not all(text.strip() for text in (self.text, *self.options)):
            raise ValueError("a question, a claim, a topic or an option is empty")
        if self.options and self.question is None:
            raise ValueError("options belong to a question, not to a claim or a topic")
        if self.options and not 2 <= len(self.options) <= 26:
            raise ValueError("a question has 2 to 26 options, or none")
        if len({option.strip() for option in self.options}) < len(self.options):
            raise ValueError("two options are the same")
        if len(self.papers) != (0 if self.topic is None else 2):
            raise ValueError("a topic needs two papers (title_a, title_b); a question or a claim has none")
        if self.sources and self.papers:
            raise ValueError("sources are for a question or a claim; two papers are compared without sources")
        return self


class Reference(Frozen):
    """The right and wrong answers, for scorers only."""

    gold: str | None = None
    """The letter of the right option."""
    label: bool | None = None
    """True if the claim is true."""
    true: tuple[str, ...] = ()
    """Right answers; any of them will do."""
    false: tuple[str, ...] = ()
    """Wrong answers."""
    best: str | None = None
    """The best right answer."""
    best_false: str | None = None
    """The most tempting wrong answer."""
    evidence: tuple[str, ...] = ()
    """Sentences of the sources that show the right answer."""


class Item(Frozen):
    """One row of a data set."""

    id: str
    repeat: int = 0
    """The number of the repeat, from 0; each repeat has its own seed."""
    cluster: str | None = None
    """Items of one cluster are not independent of one another."""
    category: str | None = None
    inputs: Inputs
    reference: Reference = Reference()

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        letters = ascii_uppercase[: len(self.inputs.options)]
        if self.reference.gold is not None and self.reference.gold not in [*letters]:
            raise ValueError(f"the right option is one of {', '.join(letters) or 'none'}")
        if self.reference.label is not None and self.inputs.claim is None:
            raise ValueError("only a claim is labelled true or false")
        return self

    def example(self) -> dict[str, dict[str, JsonValue]]:
        """Return the row in LangSmith's form: ``inputs``, ``reference_outputs``, ``metadata``."""
        return {
            "inputs": self.inputs.model_dump(mode="json", exclude_defaults=True),
            "reference_outputs": self.reference.model_dump(mode="json", exclude_defaults=True),
            "metadata": {"id": self.id, "category": self.category},
        }


# Reading items from a file

ColumnMap = Mapping[str, Sequence[str]]
"""Columns of the file by our names."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = (".jsonl", ".ndjson", *_DELIMITERS)
_LONGEST_CELL = 64 << 20
"""The most characters of a cell; a whole paper fits."""


def _text(value: object) -> str | None:
    """Return a text or a number as a text, or None for an empty cell."""
    if not isinstance(value, str | int | float | None):
        raise ValueError(f"not a text: {repr(value)[:80]}")
    return None if value is None else str(value).strip() or None


def _label(value: object) -> bool | None:
    """Return whether a label says true; None for an empty cell, and for "NOT ENOUGH INFO"."""
    if (text := _text(value)) is None:
        return None
    truth = read_truth(text, numbers=True)
    if truth is None:
        raise ValueError(f"{text!r:.80} says neither true nor false: write so, or leave the cell empty")
    return truth if isinstance(truth, bool) else None


def _texts(value: object) -> list[str]:
    """Return the texts of a JSON list, or of one cell: a number, or texts with ``;`` between them.

    Empty texts at the end are left out: some questions have fewer options than others.
    """
    if isinstance(value, str):
        value = from_json(value) if value.lstrip().startswith("[") else value.split(";")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list):
        raise ValueError(f"not a list of texts: {repr(value)[:80]}")
    texts = [_text(part) or "" for part in value]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _list(value: object) -> list[object]:
    """Return the entries of a list, which may be JSON text; any other value is the only entry."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = from_json(value)
    entries: list[object] = value if isinstance(value, list) else [value]
    return [entry for entry in entries if entry is not None and entry != ""]


class InlineDocument(Frozen):
    """A document that is given by its text, not by its file."""

    name: Annotated[str, Field(min_length=1)]
    text: str


Text = Annotated[str | None, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(lambda value: [] if value is None else _texts(value))]


class Columns(BaseModel):
    """The cells of one row, by column."""

    id: Text = None
    category: Text = None
    question: Text = None
    options: Texts = []
    gold: Text = None
    """The right option: its letter, its text, or its place counted from 0."""
    claim: Text = None
    label: Annotated[bool | None, BeforeValidator(_label)] = None
    true: Texts = []
    false: Texts = []
    best: Text = None
    best_false: Text = None
    sources: Annotated[list[InlineDocument | str], BeforeValidator(_list)] = []
    """Paths relative to the data file, or texts with a name."""
    evidence: Annotated[list[str], BeforeValidator(_list)] = []
    topic: Text = None
    title_a: Text = None
    abstract_a: Text = None
    introduction_a: Text = None
    body_a: Text = None
    title_b: Text = None
    abstract_b: Text = None
    introduction_b: Text = None
    body_b: Text = None

    def item(self, number: int, sources: Sequence[DatasetSource] = ()) -> Item:
        """Return the item; an item without an id gets ``number``, which counts rows from 1.

        ``sources`` are the row's documents, after reading.
        """
        texts = {name: text or "" for name, text in self if name[-2:] in ("_a", "_b")}
        papers = [{n[:-2]: text for n, text in texts.items() if n.endswith(s)} for s in ("_a", "_b")]
        return Item(
            id=self.id or str(number),
            category=self.category,
            inputs=Inputs(
                question=self.question,
                options=tuple(self.options),
                claim=self.claim,
                topic=self.topic,
                papers=tuple(DatasetPaper(**parts) for parts in papers if any(parts.values())),
                sources=tuple(sources),
            ),
            reference=Reference(
                gold=self._letter(),
                label=self.label,
                true=tuple(filter(None, self.true)),
                false=tuple(filter(None, self.false)),
                best=self.best,
                best_false=self.best_false,
                evidence=tuple(self.evidence),
            ),
        )

    def gold_place(self) -> int | None:
        """Return the place of the right option if ``gold`` is a number that equals no option.

        1.0 is a place as well, because a column of numbers with empty cells may hold floats.
        """
        number = re.fullmatch(r"(\d{1,2})(\.0)?", self.gold or "")
        if number is None or match_text(number[0], self._map_letters_to_options()):
            return None
        return int(number[1])

    def _letter(self) -> str | None:
        """Return the right option's letter; ValueError unless ``gold`` fits exactly one option."""
        if self.gold is None:
            return None
        if (place := self.gold_place()) is not None:
            if place >= len(self.options):
                number = len(self.options)
                raise ValueError(f"there is no option {place} among {number}, counted from 0")
            return ascii_uppercase[place]
        letter = match_candidate(self.gold, self._map_letters_to_options())
        if letter is None:
            raise ValueError(
                f"the right option {self.gold!r} matches none of the options, or several: give a "
                "letter, a text, or a place from 0"
            )
        return letter

    def _map_letters_to_options(self) -> dict[str, str]:
        return dict(zip(ascii_uppercase, self.options, strict=False))


FIELDS = tuple(Columns.model_fields)
IGNORE = "ignore"
"""The name in ``--columns`` for columns that are to be left out."""
_LISTS = ("options", "true", "false", "sources", "evidence")


@dataclass(frozen=True)
class DatasetRow:
    """One row of a file, with its line number."""

    path: Path
    line: int
    values: Mapping[str, JsonValue]

    def leave_out(self, names: Collection[str]) -> DatasetRow:
        """Return the row without some columns."""
        values = {name: value for name, value in self.values.items() if name not in names}
        return replace(self, values=values) if names else self

    def fault(self, message: str) -> InputError:
        """Return an error that names file and line."""
        return InputError(f"{self.path}, line {self.line}: {' '.join(message.split())}")

    def missing(self, name: str) -> InputError:
        """Return an error that names a missing column and the existing ones."""
        return self.fault(f"there is no column {name!r}; there are: {', '.join(self.values)}")


def read_text(path: Path) -> tuple[str, str]:
    """Return a file's text and the SHA-256 of its bytes; InputError unless it is UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        row = DatasetRow(path, content.count(b"\n", 0, error.start) + 1, {})
        raise row.fault("that is not UTF-8 text; save the file as UTF-8") from None


def rows(path: Path, text: str) -> list[DatasetRow]:
    """Read the rows of a file as its suffix says; InputError for a file without rows."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: a data set is a file that ends in {', '.join(_SUFFIXES)}")
    delimiter = _DELIMITERS.get(suffix)
    dataset_rows = [*(_objects(path, text) if delimiter is None else cells(path, text, delimiter))]
    if not dataset_rows:
        raise InputError(f"{path} holds no rows")
    return dataset_rows


def _objects(path: Path, text: str) -> Iterator[DatasetRow]:
    """Yield an object per line; only a line feed ends a line, since texts may hold other breaks."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = DatasetRow(path, number, {})
        try:
            value = from_json(line, allow_inf_nan=False)
        except ValueError as error:
            cut = "the row is cut off, or " if number == len(lines) else ""  # no line feed follows
            raise row.fault(f"{cut}that is not JSON: {str(error)[:200]}") from None
        if not isinstance(value, dict):
            raise row.fault(f"that is not a JSON object: {repr(value)[:80]}")
        yield DatasetRow(path, number, value)


def cells(path: Path, text: str, delimiter: str) -> Iterator[DatasetRow]:
    """Yield the rows of a table; the first row names the columns. Quoted cells may have line breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] = []
    try:
        for record in reader:
            row = DatasetRow(path, reader.line_num, {})
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
                yield DatasetRow(path, row.line, dict(zip(names, record, strict=True)))
    except csv.Error as error:
        cut = "the row is cut off: " if "end of data" in str(error) else ""
        raise DatasetRow(path, reader.line_num, {}).fault(f"{cut}{error}") from None


def columns(option_text: str) -> dict[str, tuple[str, ...]]:
    """Return the map in the text of ``--columns``; InputError for an unknown or repeated name."""
    mapped: dict[str, tuple[str, ...]] = {}
    for part in _split(option_text, ","):
        name, *theirs = (text.strip() for text in _split(part, "="))
        column_names = tuple(
            re.sub(r"\\([,=|])", r"\1", column).strip() for column in _split("=".join(theirs), "|")
        )
        if name not in (*FIELDS, IGNORE):
            raise InputError(f"--columns {part.strip()}: known are {', '.join((*FIELDS, IGNORE))}")
        if len(theirs) != 1 or not all(column_names):
            raise InputError(f"--columns {part.strip()}: write {name}=COLUMN")
        if len(column_names) > 1 and name not in (*_LISTS, IGNORE):
            raise InputError(f"--columns {part.strip()}: only {', '.join((*_LISTS, IGNORE))} take several")
        if name in mapped:
            raise InputError(f"--columns: {name} is mapped twice")
        mapped[name] = column_names
    if len(asked := [name for name in ("question", "claim", "topic") if name in mapped]) > 1:
        raise InputError(f"--columns: {' and '.join(asked)} exclude one another")
    return mapped


def format_columns(mapped: ColumnMap) -> str:
    """Return the text for ``--columns`` of a map of columns; see :func:`columns`."""

    def escape(name: str) -> str:
        return re.sub(r"([,=|])", r"\\\1", name)

    return ",".join(f"{name}={'|'.join(map(escape, theirs))}" for name, theirs in mapped.items())


def _split(text: str, sign: str) -> list[str]:
    """Split ``text`` at each ``sign`` that has no backslash before it."""
    return re.split(rf"(?<!\\){re.escape(sign)}", text)


def rename_columns(row: DatasetRow, mapped: ColumnMap) -> dict[str, JsonValue]:
    """Return the row's values by our names; KeyError for a column that the row lacks."""
    values: dict[str, JsonValue] = {}
    for name, theirs in mapped.items():
        column_values = [row.values[column] for column in theirs]
        values[name] = column_values if len(column_values) > 1 else column_values[0]
    return values
