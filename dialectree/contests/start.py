"""Begin the contest of a run: a new run that starts with the journal of the contested one.

The journal answers calls with an unchanged request at no cost; only the other calls are made. The
record stores people's changes, by their place in the debate; journals and caches never contain
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dialectree.contests import arguments, evidence_changes, rulings, verdict_diff
from dialectree.contests.changes import Draft, fits, flags
from dialectree.contests.wishes import Change
from dialectree.errors import (
    DialectreeError,
    InputError,
    KeyRefused,
    MissingPackage,
    RunFolderError,
    SettingsError,
)
from dialectree.models.sizes import at_chance
from dialectree.models.specs import Spec
from dialectree.protocols.protocol import Method, load_protocols, method
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import UNFINISHED, Call, RunRecord, Turn, turns
from dialectree.records.folder import SOURCES, RunFolder
from dialectree.running.plug_points import keep_sources, locate_sources
from dialectree.running.recorded_settings import (
    dump_settings,
    list_role_models,
    read_run_settings,
    require_keys,
    require_models_and_limits,
    restrict_to_called_roles,
    speakers,
    versions,
    without_models,
)
from dialectree.running.runner import RunHandle
from dialectree.system import clock
from dialectree.system.loop import wait_for
from dialectree.system.streams import program


def start(
    folder: RunFolder,
    wishes: Iterable[Change],
    runs: Path,
    call_settings: Mapping[str, Any],
    *,
    person: bool = True,
    into: Path | None = None,
) -> RunHandle:
    """Begin a new run under ``runs`` with ``wishes`` applied in order.

    ``call_settings`` are settings for the calls to be made (models, limits). A live model is not
    stored with a run, and a stranger's address is not used. If a model cannot be asked, the contest
    is first tried in a temporary folder. ``into`` replaces ``runs`` for a contest that is a trial.

    Raises InputError if the run cannot fulfil a wish, if a person has to rule again and ``person``
    is False, and if a model has to be asked and cannot be. Then nothing is written.
    """
    wishes, old = _require_change_list(wishes), require_finished(folder)
    require_models_and_limits(call_settings)
    chosen = method(old.method, old.protocol).on(old.input)
    calls = _journal(folder, old)
    nobody = without_models(old, call_settings)
    draft = Draft(old, chosen, nobody, rulings.rulings_of_person(folder), folder.path / SOURCES)
    if not wishes:
        raise InputError(f"nothing is contested: give {flags(draft.phases, 'or')}")
    with chosen.packages():
        for change in wishes:
            apply_change(draft, change)
    sources: Any = [*draft.sources.values()]
    texts = locate_sources(sources, folder.path / SOURCES)
    rulings.forget_rulings(draft, person=person)
    chosen.require_roles(nobody, call_settings)
    in_folder = folder.lies_under(runs)
    callers = _find_callers(draft, chosen, nobody, call_settings, calls, in_runs_folder=in_folder)
    if not any(event.kind == "answered" and "of" not in event.data for event in folder.events()):
        # The contested run asked no person either.
        callers = callers._replace(context=callers.context.model_copy(update={"ask": False}))
    record = _make_record(draft, chosen, callers, calls, sources)
    journal = [call.model_copy(update={"run": call.run or old.run_id}) for call in calls]

    def begin(runs: Path) -> RunHandle:
        new = RunFolder.create(runs)
        new_record = record.model_copy(update={"run_id": new.run_id})
        new.write_record(old, "contested.json")
        new.copy_texts(folder)
        keep_sources(texts, new)
        new.write("calls.jsonl", "".join(call.model_dump_json() + "\n" for call in journal))
        new.write_record(new_record)  # last: from here on the folder is a run
        return RunHandle(new, new_record, chosen, callers.context, refusal=callers.refusal)

    if callers.refusal is not None:
        with TemporaryDirectory() as trial:  # raises the refusal if a model has to be asked
            wait_for(begin(Path(trial)).conduct(ask=lambda request: ""))
    return begin(into or runs)


class _Callers(NamedTuple):
    """The models that a contest may ask."""

    context: ProtocolSettings
    specs: Mapping[str, Spec]
    """The model of each role; empty if the contest asks no model."""
    refusal: DialectreeError | None = None
    """The reason why no model can be asked."""


def _find_callers(
    draft: Draft,
    chosen: Method,
    nobody: ProtocolSettings,
    call_settings: Mapping[str, Any],
    calls: Sequence[Call],
    *,
    in_runs_folder: bool,
) -> _Callers:
    """Return the models of a contest; ``nobody`` are its settings if no model can be asked."""
    try:
        context = read_run_settings(draft.record, call_settings, in_runs_folder=in_runs_folder)
        specs = speakers(chosen, context)
        if _numbers_alone(draft.record, draft, calls):
            return _Callers(context, {})
        require_keys(chosen, context)
    except (SettingsError, MissingPackage, KeyRefused) as error:
        return _Callers(nobody, {}, error)
    return _Callers(context, specs)


def _make_record(
    draft: Draft, chosen: Method, callers: _Callers, calls: Sequence[Call], sources: Any
) -> RunRecord:
    """Return the record of a contest that begins; it has no id yet."""
    old, specs = draft.record, callers.specs
    models = list_role_models(specs, restrict_to_called_roles(old.models, calls)) if specs else old.models
    return RunRecord(
        run_id="",
        owner=old.owner,
        thread=old.thread,
        protocol=old.protocol,
        method=old.method,
        demonstration=old.demonstration or any(map(at_chance, specs.values())),
        input={**old.input, **({"sources": sources} if sources else {})},
        settings=dump_settings(callers.context, chosen) if specs else old.settings,
        models=models,
        calibration=old.calibration,
        declared=old.declared,
        contest=verdict_diff.make_contest(old, draft.changes, [*draft.overrides.values()]),
        started=clock.stamp(),
        versions={**versions()},
    )


def _require_change_list(changes: object) -> list[Change]:
    """Return ``changes`` as a list; raise InputError if it is anything else."""
    change_list: list[Any] = [*changes] if isinstance(changes, Iterable) else [changes]
    if isinstance(changes, Change) or not all(isinstance(change, Change) for change in change_list):
        raise InputError(f"{changes!r:.200} is no list of changes: give [Drop(...), Replace(...)]")
    return change_list


def require_finished(folder: RunFolder) -> RunRecord:
    """Return the record of a run that can be contested; raise InputError if the run is not finished."""
    record = folder.record()
    if record.status in UNFINISHED:
        raise InputError(f"{record.run_id} is not finished; first: {program()} resume {folder.path}")
    return record


def apply_change(draft: Draft, change: Change) -> None:
    """Apply ``change`` to ``draft``; raise InputError if the run cannot fulfil it."""
    if not fits(change, draft.phases):
        able = [protocol.name for protocol in load_protocols().values() if fits(change, protocol.phases)]
        of, knows = draft.record.protocol, flags(draft.phases, "and")
        raise InputError(
            f"`{change.change}`: only runs of {', '.join(able)} support this; {of} supports {knows}"
        )
    if evidence_changes.take_up(draft, change):
        return
    match change.change:
        case "replace":
            draft.replace(change)
        case "drop":
            draft.drop(change)
        case "restore":
            draft.restore(change)
        case "verdict":
            rulings.rule(draft, change)
        case "set":
            arguments.set_strength(draft, change)
        case "add":
            arguments.add(draft, change)
        case _:
            arguments.weigh(draft, change)


def _numbers_alone(old: RunRecord, draft: Draft, calls: Sequence[Call]) -> bool:
    """Return whether arithmetic alone gives the verdict; inserted arguments must have been judged before."""
    weighed = old.get_declaration().outcome == "probability"
    numbers = all(
        override.what in ("set", "flipped", "voided") or override.of_argument()
        for override in draft.overrides.values()
    )
    judged = {call.node for call in calls}
    return (
        weighed
        and numbers
        and all(
            override.id in judged or draft.find(override.id, "out") is not None
            for override in draft.overrides.values()
            if override.what == "added"
        )
    )


def _journal(folder: RunFolder, old: RunRecord) -> list[Call]:
    """Return every call behind the run; raise RunFolderError if a recorded turn has no call."""
    calls = folder.ledger()
    overrides = old.contest.overrides if old.contest is not None else []
    answered_spots = {call.spot() for call in calls}
    answered_spots |= {spot.spot() for override in overrides for spot in override.spots}
    for node in old.tree.nodes.values():
        for turn in node.transcript:
            if turn.spot() not in answered_spots and not any(_is_call_of_turn(call, turn) for call in calls):
                name = turns.name(node, turn)
                raise RunFolderError(f"{folder.path}: calls.jsonl has no call for {name}")
    return calls


def _is_call_of_turn(call: Call, turn: Turn) -> bool:
    """Return whether ``call`` has the reply of ``turn``: a resumed run sends equal requests once."""
    call_place = (call.node, call.role, call.speaker, call.take)
    if call_place != (turn.node, turn.role, turn.speaker, turn.take):
        return False
    try:
        reply = json.loads(call.reply or "")
    except ValueError:
        return False
    return isinstance(reply, dict) and all(reply.get(n) == v for n, v in turn.fields.items())
