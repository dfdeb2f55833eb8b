"""Weigh an argument tree: scores and comparisons become strengths, which settle the claim.

ART, sections 3.3 and 3.4. This takes no model call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from langgraph.runtime import Runtime

from dialectree.flow.state import Ruling, VerdictFields
from dialectree.models.reading import (
    NO_EVIDENCE,
    WITHOUT,
    find_cited_sentences,
    is_grounded,
    is_unsupported,
    rest_on,
)
from dialectree.models.run import run_of
from dialectree.nodes.adaptive_reasoning_tree import argument_tree
from dialectree.nodes.adaptive_reasoning_tree.argument_tree import Blended, Weight
from dialectree.nodes.adaptive_reasoning_tree.bradley_terry import Comparison
from dialectree.nodes.adaptive_reasoning_tree.scorer import is_set, set_by_person
from dialectree.nodes.adaptive_reasoning_tree.state import (
    NEUTRAL,
    AdaptiveReasoningTree,
    Argument,
    Compared,
    Settings,
)
from dialectree.text import figure
from dialectree.trace.events import tell

ROUNDING = 1e-12
"""A strength this near to one half counts as one half: floating point may miss a balance."""

WON = {"SUPPORT": True, "ATTACK": False, "TIE": None}
"""By the winner that a judge names: True if the supporter won, None for a tie."""


async def strengths(
    state: AdaptiveReasoningTree, runtime: Runtime[Settings]
) -> dict[str, Mapping[str, object]]:
    """Weigh every argument by itself; with sources, an argument without evidence weighs less.

    Arguments that a person inserted and strengths that a person set stay as they are.
    """
    context = runtime.context
    scores: dict[str, float] = {}
    for name in [*state["claims"], *(argument["id"] for argument in state["arguments"])]:
        if name not in state["scores"]:
            scores |= set_by_person(name, runtime) or {}
    comparisons: dict[str, list[Comparison]] = {}
    for c in state["comparisons"]:
        if not c.get("void"):
            comparison = Comparison(c["supporter"], c["attacker"], WON[c["winner"]])
            comparisons.setdefault(c["parent"], []).append(comparison)
    theta, blended, notes = argument_tree.blend_weights(
        _trees(state, state["scores"] | scores),
        comparisons,
        blend=state["blend"],
        strength_rule=context.strength_rule,
        ties=context.ties,
    )
    unsupported_limit = 0.0 if context.memory == "forbidden" else context.unsupported_at_most
    for argument in state["arguments"]:
        name, weight = argument["id"], blended.get(argument["id"], 0.0)
        lacking = weight > unsupported_limit and is_unsupported(argument["parent"], argument["text"])
        if lacking and not is_set(name, runtime):
            blended[name] = unsupported_limit
            weights = f"{figure(unsupported_limit)} instead of {figure(weight)}"
            note = f"the argument {WITHOUT}: its weight is {weights}"
            tell(runtime, name, "noted", {"note": note})
    return {"scores": scores, "theta": theta, "blended": blended, "notes": notes}


async def aggregation(state: AdaptiveReasoningTree, runtime: Runtime[Settings]) -> Ruling:
    """Weigh the claim; P(claim) of an ensemble is the mean of its trees."""
    context, overrides = runtime.context, run_of(runtime).overrides
    root, arguments = state["id"], state["arguments"]
    dropped = {
        tree_argument["id"] for tree_argument in arguments if overrides.drops_argument(tree_argument["id"])
    }
    weights, notes = argument_tree.aggregate_strengths(
        _trees(state, state["scores"]),
        Blended(state["theta"], state["blended"], state["notes"]),
        semantics=context.semantics,
        prune_below=context.prune_below,
        dropped=dropped,
    )
    standing = [argument for argument in arguments if argument["id"] not in dropped]
    for claim in state["claims"]:
        heard = claim not in state["unheard"] and not _has_unscored_side(claim, standing, weights)
        strength = _round_to_neutral(weights[claim].strength) if heard else None
        weights[claim] = weights[claim]._replace(strength=strength)
    for name, weight in weights.items():
        scores = weight._asdict()
        del scores["counted"]
        tell(runtime, name, "scored", {"scores": scores})
        if name != root:
            status = "missing" if weight.strength is None else "answered"
            tell(runtime, name, "settled", {"verdict": None, "status": status})
    for parent, note in _disagreements(state["comparisons"]).items():
        notes.setdefault(parent, []).append(note)
    for parent, remarks in notes.items():
        for remark in remarks:
            tell(runtime, parent, "noted", {"note": remark})
    ruled = _verdict(state["claims"], standing, weights)
    probability = ruled["confidence"]
    if is_grounded() and (why := _explain_undecided(state["claims"], standing, weights)) is not None:
        other_notes = [note for note in ruled["notes"] if not note.startswith("undecided")]
        ruled = {**ruled, **_NO_LABEL, "notes": [why, *other_notes]}
        probability = None
    if len(state["claims"]) > 1:
        rest_on(*state["claims"])
        tell(runtime, root, "scored", {"scores": {"strength": probability}})
    answer = {"answer": ruled["label"], "rationale": "", "confidence": probability}
    settled = None if probability is None else answer
    tell(runtime, root, "settled", {"take": 1, "verdict": settled, "provenance": [root]})
    return {"verdict": ruled}


def _trees(state: AdaptiveReasoningTree, scores: Mapping[str, float]) -> list[argument_tree.Argument]:
    """Return the claims and all arguments about them, in the form for the arithmetic."""
    claims = [argument_tree.Argument(name, None, None, scores.get(name)) for name in state["claims"]]
    return claims + [
        argument_tree.Argument(
            argument["id"], argument["parent"], argument["stance"], scores.get(argument["id"])
        )
        for argument in state["arguments"]
    ]


def _has_unscored_side(claim: str, arguments: Sequence[Argument], weights: Mapping[str, Weight]) -> bool:
    """Return whether all arguments of one side of the claim lack a weight.

    A side without any argument does not count: its debater declined, or a person dropped its arguments.
    """
    sides: dict[str, list[bool]] = {}
    for argument in arguments:
        if argument["parent"] == claim:
            has_weight = weights[argument["id"]].blended is not None
            sides.setdefault(argument["stance"], []).append(has_weight)
    return any(not any(weight_flags) for weight_flags in sides.values())


def _round_to_neutral(strength: float | None) -> float | None:
    """Return one half for a strength that differs from one half only by rounding.

    Only this function rounds, so that label, notes, reports and records agree on undecided claims.
    """
    near = strength is not None and abs(strength - NEUTRAL) < ROUNDING
    return NEUTRAL if near else strength


def _disagreements(comparisons: Sequence[Compared]) -> dict[str, str]:
    """Return a note for each parent with pairs whose two orders had different winners."""
    winners: dict[tuple[str, str, str], set[str]] = {}
    for c in comparisons:
        if not c.get("void"):
            pair = c["parent"], c["supporter"], c["attacker"]
            winners.setdefault(pair, set()).add(c["winner"])
    counts = Counter(parent for (parent, _, _), pair_winners in winners.items() if len(pair_winners) > 1)
    return {
        parent: f"position bias: {count} of the pairs ended otherwise in the other order"
        for parent, count in counts.items()
    }


def _verdict(
    claims: Sequence[str], arguments: Sequence[Argument], weights: Mapping[str, Weight]
) -> VerdictFields:
    """Return P(claim), its label, and the arguments that weighed most on either side."""
    claim_strengths = [s for claim in claims if (s := weights[claim].strength) is not None]
    probability = _round_to_neutral(fmean(claim_strengths)) if claim_strengths else None
    notes = []
    if probability is None:
        scored = any(weights[claim].blended is not None for claim in claims)
        lacks = "a side of the claim could not be heard or weighed"
        why = lacks if scored else "the claim's own strength is not known"
        notes.append(f"{why}; there is no verdict")
    elif probability == NEUTRAL:
        notes.append("undecided: P(claim) is exactly 0.5")
    if 0 < len(claim_strengths) < len(claims):
        missing_count = len(claims) - len(claim_strengths)
        notes.append(f"{missing_count} of {len(claims)} trees could not be weighed and do not count")
    label = None if probability is None else str(probability > NEUTRAL)
    return {
        "answer": label,
        "label": label,
        "rationale": _strongest(claims, arguments, weights),
        "confidence": probability,
        "confidence_source": "P(claim)",
        "notes": notes,
    }


_NO_LABEL: VerdictFields = {"answer": None, "label": None, "confidence": None, "confidence_source": None}


def _explain_undecided(
    claims: Sequence[str], arguments: Sequence[Argument], weights: Mapping[str, Weight]
) -> str | None:
    """Return the reason why the sources leave the claim undecided; None if they decide it.

    Either no argument cites the sources, or the arguments leave P(claim) unchanged.
    """
    weighed = [weights[claim] for claim in claims if weights[claim].strength is not None]
    if not weighed:
        return None  # there is no verdict for another reason
    cited: dict[str, list[str]] = {"support": [], "attack": []}
    for argument in arguments:
        ids = find_cited_sentences(argument["parent"], argument["text"])
        if argument["parent"] in claims:
            cited[argument["stance"]] += ids
        elif ids:
            cited.setdefault("deeper", []).extend(ids)
    if not any(cited.values()):
        return NO_EVIDENCE
    if any(not _is_unmoved(weight) for weight in weighed):
        return None
    for_claim, against = ([*dict.fromkeys(cited[side])] for side in ("support", "attack"))
    if for_claim and against and {*for_claim} != {*against}:
        return (
            "undecided: the sources contradict each other, as much for as against: "
            f"{', '.join(for_claim)} for it, {', '.join(against)} against it"
        )
    return "undecided: balanced: the arguments leave P(claim) where it began"


def _is_unmoved(weight: Weight) -> bool:
    """Return whether the arguments leave a claim at its starting value."""
    assert weight.strength is not None
    return weight.blended is not None and abs(weight.strength - weight.blended) < ROUNDING


def _strongest(
    claims: Sequence[str], arguments: Sequence[Argument], weights: Mapping[str, Weight]
) -> str | None:
    """Return the strongest argument on each side of the claim, in the words of the debate."""
    lines = []
    for stance, name in (("support", "for"), ("attack", "against")):
        counted = [
            (strength, argument["text"])
            for argument in arguments
            if argument["stance"] == stance and argument["parent"] in claims
            if weights[argument["id"]].counted
            if (strength := weights[argument["id"]].strength) is not None
        ]
        if counted:
            strength, text = max(counted, key=lambda pair: pair[0])
            lines.append(f"The strongest argument {name} the claim ({figure(strength)}): {text}")
        else:
            lines.append(f"No argument {name} the claim counts.")
    return "\n".join(lines) if arguments else None
