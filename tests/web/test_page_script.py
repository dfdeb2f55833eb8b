"""The page folds and weighs runs as Python does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dialectree.contests import Change, Replace, start
from dialectree.errors import InputError
from dialectree.records import Event, RunRecord, turns
from dialectree.records.folder import RunFolder
from dialectree.running.runner import Started, again
from tests import contesting, running
from tests.breaking_off import Crash, asked
from tests.running.test_broken_off import WAYS, begin, speakers
from tests.test_failed_calls import WAYS as FAILING
from tests.test_failed_calls import lossy
from tests.test_failed_calls import start as begin_lossy
from tests.web.page_script import answers, differences, folded, told

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")
ROOT = Path(__file__).parents[2]
Run = tuple[str, RunRecord, list[Event]]


def conduct(run: Started) -> RunFolder:
    with suppress(Crash):
        asyncio.run(run.conduct())
    return run.folder


def demos() -> list[Run]:
    folders = [RunFolder(path) for path in sorted(ROOT.glob("graphs/*/demo"))]
    return [(folder.run_id, folder.record(), folder.events()) for folder in folders]


def generated(runs: Path) -> list[Run]:
    """Return runs of every protocol: whole, broken off and resumed, contested, made again."""
    folders: dict[str, RunFolder] = {}
    for name, way in WAYS.items():
        random = Random(way.calls)
        run = folders[name] = conduct(begin(speakers(), runs, way))
        broken = begin(speakers(random.randrange(1, way.calls + 1)), runs, way)
        conduct(broken)
        resumed = again(RunFolder(broken.folder.path), asked(broken, speakers()))
        folders[f"{name}, resumed"] = conduct(resumed)
        record = run.record()
        spoken = [(n, t) for n in record.tree.nodes.values() for t in n.transcript]
        names = [text for n, t in spoken if (text := turns.printed(record, n, t))]
        for turn in random.sample(names, min(1, len(names))):
            model = {**asked(broken, speakers()), "cache": False}
            contest = start(run, [Replace(turn, "Another word.")], runs, model)
            folders[f"{name}, contested"] = conduct(contest)
    for name, failing in FAILING.items():
        lost = begin_lossy(lossy(fault="no JSON", lost_from=failing.calls // 2), runs, failing)
        conduct(lost)
        resumed = again(RunFolder(lost.folder.path), {"model": lossy()})
        folders[f"{name}, made again"] = conduct(resumed)
    return [(name, one.record(), one.events()) for name, one in folders.items()]


def test_the_page_folds_every_run_as_python_does_at_any_event(tmp_path: Path) -> None:
    random = Random(36)
    runs = [*demos(), *generated(tmp_path / "runs")]
    parts = [
        (f"{name}, {n} events", record, events[:n])
        for name, record, events in runs
        for n in [*random.sample(range(len(events)), 3), len(events)]
    ]
    found = answers([told(record, events) for _, record, events in parts], tmp_path)
    wrong = list[str]()
    for (name, record, events), page in zip(parts, found, strict=True):
        expected = folded(record, events)
        if expected["status"] == "running":
            del expected["usage"], page["usage"]
        wrong.extend(f"{name}{line}" for line in differences(expected, page))
    assert not wrong, "\n".join(wrong[:20])


SHAPES: list[dict[str, Any]] = [
    {},
    {"semantics": "euler", "root_strength": "estimated"},
    {"semantics": "quadratic_energy", "judge_orders": "both"},
    {"strength_rule": "bradley_terry", "ties": "half", "judge_orders": "both", "blend": 0.8},
    {"strength_rule": "bradley_terry", "prune_below": 0.4, "trees": 2},
    {"blend": 0.0, "prune_below": 0.3, "semantics": "euler"},
]


def drawn(record: RunRecord, random: Random) -> Change:
    """Return a change of the figures of ``record``."""
    nodes = [n for n in record.tree.nodes.values() if "tau" in n.scores]
    arguments = [n for n in nodes if n.stance]
    met = [c for n in record.tree.nodes.values() for c in n.comparisons]
    kind = random.choice(["set", "drop", "flip", "void"] if met else ["set", "drop"])
    if kind == "set":
        return Change(change="set", where=f"{random.choice(nodes).id}={random.random()!r}")
    if kind == "drop":
        return Change(change="drop", where=random.choice(arguments).id)
    pair = random.choice(met)
    return Change(change=kind, where=f"{pair.supporter}:{pair.attacker}")


def test_a_change_moves_every_figure_as_a_contest_does(tmp_path: Path) -> None:
    random = Random(2026)
    ask: list[dict[str, Any]] = []
    expected: list[dict[str, float]] = []
    for shape in SHAPES:
        model = contesting.speakers()
        given = {"model": model, "breadth": 2, "depth": 2, **shape}
        folder = conduct(running.begin("art", "It is so.", tmp_path / "runs", **given))
        record = folder.record()
        for _ in range(8):
            wishes = [drawn(record, random)]
            try:
                contest = start(folder, wishes, tmp_path / "runs", {"model": model})
            except InputError:  # a tie cannot be flipped
                continue
            new = conduct(contest).record()
            weigh = {"changes": [wish.model_dump() for wish in wishes]}
            ask.append({**told(record, folder.events()), "weigh": weigh})
            expected.append(
                {
                    n.id: n.scores["strength"]
                    for n in new.tree.nodes.values()
                    if "strength" in n.scores
                }
            )
    found = answers(ask, tmp_path)
    for request, figures, page in zip(ask, expected, found, strict=True):
        strengths = {id: one["strength"] for id, one in page if "strength" in one}
        left = {id: strengths.get(id) for id in figures}
        assert [*differences(figures, left)] == [], request["weigh"]


def test_the_confidences_of_a_tree_multiply_as_in_a_record(tmp_path: Path) -> None:
    runs = [run for run in demos() if len(run[1].tree.nodes) > 1]
    ask = [{**told(record, events), "multiply": True} for _, record, events in runs]
    some = 0
    for (_, record, _), page in zip(runs, answers(ask, tmp_path), strict=True):
        figures = dict(page)
        for node in record.tree.nodes.values():
            if node.verdict and node.id in figures and node.verdict.confidence is not None:
                some += 1
                assert figures[node.id] == pytest.approx(node.verdict.confidence, abs=1e-12)
    assert some
