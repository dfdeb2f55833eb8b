"""Look up what a person put in the place of replies, as a contested run comes by.

A change holds at its place, whatever is asked there: an earlier part of the debate may be contested
later, and the person's words still stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.models.asking import Place
from dialectree.records import Held, Spot


class Changes:
    """The changes of a contested run, by place."""

    def __init__(self, held: Sequence[Held] = ()) -> None:
        self._nodes: dict[str, Held] = {}
        self._turns: dict[tuple[str, str, str, int, int, str], tuple[Spot, Held]] = {}
        self._evidence = {change.id: change for change in held if not change.spots}
        for change in sorted(held, key=_weight):
            for spot in change.spots:
                if spot.stage:
                    place = (spot.node, spot.stage, spot.role, spot.round, spot.take, spot.who)
                    self._turns[place] = spot, change
                elif change.what == "dropped":  # else the ruling of a person, who is asked for it
                    self._nodes[spot.node] = change
        self.met = {c.id for c in held if any(not spot.stage for spot in c.spots)}
        """Ids of the changes that had a place in the debate."""

    def at(self, place: Place) -> Held | None:
        """Return the change that holds at ``place``; the parts of a dropped node are dropped, too.

        A change does not hold for a speaker who now has to defend something else there.
        """
        if self._nodes and place.stage != "expansion" and (gone := self.dropped(place.node)):
            return gone
        spot, change = self._turns.get(place.spot(), (None, None))
        if spot is None or change is None or spot.side != place.side:
            return None
        if spot.label not in (None, place.label):  # two long answers may begin alike
            return None
        self.met.add(change.id)
        return change

    def evidence(self) -> dict[str, str | None]:
        """Return the new text of each changed segment by its id; None if it was taken out."""
        texts: dict[str, str | None] = {}
        for name, change in self._evidence.items():
            texts[name] = str(change.reply["text"]) if change.reply is not None else None
        self.met |= {name for name, text in texts.items() if text is None}
        return texts

    def found(self, segment: str) -> bool:
        """Return whether a person wrote the segment that was just retrieved."""
        if segment not in self._evidence:
            return False
        self.met.add(segment)
        return True

    def dropped(self, node: str) -> Held | None:
        """Return the change that drops ``node`` or a part that it belongs to."""
        while node:
            if node in self._nodes:
                return self._nodes[node]
            node = node.rpartition(".")[0]
        return None

    def disregard(self, place: Place) -> None:
        """Forget the change at ``place``: the debate changed, and it is no possible reply."""
        _, change = self._turns.pop(place.spot())
        self.met.discard(change.id)


def _weight(change: Held) -> tuple[bool, int]:
    """Sort drops first, then the narrower change."""
    return change.out(), -len(change.spots)
