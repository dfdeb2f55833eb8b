"""A protocol is declared once: its methods, their settings and roles, and what is refused."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.errors import InputError, SettingsError
from dialectree.nodes.tree_structured_debate.state import Settings
from dialectree.protocols import plugins, protocol
from dialectree.protocols.options import option
from dialectree.protocols.protocol import Protocol, ProtocolInput, method, methods
from dialectree.protocols.settings import ProtocolSettings
from dialectree.running.runner import again, begin, prepare_graph_input
from dialectree.testing import check_declaration

SHARED: dict[str, Any] = {
    "model": "openai:x", "base_url": "http://h", "seed": 1, "replay": True, "cache": True,
    "max_calls": 9, "concurrency": 2, "call_deadline": 5, "prices": {"openai:x": (1, 2)},
}  # fmt: skip


def silent(message: str) -> None:
    raise AssertionError(message)


@pytest.mark.parametrize("name", methods())
def test_a_method_takes_the_settings_that_it_reads_and_refuses_the_others(name: str) -> None:
    one = method(name)
    kind, reads = one.protocol.settings, one.reads()
    for setting in one.protocol.own_settings():
        value = getattr(kind(), setting)
        given = {**SHARED, setting: value}
        if setting in reads:
            settings = one.configure(given, lambda message: None)
            assert getattr(settings, setting) == value
        else:
            with pytest.raises(InputError, match=f"^`{setting}`: {name} has no such setting$"):
                one.configure(given, silent)
    assert reads <= one.protocol.own_settings()


def test_every_setting_is_read_by_some_method() -> None:
    for declared in protocol.load_protocols().values():
        read = frozenset[str]().union(*(one.reads() for one in declared.methods().values()))
        assert read == declared.own_settings()


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("art", {"ties": "half"}, "`ties`: "),
        ("tsd", {"depth_profile": "fixed", "stop_threshold": 0.5}, "`stop_threshold`: "),
        ("tsd", {"depth_profile": "fixed", "min_depth": 2}, "`min_depth`: "),
        ("tsd", {"second_pass_leaves": 2}, "`second_pass_leaves`: "),
    ],
)
def test_a_setting_that_others_leave_without_a_meaning_is_warned_of(
    name: str, given: dict[str, Any], why: str
) -> None:
    warnings: list[str] = []
    method(name).configure({**SHARED, **given}, warnings.append)
    assert [line.startswith(why) for line in warnings] == [True]


def test_a_person_who_would_not_be_asked_is_refused_and_not_warned_of() -> None:
    given = {**SHARED, "depth_profile": "fixed", "ask": True}
    with pytest.raises(InputError, match=r"^`ask`: the parts are not rated"):
        method("tsd").configure(given, silent)
    method("tsd").configure({**given, "depth_profile": "safety"}, silent)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inner": {"rsd": "both"}}, "`inner`: rsd: write PROTOCOL.SETTING=VALUE"),
        ({"inner": {"rsd": {"judge_orders": "both"}}}, "`inner` rsd: with these settings tsd"),
        ({"leaf_protocol": "rsd", "inner": {"rsd": {"samples": 3}}}, "`inner` rsd.samples: rsd"),
        ({"leaf_protocol": "rsd", "inner": {"rsd.max_calls": 3}}, "`inner` rsd.max_calls: rsd"),
        (
            {"leaf_protocol": "rsd", "inner": {"rsd": {"judge_orders": "all"}}},
            "`inner` rsd: `judge_orders`: ",
        ),
        ({"leaf_protocol": "rsd", "inner": {"rsd.art.trees": 2}}, "`inner` rsd: `inner` art: "),
        ({"leaf_protocol": "tsd"}, "tsd > tsd: tsd debates inside itself"),
        ({"leaf_protocol": "tod"}, "`leaf_protocol` tod: tod cannot answer a question"),
        ({"leaf_protocol": "xyz"}, "xyz: "),
    ],
)
def test_a_wrong_setting_of_a_leaf_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}"):
        method("tsd").configure({**SHARED, **given}, silent)


def test_a_leaf_has_its_own_settings_and_the_models_of_the_tree() -> None:
    given = {"leaf_protocol": "rsd", "inner": {"rsd.judge_orders": "both"}, "max_calls": 3}
    settings = method("tsd").configure({**SHARED, **given}, silent)
    assert isinstance(settings, Settings)
    ((inside, leaf),) = method("tsd").list_inner_methods(settings)
    assert inside.name == leaf.protocol == "rsd"
    assert leaf.model_dump(include={"judge_orders", "max_calls", "model", "seed"}) == {
        "judge_orders": "both",
        "max_calls": 3,
        "model": "openai:x",
        "seed": 1,
    }
    assert {"judge", "debater_a", "decomposer"} <= {*method("tsd").roles(settings)}
    assert "role_switching_debate" in method("tsd").prompts(settings)


def test_environment_and_file_may_name_what_other_protocols_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DIALECTREE_BREADTH", "4")
    Path("dialectree.toml").write_text(
        'max_depth = 2\n[roles]\nleaf_judge = "openai:j"\nscorer = "openai:s"\n'
    )
    assert method("single_shot").configure({}, silent).roles["scorer"] == "openai:s"
    chosen = method("art")
    given = {"model": "openai:x", "base_url": "http://127.0.0.1:1/v1"}
    settings = chosen.configure(given, silent)
    asked = prepare_graph_input(chosen, {"claim": "It is so."}, settings)
    begun = begin(chosen, asked, settings, tmp_path)
    assert begun.record.models["scorer"] == "openai:s@http://127.0.0.1:1/v1"
    assert begun.record.settings["roles"] == {"scorer": "openai:s"}
    assert begun.record.settings["breadth"] == 4
    again(begun.folder, {})
    wrong = {**given, "roles": {"leaf_judge": "openai:j"}}
    message = "`roles` leaf_judge: art has no such role; known: supporter"
    with pytest.raises(InputError, match=message):
        chosen.configure(wrong, silent)
    with pytest.raises(InputError, match=message):
        again(begun.folder, wrong)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("tsd", {}, "the question is missing"),
        ("tsd", {"question": " "}, "the question is empty"),
        ("tsd", {"question": "x" * 200_001}, "the question is longer"),
        ("tsd", {"question": "Q?", "options": []}, "options: unknown input"),
        ("rsd", {"question": "Q?", "options": "ab"}, "options: "),
        ("rsd", {"question": "Q?", "options": ["a", ""]}, "the option 2 is empty"),
        ("rsd", {"question": "Q?", "options": ["a", "a"]}, "`options`: options 1 and 2 are the"),
        ("rsd", {"question": "Q?", "options": ["a", "b"], "gold": "C"}, "`gold` C: there is no"),
        ("art", {"claim": "Is it?"}, "this is a question; a claim states something"),
        ("tod", {"paper_a": "x.pdf", "paper_b": "y.pdf"}, "the topic is missing"),
    ],
)
def test_input_that_cannot_be_debated_is_one_line(name: str, given: dict[str, Any], message: str) -> None:
    settings = method(name).configure({"model": "openai:x", "base_url": "http://h"}, silent)
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        prepare_graph_input(method(name), given, settings)


# Declarations


class Asked(ProtocolInput):
    """A question."""

    question: str = option(positional=True)
    """What is asked."""


def declared(name: str = "mine", command: str = "", **more: Any) -> Protocol:
    class Own(ProtocolSettings):
        """Settings of its own."""

    given: dict[str, Any] = {
        "title": "Mine",
        "summary": "Do it.",
        "source": "nobody",
        "input": Asked,
        "settings": Own,
        "outcome": "answer",
        "graph": "json:loads",
        "roles": {"speaker": ""},
        "prompts": (),
        **more,
    }
    return Protocol(name=name, command=command, **given)


def test_a_shared_setting_cannot_be_declared_again() -> None:
    class Again(ProtocolSettings):
        """A budget of its own."""

        max_calls: int | None = 3

    with pytest.raises(InputError, match="protocol mine: max_calls: every protocol has that"):
        declared(settings=Again)


class Entry:
    """An entry point that loads what it is given."""

    def __init__(self, name: str, loads: Any) -> None:
        self.name, self.value, self._loads = name, f"{name}:protocol", loads

    def load(self) -> Any:
        if isinstance(self._loads, Exception):
            raise self._loads
        return self._loads


def test_a_broken_plug_in_is_listed_and_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        Entry("good", declared("good", "do")),
        Entry("fails", ValueError("no such thing")),
        Entry("other", "text"),
        Entry("one", declared("same")),
        Entry("two", declared("same")),
        Entry("verb_one", declared("three", "say")),
        Entry("verb_two", declared("four", "say")),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries)
    plugins.load_declarations.cache_clear()
    try:
        assert [*protocol.load_protocols()] == ["good", "same", "three"]
        faults = protocol.broken()
        assert faults["fails:protocol"] == "ValueError: no such thing"
        assert faults["other:protocol"] == "TypeError: other:protocol is not a Protocol"
        assert faults["two:protocol"] == "ValueError: the protocol same has the name same"
        assert faults["verb_two:protocol"] == "ValueError: the protocol three has the name say"
        with pytest.raises(InputError, match=r"fails: no such protocol .*ValueError: no such"):
            protocol.protocol("fails")
    finally:
        plugins.load_declarations.cache_clear()


def test_our_own_declarations_are_sound() -> None:
    assert protocol.broken() == {}
    for name, one in methods().items():
        assert one.name == name
        assert one.graph().name
        assert callable(protocol.load(one.variant.prepare or one.protocol.prepare))
    for name in protocol.load_protocols():
        check_declaration(name)


# Functions


def test_the_function_of_a_command_takes_the_inputs_of_its_declaration() -> None:
    ours = [one for one in protocol.load_protocols().values() if one.ours and one.command]
    assert {one.command for one in ours} == {"answer", "decide", "verify", "compare", "vote"}
    for one in ours:
        for name in (str(one.command), f"a{one.command}"):
            function = getattr(dialectree, name)
            *inputs, values = inspect.signature(function).parameters.values()
            declared = one.input.model_fields
            assert [given.name for given in inputs] == [*declared]
            for given in inputs:
                required = given.default is inspect.Parameter.empty
                assert required == declared[given.name].is_required()
                assert f"    {given.name}: " in inspect.cleandoc(function.__doc__)
            assert values.kind is inspect.Parameter.VAR_KEYWORD
