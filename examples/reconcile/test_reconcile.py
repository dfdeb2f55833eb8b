"""The tests of ReConcile: no model, no network. Figures are those of the paper's own code."""

from pathlib import Path
from typing import Any

from reconcile import AgentReply, Settings, over, vote, weight

import dialectree
from dialectree import SaidTurn, Talk
from dialectree.contests import Drop
from dialectree.testing import Asked, Said, ScriptedModel, check_demo, check_protocol

GIVEN: dict[str, Any] = {"question": "Is fire hot?", "options": ["yes", "no"]}


def said(call: Asked, label: str, confidence: float = 0.9) -> AgentReply:
    """Return a reply that only this agent gives in this round."""
    reasoning = f"{call.speaker} in round {call.round} has its reasons"
    return AgentReply(reasoning=reasoning, label=label, confidence=confidence)


def convinced(call: Asked) -> AgentReply:
    """Let agent C say no until it has read the others."""
    return said(call, "B" if call.speaker == "C" and call.round == 1 else "A")


def divided(call: Asked) -> AgentReply:
    """Let agent C be sure of no to the end, and the others doubt their yes."""
    return said(call, "B", 1.0) if call.speaker == "C" else said(call, "A", 0.7)


def at_once(call: Asked) -> AgentReply:
    """Let all agents say yes."""
    return said(call, "A", 0.5)


def talk(*answers: tuple[str, float], round: int = 1, seed: int = 0) -> Talk:
    """Return a debate whose agents have just answered."""
    turns = [
        SaidTurn(name=name, round=round, label=label, confidence=sure, reasoning="So.")
        for name, (label, sure) in zip("ABC", answers, strict=False)
    ]
    return Talk(input=GIVEN, settings=Settings(seed=seed), round=round, said=turns)


def test_it_has_all_that_a_protocol_has(tmp_path: Path) -> None:
    record = check_protocol("reconcile", GIVEN, convinced, tmp_path)
    assert [turn.speaker for turn in record.tree.nodes["0"].transcript] == [*"ABCABC"]


def test_three_answer_and_discuss_three_times_at_most(tmp_path: Path) -> None:
    for script, rounds, calls, answer, share, note in (
        (at_once, 3, 3, "yes", 1.0, "consensus in round 1; votes by weight: A 0.3"),
        (convinced, 3, 6, "yes", 1.0, "consensus in round 2; votes by weight: A 2.4"),
        (divided, 3, 12, "no", 0.625, "no consensus in round 4; votes by weight: A 0.6, B 1.0"),
        (divided, 0, 3, "no", 0.625, "no consensus in round 1; votes by weight: A 0.6, B 1.0"),
    ):
        model = ScriptedModel(script=script)
        record = dialectree.run("reconcile", **GIVEN, model=model, rounds=rounds, runs=tmp_path)
        verdict = record.verdict
        assert len(model.calls) == calls and verdict is not None
        assert (verdict.answer, verdict.confidence) == (answer, share)
        assert (verdict.notes, verdict.confidence_source) == ([note], "weighted vote")


def test_each_agent_has_its_model_and_reads_the_answers_of_the_round_before(tmp_path: Path) -> None:
    models = {f"agent_{who}": ScriptedModel(script=divided) for who in "abc"}
    dialectree.run("reconcile", **GIVEN, model=models["agent_a"], roles=models, runs=tmp_path)
    assert {len(model.calls) for model in models.values()} == {4}
    for call in [call for model in models.values() for call in model.calls]:
        _, *groups = call.prompt.split("<answers_of_the_last_round>\n")
        if call.round == 1:
            assert not groups and "in round" not in call.prompt
            continue
        one, two, three = (f"{who} in round {call.round - 1} has its reasons" for who in "ABC")
        assert [group.partition("\n</")[0].splitlines() for group in groups] == [
            ["2 of the agents answered A.", f"Confidence 0.7: {one}", f"Confidence 0.7: {two}"],
            ["1 of the agents answered B.", f"Confidence 1.0: {three}"],
        ]
        assert call.prompt.count("in round") == 3


def test_confidences_are_rescaled_by_the_table() -> None:
    for weighs, confidences in (
        (1.0, (1.0,)),
        (0.8, (0.9, 0.95, 0.999)),
        (0.5, (0.8, 0.85, 0.899)),
        (0.3, (0.601, 0.7, 0.799)),
        (0.1, (0.0, 0.3, 0.6)),
    ):
        assert [weight(confidence) for confidence in confidences] == [weighs] * len(confidences)


def test_the_largest_weight_wins_and_not_the_most_votes() -> None:
    for answers, winners, share in (
        ([("A", 0.7), ("A", 0.7), ("B", 0.9)], "B", 0.8 / 1.4),
        ([("A", 0.9), ("B", 0.8), ("B", 0.7)], "AB", 0.8 / 1.6),
        ([("A", 0.2), ("A", 0.2), ("A", 0.2)], "A", 1.0),
    ):
        ruled = vote(talk(*answers))
        assert ruled["label"] in winners and abs(ruled["confidence"] - share) < 1e-9
        assert ("drawn from the seed" in ruled["notes"][0]) is (len(winners) > 1)
    drawn = [talk(("A", 0.9), ("B", 0.9), seed=seed) for seed in range(9)]
    assert {vote(one)["label"] for one in drawn} == {"A", "B"}


def test_it_ends_where_all_who_answer_agree_or_where_the_rounds_are_spent() -> None:
    yes, no = ("A", 0.7), ("B", 0.7)
    for answers, number, ends in (
        ([yes, yes, yes], 1, True),
        ([yes, yes], 1, True),
        ([yes], 1, False),
        ([yes, yes, no], 1, False),
        ([yes, yes, no], 3, False),
        ([yes, yes, no], 4, True),
    ):
        assert over(talk(*answers, round=number)) is ends


def test_an_agent_that_fails_keeps_its_answer(tmp_path: Path) -> None:
    def failing(call: Asked) -> Said:
        return "no JSON" if call.speaker == "C" and call.round > 1 else divided(call)

    model = ScriptedModel(script=failing)
    record = dialectree.run("reconcile", **GIVEN, model=model, rounds=1, runs=tmp_path)
    assert record.verdict is not None and record.verdict.answer == "no"


def test_a_vote_that_is_dropped_leaves_a_consensus(tmp_path: Path) -> None:
    model = ScriptedModel(script=convinced)
    first = dialectree.run("reconcile", **GIVEN, model=model, runs=tmp_path)
    changed = dialectree.contest(first, [Drop("0/C1")], model=model, runs=tmp_path)
    assert changed.usage.calls == 0 and changed.verdict is not None
    assert changed.verdict.notes == ["consensus in round 1; votes by weight: A 1.6"]


def test_agents_argue_from_documents(tmp_path: Path) -> None:
    source = tmp_path / "fire.md"
    source.write_text("Fire is hot. A fire of wood has 600 degrees.")
    model, given = ScriptedModel(script=convinced), {**GIVEN, "sources": [str(source)]}
    record = dialectree.run("reconcile", **given, model=model, runs=tmp_path)
    assert [call.role for call in model.calls] == [*["agent"] * 6, "checker"]
    assert record.verdict is not None
    assert [ground.id for ground in record.verdict.grounds] == ["s1:1.1"]


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
