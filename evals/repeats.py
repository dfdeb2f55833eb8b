"""Questions that a data set asks more than once: they count as several, and tell as much as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from string import ascii_uppercase
from typing import NamedTuple

from dialectree.evals.items import Item, Task

WHAT: Mapping[Task, str] = {
    "answer": "question",
    "decide": "question and options",
    "verify": "claim",
    "compare": "topic and papers",
}
"""What two items have in common of which one repeats the other."""


class Repeats(NamedTuple):
    """How many items repeat an earlier one."""

    items: int
    otherwise: int
    """Those of them whose right answer is another one."""

    def said(self, of: str, task: Task) -> str:
        """``3 of 4 rows repeat another's claim``; ``of`` is ``4 rows``."""
        word = "repeats" if self.items == 1 else "repeat"
        others = f", {self.otherwise} of them with another right answer" * bool(self.otherwise)
        return f"{self.items} of {of} {word} another's {WHAT[task]}{others}"


def repeats(items: Iterable[Item]) -> Repeats:
    """Items that ask the same as one before, whatever their ids, letters, blanks and capitals."""
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
    """What is asked; options in another order are the same options."""
    inputs = item.inputs
    text = inputs.question or inputs.claim or inputs.topic or ""
    papers = tuple(_bare(paper.model_dump_json()) for paper in inputs.papers)
    return inputs.task, _bare(text), frozenset(map(_bare, inputs.options)), papers


def _right(item: Item) -> frozenset[str]:
    """The texts that are right, any of them; none where the item does not say."""
    reference = item.reference
    if reference.gold is not None:
        return frozenset({_bare(item.inputs.options[ascii_uppercase.index(reference.gold)])})
    if reference.label is not None:
        return frozenset({str(reference.label)})
    return frozenset(map(_bare, reference.true))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
