"""Number the events of a run as they are told, and read them as they are written."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dialectree.records.journal import files, private, split_lines
from dialectree.records.run import Event
from dialectree.records.tree import Comparison

_OF_THE_RUN = ("began", "resumed", "calling", "called", "ended")
"""Kinds of which each event is new, whatever was told before."""


class EventLog:
    """The events of one run, numbered from 1 in the order in which they are told."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._current: dict[tuple[str, ...], Event] = {}
        """By what they are about, the events that were told last."""
        self._earlier: dict[tuple[str, ...], list[Event]] = {}
        """By what they are about, the events that a resumed run has not told again, in order."""

    def tell(self, event: Event) -> bool:
        """Number an event and add it; one that says nothing new gets no number.

        Returns whether it was added.
        """
        if event.kind in _OF_THE_RUN:
            self._add(event)
            if "void" in event.data:  # what was told before is told anew
                self._current, self._earlier = {}, {}
            return True
        name = _event_id(event)
        before, earlier = self._current.get(name), self._earlier.get(name)
        if before is not None and before.has_same_content(event):
            return False
        if earlier and earlier[0].has_same_content(event):
            self._current[name] = earlier.pop(0)
            return False
        self._add(event)
        self._current[name] = event
        if earlier:  # the run goes another way than before
            del self._earlier[name]
        return True

    def _add(self, event: Event) -> None:
        event.n = len(self._events) + 1
        self._keep(event)
        self._events.append(event)

    def take_up(self, events: Iterable[Event], *, from_start: bool) -> None:
        """Go on after ``events``, all of which a run tells again that walks ``from_start``."""
        self._events, self._current, self._earlier = [*events], {}, {}
        for event in self._events:
            if event.kind in _OF_THE_RUN:
                if "void" in event.data:
                    self._current, self._earlier = {}, {}
            elif from_start:
                self._earlier.setdefault(_event_id(event), []).append(event)
            else:
                self._current[_event_id(event)] = event

    def _keep(self, event: Event) -> None:
        """Write down an event that has just got its number."""

    def list_logged_events(self) -> list[Event]:
        """Return the events of this run so far, those of its earlier parts included."""
        return list(self._events)


def lines_from(path: Path, offset: int) -> list[bytes]:
    """Return the lines of a file, which need not be there, from a byte on; no torn line."""
    with files(path), suppress(FileNotFoundError), open(path, "rb", opener=private) as file:
        file.seek(offset)
        return split_lines(file.read())[0]
    return []


_IDENTIFYING = (
    *("phase", "role", "speaker", "round", "take", "note"),
    *(name for name in Comparison.model_fields if name not in ("winner", "reason", "contested")),
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
