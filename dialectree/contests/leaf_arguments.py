"""What a person may change of an argument tree at a leaf of another protocol.

There the tree's weights are a step of the debate. So a strength or a comparison is changed as the
reply that it was, at its place, and the debate goes on from what the leaf comes to.
"""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from dialectree.contests.account import exact
from dialectree.contests.changes import OTHER, met, one_tree
from dialectree.errors import InputError
from dialectree.nodes.adaptive_reasoning_tree.weighing import left_out
from dialectree.records import Comparison, Held, Node, RunRecord, Spot

_SET = "A person set this."


def grown(record: RunRecord) -> bool:
    """Whether a claim stands anywhere in the run, with an argument tree or where one might grow."""
    return any(node.kind in ("claim", "argument") for node in record.tree.nodes.values())


def strength(record: RunRecord, name: str, tau: float | None, earlier: Held | None) -> Held:
    """Another intrinsic strength of an argument or a claim; None: it has none.

    ``earlier`` is the strength that a person set before.
    """
    tau = None if tau is None else tau + 0.0  # -0 is 0
    flag = f"--set {name}={exact(tau)}"
    node = record.tree.nodes.get(name)
    if node is not None and node.kind not in ("argument", "claim"):
        raise InputError(f"{flag}: that is neither a claim nor an argument, and has no strength")
    node = one_tree(record.tree.nodes, name, flag)
    spot = _scored(record, node) if earlier is None else earlier.spots[0]
    if spot is None:
        raise InputError(f"{flag}: nobody was asked for it, since comparisons alone decide there")
    if tau is not None and not 0 <= tau <= 1:
        raise InputError(f"{flag}: a strength lies in 0 to 1")
    if tau == node.score("tau"):
        raise InputError(f"{flag}: nothing to change, that is its strength already")
    return Held(
        id=name,
        what="set",
        spots=[spot],
        reply=None if tau is None else _reply(node, tau),
        before=exact(node.score("tau")),
        after=exact(tau),
    )


def _reply(node: Node, tau: float) -> dict[str, JsonValue]:
    """The reply of a scorer that comes to ``tau``."""
    if node.kind == "claim":
        return {"rationale": _SET, "truth": tau}
    return {"truth_rationale": _SET, "truth": tau, "weight_rationale": _SET, "weight": 1}


def _scored(record: RunRecord, node: Node) -> Spot | None:
    """Where the strength of ``node`` was asked for; None where nobody wanted it.

    Where comparisons alone count, an argument that they leave undecided is scored after them.
    """
    above = record.tree.nodes.get(node.parent or "")
    stances = {record.tree.nodes[child].stance for child in above.children} if above else set()
    alone = _blend(record) != 1 or not {"support", "attack"} <= stances
    if above is None or node.kind == "claim" or alone:
        return Spot(node=node.id, stage="strength", role="scorer", who="scorer")
    asked = any(turn.role == "scorer" and turn.who == node.id for turn in above.transcript)
    if not asked and not any(failure.role == "scorer" for failure in node.failures):
        return None
    return Spot(node=above.id, stage="tournament", role="scorer", who=node.id)


def _blend(record: RunRecord) -> JsonValue:
    leaf = record.settings.get("leaf")
    return leaf.get("blend") if isinstance(leaf, dict) else None


def without(node: Node) -> Held:
    """An argument, and what hangs below it, that counts for nothing."""
    return Held(id=node.id, what="dropped", spots=[_spot(node.id)], before=node.text)


def _spot(name: str) -> Spot:
    place = left_out(name)
    return Spot(node=place.node, stage=place.stage, role=place.role, who=place.role)


def comparison(record: RunRecord, what: Literal["flip", "void"], one: str, other: str) -> Held:
    """A comparison with another winner, or none; in both orders where there are two.

    A tie in one of them has no other winner, and stays when the other one is flipped.
    """
    found = met(record.tree.nodes, what, one, other)
    if what == "flip":
        found = [c for c in found if c.winner != "TIE"]
    parent = record.tree.nodes[one].parent or ""
    spots = [
        Spot(node=parent, stage="tournament", role="pairwise_judge", who=":".join(_shown(c)))
        for c in found
    ]
    won = OTHER[found[0].winner]
    return Held(
        id=f"{found[0].supporter}:{found[0].attacker}",
        what="flipped" if what == "flip" else "voided",
        spots=spots,
        reply={"rationale": _SET, "winner": won} if what == "flip" else None,
        before=", ".join(c.winner for c in found),
        after=", ".join(won for _ in found) if what == "flip" else None,
    )


def _shown(comparison: Comparison) -> tuple[str, str]:
    """The two in the order in which the judge was shown them."""
    pair = comparison.supporter, comparison.attacker
    return pair if comparison.order == "support_first" else (pair[1], pair[0])
