"""Tune the process of a command."""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)
"""Thresholds of the garbage collector."""


def collect_garbage_seldom() -> None:
    """Collect garbage seldom, and never the objects of the imports.

    A debate leaves almost no garbage, and the search for garbage takes a twentieth of the time of a
    call.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
