"""The tests of atomic claims: no model, no network."""

import json
from pathlib import Path
from typing import Any

from atomic_claims import Split, Whole
from atomic_claims.graph import support

import dialectree
from dialectree.contests import Set
from dialectree.testing import Asked, ScriptedModel, check_demo, check_protocol

GIVEN: dict[str, Any] = {"claim": "Bats are blind birds."}


def split_alone(call: Asked) -> Split | Whole | None:
    """Split in two. The model makes up the replies of the debates inside."""
    match call.kind:
        case "Split":
            return Split(claims=["Bats are blind.", "Bats are birds."])
        case "Whole":
            return Whole(rationale="They are neither.", probability=0.1)
    return None


def script(call: Asked) -> Any:
    """Split in two; argue about each part, and find the arguments against it better."""
    match call.kind:
        case "Split" | "Whole":
            return split_alone(call)
        case "ArgumentsReply":
            return said(arguments=[{"n": "1", "text": f"{call.role} at {call.node}"}])
        case "PairwiseReply":
            return said(rationale="So.", winner="ATTACK")
    figures = {"truth": 0.5, "weight": 0.5}
    return said(truth_rationale="So.", weight_rationale="So.", **figures)


def said(**fields: Any) -> str:
    """Return a reply of the inner protocol."""
    return json.dumps(fields)


def test_it_has_all_that_a_protocol_has(tmp_path: Path) -> None:
    record = check_protocol("atomic_claims", GIVEN, script, tmp_path)
    parts = [record.tree.nodes[id] for id in ("0.0", "0.1")]
    assert [part.protocol for part in parts] == ["art", "art"]
    assert record.verdict is not None and record.verdict.probability is not None
    supports = [part.scores["support"] for part in parts]
    assert record.verdict.probability == sum(supports) / 2
    assert record.verdict.label == "False"


def test_it_passes_with_made_up_replies_of_the_debates_inside(tmp_path: Path) -> None:
    record = check_protocol("atomic_claims", GIVEN, split_alone, tmp_path)
    supports = [record.tree.nodes[id].scores["support"] for id in ("0.0", "0.1")]
    assert record.verdict is not None and record.verdict.probability == sum(supports) / 2


def test_a_strength_inside_a_part_can_be_set(tmp_path: Path) -> None:
    model = ScriptedModel(script=script)
    first = dialectree.run("atomic_claims", **GIVEN, model=model, runs=tmp_path)
    change = Set("0.0.0", 1.0)
    changed = dialectree.contest(first, [change], model=model, runs=tmp_path)
    assert changed.usage.calls == 0
    assert first.verdict is not None and changed.verdict is not None
    assert (changed.verdict.probability or 0) > (first.verdict.probability or 0)


def test_another_protocol_settles_the_parts(tmp_path: Path) -> None:
    model = ScriptedModel(script=script)
    options: dict[str, Any] = {"settled_by": "tsd", "inner": {"tsd": {"max_depth": 0}}}
    expected = dialectree.estimate("atomic_claims", **GIVEN, model=model, most=1, **options)
    assert expected.calls.least > 2


def test_what_a_verdict_supports() -> None:
    for answer, confidence, source, found in (
        ("True", 0.7, "probability", 0.7),
        ("Yes", 0.7, "judge", 0.7),
        ("No, never", 0.7, "judge", 1 - 0.7),
        ("yes.", None, None, 1.0),
        ("Nobody knows", 0.7, "judge", None),
        (None, None, None, None),
    ):
        verdict = dialectree.Verdict(answer=answer, confidence=confidence, confidence_source=source)
        assert support(verdict) == found


def test_the_recorded_debate_is_what_its_script_makes() -> None:
    check_demo(Path(__file__).with_name("demo.yaml"))
