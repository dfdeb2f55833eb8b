"""A protocol that begins with a vote: what an evaluation keeps of the vote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialectree.evals.reporting.answers import totals
from dialectree.evals.reporting.study import study
from dialectree.graphs.vote_first import VoteReply
from tests.evals.evaluating import (
    OPTIONS,
    choices,
    evaluate,
    model,
    plan,
    results,
    row,
)
from tests.scripted import ScriptedModel


def vote(*answers: str, confidence: float = 0.8) -> list[VoteReply]:
    return [VoteReply(reasoning="So.", answer=one, confidence=confidence) for one in answers]


def evaluated(data: Path, speaker: ScriptedModel, **settings: Any) -> None:
    evaluate(plan(data, speaker, row("vote_first", **settings), concurrency=1))


@pytest.mark.parametrize("at", [0.67, 1.01])
def test_the_vote_before_a_choice_is_scored_and_counted_inside(at: float) -> None:
    speaker = model(winner=OPTIONS[1])
    speaker.will_say(*vote("A", "A", "A"))
    evaluated(choices(1), speaker, agree_at=at)
    (one,) = results()
    assert one.vote and one.vote.inside and one.verdict
    assert (one.vote.answers, one.vote.label, one.vote.right) == (["A"] * 3, "A", False)
    assert (one.vote.confidence, one.vote.usage.calls) == (1.0, 3)
    spared = one.verdict.confidence_source == "agreement"
    assert spared == (at < 1) == (one.usage.calls == 3)
    spent, _ = totals(study([Path("out")]).rows.values(), ())
    assert spent.calls == one.usage.calls
