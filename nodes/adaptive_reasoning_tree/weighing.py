"""The maths of an argument tree: from scores and comparisons to the probability of its claim.

ART, sections 3.3 and 3.4. No model is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from dialectree.formatting import figure
from dialectree.maths import argument_tree
from dialectree.maths.argument_tree import Blended, Weight
from dialectree.maths.bradley_terry import Comparison
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    NEUTRAL,
    Argument,
    Compared,
    Scored,
)
from dialectree.nodes.adaptive_reasoning_tree.state import Weights
from dialectree.records import EventKind
from dialectree.state import Verdict

ROUNDING = 1e-12
"""A strength nearer to one half is one half: floating point may miss an exact balance."""


class Reckoning(NamedTuple):
    """How a tree is weighed; the names are those of the settings."""

    blend: float
    strength_rule: Literal["win_rate", "bradley_terry"]
    semantics: Literal["dfquad", "quadratic_energy", "euler"]
    ties: Literal["ignore", "half"]
    prune_below: float | None
    dropped: frozenset[str] = frozenset()
    """Arguments that a person left out."""


class Tree(NamedTuple):
    """One tree after the maths."""

    weights: dict[str, Weight]
    notes: dict[str, list[str]]


def weigh(
    claim: str,
    arguments: Sequence[Argument],
    scores: Sequence[Scored],
    comparisons: Sequence[Compared],
    how: Reckoning,
) -> Tree:
    """Return the weights of the tree whose claim is the node ``claim``.

    Pure: the same texts judged in the same way weigh the same, whenever and in whatever order.
    """
    weights = by_themselves(claim, arguments, scores, comparisons, how)
    return carried(claim, arguments, scores, comparisons, weights, how)


def by_themselves(
    claim: str,
    arguments: Sequence[Argument],
    scores: Sequence[Scored],
    comparisons: Sequence[Compared],
    how: Reckoning,
) -> Weights:
    """Return the weight that scores and comparisons give to each argument by itself."""
    tree = _tree(claim, arguments, scores)
    ids = {argument.id for argument in tree}
    made: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c["parent"] in ids and not c.get("void"):
            comparison = Comparison(c["supporter"], c["attacker"], c["winner"])
            made.setdefault(c["parent"], []).append(comparison)
    theta, blended, notes = argument_tree.blended(
        tree, made, blend=how.blend, strength_rule=how.strength_rule, ties=how.ties
    )
    return {"theta": theta, "blended": blended, "notes": notes}


def carried(
    claim: str,
    arguments: Sequence[Argument],
    scores: Sequence[Scored],
    comparisons: Sequence[Compared],
    weights: Weights,
    how: Reckoning,
) -> Tree:
    """Return the tree after its arguments' weights are carried to its claim."""
    weighed = argument_tree.aggregated(
        _tree(claim, arguments, scores),
        Blended(weights["theta"], weights["blended"], weights["notes"]),
        semantics=how.semantics,
        prune_below=how.prune_below,
        dropped=how.dropped,
    )
    notes = {name: [*said] for name, said in weighed.notes.items()}
    for parent, said in disagreements(comparisons).items():
        if parent in weighed.weights:
            notes.setdefault(parent, []).append(said)
    return Tree(weighed.weights, notes)


def _tree(
    claim: str, arguments: Sequence[Argument], scores: Sequence[Scored]
) -> list[argument_tree.Argument]:
    tau = {scored["id"]: scored["tau"] for scored in scores}
    tree = [argument_tree.Argument(claim, None, None, tau.get(claim))]
    for argument in arguments:
        name = argument["id"]
        if name.startswith(f"{claim}."):
            tree.append(
                argument_tree.Argument(name, argument["parent"], argument["stance"], tau.get(name))
            )
    return tree


def disagreements(comparisons: Sequence[Compared]) -> dict[str, str]:
    """Return, for each parent, how often the two orders of a pair had different winners."""
    winners: dict[tuple[str, str, str], set[str]] = {}
    for c in comparisons:
        if not c.get("void"):
            pair = c["parent"], c["supporter"], c["attacker"]
            winners.setdefault(pair, set()).add(c["winner"])
    counts: dict[str, int] = {}
    for (parent, _, _), found in winners.items():
        counts[parent] = counts.get(parent, 0) + (len(found) > 1)
    return {
        parent: f"position bias: {count} of the pairs ended otherwise in the other order"
        for parent, count in counts.items()
        if count
    }


Told = tuple[str, EventKind, dict[str, object]]
"""A node, a kind of event, and its data."""


class Outcome(NamedTuple):
    """The events that tell of the weights, and the verdict."""

    told: list[Told]
    verdict: Verdict


def outcome(
    root: str, trees: Sequence[Tree], arguments: Sequence[Argument], unheard: Collection[str]
) -> Outcome:
    """Weigh all nodes and rule at ``root``; of several trees by the mean.

    ``arguments`` are those that no person dropped: a side that a person emptied is empty, not lost.
    A claim is without a probability where a side of it is ``unheard`` or none of its arguments
    could be weighed, or where its own strength is not known.
    """
    told: list[Told] = []
    found: list[float | None] = []
    for tree in trees:
        claim = next(iter(tree.weights))
        heard = claim not in unheard and not lost(claim, arguments, tree)
        strength = balanced(tree.weights[claim].strength) if heard else None
        weights = {**tree.weights, claim: tree.weights[claim]._replace(strength=strength)}
        found.append(strength)
        told += _told(root, tree._replace(weights=weights))
    probability = balanced(mean(found))
    if len(trees) > 1:
        told.append((root, "scored", {"scores": {"strength": probability}}))
    ruled = verdict(probability, arguments, trees)
    if probability is not None and None in found:
        note = f"{found.count(None)} of {len(found)} trees could not be weighed and do not count"
        ruled["notes"].append(note)
    settled = None
    if ruled["label"] is not None:
        settled = {"answer": ruled["label"], "rationale": "", "confidence": probability}
    told.append((root, "settled", {"take": 1, "verdict": settled, "provenance": [root]}))
    return Outcome(told, ruled)


def balanced(strength: float | None) -> float | None:
    """Return one half where only rounding keeps a claim's strength from being that.

    Here and nowhere else: label, notes, reports and records then agree on what is undecided.
    """
    near = strength is not None and abs(strength - NEUTRAL) < ROUNDING
    return NEUTRAL if near else strength


def lost(claim: str, arguments: Sequence[Argument], tree: Tree) -> bool:
    """Return whether every argument of one side of the claim lacks the strength that it needs."""
    sides: dict[str, list[bool]] = {}
    for argument in arguments:
        if argument["parent"] == claim:
            known = tree.weights[argument["id"]].blended is not None
            sides.setdefault(argument["stance"], []).append(known)
    return any(not any(known) for known in sides.values())


def verdict(
    probability: float | None, arguments: Sequence[Argument], trees: Sequence[Tree]
) -> Verdict:
    """Return P(claim), its label, and the arguments that weighed most on either side."""
    notes = []
    if probability is None:
        known = any(next(iter(tree.weights.values())).blended is not None for tree in trees)
        lacks = "a side of the claim could not be heard or weighed"
        why = lacks if known else "the claim's own strength is not known"
        notes.append(f"{why}; there is no verdict")
    elif probability == NEUTRAL:
        notes.append("undecided: P(claim) is exactly 0.5")
    label = None if probability is None else str(probability > NEUTRAL)
    return {
        "answer": label,
        "label": label,
        "rationale": strongest(arguments, trees),
        "confidence": probability,
        "confidence_source": "P(claim)",
        "notes": notes,
    }


def strongest(arguments: Sequence[Argument], trees: Sequence[Tree]) -> str | None:
    """Return the strongest argument on each side of the claim, in the words of the debate."""
    strength = {name: w.strength for tree in trees for name, w in tree.weights.items() if w.counted}
    claims = {next(iter(tree.weights)) for tree in trees}
    lines = []
    for stance, name in (("support", "for"), ("attack", "against")):
        heard = [
            (known, argument["text"])
            for argument in arguments
            if argument["stance"] == stance
            and argument["parent"] in claims
            and (known := strength.get(argument["id"])) is not None
        ]
        if heard:
            known, text = max(heard, key=lambda found: found[0])
            lines.append(f"The strongest argument {name} the claim ({figure(known)}): {text}")
        else:
            lines.append(f"No argument {name} the claim counts.")
    return "\n".join(lines) if arguments else None


def mean(strengths: Sequence[float | None]) -> float | None:
    """Return the mean of the strengths of the trees that have one; None where none has."""
    known = [strength for strength in strengths if strength is not None]
    return fmean(known) if known else None


def _told(root: str, tree: Tree) -> Iterator[Told]:
    """Yield the weights of each argument, its status, and the notes on it, as events."""
    for name, weight in tree.weights.items():
        figures = {
            "theta": weight.theta,
            "blended": weight.blended,
            "strength": weight.strength,
        }
        yield name, "scored", {"scores": {**figures}}
        if name != root:
            status = "missing" if weight.strength is None else "answered"
            yield name, "settled", {"verdict": None, "status": status}
    for name, notes in tree.notes.items():
        for note in notes:
            yield name, "noted", {"note": note}
