"""Read and write the files of a run, in one folder for each run.

Files are written whole or not at all. ``calls.jsonl`` is both ledger and journal: a line is in the
file before the node sees the reply, and ``resume`` reads it, so a call is never paid twice.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

from filelock import FileLock, Timeout
from pydantic import JsonValue

from dialectree.errors import RunFolderError, RunNotFound
from dialectree.records import (
    UNORDERED,
    VOID,
    Call,
    Event,
    Folded,
    PhaseOrder,
    RunRecord,
    fold_run,
    models,
    own_calls,
    prompts,
)
from dialectree.records.event_log import EventLog
from dialectree.records.journal import (
    PROMPTS,
    RETRIEVALS,
    Journal,
    PromptText,
    append_whole,
    files,
    ledger,
    parse_lines,
    private,
    whole_lines,
)
from dialectree.records.summary import RecordedSummary, read_run_file
from dialectree.system import chance, clock
from dialectree.system.streams import program

SOURCES = "sources"
"""The folder for the texts of a run's sources, inside the run's folder."""
_DRAFT = ".draft"
_CANDIDATES = 5
"""Most runs that a message names if the beginning of an id fits several."""


class RunFolder(EventLog):
    """One run's folder: ``run.json``, events, calls with what they sent, and the reports."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._events_path = path / "events.jsonl"
        self._told: io.FileIO | None = None
        """The file of the events, open while the folder is locked."""
        self._lock = FileLock(path / ".lock", mode=0o600, thread_local=False)

    @property
    def run_id(self) -> str:
        """Return the folder's name."""
        return self.path.name

    @classmethod
    def create(cls, runs: Path, run_id: str | None = None) -> RunFolder:
        """Make the folder of a new run; its id is never used again."""
        with files(runs):
            runs.mkdir(0o700, parents=True, exist_ok=True)
        while True:
            path = runs / (run_id or new_id())
            with files(path):
                try:
                    path.mkdir(0o700)
                except FileExistsError:
                    if run_id is None:
                        continue
                    raise
            return cls(path)

    @classmethod
    def find(cls, run: str, runs: Path, owner: str | None = None) -> RunFolder:
        """Return the folder of a run; raise RunNotFound if ``owner`` may see no such run.

        Args:
            run: The run's id, or the beginning of the id.
            runs: The folder of all runs.
            owner: A client of a server, who sees only its own runs; "": a client who sees all runs.
                None: the person of this machine, who may also give the path of a folder.
        """
        is_id, path = re.fullmatch(r"\w[\w.-]*", run) is not None, Path(run)
        paths = [runs / run] if is_id else []
        if owner is None:
            paths.append(path.parent if path.name == "run.json" else path)
        for candidate in map(cls, paths):
            if candidate.exists() and candidate.is_seen(owner):
                return candidate
        folders = cls.all(runs) if is_id else []
        matches = [
            candidate
            for candidate in folders
            if candidate.run_id.startswith(run) and candidate.is_seen(owner)
        ]
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(folder.run_id for folder in matches[:_CANDIDATES])
            more = f" and {len(matches) - _CANDIDATES} more" * (len(matches) > _CANDIDATES)
            raise RunFolderError(f"{run!r} may be {names}{more}: write more of the id")
        if owner is not None:
            raise RunNotFound(f"there is no run {run!r:.200} of yours here")
        if os.path.isdir(path) and cls.all(path):
            lists = f"{program()} show {path} lists them"
            raise RunNotFound(f"there is no run {run!r}: {path} is a folder of runs; name one; {lists}")
        where = " or ".join(map(str, reversed(paths)))
        raise RunNotFound(f"there is no run {run!r}: no run.json in {where}; {program()} show lists them")

    def is_seen(self, owner: str | None) -> bool:
        """Return whether ``owner`` may see the run; clients see no unreadable run."""
        if owner is None:
            return True
        try:
            return read_run_file(self.path / "run.json", RecordedSummary).is_visible_to(owner)
        except RunFolderError:
            return False

    def lies_under(self, runs: Path) -> bool:
        """Return whether it is the folder of a run in ``runs``."""
        return self.path.resolve().parent == runs.resolve()

    @classmethod
    def all(cls, runs: Path) -> list[RunFolder]:
        """Return the folder of every run under ``runs``, the newest first."""
        with files(runs):
            folders = [cls(path.parent) for path in runs.glob("*/run.json")]
        return sorted(filter(cls.exists, folders), key=lambda folder: folder.path, reverse=True)

    def remove(self) -> None:
        """Delete the folder and its content, and the folder of runs if that is then empty."""
        with files(self.path):
            shutil.rmtree(self.path)
            with suppress(OSError):
                self.path.parent.rmdir()

    def exists(self) -> bool:
        """Return whether the folder contains a run; symbolic links do not count."""
        return os.path.isfile(self.path / "run.json") and not self.path.is_symlink()

    @contextmanager
    def lock(self, within_s: float = 0) -> Iterator[None]:
        """Lock the run; wait at most ``within_s`` seconds for the lock."""
        with files(self.path):
            try:
                self._lock.acquire(timeout=within_s)
            except Timeout:
                raise RunFolderError(f"another process is working on {self.path}") from None
        for draft in self.path.glob(f".*{_DRAFT}"):
            draft.unlink(missing_ok=True)  # left by a process that was killed while it wrote
        try:
            with files(self._events_path):
                self._told = open(self._events_path, "ab", buffering=0, opener=private)  # noqa: SIM115
            yield
        finally:
            if self._told is not None:
                self._told.close()
            self._told = None
            self._lock.release()

    def resumption(self, record: RunRecord) -> Iterator[Event]:
        """Yield the events to add before a run goes on.

        A killed process may have paid for calls but not logged their events. The events also name
        calls that became void: all that depends on these calls is repeated.
        """
        calls = [call for call in self.ledger() if call.own]
        untold = self._untold(self._events, calls)
        yield from untold
        numbers = [event.n for event in self._events if event.kind == "called"]
        numbers += range(len(self._events) + 1, len(self._events) + 1 + len(untold))
        resumed = (event for event in self._events if event.kind == "resumed")
        earlier_void = {n for event in resumed for n in _numbers(event.data.get("void"))}
        void = [n for n, call in zip(numbers, calls, strict=False) if call.void and n not in earlier_void]
        usage = record.usage.model_dump(include={"wall_s", "embedding_s"})
        data: dict[str, JsonValue] = {"models": {**record.models}, "usage": usage}
        if void:
            data["void"] = [*void]
        yield Event(t=clock.stamp(), run_id=self.run_id, node="0", kind="resumed", data=data)

    def _untold(self, events: Iterable[Event], calls: list[Call]) -> list[Event]:
        """Return events for the ``calls`` that a killed process paid for but did not log."""
        t, logged_count = clock.stamp(), sum(event.kind == "called" for event in events)
        return [
            Event(t=t, run_id=self.run_id, node=call.node, kind="called", data=call.make_event_data())
            for call in calls[logged_count:]
        ]

    def journal(self) -> Journal:
        """Open the journal of the run's calls: it answers repeated calls, and keeps new ones."""
        return Journal(self.path / "calls.jsonl")

    def ledger(self) -> list[Call]:
        """Return every line of calls.jsonl, including the lines of contested runs."""
        return ledger(self.path)

    def texts(self) -> dict[str, str]:
        """Return the texts that the calls sent, by hash; empty if the run did not keep its prompts."""
        path = self.path / PROMPTS
        with files(path):
            return {text.hash: text.text for text in parse_lines(path, whole_lines(path)[0], PromptText)}

    def copy_texts(self, other_folder: RunFolder) -> None:
        """Copy from another run the texts that its calls sent, and its retrievals."""
        retrieved = other_folder.path / RETRIEVALS
        with files(retrieved):
            retrieval_lines, _ = whole_lines(retrieved)
        if retrieval_lines:
            self.write(RETRIEVALS, b"".join(retrieval_lines).decode())
        if texts := other_folder.texts():
            lines = (PromptText(hash=name, text=text) for name, text in texts.items())
            self.write(PROMPTS, "".join(line.model_dump_json() + "\n" for line in lines))

    def calls(self) -> list[Call]:
        """Return the finished calls of this run only, in the order in which they ended."""
        return own_calls(self.ledger())

    def void(self, failed: Iterable[Call]) -> None:
        """Mark the calls ``failed`` as void, so that they are made again.

        Their lines stay, under a key that is never looked up, because an invalid reply was paid for.
        """
        names = {(call.key, call.spot()) for call in failed}
        ledger = self.ledger()
        for call in ledger:
            if (call.key, call.spot()) in names:
                call.key = f"{VOID}{call.key}"
        self.write("calls.jsonl", "".join(call.model_dump_json() + "\n" for call in ledger))

    def events(self) -> list[Event]:
        """Return every event, the oldest first."""
        path = self._events_path
        with files(path):
            return list(parse_lines(path, whole_lines(path)[0], Event))

    def resume_events(self, *, from_start: bool = False) -> None:
        """Read the events of an interrupted run and go on after them; drop an incomplete last line.

        A run that goes ``from_start`` will repeat them all.
        """
        path = self._events_path
        with files(path):
            event_lines, torn = whole_lines(path)
            if torn:
                os.truncate(path, sum(map(len, event_lines)))
        events = list(parse_lines(path, event_lines, Event))
        self._fold_events(events)
        self.take_up(events, from_start=from_start)

    def _keep(self, event: Event) -> None:
        line = event.model_dump_json().encode() + b"\n"
        with files(self._events_path):
            if self._told is not None:
                append_whole(self._told, line, sync=False)
            else:
                with open(self._events_path, "ab", buffering=0, opener=private) as file:
                    append_whole(file, line, sync=False)

    def record(self) -> RunRecord:
        """Return run.json; complete an unfinished one from its events and its calls."""
        record = self.read_stored_record()
        if record.status in ("running", "partial"):
            events = self.events()
            calls = [call for call in self.ledger() if call.own]
            self.tell_of(record, [*events, *self._untold(events, calls)])
        record.set_folder(self.path)
        return record

    def read_stored_record(self) -> RunRecord:
        """Return run.json as it is, even if unfinished."""
        return self._read("run.json")

    def tell_of(self, record: RunRecord, events: list[Event]) -> None:
        """Fold ``events`` into ``record``, and add the prompts that the calls used."""
        _tell_of(record, self._fold_events(events, record.order()), self.ledger())

    def _fold_events(self, events: list[Event], order: PhaseOrder = UNORDERED) -> Folded:
        """Return the folded ``events``; raise RunFolderError if they are broken."""
        try:
            return fold_run(events, order)
        except (KeyError, ValueError, TypeError) as error:
            raise RunFolderError(
                f"{self._events_path} cannot be read: an event is damaged: "
                f"{type(error).__name__}: {str(error).splitlines()[0]}"
            ) from None

    def _read(self, name: str) -> RunRecord:
        record = read_run_file(self.path / name, RunRecord)
        if not isinstance(record.input.get("question"), str):
            path = self.path / name
            raise RunFolderError(f"{path} is not a run's record: its input has no question")
        return record

    def read_contested_record(self) -> RunRecord:
        """Return contested.json: the record of the run that this one contests."""
        return self._read("contested.json")

    def write_record(self, record: RunRecord, name: str = "run.json", *, sync: bool = True) -> None:
        """Replace run.json."""
        self.write(name, record.model_dump_json(indent=1) + "\n", sync=sync)

    def sync(self) -> None:
        """Wait until run.json is on the disk."""
        path = self.path / "run.json"
        with files(path), open(path, "r+b", buffering=0) as file:
            os.fsync(file.fileno())

    def write_whole(self, record: RunRecord, events: list[Event], calls: list[Call]) -> None:
        """Write a finished run; the record last, because it makes the folder a run."""
        for name, lines in (("events.jsonl", events), ("calls.jsonl", calls)):
            self.write(name, "".join(line.model_dump_json() + "\n" for line in lines))
        self.write_record(record)

    def write(self, name: str, text: str, *, sync: bool = True) -> None:
        """Replace one file of the folder in one step; ``sync`` waits for the disk."""
        path = self.path / name
        draft = path.with_name(f".{name}.{os.getpid()}.{get_ident()}{_DRAFT}")
        with files(path):
            try:
                with open(draft, "wb", buffering=0, opener=private) as file:
                    append_whole(file, text.encode(), sync=sync)
                os.replace(draft, path)
            except OSError:
                draft.unlink(missing_ok=True)
                raise


class Unkept(EventLog):
    """The events and the calls of a run without a folder, in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def append(self, call: Call, texts: Mapping[str, str]) -> None:
        """Keep a call, without the texts that it sent."""
        self.calls.append(call)

    def tell_of(self, record: RunRecord, events: list[Event]) -> None:
        """Fold ``events`` into ``record``, and add the prompts that the calls used."""
        _tell_of(record, fold_run(events, record.order()), self.calls)


def new_id() -> str:
    """Return an id for a run, made from its start time."""
    return f"{clock.read_utc_time():%Y%m%d-%H%M%S}-{chance.token()}"


def _tell_of(record: RunRecord, folded: Folded, ledger: list[Call]) -> None:
    record.tree, record.verdict, record.usage, *_ = folded
    record.models = models(ledger, record.models) or record.models
    record.prompts = dict(sorted({**record.prompts, **prompts(ledger)}.items()))
    record.small_form = sorted({call.model for call in ledger if call.prompt_form == "small"})
    record.medium_form = sorted({call.model for call in ledger if call.prompt_form == "medium"})


def _numbers(value: object) -> list[int]:
    return [*value] if isinstance(value, list) else []
