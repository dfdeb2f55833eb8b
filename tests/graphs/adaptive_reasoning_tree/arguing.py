"""A whole argument tree with a scripted model: the replies of every role, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dialectree.graphs.adaptive_reasoning_tree.graph import graph
from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply, ArgumentText
from dialectree.nodes.adaptive_reasoning_tree.scorer import (
    ClaimScorerReply,
    DirectedScorerReply,
    PairwiseReply,
    ScorerReply,
)
from dialectree.nodes.adaptive_reasoning_tree.state import Settings
from dialectree.records import Comparison
from tests.graphs import debating
from tests.graphs.debating import Debated, debate
from tests.scripted import Asked, Said, ScriptedModel

CLAIM = "Chameleons change colour mainly for camouflage"
GENERATORS = ("supporter", "attacker")


def argue(*texts: str) -> ArgumentsReply:
    """The arguments of one side."""
    numbered = [ArgumentText(n=str(n), text=text) for n, text in enumerate(texts, 1)]
    return ArgumentsReply(arguments=numbered)


def wanted(call: Asked) -> int:
    """How many arguments a generator is asked for."""
    found = re.search(r"Give (\d+) argument", call.prompt)
    assert found is not None
    return int(found[1])


def text(node: str, stance: str, place: int) -> str:
    """The argument that a side writes about a node at one place; no two are alike."""
    side = "for" if stance == "support" else "against"
    return f"{side}{place} since{place}{side} about {node} here"


def argue_as_asked(call: Asked) -> ArgumentsReply:
    """As many arguments as were asked for."""
    stance = "support" if call.role == "supporter" else "attack"
    return argue(*(text(call.node, stance, place) for place in range(wanted(call))))


def by_role(**replies: Said | Callable[[Asked], Said]) -> Callable[[Asked], Said]:
    """What ``supporter`` or ``attacker`` says; as asked for where it is not given."""

    def say(call: Asked) -> Said:
        reply = replies.get(call.role, argue_as_asked)
        return reply(call) if callable(reply) else reply

    return say


def score(truth: float = 0.6, weight: float = 1.0) -> ScorerReply:
    """A strength of ``truth`` times ``weight``."""
    why = {"truth_rationale": "Sound.", "weight_rationale": "To the point."}
    return ScorerReply(**why, truth=truth, weight=weight)


def meant(call: Asked) -> str:
    """Which way the argument points that a scorer is shown, by its first word."""
    found = re.search(r"<argument>\n(?:Rather )?(for|supporter|against|attacker)", call.prompt)
    sides = {"for": "supports", "supporter": "supports"}
    return sides.get(found[1], "attacks") if found else "neither"


def direct(score: ScorerReply, points: str | Asked) -> DirectedScorerReply:
    """The same score of an argument that points one way; of a call, the way it is meant to."""
    direction = points if isinstance(points, str) else meant(points)
    return DirectedScorerReply.model_validate({"direction": direction, **score.model_dump()})


def score_claim(truth: float = 0.6) -> ClaimScorerReply:
    return ClaimScorerReply(rationale="Likely.", truth=truth)


def compare(winner: str = "SUPPORT") -> PairwiseReply:
    return PairwiseReply.model_validate({"rationale": "Better.", "winner": winner})


def arguers(
    strength: float = 0.6, winner: str = "SUPPORT", model: ScriptedModel | None = None
) -> ScriptedModel:
    """A model that plays every role: all are as strong, and one side wins every comparison."""
    model = model or ScriptedModel()
    model.will_say(argue_as_asked, to=ArgumentsReply)
    model.will_say(score(strength), score_claim(strength))
    model.will_say(compare(winner))
    return model


def scored_by_node(strengths: Mapping[str, float]) -> Callable[[Asked], ScorerReply]:
    return lambda call: score(strengths[call.node])


def met(call: Asked) -> tuple[str, str]:
    """The texts of the supporter and the attacker that a pairwise judge is shown."""
    pair = call.prompt.partition("</parent>")[2]
    found = re.findall(r"^(SUPPORT|ATTACK): (.*)$", pair, re.MULTILINE)
    shown = dict(found)
    assert len(found) == 2 and len(shown) == 2
    return shown["SUPPORT"], shown["ATTACK"]


def context(model: ScriptedModel, **settings: Any) -> Settings:
    """Return the settings of a tree without the reply cache."""
    return debating.context(model, Settings, **settings)


def verify(model: ScriptedModel, claim: str = CLAIM, **options: Any) -> Debated:
    """The argument tree of ``claim``, to its end; depth and breadth are 1 unless they are given."""
    return debate(model, claim, **{"graph": graph, **options})


class Cost(NamedTuple):
    """Calls in all, and the longest chain of calls where each needs the one before."""

    calls: int
    path: int


def cost(done: Debated) -> Cost:
    return Cost(done.usage.calls, done.usage.critical_path_calls)


def winners(comparisons: list[Comparison]) -> list[tuple[str, str, str]]:
    return [(c.supporter, c.attacker, c.winner) for c in comparisons]
