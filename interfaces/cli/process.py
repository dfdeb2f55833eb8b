"""Tune a process that is a command's alone."""

from __future__ import annotations

import gc

THRESHOLDS = (20_000, 20, 20)
"""Of the garbage collector."""


def collect_garbage_seldom() -> None:
    """Collect garbage seldom, and never what the imports made.

    A debate leaves next to none, and the search takes a twentieth of the time of a call.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
