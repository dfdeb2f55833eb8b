"""Play recorded debates. A protocol ships the files of a finished run, so playing them needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dialectree.errors import InputError
from dialectree.flow.human_input import Ask
from dialectree.protocols.protocol import Protocol, load_protocols, method
from dialectree.records import Event, RunRecord, path_key, turns
from dialectree.records.folder import RunFolder
from dialectree.running.held_run import Watch
from dialectree.running.recorded_settings import make_placeholder_models, read_run_settings
from dialectree.running.runner import RunHandle
from dialectree.system import clock
from dialectree.text import suggest_nearest

_SECONDS_A_WORD = 0.1
_LONGEST_S = 55.0
"""Most seconds of the playback of a debate, without start and reports."""


@dataclass
class Playback(RunHandle):
    """A finished run whose events are played again."""

    events: Sequence[Event] = ()
    paced: bool = False
    """Whether to pause after each turn, by the number of its words."""

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Pass the events to ``watch``, with pauses; an interrupt skips the remaining pauses."""
        words = [count_words(self.record, event) for event in self.events]
        a_word = min(_SECONDS_A_WORD, _LONGEST_S / max(sum(words), 1)) if self.paced else 0.0
        for event, read in zip(self.events, words, strict=True):
            if watch is not None:
                watch(event)
            if read and a_word:
                try:
                    await clock.sleep(read * a_word)
                except asyncio.CancelledError:
                    a_word = 0.0
        return self.record


def count_words(record: RunRecord, event: Event) -> int:
    """Return the number of words of ``event`` that a person reads."""
    return len(turns.text(record, event.turn()).split()) if event.kind == "spoke" else 0


def _as_read(events: Sequence[Event]) -> list[Event]:
    """Return ``events`` in reading order: a node's first turns, its children, its last turns.

    In the debate itself the children speak at the same time.
    """
    first_below: dict[str, int] = {}
    for place, event in enumerate(events):
        above = event.node
        while event.kind == "spoke" and (above := above.rpartition(".")[0]):
            first_below.setdefault(above, place)

    def key(place: int) -> list[tuple[int, int]]:
        node = events[place].node
        after = place > first_below.get(node, place)
        return [*((1, number) for number in path_key(node)), (2 if after else 0, place)]

    return [events[place] for place in sorted(range(len(events)), key=key)]


class Recording(NamedTuple):
    """A recorded debate that a protocol ships."""

    protocol: Protocol
    folder: Path

    @property
    def about(self) -> str:
        """Return the real model, the date, the topic and the point of the recording; "" if handwritten."""
        about = self.folder / "about.txt"
        return about.read_text(encoding="utf-8").strip() if about.is_file() else ""


def find_recordings(protocol: Protocol) -> dict[str, Path]:
    """Return the folder of each recorded debate of a protocol, by the name that ``demo`` takes.

    The first recording has the protocol's own name. The others are debates of real models, in folders
    next to the first: ``dialectree demo tsd_copied`` plays the folder ``demo_copied``.
    """
    if not protocol.demo or protocol.file(f"{protocol.demo}/run.json") is None:
        return {}
    paths = sorted(protocol.folder().glob(f"{protocol.demo}_*/run.json"))
    recordings = {f"{protocol.name}_{path.parent.name.partition('_')[2]}": path.parent for path in paths}
    return {protocol.name: protocol.recording(), **recordings}


def list_recordings() -> dict[str, Recording]:
    """Return the recorded debates that protocols ship, each by the name that ``demo`` takes."""
    return {
        name: Recording(protocol, folder)
        for protocol in load_protocols().values()
        for name, folder in find_recordings(protocol).items()
    }


def find_recording(name: str) -> str:
    """Return the name of the recording that ``name`` means: a recording, or the command of a protocol.

    Raises InputError, with the known names, for a protocol without a recording.
    """
    recordings = list_recordings()
    names_by_command = {protocol.command: protocol.name for protocol in load_protocols().values()}
    found = name if name in recordings else names_by_command.get(name, "")
    if found not in recordings:
        commands = [command for command, found in names_by_command.items() if found in recordings]
        suggestion = suggest_nearest(name, [*recordings, *filter(None, commands)]) or ";"
        raise InputError(f"{name}: no such recorded debate{suggestion} choose from {', '.join(recordings)}")
    return found


def play(name: str, runs: Path, *, paced: bool) -> Playback:
    """Copy the recorded debate ``name`` into ``runs``, as a new run to play.

    Raises the errors of :func:`find_recording`.
    """
    recording = RunFolder(list_recordings()[find_recording(name)].folder)
    record, calls = recording.record(), recording.ledger()
    # Skip the starting of models, which happened only at the recording.
    events = [event for event in recording.events() if event.data.get("why") != "starting"]
    folder, now = RunFolder.create(runs), clock.stamp()
    record.run_id, record.started, record.ended = folder.run_id, now, now
    events = [event.model_copy(update={"t": now, "run_id": folder.run_id}) for event in events]
    calls = [call.model_copy(update={"started": now, "ended": now}) for call in calls]
    folder.copy_texts(recording)
    folder.write_whole(record, events, calls)
    chosen = method(record.method, record.protocol)
    context = read_run_settings(record, make_placeholder_models(chosen.protocol.settings, record.settings))
    return Playback(folder, record, chosen, context, events=_as_read(events), paced=paced)
