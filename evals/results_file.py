"""An evaluation's folder on disk: what was run over what, the items, and a line a result.

``evaluation.json`` and ``items.jsonl`` are written whole or not at all. ``results.jsonl`` only
grows; a line that a crash has torn is dropped when the evaluation goes on. A question that was
asked again counts by its last line, and the earlier one goes when the command has come to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from dialectree.errors import InputError
from dialectree.evals.items import Item
from dialectree.evals.results import Evaluation, Preferred, Result
from dialectree.runs import files, private

Line = TypeVar("Line", bound=BaseModel)
Done = tuple[str, str]
"""The row and the item of a result."""
_GO_ON = "go on"


class Folder:
    """The folder of one evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / "results.jsonl"
        self._preferences = path / "preferences.jsonl"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else runs this evaluation meanwhile; the folder is made where there is none."""
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
        """Where the runs lie."""
        return self.path / "runs"

    def run(self, run_id: str) -> Path:
        """The folder of one run."""
        return self.runs / run_id

    def evaluation(self) -> Evaluation | None:
        """What was begun here; None where nothing was."""
        path = self.path / "evaluation.json"
        if not os.path.exists(path):
            return None
        with files(path, _GO_ON):
            return _read(path, path.read_bytes(), Evaluation)

    def items(self) -> list[Item]:
        """The items that were taken, in their order; none where they were not kept."""
        path = self.path / "items.jsonl"
        return list(_lines(path, Item)) if path.exists() else []

    def results(self) -> Iterator[Result]:
        """Every result, in the order of their ends."""
        yield from _lines(self._results, Result)

    def preferences(self) -> Iterator[Preferred]:
        """Every pair of summaries that was judged."""
        yield from _lines(self._preferences, Preferred)

    @contextmanager
    def preferring(self) -> Iterator[Callable[[Preferred], None]]:
        """Takes a line more for a pair that was judged."""
        with files(self._preferences, _GO_ON):
            if self._preferences.exists():
                _cut(self._preferences)

        def keep(line: Preferred) -> None:
            with (
                files(self._preferences, _GO_ON),
                open(self._preferences, "ab", opener=private) as file,
            ):
                file.write(line.model_dump_json().encode() + b"\n")

        yield keep

    def begin(self, evaluation: Evaluation, items: Iterable[Item]) -> None:
        """Write down what is run over what."""
        self._write("items.jsonl", "".join(item.model_dump_json() + "\n" for item in items))
        self.write(evaluation)

    def write(self, evaluation: Evaluation) -> None:
        """Replace evaluation.json."""
        self._write("evaluation.json", evaluation.model_dump_json(indent=1) + "\n")

    def _write(self, name: str, text: str) -> None:
        """Replace a file, unless it says the same."""
        path, data = self.path / name, text.encode()
        draft = path.with_name(f".{name}.draft")
        with files(path, _GO_ON):
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

    @contextmanager
    def appending(self) -> Iterator[Results]:
        """The results, to be added to."""
        results = Results(self._results)
        try:
            yield results
        finally:
            results.close()
            if results.outdated:
                last = {(result.row, result.item): result for result in self.results()}
                text = "".join(result.model_dump_json() + "\n" for result in last.values())
                self._write("results.jsonl", text)


class Results:
    """results.jsonl, open: whole lines only, and a new one only for what is not done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with files(path, _GO_ON):
            torn = path.exists() and _cut(path)
        self.there: set[Done] = set()
        """What is done."""
        self.failed: set[Done] = set()
        """Those of them whose question failed."""
        self.degraded: set[Done] = set()
        """Those of them that have an answer although a part failed."""
        self.incomplete: set[Done] = set()
        """Those of them that can be asked again."""
        self.outdated = False
        """True when there are lines that later ones stand in for."""
        self._again: set[Done] = set()
        for result in _lines(path, Result):
            self._count(result)
        with files(path, _GO_ON):
            self._file = open(path, "ab", buffering=0, opener=private)  # noqa: SIM115 - closed by close()
        self.torn = torn

    def add(self, result: Result) -> None:
        """A line more; a second one for the same row and item is a fault of ours."""
        done = result.row, result.item
        if done in self.there:
            raise AssertionError(f"{done} has its result")
        data = memoryview(result.model_dump_json().encode() + b"\n")
        end = os.fstat(self._file.fileno()).st_size
        with files(self._path, _GO_ON):
            try:
                while data:
                    data = data[self._file.write(data) :]
            except OSError:
                self._file.truncate(end)
                raise
        self._count(result)

    def ask_again(self, questions: Iterable[Done]) -> None:
        """Those of ``questions`` that are incomplete are not done; their lines stay until then."""
        self._again |= self.incomplete.intersection(questions)
        for known in (self.there, self.failed, self.degraded, self.incomplete):
            known -= self._again

    def _count(self, result: Result) -> None:
        done = result.row, result.item
        self.outdated |= done in self.there or done in self._again
        self.there.add(done)
        for known, belongs in (
            (self.failed, result.status == "failed"),
            (self.degraded, result.status == "degraded"),
            (self.incomplete, result.incomplete),
        ):
            (known.add if belongs else known.discard)(done)

    def close(self) -> None:
        """On disk, and no line more."""
        with files(self._path, _GO_ON):
            os.fsync(self._file.fileno())
            self._file.close()


def _cut(path: Path) -> bool:
    """Drop a torn last line; whether there was one."""
    size = path.stat().st_size
    with path.open("rb+") as file:
        end, step = size, 1 << 16
        while end:
            begin = max(0, end - step)
            file.seek(begin)
            at = file.read(end - begin).rfind(b"\n")
            if at >= 0:
                end = begin + at + 1
                break
            end = begin
        file.truncate(end)
    return end < size


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    """The whole lines of a file; one that cannot be read is an InputError that names it."""
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
        fault = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"]))
        said = f"{place}: {fault['msg']}" if place else fault["msg"]
        raise InputError(f"{where} cannot be read: {said}") from None
