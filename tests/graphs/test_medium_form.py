"""Whole debates of a model of medium size: each protocol ends, and a resume pays nothing again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.records.folder import RunFolder
from tests.endpoint import LocalEndpoint
from tests.graphs.tree_of_debate.comparing import PAPER_A, PAPER_B
from tests.grounding import written

LONG = "the one that says “no cow has ever eaten any clay in the whole of the valley at all”"
"""A candidate with a quotation that no source has."""
DEBATES: dict[str, tuple[str, dict[str, Any]]] = {
    "tsd": ("tsd", {"question": "Why?", "max_depth": 1, "leaf_rounds": 2, "synthesis_rounds": 2}),
    "rsd": ("rsd", {"question": "Which?", "options": ["clay", LONG]}),
    "art": ("art", {"claim": "Cows eat clay.", "breadth": 2, "depth": 2}),
    "vote": ("vote_first", {"question": "Which?", "options": ["grass", "clay"]}),
    "tod": (
        "tod",
        {
            "paper_a": PAPER_A,
            "paper_b": PAPER_B,
            "topic": "What?",
            "embeddings": "bm25",
            "max_depth": 1,
            "max_claims": 1,
        },
    ),
}


PAIRS = [(name, sources) for name in DEBATES for sources in (False, True)]
PAIRS.remove(("tod", True))  # papers are its sources


@pytest.mark.parametrize(("name", "sources"), PAIRS)
def test_a_debate_of_a_medium_model_comes_to_its_end(name: str, sources: bool, tmp_path: Path) -> None:
    protocol, given = DEBATES[name]
    grounded: dict[str, Any] = {}
    if sources:
        grounded = {"sources": [written(tmp_path / "notes")], "embeddings": "bm25"}
    rules = [{"match": "You judge a debate", "set": {"answer": LONG}}] if name == "rsd" else []
    with LocalEndpoint(seed=5, rules=rules) as endpoint:
        model: dict[str, Any] = {"model": f"openai:any@{endpoint.url}", "cache": False}
        record = dialectree.run(protocol, **given, **grounded, **model, prompt_form="medium")
        asked = endpoint.stats()["calls"]
        assert record.path is not None
        failures = [one for node in record.tree.nodes.values() for one in node.failures]
        assert failures == [] and record.medium_form == ["openai:any"]
        again = dialectree.resume(record.path, **model)
        assert endpoint.stats()["calls"] == asked > 0
    assert again.verdict == record.verdict
    if name == "rsd":
        assert record.verdict is not None and record.verdict.answer == LONG
    assert {call.prompt_form for call in RunFolder(record.path).calls()} == {"medium"}
