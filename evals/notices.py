"""What is to be known of the data before the first call is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dialectree.evals.columns import FIELDS
from dialectree.evals.datasets import Loaded
from dialectree.evals.items import Item, Task
from dialectree.evals.repeats import repeats
from dialectree.evals.scoring import RIGHT, applies
from dialectree.report.words import count, line, listed

_COLUMNS: Mapping[Task, str] = {"answer": "true or false", "decide": "gold", "verify": "label"}
"""What the score of right and wrong needs."""


def notices(loaded: Loaded, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """A line each: columns that nobody reads, rows that repeat others, rows without a right one."""
    if loaded.unknown:
        unknown = "column" if len(loaded.unknown) == 1 else "columns"
        names = listed(line(name, 40) for name in loaded.unknown)
        known = f"known are {', '.join(FIELDS)}, and others by --columns"
        yield f"{loaded.path}: unknown {unknown} {names}; {known}"
    items = [item for item in items if not item.repeat]
    if (found := repeats(items)).items:
        said = found.said(count(len(items), "row"), task)
        yield f"{loaded.path}: {said}: all count as questions of their own"
    if task not in RIGHT:
        return
    score, columns = RIGHT[task], _COLUMNS[task]
    without = sum(not applies(score, item) for item in items)
    if without:
        some = f"{without} of {len(items)} rows do not say"
        said = "no row says" if without == len(items) else some
        yield f"{loaded.path}: {said} what is right ({columns}): such answers have no score {score}"
