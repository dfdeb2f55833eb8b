"""A protocol that begins with a vote: what an evaluation keeps of the vote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dialectree import testing
from dialectree.evals import votes
from dialectree.evals.reporting.answers import totals
from dialectree.evals.reporting.study import study
from dialectree.evals.scorers import TruthReply
from dialectree.evals.voted_debates import read
from dialectree.graphs.vote_first import VoteReply
from tests.evals.evaluating import OPTIONS, choices, claims, evaluate, model, opens, plan, results, row
from tests.graphs.adaptive_reasoning_tree.arguing import arguers
from tests.scripted import Asked, ScriptedModel


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
    spent, _ = totals(study([Path("out")]).rows.values())
    assert spent.calls == one.usage.calls


def test_the_vote_on_a_claim_says_true_or_false() -> None:
    speaker = arguers()
    speaker.will_say(*vote("False", "True", "True"))
    evaluated(claims(1), speaker, agree_at=0.6)
    (one,) = results()
    assert one.vote and one.verdict and one.verdict.label == "True"
    assert (one.vote.label, one.vote.right, one.vote.confidence) == ("True", True, 2 / 3)


def test_open_answers_that_are_alike_are_one_and_a_judge_scores_it() -> None:
    speaker = model()
    speaker.will_say(*vote("Hay", "Grass.", " grass."))

    def judged(call: Asked) -> str:
        return "TRUE" if "Grass." in call.prompt else "FALSE"

    speaker.will_say_now(judged, to=TruthReply)
    evaluated(opens(1), speaker, agree_at=0.5)
    (one,) = results()
    assert one.vote and one.vote.right
    assert (one.vote.answers, one.vote.label) == (["hay", "grass.", "grass."], "grass.")


def test_a_route_says_which_protocol_debated_and_by_which_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing.ScriptedModel, "_usage", testing.Illustration._usage)
    speaker = model(winner=OPTIONS[1])
    speaker.will_say(*vote("A", "A", "B"))
    evaluated(choices(2), speaker, agree_at=1.01)
    voted = read(Path("out"))
    assert (voted.sample.n, voted.inside, voted.votes) == (2, True, 3)
    assert (voted.sample.debate_tokens > 0).all() and (voted.sample.vote_tokens > 0).all()
    method, settings, models = voted.debate()
    assert (method.name, settings) == ("rsd", {})
    assert {"debater_a", "debater_b", "judge"} <= {*models} and "voter_1" not in models
    assert len(voted.voters) == 3


def test_a_tie_is_drawn_as_the_protocol_draws_it() -> None:
    speaker = model()
    speaker.will_say(*vote("A", "B", "C"), times=8)
    evaluated(choices(8), speaker, agree_at=0)
    ended = results()
    assert [one.vote and one.vote.label for one in ended] == [
        one.verdict and one.verdict.label for one in ended
    ]
    assert len({one.vote and one.vote.label for one in ended}) > 1


@pytest.mark.parametrize(
    ("labels", "won", "confidence"),
    [("AAB", "A", 2 / 3), ("ABB", "B", 2 / 3), ("CBBA", "B", 0.5), (["A", None, None], "A", 1 / 3)],
)
def test_most_of_the_votes_win_and_no_other_label_takes_part_in_a_draw(
    labels: Sequence[str | None], won: str, confidence: float
) -> None:
    for seed in range(20):
        records: Any = [SimpleNamespace(verdict=SimpleNamespace(label=label)) for label in labels]
        ruled = votes.verdict(records, seed, "item")
        assert ruled is not None and (ruled.label, ruled.confidence) == (won, confidence)
    tied: Any = [SimpleNamespace(verdict=SimpleNamespace(label=label)) for label in "ABC"]
    drawn = [votes.verdict(tied, seed, "item") for seed in range(60)]
    assert {ruled.label for ruled in drawn if ruled is not None} == {*"ABC"}
