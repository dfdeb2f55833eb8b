"""Compare two runs: their inputs, their verdicts, and the turns in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from dialectree.contests.verdict_diff import has_weighed_verdict, moves
from dialectree.records import Moved, Node, RunRecord, Turn, Verdict, turns
from dialectree.records.folder import RunFolder
from dialectree.records.place import Strict
from dialectree.report import contested, view
from dialectree.report.contested import Changed
from dialectree.text import count, label, line

_NAMED = 6
"""Nodes that a line names."""


class ChangedTurn(Strict):
    """A turn, at a node of both runs, that differs or that only one of the runs has."""

    node: str
    name: str
    """Name such as 0.1/A2, in the first run that has the turn."""
    turns: tuple[Turn | None, Turn | None]


class Difference(Strict):
    """The difference of two runs. In each pair the first run comes first."""

    runs: tuple[str, str]
    contest: bool
    """True if the second run contests the first one."""
    changes: list[str]
    """Changes by a person, or else differences of the models, settings and inputs."""
    verdicts: tuple[Verdict | None, Verdict | None]
    why: str
    """One line: the change of the verdict, its causes, and the parts that moved."""
    moved: list[Moved]
    """Every node of both runs whose verdict or strength moved, from the bottom up."""
    parted: list[ChangedTurn]
    """The turns that differ, in the order in which the first run said them."""
    only: tuple[list[str], list[str]]
    """The nodes that only the first run has, and those that only the second has."""


def difference(old: RunRecord, new: RunRecord) -> Difference:
    """Return the difference of two runs, which may have different protocols."""
    contests = new.contest is not None and new.contest.run == old.run_id
    changes = new.contest.changes if contests and new.contest else [*_describe_changed_inputs(old, new)]
    moved, why = moves(old, new, changes)
    here, new_nodes = old.tree.nodes, new.tree.nodes
    return Difference(
        runs=(old.run_id, new.run_id),
        contest=contests,
        changes=changes,
        verdicts=(old.verdict, new.verdict),
        why=why,
        moved=[move for move in moved if move.node in here and move.node in new_nodes],
        parted=sorted(_find_changed_turns(old, new), key=_make_turn_order_key(old)),
        only=(
            [node_id for node_id in here if node_id not in new_nodes],
            [node_id for node_id in new_nodes if node_id not in here],
        ),
    )


def _describe_changed_inputs(old: RunRecord, new: RunRecord) -> Iterator[str]:
    """Yield the differences of the inputs, in words: ``seed 1 instead of 0``.

    For two different methods, compare only inputs and settings that both methods have.
    """
    facts = [
        ({"method": record.method}, _plain(record.input), record.models, view.settings(record))
        for record in (old, new)
    ]
    for before, after in zip(*facts, strict=True):
        for name in dict.fromkeys([*before, *after]):
            if old.method != new.method and not (name in before and name in after):
                continue
            was, now = (line(run_facts.get(name, "none"), 80) for run_facts in (before, after))
            if was != now:
                yield f"{label(name).lower()} {now} instead of {was}"


def _plain(values: Mapping[str, JsonValue]) -> dict[str, str]:
    return {name: view.plain(value) for name, value in values.items()}


def _find_changed_turns(old: RunRecord, new: RunRecord) -> Iterator[ChangedTurn]:
    """Yield the turns that differ at each node of both runs."""
    for node in old.tree.nodes.values():
        new_node = new.tree.nodes.get(node.id)
        if new_node is None:
            continue
        before, after = ({turn.spot(): turn for turn in version.transcript} for version in (node, new_node))
        for spot, turn in (after | before).items():
            was, now = before.get(spot), after.get(spot)
            if not was or not now or (was.fields, was.evidence) != (now.fields, now.evidence):
                name = turns.name(node if was else new_node, turn)
                yield ChangedTurn(node=node.id, name=name, turns=(was, now))


def _make_turn_order_key(record: RunRecord) -> Callable[[ChangedTurn], int]:
    """Return a key that sorts turns in the order of ``record``; 0 for a record without a folder."""
    events = RunFolder(record.path).events() if record.path else []
    spoken_turns = (event.turn() for event in events if event.kind == "spoke")
    places = {turn.spot(): place for place, turn in enumerate(spoken_turns)}
    return lambda changed_turn: (
        places.get(changed_turn.turns[0].spot(), 0) if changed_turn.turns[0] else len(places)
    )


def lines(old: RunRecord, new: RunRecord) -> Iterator[str]:
    """Yield the difference of two runs as lines for a person, with the text of each id."""
    run_difference = difference(old, new)
    for record in (old, new):
        words = f"{record.run_id} · {record.method} · {label(record.status).lower()}"
        yield f"{words} · {count(record.usage.calls, 'call')}"
    for title, verdict in zip(
        ("first", "second"), contested.standings(*run_difference.verdicts), strict=True
    ):
        yield f"{title}: {line(verdict, 400)}"
    yield line(run_difference.why, 1000)
    nodes, both = (
        {**new.tree.nodes, **old.tree.nodes},
        has_weighed_verdict(old) and has_weighed_verdict(new),
    )
    parted: dict[str, str] = {}
    for changed_turn in run_difference.parted:
        parted.setdefault(changed_turn.node, changed_turn.name)
    for name, before, after in contested.format_moved_nodes(run_difference.moved, weighed=both):
        parts = f" (parts at {parted[name]})" if name in parted else ""
        yield f"{contested.step(Changed(name, nodes[name].text, before, after))}{parts}"
    stayed = [name for name in parted if name not in {move.node for move in run_difference.moved}]
    if stayed:
        yield f"other turns, same verdict: {_some(nodes, stayed)}"
    for title, names in zip(("first", "second"), run_difference.only, strict=True):
        if names:
            yield f"only in the {title}: {_some(nodes, names)}"


def _some(nodes: Mapping[str, Node], names: Sequence[str]) -> str:
    """Return the first few ids with their texts, and the number of the others."""
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{view.format_node_list(nodes, names[:_NAMED])}{more}"
