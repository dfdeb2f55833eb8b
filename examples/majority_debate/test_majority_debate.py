"""The tests of majority debate: no model, no network."""

from pathlib import Path
from typing import Any

from majority_debate import AgentReply, Settings, vote

import dialectree
from dialectree import SaidTurn, Talk
from dialectree.testing import Asked, ScriptedModel, check_demo, check_protocol

GIVEN: dict[str, Any] = {"question": "Is fire hot?", "options": ["yes", "no"]}


def script(call: Asked) -> AgentReply:
    """Let agent C say no until it has read the others."""
    label = "B" if call.speaker == "C" and call.round == 1 else "A"
    return AgentReply(reasoning=f"{call.speaker} in round {call.round}", label=label)


def test_it_has_all_that_a_protocol_has_and_the_majority_decides(tmp_path: Path) -> None:
    record = check_protocol("majority_debate", GIVEN, script, tmp_path)
    assert record.verdict is not None and record.verdict.label == "A"
    assert [turn.speaker for turn in record.tree.nodes["0"].transcript] == [*"ABCABC"]


def test_agents_argue_from_documents(tmp_path: Path) -> None:
    source = tmp_path / "fire.md"
    source.write_text("Fire is hot. A fire of wood has 600 degrees.")
    given = {**GIVEN, "sources": [str(source)]}
    record = check_protocol("majority_debate", given, script, tmp_path)
    assert [turn.speaker for turn in record.tree.nodes["0"].transcript] == [*"ABCABC", "checker"]
    assert record.verdict is not None
    assert [ground.id for ground in record.verdict.grounds] == ["s1:1.1"]


def test_rounds_end_early_where_all_agree_and_the_settings_say_so(tmp_path: Path) -> None:
    def alike(call: Asked) -> AgentReply:
        return AgentReply(reasoning=f"{call.speaker} in round {call.round}", label="A")

    for stop, calls in ((True, 3), (False, 9)):
        options: dict[str, Any] = {"rounds": 3, "stop_when_agreed": stop, "runs": tmp_path}
        model = ScriptedModel(script=alike)
        dialectree.run("majority_debate", **GIVEN, model=model, cache=False, **options)
        assert len(model.calls) == calls


def test_those_who_answered_last_are_counted() -> None:
    before = SaidTurn(round=1, label="A", reasoning="So.")
    for labels, winner, share in (("AAB", "A", 2 / 3), ("B", "B", 1 / 3)):
        said = [SaidTurn(round=2, label=label, reasoning="So.") for label in labels]
        ruled = vote(Talk(input=GIVEN, settings=Settings(), round=2, said=[before, *said]))
        assert ruled is not None and (ruled["label"], ruled["confidence"]) == (winner, share)


def test_nobody_rules_where_nobody_answered() -> None:
    assert vote(Talk(input=GIVEN, settings=Settings(), round=1)) is None


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
