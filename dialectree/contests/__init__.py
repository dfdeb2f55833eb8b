"""Contest a run: change something in it, and do again only what depends on the change.

A change is an override of a reply or of a number, a removal, or an insertion, each at its place in
the debate. The graph runs again from its start and is answered from the journal of the contested
run, so that only a call that is asked something else is made. docs/decisions/contest.md says what
each change means.
"""

from __future__ import annotations

from dialectree.contests.start import start as start
from dialectree.contests.wishes import Add as Add
from dialectree.contests.wishes import AddSource as AddSource
from dialectree.contests.wishes import Change as Change
from dialectree.contests.wishes import Drop as Drop
from dialectree.contests.wishes import Flip as Flip
from dialectree.contests.wishes import Replace as Replace
from dialectree.contests.wishes import Restore as Restore
from dialectree.contests.wishes import Rule as Rule
from dialectree.contests.wishes import Set as Set
from dialectree.contests.wishes import Void as Void
from dialectree.contests.wishes import parse as parse
