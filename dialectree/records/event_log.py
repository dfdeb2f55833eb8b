"""Number the events of a run, and pass over those that say nothing new."""

from __future__ import annotations

from collections.abc import Iterable

from dialectree.records.run import Event
from dialectree.records.tree import Comparison


class EventLog:
    """The events of one run, numbered from 1 in the order in which they are told."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._newest: dict[tuple[str, ...], Event] = {}
        """By what they are about, the events that were told last."""
        self._earlier: dict[tuple[str, ...], list[Event]] = {}
        """By what they are about, the events that a resumed run has not told again, in order."""

    def tell(self, event: Event) -> bool:
        """Number an event and add it; one that says nothing new gets no number.

        Returns whether it was added.
        """
        name = _event_id(event)
        before, earlier = self._newest.get(name), self._earlier.get(name)
        if before is not None and before.same(event):
            return False
        if earlier and earlier[0].same(event):
            self._newest[name] = earlier.pop(0)
            return False
        event.n = len(self._events) + 1
        self._keep(event)
        self._newest[name] = event
        self._events.append(event)
        if earlier:  # the run goes another way than before
            del self._earlier[name]
        return True

    def take_up(self, events: Iterable[Event], *, from_start: bool) -> None:
        """Go on after ``events``, all of which a run tells again that walks ``from_start``."""
        self._events, self._newest, self._earlier = [*events], {}, {}
        for event in self._events:
            if from_start:
                self._earlier.setdefault(_event_id(event), []).append(event)
            else:
                self._newest[_event_id(event)] = event

    def _keep(self, event: Event) -> None:
        """Write down an event that has just got its number."""

    def told(self) -> list[Event]:
        """Return the events of this run so far, those of its earlier parts included."""
        return list(self._events)


_IDENTIFYING = (
    *("phase", "role", "speaker", "round", "take", "note"),
    *(name for name in Comparison.model_fields if name not in ("winner", "contested")),
    *("change", "of", "paper", "fault"),
)


def _event_id(event: Event) -> tuple[str, ...]:
    """Return the key of an event: its node, its kind, whose turn it was, and what it is about."""
    data = event.data
    about = [str(data.get(name, "")) for name in _IDENTIFYING]
    for part in (data.get("data"), data.get("scores")):
        for name, value in part.items() if isinstance(part, dict) else ():
            about += [name, *(value if isinstance(value, dict) else ())]
    return event.node, event.kind, *about
