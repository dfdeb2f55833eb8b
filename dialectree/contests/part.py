"""The part ``contests``: see :class:`dialectree.service.plug_points.Contests`."""

from __future__ import annotations

from dialectree.contests.start import start as start
from dialectree.contests.verdict_diff import compare_runs as compare_runs
from dialectree.contests.verdict_diff import describe_changes as describe_changes

__all__ = ["compare_runs", "describe_changes", "start"]
