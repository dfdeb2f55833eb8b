"""Contest a run: change something in it, and do again only what depends on the change.

A change is an override of a reply or of a number, a removal, or an insertion, each at its place in
the debate. The graph runs again from its start and is answered from the journal of the contested
run, so that only a call that is asked something else is made. docs/decisions/contest.md says what
each change means.
"""

from __future__ import annotations

from dialectree.contests.start import start
from dialectree.contests.wishes import (
    Add,
    Change,
    Drop,
    Flip,
    Replace,
    Restore,
    Rule,
    Set,
    Void,
    only_models_and_limits,
    parse,
)

__all__ = [
    "Add",
    "Change",
    "Drop",
    "Flip",
    "Replace",
    "Restore",
    "Rule",
    "Set",
    "Void",
    "only_models_and_limits",
    "parse",
    "start",
]
