"""The tests of majority debate: no model, no network."""

from pathlib import Path
from typing import Any

from majority_debate import Settings
from majority_debate.graph import AgentReply, after_round, graph

import dialectree
from dialectree.testing import (
    Asked,
    ScriptedModel,
    check_contest,
    check_declaration,
    check_demo,
    check_resume,
    check_rule,
)

GIVEN: dict[str, Any] = {"question": "Is fire hot?", "options": ["yes", "no"]}


def script(call: Asked) -> AgentReply:
    """Let agent C say no until it has read the others."""
    label = "B" if call.speaker == "C" and call.round == 1 else "A"
    return AgentReply(reasoning=f"{call.speaker} in round {call.round}", label=label)


def test_the_majority_decides(tmp_path: Path) -> None:
    record = dialectree.run(
        "majority_debate", **GIVEN, model=ScriptedModel(script=script), runs=tmp_path
    )
    assert record.verdict is not None and record.verdict.label == "A"
    check_contest(record, script, tmp_path)


def test_it_is_declared_whole_and_can_be_resumed(tmp_path: Path) -> None:
    check_declaration("majority_debate")
    check_resume("majority_debate", GIVEN, script, tmp_path)


def test_the_rule_leads_on_whatever_was_said() -> None:
    said = {"agent": "a", "round": 2, "reasoning": "So.", "label": "A"}
    for number in range(4):
        for answers in ([], [said]):
            state = {**GIVEN, "round": number, "answers": answers}
            check_rule(graph, after_round, state, Settings(rounds=2))


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
