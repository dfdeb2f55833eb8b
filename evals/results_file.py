"""Read and write an evaluation's folder: its plan, its items, and a line for each result.

``evaluation.json`` and ``items.jsonl`` are replaced as a whole. ``results.jsonl`` grows by lines. A
line that a crash tore is dropped when the evaluation goes on. For a question that was asked again
the last line counts; earlier lines are removed at the end of the command.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.evals.dataset_items import Item
from dialectree.evals.results import EvaluationFile, Result
from dialectree.records.journal import files, private

Line = TypeVar("Line", bound=BaseModel)
Done = tuple[str, str]
"""The row and the item of a result."""
_GO_ON = "go on"


class Folder:
    """The folder of one evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / "results.jsonl"

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Create the folder if needed and lock it; InputError if another process holds the lock."""
        with files(self.path, _GO_ON):
            self.path.mkdir(0o700, parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock", mode=0o600)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise InputError(f"another process is at work on {self.path}") from None
        try:
            yield
        finally:
            lock.release()

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.path / "runs"

    def require_evaluation(self) -> EvaluationFile:
        """Return the folder's evaluation; InputError without one."""
        if (evaluation := self.evaluation()) is None:
            raise InputError(f"{self.path} holds no evaluation: there is no evaluation.json in it")
        return evaluation

    def evaluation(self) -> EvaluationFile | None:
        """Return the folder's evaluation; None without one."""
        path = self.path / "evaluation.json"
        if not os.path.exists(path):
            return None
        with files(path, _GO_ON):
            return _read(path, path.read_bytes(), EvaluationFile)

    def items(self) -> list[Item]:
        """Return the chosen items, in their order."""
        return list(_lines(self.path / "items.jsonl", Item))

    def results(self) -> Iterator[Result]:
        """Yield every result, in the order in which questions ended."""
        yield from _lines(self._results, Result)

    def begin(self, evaluation: EvaluationFile, items: Iterable[Item]) -> None:
        """Write the evaluation and its items."""
        text = "".join(item.model_dump_json() + "\n" for item in items)
        replace_file(self.path / "items.jsonl", text, _GO_ON)
        self.write(evaluation)

    def write(self, evaluation: EvaluationFile) -> None:
        """Replace evaluation.json."""
        text = evaluation.model_dump_json(indent=1) + "\n"
        replace_file(self.path / "evaluation.json", text, _GO_ON)

    @contextmanager
    def appending(self) -> Iterator[Results]:
        """Open the results for adding."""
        with _Lines(self._results) as lines:
            try:
                yield Results(lines, self.results())
            finally:
                last = {(result.row, result.item): result for result in self.results()}
                text = "".join(result.model_dump_json() + "\n" for result in last.values())
                replace_file(self._results, text, _GO_ON)


class Results:
    """The results so far, and the file for new ones."""

    def __init__(self, lines: _Lines, before: Iterable[Result]) -> None:
        self._lines = lines
        self.done = {(result.row, result.item): result for result in before}

    def add(self, result: Result) -> None:
        """Add the result of a question."""
        self._lines.add(result)
        self.done[result.row, result.item] = result

    def ask_again(self, questions: Iterable[Done]) -> None:
        """Count the incomplete ``questions`` as not done; their lines stay until the command ends."""
        for question in questions:
            if question in self.done and self.done[question].incomplete:
                del self.done[question]


def replace_file(path: Path, data: str | bytes, then: str) -> None:
    """Replace a file atomically; ``then`` is the advice for after the user has freed space."""
    data = data.encode() if isinstance(data, str) else data
    draft = path.with_name(f".{path.name}.draft")
    with files(path, then):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() == data:
            return
        try:
            with open(draft, "wb", opener=private) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


class _Lines:
    """A file of JSON lines, open for appending; it keeps only whole lines."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> _Lines:
        with files(self._path, _GO_ON):
            self._file = open(self._path, "a+b", buffering=0, opener=private)
            self._file.seek(0)
            self._file.truncate(self._file.read().rfind(b"\n") + 1)  # a crash may tear a line
        return self

    def add(self, line: BaseModel) -> None:
        """Add a whole line or nothing."""
        end = os.fstat(self._file.fileno()).st_size
        data = line.model_dump_json().encode() + b"\n"
        with files(self._path, _GO_ON):
            try:
                if self._file.write(data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                self._file.truncate(end)
                raise

    def __exit__(self, *_: object) -> None:
        with files(self._path, _GO_ON):
            os.fsync(self._file.fileno())
            self._file.close()


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    """Yield the whole lines of a file; InputError names an unreadable line."""
    if not path.exists():
        return
    with files(path, _GO_ON), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                yield _read(f"{path}, line {number}", line, kind)


def _read(where: object, data: bytes, kind: type[Line]) -> Line:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise InputError(f"{where} cannot be read: {fault_line(error)}") from None
