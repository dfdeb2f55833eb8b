"""The maths of an argument tree: from scores and comparisons to the probability of its claim.

ART, sections 3.3 and 3.4. No model is asked: whatever is known of the texts is there already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from langgraph.runtime import Runtime

from dialectree.context import Context, settings
from dialectree.events import tell
from dialectree.figures import figure
from dialectree.maths import argument_tree
from dialectree.maths.argument_tree import Weight
from dialectree.maths.bradley_terry import Comparison
from dialectree.models.asking import Place
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree.arguments import (
    NEUTRAL,
    Argument,
    Compared,
    Grown,
    Scored,
)
from dialectree.records import EventKind
from dialectree.state import Ruling, Verdict

ROUNDING = 1e-12
"""What is nearer than this to one half is one half: floating point may miss an exact balance."""


class Reckoning(NamedTuple):
    """How a tree is weighed; the names are those of the settings."""

    blend: float
    strength_rule: Literal["win_rate", "bradley_terry"]
    semantics: Literal["dfquad", "quadratic_energy", "euler"]
    ties: Literal["ignore", "half"]
    prune_below: float | None
    dropped: frozenset[str] = frozenset()
    """Arguments that a person took out of the reckoning."""


class Tree(NamedTuple):
    """What the maths makes of one tree."""

    weights: dict[str, Weight]
    notes: dict[str, list[str]]


def weigh(
    claim: str,
    arguments: Sequence[Argument],
    scores: Sequence[Scored],
    comparisons: Sequence[Compared],
    how: Reckoning,
) -> Tree:
    """The tree whose claim is the node ``claim``.

    Pure: the same texts judged in the same way weigh the same, whenever and in whatever order.
    """
    tau = {scored["id"]: scored["tau"] for scored in scores}
    tree = [argument_tree.Argument(claim, None, None, tau.get(claim))]
    for argument in arguments:
        name = argument["id"]
        if name.startswith(f"{claim}."):
            tree.append(
                argument_tree.Argument(name, argument["parent"], argument["stance"], tau.get(name))
            )
    there = {argument.id for argument in tree}
    met: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c["parent"] in there:
            comparison = Comparison(c["supporter"], c["attacker"], c["winner"])
            met.setdefault(c["parent"], []).append(comparison)
    weighed = argument_tree.weigh(
        tree,
        met,
        blend=how.blend,
        strength_rule=how.strength_rule,
        semantics=how.semantics,
        ties=how.ties,
        prune_below=how.prune_below,
        dropped=how.dropped,
    )
    notes = {name: [*said] for name, said in weighed.notes.items()}
    for parent, said in disagreements(comparisons).items():
        if parent in there:
            notes.setdefault(parent, []).append(said)
    return Tree(weighed.weights, notes)


def disagreements(comparisons: Sequence[Compared]) -> dict[str, str]:
    """For each parent how often the two orders of a pair had different winners."""
    winners: dict[tuple[str, str, str], set[str]] = {}
    for c in comparisons:
        winners.setdefault((c["parent"], c["supporter"], c["attacker"]), set()).add(c["winner"])
    counts: dict[str, int] = {}
    for (parent, _, _), found in winners.items():
        counts[parent] = counts.get(parent, 0) + (len(found) > 1)
    return {
        parent: f"position bias: {count} of the pairs ended otherwise in the other order"
        for parent, count in counts.items()
        if count
    }


class ToWeigh(Grown):
    """A whole tree, or several of one claim."""

    id: str
    question: str
    claims: list[str]
    """The ids of the claims at the roots of the trees."""
    blend: float


class Weighing(Ruling):
    """What the weights come to."""

    probability: float | None
    """P(claim), 0 to 1; None where the claim could not be weighed."""


async def weighing(state: ToWeigh, runtime: Runtime[Context]) -> Weighing:
    """Weighs every tree and settles the claim; its probability is the mean of theirs."""
    came = _weighed(state, runtime)
    for one in came.told:
        tell(runtime, *one)
    return {"probability": came.verdict["confidence"], "verdict": came.verdict}


async def weighing_alone(state: ToWeigh, runtime: Runtime[Context]) -> Weighing:
    """The same where the claim is a node of another protocol, which settles it itself."""
    came = _weighed(state, runtime)
    for node, kind, data in came.told:
        if kind != "settled":
            tell(runtime, node, kind, data)
    return {"probability": came.verdict["confidence"], "verdict": came.verdict}


def _weighed(state: ToWeigh, runtime: Runtime[Context]) -> Outcome:
    context, changes = settings(runtime), run_of(runtime).changes
    names = [argument["id"] for argument in state["arguments"]]
    gone = frozenset(name for name in names if changes.at(left_out(name)) is not None)
    how = Reckoning(
        state["blend"],
        context.strength_rule,
        context.semantics,
        context.ties,
        context.prune_below,
        gone,
    )
    trees = [
        weigh(claim, state["arguments"], state["scores"], state["comparisons"], how)
        for claim in state["claims"]
    ]
    standing = [argument for argument in state["arguments"] if argument["id"] not in gone]
    return outcome(state["id"], trees, standing, state["unheard"])


def left_out(argument: str) -> Place:
    """Where a person says of an argument within a debate that it does not count."""
    return Place(argument, "argument", "weighing", 0)


Told = tuple[str, EventKind, dict[str, object]]
"""A node, a kind of event, and its data."""


class Outcome(NamedTuple):
    """What trees come to: all that is told of it, and the verdict."""

    told: list[Told]
    verdict: Verdict


def outcome(
    root: str, trees: Sequence[Tree], arguments: Sequence[Argument], unheard: Collection[str]
) -> Outcome:
    """The weights of all nodes and the verdict at ``root``; of several trees the mean.

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
        told += _told(tree._replace(weights=weights))
    probability = balanced(mean(found))
    if len(trees) > 1:
        told.append((root, "weighed", {"strength": probability}))
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
    """One half where only rounding keeps a claim's strength from being that.

    Here and nowhere else: label, notes, reports and records then agree on what is undecided.
    """
    near = strength is not None and abs(strength - NEUTRAL) < ROUNDING
    return NEUTRAL if near else strength


def lost(claim: str, arguments: Sequence[Argument], tree: Tree) -> bool:
    """True where every argument of one side of the claim lacks the strength that it needs."""
    sides: dict[str, list[bool]] = {}
    for argument in arguments:
        if argument["parent"] == claim:
            known = tree.weights[argument["id"]].blended is not None
            sides.setdefault(argument["stance"], []).append(known)
    return any(not any(known) for known in sides.values())


def verdict(
    probability: float | None, arguments: Sequence[Argument], trees: Sequence[Tree]
) -> Verdict:
    """P(claim), its label, and the arguments that weighed most on either side."""
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
        "explanation": explanation(arguments, trees),
        "confidence": probability,
        "confidence_source": "P(claim)",
        "notes": notes,
    }


def explanation(arguments: Sequence[Argument], trees: Sequence[Tree]) -> str | None:
    """The strongest argument on each side of the claim, in the words of the debate."""
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
    """The mean of the strengths of the trees that have one; None where none has."""
    known = [strength for strength in strengths if strength is not None]
    return fmean(known) if known else None


def _told(tree: Tree) -> Iterator[Told]:
    """What the maths made of each argument, and its remarks."""
    for name, weight in tree.weights.items():
        figures = {
            "theta": weight.theta,
            "blended": weight.blended,
            "strength": weight.strength,
        }
        yield name, "weighed", {**figures}
    for name, notes in tree.notes.items():
        for note in notes:
            yield name, "noted", {"note": note}
