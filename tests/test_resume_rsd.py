"""A role-switching debate broken off anywhere: nothing is paid twice, and it ends the same."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.endpoint import LocalEndpoint
from dialectree.errors import BudgetReached
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.records import RunRecord
from dialectree.retrieval import library
from dialectree.runner import Started, again
from dialectree.runs import RunFolder
from tests import running
from tests.graphs.role_switching_debate.switching import (
    FIVE,
    QUESTION,
    THREE,
    TWO,
    debaters,
    rule,
    within,
)
from tests.scripted import Asked, Said, ScriptedModel, no_reply

WAYS: dict[str, tuple[tuple[str, ...], dict[str, Any], int]] = {
    "two options": (TWO, {}, 10),
    "at once": (TWO, {"cross_examination": "simultaneous", "judge_orders": "both"}, 12),
    "a gate and a knockout": (THREE, {"candidates": "knockout", "gate": 2}, 22),
    "options to choose from": (FIVE, {}, 11),
}
"""Options, settings, and the calls that they take; each debate has one ruling to repair."""


class Crash(ArithmeticError):
    """The process is gone."""


class Fragile(ScriptedModel):
    """Raises instead of the reply to one of its calls."""

    fragile_at: int = 0

    def _next(self, call: Asked) -> Said:
        if len(self.calls) >= self.fragile_at > 0:
            raise Crash
        return super()._next(call)


def speakers(fragile_at: int = 0) -> Fragile:
    """Debaters whose judge names the wrong label at first and who give no direct answer."""
    model = Fragile(fragile_at=fragile_at)
    debaters(model)
    model.will_say_now(no_reply(), to=DirectReply)

    def judge(call: Asked) -> Said:
        shown = dict(
            line.split(": ", 1) for line in within(call, "candidates").splitlines() if ": " in line
        )
        last = max(shown)
        return rule(last if "<ruling>" in call.prompt else min(shown), shown[last])

    model.will_say_now(judge, to=JudgeReply)
    return model


def begin(model: ScriptedModel, runs: Path, way: str, **more: Any) -> Started:
    options, settings, _ = WAYS[way]
    return running.begin("rsd", QUESTION, runs, model=model, options=options, **settings, **more)


def go_on(run: Started, model: ScriptedModel) -> RunRecord:
    """Take up a run as another process would, and finish it."""
    folder = RunFolder.find(str(run.folder.path), run.folder.path.parent)
    return asyncio.run(again(folder, {"model": model}).conduct())


def lines(run: Started, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.folder.path / name).read_text().splitlines()]


def comparable(record: RunRecord) -> dict[str, Any]:
    """Return a record without the parts that differ between any two runs."""
    values = record.model_dump(exclude={"run_id", "started", "ended", "models", "settings"})
    for name in ("wall_s", "embedding_s"):
        del values["usage"][name]
    return values


def check_every_crash(
    begin: Callable[[Fragile, Path], Started],
    speakers: Callable[[int], Fragile],
    calls: int,
    step: int,
    runs: Path,
) -> RunRecord:
    """Break a run off at every ``step``-th call, resume it, and return the undisturbed record."""
    undisturbed = asyncio.run(begin(speakers(0), runs / "undisturbed").conduct())
    assert undisturbed.usage.calls == calls
    for crash in range(1, calls + 1, step):
        run = begin(speakers(crash), runs / str(crash))
        with pytest.raises(Crash):
            asyncio.run(run.conduct())
        paid = {line["key"] for line in lines(run, "calls.jsonl")}
        assert len(paid) < calls
        library.clear()
        model = speakers(0)
        assert comparable(go_on(run, model)) == comparable(undisturbed)
        assert len(model.calls) == calls - len(paid)
        keys = Counter(line["key"] for line in lines(run, "calls.jsonl"))
        assert len(keys) == calls and {*keys.values()} == {1}
    return undisturbed


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_crashed_at_any_call_pays_nothing_twice_and_ends_as_it_would_have(
    way: str, tmp_path: Path
) -> None:
    calls = WAYS[way][2]
    step = 1 if calls < 20 else 3
    record = check_every_crash(partial(begin, way=way), speakers, calls, step, tmp_path)
    assert record.verdict is not None
    assert record.status == ("degraded" if "gate" in way else "answered")


@pytest.mark.parametrize("calls", [1, 2, 5, 8])
def test_a_budget_stops_a_debate_in_good_order_and_resuming_pays_the_rest(
    calls: int, tmp_path: Path
) -> None:
    model = speakers()
    run = begin(model, tmp_path, "two options", max_calls=calls)
    with pytest.raises(BudgetReached):
        asyncio.run(run.conduct())
    assert (run.record.status, run.record.usage.calls) == ("partial", calls)
    record = go_on(run, model)
    assert (record.status, record.usage.calls) == ("answered", 10)
    assert len(model.calls) == len(set(model.calls)) == 10


def test_a_record_names_every_model_that_spoke_in_a_role(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        first, second = (f"openai:{name}@{endpoint.url}" for name in ("first", "second"))
        given = {"model": first, "options": TWO, "max_calls": 2}
        run = running.begin("rsd", QUESTION, tmp_path, **given)
        with pytest.raises(BudgetReached):
            asyncio.run(run.conduct())
        record = asyncio.run(again(run.folder, {"model": second}).conduct())
    both = f"{first}, {second}"
    assert record.models == {"debater_a": both, "debater_b": both, "judge": second}


def test_a_finished_record_has_every_turn_and_reads_back_as_it_is(tmp_path: Path) -> None:
    run = begin(speakers(), tmp_path, "two options")
    record = asyncio.run(run.conduct())
    assert RunRecord.read((run.folder.path / "run.json").read_text()) == record
    assert len(record.tree.nodes["0"].transcript) == record.usage.calls == 10
    assert record.usage.critical_path_calls == 7
    assert record.prompts == {
        f"role_switching_debate/{name}": 2
        for name in ("cross_examination", "judge", "proposal", "role_switch", "uncertainty")
    }
    assert [kind["kind"] for kind in lines(run, "events.jsonl")][-2:] == ["settled", "concluded"]
