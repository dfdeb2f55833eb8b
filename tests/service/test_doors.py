"""What every door must do alike: same verdict, same errors in its own words, same budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dialectree
from dialectree.contests import Drop
from dialectree.errors import RunNotFound
from dialectree.records.folder import RunFolder
from dialectree.service.debates import Debates
from tests.cli.commands import command
from tests.endpoint import LocalEndpoint
from tests.service.doors import CHANGES, DOORS, RUNS, Answer, Refused, http, kept, mcp_tool

CLAIM: dict[str, Any] = {"claim": "Cows eat grass."}
CALLS = 5
RULES = [
    {"match": "List the claims that it makes", "set": {"claims": [{"lines": ["1"], "claim": CLAIM["claim"]}]}}
]
each_door = pytest.mark.parametrize("door", DOORS)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=RULES, seed=3) as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the model; debates of a host are kept in the folder of runs, too."""
    monkeypatch.setenv("DIALECTREE_RUNS", str(RUNS.absolute()))
    endpoint.reset()
    return f"openai:any@{endpoint.url}"


def spelt(door: str, name: str) -> str:
    """Return a field as the door calls it."""
    return f"--{name.replace('_', '-')}" if door == "command_line" else name


@pytest.fixture(scope="module")
def wanted(endpoint: LocalEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """Return the verdict of an undisturbed debate."""
    runs = tmp_path_factory.mktemp("runs")
    given: dict[str, Any] = {"model": f"openai:any@{endpoint.url}", "runs": runs, "cache": False}
    verdict = dialectree.run("art", **CLAIM, **given).verdict
    return Answer(verdict.label, verdict.confidence, "")


@each_door
def test_the_same_claim_has_the_same_verdict_at_every_door(
    door: str, wanted: Answer, model: str, endpoint: LocalEndpoint
) -> None:
    answer = DOORS[door](CLAIM, {"model": model})
    assert answer[:2] == wanted[:2] == kept(answer.run)[:2]
    assert endpoint.stats()["calls"] == CALLS + (door == "gate")
    record = dialectree.load(answer.run)
    assert record.status == "answered" and record.usage.calls == CALLS
    assert record.path is not None and (record.path / "report.html").exists()


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no claim": ({}, {}, "claim"),
    "an empty claim": ({"claim": " "}, {}, "empty"),
    "a question": ({"claim": "Is it so?"}, {}, "question"),
    "an unknown setting": (CLAIM, {"bredth": 2}, "bredth"),
    "a value out of range": (CLAIM, {"breadth": 0}, "breadth"),
}
NOT_GIVEN = {
    "gate": ("no claim", "an empty claim", "a question"),  # its model splits the text
    "chat": ("an empty claim", "no claim"),  # which ask for help
    "sub_graph": ("no claim",),  # a state of the host's
}


@pytest.mark.parametrize("case", WRONG)
@each_door
def test_a_wrong_call_is_refused_in_the_words_of_the_door(
    door: str, case: str, model: str, endpoint: LocalEndpoint
) -> None:
    if case in NOT_GIVEN.get(door, ()):
        return
    given, settings, named = WRONG[case]
    with pytest.raises(Refused) as refused:
        DOORS[door](given, {"model": model, **settings})
    line = str(refused.value)
    if settings:
        (name,) = settings
        assert spelt(door, name) in line
    assert named in line.lower() and ("--" in line) == (door == "command_line" and bool(settings))
    assert endpoint.stats()["calls"] == 0 and not RUNS.exists()


@each_door
def test_a_budget_breaks_off_at_the_same_call_and_nothing_is_paid_twice(
    door: str, wanted: Answer, model: str, endpoint: LocalEndpoint
) -> None:
    budget = 2 + (door == "gate")
    with pytest.raises(Refused) as refused:
        DOORS[door](CLAIM, {"model": model, "max_calls": budget})
    assert spelt(door, "max_calls") in str(refused.value)
    (folder,) = RunFolder.all(RUNS)
    assert (folder.record().status, folder.record().usage.calls) == ("partial", 2)
    verdict = dialectree.resume(folder.path, model=model).verdict
    assert (verdict.label, verdict.confidence) == wanted[:2]
    stats = endpoint.stats()
    assert (stats["calls"], stats["duplicate_requests"]) == (CALLS + (door == "gate"), 0)


@pytest.mark.parametrize("door", CHANGES)
def test_a_contest_comes_to_the_same_at_every_door(door: str, model: str, endpoint: LocalEndpoint) -> None:
    old = dialectree.run("art", **CLAIM, model=model)
    mended = dialectree.contest(old, [Drop("0.1")], runs="apart")
    endpoint.reset()
    changed = CHANGES[door](old.run_id, "drop", "0.1", model)
    assert changed[:2] == (mended.verdict.label, mended.verdict.confidence)
    record = dialectree.load(changed.run)
    assert record.contest is not None and record.contest.why == mended.contest.why
    assert endpoint.stats()["calls"] == 0
    with pytest.raises(Refused, match="flip") as refused:
        CHANGES[door](old.run_id, "flip", "0.0:0.9", model)
    assert ("--" in str(refused.value)) == (door == "command_line")
    with pytest.raises(Refused, match="no run"):
        CHANGES[door]("20260101-000000-abcdef", "drop", "0.1", model)
    assert len(RunFolder.all(RUNS)) == 2


def test_no_client_reaches_a_run_outside_of_the_folder(model: str) -> None:
    run = dialectree.run("art", **CLAIM, model=model, runs="elsewhere")
    for name in (str(run.path), f"elsewhere/{run.run_id}", "elsewhere", "..", "last"):
        for client in ("mcp", "chat"):
            with pytest.raises(Refused):
                CHANGES[client](name, "drop", "0.1", model)
        with pytest.raises(RunNotFound):
            Debates(RUNS, owner="").find(name)
    for path in ("/debates/elsewhere", f"/debates/{run.run_id}"):
        with pytest.raises(Refused):
            http(path)
    with pytest.raises(Refused):
        mcp_tool("show", {"run_id": "elsewhere"}, {})


def test_a_client_with_a_name_sees_its_own_runs_alone(model: str) -> None:
    runs = {owner: dialectree.run("art", **CLAIM, model=model) for owner in ("anna", "ben", "")}
    for owner, record in runs.items():
        folder = RunFolder(record.path)
        folder.write_record(folder.record().model_copy(update={"owner": owner or None}))
    for owner in runs:
        debates = Debates(RUNS, owner=owner)
        seen = {summary.run_id for summary in debates.list_runs(pytest.fail)}
        assert seen == {one.run_id for name, one in runs.items() if not owner or name == owner}
        for name, one in runs.items():
            if not owner or name == owner:
                assert debates.result(one.run_id).run_id == one.run_id
                continue
            for named in (one.run_id, one.run_id[:-1]):
                with pytest.raises(RunNotFound):
                    debates.find(named)
        if owner:
            assert debates.find("last").run_id == runs[owner].run_id


def test_a_change_is_estimated_as_a_debate_is(model: str, endpoint: LocalEndpoint) -> None:
    run = dialectree.run("art", **CLAIM, model=model)
    endpoint.reset()
    words = ["contest", run.run_id, "--dry-run", "--json"]
    for change, calls in ((["--drop", "0.1"], 0), (["--add", "support:0", "They do."], 2)):
        expected = command(*words, *change).record["calls"]
        assert expected["least"] <= calls <= expected["most"] <= calls + 2
    assert endpoint.stats()["calls"] == 0 and len(RunFolder.all(RUNS)) == 1
    assert command(*words, "--drop", "0.9").status == 2
