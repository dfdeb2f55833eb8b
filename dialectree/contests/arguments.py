"""Contesting an argument tree: a strength, a comparison, an argument, and the maths once more.

ART's verdicts are contestable because they are arithmetic over a record: no model is asked but for
the strength and the comparisons of an argument that a person adds. The outcome is a new run that
names the one it contests; that one stays as it is. docs/decisions/contest.md says what each change
means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from dialectree import clock
from dialectree.contests.account import begun, compared
from dialectree.contests.changes import fulfilled
from dialectree.contests.reckoning import (
    Nodes,
    blend_of,
    event_of,
    nodes_of,
    reckoned,
    tournaments,
)
from dialectree.contests.wishes import Add, Wish, only_models_and_limits
from dialectree.context import EMBEDDED, ProtocolSettings
from dialectree.errors import DialectreeError, InputError, RunFolderError
from dialectree.graphs.adaptive_reasoning_tree import tournament
from dialectree.human_input import Ask
from dialectree.models.specs import Spec
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.protocol import method
from dialectree.recorded_settings import named, settled, speakers
from dialectree.recorded_settings import versions as installed_versions
from dialectree.records import Event, RunRecord, Usage
from dialectree.report.words import outcome_of
from dialectree.runner import Watch, calling, complete, stream
from dialectree.runs import RunFolder


def start(
    folder: RunFolder, wishes: Sequence[Wish], runs: Path, given: Mapping[str, Any]
) -> Contesting:
    """A new run under ``runs`` in which ``wishes`` hold, in their order.

    ``given`` are settings for the calls that an added argument costs (models, limits). InputError
    for a wish that the tree cannot fulfil, before anything is written.
    """
    old = folder.record()
    events = _before_the_maths(folder, old)
    words, changes = fulfilled(events, wishes)
    context, judges = _judges(old, given, asks=any(isinstance(wish, Add) for wish in wishes))
    new = RunFolder.create(runs)
    record = old.model_copy(
        deep=True,
        update={
            "run_id": new.run_id,
            "status": "running",
            "demonstration": old.demonstration or any(j.name == EMBEDDED for j in judges.values()),
            "models": old.models | named(judges, old.models),
            "contest": begun(old, words),
            "verdict": None,
            "usage": Usage(),
            "notices": [],
            "started": clock.stamp(),
            "ended": None,
            "versions": {**installed_versions()},
        },
    )
    events, changes = (
        [event.model_copy(update={"run_id": new.run_id}) for event in part]
        for part in (events, changes)
    )
    lines = (event.model_dump_json() + "\n" for event in [*events, *changes])
    new.write("events.jsonl", "".join(lines))
    new.write_record(record)  # last: from here on the folder is a run
    new.resume_events()
    return Contesting(new, record, context, old, changes)


@dataclass
class Contesting:
    """A contest that has its folder, before and while it is reckoned."""

    folder: RunFolder
    record: RunRecord
    context: Settings
    old: RunRecord
    """The run that is contested."""
    changes: list[Event]
    """What the wishes change; the folder tells it already."""

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Reckon anew and complete the record, whatever happens on the way.

        Raises what a model's failure raises, with the record already on disk.
        """
        folder, record = self.folder, self.record
        ended: BaseException | None = None
        began = clock.seconds()
        passed: list[str] = []
        with folder.held():
            try:
                for event in self.changes:
                    _show(event, watch)
                passed = await self._judge(watch)
                self._weigh(watch)
            except (DialectreeError, asyncio.CancelledError) as error:
                ended = error
            record.usage.wall_s = round(clock.seconds() - began, 6)
            complete(record, folder, ended)
            record.notices += passed
            if ended is None:
                record.contest = compared(self.old, record)
            folder.write_record(record)
        if ended is not None:
            raise ended
        return record

    async def _judge(self, watch: Watch | None) -> list[str]:
        """Has every new argument scored, and compared with the opposing ones that it meets.

        Says which budgets its calls went beyond.
        """
        new = [event.node for event in self.changes if event.kind == "opened"]
        if not new:
            return []
        nodes, blend = nodes_of(self.folder.told()), blend_of(self.old, self.context)
        async with calling(self.folder, self.context) as run:
            for entries in tournaments(nodes, new, self.context.judge_orders, blend):
                await stream(
                    tournament.graph, entries, self.record, self.context, run, self.folder, watch
                )
        return run.budget.overrun()

    def _weigh(self, watch: Watch | None) -> None:
        """Tells the new weights and the new verdict."""
        came = reckoned(self.old, self.context, nodes_of(self.folder.told()))
        verdict: dict[str, object] = {**came.verdict}
        if verdict["confidence"] is None:
            verdict["confidence_source"] = None
        for one in [*came.told, (self.old.tree.root, "concluded", verdict)]:
            event = event_of(self.folder.run_id, one)
            self.folder.tell(event)
            _show(event, watch)


def _before_the_maths(folder: RunFolder, old: RunRecord) -> list[Event]:
    """All that was told of the contested run before its tree was weighed."""
    if old.status in ("running", "partial"):
        how = f"contest {old.contest.run} again" if old.contest else f"resume {folder.path}"
        raise InputError(f"{old.run_id} is not finished; first: dialectree {how}")
    root = old.tree.nodes.get(old.tree.root)
    if outcome_of(old) != "probability" or root is None or root.kind != "claim":
        raise InputError(f"{old.run_id} has no argument tree of a claim: nothing can be contested")
    events = [
        *takewhile(lambda event: "theta" not in str(event.data.get("scores")), folder.events())
    ]
    try:
        whole = _judgements(nodes_of(events)) == _judgements(old.tree.nodes)
    except ValueError:
        whole = False
    if not whole:
        raise RunFolderError(f"{folder.path}: events.jsonl does not tell the tree of run.json")
    return events


def _judgements(nodes: Nodes) -> list[object]:
    """The tree without what the maths made of it."""
    weighed = {"scores", "status", "verdict", "provenance", "notes", "transcript"}
    return [(node.model_dump(exclude=weighed), node.score("tau")) for node in nodes.values()]


def _judges(
    old: RunRecord, given: Mapping[str, Any], *, asks: bool
) -> tuple[Settings, dict[str, Spec]]:
    """The settings of the run but for those ``given``, and the models that judge what is added."""
    only_models_and_limits(given)
    chosen = method(old.method, old.protocol)
    if not asks:  # a live model is not kept with a run, and none is needed
        context = _own(settled(old, {"model": EMBEDDED, "roles": {}, **given}))
        chosen.require_roles(context, given)
        return context, {}
    context = _own(settled(old, given))
    chosen.require_roles(context, given)
    specs = speakers(chosen, context)
    return context, {role: specs[role] for role in ("scorer", "pairwise_judge") if role in specs}


def _own(settings: ProtocolSettings) -> Settings:
    assert isinstance(settings, Settings)  # a record of another protocol came to no argument tree
    return settings


def _show(event: Event, watch: Watch | None) -> None:
    if watch is not None:
        watch(event)
