"""Break runs off and take them up again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from dialectree.records import RunRecord
from dialectree.records.folder import RunFolder
from dialectree.retrieval import library
from dialectree.running.runner import RunHandle, again
from tests.scripted import Asked, Said, ScriptedModel


class Crash(ArithmeticError):
    """The end of a process."""


class Fragile(ScriptedModel):
    """Raises ``error`` instead of the replies from call ``fragile_at`` on; 0: never."""

    fragile_at: int = 0
    error: BaseException = Crash()

    def _next(self, call: Asked) -> Said:
        if len(self.calls) >= self.fragile_at > 0:
            raise self.error
        return super()._next(call)


def go_on(run: RunHandle, model: ScriptedModel, **more: Any) -> RunRecord:
    """Take up a run as another process would, and finish it."""
    folder = RunFolder.find(str(run.folder.path), run.folder.path.parent)
    return asyncio.run(again(folder, asked(run, model)).conduct(**more))


def asked(run: RunHandle, model: ScriptedModel) -> dict[str, Any]:
    """Return the settings by which ``model`` goes on with ``run``, as each judge of a jury too."""
    jury = [model] * len(getattr(run.context, "jury", ()))
    return {"model": model, **({"jury": jury} if jury else {})}


def lines(run: RunHandle, name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of the run's folder."""
    return [json.loads(line) for line in (run.folder.path / name).read_text().splitlines()]


def comparable(record: RunRecord) -> dict[str, Any]:
    """Return a record without the parts that differ between any two runs."""
    values = record.model_dump(exclude={"run_id", "started", "ended", "models", "settings"})
    for name in ("wall_s", "embedding_s"):
        del values["usage"][name]
    return values


def check_crashes(
    begin: Callable[[Fragile, Path], RunHandle],
    speakers: Callable[[int], Fragile],
    calls: int,
    crashes: Iterable[int],
    runs: Path,
) -> RunRecord:
    """Break runs off at the calls ``crashes`` and resume them; return the undisturbed record.

    Each pays nothing twice and ends as the undisturbed one.
    """
    undisturbed = asyncio.run(begin(speakers(0), runs / "undisturbed").conduct())
    assert undisturbed.usage.calls == calls
    for crash in crashes:
        run = begin(speakers(crash), runs / str(crash))
        with pytest.raises(Crash):
            asyncio.run(run.conduct())
        paid = {line["key"] for line in lines(run, "calls.jsonl")}
        assert len(paid) < calls
        library.clear()  # a new process has read no paper
        model = speakers(0)
        assert comparable(go_on(run, model)) == comparable(undisturbed)
        assert len(model.calls) == calls - len(paid)
        keys = Counter(line["key"] for line in lines(run, "calls.jsonl"))
        assert len(keys) == calls and {*keys.values()} == {1}
    return undisturbed
