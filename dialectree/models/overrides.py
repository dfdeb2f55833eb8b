"""Look up people's changes to a contested run when its graph reaches their places.

An override applies at its place to every question. If an earlier part of the debate is contested
later, the question at the place changes, but the person's words still apply.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from dialectree.records import Override, Place, Stance, Turn
from dialectree.records.place import Spot


class Insertion(NamedTuple):
    """An argument that a person inserted below another one, or below a claim."""

    id: str
    stance: Stance
    text: str


class Overrides:
    """The overrides of a contested run, by place."""

    def __init__(self, overrides: Sequence[Override] = ()) -> None:
        self._by_place: dict[Spot, list[tuple[Turn, Override]]] = {}
        self._nodes: dict[str, Override] = {}
        self._segments = {o.id: o for o in overrides if not o.spots and o.what != "added"}
        self._sources = {o.id for o in overrides if not o.spots and o.what == "added"}
        self._dropped_arguments: set[str] = set()
        self._inserted: list[Override] = []
        self._verdicts: dict[tuple[str, int], Override] = {}
        self.met: set[str] = set()
        """Ids of the overrides that the debate reached."""
        for override in overrides:
            for spot in override.spots:
                if spot.phase:
                    self._by_place.setdefault(spot.spot(), []).append((spot, override))
                elif override.what == "added":
                    self._inserted.append(override)
                elif override.what == "ruled" and override.reply is not None:
                    self._verdicts[spot.node, spot.take] = override
                elif override.of_argument():
                    self._dropped_arguments.add(override.id)
                else:  # a dropped node, or a new ruling by the person who judges
                    self.met.add(override.id)
                    if override.what == "dropped":
                        self._nodes[spot.node] = override

    def at(self, place: Place) -> Override | None:
        """Return the override at ``place``, with its reply merged from all overrides there.

        The parts of a dropped node are dropped, too. An override does not apply to a speaker who
        now defends another position at ``place``.
        """
        if (
            self._nodes
            and place.phase != "expansion"
            and (drop_override := self.find_drop_override(place.node))
        ):
            return drop_override
        turn = Turn.at(place)
        fitting = [
            (spot, override)
            for spot, override in self._by_place.get(place.spot(), [])
            if spot.side == turn.side and spot.label in (None, turn.label)
        ]  # two long answers may begin alike, so compare the label as well as the side
        if not fitting:
            return None
        overrides = [override for _, override in fitting]
        self.met |= {override.id for override in overrides}
        overrides = [override for override in overrides if override.out()] or overrides
        reply = dict(fitting[0][0].fields)
        for override in overrides:
            if override.reply is None:
                return override
            reply |= override.reply
        return overrides[-1].model_copy(update={"reply": reply})

    def verdict(self, node: str, take: int) -> dict[str, JsonValue] | None:
        """Return the verdict that a person set at ``node``, which has no judge, in the pass ``take``."""
        override = self._verdicts.get((node, take))
        if override is None:
            return None
        self.met.add(override.id)
        return override.reply

    def find_removed_reply(self, place: Place) -> dict[str, JsonValue] | None:
        """Return the reply that a person dropped at ``place``, or None."""
        override = self.at(place)
        if override is None or override.reply is not None:
            return None
        owns = [spot.fields for spot in override.spots if spot.spot() == place.spot()]
        return next(iter(owns), None)

    def find_drop_override(self, node: str) -> Override | None:
        """Return the override that drops ``node`` or a part that it belongs to."""
        while node:
            if node in self._nodes:
                return self._nodes[node]
            node = node.rpartition(".")[0]
        return None

    def is_ruled(self, node: str, take: int) -> bool:
        """Return whether a person set the verdict of ``node`` in a pass, in place of its judges."""
        return any(
            override.what == "ruled" and override.id == node and spot.take == take and override.id in self.met
            for spots in self._by_place.values()
            for spot, override in spots
        )

    def disregard(self, place: Place) -> None:
        """Forget the overrides at ``place``: the debate changed, and their reply is now invalid."""
        self.met -= {override.id for _, override in self._by_place.pop(place.spot())}

    # Arguments

    def drops_argument(self, argument: str) -> bool:
        """Return whether a person dropped an argument; its calls are made nevertheless."""
        if argument in self._dropped_arguments:
            self.met.add(argument)
        return argument in self._dropped_arguments

    def list_insertions(self, parent: str, used_ids: Collection[str] = ()) -> list[Insertion]:
        """Return the arguments that a person inserted below ``parent``, in their order.

        Leave out arguments that were dropped again, and arguments whose id is in ``used_ids``.
        """
        insertions: list[Insertion] = []
        for override in self._inserted:
            (spot,) = override.spots
            is_dropped = override.id in self._dropped_arguments
            if is_dropped and spot.node == parent:
                self.met.add(override.id)
            elif spot.node == parent and override.id not in used_ids:
                self.met.add(override.id)
                stance: Stance = "support" if spot.side == "support" else "attack"
                insertions.append(Insertion(override.id, stance, override.after or ""))
        return insertions

    def inserts_below(self, node: str) -> bool:
        """Return whether a person inserted an argument somewhere below ``node``."""
        parents = [spot.node for override in self._inserted for spot in override.spots]
        return any(f"{parent}.".startswith(f"{node}.") for parent in parents)

    # Evidence

    def evidence(self) -> dict[str, str | None]:
        """Return the new text of each changed segment by its id; None if it was dropped.

        A dropped source, such as ``s2``, has None, too.
        """
        texts = {name: override.after for name, override in self._segments.items()}
        self.met |= self._sources | {name for name, text in texts.items() if text is None}
        return texts

    def match_segment(self, segment: str) -> bool:
        """Return whether a person changed the retrieved ``segment``; if so, the debate reached it."""
        if segment not in self._segments:
            return False
        self.met.add(segment)
        return True
