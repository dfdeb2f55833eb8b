"""What a person put in the place of replies, as a run comes by.

A change holds at its place, whatever is asked there: what was contested before it in the debate may
be contested later, and the person's word still stands.
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
        """Ids of those that had a place in the debate as it went."""

    def at(self, place: Place) -> Held | None:
        """What holds at ``place``. A node that was dropped keeps its parts, which are dropped too.

        Nobody's words are put into the mouth of one who has to defend something else there.
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
        """By the id of a segment what it says instead; None where it is not to be found."""
        texts: dict[str, str | None] = {}
        for name, change in self._evidence.items():
            texts[name] = str(change.reply["text"]) if change.reply is not None else None
        self.met |= {name for name, text in texts.items() if text is None}
        return texts

    def found(self, segment: str) -> bool:
        """Whether a person wrote the segment that was just retrieved."""
        if segment not in self._evidence:
            return False
        self.met.add(segment)
        return True

    def dropped(self, node: str) -> Held | None:
        """The drop of ``node``, or of a part that it belongs to."""
        while node:
            if node in self._nodes:
                return self._nodes[node]
            node = node.rpartition(".")[0]
        return None

    def disregard(self, place: Place) -> None:
        """What holds at ``place`` is no possible reply any more: the debate has changed."""
        _, change = self._turns.pop(place.spot())
        self.met.discard(change.id)


def _weight(change: Held) -> tuple[bool, int]:
    """What is out is out; else what concerns one place alone is said there."""
    return change.out(), -len(change.spots)
