"""What a report makes of role-switching debates that were held: who held what, and who won."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialectree.contests import Change, Rule
from dialectree.contests import start as contesting
from dialectree.contests.rulings import labels
from dialectree.nodes.role_switching_debate.debater import ProposalReply, UncertaintyReply
from dialectree.nodes.role_switching_debate.judge import JudgeReply
from dialectree.protocols import plugins, protocol
from dialectree.protocols.protocol import Phase
from dialectree.protocols.script import QuestionInput
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import RunRecord, turns
from dialectree.records.folder import RunFolder
from dialectree.report import exchange, html, markdown, transcript, tree
from dialectree.report.progress import remark
from tests import running
from tests.graphs import debating
from tests.graphs.role_switching_debate import switching
from tests.report.recorded import DEMOS
from tests.report.recorded import record as recorded
from tests.report.recorded import seen as seen_on
from tests.scripted import ScriptedModel, no_reply

RUNS = Path("runs")
FLAG = "Letter and answer do not name the same candidate"
LONG = "Cows eat what grows, " + "and what grows is eaten, " * 8
ALIKE = {
    "long ones that begin alike": (f"{LONG}by day.", f"{LONG}by night."),
    "one that looks like a shortened one": ("The end", "The…"),
    "a short one and a long one": ("Cows", f"{LONG}by day."),
}


def held(name: str, model: ScriptedModel, options: Sequence[str] = (), **given: Any) -> RunRecord:
    """A run from its start to its end."""
    more = {"options": options} if options else {}
    begun = running.begin(name, "Is it so?", RUNS, model=model, **more, **given)
    return asyncio.run(begun.conduct())


def contest(record: RunRecord, *wishes: Change) -> RunRecord:
    folder = RunFolder.find(record.run_id, RUNS)
    given = {"model": switching.debaters(), "cache": False}
    begun: Any = contesting(folder, wishes, RUNS, given)
    new: RunRecord = asyncio.run(begun.conduct())
    return new


@pytest.mark.parametrize("options", ALIKE.values(), ids=ALIKE.keys())
@pytest.mark.parametrize("label", ["A", "B"])
def test_options_that_begin_alike_are_told_apart(options: tuple[str, str], label: str) -> None:
    model = switching.debaters()
    model.will_say_now(switching.rule_label(label), to=JudgeReply)
    record = held("rsd", model, options)
    texts = dict(zip("AB", options, strict=True))
    node = record.tree.nodes["0"]
    assert record.verdict is not None and node.verdict is not None
    assert labels(record, node) == texts
    (debate,) = exchange.exchanges(record, node)
    (won,) = (side for side in debate.sides if side.won)
    assert (won.letter, won.answer, won.name) == (label, texts[label], node.verdict.winner)
    assert exchange.winner(record, node, node.verdict) == f"{label}: {texts[label]}"
    for other in {"A", "B"} - {label}:
        new = contest(record, Rule("0", other))
        assert new.verdict is not None and new.verdict.answer == texts[other]


@pytest.mark.parametrize("winner", ["Yes", "No"])
def test_at_a_polar_leaf_yes_is_a_and_no_is_b(winner: str) -> None:
    model = debating.debaters(2)
    model.will_say_now(debating.split("is it so?", "what of it?"), at="0")
    switching.debaters(model, winner=winner)
    model.will_say_now(switching.choose(*(f"grass {n}" for n in range(4))), to=ProposalReply)
    record = held("tsd", model, max_depth=1, leaf_protocol="rsd")
    node = record.tree.nodes["0.0"]
    assert node.verdict is not None and node.verdict.answer == winner
    (debate,) = exchange.exchanges(record, node)
    assert {side.letter: side.answer for side in debate.sides} == {"A": "Yes", "B": "No"}
    (ruling,) = debate.rulings
    assert ruling.holder is not None and ruling.agrees
    assert (ruling.holder.answer, ruling.holder.won) == (winner, True)
    assert FLAG not in html(record, []) and FLAG not in markdown(record, [])


READINGS = {
    "with another apostrophe": ("It doesn't melt", "It doesn’t melt", True),
    "two lines on one": ("It melts at\nabout 30 degrees", "It melts at about 30 degrees", True),
    "in a sentence": ("plants", "The correct answer is plants.", False),
    "the opposite in the same words": ("plants", "not plants", False),
    "cut short": ("It melts at 30 degrees", "It melts", False),
    "another candidate": ("plants", "animals", False),
}


@pytest.mark.parametrize(("option", "answer", "agree"), READINGS.values(), ids=READINGS.keys())
def test_a_report_reads_a_ruling_as_the_verdict_did(option: str, answer: str, agree: bool) -> None:
    model = switching.debaters()
    model.will_say_now(switching.rule("B", answer), to=JudgeReply)
    record = held("rsd", model, ("animals", option))
    assert record.status == ("answered" if agree else "unresolved")
    (debate,) = exchange.exchanges(record, record.tree.nodes["0"])
    assert [ruling.agrees for ruling in debate.rulings] == ([True] if agree else [False, False])
    for said in (html(record, []), markdown(record, [])):
        assert (FLAG in said) is not agree


DEBATES: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "of two options": (switching.TWO, {"judge_orders": "both"}),
    "of options that are chosen": (switching.FIVE, {}),
    "of a choice made anew": (switching.FIVE[2:], {}),
    "of an open question": ((), {}),
    "of a knockout": (switching.THREE, {"candidates": "knockout"}),
    "with the gold answer": (switching.FIVE, {"candidates": "balanced"}),
}


@pytest.mark.parametrize(("options", "given"), DEBATES.values(), ids=DEBATES.keys())
def test_a_debater_has_one_name_wherever_it_is_named(options: Sequence[str], given: dict[str, Any]) -> None:
    """The label that it defends: in prompts, notes, failures, reports and the ids of turns."""
    model = switching.debaters(winner="clay")
    chosen = {5: ("clay", "sea water"), 3: ("clay", "clay", "sea water"), 0: ("clay", "hay")}
    if len(options) in chosen:
        model.will_say_now(switching.choose(*chosen[len(options)] * 2), to=ProposalReply)
    model.will_say_now(no_reply(), to=UncertaintyReply)
    gold = {"gold": "D"} if "balanced" in given.values() else {}
    more = {"model": model, "options": options, **gold, **given}
    begun = running.begin("rsd", "Is it so?", RUNS, **more)
    record = asyncio.run(begun.conduct())
    calls, nodes = begun.folder.ledger(), record.tree.nodes.values()
    lines = [line for e in begun.folder.events() if (line := remark(e))]
    shown = [tree(record), *(transcript(node, record) for node in nodes)]
    pages = [html(record, calls), markdown(record, calls), *(seen_on(part, 120) for part in shown)]
    for said in (*model.prompts, *pages, *lines, *(note for node in nodes for note in node.notes)):
        assert not re.search(r"(?i:debater) [ab]\b|\b0[.01]*/[ab][1-4]", said)
    assert len(lines) == len(record.list_failures()) > 0
    for node in nodes:
        for turn in node.transcript:
            if turn.role == "debater":
                label = turns.labels(node, 1)[turn.speaker]
                assert turns.name(node, turn) == f"{node.id}/{label}{turn.round}"
                assert f"{node.id}/{label}{turn.round}" in pages[0]
        assert (
            node.verdict is None
            or node.verdict.winner in turns.labels(node, 1).values()
            or (node.kind == "knockout")
        )


@pytest.mark.parametrize("gold", ["B", " b "])
def test_the_gold_option_is_known_however_its_letter_was_written(gold: str) -> None:
    more = {"options": switching.TWO, "gold": gold, "candidates": "oracle"}
    begun = running.begin("rsd", "Is it so?", RUNS, model=switching.debaters(), **more)
    record = asyncio.run(begun.conduct())
    assert record.input["gold"] == "B"
    right = [o.letter for o in exchange.options(record) if "known to be right" in o.remarks]
    assert right == ["B"]


def test_a_debate_is_drawn_by_the_phases_of_its_own_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose phases have the same names changes no report of another protocol."""
    records = [recorded(name) for name in DEMOS]
    before = [(html(one, []), markdown(one, [])) for one in records]
    tsd = protocol.load_protocols()["tsd"]
    stranger = replace(
        tsd,
        name="stranger",
        input=QuestionInput,
        settings=type("Settings", (ProtocolSettings,), {}),
        view="two_sided",
        order=replace(tsd.order, beside_all=("debate",)),
        phases=(Phase(role="decomposer", reply=(), editable=("reason",)),),
    )
    everything = {**protocol.load_protocols(), "stranger": stranger}
    monkeypatch.setattr(plugins, "load_declarations", lambda: (everything, {}))
    assert [(html(one, []), markdown(one, [])) for one in records] == before
