"""Contesting an argument tree: a strength, a comparison, an argument, and the maths once more.

ART's verdicts are contestable because they are arithmetic over a record: no model is asked but for
the strength and the comparisons of an argument that a person adds. The outcome is a new run that
names the one it contests; that one stays as it is. docs/decisions/contest.md says what each change
means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dialectree import clock
from dialectree.conduct import Ask, Watch, calling, complete, settled, speakers, stream, tidy
from dialectree.conduct import versions as installed_versions
from dialectree.contests.wishes import (
    Add,
    Drop,
    Flip,
    Replace,
    Restore,
    Rule,
    Set,
    Void,
    Wish,
    only_models_and_limits,
)
from dialectree.context import EMBEDDED, Context
from dialectree.errors import DialectreeError, InputError, RunFolderError
from dialectree.graphs import method, tournament
from dialectree.models.specs import Spec
from dialectree.nodes.arguments import Argument, Compared, Scored, Stance, Winner, pairs
from dialectree.nodes.weighing import NEUTRAL, Outcome, Reckoning, Told, outcome, weigh
from dialectree.records import Change, Comparison, Contest, Event, Node, RunRecord, fold, path_key
from dialectree.runs import RunFolder

Nodes = dict[str, Node]


def start(
    folder: RunFolder, wishes: Sequence[Wish], runs: Path, given: Mapping[str, Any]
) -> Contesting:
    """A new run under ``runs`` in which ``wishes`` hold, in their order.

    ``given`` are settings for the calls that an added argument costs (models, limits). InputError
    for a wish that the tree cannot fulfil, before anything is written.
    """
    old = folder.record()
    events = _before_the_maths(folder, old)
    words, changes = _fulfilled(events, wishes)
    context, judges = _judges(old, given, asks=any(isinstance(wish, Add) for wish in wishes))
    new = RunFolder.create(runs)
    record = old.model_copy(
        deep=True,
        update={
            "run_id": new.run_id,
            "status": "running",
            "demonstration": old.demonstration or any(j.name == EMBEDDED for j in judges.values()),
            "models": old.models | {role: judge.address for role, judge in judges.items()},
            "contest": _begun(old, words),
            "verdict": None,
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
    context: Context
    old: RunRecord
    """The run that is contested."""
    changes: list[Event]
    """What the wishes change; the folder tells it already."""

    def asks(self) -> bool:
        """False: no person is asked."""
        return False

    async def conduct(self, ask: Ask | None = None, watch: Watch | None = None) -> RunRecord:
        """Reckon anew and complete the record, whatever happens on the way.

        Raises what a model's failure raises, with the record already on disk.
        """
        folder, record = self.folder, self.record
        ended: BaseException | None = None
        began = clock.seconds()
        with folder.held():
            try:
                for event in self.changes:
                    _show(event, watch)
                await self._judge(watch)
                self._weigh(watch)
            except (DialectreeError, asyncio.CancelledError) as error:
                ended = error
            record.usage.wall_s = round(clock.seconds() - began, 6)
            complete(record, folder, ended)
            if ended is None:
                record.contest = _compared(self.old, record)
            folder.write_record(record)
        if ended is not None:
            raise ended
        return record

    async def _judge(self, watch: Watch | None) -> None:
        """Has every new argument scored, and compared with the opposing ones that it meets."""
        new = [event.node for event in self.changes if event.kind == "opened"]
        if not new:
            return
        nodes, blend = _nodes(self.folder.told()), _blend(self.old, self.context)
        async with calling(self.folder, self.context) as run:
            for entries in _entries(nodes, new, self.context.judge_orders, blend):
                await stream(
                    tournament.graph, entries, self.record, self.context, run, self.folder, watch
                )

    def _weigh(self, watch: Watch | None) -> None:
        """Tells the new weights and the new verdict."""
        came = reckoned(self.old, self.context, _nodes(self.folder.told()))
        verdict: dict[str, object] = {**came.verdict}
        if verdict["confidence"] is None:
            verdict["confidence_source"] = None
        for one in [*came.told, (self.old.tree.root, "concluded", verdict)]:
            event = _event(self.folder.run_id, one)
            self.folder.tell(event)
            _show(event, watch)


def _before_the_maths(folder: RunFolder, old: RunRecord) -> list[Event]:
    """All that was told of the contested run before its tree was weighed."""
    if old.status in ("running", "partial"):
        how = f"contest {old.contest.run} again" if old.contest else f"resume {old.run_id}"
        raise InputError(f"{old.run_id} is not finished; first: dialectree {how}")
    root = old.tree.nodes.get(old.tree.root)
    if old.protocol != "art" or root is None or root.kind != "claim":
        raise InputError(f"{old.run_id} has no argument tree of a claim: nothing can be contested")
    events = [*takewhile(lambda event: event.kind != "weighed", folder.events())]
    try:
        whole = _judgements(_nodes(events)) == _judgements(old.tree.nodes)
    except ValueError:
        whole = False
    if not whole:
        raise RunFolderError(f"{folder.path}: events.jsonl does not tell the tree of run.json")
    return events


def _judgements(nodes: Nodes) -> list[object]:
    """The tree without what the maths made of it."""
    weighed = {"theta", "blended", "strength", "status", "verdict", "provenance", "notes"}
    return [node.model_dump(exclude=weighed) for node in nodes.values()]


def _judges(
    old: RunRecord, given: Mapping[str, Any], *, asks: bool
) -> tuple[Context, dict[str, Spec]]:
    """The settings of the run but for those ``given``, and the models that judge what is added."""
    only_models_and_limits(given)
    if not asks:  # a live model is not kept with a run, and none is needed
        return settled(old, {"model": EMBEDDED, "roles": {}, **given}), {}
    context = settled(old, given)
    specs = speakers(method(old.method), context)
    return context, {role: specs[role] for role in ("scorer", "pairwise_judge") if role in specs}


def _event(run_id: str, told: Told) -> Event:
    node, kind, data = told
    event = {"t": clock.stamp(), "run_id": run_id, "node": node, "kind": kind, "data": data}
    return Event.model_validate(event)


def _show(event: Event, watch: Watch | None) -> None:
    if watch is not None:
        watch(event)


def _nodes(events: Iterable[Event]) -> Nodes:
    return fold(events)[0].nodes


# What a person may change


def _fulfilled(events: Sequence[Event], wishes: Sequence[Wish]) -> tuple[list[str], list[Event]]:
    """What the wishes change, in words and as events; each in the light of those before it."""
    if not wishes:
        flags = "--set, --drop, --flip, --void, --restore or --add"
        raise InputError(f"nothing is contested: give {flags}")
    words: list[str] = []
    changes: list[Event] = []
    for wish in wishes:
        node, change, told, marks = _wish([*events, *changes], wish)
        words.append(change)
        told.append((node, "contested", {"change": change, **marks}))
        changes += [_event("", one) for one in told]
    return words, changes


class Changed(NamedTuple):
    """What one wish comes to."""

    node: str
    """Where it is noted."""
    change: str
    """In words."""
    told: list[Told]
    marks: dict[str, bool]
    """What becomes of the node: dropped or not, added."""


def _wish(events: Sequence[Event], wish: Wish) -> Changed:
    """One wish in words, and as events."""
    nodes = _nodes(events)
    match wish:
        case Set(name, tau):
            return _set(nodes, name, tau)
        case Drop(name):
            if _argument(nodes, name).dropped:
                raise InputError(f"--drop {name}: it is dropped already")
            return Changed(name, f"{name} dropped", [], {"dropped": True})
        case Restore(name, ""):
            if not _argument(nodes, name).dropped:
                raise InputError(f"--restore {name}: it was not dropped")
            return Changed(name, f"{name} restored", [], {"dropped": False})
        case Flip(one, other):
            return _compare(events, nodes, "flip", one, other)
        case Void(one, other):
            return _compare(events, nodes, "void", one, other)
        case Restore(one, other):
            return _compare(events, nodes, "restore", one, other)
        case Add(stance, parent, text):
            return _add(nodes, stance, parent, text)
        case Replace(name, _):
            why = "give another one (--add), or drop it"
            raise InputError(f"--replace {name}: an argument was judged by its words; {why}")
        case Rule(name, _):
            why = "it is reckoned from strengths and comparisons; contest those"
            raise InputError(f"--verdict {name}: {why}")
        case _:
            raise InputError(f"{wish!r}: give a list of Set, Drop, Flip, Void, Restore and Add")


def _node(nodes: Nodes, name: str) -> Node:
    if name not in nodes:
        raise InputError(f"{name}: the run has no such argument; dialectree show prints their ids")
    return nodes[name]


def _argument(nodes: Nodes, name: str) -> Node:
    if (node := _node(nodes, name)).kind == "claim":
        raise InputError(f"{name} is the claim, not an argument")
    return node


def _one_tree(nodes: Nodes, name: str, flag: str) -> Node:
    """A claim or an argument; not the claim above several trees, which the maths only averages."""
    node = _node(nodes, name)
    if any(nodes[child].kind == "claim" for child in node.children):
        raise InputError(f"{flag}: {name} stands above several trees; name one of them")
    return node


def _set(nodes: Nodes, name: str, tau: float | None) -> Changed:
    node = _one_tree(nodes, name, f"--set {name}={tau}")
    if tau is not None:
        if not 0 <= tau <= 1:
            raise InputError(f"--set {name}={tau}: a strength lies in 0 to 1")
        tau += 0.0  # -0 is 0
    change = f"strength of {name} set to {_exact(tau)} (before: {_exact(node.tau)})"
    return Changed(name, change, [(name, "scored", {"tau": tau})], {})


def _compare(
    events: Sequence[Event], nodes: Nodes, what: Literal["flip", "void", "restore"], *pair: str
) -> Changed:
    """A comparison that a person changes; in both orders where there are two."""
    flag = f"--{what} {':'.join(pair)}"
    one, other = (_argument(nodes, name) for name in pair)
    parent = one.parent or ""
    met = [c for c in nodes[parent].comparisons if {c.supporter, c.attacker} == {one.id, other.id}]
    if not met:
        raise InputError(f"{flag}: these two were not compared")
    void = met[0].contested == "voided"
    if what == "restore" and not void:
        raise InputError(f"{flag}: it was not voided")
    if what != "restore" and void:
        raise InputError(f"{flag}: it is void; --restore brings it back")
    if what == "flip" and all(c.winner == "TIE" for c in met):
        raise InputError(f"{flag}: it was a tie; there is nothing to flip")
    told: list[Told] = [
        (parent, "compared", _changed(c, what, _ruled(events, c)).model_dump()) for c in met
    ]
    return Changed(parent, f"comparison of {one.id} and {other.id} {_PAST[what]}", told, {})


_PAST = {"flip": "flipped", "void": "voided", "restore": "restored"}
_OTHER: dict[Winner, Winner] = {"SUPPORT": "ATTACK", "ATTACK": "SUPPORT", "TIE": "TIE"}


def _ruled(events: Sequence[Event], comparison: Comparison) -> Winner:
    """Who won before any person changed it."""
    told = (Comparison.model_validate(event.data) for event in events if event.kind == "compared")
    return next(first.winner for first in told if first.pair() == comparison.pair())


def _changed(comparison: Comparison, what: str, ruled: Winner) -> Comparison:
    winner = _OTHER[comparison.winner] if what == "flip" else comparison.winner
    mark = "voided" if what == "void" else "flipped" if winner != ruled else None
    return comparison.model_copy(update={"winner": winner, "contested": mark})


def _add(nodes: Nodes, stance: Stance, parent: str, text: str) -> Changed:
    """An argument of the person's own, after its siblings."""
    above = _one_tree(nodes, parent, f"--add {stance}:{parent}")
    name = f"{parent}.{max((path_key(c)[-1] for c in above.children), default=-1) + 1}"
    opened: dict[str, object] = {
        "text": tidy(text, "argument"),
        "depth": above.depth + 1,
        "parent": parent,
        "kind": "argument",
        "stance": stance,
    }
    children: dict[str, object] = {"children": [*above.children, name], "kind": above.kind}
    change = f"{name} added: it {'supports' if stance == 'support' else 'attacks'} {parent}"
    told: list[Told] = [(name, "opened", opened), (parent, "branched", children)]
    return Changed(name, change, told, {"added": True})


# What follows from it


def _entries(
    nodes: Nodes, new: Sequence[str], orders: Literal["one", "both"], blend: float
) -> Iterator[tournament.Entries]:
    """The tournaments of new arguments: each against those that were there before it."""
    gone = _taken_back(nodes)
    for name in new:
        entrant = _as_argument(nodes[name])
        above = nodes[entrant["parent"]]
        before = above.children[: above.children.index(name)]
        there = [_as_argument(nodes[child]) for child in before if child not in gone]
        met = [
            pair
            for pair in pairs([*there, entrant], orders)
            if entrant in (pair["supporter"], pair["attacker"])
        ]
        held = met if blend > 0 else []
        yield {"id": above.id, "text": above.text, "to_score": [entrant], "pairs": held}


def _as_argument(node: Node) -> Argument:
    assert node.parent is not None and node.stance is not None  # an argument has both
    return {"id": node.id, "parent": node.parent, "stance": node.stance, "text": node.text}


def _taken_back(nodes: Nodes) -> set[str]:
    """What a person added and dropped again: as if it had never been there."""
    return {node.id for node in nodes.values() if node.added and node.dropped}


def _blend(record: RunRecord, context: Context) -> float:
    """Lambda: ArgLLM has no tournament, whatever the setting says."""
    return 0.0 if record.method == "argllm" else context.blend


def reckoned(record: RunRecord, context: Context, nodes: Nodes) -> Outcome:
    """Weighs the argument tree of a record again, from the record alone."""
    root, gone = nodes[record.tree.root], _taken_back(nodes)
    claims = [child for child in root.children if nodes[child].kind == "claim"] or [root.id]
    arguments = [_as_argument(node) for node in nodes.values() if node.kind == "argument"]
    scores: list[Scored] = [
        {"id": node.id, "tau": node.tau} for node in nodes.values() if node.tau is not None
    ]
    comparisons: list[Compared] = [
        {
            "parent": node.id,
            "supporter": c.supporter,
            "attacker": c.attacker,
            "winner": c.winner,
            "order": c.order,
        }
        for node in nodes.values()
        for c in node.comparisons
        if c.contested != "voided" and not gone & {c.supporter, c.attacker}
    ]
    how = Reckoning(
        _blend(record, context),
        context.semantics,
        context.ties,
        context.prune_below,
        frozenset(node.id for node in nodes.values() if node.dropped),
    )
    trees = [weigh(claim, arguments, scores, comparisons, how) for claim in claims]
    here = [argument for argument in arguments if argument["id"] not in gone]
    return outcome(root.id, trees, here, _unheard(nodes, here))


def _unheard(nodes: Nodes, arguments: Sequence[Argument]) -> set[str]:
    """The claims and arguments of which a side failed for good, and nobody argued for it since."""
    argued = {(argument["parent"], argument["stance"]) for argument in arguments}
    return {
        node.id
        for node in nodes.values()
        for failure in node.failures
        if (stance := _SIDES.get(failure.role)) is not None
        and stance not in node.declined
        and (node.id, stance) not in argued
    }


_SIDES: dict[str, Stance] = {"supporter": "support", "attacker": "attack"}


# What is said of it


def _begun(old: RunRecord, changes: list[str]) -> Contest:
    return Contest(
        run=old.run_id, changes=changes, before=_probability(old), after=None, path=[], why=""
    )


def _probability(record: RunRecord) -> float | None:
    return None if record.verdict is None else record.verdict.confidence


def _compared(old: RunRecord, new: RunRecord) -> Contest:
    """Old and new, node by node."""
    assert new.contest is not None  # the record of a contest says what it contests
    path = [
        Change(node=node.id, before=was, after=node.strength)
        for node in sorted(new.tree.nodes.values(), key=lambda n: (-n.depth, path_key(n.id)))
        if (was := _strength(old.tree.nodes.get(node.id))) != node.strength
    ]
    before, after = _probability(old), _probability(new)
    why = _why(new.contest.changes, before, after, [c for c in path if c.node != old.tree.root])
    return new.contest.model_copy(update={"after": after, "path": path, "why": why})


def _strength(node: Node | None) -> float | None:
    return None if node is None else node.strength


def _why(
    changes: Sequence[str], before: float | None, after: float | None, below: Sequence[Change]
) -> str:
    """One line: what moved the claim, or why it stayed."""
    said = "; ".join(changes)
    if below:
        moved = max(below, key=_size)
        said += f"; {moved.node} moved most, {_step(moved.before, moved.after)}"
    else:
        said += "; no argument's strength moved"
    if before == after:
        return f"P(claim) stays {_figure(after)}: {said}"
    labels = [None if p is None else str(p > NEUTRAL) for p in (before, after)]
    label = "" if labels[0] == labels[1] else f", and the label becomes {labels[1] or 'none'}"
    return f"P(claim) goes {_step(before, after)}{label}: {said}"


def _size(change: Change) -> float:
    return abs((change.after or 0.0) - (change.before or 0.0))


def _step(before: float | None, after: float | None) -> str:
    """``from 0.41 to 0.5``; in full where three digits show no difference."""
    was, now = _figure(before), _figure(after)
    if was == now:
        was, now = _exact(before), _exact(after)
    return f"from {was} to {now}"


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"


def _exact(value: float | None) -> str:
    """As it must be written to be set again."""
    return "none" if value is None else repr(value)
