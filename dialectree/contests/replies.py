"""Contesting what was said: a reply is changed, and the graph walked anew.

The new run begins with the journal of the old one, so that a call which is asked the same is
answered for nothing, and one that is asked something else is made. What a person put in the place
of a reply stands in the record, by its place in the debate, and never in a journal or a cache.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialectree import clock, comparison, turns
from dialectree.contests.reply_changes import Changing, spot
from dialectree.contests.wishes import Wish, only_models_and_limits
from dialectree.context import EMBEDDED, ProtocolSettings
from dialectree.errors import InputError, RunFolderError
from dialectree.protocol import method
from dialectree.recorded_settings import kept, named, settled, speakers, spoken
from dialectree.recorded_settings import versions as installed_versions
from dialectree.records import Call, Event, RunRecord, Spot, Turn, path_key
from dialectree.report.words import outcome_of
from dialectree.runner import Started
from dialectree.runs import RunFolder


def start(
    folder: RunFolder,
    wishes: Sequence[Wish],
    runs: Path,
    given: Mapping[str, Any],
    *,
    person: bool = True,
) -> Started:
    """A new run under ``runs`` in which ``wishes`` hold; as :func:`dialectree.contests.start`."""
    old = folder.record()
    if old.status in ("running", "partial"):
        raise InputError(f"{old.run_id} is not finished; first: dialectree resume {folder.path}")
    only_models_and_limits(given)
    chosen = method(old.method, old.protocol)
    calls = _journal(folder, old)
    changing = Changing(old, _rulings_of_persons(folder))
    for wish in wishes:
        changing.fulfil(wish)
    if not changing.changes:
        flags = "--replace, --drop, --verdict or --restore"
        raise InputError(f"nothing is contested: give {flags}")
    _forget_rulings(folder, old, changing)
    if changing.to_rule and not person:
        raise InputError("--judge me: nobody is there to rule")
    context = _settings(folder, old, given)
    chosen.require_roles(context, given)
    specs = speakers(chosen, context)
    new = RunFolder.create(runs)
    record = RunRecord(
        run_id=new.run_id,
        protocol=old.protocol,
        method=old.method,
        demonstration=old.demonstration or any(s.name == EMBEDDED for s in specs.values()),
        input=old.input,
        settings=kept(context, chosen),
        models=named(specs, spoken(old.models, calls)),
        contest=comparison.begun(old, changing.changes, changing.settled()),
        started=clock.stamp(),
        versions={**installed_versions()},
    )
    carried = [call.model_copy(update={"run": call.run or old.run_id}) for call in calls]
    new.write_record(old, "contested.json")
    new.write("calls.jsonl", "".join(call.model_dump_json() + "\n" for call in carried))
    new.write_record(record)  # last: from here on the folder is a run
    return Started(new, record, chosen, context)


def _journal(folder: RunFolder, old: RunRecord) -> list[Call]:
    """Every call behind the run; RunFolderError where one is missing that its record tells of."""
    calls = folder.ledger()
    there = {call.spot() for call in calls}
    held = old.contest.held if old.contest is not None else []
    there |= {_place(spot) for change in held for spot in change.spots}
    for node in old.tree.nodes.values():
        for turn in node.transcript:
            place = _place(spot(node, turn))
            if place not in there and not any(_same(call, place, turn) for call in calls):
                name = turns.name(node, turn)
                raise RunFolderError(f"{folder.path}: calls.jsonl has no call for {name}")
    return calls


def _same(call: Call, place: tuple[object, ...], turn: Turn) -> bool:
    """Whether ``call`` was asked the same elsewhere: a run that was resumed asks but once."""
    node, _, role, _, take, who = call.spot()
    if (node, role, take, who) != (place[0], place[2], *place[4:]):
        return False
    try:
        said = json.loads(call.reply or "")
    except ValueError:
        return False
    return isinstance(said, dict) and all(said.get(n) == v for n, v in turn.fields.items())


def _place(spot: Spot) -> tuple[str, str, str, int, int, str]:
    return spot.node, spot.stage, spot.role, spot.round, spot.take, spot.who


# What comes along


def _settings(folder: RunFolder, old: RunRecord, given: Mapping[str, Any]) -> ProtocolSettings:
    """Those of the run. Nobody is asked what a question means who was not asked before."""
    context = settled(old, given)
    if not any(e.kind == "answered" and "of" not in e.data for e in folder.events()):
        context = context.model_copy(update={"ask": False})
    return context


def _forget_rulings(folder: RunFolder, old: RunRecord, changing: Changing) -> None:
    """Drop the rulings of persons who are asked again: something is changed that they rest on."""
    for node in _rulings_of_persons(folder):
        changed = any(_rests_on(node, touched, old) for touched in changing.touched)
        if changed and node not in changing.ruled:
            changing.forget(node)


def _judged(event: Event) -> bool:
    """Whether a person ruled there."""
    return event.kind == "answered" and event.data.get("of") == "judge"


def _rulings_of_persons(folder: RunFolder) -> dict[str, str]:
    return {event.node: str(event.data["answer"]) for event in folder.events() if _judged(event)}


def _rests_on(debate: str, changed: str, old: RunRecord) -> bool:
    """Whether the ruling of ``debate`` may depend on what is said at ``changed``."""
    if outcome_of(old) == "choice":  # the winner of each debate of a knockout goes into the next
        return path_key(debate) >= path_key(changed)
    return debate == changed
