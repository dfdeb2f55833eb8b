"""How a stopping rule stands in a graph."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Sequence
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")
Way = Hashable | Sequence[Hashable]
"""Where a rule leads: a step, or several at once."""


def ruled(rule: Callable[P, Way]) -> Callable[P, Coroutine[Any, Any, Way]]:
    """``rule`` as a graph asks it at once.

    LangGraph sends a plain function to a thread, and fetching its word from there takes longer
    than all that a rule does.
    """

    @wraps(rule)
    async def at_once(*given: P.args, **named: P.kwargs) -> Way:
        return rule(*given, **named)

    return at_once
