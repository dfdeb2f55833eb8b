"""Where the parts that change, read and estimate debates plug in: one protocol for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from dialectree.records import Contest, Event, Override, RunRecord, Tree
from dialectree.records.folder import RunFolder
from dialectree.system.parts import PlugPoint

if TYPE_CHECKING:
    from dialectree.running.runner import Started


class Wish(Protocol):
    """A change that a person wishes in a run, such as ``dialectree.contests.Drop("0.1")``."""

    @property
    def change(self) -> str:
        """Return what is to be done: ``drop``, ``replace``, ``add_source`` ..."""
        ...

    @property
    def where(self) -> str:
        """Return what is changed, such as ``0.1``."""
        ...

    @property
    def text(self) -> str:
        """Return the new text; "" where the change has none."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return the change with other fields."""
        ...


class Contests(Protocol):
    """The part that changes something in a run."""

    def start(
        self,
        folder: RunFolder,
        wishes: Iterable[Wish],
        runs: Path,
        given: Mapping[str, Any],
        *,
        person: bool = True,
        into: Path | None = None,
    ) -> Started:
        """Begin a new run under ``runs`` in which ``wishes`` hold; InputError where it cannot be.

        ``given`` are models and limits. A run that is only tried lies in ``into``.
        """
        ...

    def compared(self, old: RunRecord, new: RunRecord) -> Contest:
        """Return the contest that ``new`` is, with what it moved."""
        ...

    def told(
        self, overrides: Sequence[Override], tree: Tree, met: Collection[str]
    ) -> Iterator[Event]:
        """Yield the events about the nodes that the overrides concern.

        ``met`` are the ids of the overrides that had a place in the debate.
        """
        ...


CONTESTS: PlugPoint[Contests] = PlugPoint("contests", "contesting a run")
