"""A setting that was given to a run and means nothing to its method is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.conduct import again, start
from dialectree.context import OWN_SETTINGS, Context
from dialectree.errors import InputError, Unreachable
from dialectree.graphs import METHODS
from dialectree.own_settings import configured, own_settings, with_leaves

UNREAD: list[tuple[str, dict[str, Any], str]] = [
    ("tsd", {"samples": 7}, "--samples"),
    ("tsd", {"leaf_protocol": "rsd", "samples": 7}, "--samples"),
    ("tsd", {"leaf_protocol": "rsd", "gate": 3}, "--gate"),
    ("tsd", {"leaf_protocol": "art", "gate": 3}, "--gate"),
    ("tsd", {"breadth": 2}, "--breadth"),
    ("single_shot", {"max_depth": 2, "samples": 7}, "--max-depth"),
    ("single_shot", {"leaf_protocol": "rsd"}, "--leaf-protocol"),
    ("best_of_n", {"max_depth": 2}, "--max-depth"),
    ("rsd", {"samples": 7}, "--samples"),
    ("self_consistency", {"gate": 3}, "--gate"),
    ("self_consistency", {"judge_orders": "both"}, "--judge-orders"),
    ("argllm", {"blend": 0.5}, "--blend"),
    ("argllm", {"strength_rule": "win_rate"}, "--strength-rule"),
    ("direct", {"breadth": 4, "trees": 3}, "--breadth"),
    ("no_tree", {"expansion_rule": "paper"}, "--expansion-rule"),
    ("no_self_deliberation", {"segments": 3}, "--segments"),
    ("single_stage", {"embeddings": "nosuch/model"}, "--embeddings"),
]
READ: list[tuple[str, dict[str, Any]]] = [
    ("tsd", {"ask": True, "max_depth": 1}),
    ("tsd", {"depth_profile": "safety", "min_depth": 2, "stop_threshold": 0.5, "ask": True}),
    ("tsd", {"second_pass_below": 0.5, "second_pass_leaves": 2}),
    ("tsd", {"leaf_protocol": "rsd", "judge_orders": "both", "allow_uncertain": True}),
    ("tsd", {"leaf_protocol": "art", "breadth": 2, "trees": 3}),
    ("best_of_n", {"samples": 3}),
    ("self_consistency", {"samples": 3}),
    ("basic", {"judge": "me", "gate": 3}),
    ("art", {"strength_rule": "bradley_terry", "ties": "half"}),
    ("tsd", {"leaf_protocol": "art", "strength_rule": "bradley_terry", "ties": "half"}),
    ("argllm", {"breadth": 2}),
    ("no_tree", {"embeddings": "bm25"}),
]
OF_ALL: dict[str, Any] = {
    "model": "openai:x", "base_url": "http://h", "seed": 1, "replay": True, "cache": True,
    "max_calls": 9, "concurrency": 2, "call_deadline": 5, "prices": {"openai:x": (1, 2)},
}  # fmt: skip


@pytest.mark.parametrize(("name", "given", "flag"), UNREAD)
def test_a_given_setting_that_the_method_does_not_read_is_said(
    name: str, given: dict[str, Any], flag: str
) -> None:
    said: list[str] = []
    configured(METHODS[name], {**OF_ALL, **given}, said.append)
    assert said[0] == f"{flag}: that is no setting of {name}, so it changes nothing"


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("art", {"ties": "half"}, "--ties: --strength-rule win_rate counts a tie half always"),
        ("tsd", {"leaf_protocol": "art", "ties": "ignore"}, "--ties: --strength-rule win_rate"),
        (
            "tsd",
            {"depth_profile": "fixed", "stop_threshold": 0.5},
            "--stop-threshold: nobody rates the",
        ),
        (
            "tsd",
            {"depth_profile": "fixed", "min_depth": 2},
            "--min-depth: only --depth-profile safety",
        ),
        ("tsd", {"min_depth": 2}, "--min-depth: only --depth-profile safety"),
        ("tsd", {"second_pass_leaves": 2}, "--second-pass-leaves: there is no second pass without"),
    ],
)
def test_a_given_setting_that_the_other_settings_leave_unread_is_said(
    name: str, given: dict[str, Any], why: str
) -> None:
    said: list[str] = []
    configured(METHODS[name], {**OF_ALL, **given}, said.append)
    assert [line.startswith(why) for line in said] == [True]
    assert said[0].endswith(", so it changes nothing")


def test_with_a_fixed_depth_nobody_would_be_asked() -> None:
    given = {**OF_ALL, "depth_profile": "fixed"}
    with pytest.raises(InputError, match="--ask: nobody rates the parts"):
        configured(METHODS["tsd"], {**given, "ask": True}, nothing_said)
    judging = {**given, "leaf_protocol": "rsd", "judge": "me", "ask": True}
    assert configured(METHODS["tsd"], judging, nothing_said).judge == "me"


@pytest.mark.parametrize(
    ("name", "given", "flag"),
    [
        ("self_consistency", {"judge": "me"}, "--judge"),
        ("single_shot", {"ask": True}, "--ask"),
    ],
)
def test_a_person_who_would_not_be_asked_is_told_so(
    name: str, given: dict[str, Any], flag: str
) -> None:
    with pytest.raises(InputError, match=f"{flag}: that is no setting of {name}"):
        configured(METHODS[name], given, nothing_said)


def nothing_said(said: str) -> None:
    """Fails: all is read."""
    raise AssertionError(said)


@pytest.mark.parametrize(("name", "given"), READ)
def test_a_setting_that_the_method_or_its_leaves_read_is_taken(
    name: str, given: dict[str, Any]
) -> None:
    context = configured(METHODS[name], {**OF_ALL, **given}, nothing_said)
    assert context.model_dump(include={*given}) == given


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_what_all_have(name: str) -> None:
    assert configured(METHODS[name], OF_ALL, nothing_said).seed == 1
    assert own_settings(METHODS[name]) <= OWN_SETTINGS[METHODS[name].protocol]


def test_every_setting_is_read_by_some_method() -> None:
    read = (with_leaves(method, Context()) for method in METHODS.values())
    assert frozenset[str]().union(*read) == frozenset[str]().union(*OWN_SETTINGS.values())


def test_environment_and_file_may_hold_what_other_methods_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DIALECTREE_BREADTH", "4")
    Path("dialectree.toml").write_text("max_depth = 2\n")
    assert configured(METHODS["single_shot"], {}, nothing_said).breadth == 4
    monkeypatch.setenv("DIALECTREE_LEAF_PROTOCOL", "art")
    assert configured(METHODS["tsd"], {"breadth": 2}, nothing_said).breadth == 2


def test_environment_and_file_may_name_roles_that_other_methods_have(tmp_path: Path) -> None:
    Path("dialectree.toml").write_text('[roles]\nleaf_judge = "openai:j"\nscorer = "openai:s"\n')
    given = {"model": "openai:x", "base_url": "http://127.0.0.1:1/v1"}
    chosen = METHODS["art"]
    begun = start(chosen, "It is so.", configured(chosen, given, nothing_said), tmp_path)
    assert begun.record.models["scorer"] == "openai:s@http://127.0.0.1:1/v1"
    assert begun.record.settings["roles"] == {"scorer": "openai:s"}
    again(begun.folder, {})
    wrong = {**given, "roles": {"leaf_judge": "openai:j"}}
    said = "--role leaf_judge: art has no such role; known: supporter"
    with pytest.raises(InputError, match=said):
        configured(chosen, wrong, nothing_said)
    with pytest.raises(InputError, match=said):
        again(begun.folder, wrong)


def test_a_record_names_the_model_of_each_leaf_debater(tmp_path: Path) -> None:
    roles = {"leaf_debater": "openai:both", "leaf_debater_b": "openai:b"}
    given = {"model": "openai:x", "base_url": "http://h/v1", "roles": roles}
    record = start(METHODS["tsd"], "Q?", configured(METHODS["tsd"], given, nothing_said), tmp_path)
    models = {role: spec.partition("@")[0] for role, spec in record.record.models.items()}
    assert (models["leaf_debater_a"], models["leaf_debater_b"]) == ("openai:both", "openai:b")
    assert record.record.settings["roles"] == roles


def test_from_python_it_is_a_warning() -> None:
    settings: dict[str, Any] = {"model": "openai:x", "base_url": "http://127.0.0.1:1/v1"}
    with (
        pytest.warns(
            UserWarning, match="--trees: that is no setting of direct, so it changes noth"
        ),
        pytest.raises(Unreachable),
    ):
        dialectree.verify("It is so.", method_name="direct", trees=3, call_deadline=1, **settings)
