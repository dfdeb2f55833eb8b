"""Rules that give the local endpoint's random replies a known shape."""

from __future__ import annotations

from collections.abc import Mapping

Rule = Mapping[str, object]

_CHILDREN = [
    {"qid": "c1", "text": "Is there one language that everybody in Europe speaks?"},
    {"qid": "c2", "text": "Which languages are most widely used in Europe?"},
    {"qid": "c3", "text": "Does everybody within one country share a language?"},
    {"qid": "c4", "text": "How many people in Europe speak English?"},
]


def children(count: int, difficulty: float = 0.9) -> list[Rule]:
    """Every question splits into ``count`` children of one difficulty."""
    kept = _CHILDREN[:count]
    scores = [{"qid": child["qid"], "difficulty": difficulty} for child in kept]
    everywhere: Rule = {"match": "", "set": {"children": kept, "scores": scores, "stop": False}}
    evaluator: Rule = {"match": "how hard each part", "set": {"decision": "decompose"}}
    judge: Rule = {"match": "how a question was split", "set": {"decision": "approve"}}
    return [everywhere, evaluator, judge]


FOUR_CHILDREN = children(4)
