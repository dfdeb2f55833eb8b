"""A jury: who is asked, what counts, and what a record keeps of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.errors import SettingsError
from dialectree.flow.jury import count
from dialectree.models.specs import resolve
from dialectree.nodes.adaptive_reasoning_tree.scorer import ScorerReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.nodes.role_switching_debate.state import Settings
from dialectree.nodes.tree_structured_debate.leaf_debater import LeafJudgeReply
from dialectree.nodes.tree_structured_debate.state import Settings as Tree
from dialectree.protocols.phases import jurors
from dialectree.protocols.protocol import method
from dialectree.protocols.settings import accept_settings, build_settings
from dialectree.records import Node
from dialectree.running.recorded_settings import dump_settings, speakers
from tests.graphs import debating
from tests.graphs.adaptive_reasoning_tree import arguing
from tests.graphs.debating import Debated
from tests.graphs.role_switching_debate.switching import adecide, debaters, listed, rule
from tests.scripted import Asked, Said, ScriptedModel, no_reply

LABELS = st.sampled_from(["A", "B", "C"])


@pytest.mark.parametrize(
    ("labels", "rule", "of", "value", "agreement"),
    [
        ("AAB", "majority", None, "A", 2 / 3),
        ("AB", "majority", None, None, 1 / 2),
        ("A.", "majority", None, None, 1),  # more than half of all judges, not of those who ruled
        ("A", "majority", 3, None, 1),
        ("AA.", "majority", None, "A", 1),
        ("...", "majority", None, None, None),
        ("AAA", "unanimous", None, "A", 1),
        ("AAB", "unanimous", None, None, 2 / 3),
        ("AA.", "unanimous", None, None, 1),
        ("AABB", "majority", None, None, 1 / 2),
        ("", "majority", 3, None, None),
    ],
)
def test_a_rule_counts_all_judges_and_a_tie_rules_nothing(
    labels: str,
    rule: Literal["majority", "unanimous"],
    of: int | None,
    value: str | None,
    agreement: float | None,
) -> None:
    given = {str(n): None if label == "." else label for n, label in enumerate(labels, 1)}
    found = count(given, rule, of=of)
    assert found.value == value
    assert found.agreement == pytest.approx(agreement)
    assert bool(found.note) == (value is None)


def test_figures_have_a_mean_and_no_agreement() -> None:
    assert count({"1": 0.2, "2": None, "3": 0.6}, "mean")[:2] == (pytest.approx(0.4), None)
    assert count({"1": None}, "mean").value is None


@given(st.lists(LABELS | st.none(), min_size=1, max_size=7))
def test_majority_and_dissent_are_those_who_ruled(labels: list[str | None]) -> None:
    given = {str(n): label for n, label in enumerate(labels)}
    found = count(given)
    if found.value is not None:
        assert 2 * len(found.majority) > len(labels)
        assert {*found.majority} | {*found.dissent} == {w for w, v in given.items() if v}
        assert {given[who] for who in found.majority} == {found.value}
    else:
        assert found.majority == [] and found.dissent == {}


def test_a_judge_alone_has_no_number_and_the_first_order_no_name() -> None:
    assert jurors(0) == jurors(1) == [[""]]
    assert jurors(1, ("", "swapped")) == [["", "swapped"]]
    assert jurors(2, ("", "swapped")) == [["1", "1_swapped"], ["2", "2_swapped"]]


# A jury in a role-switching debate


Ruled = Mapping[str, str | tuple[str, float | None]]


def judges(ruled: Ruled) -> ScriptedModel:
    """Return a model whose judges rule by the speaker's name; ``-`` fails for good."""

    def judge(call: Asked) -> Said:
        said = ruled[call.speaker]
        label, confidence = said if isinstance(said, tuple) else (said, 0.8)
        if label == "-":
            return no_reply()
        answer = listed(call, "candidates").get(label, label)  # or that neither side convinced
        reply = rule(label, answer, confidence)
        return reply.model_copy(update={"rationale": f"So says {call.speaker}."})

    model = debaters()
    model.will_say_now(judge, to=JudgeReply)
    return model


def decide(ruled: Ruled, of: int = 3, **settings: Any) -> Debated:
    model = judges(ruled)
    return asyncio.run(adecide(model, jury=[model] * of, **settings))


def rulings(node: Node) -> dict[str, object]:
    return {t.speaker: t.fields["label"] for t in node.transcript if t.phase == "judgment"}


def test_the_first_of_the_majority_answers_and_its_mean_is_the_confidence() -> None:
    done = decide({"1": "A", "2": ("B", 0.9), "3": ("B", 0.6)})
    verdict = done.verdict
    assert verdict is not None
    assert (verdict.label, verdict.rationale) == ("B", "So says 2.")
    assert verdict.confidence == pytest.approx(0.75) and verdict.confidence_source == "jury"
    assert verdict.agreement == pytest.approx(2 / 3) and verdict.dissent == {"1": "A"}
    assert rulings(done.node()) == {"1": "A", "2": "B", "3": "B"}
    settled = done.node().verdict
    assert settled is not None and settled.dissent == verdict.dissent


@pytest.mark.parametrize(
    ("ruled", "label", "note"),
    [
        ({"1": "A", "2": "B", "3": "-"}, None, "no majority of 3 judges: 1 for A, 1 for B"),
        ({"1": "-", "2": "B", "3": "B"}, "B", ""),
        ({"1": "-", "2": "-", "3": "B"}, None, "no majority of 3 judges: 1 for B"),
        ({"1": "-", "2": "-", "3": "-"}, None, "failed for good"),
    ],
)
def test_a_judge_who_fails_is_no_ruling_of_all_judges(ruled: Ruled, label: str | None, note: str) -> None:
    done = decide(ruled)
    assert done.verdict is not None and done.verdict.label == label
    assert note in " ".join(done.verdict.notes)
    failed = [who for who, said in ruled.items() if said == "-"]
    assert [one.speaker for one in done.node().failures] == failed


def test_a_jury_may_rule_that_neither_side_convinced() -> None:
    said = "the judges ruled that neither side convinced"
    torn = decide({"1": "uncertain", "2": "uncertain", "3": "B"}, allow_uncertain=True).verdict
    assert torn is not None and (torn.label, torn.answer) == ("uncertain", None)
    assert torn.notes[0] == said
    sure = decide({"1": "uncertain", "2": "B", "3": "B"}, allow_uncertain=True).verdict
    assert sure is not None and sure.label == "B" and said not in sure.notes


def test_each_judge_rules_in_both_orders_and_one_whose_orders_disagree_rules_nothing() -> None:
    ruled = {"1": "A", "1_swapped": "B", "2": "B", "2_swapped": "B", "3": "B", "3_swapped": "B"}
    done = decide(ruled, judge_orders="both")
    verdict = done.verdict
    assert verdict is not None
    assert (verdict.label, verdict.agreement, verdict.dissent) == ("B", 1, {})
    assert verdict.rationale == "So says 2.\nSo says 2_swapped."
    assert "judge 1 rules nothing: position bias" in " ".join(verdict.notes)
    assert rulings(done.node()) == ruled
    torn = decide({**ruled, "2_swapped": "A"}, judge_orders="both").verdict
    assert torn is not None and torn.answer is None


def test_one_judge_of_a_jury_is_the_role_alone() -> None:
    ruled = {"judge": "B", "swapped": "B"}
    alone, one = decide(ruled, 0), decide(ruled, 1)
    assert alone.tree == one.tree and alone.verdict == one.verdict
    assert "agreement" not in alone.ruling["verdict"]


# A jury at a leaf of a tree


def leaf(*ruled: tuple[str, float] | None) -> Debated:
    """Return a debate of one leaf whose judges rule so; None fails for good."""
    model = debating.debaters(2)

    def judge(call: Asked) -> Said:
        said = ruled[int(call.speaker) - 1]
        return no_reply() if said is None else debating.rule(f"{said[0]} is right", said[1], said[0])

    model.will_say_now(judge, to=LeafJudgeReply)
    return debating.debate(model, max_depth=0, jury=[model] * len(ruled))


def test_a_leaf_has_the_answer_of_the_first_of_the_majority() -> None:
    done = leaf(("A", 0.5), ("B", 0.9), ("B", 0.7))
    settled = done.node().verdict
    assert settled is not None and done.verdict is not None
    assert (settled.answer, settled.winner, settled.dissent) == ("B is right", "B", {"1": "A"})
    assert settled.agreement == pytest.approx(2 / 3)
    assert settled.local_confidence == pytest.approx(0.8)


def test_a_leaf_without_a_majority_is_missing_and_says_why() -> None:
    done = leaf(("A", 0.5), ("B", 0.9), None)
    assert done.node().status == "missing"
    assert "no majority of 3 judges: 1 for A, 1 for B" in done.node().notes


# Scorers of an argument tree


def test_the_mean_of_several_scorers_is_the_strength_and_one_who_fails_is_left_out() -> None:
    def score(call: Asked) -> Said:
        return no_reply() if call.speaker == "3" else arguing.score(int(call.speaker) / 5)

    model = arguing.arguers()
    model.will_say_now(score, to=ScorerReply)
    done = arguing.verify(model, jury=[model] * 3)
    node = done.node("0.0")
    assert node.score("tau") == pytest.approx(0.3)
    assert {turn.speaker for turn in node.transcript if turn.role == "scorer"} == {"1", "2"}
    assert [one.speaker for one in node.failures] == ["3"]
    assert "agreement" not in done.ruling["verdict"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"jury": ["me", "openai:x"]}, "a person cannot be one of several judges"),
        ({"jury": ["openai:x", "openai:y"], "judge": "me"}, "a person judges alone"),
    ],
)
def test_a_person_is_not_one_of_several_judges(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        build_settings(Settings, **given)


# The setting


THREE = ["openai:a", "openai:b@http://u:secret@127.0.0.1:9/v1", "openai:c"]


def test_prices_models_and_records_know_every_judge_and_show_no_password() -> None:
    ungrounded = method("rsd").on({})
    own = build_settings(Settings, model="openai:m", base_url="http://127.0.0.1:1/v1", jury=THREE)
    found = {role: spec.name for role, spec in speakers(ungrounded, own).items()}
    debaters = {"debater_a": "openai:m", "debater_b": "openai:m"}
    assert found == debaters | {f"judge_{n}": f"openai:{who}" for n, who in enumerate("abc", 1)}
    assert dump_settings(own, ungrounded)["jury"] == own.jury
    assert "secret" not in str(own) and resolve(own.jury[1], own).whole_url == THREE[1][9:]
    priced = own.model_copy(update={"max_cost": 1.0, "prices": {"openai:m": (1.0, 1.0)}})
    with pytest.raises(SettingsError, match="openai:a=PROMPT"):
        speakers(ungrounded, priced)


def test_a_client_of_a_server_names_no_address_of_a_judge() -> None:
    given = {"model": "openai:m", "jury": ["openai:a@http://elsewhere.example/v1"]}
    with pytest.raises(SettingsError, match="clients of a server may name no address"):
        accept_settings(Settings, given)


def test_environment_and_file_name_a_jury(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dialectree.toml").write_text('[rsd]\njury = ["openai:x", "openai:y"]\n')
    assert build_settings(Settings).jury == ["openai:x", "openai:y"]
    monkeypatch.setenv("DIALECTREE_JURY", '["openai:z"]')
    assert build_settings(Settings).jury == ["openai:z"]


def test_a_jury_inside_another_debate_is_named_by_one_text() -> None:
    own = build_settings(Tree, model="openai:m", leaf_protocol="rsd", inner={"rsd.jury": "openai:a,openai:b"})
    models = method("tsd").models(own)
    assert (models["judge_1"], models["judge_2"]) == ("openai:a", "openai:b")
    with pytest.raises(SettingsError, match="given as a list"):
        build_settings(Tree, leaf_protocol="rsd", inner={"rsd.jury": "openai:a@http://127.0.0.1:9/v1"})
