"""Read the cells of published files: lists of options, right options, right answers, truth values.

Published data sets write the same thing in many forms: options as a list, as ``{"text": [...],
"label": [...]}`` or as ``{"A": ...}``; the right one as a letter, a text or a place. A value that fits
no form is None here, so that the caller can say which column it is in.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from string import ascii_uppercase
from typing import Any, NamedTuple

from pydantic_core import from_json

from dialectree.answers import match_candidate, normal

_TRUE = {"true", "yes", "supports", "support", "supported"}
_FALSE = {"false", "no", "refutes", "refute", "refuted", "contradict", "contradicts", "contradicted"}
_UNKNOWN = {"not enough info", "not enough information", "not enough evidence", "nei"}
"""Labels of FEVER, SciFact and AVeriTeC for a claim about which nothing is known."""


class OptionList(NamedTuple):
    """The options of a question, as one cell or several columns give them."""

    texts: list[str]
    labels: Sequence[str] = ()
    """The file's own label of each option, such as "1" or "A"; empty if the file has none."""
    right: int | None = None
    """The place of the right option, from 0, if the cell says it."""


def is_filled(value: object) -> bool:
    """Return whether a cell holds anything."""
    return value is not None and value != [] and value != {} and str(value).strip() != ""


def parse_text(value: object) -> object:
    """Return the list or object that a text writes out, in JSON or as Python prints it, else ``value``."""
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    with suppress(ValueError):
        return from_json(value)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        parsed: object = ast.literal_eval(value.strip())
        return parsed
    return value


def read_options(value: object) -> OptionList | None:
    """Return the options in a cell; None if it holds no list of texts.

    The forms are a list of texts, texts with ``;`` between them, a list of objects with label and text,
    ``{"text": [...], "label": [...]}``, ``{"choices": [...], "labels": [0, 1, ...]}`` with a 1 for the
    right one, and ``{"A": text, ...}``.
    """
    value = parse_text(value)
    if isinstance(value, str):
        value = value.split(";")
    if isinstance(value, list):
        return _read_list(value)
    if not isinstance(value, Mapping):
        return None
    for texts_key, labels_key in (("text", "label"), ("choices", "labels"), ("texts", "labels")):
        if isinstance(value.get(texts_key), list):
            options, labels = _read_list(value[texts_key]), value.get(labels_key)
            if options is None or not isinstance(labels, list) or len(labels) != len(options.texts):
                return None
            if set(labels) <= {0, 1} and labels.count(1) == 1:
                return options._replace(right=labels.index(1))
            return options._replace(labels=[str(label).strip() for label in labels])
    options = _read_list([*value.values()])
    return options and options._replace(labels=[str(key).strip() for key in value][: len(options.texts)])


def _read_list(entries: Sequence[object]) -> OptionList | None:
    """Return the options of a list; empty texts at its end are left out."""
    if entries and all(isinstance(entry, Mapping) for entry in entries):
        keyed: Sequence[Any] = entries
        for label_key, text_key in (("label", "text"), ("key", "value")):
            if all(text_key in entry for entry in keyed):
                options = _read_list([entry[text_key] for entry in keyed])
                labels = [str(entry.get(label_key, "")).strip() for entry in keyed]
                return options and options._replace(labels=labels if all(labels) else [])
    if not all(isinstance(entry, str | int | float | None) for entry in entries):
        return None
    texts = ["" if entry is None else str(entry).strip() for entry in entries]
    while texts and not texts[-1]:
        texts.pop()
    return OptionList(texts)


def find_place(value: object, options: OptionList, first: int = 0) -> int | None:
    """Return the place of the right option, from 0, or None if ``value`` means none, or several.

    ``value`` is a label of the options, a letter, a text, a number that counts from ``first``, or a list
    of 0 and 1. A label goes first, then a text, as in ARC, whose labels may be numbers.
    """
    value = parse_text(value)
    if isinstance(value, list):
        if len(value) == len(options.texts) > 1 and set(value) <= {0, 1} and value.count(1) == 1:
            return value.index(1)
        value = value[0] if len(value) == 1 else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    number = re.fullmatch(r"(\d{1,2})(?:\.0)?", text)
    label = number[1] if number else text.strip("(). ")
    if options.labels.count(label) == 1:
        return options.labels.index(label)
    if number is None or text in options.texts:
        texts = dict(zip(ascii_uppercase, options.texts, strict=False))
        letter = match_candidate(text, texts) or match_candidate(label, texts)
        return None if letter is None else ascii_uppercase.index(letter)
    place = int(number[1]) - first
    return place if 0 <= place < len(options.texts) else None


def is_number(value: object) -> bool:
    """Return whether a cell holds a whole number of one or two digits."""
    return not isinstance(value, bool) and re.fullmatch(r"\d{1,2}(\.0)?", str(value).strip()) is not None


def is_choice(value: object) -> bool:
    """Return whether a cell names an option of a list: by one letter, or by a number."""
    return is_number(value) or re.fullmatch(r"\(?[A-Za-z]\)?\.?", str(value).strip()) is not None


def read_truth(value: object, *, numbers: bool = False) -> bool | str | None:
    """Return whether a label says true or false; "unknown" for claims without evidence, None for others.

    With ``numbers`` 1 is true and 0 is false. Published files number their labels in different orders,
    so that only a column named ``label``, or mapped to it, is read in this way.
    """
    word = " ".join(re.split(r"[\s_-]+", normal(str(value))))
    if isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        return None
    if word in _TRUE or (numbers and word in ("1", "1.0", "t", "y", "on")):
        return True
    if word in _FALSE or (numbers and word in ("0", "0.0", "f", "n", "off")):
        return False
    return "unknown" if word in _UNKNOWN or word.startswith("conflicting evidence") else None


def read_answers(value: object) -> list[str] | None:
    """Return the right answers to an open question; None for another form.

    The forms are a text or number, a list of them, ``{"text": [...]}`` as in SQuAD, and
    ``{"value": ..., "aliases": [...]}`` as in TriviaQA.
    """
    value = parse_text(value)
    if isinstance(value, Mapping):
        aliases = value.get("aliases", [])
        listed = value.get("text", [value["value"], *aliases] if "value" in value else None)
        value = listed
    entries = value if isinstance(value, list) else [value]
    if not all(isinstance(entry, str | int | float) and not isinstance(entry, bool) for entry in entries):
        return None
    return [*dict.fromkeys(text for entry in entries if (text := str(entry).strip()))] or None


def shuffle_options(question: str, right: str, wrong: Sequence[str]) -> tuple[list[str], str]:
    """Return the options in an order that depends on their texts alone, and the right one's letter.

    Files that keep the right answer in a column of its own give no order, and the right option must not
    always be the first.
    """
    texts = [right, *wrong]
    order = sorted(texts, key=lambda text: hashlib.sha256(f"{question}\0{text}".encode()).digest())
    return order, ascii_uppercase[order.index(right)]
