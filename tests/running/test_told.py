"""The events of a run tell its record: at any moment, after a break, and in a contest."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest
from langchain_core.outputs import ChatResult

from dialectree.contests import Replace, start
from dialectree.records import UNFINISHED, Event, RunRecord, fold_run, own_calls, turns, usage
from dialectree.records.folder import RunFolder
from dialectree.running.rehearsal import ReplyMaker
from dialectree.running.runner import RunHandle, again
from tests.breaking_off import Crash, Fragile, asked
from tests.examples.conftest import installed as installed
from tests.graphs.role_switching_debate.switching import THREE, TWO
from tests.running.test_broken_off import PAPERS, WAYS, Way, begin, speakers
from tests.scripted import Asked, Said, no_reply
from tests.test_failed_calls import FAULTS, lossy
from tests.test_failed_calls import WAYS as FAILING
from tests.test_failed_calls import start as begin_lossy


def check(record: RunRecord, events: list[Event], folder: RunFolder) -> None:
    """Check that ``events`` fold into ``record`` and into the sums of the calls."""
    folded = fold_run(events, record.order())
    assert (folded.tree, folded.verdict, folded.usage) == (*(record.tree, record.verdict), record.usage)
    calls = usage(own_calls(folder.ledger()))
    for name in ("calls", "calls_from_cache", "attempts", "prompt_tokens", "cost"):
        assert getattr(folded.usage, name) == getattr(calls, name)


class Watcher:
    """Reads the run's folder anew at some of its events."""

    def __init__(self, run: RunHandle, random: Random) -> None:
        self.folder, self.random = run.folder, random
        self.events = run.folder.events()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if self.random.random() < 0.08:
            reader = RunFolder(self.folder.path)
            check(reader.record(), self.events, reader)


def conduct(run: RunHandle, random: Random) -> list[Event]:
    """Conduct ``run`` to its end; return its events."""
    watcher = Watcher(run, random)
    with suppress(Crash):
        asyncio.run(run.conduct(watch=watcher))
    record, events = run.folder.record(), run.folder.events()
    assert events == watcher.events
    assert [event.n for event in events] == [*range(1, len(events) + 1)]
    assert (events[0].kind, events[-1].kind) == ("began", "ended")
    folded = fold_run(events)
    assert (folded.status, folded.notices) == (record.status, record.notices)
    check(record, events, run.folder)
    return events


def check_way(way: Way, speakers: Callable[[int], Fragile], runs: Path, random: Random) -> None:
    """Check the events of a run, of one that is broken off and resumed, and of a contest."""
    first = speakers(0)
    run = begin(first, runs, way)
    conduct(run, random)
    broken = begin(speakers(random.randint(1, len(first.calls))), runs, way)
    told = conduct(broken, random)
    folder = RunFolder(broken.folder.path)
    if folder.record().status in UNFINISHED:
        events = conduct(again(folder, asked(broken, speakers(0))), random)
        assert events[: len(told)] == told and events[len(told)].kind == "resumed"
    record = run.folder.record()
    spoken = [(n, t) for n in record.tree.nodes.values() for t in n.transcript]
    names = [name for n, t in spoken if (name := turns.find_contestable_name(record, n, t))]
    for name in random.sample(names, min(1, len(names))):
        wish = Replace(name, "Another word.")
        model = {**asked(run, speakers(0)), "cache": False}
        conduct(start(run.folder, [wish], runs, model), random)


LONG = {name: [pytest.mark.slow] * (way.calls > 20) for name, way in WAYS.items()}


@pytest.mark.parametrize("way", [pytest.param(way, id=name, marks=LONG[name]) for name, way in WAYS.items()])
def test_the_events_of_a_run_tell_its_record_at_any_moment(way: Way, tmp_path: Path) -> None:
    check_way(way, speakers, tmp_path, Random(way.calls))


_form: ContextVar[Any] = ContextVar("form")
"""The schema of the reply that is asked for."""


class Drawn(Fragile):
    """Makes up its replies. Some are no JSON, and some calls get none."""

    @classmethod
    def from_call(cls, fragile_at: int) -> Drawn:
        """Return a model that crashes at a call; 0: never."""
        return cls(fragile_at=fragile_at)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take the schema as other providers' models do."""
        return self.bind(form=tools[0])

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        _form.set(kwargs.pop("form"))
        return await super()._agenerate(messages, stop, run_manager, **kwargs)

    def _next(self, call: Asked) -> Said:
        if len(self.calls) >= self.fragile_at > 0:
            raise self.error
        random = Random(crc32(repr(call).encode()))
        if random.random() < 0.06:
            return no_reply() if random.random() < 0.5 else "no JSON"
        words = re.findall(r"\w{2,}", call.prompt[-500:])
        reply = ReplyMaker(random, "chance", words, 6).value(_form.get())
        return json.dumps(reply)


OURS: dict[str, dict[str, tuple[Any, ...]]] = {
    "tsd": {
        "max_depth": (0, 1, 2),
        "max_children": (2,),
        "leaf_rounds": (1, 2),
        "synthesis_rounds": (1,),
        "second_pass_below": (None, 0.5, 1.0),
        "leaf_protocol": ("debate", "rsd", "art"),
        "jury": (0, 2, 3),
    },
    "rsd": {
        "options": (TWO, THREE),
        "candidates": ("proposed", "knockout"),
        "cross_examination": ("in_turn", "simultaneous"),
        "judge_orders": ("one", "both"),
        "gate": (0, 2),
        "jury": (0, 2),
    },
    "art": {
        "breadth": (1, 2),
        "depth": (1, 2),
        "trees": (1, 2),
        "blend": (0.0, 0.5, 1.0),
        "judge_orders": ("one", "both"),
        "prune_below": (None, 0.4),
        "jury": (0, 2),
    },
    "tod": {
        "max_depth": (1, 2),
        "turns": ("parallel", "alternating"),
        "filter": ("per_claim", "per_segment"),
    },
}
THEIRS: dict[str, dict[str, tuple[Any, ...]]] = {
    "mad": {"rounds": (1, 2, 3)},
    "council": {"members": (2, 3, 4), "merged": (1, 3)},
    "majority_debate": {"rounds": (1, 2, 3), "options": (TWO, THREE)},
    "reconcile": {"rounds": (0, 1, 3), "options": (TWO, THREE)},
    "tribunal": {"rounds": (1, 2), "questions": (0, 2), "options": (TWO, THREE)},
    "atomic_claims": {
        "most": (1, 3),
        "settled_by": ("art", "rsd", "tsd", "mad", "council", "majority_debate"),
    },
}


def drawn(number: int, known: dict[str, dict[str, tuple[Any, ...]]]) -> Way:
    """Return a way to debate by chance."""
    random = Random(number)
    name = [*known][number % len(known)]
    settings = {one: random.choice(values) for one, values in known[name].items()}
    if "mad" in known and "leaf_protocol" in settings:
        settings["leaf_protocol"] = random.choice([*THEIRS])
    return Way(name, settings, 0, given=PAPERS if name == "tod" else {})


@pytest.mark.parametrize("number", range(4))
def test_the_events_of_runs_by_chance_tell_their_records(number: int, tmp_path: Path) -> None:
    check_way(drawn(number, OURS), Drawn.from_call, tmp_path, Random(number))


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("number", range(40))
def test_the_events_of_many_runs_by_chance_tell_their_records(number: int, tmp_path: Path) -> None:
    check_way(drawn(number, OURS | THEIRS), Drawn.from_call, tmp_path, Random(number))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("way", FAILING.values(), ids=FAILING)
def test_what_is_made_again_is_told_anew_and_counts_once(way: Any, fault: Said, tmp_path: Path) -> None:
    random = Random(way.calls)
    run = begin_lossy(lossy(fault=fault, lost_from=way.calls // 2), tmp_path, way)
    told = conduct(run, random)
    events = conduct(again(RunFolder(run.folder.path), {"model": lossy()}), random)
    assert events[: len(told)] == told and "void" in events[len(told)].data
