"""The events of a run tell its record: at any moment, after a break, and in a contest."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dialectree.contests import Replace, start
from dialectree.records import Event, RunRecord, fold_run, own_calls, turns, usage
from dialectree.records.folder import RunFolder
from dialectree.running.runner import Started, again
from tests.breaking_off import Crash, asked
from tests.running.test_broken_off import WAYS, Way, begin, speakers
from tests.scripted import Said
from tests.test_failed_calls import FAULTS, lossy
from tests.test_failed_calls import WAYS as FAILING
from tests.test_failed_calls import start as begin_lossy

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")


def check(record: RunRecord, events: list[Event], folder: RunFolder) -> None:
    """Check that ``events`` fold into ``record`` and into the sums of the calls."""
    folded = fold_run(events, record.order())
    assert (folded.tree, folded.verdict, folded.usage) == (
        *(record.tree, record.verdict),
        record.usage,
    )
    calls = usage(own_calls(folder.ledger()))
    for name in ("calls", "calls_from_cache", "attempts", "prompt_tokens", "cost"):
        assert getattr(folded.usage, name) == getattr(calls, name)


class Watcher:
    """Reads the run's folder anew at some of its events."""

    def __init__(self, run: Started, random: Random) -> None:
        self.folder, self.random = run.folder, random
        self.events = run.folder.events()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if self.random.random() < 0.15:
            reader = RunFolder(self.folder.path)
            check(reader.record(), self.events, reader)


def conduct(run: Started, random: Random) -> list[Event]:
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


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_events_of_a_run_tell_its_record_at_any_moment(way: Way, tmp_path: Path) -> None:
    random = Random(way.calls)
    run = begin(speakers(), tmp_path, way)
    conduct(run, random)
    broken = begin(speakers(random.randrange(1, way.calls + 1)), tmp_path, way)
    told = conduct(broken, random)
    folder = RunFolder(broken.folder.path)
    events = conduct(again(folder, asked(broken, speakers())), random)
    assert events[: len(told)] == told and events[len(told)].kind == "resumed"
    record = run.folder.record()
    spoken = [(n, t) for n in record.tree.nodes.values() for t in n.transcript]
    names = [name for n, t in spoken if (name := turns.printed(record, n, t))]
    for name in random.sample(names, min(1, len(names))):
        wish = Replace(name, "Another word.")
        model = {**asked(run, speakers()), "cache": False}
        conduct(start(run.folder, [wish], tmp_path, model), random)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("way", FAILING.values(), ids=FAILING)
def test_what_is_made_again_is_told_anew_and_counts_once(
    way: Any, fault: Said, tmp_path: Path
) -> None:
    random = Random(way.calls)
    run = begin_lossy(lossy(fault=fault, lost_from=way.calls // 2), tmp_path, way)
    told = conduct(run, random)
    events = conduct(again(RunFolder(run.folder.path), {"model": lossy()}), random)
    assert events[: len(told)] == told and "void" in events[len(told)].data
