"""Play recorded debates: a run's own files that a protocol ships, so that it needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dialectree import clock
from dialectree.activity import Activity
from dialectree.context import EMBEDDED
from dialectree.errors import InputError
from dialectree.human_input import Ask
from dialectree.protocol import Protocol, installed, method
from dialectree.recorded_settings import settled
from dialectree.records import Event, RunRecord
from dialectree.runner import Started, Watch
from dialectree.runs import RunFolder


@dataclass
class Playback(Started):
    """A run that is there already, and whose events are told once more."""

    events: Sequence[Event] = ()
    seconds: float = 0.0
    """How long the whole of it takes."""

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Tell ``watch`` the events, with a pause before each turn; an interrupt skips the rest."""
        turns = sum(event.kind == "spoke" for event in self.events)
        pause, calls = self.seconds / max(turns, 1), iter(self.folder.calls())
        for event in self.events:
            if pause and event.kind == "spoke":
                try:
                    await clock.sleep(pause)
                except asyncio.CancelledError:
                    pause = 0.0
            if event.kind == "spoke" and self.follow is not None:
                call = next(calls)
                self.follow(Activity(call.spot(), call.role, "answered", call=call))
            if watch is not None:
                watch(event)
        return self.record


def recorded() -> dict[str, Protocol]:
    """Return the protocols that ship a recorded debate, by name."""
    return {name: one for name, one in installed().items() if one.demo}


def play(name: str, runs: Path, seconds: float) -> Playback:
    """Copy the recorded debate of a protocol into ``runs``, as a run of its own, to be played.

    Raises InputError with the names there are for a protocol without one.
    """
    known = recorded()
    if name not in known:
        raise InputError(f"{name}: there is no recorded debate of it; {', '.join(known)} have one")
    recording = RunFolder(known[name].recording())
    record, events, calls = recording.record(), recording.events(), recording.ledger()
    folder, now = RunFolder.create(runs), clock.stamp()
    record.run_id, record.started, record.ended = folder.run_id, now, now
    events = [one.model_copy(update={"t": now, "run_id": folder.run_id}) for one in events]
    calls = [one.model_copy(update={"started": now, "ended": now}) for one in calls]
    folder.write_whole(record, events, calls)
    context = settled(record, {"model": EMBEDDED, "roles": {}})  # nobody speaks, so any will do
    chosen = method(record.method, record.protocol)
    return Playback(folder, record, chosen, context, events=events, seconds=seconds)
