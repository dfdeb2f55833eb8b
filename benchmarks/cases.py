"""The debates that are measured: each protocol with its defaults, and at its widest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import bare
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import build_settings
from dialectree.records import RunRecord
from dialectree.running.runner import begin, prepare_graph_input

QUESTION = "Which of these does the engine of a car burn?"
OPTIONS = ["animal products", "oil products"]
PAPERS = [
    {
        "title": f"{name}: orbits from few observations",
        "abstract": f"We estimate orbits by {name} and bound the error.",
        "body": "\n\n".join(
            f"{name} treats {subject} as a part of the estimate, and says how far it can be wrong. "
            f"The {subject} of a night is known before the next one begins, which {name} relies on."
            for subject in ("noise", "priors", "memory", "outliers", "sampling", "scaling")
        ),
    }
    for name in ("ladders", "meshes")
]
INPUTS: dict[str, dict[str, Any]] = {
    "tsd": {"question": QUESTION},
    "rsd": {"question": QUESTION, "options": OPTIONS},
    "art": {"claim": "The engine of a car burns oil products."},
    "tod": {"paper_a": PAPERS[0], "paper_b": PAPERS[1], "topic": QUESTION},
}
_SPLIT = {"progression_of_arguments": True, "clear_winner": False}
RULES = [{"match": "", "set": {"label": "B", "answer": OPTIONS[1], **_SPLIT}}]
"""The judge's label and answer agree. A topic is split until the depth limit."""


class Case(NamedTuple):
    """One way to debate, and the same steps from LangGraph alone."""

    name: str
    protocol: str
    settings: Mapping[str, Any]
    shape: bare.Shape
    rules: list[dict[str, Any]] = RULES
    limit: float | None = 1.15
    """The limit of our wall time over that of the bare steps; None for a burst of calls."""


def splitting(children: int) -> list[dict[str, Any]]:
    """Return rules that give ``children`` parts to every question that may be split.

    The patterns are names of fields that each role's prompt asks for.
    """
    parts = [
        {"qid": f"c{n}", "text": f"Which part of the answer rests on fact number {n}?"}
        for n in range(1, children + 1)
    ]
    return [
        {"match": "`coverage_justification`", "set": {"children": parts, "stop": False}},
        {"match": "`decision` to approve", "set": {"decision": "approve"}},
        {"match": "`scores`", "set": {"decision": "decompose", "difficulty": 0.9}},
    ]


TREE = Case("TSD, 4 leaves", "tsd", {"max_depth": 1}, bare.debate_tree(4, 1), splitting(4))
WIDEST_TREE = Case("TSD, 64 leaves", "tsd", {}, bare.debate_tree(4, 3), splitting(4), None)
COMPARISON = Case("ToD", "tod", {}, bare.tree_of_debate(3, 3), limit=None)
DEBATE = Case("RSD", "rsd", {}, bare.role_switching_debate())
CASES = (
    TREE,
    WIDEST_TREE,
    DEBATE,
    Case(
        "RSD, all at once, two judges",
        "rsd",
        {"cross_examination": "simultaneous", "judge_orders": "both"},
        bare.role_switching_debate(in_turn=False, judges=2),
    ),
    Case("ART", "art", {}, bare.argument_tree(1, 1)),
    Case("ART, breadth 2, depth 2", "art", {"breadth": 2, "depth": 2}, bare.argument_tree(2, 2), limit=None),
    Case("ToD, depth 1", "tod", {"max_depth": 1}, bare.tree_of_debate(3, 1)),
    COMPARISON,
)


async def conduct(case: Case, url: str, runs: Path, number: int = 0, **settings: Any) -> RunRecord:
    """Debate as a command does, with a run's folder, its journal and the reply cache.

    Each ``number`` makes another question, which the cache does not know.
    """
    os.environ["DIALECTREE_CACHE_DIR"] = str(runs)
    chosen = method(case.protocol)
    more = {"embeddings": "bm25"} if case.protocol == "tod" else {}
    context = build_settings(
        chosen.protocol.settings, model="openai:any", base_url=url, **{**more, **case.settings, **settings}
    )
    inputs = dict(INPUTS[case.protocol])
    asked = "claim" if "claim" in inputs else "topic" if "topic" in inputs else "question"
    inputs[asked] += f" ({number})"
    return await begin(chosen, prepare_graph_input(chosen, inputs, context), context, runs).conduct()
