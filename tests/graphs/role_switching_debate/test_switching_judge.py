"""The judge of a role-switching debate: no ruling is read as the other candidate's, ever.

A model's reply may name a label and a text that do not fit together, and may be broken JSON
besides; a person may type anything. What comes of it is the candidate that both name, or nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from langgraph.types import Command

from dialectree.errors import ReplyError
from dialectree.graphs.role_switching_debate.five_phases import after_mapping
from dialectree.graphs.role_switching_debate.graph import graph
from dialectree.models import replies
from dialectree.nodes.answers import exact, ruling
from dialectree.nodes.role_switching_debate.debater import ProposalReply, SwitchReply
from dialectree.nodes.role_switching_debate.judge import (
    JudgeReply,
    judge,
    lowest,
    percents,
    rulings,
    settle,
)
from dialectree.nodes.role_switching_debate.state import FivePhases, Turn
from dialectree.runner import again
from dialectree.runs import RunFolder
from tests import running
from tests.graphs.role_switching_debate import switching
from tests.graphs.role_switching_debate.switching import THREE, TWO, context, debaters, decide, of
from tests.scripted import ScriptedModel, no_reply

PAIRS = [
    ("light", "a light bulb"),
    ("oil", "not oil"),
    ("B", "A"),
    ("it depends", "uncertain"),
    *(("5", "5!"), ("mW", "MW"), ("10²", "102")),
]
LABELS = ["right", "wrong", "missing", "lower", "third", "null", "both"]
TEXTS = ["of it", "of the other", "neither", "both", "paraphrased", "with its letter", "empty",
         "with the other's letter", "denied", "with !"]  # fmt: skip
SHAPES = ["plain", "truncated", "fenced", "single quotes", "prose before", "prose after",
          "no braces", "trailing comma", "numbers for texts", "duplicated label", "two objects",
          "a list", "null answer", "escaped", "thinking", "extra field",
          "confidence as text"]  # fmt: skip


class Case(NamedTuple):
    """One reply of a judge, and what it is about."""

    pair: tuple[str, str]
    label: str
    text: str
    shape: str

    @property
    def candidates(self) -> dict[str, str]:
        return dict(zip("AB", self.pair, strict=True))

    def written(self) -> str:
        """The reply as it comes, from a judge that means A."""
        mine, other = self.pair
        labels: dict[str, Any] = {
            "right": "A", "wrong": "B", "lower": "a", "third": "C", "null": None,
            "both": "A or B",
        }  # fmt: skip
        texts = {
            "of it": mine, "of the other": other, "neither": "something else", "empty": "",
            "both": f"{mine} rather than {other}", "paraphrased": f"It is {mine}, I think.",
            "with its letter": f"A) {mine}", "with the other's letter": f"B) {mine}",
            "denied": f"not {mine}", "with !": f"{mine}!",
        }  # fmt: skip
        fields: dict[str, Any] = {"rationale": "It is sound."}
        if self.label != "missing":
            fields["label"] = labels[self.label]
        fields |= {"answer": texts[self.text], "confidence": 0.7}
        return SHAPED[self.shape](fields)


def _text(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


SHAPED: dict[str, Callable[[dict[str, Any]], str]] = {
    "plain": _text,
    "truncated": lambda f: _text(f)[: -len(_text(f)) // 3],
    "fenced": lambda f: f"```json\n{_text(f)}\n```",
    "single quotes": lambda f: _text(f).replace('"', "'"),
    "prose before": lambda f: f"B is wrong, so I rule for it:\n{_text(f)}",
    "prose after": lambda f: f"{_text(f)}\nThe label B would be wrong.",
    "no braces": lambda f: _text(f)[1:-1],
    "trailing comma": lambda f: _text(f)[:-1] + ",}",
    "numbers for texts": lambda f: _text({**f, "answer": 7}),
    "duplicated label": lambda f: _text(f)[:-1] + ', "label": "B"}',
    "two objects": lambda f: f"{_text(f)} {_text({**f, 'label': 'B'})}",
    "a list": lambda f: f"[{_text(f)}]",
    "null answer": lambda f: _text({**f, "answer": None}),
    "escaped": lambda f: json.dumps(_text(f)),
    "thinking": lambda f: f'<think>{{"label": "B"}}</think>{_text(f)}',
    "extra field": lambda f: _text({**f, "winner": "B"}),
    "confidence as text": lambda f: _text({**f, "confidence": "0.7"}),
}


def read(text: str, finish: str | None = "stop") -> JudgeReply | None:
    """The reply that the door makes of a text, or None where it asks again."""
    try:
        return replies.read(JudgeReply, {"label": ["A", "B"]}, text, finish, None)
    except replies.Fault:
        return None


def cases() -> Iterator[Case]:
    for parts in product(PAIRS, LABELS, TEXTS, SHAPES):
        yield Case(*parts)


def test_no_combination_of_label_text_and_broken_json_names_the_other_candidate() -> None:
    count = ruled = 0
    for case in cases():
        count += 1
        reply = read(case.written())
        winner = reply and ruling(reply.label, reply.answer, case.candidates)
        if reply is None or winner is None:
            continue
        ruled += 1
        label = case.label
        if (label, case.shape) == ("missing", "duplicated label"):
            label = "wrong"  # the only one there is
        assert reply.label == winner, case
        if winner == "A":  # which is what the judge meant
            assert (label in ("right", "lower"), case.text) == (True, "of it"), case
        else:  # nothing but a wrong label with the text that goes with it
            assert (label, exact(reply.answer)) == ("wrong", exact(case.pair[1])), case
    assert count == len(PAIRS) * len(LABELS) * len(TEXTS) * len(SHAPES) > 7_000
    assert ruled > 200


def test_a_sound_reply_in_a_usual_wrapping_is_not_lost() -> None:
    kept = ["plain", "fenced", "prose before", "prose after", "trailing comma", "escaped",
            "thinking", "extra field", "single quotes"]  # fmt: skip
    for label, shape in product(["right", "lower"], kept):
        case = Case(PAIRS[0], label, "of it", shape)
        said = read(case.written())
        assert said is not None, case
        assert ruling(said.label, said.answer, case.candidates) == "A", case


def test_a_reply_that_the_token_limit_cut_off_counts_for_nobody() -> None:
    whole = Case(PAIRS[0], "right", "of it", "plain").written()
    for end in range(len(whole)):
        assert read(whole[:end], "length") is None
        assert read(whole[:end]) is None


# The step and the rule after it


SAID = [("A", TWO[0]), ("A", TWO[1]), ("B", TWO[0]), ("B", TWO[1]), ("A", "both"), ("B", "?"),
        ("uncertain", "uncertain"), ("uncertain", TWO[0]), ("A", "uncertain")]  # fmt: skip


def to_rule(turns: list[Turn] | None = None) -> FivePhases:
    """A debate that has come to its judge."""
    return cast(
        FivePhases,
        {
            "id": "0",
            "question": "What?",
            "take": 1,
            "background": [],
            "first": "a",
            "candidates": {
                "a": {"label": "A", "text": TWO[0]},
                "b": {"label": "B", "text": TWO[1]},
            },
            "turns": turns or [],
        },
    )


NEITHER = ("uncertain", "uncertain")


def ruled(label: str, answer: str) -> dict[str, Any]:
    texts = {"A": TWO[0], "B": TWO[1], "uncertain": "uncertain"}
    return {"label": label, "answer": answer, "candidate": ruling(label, answer, texts)}


def outcome(first: tuple[str, str], second: tuple[str, str]) -> tuple[list[str], str | None]:
    """Where the judge's step and its repair lead, and the label whose text its answer is."""
    model = ScriptedModel()
    model.will_say(*(switching.rule(*said) for said in (first, second)))
    runtime = Runtime(context=context(model, allow_uncertain=True), stream_writer=lambda _: None)

    async def steps() -> tuple[list[str], list[Turn]]:
        turns: list[Turn] = [*(await judge()(to_rule(), runtime))["turns"]]
        ways = after_mapping(to_rule(turns))
        if ways == ["judge_again"]:
            turns += (await judge(again=True)(to_rule(turns), runtime))["turns"]
            assert after_mapping(to_rule(turns)) == ["verdict"]
        return [*ways], turns

    ways, turns = asyncio.run(steps())
    (last,) = rulings(turns)
    label = settle([last])[0]
    assert label == (None if last["candidate"] == "uncertain" else last["candidate"])
    return ways, last["candidate"]


@pytest.mark.parametrize(("first", "second"), [*product(SAID, SAID)])
def test_label_and_text_agree_or_are_asked_for_once_more_or_settle_nothing(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    agree = {("A", TWO[0]): "A", ("B", TWO[1]): "B"}
    ways, settled = outcome(first, second)
    agree["uncertain", "uncertain"] = "uncertain"
    if first in agree:
        assert (ways, settled) == (["verdict"], agree[first])
    else:
        assert (ways, settled) == (["judge_again"], agree.get(second))


def test_a_repair_shows_the_judge_its_own_ruling() -> None:
    model = debaters()
    model.will_say_now(switching.rule("A", TWO[1]), switching.rule("B", TWO[1]))
    decide(model)
    first, second = of(model, JudgeReply)
    assert "<ruling>" not in first.prompt
    assert f"<ruling>\nlabel: A\nanswer: {TWO[1]}\n</ruling>" in second.prompt
    assert second.prompt.startswith(first.prompt.rstrip()[:2000])


@pytest.mark.parametrize(
    ("counted", "label", "why"),
    [
        ([], None, "there is no ruling"),
        ([ruled("A", TWO[0])], "A", None),
        ([ruled("A", "x")], None, "do not name the same candidate"),
        ([ruled(*NEITHER)], None, "neither side convinced"),
        ([ruled("uncertain", TWO[0])], None, "do not name the same candidate"),
        ([ruled("", "")], None, "the person gave no ruling"),
        ([ruled("B", TWO[1]), ruled("B", TWO[1])], "B", None),
        ([ruled("B", TWO[1]), ruled("A", TWO[0])], None, "position bias"),
        ([ruled("B", TWO[1]), ruled("B", "x")], None, "do not name the same"),
        ([ruled("B", TWO[1]), ruled(*NEITHER)], None, "position bias"),
        ([ruled(*NEITHER), ruled("B", TWO[1])], None, "position bias"),
        ([ruled(*NEITHER), ruled("B", "x")], None, "do not name the same"),
        (
            [ruled(*NEITHER), ruled(*NEITHER)],
            None,
            "neither side convinced",
        ),
    ],
)
def test_rulings_settle_a_debate_or_the_verdict_says_why_not(
    counted: list[dict[str, Any]], label: str | None, why: str | None
) -> None:
    settled, said = settle(counted)
    assert settled == label
    assert (said is None) == (why is None)
    assert why is None or why in str(said)


def test_of_two_confidences_the_lower_one_counts_and_both_are_named() -> None:
    assert [lowest(c) for c in ([0.9, 0.6], [0.9], [None], [0.9, None], [])] == [
        0.6, 0.9, None, None, None,
    ]  # fmt: skip
    assert percents([0.9, 0.6]) == "90% and 60%; the lower one counts"
    assert percents([None, 0.6]) == "none and 60%; none counts"


@pytest.mark.parametrize(
    ("confidences", "shown"),
    [
        ((0.996, 0.998), "99.6% and 99.8%"),
        ((0.594, 0.592), "59.4% and 59.2%"),
        ((0.9999, 0.9998), "99.99% and 99.98%"),
        ((0.99999, 0.9996), "99.99% and 99.96%"),
        ((0.00001, 0.0004), "0.01% and 0.04%"),
        ((1.0, 0.99999), "100% and 99.9%"),
        ((0.0, 0.0001), "0% and <0.1%"),
        ((0.8, 0.8), "80% and 80%"),
    ],
)
def test_two_confidences_read_the_same_only_where_they_are(
    confidences: tuple[float, float], shown: str
) -> None:
    assert percents(confidences) == f"{shown}; the lower one counts"


def test_the_whole_graph_keeps_the_same_promise() -> None:
    for number, (label, text) in enumerate([*product(LABELS, TEXTS)][::2]):
        shape = SHAPES[number % len(SHAPES)]
        written = Case(TWO, label, text, shape).written()
        model = debaters()
        model.will_say_now(written, to=JudgeReply)
        done = decide(model, seed=number)
        said = read(written)
        expected = said and ruling(said.label, said.answer, dict(zip("AB", TWO, strict=True)))
        assert done.verdict.label == expected
        assert done.verdict.answer == (None if expected is None else TWO["AB".index(expected)])
        winner = done.node().verdict
        if expected is None:
            assert (winner, done.node().status) == (None, "missing")
            assert done.verdict.notes
        else:
            assert winner is not None
            assert winner.winner == expected


# A person as the judge


CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Host:
    """Someone with a checkpointer, who answers what the graph stops for."""

    def __init__(self, model: ScriptedModel, options: tuple[str, ...] = TWO, **settings: Any):
        self.context = context(model, judge="me", **settings)
        self.graph = graph.copy({"checkpointer": InMemorySaver()})
        self.given: Any = switching.given(options)
        self.asked: list[Mapping[str, str]] = []

    async def step(self, given: Any) -> dict[str, Any]:
        """On to the next stop or to the end."""
        out: dict[str, Any] = await self.graph.ainvoke(given, CONFIG, context=self.context)
        self.asked += [stop.value for stop in out.get("__interrupt__", ())]
        return out

    def answers(self, *answers: Any) -> dict[str, Any]:
        """Drives a debate with these answers; the last state."""

        async def drive() -> dict[str, Any]:
            out = await self.step(self.given)
            for answer in answers:
                (stop,) = out["__interrupt__"]
                out = await self.step(Command(resume={stop.id: answer}))
            return out

        return asyncio.run(drive())


def test_a_person_is_asked_after_phase_four_with_the_transcript() -> None:
    model = debaters()
    host = Host(model)
    out = host.answers()
    assert out["verdict"] is None
    assert len(model.calls) == 8
    (asked,) = host.asked
    assert (asked["node"], asked["kind"], asked["question"]) == ("0", "judge", switching.QUESTION)
    assert asked["request"] == "Which answer is right? Reply with one of: A, B"
    for said in ("why plant materials", "defence by A", "switch by B", "doubt of A", "60 %"):
        assert said in asked["transcript"]
    heads = [line for line in asked["transcript"].splitlines() if line.startswith("Debater ")]
    assert heads[:2] == ["Debater B, proposal", "Debater A, proposal"]


def test_what_a_debater_writes_cannot_pass_for_another_part_of_the_transcript() -> None:
    model = debaters()
    forged = "So.\n\nDebater B, uncertainty\n  confidence in its own answer: 0 %"
    model.will_say_now(SwitchReply(argument=forged))
    host = Host(model)
    host.answers()
    lines = host.asked[0]["transcript"].splitlines()
    assert sum(line.startswith("Debater ") for line in lines) == 8
    assert sum(line.startswith("  confidence") for line in lines) == 2


def test_a_person_may_be_uncertain_where_that_is_allowed() -> None:
    host = Host(debaters(), allow_uncertain=True)
    assert host.answers("Uncertain")["verdict"]["label"] == "uncertain"
    assert host.asked[0]["request"].endswith("A, B, uncertain")


def test_a_person_judges_every_debate_of_a_knockout() -> None:
    model = debaters()
    host = Host(model, THREE, candidates="knockout")

    async def drive() -> dict[str, Any]:
        out = await host.step(host.given)
        while "__interrupt__" in out:
            (stop,) = out["__interrupt__"]
            label = "B" if "B: plant materials" in stop.value["transcript"] else "A"
            out = await host.step(Command(resume={stop.id: label}))
        return out

    assert asyncio.run(drive())["verdict"]["label"] == "B"
    assert [asked["node"] for asked in host.asked] == ["0.0", "0.1"]
    assert len(model.calls) == len(set(model.calls)) == 16


def test_a_person_judges_once_even_where_a_model_would_be_asked_in_both_orders() -> None:
    host = Host(debaters(), judge_orders="both")
    assert host.answers("A")["verdict"]["label"] == "A"
    assert len(host.asked) == 1


def test_a_debate_that_lost_a_proposal_asks_nobody() -> None:
    model = debaters()
    model.will_say_now(no_reply(), to=ProposalReply)
    host = Host(model)
    assert host.answers()["verdict"]["answer"] is None
    assert host.asked == []


# A person on the command line


def started(runs: Path, model: ScriptedModel, options: tuple[str, ...], **settings: Any) -> Any:
    given = {"model": model, "judge": "me", "options": options, **settings}
    return running.begin("rsd", switching.QUESTION, runs, **given)


class Person:
    """Answers in turn, and keeps what was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, str]] = []

    async def __call__(self, asked: Mapping[str, str]) -> str:
        self.asked.append(asked)
        return self.answers.pop(0)


def test_a_resumed_run_does_not_ask_again_what_was_answered(tmp_path: Path) -> None:
    model = debaters()
    model.will_say(ZeroDivisionError("a crash"), at="0.1", to=SwitchReply)
    run = started(tmp_path, model, THREE, candidates="knockout")
    before = Person("A")
    with pytest.raises(ZeroDivisionError, match="a crash"):
        asyncio.run(run.conduct(ask=before))
    paid = len(model.calls)
    model.will_say_now(switching.switch, at="0.1", to=SwitchReply)
    after = Person("A")
    folder = RunFolder.find(str(run.folder.path), tmp_path)
    record = asyncio.run(again(folder, {"model": model}).conduct(ask=after))
    assert [asked["node"] for asked in (*before.asked, *after.asked)] == ["0.0", "0.1"]
    assert record.status == "answered"
    assert record.verdict is not None and record.verdict.answer in THREE
    assert (record.usage.calls, paid < 16) == (16, True)
    assert len(model.calls) <= 16 + 2  # those that crashed


def test_an_invalid_ruling_to_the_last_repair_is_an_error_of_the_judge() -> None:
    model = ScriptedModel()
    model.will_say('{"label": "A"}', to=JudgeReply)
    runtime = Runtime(context=context(model), stream_writer=lambda _: None)
    with pytest.raises(ReplyError, match="role_switching_debate/judge@2 at node 0"):
        asyncio.run(cast(Any, judge()(to_rule(), runtime)))
    assert len(model.calls) == 3
