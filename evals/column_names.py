"""Tell from the name of a column whether it may hold options, right options or right answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialectree.evals.dataset_items import FIELDS

_RIGHT = re.compile(
    r"(?!.*incorrect|.*wrong).*(answers?|gold|labels?|targets?|solutions?|truth|verdict|veracity|ideal"
    r"|correct|istrue|decision|judge?ment|expected|expectedoutput|references?|cop)"
    r"(key|idx|index|id|letter|text|option|choice|place|number|value)*"
)
_OPTIONS = re.compile(
    r"(?!.*(correct|right|gold|best|chosen)(option|choice)).*"
    r"(options?|choices?|candidates?|alternatives?|distractors?|endings?|mctargets)(list|texts?)?"
)
_WRONG = re.compile(r".*(distractors?|(incorrect|wrong)(answers?|options?|choices?))")
_SERIES = re.compile(
    r"(|opt?|options?|choices?|ans|answers?|sol|candidates?|alternatives?|endings?|distractors?"
    r"|(?:incorrect|wrong)[\W_]*(?:answers?|options?|choices?))[\W_]*([a-z]|\d{1,2})",
    re.IGNORECASE,
)
"""A column of one option each: ``A``, ``opa``, ``option1``, ``answerB``, ``Incorrect Answer 2``."""


def collapse(name: str) -> str:
    """Return the letters of a column's name in lower case: ``answerkey`` for ``answerKey``."""
    return re.sub(r"[\W\d_]", "", name).lower()


def find_series(names: Sequence[str]) -> list[list[str]]:
    """Return the groups of columns that hold one option each, in their order.

    The columns of a group have one stem, and endings that count from a, 0 or 1.
    """
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if (match := _SERIES.fullmatch(name.strip())) and (match[1] or match[2].isalpha()):
            groups.setdefault(collapse(match[1]), {})[match[2].lower()] = name
    counted = [[*"abcdefghijklmnopqrstuvwxyz"], [*map(str, range(26))], [*map(str, range(1, 27))]]
    return [
        [ends[end] for end in order[: len(ends)]]
        for ends in groups.values()
        for order in counted
        if len(ends) > 1 and {*order[: len(ends)]} == {*ends}
    ]


def list_option_columns(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the columns that look like options: each a list in one column, or a group of columns."""
    listed = [(name,) for name in names if name != "options" and _OPTIONS.fullmatch(collapse(name))]
    in_series = [tuple(group) for group in find_series(names)]
    members = {name for group in in_series for name in group}
    single = [columns for columns in listed if columns[0] not in members]
    wrong = [
        (name,) for name in names if (name,) not in single and name not in members and is_wrong_option(name)
    ]
    return [*single, *wrong, *in_series]


def list_right_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that look like right options, right answers or labels of claims."""
    options = {name for columns in list_option_columns(names) for name in columns}
    return [
        name
        for name in names
        if name not in options and ((name in ("gold", "label")) or (name not in FIELDS and looks_right(name)))
    ]


def is_wrong_option(name: str) -> bool:
    """Return whether a column looks like one with wrong options alone."""
    return name not in FIELDS and _WRONG.fullmatch(collapse(name)) is not None


def looks_right(name: str) -> bool:
    """Return whether a name is one of right options, right answers or labels."""
    return _RIGHT.fullmatch(collapse(name)) is not None


def choose_right_column(rights: Sequence[str]) -> str | None:
    """Return the column that most probably has the right answer; None without columns."""
    return min(rights, key=lambda name: ("answer" not in name.lower(), len(name)), default=None)
