"""A role-switching debate broken off anywhere: nothing is paid twice, and it ends the same."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import BudgetReached
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.records import RunRecord
from dialectree.runner import Started, again
from tests import running
from tests.breaking_off import Fragile, check_crashes, go_on, lines
from tests.endpoint import LocalEndpoint
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


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_crashed_at_any_call_pays_nothing_twice_and_ends_as_it_would_have(
    way: str, tmp_path: Path
) -> None:
    calls = WAYS[way][2]
    crashes = range(1, calls + 1, 1 if calls < 20 else 3)
    record = check_crashes(partial(begin, way=way), speakers, calls, crashes, tmp_path)
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
