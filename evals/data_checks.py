"""Tells what is odd about the data before the first call is paid."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import NamedTuple

from dialectree.evals.data_files import FIELDS
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.datasets import Loaded
from dialectree.evals.scoring import applies
from dialectree.evals.tasks import TASKS
from dialectree.text import count, line, listed


class Repeats(NamedTuple):
    """How many items repeat an earlier one."""

    items: int
    otherwise: int
    """Those of them whose right answer is another one."""

    def sentence(self, of: str, task: Task) -> str:
        """Return ``3 of 4 rows repeat another's claim``; ``of`` is ``4 rows``."""
        word = "repeats" if self.items == 1 else "repeat"
        others = f", {self.otherwise} of them with another right answer" * bool(self.otherwise)
        return f"{self.items} of {of} {word} another's {TASKS[task].asks}{others}"


def repeats(items: Iterable[Item]) -> Repeats:
    """Count items that ask the same as one before, whatever their ids, letters and blanks."""
    asked = set[Hashable]()
    first: dict[Hashable, frozenset[str]] = {}
    again = otherwise = 0
    for item in items:
        same, right = _asked(item), _right(item)
        again += same in asked
        asked.add(same)
        if right:
            otherwise += not right & first.setdefault(same, right)
    return Repeats(again, otherwise)


def _asked(item: Item) -> Hashable:
    """Return what is asked; options in another order are the same options."""
    inputs = item.inputs
    papers = tuple(_bare(paper.model_dump_json()) for paper in inputs.papers)
    return inputs.task, _bare(inputs.text), frozenset(map(_bare, inputs.options)), papers


def _right(item: Item) -> frozenset[str]:
    """Return the texts that are right, any of them; none where the item does not say."""
    reference = item.reference
    if reference.gold is not None:
        return frozenset({_bare(item.inputs.options[ascii_uppercase.index(reference.gold)])})
    if reference.label is not None:
        return frozenset({str(reference.label)})
    return frozenset(map(_bare, reference.true))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()


def notices(loaded: Loaded, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Yield a line each on unread columns, repeated rows and rows without a gold answer."""
    if loaded.unknown:
        unknown = "column" if len(loaded.unknown) == 1 else "columns"
        names = listed(line(name, 40) for name in loaded.unknown)
        known = f"known are {', '.join(FIELDS)}, and others by --columns"
        yield f"{loaded.path}: unknown {unknown} {names}; {known}"
    if loaded.by_place:
        numbers = f"{loaded.by_place} of {count(len(loaded.items), 'row')}"
        yield f"{loaded.path}: gold is a number in {numbers}: the option's place, counted from 0"
    items = [item for item in items if not item.repeat]
    if (again := repeats(items)).items:
        repeated = again.sentence(count(len(items), "row"), task)
        yield f"{loaded.path}: {repeated}: all count as questions of their own"
    score, columns = TASKS[task].right, TASKS[task].columns
    without = sum(not applies(score, item) for item in items) if score else 0
    if without:
        some = f"{without} of {len(items)} rows do not say"
        rows = "no row says" if without == len(items) else some
        yield f"{loaded.path}: {rows} what is right ({columns}): such answers have no score {score}"
