"""The part ``contests``: see :class:`dialectree.service.plug_points.Contests`."""

from __future__ import annotations

from dialectree.contests.start import start as start
from dialectree.contests.verdict_diff import compared as compared
from dialectree.contests.verdict_diff import told as told
