"""Tells what is odd about the data before the first call is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialectree.evals.columns import FIELDS
from dialectree.evals.datasets import Loaded
from dialectree.evals.items import Item, Task
from dialectree.evals.repeats import repeats
from dialectree.evals.scoring import applies
from dialectree.evals.tasks import TASKS
from dialectree.report.words import count, line, listed


def notices(loaded: Loaded, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Yield a line each on unread columns, repeated rows and rows without a gold answer."""
    if loaded.unknown:
        unknown = "column" if len(loaded.unknown) == 1 else "columns"
        names = listed(line(name, 40) for name in loaded.unknown)
        known = f"known are {', '.join(FIELDS)}, and others by --columns"
        yield f"{loaded.path}: unknown {unknown} {names}; {known}"
    items = [item for item in items if not item.repeat]
    if (found := repeats(items)).items:
        repeated = found.said(count(len(items), "row"), task)
        yield f"{loaded.path}: {repeated}: all count as questions of their own"
    score, columns = TASKS[task].right, TASKS[task].columns
    if score is None:
        return
    without = sum(not applies(score, item) for item in items)
    if without:
        some = f"{without} of {len(items)} rows do not say"
        rows = "no row says" if without == len(items) else some
        yield f"{loaded.path}: {rows} what is right ({columns}): such answers have no score {score}"
