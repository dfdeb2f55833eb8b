"""Recognise the columns of files that other people wrote.

A file with our names (``question``, ``options``, ``gold`` ...) is read by them. Names that a file
lacks are looked for among its other columns: ``choices`` and ``answer``, ``answerKey``, ``A`` to ``D``,
``correct_answer`` and ``distractor1`` ... A column is read only if all its cells fit, and if no other
column says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from pydantic import JsonValue

from dialectree.errors import InputError
from dialectree.evals import cell_forms
from dialectree.evals.cell_forms import OptionList, find_place, is_filled
from dialectree.evals.column_names import collapse, is_wrong_option, list_option_columns, list_right_columns
from dialectree.evals.dataset_items import FIELDS, IGNORE, DatasetRow, format_columns
from dialectree.evals.published_datasets import strategyqa
from dialectree.text import line

ASKED = ("claim", "question", "topic")
_QUESTIONS = {"question", "questionstem", "questiontext", "query", "problem"}
_CLAIMS = {"claim", "claimtext", "statement"}
_LISTED = {
    "correctanswers": "true",
    "incorrectanswers": "false",
    "bestanswer": "best",
    "bestincorrectanswer": "best_false",
}
"""The columns of TruthfulQA, by their collapsed names."""
_PAPERS = tuple(name for name in FIELDS if name[-2:] in ("_a", "_b"))


@dataclass
class ColumnReading:
    """The rows of a file by our names, and what was read from which columns."""

    values: list[dict[str, JsonValue]]
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The columns that were read, by our names."""
    remarks: list[str] = field(default_factory=list[str])
    """How the values of columns with other names were read."""
    doubt: str = ""
    """The reason why a column that looks like options or right answers is not read."""

    @property
    def read(self) -> set[str]:
        """The names of all columns that were read."""
        return {name for columns in self.sources.values() for name in columns}

    @property
    def renaming(self) -> str:
        """Columns with other names that were read, as ``options=choices, gold=answer``; may be empty."""
        renamed = {name: columns for name, columns in self.sources.items() if columns != (name,)}
        text = ", ".join(f"{name}={'|'.join(columns)}" for name, columns in renamed.items())
        return f"{text} ({'; '.join(self.remarks)})" if text and self.remarks else text


class _Recogniser:
    """Reads the rows of one file by our names."""

    def __init__(self, rows: Sequence[DatasetRow], *, mapped: bool) -> None:
        self.rows = rows
        self.mapped = mapped
        self.counts_from: dict[str, int] = {}
        """The columns that name an option by its place, each with the first option's number."""
        self.cells = [_flatten(row.values) for row in rows]
        cells = [dict(row) for row in self.cells]
        every = dict.fromkeys(name for row in cells for name in row)
        self.names = [name for name in every if any(is_filled(row.get(name)) for row in cells)]
        self.reading = ColumnReading([{n: row[n] for n in FIELDS if n in row} for row in cells])

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column, None where a row lacks it."""
        return [row.get(name) for row in self.cells]

    def read(self) -> ColumnReading:
        """Return the rows by our names; InputError for columns that do not go together."""
        kind = self._choose_kind()
        self.reading.sources |= {name: (name,) for name in FIELDS if name in self.names and name not in ASKED}
        if kind is None:
            return self.reading
        if kind == "claim":
            self._read_claims()
        elif kind == "question":
            self._read_questions()
        else:
            self._leave_out("label")
        if "sources" not in self.names and any(
            not isinstance(part, str)
            for value in self.reading.values
            for part in _as_list(value.get("evidence"))
        ):
            self._leave_out("evidence")  # of FEVER: places in Wikipedia
        return self.reading

    def _choose_kind(self) -> str | None:
        """Keep the claim, question or topic of each row; return which one all rows have, else None."""
        if not any(name in self.names for name in ASKED):
            self._rename_asked()
        papers = [name for name in _PAPERS if name in self.names]
        two_papers = {"title_a", "title_b"} <= {*papers}
        kinds: list[str | None] = []
        for values in self.reading.values:
            asked = [name for name in ASKED if is_filled(values.get(name))]
            if two_papers and "topic" in asked and len(asked) > 1:
                raise InputError(
                    f"{self.rows[0].path}: the columns {asked[0]} and {papers[0]} do not go together: a "
                    f"topic has two papers, a {asked[0]} has none; leave some out with --columns "
                    f"{format_columns({IGNORE: [asked[0]]})} or {format_columns({IGNORE: papers})}"
                )
            for name in (*asked[1:], *(name for name in ASKED if asked and name not in asked)):
                values.pop(name, None)
            kinds.append(asked[0] if asked else None)
            self.reading.sources |= {name: (name,) for name in asked[:1] if name in self.names}
        first = kinds[0]
        for row, kind in zip(self.rows, kinds, strict=True):
            if (
                first
                and kind not in (first, None)
                and first in row.values
                and not is_filled(row.values[first])
            ):
                raise row.fault(f"the column {first} is empty")
        return first if len({*kinds}) == 1 else None

    def _rename_asked(self) -> None:
        sought = [(name, "question") for name in self.names if collapse(name) in _QUESTIONS]
        sought += [(name, "claim") for name in self.names if collapse(name) in _CLAIMS]
        if not sought and (list_right_columns(self.names) or list_option_columns(self.names)):
            sought = [(name, "question") for name in self.names if name == "input"]  # of Inspect
        if len(sought) == 1:
            self._set(sought[0][1], (sought[0][0],), self.column(sought[0][0]))

    def _set(self, name: str, columns: tuple[str, ...], cells: Sequence[Any]) -> None:
        """Let ``columns`` be read as our column ``name``."""
        self.reading.sources[name] = columns
        for values, cell in zip(self.reading.values, cells, strict=True):
            values[name] = cell

    def _leave_out(self, name: str) -> None:
        self.reading.sources.pop(name, None)
        for values in self.reading.values:
            values.pop(name, None)

    # Claims

    def _read_claims(self) -> None:
        self._leave_out("gold")
        if "label" in self.names:
            return
        truths: dict[str, list[bool | str | None]] = {}
        for name in list_right_columns(self.names):
            cells = [(cell, cell_forms.read_truth(cell)) for cell in self.column(name)]
            if wrong := [cell for cell, truth in cells if truth is None and is_filled(cell)]:
                self.reading.doubt = f"{name}: {repr(wrong[0])[:40]} does not say true or false"
            else:
                truths[name] = [truth for _, truth in cells]
        if truths and all(labels == next(iter(truths.values())) for labels in truths.values()):
            name, labels = next(iter(truths.items()))
            self._set("label", (name,), [None if truth == "unknown" else truth for truth in labels])
        elif truths:
            self.reading.doubt = f"{' and '.join(truths)} differ"

    # Questions

    def _read_questions(self) -> None:
        if self.mapped and "label" in self.names and "options" not in self.names:
            self._make_claims("label", self.column("label"))
            return
        self._leave_out("label")
        if "premise" in self.names:  # of COPA, whose questions are "cause" and "effect"
            self.reading.doubt = "the question needs the premise: put both into one column"
            return
        columns, options, wrong = self._find_options()
        if wrong:
            self._join_right_and_wrong(columns, options)
        elif columns:
            self._read_right_option(columns, options)
        elif not (unread := list_option_columns(self.names)):
            self._read_open_questions()
        elif len(unread) == 1 and len(unread[0]) == 1:
            cell = next(cell for cell in self.column(unread[0][0]) if is_filled(cell))
            self.reading.doubt = f"{unread[0][0]}: {line(repr(cell), 40)} is no list of options"

    def _find_options(self) -> tuple[tuple[str, ...], list[OptionList | None], bool]:
        """Return the columns with the options, each row's options, and whether all are wrong ones."""
        if "options" in self.names:
            return ("options",), self._options_in(("options",)), False
        found: list[tuple[tuple[str, ...], list[OptionList | None]]] = []
        for columns in list_option_columns(self.names):
            options = self._options_in(columns)
            filled = [any(is_filled(row.get(name)) for name in columns) for row in self.cells]
            least = 1 if is_wrong_option(columns[0]) else 2
            if all(
                texts is not None and len(texts.texts) >= least
                for texts, holds in zip(options, filled, strict=True)
                if holds
            ):
                found.append((columns, options))
        marked = [entry for entry in found if all(row is None or row.right is not None for row in entry[1])]
        shortest = [entry for entry in found if collapse(entry[0][0]) in ("incorrectanswer", "distractor")]
        for chosen in (found, marked[:1], shortest):
            if len(chosen) == 1:
                columns, options = chosen[0]
                return columns, options, is_wrong_option(columns[0])
        return (), [], False

    def _options_in(self, columns: tuple[str, ...]) -> list[OptionList | None]:
        if len(columns) == 1:
            return [
                cell_forms.read_options(cell) if is_filled(cell) else None for cell in self.column(columns[0])
            ]
        labels = [re.sub(r".*?(\d+|[A-Za-z])$", r"\1", name.strip()) for name in columns]
        read = [cell_forms.read_options([row.get(name) for name in columns]) for row in self.cells]
        return [
            options._replace(labels=labels[: len(options.texts)]) if options else None for options in read
        ]

    def _read_right_option(self, columns: tuple[str, ...], options: list[OptionList | None]) -> None:
        """Read the options, and the column that names the right one in every row."""
        candidates = ["gold"] if "gold" in self.names else list_right_columns(self.names)
        has_our_names = columns == ("options",) and candidates == ["gold"]
        labelled = any(row is not None and row.labels for row in options)
        unread = any(
            row is None and is_filled(cell)
            for row, cell in zip(options, self.column(columns[0]), strict=True)
        )
        if (has_our_names and not labelled) or unread:
            return  # our own form: Columns reads it and names its faults
        places = {name: found for name in candidates if (found := self._find_places(name, options, columns))}
        marked = [None if row is None else row.right for row in options]
        if any(place is not None for place in marked):
            places = {columns[0]: marked}
        if not places and (len(columns) > 1 or candidates):
            if "gold" in candidates:  # Columns names the row whose option is none
                self._set("options", columns, [row.texts if row else None for row in options])
            elif not self.reading.doubt:
                self.reading.doubt = "no column fits the options in every row"
            return
        if not _agree(places.values()):
            self.reading.doubt = f"{' and '.join(places)} name different options"
            return
        self._set("options", columns, [row.texts if row else None for row in options])
        if places:
            name, found = next(iter(places.items()))
            letters = [None if place is None else ascii_uppercase[place] for place in found]
            self._set("gold", (name,), letters)
            if name in self.counts_from:
                self.reading.remarks.append(f"{name} counts options from {self.counts_from[name]}")
            if name in columns:
                self._shuffle(options)

    def _find_places(
        self, name: str, options: Sequence[OptionList | None], columns: tuple[str, ...]
    ) -> list[int | None] | None:
        """Return the place of the right option in each row, None in a row without; None if one does not fit.

        A number is a place from 0. It is one from 1 if some number is too large to count from 0, and none
        is 0. In columns of one option each, small numbers alone do not tell the two apart.
        """
        cells = self.column(name)
        pairs = [(cell, row) for cell, row in zip(cells, options, strict=True) if row is not None]
        filled = [(cell, row) for cell, row in pairs if is_filled(cell)]
        numbers = [(cell, row) for cell, row in filled if cell_forms.is_number(cell)]
        zero = any(float(str(cell)) == 0 for cell, _ in numbers)
        for first in (0, *(() if zero else (1,))):
            places = [
                None if row is None else find_place(cell, row, first)
                for cell, row in zip(cells, options, strict=True)
            ]
            if all(place is not None for place, cell in zip(places, cells, strict=True) if is_filled(cell)):
                unlabelled = [
                    cell for cell, row in numbers if str(cell).strip() not in (*row.labels, *row.texts)
                ]
                if len(columns) > 1 and not zero and first == 0 and unlabelled:
                    self.reading.doubt = (
                        f"{name}: its numbers may count from 0, as --columns reads them, or from 1"
                    )
                    return None
                if unlabelled:
                    self.counts_from[name] = first
                return places if filled else None
        return None

    def _shuffle(self, options: Sequence[OptionList | None]) -> None:
        """Shuffle the options of a file in which the right one always has the same place."""
        if len({row.right for row in options if row is not None}) > 1:
            return
        for values, row in zip(self.reading.values, options, strict=True):
            if row is not None and row.right is not None:
                wrong = [text for place, text in enumerate(row.texts) if place != row.right]
                right = row.texts[row.right]
                texts, values["gold"] = cell_forms.shuffle_options(str(values["question"]), right, wrong)
                values["options"] = [*texts]
        self.reading.remarks.append("options in an order drawn from their texts")

    def _join_right_and_wrong(self, columns: tuple[str, ...], options: Sequence[OptionList | None]) -> None:
        """Read a column with the right option, and columns with the wrong ones."""
        rights = [*list_right_columns(self.names)]
        if "correctanswers" in map(collapse, rights):
            self._read_open_questions()
            return
        exact = [name for name in rights if collapse(name) in ("correctanswer", "rightanswer", "answer")]
        chosen = rights if len(rights) == 1 else exact
        cells = self.column(chosen[0]) if len(chosen) == 1 else []
        if not cells or not all(isinstance(cell, str) and is_filled(cell) for cell in cells):
            return
        for values, cell, row in zip(self.reading.values, cells, options, strict=True):
            if row is not None:
                question, right = str(values["question"]), str(cell).strip()
                texts, values["gold"] = cell_forms.shuffle_options(question, right, row.texts)
                values["options"] = [*texts]
        self.reading.sources |= {"options": (*chosen, *columns), "gold": tuple(chosen)}
        self.reading.remarks.append("options in an order drawn from their texts")

    def _read_open_questions(self) -> None:
        if {"true", "false"} & {*self.names}:
            return
        names = {collapse(name): name for name in self.names}
        if "correctanswers" in names:
            for theirs, name in _LISTED.items():
                if theirs in names:
                    self._set(name, (names[theirs],), self.column(names[theirs]))
            return
        if len(candidates := list_right_columns(self.names)) != 1:
            return
        name, cells = candidates[0], self.column(candidates[0])
        filled = [cell for cell in cells if is_filled(cell)]
        truths = [cell_forms.read_truth(cell) for cell in filled]
        answers = [cell_forms.read_answers(cell) for cell in filled]
        if name in ("gold", "label"):
            self.reading.doubt = f"{name} belongs to {'options' if name == 'gold' else 'a claim'}"
        elif all(isinstance(truth, bool) for truth in truths):
            self._make_claims(name, cells)
        elif any(isinstance(truth, bool) for truth in truths):
            self.reading.doubt = f"{name}: some cells say yes or no, and others do not"
        elif all(map(cell_forms.is_choice, filled)):
            self.reading.doubt = f"{name} names options, and no column has them"
        elif all(answers):
            self._set(
                "true", (name,), [cell_forms.read_answers(cell) if is_filled(cell) else [] for cell in cells]
            )

    def _make_claims(self, name: str, cells: Sequence[Any]) -> None:
        """Turn questions that are answered by yes or no into claims, as in StrategyQA."""
        for values, cell in zip(self.reading.values, cells, strict=True):
            truth = cell if self.mapped else cell_forms.read_truth(cell)
            values |= strategyqa({"question": str(values.pop("question")), "answer": truth})
        self.reading.sources = {"claim": self.reading.sources.pop("question"), **self.reading.sources}
        self.reading.sources["label"] = (name,)
        self.reading.remarks.append("each claim says that the answer is yes")


def _agree(places: Iterable[Sequence[int | None]]) -> bool:
    """Return whether columns name the same option in each row in which they name one."""
    return all(len({*row} - {None}) <= 1 for row in zip(*places, strict=True))


def _as_list(value: object) -> list[object]:
    parsed = cell_forms.parse_text(value)
    return parsed if isinstance(parsed, list) else [] if value is None else [parsed]


def _flatten(values: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return a row whose question is an object, as OpenBookQA's own file has it, as plain columns."""
    question = values.get("question")
    if not (isinstance(question, dict) and "stem" in question):
        return dict(values)
    choices = {"choices": question["choices"]} if "choices" in question else {}
    return {**values, "question": question["stem"], **choices}


def recognise_columns(rows: Sequence[DatasetRow], *, mapped: bool = False) -> ColumnReading:
    """Return the rows of a file by our names; InputError for columns that do not go together.

    With ``mapped`` the columns have our names because the user said so: a question with a label is then
    one that is answered by yes or no.
    """
    return _Recogniser(rows, mapped=mapped).read()
