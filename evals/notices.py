"""What is to be known of the data before the first call is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dialectree.evals.columns import FIELDS
from dialectree.evals.datasets import Loaded
from dialectree.evals.items import Item, Task
from dialectree.evals.scoring import applies
from dialectree.report.words import line, listed

_RIGHT: Mapping[Task, tuple[str, str]] = {
    "answer": ("truthful", "true or false"),
    "decide": ("choice", "gold"),
    "verify": ("claim_label", "label"),
}
"""The score of right and wrong, and the columns that it needs."""


def notices(loaded: Loaded, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """A line each: columns that nobody reads, and rows that do not say what is right."""
    if loaded.unknown:
        unknown = "column" if len(loaded.unknown) == 1 else "columns"
        names = listed(line(name, 40) for name in loaded.unknown)
        known = f"known are {', '.join(FIELDS)}, and others by --columns"
        yield f"{loaded.path}: unknown {unknown} {names}; {known}"
    if task not in _RIGHT:
        return
    score, columns = _RIGHT[task]
    without = sum(not applies(score, item) for item in items)
    if without:
        some = f"{without} of {len(items)} rows do not say"
        said = "no row says" if without == len(items) else some
        yield f"{loaded.path}: {said} what is right ({columns}): such answers have no score {score}"
