"""Record the changes of a contest and their effect."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from dialectree.records.place import Strict
from dialectree.records.tree import Turn, Verdict


class Moved(Strict):
    """A change of one node's verdict; for a weighed argument the confidence is its strength."""

    node: str
    before: Verdict | None
    after: Verdict | None


ARGUMENT = "argument"
"""The role of a spot that stands for an argument itself, not for a call at the argument's node."""
OverrideKind = Literal["replaced", "ruled", "dropped", "set", "flipped", "voided", "added"]
"""What happened, and to what. ``replaced``: a turn or a segment; ``ruled``: a verdict; ``dropped``:
anything optional; ``set``: a strength; ``flipped``, ``voided``: a comparison; ``added``: an argument
or a source."""


class Override(Strict):
    """One change by a person. It is applied at its places in every further run of the graph."""

    id: str
    """The person's name for the changed part: a turn, a node, two arguments (``ID:ID``), a source or a
    segment."""
    what: OverrideKind
    field: str = ""
    """The name of the changed text of a turn, if that is not the main text."""
    spots: list[Turn]
    """The changed turns, as they were before any person's change; a missing turn has no fields. A turn
    without a phase stands for a whole node. With the role ``argument`` it stands for an argument, and
    its side is the argument's stance. The list is empty for a source and a segment of evidence."""
    reply: dict[str, JsonValue] | None = None
    """The fields that the change sets in the reply; None if there is no reply."""
    before: str | None = None
    """The replaced text; for a dropped source, the source's name."""
    after: str | None = None
    """The new text; for an added source, the source's name."""

    def out(self) -> bool:
        """Return whether the change removes something; other changes may lie in the removed part."""
        return self.what in ("dropped", "voided")

    def key(self) -> tuple[str, str, str]:
        """Return the key of the changed part: each text of a turn can have its own change."""
        return self.id, self.field, "out" if self.out() else self.what

    def of_argument(self) -> bool:
        """Return whether the change drops or inserts an argument of an argument tree."""
        return any(spot.role == ARGUMENT for spot in self.spots)

    def words(self) -> str:
        """Return the change in words: ``0.1/A2 replaced``, ``strength of 0.1 set to 0.3 (before: 0.5)``."""
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
    """The changes by a person to another run, and their effect on its verdict."""

    run: str
    """The id of the run that was contested."""
    changes: list[str]
    """The changes, in words."""
    before: float | None
    """The verdict's confidence in the contested run; in argument trees the claim's strength."""
    after: float | None
    why: str
    """One line that says what moved the verdict, or why it stayed."""

    overrides: list[Override] = []
    """All changes by persons, in this run and in the runs before."""
    verdict_before: Verdict | None = None
    """The verdict before the contest; None if strengths of arguments changed instead."""
    verdict_after: Verdict | None = None
    moved: list[Moved] = []
    """Every node whose verdict or strength changed, from the bottom up."""
