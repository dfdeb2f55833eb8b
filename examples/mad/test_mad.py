"""The tests of multi-agent debate: no model, no network."""

from pathlib import Path
from typing import Any

from mad import Argument, Candidates, Choice, Moderation, decided

import dialectree
from dialectree import SaidTurn, Talk
from dialectree.contests import Rule
from dialectree.testing import Asked, ScriptedModel, check_demo, check_protocol

GIVEN: dict[str, Any] = {"question": "Is fire hot?"}


def undecided(call: Asked) -> Any:
    """Let the two disagree to the end, so that a judge chooses."""
    match call.kind:
        case "Moderation":
            return Moderation(rationale="Open.", decided=False, answer="yes", confidence=0.5)
        case "Candidates":
            return Candidates(candidates=["yes", "no"])
        case "Choice":
            return Choice(rationale="So it is.", answer="yes", confidence=0.9)
    answer = "yes" if call.role == "affirmative" else "no"
    words = f"The {call.role} side in round {call.round} has its reasons."
    return Argument(argument=words, answer=answer)


def at_once(call: Asked) -> Any:
    """Let the moderator stop after the first round."""
    if call.kind == "Moderation":
        return Moderation(rationale="Clear.", decided=True, answer="no", confidence=0.8)
    return undecided(call)


ROUND, JUDGE = ["affirmative", "negative", "moderator"], ["judge", "judge"]


def test_who_speaks_and_who_rules(tmp_path: Path) -> None:
    for replies, method, roles, answer in (
        (at_once, "mad", ROUND, "no"),
        (undecided, "mad", [*ROUND * 3, *JUDGE], "yes"),
        (undecided, "unmoderated", [*ROUND[:2] * 3, *JUDGE], "yes"),
    ):
        model = ScriptedModel(script=replies)
        record = dialectree.run("mad", **GIVEN, method_name=method, model=model, runs=tmp_path)
        assert [call.role for call in model.calls] == roles
        assert [turn.role for turn in record.tree.nodes["0"].transcript] == roles
        assert record.verdict is not None and record.verdict.answer == answer


def test_it_has_all_that_a_protocol_has(tmp_path: Path) -> None:
    check_protocol("mad", GIVEN, at_once, tmp_path / "stopped")
    check_protocol("mad", GIVEN, undecided, tmp_path / "judged", rounds=2)


def test_it_argues_from_documents(tmp_path: Path) -> None:
    source = tmp_path / "fire.md"
    source.write_text("Fire is hot. A fire of wood has 600 degrees.")
    given = {**GIVEN, "sources": [str(source)]}
    record = check_protocol("mad", given, undecided, tmp_path, rounds=1)
    roles = [turn.role for turn in record.tree.nodes["0"].transcript]
    assert roles == [*ROUND, "checker", *JUDGE]
    assert record.verdict is not None
    assert [ground.id for ground in record.verdict.grounds] == ["s1:1.1"]


def test_a_verdict_is_contested_where_it_was_ruled(tmp_path: Path) -> None:
    def second(call: Asked) -> Any:
        return undecided(call) if call.round == 1 else at_once(call)

    model = ScriptedModel(script=second)
    record = dialectree.run("mad", **GIVEN, model=model, runs=tmp_path)
    changed = dialectree.contest(record, [Rule("0", "maybe")], model=model, runs=tmp_path)
    assert (changed.usage.calls, len(changed.tree.nodes["0"].transcript)) == (0, 6)
    assert changed.verdict is not None and changed.verdict.answer == "maybe"
    assert changed.verdict.rationale == "A person set this verdict."


def test_the_ablation_is_estimated_exactly() -> None:
    expected = dialectree.estimate("mad", **GIVEN, method_name="unmoderated", rounds=2)
    assert (expected.calls.least, expected.calls.most) == (6, 6)


def test_only_a_moderator_who_has_decided_stops_the_debate() -> None:
    for last in (SaidTurn(), SaidTurn(answer="yes"), SaidTurn(decided=False)):
        assert not decided(Talk(input=GIVEN, settings=None, said=[last]))
    assert decided(Talk(input=GIVEN, settings=None, said=[SaidTurn(decided=True)]))


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
