"""The tests of the tribunal: no model, no network."""

from pathlib import Path
from typing import Any

from tribunal import Judgment, Plea, Settings, standing

import dialectree
from dialectree import SaidTurn, Talk
from dialectree.contests import Drop, Rule
from dialectree.testing import Asked, Said, Script, ScriptedModel, check_demo, check_protocol

GIVEN: dict[str, Any] = {"question": "How hot is fire?", "options": ["cold", "warm", "hot"]}


def court(concessions: str = "", asks: str = "", rules: str = "C") -> Script:
    """Return a debate with ``concessions`` (B2C: B concedes to C in round 2).

    The judge asks each advocate of ``asks`` one question, then ``rules``.
    """
    conceding = {one[:2]: one[2] for one in concessions.split()}

    def script(call: Asked) -> Said:
        who, number = call.speaker, call.round
        if call.kind == "Plea":
            label = conceding.get(f"{who}{number}", who)
            return Plea(argument=f"{who} pleads in round {number}", sides_with=label)
        ask = (*asks, "nobody")[call.prompt.count("Judge, to advocate")]
        return Judgment(
            rationale=f"The judge weighs in round {number}",
            question=f"What does {ask} say in round {number}?",
            asks=ask,
            label="undecided" if ask != "nobody" else rules,
            confidence=0.8,
        )

    return script


def spoken(script: Script, runs: Path, **settings: Any) -> tuple[str, dialectree.Verdict | None]:
    """Return the speakers in order, simultaneous ones by their letters, and the verdict."""
    model = ScriptedModel(script=script)
    record = dialectree.run("tribunal", **GIVEN, **settings, model=model, runs=runs, cache=False)
    who = (f"{call.speaker or 'judge'}{call.round}" for call in model.calls)
    return " ".join(who), record.verdict


def test_it_has_all_that_a_protocol_has(tmp_path: Path) -> None:
    check_protocol("tribunal", GIVEN, court("B2C", asks="A"), tmp_path)


def test_who_speaks_and_who_rules(tmp_path: Path) -> None:
    twice = "A1 B1 C1 A2 B2 C2"
    for script, settings, order, answer in (
        (court(), {}, f"{twice} judge2", "hot"),
        (court(), {"rounds": 1}, "A1 B1 C1 judge1", "hot"),
        (court("B2C"), {"rounds": 3}, f"{twice} A3 C3 judge3", "hot"),
        (court("A2C B2C"), {"rounds": 5}, f"{twice} judge2", "hot"),
        (court("A2C B2C C2A"), {"rounds": 3}, f"{twice} A3 B3 C3 judge3", "hot"),
        (court(asks="A"), {}, f"{twice} judge2 A3 judge3", "hot"),
        (court(asks="AC", rules="A"), {}, f"{twice} judge2 A3 judge3 C4 judge4", "cold"),
        (court("A2C B2C", asks="C"), {"rounds": 5}, f"{twice} judge2 C3 judge3", "hot"),
    ):
        said, verdict = spoken(script, tmp_path, **settings)
        assert said == order and verdict is not None
        assert (verdict.answer, verdict.confidence_source) == (answer, "judge")


def test_a_judge_who_is_undecided_rules_nothing(tmp_path: Path) -> None:
    model = ScriptedModel(script=court(rules="undecided"))
    record = dialectree.run("tribunal", **GIVEN, model=model, runs=tmp_path)
    assert record.status == "unresolved" and record.verdict is not None
    assert (record.verdict.answer, record.verdict.label) == (None, None)
    assert (record.verdict.confidence, record.verdict.notes) == (None, ["the judge is undecided"])
    assert record.verdict.rationale == "The judge weighs in round 2"
    ruled = dialectree.contest(record, [Rule("0", "B")], model=model, runs=tmp_path)
    assert ruled.usage.calls == 0 and ruled.verdict is not None
    assert (ruled.verdict.answer, ruled.verdict.confidence_source) == ("warm", "person")


def test_the_first_pleas_are_blind_and_the_later_ones_read_all(tmp_path: Path) -> None:
    model = ScriptedModel(script=court("B2C", asks="A"))
    dialectree.run("tribunal", **GIVEN, model=model, runs=tmp_path)
    for call in model.calls:
        last = call.round + (call.role == "judge")
        rounds = {1: "ABC", 2: "ABC", 3: "A"}
        pleas = [f"{who} pleads in round {n}" for n in range(1, last) for who in rounds[n]]
        assert [one for one in pleas if one in call.prompt] == pleas
        assert call.prompt.count(" pleads in round ") == len(pleas)
        assert ("Advocate B concedes to C." in call.prompt) is (last > 2)


def closed(call: Asked, field: str) -> list[str]:
    """Return the ids that a reply may name."""
    _, _, rest = call.prompt.partition(f'"{field}": {{"type": "string", "enum": [')
    return rest.partition("]")[0].replace('"', "").split(", ")


def test_what_can_be_named_is_closed(tmp_path: Path) -> None:
    model = ScriptedModel(script=court("B2C", asks="A"))
    dialectree.run("tribunal", **GIVEN, model=model, runs=tmp_path, questions=1)
    named = {f"{call.speaker}{call.round}": call for call in model.calls}
    assert [closed(named[one], "sides_with") for one in ("A1", "C1")] == [["A"], ["C"]]
    assert closed(named["A2"], "sides_with") == ["A", "B", "C"]
    assert closed(named["A3"], "sides_with") == ["A", "C"]
    first, second = (call for call in model.calls if call.role == "judge")
    assert closed(first, "label") == closed(second, "label") == ["A", "C", "undecided"]
    assert closed(first, "asks") == ["nobody", "A", "C"]
    assert closed(second, "asks") == ["nobody"]


def test_who_has_conceded_does_not_stand() -> None:
    for concessions, number, stand in (
        ("", 1, "ABC"),
        ("B2C", 1, "ABC"),
        ("B2C", 2, "AC"),
        ("B2C A3C", 3, "C"),
        ("B2C A3C C3A", 3, "AC"),
        ("A2B B2C C2A", 2, "ABC"),
    ):
        turns = [
            SaidTurn(name=concession[0], round=int(concession[1]), sides_with=concession[2])
            for concession in concessions.split()
        ]
        assert standing(Talk(input=GIVEN, settings=Settings(), round=number, said=turns)) == [*stand]


def test_a_concession_that_is_dropped_lets_its_advocate_stand(tmp_path: Path) -> None:
    model = ScriptedModel(script=court("A2C B2C"))
    first = dialectree.run("tribunal", **GIVEN, model=model, rounds=3, runs=tmp_path)
    before = len(model.calls)
    dialectree.contest(first, [Drop("0/B2")], model=model, runs=tmp_path)
    assert [call.speaker or call.role for call in model.calls[before:]] == ["B", "C", "judge"]


def test_an_advocate_who_fails_does_not_end_the_debate(tmp_path: Path) -> None:
    usual = court(asks="A")

    def failing(call: Asked) -> Said | None:
        return "no JSON" if (call.speaker, call.round) in (("B", 1), ("A", 3)) else usual(call)

    said, verdict = spoken(failing, tmp_path)
    assert said.endswith("judge3") and verdict is not None and verdict.answer == "hot"


def test_advocates_argue_from_documents(tmp_path: Path) -> None:
    source = tmp_path / "fire.md"
    source.write_text("Fire is hot. A fire of wood has 600 degrees.")
    model, given = ScriptedModel(script=court(asks="A")), {**GIVEN, "sources": [str(source)]}
    record = dialectree.run("tribunal", **given, model=model, rounds=1, runs=tmp_path)
    roles = [*["advocate"] * 3, "checker", "judge", "advocate", "checker", "judge"]
    assert [call.role for call in model.calls] == roles
    assert record.verdict is not None
    assert [ground.id for ground in record.verdict.grounds] == ["s1:1.1"]


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
