"""The graph in a host's hands: its checkpointer, its budget, its own ways to drive it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from dialectree.errors import BudgetReached, SettingsError
from dialectree.flow.state import Debate
from dialectree.graphs.tree_structured_debate.baselines import best_of_n, single_shot
from dialectree.nodes.tree_structured_debate.answerer import AnswererReply
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols.settings import build_settings, settings
from tests.graphs.debating import QUESTION, context
from tests.scripted import ScriptedModel
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


def host(folder: Path, hang: str = "") -> subprocess.Popen[str]:
    """One process of a host that debates in ``folder``."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.graphs.interrupted_host", str(folder), hang],
        cwd=ROOT,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def log(folder: Path) -> list[list[Any]]:
    path = folder / "calls.jsonl"
    text = path.read_text() if path.exists() else ""
    whole, _, _ = text.rpartition("\n")  # the last line may still be written
    return [json.loads(line) for line in whole.splitlines()]


def only_one_node_hangs(folder: Path, hang: str) -> bool:
    """Return whether all but one leaf are done and stored, and that one waits."""
    lines = log(folder)
    replied = [line[1:] for line in lines if line[0] == "replied"]
    waiting = {line[1] for line in lines if line[0] == "asked" and line[1:] not in replied}
    files = [folder / name for name in ("calls.jsonl", "host.db-wal")]
    written = max((path.stat().st_mtime for path in files if path.exists()), default=0.0)
    return len(lines) >= 60 and waiting == {hang} and time.time() - written > 0.8


def test_killed_among_parallel_leaves_a_host_goes_on_and_repeats_no_finished_call(tmp_path: Path) -> None:
    process = host(tmp_path, hang="0.1.1")
    try:
        wait_until(lambda: only_one_node_hangs(tmp_path, "0.1.1"), process=process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = log(tmp_path)
    replied = [line[1:] for line in before if line[0] == "replied"]
    hanging = [line[1:] for line in before if line[0] == "asked" and line[1:] not in replied]
    assert {node for node, *_ in hanging} == {"0.1.1"}
    verdict, said = host(tmp_path).communicate()
    assert json.loads(verdict)["answer"] == "In the end, this."
    assert said == ""
    asked = Counter(json.dumps(line[1:]) for line in log(tmp_path) if line[0] == "asked")
    repeated = [json.loads(call) for call, times in asked.items() if times > 1]
    assert repeated == hanging
    assert sum(asked.values()) == 96 + len(hanging)


def test_a_hosts_run_that_is_cancelled_starts_no_further_call() -> None:
    model = ScriptedModel(wait=lambda _: 0.05)
    model.will_say(AnswererReply(answer="Yes.", explanation="So.", confidence=0.9))

    async def cancelled() -> None:
        given = context(model, samples=20, concurrency=1)
        debate = asyncio.create_task(best_of_n.ainvoke({"question": QUESTION}, context=given))
        while not model.calls:
            await asyncio.sleep(0.01)
        debate.cancel()
        with pytest.raises(asyncio.CancelledError):
            await debate
        so_far = len(model.calls)
        while under_way := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(under_way)
        assert len(model.calls) == so_far < 20

    asyncio.run(cancelled())


ASKED: Any = {"question": "Is it so?"}


def answering(*first: BaseException) -> ScriptedModel:
    """A model that raises ``first``, one a call, and answers then."""
    model = ScriptedModel()
    model.will_say(*first, to=AnswererReply)
    model.will_say(AnswererReply(answer="Yes.", explanation="So.", confidence=0.9))
    return model


async def debate(context: Any) -> Any:
    return (await single_shot.ainvoke(ASKED, context=context))["verdict"]["answer"]


def hosted(work: Any, **node: Any) -> Any:
    """What a host's graph comes to that does ``work`` in its only node."""
    builder = StateGraph(Debate)
    builder.add_node("work", work, **node)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    return asyncio.run(builder.compile().ainvoke(ASKED))


def test_each_settings_have_a_budget_of_their_own_in_a_hosts_run() -> None:
    async def work(_: Debate) -> None:
        small, large = (build_settings(Settings, model=answering(), max_calls=calls) for calls in (1, 100))
        assert await debate(small) == await debate(large) == "Yes."
        with pytest.raises(BudgetReached):
            await debate(small)

    hosted(work)


# A host with a context of its own


@dataclass
class Own:
    user: str = "somebody"
    dialectree: Settings | dict[str, Any] | None = None


def within(context: Any, schema: Any = None) -> Any:
    """The answer of a debate that is a node of a host with ``context``."""
    builder = StateGraph(Debate, context_schema=schema)
    builder.add_node("debate", single_shot)
    builder.add_edge(START, "debate")
    builder.add_edge("debate", END)
    found = asyncio.run(builder.compile().ainvoke(ASKED, context=context))
    return found["verdict"]["answer"]


def test_what_a_host_hands_on_may_be_a_mapping_as_it_comes_from_json() -> None:
    given = {"model": answering(), "max_calls": 1}
    assert within(Own(dialectree=given), Own) == "Yes."
    assert within({"user": "somebody", "dialectree": given}) == "Yes."
    assert within({"user": "somebody", "dialectree": given}, Own) == "Yes."
    for handed in (Own(dialectree=given), {"user": "somebody", "dialectree": given}):
        assert settings(given_as(handed), Settings) is settings(given_as(handed), Settings)
    with pytest.raises(SettingsError, match="user: there is no such setting"):
        within({"dialectree": {**given, "user": "somebody"}})


def test_a_hosts_context_without_settings_is_refused_in_one_line() -> None:
    with pytest.raises(SettingsError, match=r"\(Own\) holds no settings") as said:
        within(Own(), Own)
    assert "\n" not in str(said.value)
    with pytest.raises(SettingsError, match=r"\(dict\) holds no settings"):
        within({"user": "somebody", "dialectree": None})
    with pytest.raises(SettingsError, match="user: there is no such setting"):
        within({"user": "somebody"})


def given_as(context: Any) -> Any:
    """What a node is given where its caller passed ``context``."""
    return type("Runtime", (), {"context": context})


@pytest.mark.parametrize("given", [None, {"max_depth": 1}], ids=["nothing", "a mapping"])
def test_what_a_host_does_not_set_follows_the_environment_and_the_file(
    given: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runtime = given_as(given)
    seen = []
    for name in ("one", "two"):
        monkeypatch.setenv("DIALECTREE_MODEL", f"openai:{name}")
        seen.append(settings(runtime, Settings))
        assert settings(runtime, Settings) is seen[-1]
    monkeypatch.delenv("DIALECTREE_MODEL")
    for text in ('model = "openai:three"', 'model = "openai:fourth"'):
        (tmp_path / "dialectree.toml").write_text(text)
        seen.append(settings(runtime, Settings))
        assert settings(runtime, Settings) is seen[-1]
    assert [str(made.model).partition(":")[2] for made in seen] == ["one", "two", "three", "fourth"]
