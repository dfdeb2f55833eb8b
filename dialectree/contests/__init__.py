"""Contest a run: change something in it, and repeat only the calls that depend on the change.

A change overrides a reply or a number, removes something, or inserts something, at its place in
the debate. The graph runs again from its start, with replies from the journal of the contested
run, so that only calls with a changed request are made. docs/decisions/contest.md explains each
change.
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
