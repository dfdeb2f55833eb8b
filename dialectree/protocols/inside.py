"""Track the debate in which code runs: the run's own, or one inside another debate."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple


class Inside(NamedTuple):
    """Locate a debate inside others. LangGraph copies the context variable into every task."""

    node: str = "0"
    """The root of the debate. The ids of all its nodes begin with it."""
    protocols: tuple[str, ...] = ()
    """The protocols from the run's own down to this debate's; empty for the run's own debate."""
    take: int = 1
    """The pass over the tree: 2 for a debate in a second pass."""
    text: str | None = None
    """The text that the tree shows at the root; None: the debate's own question."""
    options: tuple[str, ...] = ()
    """The answers to choose from, if the debate has options."""

    def holds(self, node: str) -> bool:
        """Return whether ``node`` belongs to the debate."""
        return f"{node}.".startswith(f"{self.node}.")

    def draw(self) -> tuple[str, ...]:
        """Return the key that makes the debate's random draws differ from those of other debates."""
        return (self.node, str(self.take)) if self.protocols else (self.node,)


ITSELF = Inside()
"""The run's own debate."""
inside: ContextVar[Inside] = ContextVar("inside", default=ITSELF)
"""The debate in which code runs."""


def root() -> str:
    """Return the id of the root of the debate in which this code runs.

    It is "0" for the run's own debate. For a debate inside another one, it is the node at which
    :func:`dialectree.debate` holds the debate.
    """
    return inside.get().node
