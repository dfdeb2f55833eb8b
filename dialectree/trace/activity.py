"""Describe what a call to a model is doing now, for whoever watches a run.

Nothing of this is an event: no record and no file keeps it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from dialectree.records import Call, Turn

Delay = Literal["rate_limit", "retry"]
"""Why a call pauses: the endpoint asks for it, or an attempt failed."""
State = Literal["queued", "asked", "answered"] | Delay
Pause = Callable[[float, Delay, str], Awaitable[None]]
"""Sleeps for some seconds, for a reason and after a fault; raises what ends a run meanwhile."""


class Activity(NamedTuple):
    """A call that has just changed its state."""

    place: Turn
    """The turn that its reply becomes."""
    state: State
    repair: int = 0
    """Above 0 while an invalid reply is asked for again."""
    until: float = 0.0
    """When a pause ends, by ``clock.seconds``."""
    fault: str = ""
    """What went wrong before another attempt."""
    call: Call | None = None
    """The finished call, once it is answered."""


Follow = Callable[[Activity], None]
