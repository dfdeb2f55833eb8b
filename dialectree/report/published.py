"""Prepare runs for readers elsewhere: without clients, threads and folders of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from dialectree.records import Call, Event, RunRecord
from dialectree.records.folder import RunFolder

_LONGEST = 1_000
"""Longer texts are what somebody wrote, and name no files of this machine."""
_ASKED = ("question", "options")
"""Inputs in the user's own words."""


class PublishedRun(NamedTuple):
    """What readers elsewhere get of a run."""

    record: RunRecord
    calls: list[Call]
    events: list[Event]
    texts: dict[str, str]


class FolderNames:
    """Folders of this machine, which texts for readers elsewhere must not name."""

    def __init__(self, folders: Iterable[str | Path]) -> None:
        roots = {str(folder).rstrip("/\\") for folder in folders}
        self._roots = sorted((root for root in roots if root), key=len, reverse=True)
        names = "|".join(map(re.escape, self._roots))
        self._pattern = re.compile(rf"(?<![\w/.-])(?:{names})(?:[/\\]|(?![\w.-]))") if names else None

    def including(self, *values: object) -> FolderNames:
        """Return these folders, and those of the absolute paths that ``values`` name."""
        texts = [text for text in _strings(values) if len(text) <= _LONGEST]
        words = (word for text in texts for word in (text, *re.split(r"[\s'\"<>()]+", text)))
        return FolderNames([*self._roots, *filter(None, map(_find_folder, words))])

    def hide(self, text: str) -> str:
        """Return ``text`` with the names of files in place of their paths."""
        return text if self._pattern is None else self._pattern.sub("", text)

    def hide_in(self, value: Any) -> Any:
        """Return a value of JSON with :meth:`hide` applied to all of its texts."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide(name): self.hide_in(part) for name, part in value.items()}
        return [self.hide_in(part) for part in value] if isinstance(value, list) else value


def _find_folder(path: str) -> str:
    """Return the folder of an absolute path, such as ``local:/models/small.gguf``; else an empty text."""
    rest = path.partition(":")[2]
    path = rest if rest.startswith("/") else path
    if path.startswith("//"):  # the address of a server
        return ""
    for kind in (PurePosixPath, PureWindowsPath):
        if (absolute := kind(path)).is_absolute() and len(absolute.parts) > 2:
            return path[: len(path) - len(absolute.name)].rstrip("/\\")
    return ""


def _strings(value: object) -> Iterator[str]:
    """Yield every text in ``value``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def publish_run(folder: RunFolder, folders: FolderNames) -> PublishedRun:
    """Return a run without its client and its thread, and with no name of a folder of this machine."""
    record, calls = folder.record(), folder.calls()
    given = {name: value for name, value in record.input.items() if name not in _ASKED}
    faults = [*(call.error for call in calls), *(failure.fault for _, failure in record.list_failures())]
    names = folders.including(given, record.settings, record.models, record.notices, faults)
    dumped = record.model_copy(update={"owner": None, "thread": None}).model_dump(mode="json")
    return PublishedRun(
        RunRecord.model_validate(names.hide_in(dumped)),
        [Call.model_validate(names.hide_in(call.model_dump(mode="json"))) for call in calls],
        [Event.model_validate(names.hide_in(event.model_dump(mode="json"))) for event in folder.events()],
        {digest: names.hide(text) for digest, text in folder.texts().items()},
    )
