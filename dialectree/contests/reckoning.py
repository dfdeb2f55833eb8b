"""What follows for an argument tree: the tournaments of new arguments, and the maths once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from dialectree import clock
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    Argument,
    Compared,
    Scored,
    Stance,
    pairs,
)
from dialectree.nodes.adaptive_reasoning_tree.state import Entries, Settings
from dialectree.nodes.adaptive_reasoning_tree.weighing import (
    Outcome,
    Reckoning,
    Told,
    outcome,
    weigh,
)
from dialectree.records import Event, Node, RunRecord, fold
from dialectree.report.words import declined_sides

Nodes = dict[str, Node]


def nodes_of(events: Iterable[Event]) -> Nodes:
    """The tree that ``events`` tell, by id."""
    return fold(events)[0].nodes


def event_of(run_id: str, told: Told) -> Event:
    """What is told now in the run ``run_id``."""
    node, kind, data = told
    event = {"t": clock.stamp(), "run_id": run_id, "node": node, "kind": kind, "data": data}
    return Event.model_validate(event)


def tournaments(
    nodes: Nodes, new: Sequence[str], orders: Literal["one", "both"], blend: float
) -> Iterator[Entries]:
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
    return {node.id for node in nodes.values() if node.taken_back()}


def blend_of(record: RunRecord, context: Settings) -> float:
    """Lambda: ArgLLM has no tournament, whatever the setting says."""
    return 0.0 if record.method == "argllm" else context.blend


def reckoned(record: RunRecord, context: Settings, nodes: Nodes) -> Outcome:
    """Weighs the argument tree of a record again, from the record alone."""
    root, gone = nodes[record.tree.root], _taken_back(nodes)
    claims = [child for child in root.children if nodes[child].kind == "claim"] or [root.id]
    arguments = [_as_argument(node) for node in nodes.values() if node.kind == "argument"]
    scores: list[Scored] = [
        {"id": node.id, "tau": node.scores["tau"]}
        for node in nodes.values()
        if "tau" in node.scores
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
        blend_of(record, context),
        context.strength_rule,
        context.semantics,
        context.ties,
        context.prune_below,
        frozenset(node.id for node in nodes.values() if node.dropped),
    )
    trees = [weigh(claim, arguments, scores, comparisons, how) for claim in claims]
    there = [argument for argument in arguments if argument["id"] not in gone]
    standing = [argument for argument in arguments if not nodes[argument["id"]].dropped]
    return outcome(root.id, trees, standing, _unheard(nodes, there))


def _unheard(nodes: Nodes, arguments: Sequence[Argument]) -> set[str]:
    """The claims and arguments of which a side failed for good, and nobody argued for it since."""
    argued = {(argument["parent"], argument["stance"]) for argument in arguments}
    return {
        node.id
        for node in nodes.values()
        for failure in node.failures
        if (stance := _SIDES.get(failure.role)) is not None
        and stance not in declined_sides(node)
        and (node.id, stance) not in argued
    }


_SIDES: dict[str, Stance] = {"supporter": "support", "attacker": "attack"}
