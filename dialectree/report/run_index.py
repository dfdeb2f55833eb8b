"""List the runs of a folder. An index file in the folder keeps a summary of each run.

An entry is valid while the run's files have the sizes and times at which they were read, so that a
changed run is read again. If the index is broken, of another version, or was replaced by another
process in between, the missing summaries are read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError
from pydantic_core import from_json

from dialectree.errors import RunFolderError
from dialectree.records.journal import append_whole, files, ledger, private, whole_lines
from dialectree.records.ledger import own_calls, usage
from dialectree.records.place import Strict
from dialectree.records.run import SCHEMA, UNFINISHED
from dialectree.records.summary import RecordedSummary, RunSummary, read_run_file
from dialectree.records.tree import Verdict

_NAME = ".heads"
"""Name of the index, its draft and its lock. The dot hides it when a folder is listed."""
_TELLING = re.compile(rb'"kind":\s?"(asked|answered|concluded)"')
"""Matches the event lines that complete the summary of an unfinished run."""
_LONG = 2_000
"""Characters of a question that a summary keeps."""


class _Entry(Strict):
    fingerprint: list[int]
    """Inodes, sizes and times of the files behind the summary."""
    summary: RunSummary | None = None
    fault: str = ""
    """Why there is no summary."""


class _Index(Strict):
    format: str
    entries: dict[str, _Entry] = {}


_FORMAT = ",".join([SCHEMA, *RunSummary.model_fields])
"""The format of the index, which changes with the fields of a summary. Other formats are rebuilt."""


def list_runs(runs: Path, tell: Callable[[str], None]) -> list[RunSummary]:
    """Return a summary of each run in the folder ``runs``, the newest first.

    ``tell`` gets one line on each run that cannot be read.
    """
    with files(runs):
        earlier = _load_entries(runs)
        entries = dict(_refresh_entries(runs, earlier))
    if entries != earlier:
        _save_entries(runs, entries)
    for entry in entries.values():
        if entry.summary is None:
            tell(entry.fault)
    summaries = [entry.summary for entry in entries.values() if entry.summary is not None]
    return sorted(summaries, key=lambda summary: (summary.started, summary.run_id), reverse=True)


def _refresh_entries(runs: Path, earlier: Mapping[str, _Entry]) -> Iterator[tuple[str, _Entry]]:
    """Yield the entry of each run, read again where its files have changed since ``earlier``."""
    with suppress(FileNotFoundError), os.scandir(runs) as folders:
        for name in sorted(item.name for item in folders if item.is_dir(follow_symlinks=False)):
            entry, folder = earlier.get(name), runs / name
            fingerprint = _fingerprint(folder, entry.summary if entry is not None else None)
            if entry is not None and entry.fingerprint == fingerprint:
                yield name, entry
            elif fingerprint:
                yield name, _make_entry(folder)


def _fingerprint(folder: Path, summary: RunSummary | None) -> list[int]:
    """Return a fingerprint of the files behind a summary; empty without files."""
    unfinished = summary is not None and summary.status in UNFINISHED
    fingerprint: list[int] = []
    for name in ("run.json", *("events.jsonl", "calls.jsonl") * unfinished):
        with suppress(FileNotFoundError):
            stat = os.stat(f"{folder}/{name}")
            fingerprint += [stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    return fingerprint


def _make_entry(folder: Path) -> _Entry:
    """Return the entry of a run. The fingerprint is taken before the files are read."""
    fingerprint = _fingerprint(folder, None)
    try:
        summary = read_run_file(folder / "run.json", RecordedSummary)
        if summary.status in UNFINISHED:
            fingerprint = _fingerprint(folder, summary)
            _add_events(folder, summary)
    except RunFolderError as error:
        return _Entry(fingerprint=fingerprint, fault=str(error))
    return _Entry(fingerprint=fingerprint, summary=_shorten(folder.name, summary))


def _add_events(folder: Path, summary: RunSummary) -> None:
    """Complete the summary of an unfinished run from its events and its calls."""
    waiting_nodes = set[str]()
    for line in whole_lines(folder / "events.jsonl")[0]:
        if not _TELLING.search(line):
            continue
        event = from_json(line)
        match event["kind"]:
            case "asked":
                waiting_nodes.add(event["node"])
            case "answered":
                waiting_nodes.discard(event["node"])
            case "concluded":
                summary.verdict = Verdict.model_validate(event["data"])
            case _:
                pass
    summary.waits = bool(waiting_nodes)
    spent = usage(own_calls(ledger(folder)))
    summary.calls, summary.cost = spent.calls, spent.cost


def _shorten(name: str, summary: RecordedSummary) -> RunSummary:
    """Return the summary of the run in the folder ``name`` without long texts."""
    verdict = summary.verdict and summary.verdict.model_copy(update={"rationale": None, "notes": []})
    update = {"run_id": name, "question": summary.question[:_LONG], "verdict": verdict}
    return RunSummary.model_validate({**summary.__dict__, **update})


def _load_entries(runs: Path) -> dict[str, _Entry]:
    """Return the entries of the index; empty if it is missing, broken or of another format."""
    path = runs / f"{_NAME}.json"
    try:
        stat = os.lstat(path)
        return _parse_index(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    except (OSError, ValidationError):
        return {}


@lru_cache(maxsize=2)
def _parse_index(path: Path, *fingerprint: int) -> dict[str, _Entry]:
    """Return the entries of the file with this ``fingerprint``; callers must not change them."""
    with open(path, "rb", opener=private) as file:
        index = _Index.model_validate_json(file.read())
    return index.entries if index.format == _FORMAT else {}


def _save_entries(runs: Path, entries: dict[str, _Entry]) -> None:
    """Replace the index. If that fails, or another process is replacing it, runs are read again later."""
    text = _Index(format=_FORMAT, entries=entries).model_dump_json()
    draft = runs / f"{_NAME}.draft"
    with suppress(OSError, Timeout), FileLock(runs / f"{_NAME}.lock", timeout=0, mode=0o600):
        with open(draft, "wb", buffering=0, opener=private) as file:
            append_whole(file, text.encode(), sync=False)
        os.replace(draft, runs / f"{_NAME}.json")
