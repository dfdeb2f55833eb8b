"""Contesting a run: something is changed, and only what depends on it done again.

Of an argument tree the maths is reckoned anew (``arguments``); of any other debate the graph is
walked anew, and only calls that are asked something else are made (``replies``).
docs/decisions/contest.md says what each change means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialectree.contests import arguments, replies
from dialectree.contests.arguments import Contesting
from dialectree.contests.wishes import (
    Add,
    Drop,
    Flip,
    Replace,
    Restore,
    Rule,
    Set,
    Void,
    Wish,
    listed,
    only_models_and_limits,
)
from dialectree.report.words import outcome_of
from dialectree.runner import Started
from dialectree.runs import RunFolder

__all__ = [
    "Add",
    "Contesting",
    "Drop",
    "Flip",
    "Replace",
    "Restore",
    "Rule",
    "Set",
    "Void",
    "Wish",
    "only_models_and_limits",
    "start",
]


def start(
    folder: RunFolder,
    wishes: Iterable[Wish],
    runs: Path,
    given: Mapping[str, Any],
    *,
    person: bool = True,
) -> Contesting | Started:
    """A new run under ``runs`` in which ``wishes`` hold, in their order.

    ``given`` are settings for the calls that it costs (models, limits). InputError for a wish that
    the run cannot fulfil, before anything is written; and where a person has to rule again and no
    ``person`` is there.
    """
    wishes = listed(wishes)
    if outcome_of(folder.record()) == "probability":
        return arguments.start(folder, wishes, runs, given)
    return replies.start(folder, wishes, runs, given, person=person)
