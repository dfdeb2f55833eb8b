"""Wait for something that happens elsewhere, as long as a loaded machine may need for it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")

PATIENCE_S = 300.0


def wait_until(
    condition: Callable[[], Value],
    timeout: float = PATIENCE_S,
    pause_s: float = 0.02,
    process: subprocess.Popen[Any] | None = None,
) -> Value:
    """Return what ``condition()`` returns as soon as that is true.

    Args:
        condition: It is called again and again, and must not raise.
        timeout: Seconds after which the test fails. This ends what will never happen; it measures
            nothing.
        pause_s: Seconds between two calls.
        process: The program that is waited for: the test fails as soon as it has ended in vain.

    Raises:
        AssertionError: The time is over, or the process has ended.
    """
    give_up = time.monotonic() + timeout
    while True:
        ended = process is not None and process.poll() is not None
        if value := condition():  # after the poll: what the process did last counts
            return value
        assert not ended, f"the process ended with status {process and process.returncode}"
        assert time.monotonic() < give_up, f"it did not happen in {timeout:g} s"
        time.sleep(pause_s)
