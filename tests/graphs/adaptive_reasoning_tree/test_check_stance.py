"""An argument that points the wrong way is asked for again once, and never counts for its side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dialectree.nodes.adaptive_reasoning_tree.arguer import ArgumentsReply, AttackReply, SupportReply
from dialectree.nodes.adaptive_reasoning_tree.scorer import DirectedScorerReply
from tests.graphs.adaptive_reasoning_tree.arguing import (
    Cost,
    argue_as_asked,
    arguers,
    cost,
    direct,
    score,
    verify,
)
from tests.scripted import Asked, Said, ScriptedModel

AWAY = "points the other way"
OTHER = {"supports": "attacks", "attacks": "supports"}


def directed(*misfiled: str, times: int = 1, consistent: bool = True) -> ScriptedModel:
    """A model whose arguments ``misfiled``, by id, point the wrong way in the first ``times``.

    One that is not ``consistent`` says the same of a statement and of its opposite.
    """
    model = arguers()
    sides: tuple[tuple[type[ArgumentsReply], str], ...] = ((SupportReply, "true"), (AttackReply, "false"))
    for kind, word in sides:
        model.will_say(stated(kind, word), to=kind)

    def say(call: Asked) -> Said:
        name, _, negated = call.speaker.partition("_")
        stance = "supports" if name.endswith("0") else "attacks"
        away = name in misfiled and (call.round or 1) <= times
        points = OTHER[stance] if away != bool(negated and consistent) else stance
        return direct(score(), points)

    model.will_say(say, to=DirectedScorerReply)
    return model


def stated(kind: type[ArgumentsReply], word: str) -> Callable[[Asked], Said]:
    """As many arguments as are wanted; other ones where they are asked for again."""

    def say(call: Asked) -> Said:
        texts = argue_as_asked(call).arguments
        if call.round == 3:
            texts = [one.model_copy(update={"text": f"Rather {one.text}"}) for one in texts]
        return kind.model_validate({"statement_is": word, "arguments": [one.model_dump() for one in texts]})

    return say


def test_a_level_that_is_checked_asks_as_often_and_one_call_longer() -> None:
    plain, checked = verify(arguers()), verify(directed(), check_stance="on")
    assert cost(plain) == Cost(calls=5, path=2)
    assert cost(checked) == Cost(calls=5, path=3)
    assert checked.verdict.probability == plain.verdict.probability


@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_an_argument_that_turns_round_when_it_is_asked_for_again_counts(blend: float) -> None:
    model = directed("0.1")
    done = verify(model, check_stance="on", blend=blend)
    again = [call for call in model.calls if call.role == "attacker" and call.round == 3]
    assert len(again) == 1 and "These arguments exist already" in again[0].prompt
    assert done.tree.nodes["0.1"].notes == []
    assert done.tree.nodes["0.1"].score("strength") is not None


def test_a_scorer_that_says_the_same_of_the_opposite_misfiles_nothing() -> None:
    model = directed("0.1", times=2, consistent=False)
    done = verify(model, check_stance="on")
    assert done.tree.nodes["0.1"].notes == []
    assert cost(done) == Cost(calls=6, path=4)


def test_an_argument_that_comes_again_as_it_was_is_not_scored_again() -> None:
    model = directed("0.1")
    model.will_say_now(
        lambda call: AttackReply(statement_is="false", **dict(argue_as_asked(call))), to=AttackReply
    )
    done = verify(model, check_stance="on")
    assert len(done.tree.nodes["0.1"].notes) == 1
    assert model.asked.count("DirectedScorerReply") == 3


@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_an_argument_that_points_away_twice_stands_in_the_record_and_counts_for_nobody(blend: float) -> None:
    model = directed("0.1", times=2)
    done = verify(model, check_stance="on", blend=blend)
    left_out = done.tree.nodes["0.1"]
    assert [AWAY in note for note in left_out.notes] == [True]
    assert left_out.status == "missing" and left_out.score("strength") is None
    assert done.tree.nodes["0"].comparisons == []
    assert done.verdict.rationale is not None
    assert done.verdict.rationale.endswith("No argument against the claim counts.")


def test_deeper_arguments_grow_below_those_that_stand_alone() -> None:
    model = directed("0.0", times=2)
    done = verify(model, check_stance="on", depth=2)
    assert done.tree.nodes["0.0"].children == []
    assert done.tree.nodes["0.1"].children == ["0.1.0", "0.1.1"]


@pytest.mark.parametrize(
    ("settings", "checks"),
    [
        ({}, False),
        ({"prompt_form": "medium"}, True),
        ({"prompt_form": "small"}, False),
        ({"prompt_form": "medium", "check_stance": "off"}, False),
    ],
)
def test_models_of_medium_size_are_checked_unless_a_person_says_otherwise(
    settings: dict[str, Any], checks: bool
) -> None:
    model = directed()
    verify(model, **settings)
    assert ("DirectedScorerReply" in model.asked) is checks
    prompts = [call.prompt for call in model.calls if call.role == "attacker"]
    assert ["`statement_is`" in prompt for prompt in prompts] == [checks]
