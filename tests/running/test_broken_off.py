"""A run of any protocol, broken off anywhere: nothing is paid twice, and it ends the same."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from dialectree.errors import BudgetReached, RunFolderError
from dialectree.nodes.role_switching_debate.direct_answerer import DirectReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.tree_of_debate.comparison import SummaryReply
from dialectree.nodes.tree_of_debate.evidence import RelevanceReply
from dialectree.records import RunRecord
from dialectree.running.runner import RunHandle, again
from tests import contesting, running
from tests.breaking_off import Fragile, check_crashes, go_on, lines
from tests.endpoint import LocalEndpoint
from tests.graphs.debating import split
from tests.graphs.role_switching_debate.switching import FIVE, THREE, TWO, listed, rule
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B, shown_segments, summarise
from tests.scripted import Asked, Said, ScriptedModel, no_reply


class Way(NamedTuple):
    """A method, its settings and input, its calls, and the status of its record."""

    method: str
    settings: Mapping[str, Any]
    calls: int
    status: str = "answered"
    given: Mapping[str, Any] = MappingProxyType({})


LEAVES: dict[str, Any] = {"max_depth": 1, "second_pass_below": 1.0}
SEGMENTS = {"turns": "alternating", "filter": "per_segment"}
BOTH: dict[str, Any] = {"cross_examination": "simultaneous", "judge_orders": "both"}
PAPERS = {"paper_a": PAPER_A, "paper_b": PAPER_B}
WAYS = {
    "leaves of rsd": Way("tsd", {**LEAVES, "leaf_protocol": "rsd"}, 39, "degraded"),
    "leaves of art": Way("tsd", {**LEAVES, "leaf_protocol": "art", "inner": {"art": {"trees": 2}}}, 38),
    "two options": Way("rsd", {}, 10, given={"options": [*TWO]}),
    "at once": Way("rsd", BOTH, 12, given={"options": [*TWO]}),
    "several judges": Way("rsd", {**BOTH, "jury": 2}, 16, given={"options": [*TWO]}),
    "a gate and a knockout": Way(
        "rsd", {"candidates": "knockout", "gate": 2}, 22, "degraded", {"options": [*THREE]}
    ),
    "options to choose from": Way("rsd", {}, 11, given={"options": [*FIVE]}),
    "arguments": Way("art", {"breadth": 2, "depth": 2}, 50),
    "comparisons alone": Way("art", {"breadth": 2, "blend": 1.0}, 6),
    "a tree of topics": Way("tod", {}, 25, "degraded", PAPERS),
    "segment by segment": Way("tod", SEGMENTS, 33, "degraded", PAPERS),
    "no tree": Way("no_tree", {"max_depth": 3}, 13, "degraded", PAPERS),
    "two stages": Way("two_stage", {}, 3, given=PAPERS),
}
COMPARED = {"embeddings": "bm25", "max_depth": 2, "max_claims": 1, "max_subtopics": 1, "segments": 3}


def speakers(fragile_at: int = 0) -> Fragile:
    """Models that need repairs and fail.

    A judge names the wrong label at first, nobody answers directly, one persona cannot weigh, and
    the first summary says nothing.
    """
    model = contesting.speakers(fragile_at)
    weighs, summary = model.says(RelevanceReply), model.says(SummaryReply)

    def judge(call: Asked) -> Said:
        shown = listed(call, "candidates")
        last = max(shown)
        return rule(last if "<ruling>" in call.prompt else min(shown), shown[last])

    def weigh(call: Asked) -> Said:
        lost = call.node == "0" and shown_segments(call)[0][0] == "b"
        return no_reply() if lost else weighs(call)

    model.will_say_now(judge, to=JudgeReply)
    model.will_say_now(no_reply(), to=DirectReply)
    model.will_say_now(weigh, to=RelevanceReply)
    model.will_say_now(
        lambda call: summary(call) if "cannot be used" in call.prompt else summarise(), to=SummaryReply
    )
    model.will_say(split("is it so?", "what of b?"), at="0")
    return model


def begin(model: ScriptedModel, runs: Path, way: Way, **more: Any) -> RunHandle:
    usual = COMPARED if "paper_a" in way.given else {}
    given = {"model": model, **way.given, **usual, **way.settings, **more}
    if "jury" in given:
        given["jury"] = [model] * given["jury"]
    return running.begin(way.method, "It is so.", runs, **given)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_run_that_crashed_at_any_call_pays_nothing_twice_and_ends_as_it_would_have(
    way: Way, tmp_path: Path
) -> None:
    crashes = [1, (1 + way.calls) // 2, way.calls]
    if way in (WAYS["at once"], WAYS["no tree"]):
        crashes = [*range(1, way.calls + 1)]
    record = check_crashes(partial(begin, way=way), speakers, way.calls, crashes, tmp_path)
    assert (record.status, record.verdict is not None) == (way.status, True)


@pytest.mark.parametrize(
    ("way", "share"), [(way, (0.1, 0.5, 0.9)[row % 3]) for row, way in enumerate(WAYS.values())], ids=WAYS
)
def test_a_budget_stops_a_run_in_good_order_and_resuming_pays_the_rest(
    way: Way, share: float, tmp_path: Path
) -> None:
    model, calls = speakers(), max(1, int(way.calls * share))
    run = begin(model, tmp_path, way, max_calls=calls)
    with pytest.raises(BudgetReached):
        asyncio.run(run.conduct())
    assert (run.record.status, run.record.usage.calls) == ("partial", calls)
    assert len(model.calls) == calls and run.record.verdict is None
    record = go_on(run, model)
    assert (record.status, record.usage.calls) == (way.status, way.calls)
    assert len(model.calls) == len({*model.calls}) == way.calls
    (resumed,) = [one for one in lines(run, "events.jsonl") if one["kind"] == "resumed"]
    assert resumed["data"]["usage"].keys() == {"wall_s", "embedding_s"}


def test_a_run_that_could_not_be_taken_up_goes_on_once_its_folder_is_mended(tmp_path: Path) -> None:
    """The error is kept, as a notebook keeps the last one, and with it what was under way."""
    model = speakers()
    run = begin(model, tmp_path, WAYS["comparisons alone"])
    events = run.folder.path / "events.jsonl"
    events.write_text("{\n")
    with pytest.raises(RunFolderError, match="line 1 cannot be read") as refused:
        asyncio.run(run.conduct())
    events.unlink()
    assert go_on(run, model).status == "answered"
    assert refused.tb is not None


@pytest.mark.parametrize(
    ("name", "path", "folder", "prompts"),
    [
        (
            "two options", 7, "role_switching_debate",
            "cross_examination judge proposal role_switch uncertainty",
        ),
        (
            "a tree of topics", 15, "tree_of_debate",
            "claims present progress relevance respond revise subtopics summary",
        ),
    ],
)  # fmt: skip
def test_a_finished_record_reads_back_as_it_is_and_tells_what_it_cost(
    name: str, path: int, folder: str, prompts: str, tmp_path: Path
) -> None:
    run = begin(speakers(), tmp_path, WAYS[name])
    record = asyncio.run(run.conduct())
    assert RunRecord.read((run.folder.path / "run.json").read_text()) == record
    assert record.usage.critical_path_calls == path
    assert 0 <= record.usage.embedding_s <= record.usage.wall_s
    assert {*record.prompts} == {f"{folder}/{prompt}" for prompt in prompts.split()}
    assert not {"leaf_rounds", "breadth"} & {*record.settings}
    ends = [event["kind"] for event in lines(run, "events.jsonl")][-3:]
    assert ends == ["settled", "concluded", "ended"]


def test_a_record_names_every_model_that_spoke_in_a_role(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        first, second = (f"openai:{name}@{endpoint.url}" for name in ("first", "second"))
        given: dict[str, Any] = {"model": first, "options": TWO, "max_calls": 2}
        run = running.begin("rsd", "What?", tmp_path, **given)
        with pytest.raises(BudgetReached):
            asyncio.run(run.conduct())
        record = asyncio.run(again(run.folder, {"model": second}).conduct())
    both = f"{first}, {second}"
    assert record.models == {"debater_a": both, "debater_b": both, "judge": second}
