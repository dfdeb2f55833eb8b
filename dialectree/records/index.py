"""List the runs of a folder by their heads, which one file in that folder keeps.

An entry counts while the run's files have the sizes and times with which they were read, so that a
run changed by anybody is read anew. Where the file is broken, of another version, or was written by
another process in between, the missing heads are read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import from_json

from dialectree.errors import RunFolderError, fault_line
from dialectree.records.journal import append_whole, files, ledger, private, whole_lines
from dialectree.records.ledger import own_calls, usage
from dialectree.records.place import Strict
from dialectree.records.run import SCHEMA, UNFINISHED, Evaluated, RunStatus, is_illustration
from dialectree.records.tree import Verdict

Shape = TypeVar("Shape", bound=BaseModel)
_NAME = ".heads"
"""Of the file, its draft and its lock. A dot keeps it out of the list of a folder."""
_TELLING = re.compile(rb'"kind":\s?"(asked|answered|concluded)"')
"""In the lines of events that a head of an unfinished run is made of."""
_LONG = 2_000
"""Characters of a question that a head has."""
_OTHER_SCHEMA = (
    f"is of another version of dialectree than {SCHEMA}: its report.html and report.md stay "
    "readable; ask the question again"
)


def _from(part: str, name: str, own: str = "") -> Any:
    """Return the aliases of a head's field: its name, and where a record has it."""
    return AliasChoices(own or name, AliasPath(part, name))


def _as_text(value: object) -> str:
    """Return a question as text: a damaged record may have anything in its place."""
    return value if isinstance(value, str) else "" if value is None else str(value)


class Head(BaseModel):
    """What a list shows of a run."""

    model_config = ConfigDict(extra="ignore", ser_json_inf_nan="strings")

    run_id: str
    """The name of the run's folder."""
    protocol: str
    method: str
    owner: str | None = None
    thread: str | None = None
    evaluated: Evaluated | None = None
    status: RunStatus
    demonstration: bool = False
    question: Annotated[str, BeforeValidator(_as_text)] = Field(
        validation_alias=_from("input", "question")
    )
    """At most its first 2,000 characters."""
    models: dict[str, str] = {}
    contests: str | None = Field(default=None, validation_alias=_from("contest", "run", "contests"))
    """The id of the run that this one contests."""
    waits: bool = False
    """Whether the run has asked a person and waits for the answer."""
    verdict: Verdict | None = None
    """Without rationale and notes."""
    calls: int = Field(default=0, validation_alias=_from("usage", "calls"))
    cost: float | None = Field(default=None, validation_alias=_from("usage", "cost"))
    wall_s: float = Field(default=0.0, validation_alias=_from("usage", "wall_s"))
    started: str
    ended: str | None = None

    @property
    def illustration(self) -> bool:
        """Return whether replies in it were written by hand."""
        return is_illustration(self.models)

    def sees(self, owner: str | None) -> bool:
        """Return whether ``owner`` may see the run; None and "" see all."""
        return not owner or self.owner == owner


class Recorded(Head):
    """A head as run.json has it."""

    schema_: str = Field(alias="schema", pattern=f"^{re.escape(SCHEMA)}$")


class _Entry(Strict):
    seen: list[int]
    """Inodes, sizes and times of the files that it was made of."""
    head: Head | None = None
    fault: str = ""
    """Why there is no head."""


class _Index(Strict):
    format: str
    entries: dict[str, _Entry] = {}


_FORMAT = ",".join([SCHEMA, *Head.model_fields])
"""Changes with what a head is; an index of another format is made anew."""


def read(path: Path, kind: type[Shape]) -> Shape:
    """Return run.json, or what ``kind`` has of it; raise RunFolderError where that cannot be."""
    with files(path):
        text = path.read_bytes().decode(errors="replace")
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        if error.errors()[0]["loc"] == ("schema",):
            raise RunFolderError(f"{path} {_OTHER_SCHEMA}") from None
        raise RunFolderError(f"{path} is not a run's record: {fault_line(error)}") from None


def heads(runs: Path, tell: Callable[[str], None]) -> list[Head]:
    """Return the heads of the runs in the folder ``runs``, the newest first.

    ``tell`` gets one line on each run that cannot be read.
    """
    with files(runs):
        known = _kept(runs)
        entries = dict(_entries(runs, known))
    if entries != known:
        _keep(runs, entries)
    for entry in entries.values():
        if entry.head is None:
            tell(entry.fault)
    found = [entry.head for entry in entries.values() if entry.head is not None]
    return sorted(found, key=lambda head: (head.started, head.run_id), reverse=True)


def _entries(runs: Path, known: Mapping[str, _Entry]) -> Iterator[tuple[str, _Entry]]:
    """Yield the entry of each run, read again where its files are not those that it knows."""
    with suppress(FileNotFoundError), os.scandir(runs) as found:
        for name in sorted(one.name for one in found if one.is_dir(follow_symlinks=False)):
            entry, folder = known.get(name), runs / name
            seen = _seen(folder, entry.head if entry is not None else None)
            if entry is not None and entry.seen == seen:
                yield name, entry
            elif seen:
                yield name, _read(folder)


def _seen(folder: Path, head: Head | None) -> list[int]:
    """Return what tells apart the files of which the head is made; empty without any."""
    unfinished = head is not None and head.status in UNFINISHED
    seen: list[int] = []
    for name in ("run.json", *("events.jsonl", "calls.jsonl") * unfinished):
        with suppress(FileNotFoundError):
            found = os.stat(f"{folder}/{name}")
            seen += [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
    return seen


def _read(folder: Path) -> _Entry:
    """Return the entry of a run; what was seen of its files is noted before they are read."""
    seen = _seen(folder, None)
    try:
        head = read(folder / "run.json", Recorded)
        if head.status in UNFINISHED:
            seen = _seen(folder, head)
            _follow(folder, head)
    except RunFolderError as error:
        return _Entry(seen=seen, fault=str(error))
    return _Entry(seen=seen, head=_short(folder.name, head))


def _follow(folder: Path, head: Head) -> None:
    """Complete the head of an unfinished run from its events and its calls."""
    asked = set[str]()
    for line in whole_lines(folder / "events.jsonl")[0]:
        if not _TELLING.search(line):
            continue
        event = from_json(line)
        match event["kind"]:
            case "asked":
                asked.add(event["node"])
            case "answered":
                asked.discard(event["node"])
            case "concluded":
                head.verdict = Verdict.model_validate(event["data"])
            case _:
                pass
    head.waits = bool(asked)
    spent = usage(own_calls(ledger(folder)))
    head.calls, head.cost = spent.calls, spent.cost


def _short(name: str, head: Recorded) -> Head:
    """Return the head of the run in the folder ``name`` without long texts."""
    verdict = head.verdict and head.verdict.model_copy(update={"rationale": None, "notes": []})
    update = {"run_id": name, "question": head.question[:_LONG], "verdict": verdict}
    return Head.model_validate({**head.__dict__, **update})


def _kept(runs: Path) -> dict[str, _Entry]:
    """Return the entries of the index; empty where there is none, a broken or a foreign one."""
    path = runs / f"{_NAME}.json"
    try:
        found = os.lstat(path)
        return _parsed(path, found.st_ino, found.st_size, found.st_mtime_ns)
    except (OSError, ValidationError):
        return {}


@lru_cache(maxsize=2)
def _parsed(path: Path, *seen: int) -> dict[str, _Entry]:
    """Return the entries of the file that was ``seen``; nobody changes them."""
    with open(path, "rb", opener=private) as file:
        index = _Index.model_validate_json(file.read())
    return index.entries if index.format == _FORMAT else {}


def _keep(runs: Path, entries: dict[str, _Entry]) -> None:
    """Replace the index. Where that cannot be, or another process does so now, it is read anew."""
    text = _Index(format=_FORMAT, entries=entries).model_dump_json()
    draft = runs / f"{_NAME}.draft"
    with suppress(OSError, Timeout), FileLock(runs / f"{_NAME}.lock", timeout=0, mode=0o600):
        with open(draft, "wb", buffering=0, opener=private) as file:
            append_whole(file, text.encode(), sync=False)
        os.replace(draft, runs / f"{_NAME}.json")
