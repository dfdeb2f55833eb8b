"""A run that ended without some of its parts asks for them again, and for what depends on them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dialectree.contests import Replace
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.records import VOID, RunRecord
from dialectree.running.runner import RunHandle, again
from tests import running
from tests.breaking_off import Crash, Fragile, go_on, lines
from tests.cli.commands import command, runs
from tests.contesting import TEXT, at, begin, debate, outcome, speakers, stated
from tests.endpoint import LocalEndpoint
from tests.graphs.role_switching_debate.switching import TWO, listed, rule
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.scripted import Asked, Said, no_reply


class Way(NamedTuple):
    """A method with its settings and input, and how many calls it makes."""

    method: str
    given: dict[str, Any]
    calls: int


COMPARED = {"paper_a": PAPER_A, "paper_b": PAPER_B, "embeddings": "bm25", "max_depth": 1}
WAYS = {
    "rsd": Way("rsd", {"options": TWO}, 9),
    "both orders": Way("rsd", {"options": TWO, "judge_orders": "both"}, 10),
    "tsd": Way("tsd", {"max_depth": 1, "leaf_rounds": 2}, 19),
    "art": Way("art", {"breadth": 2}, 10),
    "tod": Way("tod", COMPARED, 20),
}
FAULTS: dict[str, Said] = {"no valid reply": "this is not JSON", "no reply": no_reply()}


class Lossy(Fragile):
    """Loses its replies at one place of the debate, or from call ``lost_from`` on."""

    fault: Said = ""
    lost_at: Asked | None = None
    lost_from: int = 0

    def _next(self, call: Asked) -> Said:
        lost = self.lost_at is not None and place(call) == place(self.lost_at)
        if lost or len(self.calls) >= self.lost_from > 0:
            return self.fault
        return super()._next(call)


def place(call: Asked) -> Asked:
    return call._replace(prompt="")


def start(model: Fragile, folder: Path, way: Way) -> RunHandle:
    return running.begin(way.method, "It is so.", folder, model=model, **way.given)


def lossy(**lost: Any) -> Fragile:
    return speakers(model=Lossy(**lost))


def ended(model: Fragile, folder: Path, way: Way) -> RunHandle:
    """Return a run at its end."""
    started = start(model, folder, way)
    asyncio.run(started.conduct())
    return started


def answers(run: RunHandle) -> int:
    """Return how many calls of a run were answered."""
    return sum(line["error"] is None for line in lines(run, "calls.jsonl"))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_failed_is_asked_again_with_what_depends_on_it_and_nothing_else(
    way: Way, fault: Said, tmp_path: Path
) -> None:
    whole = lossy()
    undisturbed = ended(whole, tmp_path / "whole", way).record
    assert (undisturbed.status, len(whole.calls)) == ("answered", way.calls)
    for number, lost_at in enumerate(whole.calls[:: 1 + way.calls // 8]):
        model = lossy(fault=fault, lost_at=lost_at)
        run = ended(model, tmp_path / str(number), way)
        assert run.record.status in ("degraded", "unresolved")
        answered = {call for call in model.calls if place(call) != place(lost_at)}
        model = lossy()
        record = go_on(run, model)
        assert outcome(record) == outcome(undisturbed)
        assert record.earlier == [run.record.verdict]
        assert model.calls.count(lost_at) == 1
        assert not answered.intersection(model.calls)
        assert {*model.calls} == {*whole.calls} - answered
        assert RunRecord.read((run.folder.path / "run.json").read_text()) == record


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_after_an_outage_a_run_is_as_it_would_have_been(way: Way, tmp_path: Path) -> None:
    undisturbed = ended(lossy(), tmp_path / "whole", way).record
    run = ended(lossy(fault=no_reply(), lost_from=5), tmp_path / "broken", way)
    assert run.record.status in ("degraded", "unresolved")
    model, answered = lossy(), answers(run)
    record = go_on(run, model)
    assert 0 < answered < 5 and len(model.calls) == way.calls - answered
    for name in ("calls", "attempts", "critical_path_calls"):
        assert getattr(record.usage, name) == getattr(undisturbed.usage, name)
    assert outcome(record) == outcome(undisturbed)


def test_invalid_replies_stay_in_the_sums_when_they_are_asked_for_again(tmp_path: Path) -> None:
    whole = lossy()
    ended(whole, tmp_path / "whole", WAYS["rsd"])
    run = ended(lossy(fault="no JSON", lost_at=whole.calls[-1]), tmp_path / "run", WAYS["rsd"])
    assert (run.record.status, run.record.usage.calls) == ("unresolved", 8 + 3)
    record = go_on(run, lossy())
    assert (record.usage.calls, record.usage.critical_path_calls) == (9 + 3, 6)


def test_a_repair_that_got_no_reply_is_asked_again_and_not_what_it_repairs(tmp_path: Path) -> None:
    model = lossy()
    model.will_say_now("no JSON", no_reply(), to=JudgeReply)
    run = ended(model, tmp_path, WAYS["rsd"])
    assert run.record.status == "unresolved"
    again_asked = lossy()
    assert go_on(run, again_asked).status == "answered"
    assert again_asked.calls == model.calls[-1:]


def test_a_run_that_is_killed_while_it_asks_again_goes_on_and_keeps_the_verdict_once(tmp_path: Path) -> None:
    way = WAYS["tsd"]
    undisturbed = ended(lossy(), tmp_path / "whole", way).record
    for crash in (1, 7, 15):
        run = ended(lossy(fault=no_reply(), lost_from=5), tmp_path / str(crash), way)
        verdict, answered = run.record.verdict, answers(run)
        with pytest.raises(Crash):
            go_on(run, lossy(fragile_at=crash))
        model = lossy()
        record = go_on(run, model)
        assert len(model.calls) == way.calls - answered - (crash - 1)
        assert (outcome(record), record.earlier) == (outcome(undisturbed), [verdict])


def test_another_model_is_asked_only_for_what_failed(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        first, second = (f"openai:{name}@{endpoint.url}" for name in ("first", "second"))
        with LocalEndpoint(empty=1.0) as faulty:
            given = {"model": first, "roles": {"synthesiser": f"openai:first@{faulty.url}"}}
            run = running.begin("two_round", "What is it?", tmp_path, **given)
            assert asyncio.run(run.conduct()).status == "unresolved"
            made = len(run.folder.calls()) - faulty.stats()["calls"]
        endpoint.reset()
        given = {"model": second, "roles": {"synthesiser": second}}
        record = asyncio.run(again(run.folder, given).conduct())
        assert (record.status, endpoint.stats()["calls"]) == ("answered", 1)
    valid = [line for line in lines(run, "calls.jsonl") if not line["key"].startswith(VOID)]
    assert [line["model"] for line in valid] == ["openai:first"] * made + ["openai:second"]


def test_judges_who_contradict_each_other_are_not_asked_again(tmp_path: Path) -> None:
    model, labels = lossy(), iter("AB")

    def judge(call: Asked) -> Said:
        label = next(labels)
        return rule(label, listed(call, "candidates")[label])

    model.will_say_now(judge, to=JudgeReply)
    run = ended(model, tmp_path, WAYS["both orders"])
    assert (run.record.status, run.record.list_failures()) == ("unresolved", [])
    model = lossy()
    record = go_on(run, model)
    assert (model.calls, record.earlier, record) == ([], [], run.record)


def test_a_contest_asks_its_own_failed_calls_again_and_not_those_of_the_contested_run() -> None:
    whole = lossy()
    old = debate(whole, max_depth=1)
    undisturbed = asyncio.run(begin(old, Replace("0.1/A1", TEXT)).conduct())
    model = lossy(fault=no_reply(), lost_from=2)
    broken = asyncio.run(begin(old, Replace("0.1/A1", TEXT), model=model).conduct())
    assert broken.status in ("degraded", "unresolved")
    model = lossy()
    record = asyncio.run(again(at(broken), {"model": model}).conduct())
    assert outcome(record) == outcome(undisturbed)
    assert stated(record) == stated(undisturbed)
    assert len(model.calls) == undisturbed.usage.calls - 1
    (judged,) = (call for call in whole.calls if (call.node, call.role) == ("0.0", "leaf_judge"))
    broken = debate(lossy(fault=no_reply(), lost_at=judged), max_depth=1)
    contested = asyncio.run(begin(broken, Replace("0/answer_writer", TEXT)).conduct())
    assert (broken.status, contested.status) == ("degraded", "degraded")
    model = lossy()
    assert asyncio.run(again(at(contested), {"model": model}).conduct()) == contested
    assert model.calls == []


def test_the_command_says_how_to_ask_again_and_when_there_is_nothing_to_ask() -> None:
    with LocalEndpoint(empty=1.0) as endpoint:
        words = ["answer", "Is it so?", "--method", "single_shot"]
        done = command(*words, "--model", f"openai:any@{endpoint.url}")
    (folder,) = runs()
    assert f"unresolved; ask the failed calls again with: dialectree resume {folder}" in done.err
    with LocalEndpoint() as endpoint:
        to = ["--model", f"openai:any@{endpoint.url}", "--quiet", "--json"]
        done = command("resume", str(folder), *to)
        assert (done.status, done.record["status"]) == (0, "answered"), done.err
        (before,) = done.record["earlier"]
        assert before["answer"] is None
        calls = endpoint.stats()["calls"]
        done = command("resume", str(folder), *to)
        assert "none of its calls failed: nothing to resume" in done.err
        assert (done.record["status"], endpoint.stats()["calls"]) == ("answered", calls)
