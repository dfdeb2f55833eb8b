"""Record the changes of a contest and their effect."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from dialectree.records.place import Strict
from dialectree.records.tree import Turn, Verdict


class Moved(Strict):
    """A move of one node's verdict; the confidence of a weighed argument is its strength."""

    node: str
    before: Verdict | None
    after: Verdict | None


ARGUMENT = "argument"
"""The role of a spot that is an argument by itself, apart from the calls made at its node."""
OverrideKind = Literal["replaced", "ruled", "dropped", "set", "flipped", "voided", "added"]
"""A turn or a segment, a verdict, whatever can be left out, a strength, a comparison (flipped or
voided), an argument."""


class Override(Strict):
    """One change of a person. It holds at its places whenever the run's graph runs again."""

    id: str
    """As a person names it: a turn, a node, two arguments (``ID:ID``), a source or a segment."""
    what: OverrideKind
    field: str = ""
    """Which text of a turn, where it is not the one that a turn is known by."""
    spots: list[Turn]
    """The turns that it changes, as they were before any person changed them; without fields where
    none was. One without a phase is a whole node, or with the role ``argument`` an argument by
    itself, whose side is its stance. A source and a segment of evidence have none."""
    reply: dict[str, JsonValue] | None = None
    """The fields of a reply that it sets; None where nothing is said."""
    before: str | None = None
    """The text that it took the place of; of a source that is dropped its name."""
    after: str | None = None
    """The text in its place; of a source that is added its name."""

    def out(self) -> bool:
        """Return whether it takes something out, which may hold other changes, too."""
        return self.what in ("dropped", "voided")

    def key(self) -> tuple[str, str, str]:
        """Return what it changes: each text of a turn can have a change of its own."""
        return self.id, self.field, "out" if self.out() else self.what

    def of_argument(self) -> bool:
        """Return whether it drops or inserts an argument of an argument tree."""
        return any(spot.role == ARGUMENT for spot in self.spots)

    def words(self) -> str:
        """``0.1/A2 replaced``, ``strength of 0.1 set to 0.3 (before: 0.5)``."""
        match self.what:
            case "set":
                return f"strength of {self.id} set to {self.after} (before: {self.before})"
            case "flipped" | "voided":
                return f"comparison of {' and '.join(self.id.split(':'))} {self.what}"
            case "added" if not self.spots:
                return f"{self.id} ({self.after}) added"
            case "dropped" if not self.spots and ":" not in self.id:
                return f"{self.id} ({self.before}) dropped"
            case "added":
                verb = "supports" if self.spots[0].side == "support" else "attacks"
                return f"{self.id} added: it {verb} {self.spots[0].node}"
            case "ruled":
                return f"{self.id} given another verdict"
            case "replaced" | "dropped":
                return f"{'/'.join(filter(None, [self.id, self.field]))} {self.what}"


class Contest(Strict):
    """The changes of a person to another run, and their effect on its verdict."""

    run: str
    """The id of the run that was contested."""
    changes: list[str]
    """What was changed, in words."""
    before: float | None
    """The verdict's confidence in the contested run; of ART the claim's strength."""
    after: float | None
    why: str
    """One line that says what moved the verdict, or why it stayed."""

    overrides: list[Override] = []
    """What persons changed, this time and in the runs before."""
    verdict_before: Verdict | None = None
    """None where strengths of arguments moved."""
    verdict_after: Verdict | None = None
    moved: list[Moved] = []
    """Every node whose verdict or strength moved, from the bottom up."""
