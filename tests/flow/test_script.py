"""A script makes the graph of who speaks when."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from dialectree import ProtocolSettings, SaidTurn, Script, Talk, option, stop_when_agreed
from dialectree.errors import CallError, InputError
from dialectree.testing import Asked, ScriptedModel


class Settings(ProtocolSettings):
    """Settings with a number of rounds."""

    rounds: int = option(2)
    """How many."""


class Line(BaseModel):
    """A line."""

    answer: str
    stop: bool


def named(*names: str, **more: Any) -> Script:
    """Return a script in which those of ``names`` can speak, and the judge rules."""
    script = Script(Settings)
    for name in (*names, "judge"):
        script.speaks(name, Line, prompt="line", rules=name == "judge", **more)
    return script


def heard(call: Asked) -> list[str]:
    """Return whom a speaker has heard: ``["a1", "b1"]``."""
    return re.findall(r"^(\w+\d): ", call.prompt, re.MULTILINE)


def debate(script: Script, *, said: Any = None, rounds: int = 2) -> tuple[dict[str, Any], list[Asked]]:
    """Return the verdict of a debate by ``script``, and its calls."""

    def say(call: Asked) -> Any:
        return said(call) if said else Line(answer=f"{call.role}{call.round}", stop=False)

    model = ScriptedModel(script=say)
    context = Settings(model=model, rounds=rounds)
    ended = asyncio.run(script.compile("talk").ainvoke({"question": "?"}, context=context))
    return ended["verdict"], model.calls


def test_those_in_turn_hear_one_another_and_those_side_by_side_do_not() -> None:
    script = named("a", "b")
    script.rounds(("a", "b"), times="rounds", then="judge")
    verdict, calls = debate(script)
    assert [(call.role, heard(call)) for call in calls] == [
        ("a", []), ("b", ["a1"]), ("a", ["a1", "b1"]), ("b", ["a1", "b1", "a2"]),
        ("judge", ["a1", "b1", "a2", "b2"]),
    ]  # fmt: skip
    assert verdict["answer"] == "judge0"
    script.rounds([("a", "b")], times=2, then="judge")
    _, calls = debate(script, rounds=5)
    assert [heard(call) for call in calls[:4]] == [[], [], ["a1", "b1"], ["a1", "b1"]]


def test_several_of_one_name_speak_side_by_side_after_one_another_of_other_names() -> None:
    script = Script(Settings)
    script.speaks("agent", Line, speakers=("A", "B"), prompt="line")
    script.speaks("critic", Line, speakers=("A", "B"), role="agent", prompt="line", phase="review")
    script.speaks("judge", Line, prompt="line", rules=True)
    script.turns("agent", "critic", "judge")
    _, calls = debate(script)
    assert [(call.phase, call.speaker, heard(call)) for call in calls[:4]] == [
        ("debate", "A", []), ("debate", "B", []),
        ("review", "A", ["A0", "B0"]), ("review", "B", ["A0", "B0"]),
    ]  # fmt: skip
    assert script.roles() == {"agent_a": "agent", "agent_b": "agent", "judge": ""}


@pytest.mark.parametrize(
    ("stops_in", "moderated", "roles"),
    [
        (1, True, "a moderator"),
        (2, True, "a moderator a moderator"),
        (None, True, "a moderator a moderator judge"),
        (1, False, "a moderator judge"),
    ],
)
def test_a_moderator_stops_the_rounds_and_rules_if_it_can(
    stops_in: int | None, moderated: bool, roles: str
) -> None:
    script = named("a")
    script.speaks("moderator", Line, prompt="line", rules=moderated)
    script.rounds(
        ("a",), "moderator", times="rounds", until=lambda talk: talk.last.get("stop") is True, then="judge"
    )

    def said(call: Asked) -> Line:
        return Line(answer=call.role, stop=call.role == "moderator" and call.round == stops_in)

    verdict, calls = debate(script, said=said)
    assert " ".join(call.role for call in calls) == roles
    assert verdict["answer"] == roles.split()[-1]
    without = script.without("moderator")
    assert script.roles().keys() - without.roles().keys() == {"moderator"}
    verdict, calls = debate(without, said=said)
    assert [call.role for call in calls] == ["a", "a", "judge"]


@pytest.mark.parametrize(
    ("required", "failing", "turns", "answer"),
    [
        (False, "a", "a1 b1 a2 b2 judge0", "judge0"),
        (True, "a", "a1", None),
        (False, "judge", "a1 b1 a2 b2 judge0", None),
        (False, "ab", "a1 b1 a2 b2", None),
    ],
)
def test_a_turn_that_fails_is_left_out_or_ends_the_debate(
    required: bool, failing: str, turns: str, answer: str | None
) -> None:
    script = named("a", "b", required=required)
    script.rounds(("a", "b"), times="rounds", then="judge")

    def said(call: Asked) -> Any:
        if call.role in failing:
            return CallError("no reply")
        return Line(answer=f"{call.role}{call.round}", stop=False)

    verdict, calls = debate(script, said=said)
    assert " ".join(dict.fromkeys(f"{call.role}{call.round}" for call in calls)) == turns
    assert verdict["answer"] == answer


def test_who_is_silent_is_not_asked() -> None:
    script = Script(Settings)
    script.speaks("agent", Line, speakers="ABC", prompt="line", when=lambda talk: talk.name != "B")
    script.decides("count", lambda talk: {"answer": str(len(talk.said))})
    script.turns("agent", "count")
    verdict, calls = debate(script)
    assert ([call.speaker for call in calls], verdict["answer"]) == (["A", "C"], "2")


def test_a_second_question_in_a_thread_begins_anew() -> None:
    script = named("a")
    script.rounds(("a",), times="rounds", then="judge")
    graph = script.compile("talk")
    graph.checkpointer = InMemorySaver()
    model = ScriptedModel(script=lambda call: Line(answer="so", stop=False))
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    for question in ("?", "!"):
        context = Settings(model=model)
        asyncio.run(graph.ainvoke({"question": question}, thread, context=context))
    assert [heard(call) for call in model.calls[3:]] == [[], ["a1"], ["a1", "a2"]]


def test_a_script_that_cannot_be_is_refused() -> None:
    script = named("a")
    with pytest.raises(InputError, match="ends with 'a', which makes no verdict"):
        script.turns("a")
        script.compile("talk")

    class Named(BaseModel):
        name: str

    with pytest.raises(InputError, match="Named: name: every turn has this field"):
        script.speaks("b", Named)


def test_the_rule_after_a_round_is_pure_and_total() -> None:
    script = named("a", "b")
    script.rounds(("a", "b"), times="rounds", until=lambda talk: talk.round == 3, then=("judge",))
    said = [SaidTurn(name="b", round=1)]
    for number, turns, way in (
        (1, said, "next_round"), (1, [], "next_round"), (2, said, "judge"), (2, [], "unresolved"),
        (3, said, "judge"),
    ):  # fmt: skip
        talk = Talk(input={}, settings=Settings(), round=number, said=turns)
        assert script.after_round(talk) == script.after_round(talk) == way


def test_a_speaker_who_stands_twice_is_refused_with_the_remedy() -> None:
    script = named("author", "critic")
    remedy = r"'author' stands twice .* its own name, speaks\('second_author', \.\.\., role='author'"
    with pytest.raises(InputError, match=remedy):
        script.turns("author", "critic", "author", "judge")
    for speakers, moderator, then in (
        (("author", ("critic", "author")), "", "judge"),
        (("author", "critic"), "author", "judge"),
        (("author", "critic"), "judge", "judge"),
    ):
        with pytest.raises(InputError, match="stands twice"):
            script.rounds(speakers, moderator, times=2, then=then)
    named("author", "critic").turns("author", "critic", "judge")


def test_a_wrong_key_of_a_turn_names_those_that_there_are() -> None:
    turn: Any = {"name": "a", "role": "agent", "phase": "debate", "round": 1, "label": "A"}
    talk = Talk(input={}, settings=None, said=[turn])
    assert (talk.last["label"], talk.last.get("lable")) == ("A", None)
    with pytest.raises(KeyError, match="turn of 'a' has no 'lable'; it has name, role, phase, round, label"):
        talk.last["lable"]


def test_a_protocol_and_its_variant_need_no_module_for_their_graphs() -> None:
    script = named("a", "b")
    script.turns("a", "b", "judge")
    shorter = script.without("b").variant("shorter", summary="Without b.")
    told: Any = {"title": "T", "summary": "S.", "source": "", "outcome": "answer", "variants": (shorter,)}
    declared = script.protocol(name="moduleless", **told)
    for name, steps in (("moduleless", {"a", "b", "judge"}), ("shorter", {"a", "judge"})):
        method = declared.methods()[name]
        assert steps == {"a", "b", "judge"} & {*method.graph().get_graph().nodes}
        assert method.graph() is method.graph() and method.graph() in method.list_loaded_graphs()
    other = Script(type("OtherSettings", (Settings,), {}))
    other.speaks("judge", Line, prompt="line", rules=True)
    other.turns("judge")
    own = other.protocol(name="own", graph="tests.flow.test_script:nothing", **{**told, "variants": ()})
    with pytest.raises(AttributeError):
        own.methods()["own"].graph()


@pytest.mark.parametrize(
    ("earlier", "last", "agreed"),
    [
        ("", "", False),
        ("", "A", False),  # a speaker alone
        ("", "AA", True),
        ("AB", "BB", True),
        ("AA", "AB", False),
        ("", "AAA", True),
        ("", "AAB", False),
        ("", "A?A", True),  # a speaker without a label
    ],
)
def test_rounds_may_stop_when_all_who_answer_in_the_last_one_say_the_same(
    earlier: str, last: str, agreed: bool
) -> None:
    said = [
        SaidTurn(round=number, **({} if label == "?" else {"label": label}))
        for number, labels in enumerate((earlier, last), 1)
        for label in labels
    ]
    assert stop_when_agreed(Talk(input={}, settings=Settings(), round=2, said=said)) == agreed
