"""Hold a run from the opening of its files until its record is complete.

Runs are driven by us, from beginning to end (:mod:`runner`), or by a host's graph, step by step
(:mod:`hosted`). Beginning, events and end are the same for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from dialectree.errors import DialectreeError
from dialectree.flow.human_input import Payload, interrupt_summary
from dialectree.models.limits import Budget
from dialectree.models.run import Run
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Event, EventKind, Override, RunRecord, RunStatus
from dialectree.records.folder import SOURCES, RunFolder, Unkept
from dialectree.records.journal import Journal
from dialectree.records.run import source_notices
from dialectree.running.plug_points import keep_sources, locate_sources
from dialectree.system import clock
from dialectree.system.loop import finish_in_thread
from dialectree.text import line

Watch = Callable[[Event], None]

GRACE_S = 5.0
"""Seconds that a cancelled run waits for its active calls."""
UNWIND_S = 1.0
"""Seconds that cancelled calls get to end."""


class HeldRun(Run):
    """A run with its record, its folder and its journal.

    Args:
        record: None if nothing is recorded, as when a model judges an evaluation.
        keeper: The log of the events; None until the files of an earlier part are found.
    """

    journal: Journal | None
    watch: Watch | None = None
    """Gets each event with new content."""

    def __init__(
        self,
        run_id: str,
        context: ProtocolSettings,
        record: RunRecord | None = None,
        keeper: RunFolder | Unkept | None = None,
        overrides: Sequence[Override] = (),
        budget: Budget | None = None,
        *,
        ended_before: bool = False,
    ) -> None:
        super().__init__(run_id, context, None, overrides, budget, ended_before=ended_before)
        self.context, self.record, self.keeper = context, record, keeper
        if record is not None:
            self.calibration, self.models = record.calibration, record.models
        self.hear = self._hear
        self.own_budget = budget is None
        """True if the run itself reports an exceeded budget; a shared budget is reported elsewhere."""
        self.untold: list[Event] = []
        """Events of the whole run that were kept but not yet shown."""
        self._files: AbstractContextManager[None] | None = None
        self._began = clock.seconds()

    # Events

    def tell(self, event: Event) -> None:
        """Keep an event of the whole run, and show it if its content is new."""
        if self.keeper is not None and self.keeper.tell(event):
            self.show(event)

    def show(self, event: Event) -> None:
        """Show an event of the whole run."""
        if self.watch is not None:
            self.watch(event)

    def show_untold(self) -> None:
        """Show the events that a thread kept, and did not show itself."""
        untold, self.untold = self.untold, []
        for event in untold:
            self.show(event)

    def _hear(self, data: Mapping[str, object]) -> int:
        event = Event.model_validate(data)
        if self.keeper is not None and self.keeper.tell(event) and self.watch is not None:
            self.watch(event)
        return event.n

    def tell_of_run(self, kind: EventKind, data: Mapping[str, JsonValue], node: str = "0") -> None:
        """Record an event of the whole run, at the root or at another ``node``."""
        assert self.record is not None
        self.tell(event_of(self.record, kind, data, node))

    def tell_who_is_asked(self, payload: Payload) -> None:
        """Record that a person is asked."""
        self.tell_of_run("asked", interrupt_summary(payload), payload["node"])

    def tell_beginning(self, expected: tuple[int, int] | None = None) -> None:
        """Record the beginning: input and settings; ``expected`` are the estimated calls."""
        assert self.record is not None
        fields = {"protocol", "method", "input", "models", "settings"}
        head = self.record.model_dump(mode="json", include=fields)
        self.tell_of_run("began", head if expected is None else {**head, "estimate": [*expected]})

    # The files. Synchronous methods wait for files, so they run in a thread.

    def lock(self, folder: RunFolder, within_s: float = 0) -> None:
        """Lock the folder of the run; wait at most ``within_s`` seconds.

        Raises:
            RunFolderError: Another process is working on the run.
        """
        files = folder.lock(within_s)
        files.__enter__()
        self._files = files

    def open(self, folder: RunFolder, within_s: float = 0) -> None:
        """Lock the folder of the run, and read its journal; :meth:`close_files` releases it."""
        self.lock(folder, within_s)
        self.read_journal(folder)

    def read_journal(self, folder: RunFolder) -> None:
        """Use the journal in ``folder`` to answer calls, and to keep new ones."""
        self.use(folder.journal())
        self.sources_at = folder.path / SOURCES

    def take_up(self, folder: RunFolder, record: RunRecord) -> None:
        """Go on with an interrupted run, and keep the events that say so."""
        for event in [*folder.resumption(record)]:
            folder.tell(event)
            self.untold.append(event)
        record.status, record.ended, record.notices = "running", None, []
        folder.write_record(record)  # in case the process is killed

    async def leave(
        self, failure: BaseException | None = None, *, finished: bool = False
    ) -> BaseException | None:
        """Wait for active calls and close the files; return the error that ended the run.

        The record of a ``finished`` or failed run is completed. A cancelled run cancels its calls
        after :data:`GRACE_S` seconds, or when it is cancelled again, and its record is completed,
        too.
        """
        cancelled = isinstance(failure, asyncio.CancelledError)
        while True:
            try:
                await self.land(within=GRACE_S if cancelled else None)
                if self.journal is not None:
                    await self.journal.settle()
                break
            except asyncio.CancelledError as again:
                failure = again
                if cancelled:
                    break
                cancelled = True
        if cancelled:
            self.abandon()
            with suppress(asyncio.CancelledError):
                await self.land(within=UNWIND_S)
        if finished and failure is None:
            failure = self.unkept
        try:
            failure = await finish_in_thread(self._close, failure, finished)
        except asyncio.CancelledError as again:
            failure = failure or again
        self.show_untold()
        return failure

    def _close(self, failure: BaseException | None, finished: bool) -> BaseException | None:
        journal, record, keeper = self.journal, self.record, self.keeper
        try:
            try:
                if journal is not None:
                    self.journal = self.log = None
                    journal.close()
            except Exception as error:  # some lines are not on the disk
                failure = error
            if record is not None and keeper is not None:
                usage = record.usage
                usage.embedding_s = round(usage.embedding_s + self.embedding_s, 6)
                usage.wall_s = round(usage.wall_s + clock.seconds() - self._began, 6)
                if over := finished or failure is not None:
                    complete(record, keeper, failure, self.find_notices(finished=finished))
                if over and failure is None:
                    self.compare()
                try:
                    if isinstance(keeper, RunFolder):
                        keeper.write_record(record)
                finally:
                    if over:
                        self.tell_end(record, keeper)
        except Exception as error:
            failure = error
        finally:
            self.close_files()
        return failure

    def find_notices(self, *, finished: bool) -> list[str]:
        """Return the notices for the record, with lines on an exceeded budget."""
        return [*self.notices, *(self.budget.overrun() if finished and self.own_budget else [])]

    def compare(self) -> None:
        """Add the effect of a contest to its record."""

    def tell_end(self, record: RunRecord, keeper: RunFolder | Unkept) -> None:
        """Keep the event of the run's end."""
        ended = record.model_dump(mode="json", include={"status", "usage", "notices"})
        self.untold.append(event_of(record, "ended", ended))
        keeper.tell(self.untold[-1])

    def close_files(self) -> None:
        """Close the files and unlock the folder."""
        journal, files = self.journal, self._files
        self.journal = self._files = None
        try:
            if journal is not None:
                journal.close()
        finally:
            if files is not None:
                files.__exit__(None, None, None)


def create_folder(
    record: RunRecord, runs: Path, *client_folders: Path, folder: RunFolder | None = None
) -> RunFolder:
    """Create the folder of a new run in ``runs``, or use ``folder``; add the texts of its sources.

    ``client_folders`` contain the texts that a client gave.
    """
    texts = locate_sources(record.sources, *client_folders) if record.sources else ()
    folder = folder or RunFolder.create(runs, record.run_id or None)
    record.run_id = folder.run_id
    record.set_folder(folder.path)
    if texts:
        keep_sources(texts, folder)
    folder.write_record(record, sync=False)  # it is synced before the first call
    return folder


def event_of(record: RunRecord, kind: EventKind, data: Mapping[str, JsonValue], node: str = "0") -> Event:
    """Return an event of the run of ``record``, by default at the root."""
    return Event(t=clock.stamp(), run_id=record.run_id, node=node, kind=kind, data={**data})


def missing_in_input(record: RunRecord) -> list[str]:
    """Return a line on each missing part of the papers and sources of a run."""
    papers: Any = record.input.get("papers") or []
    return source_notices([*papers, *record.sources])


def complete(
    record: RunRecord, kept_in: RunFolder | Unkept, ended: BaseException | None, notices: Iterable[str] = ()
) -> None:
    """Fold the events into the record, and write how the run ended."""
    took = record.usage.model_dump(include={"wall_s", "embedding_s"})
    kept_in.tell_of(record, kept_in.list_logged_events())
    record.usage = record.usage.model_copy(update=took)
    record.ended = clock.stamp()
    record.status = _status(record, ended)
    reason = [] if ended is None else [_notice(ended)]
    record.notices = [*missing_in_input(record), *reason, *notices]


def _notice(ended: BaseException) -> str:
    if isinstance(ended, asyncio.CancelledError):  # a host may give it an object
        return next((why for why in ended.args if isinstance(why, str) and why), "interrupted")
    return str(ended) if isinstance(ended, DialectreeError) else line(repr(ended), 300)


def _status(record: RunRecord, ended: BaseException | None) -> RunStatus:
    if ended is not None:
        return "partial"
    if record.verdict is None or record.verdict.answer is None:
        return "unresolved"
    missing = any(
        node.status == "missing" and node.kind != "argument" and not node.dropped
        for node in record.tree.nodes.values()
    )
    return "degraded" if missing or record.list_failures() else "answered"
