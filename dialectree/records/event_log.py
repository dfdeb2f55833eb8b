"""Number the events of a run as they come, and read their file while it grows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dialectree.records.journal import files, private, split_lines
from dialectree.records.run import Event
from dialectree.records.tree import Comparison

_OF_THE_RUN = ("began", "resumed", "calling", "called", "ended")
"""Kinds whose events are always new, even with the content of an earlier event."""


class EventLog:
    """The events of one run, numbered from 1 in the order in which they come."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._current: dict[tuple[str, ...], Event] = {}
        """The last event of each key."""
        self._earlier: dict[tuple[str, ...], list[Event]] = {}
        """For each key, the earlier events that a resumed run has not repeated yet, in order."""

    def tell(self, event: Event) -> bool:
        """Number an event and add it; skip an event with no new content.

        Returns whether it was added.
        """
        if event.kind in _OF_THE_RUN:
            self._add(event)
            if "void" in event.data:  # earlier events will be repeated
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
        if earlier:  # the run takes another way than before
            del self._earlier[name]
        return True

    def _add(self, event: Event) -> None:
        event.n = len(self._events) + 1
        self._keep(event)
        self._events.append(event)

    def take_up(self, events: Iterable[Event], *, from_start: bool) -> None:
        """Go on after ``events``; a run that goes ``from_start`` will repeat all of them."""
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
        """Store an event that has just got its number."""

    def list_logged_events(self) -> list[Event]:
        """Return the events of this run so far, including its earlier parts."""
        return list(self._events)


def lines_from(path: Path, offset: int) -> list[bytes]:
    """Return the complete lines of a file from a byte on; empty if it is missing."""
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
    """Return the key of an event: its node, its kind, its speaker, and its subject."""
    data = event.data
    about = [str(data.get(name, "")) for name in _IDENTIFYING]
    for part in (data.get("data"), data.get("scores")):
        for name, value in part.items() if isinstance(part, dict) else ():
            about += [name, *(value if isinstance(value, dict) else ())]
    return event.node, event.kind, *about
