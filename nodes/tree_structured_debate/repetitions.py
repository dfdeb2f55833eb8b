"""Children that ask what was asked already: a split that repeats itself is paid for twice.

Recorded and shown, never acted upon: the paper leaves non-overlap to the decomposition judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import TypedDict

from dialectree.nodes.answers import normal
from dialectree.nodes.tree_structured_debate.sides import as_asked


class Asked(TypedDict):
    """A question and where it stands."""

    id: str
    question: str


def repetitions(children: Sequence[Asked], question: str, node: str) -> Iterator[str]:
    """A remark on each child that asks the same as its parent ``node``, or as an earlier child."""
    first = {normal(as_asked(question)): node}
    for child in children:
        same = first.setdefault(normal(child["question"]), child["id"])
        if same != child["id"]:
            yield f"{child['id']} asks the same as {same}"
