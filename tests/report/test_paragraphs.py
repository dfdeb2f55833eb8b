"""Turns as paragraphs: which fields of a reply people read, of whatever protocol it is."""

from __future__ import annotations

import io

import pytest
from pydantic import JsonValue
from rich.console import Console

from dialectree.records import Event
from dialectree.report.paragraphs import Paragraphs
from tests.report.recorded import record as recorded

REPLIES: dict[str, tuple[dict[str, JsonValue], list[str]]] = {
    "the first text needs no label, and later ones have theirs": (
        {"claim": "It is hot.", "would_settle": "A test of it."},
        ["  It is hot.", "  What would settle it: A test of it."],
    ),
    "a title stands above": (
        {"text": "It burns.", "title": "Fire is hot"},
        ["  Fire is hot", "  It burns."],
    ),
    "several texts are numbered, with their figures": (
        {"scores": [{"id": "c1", "why": "So far.", "share": 0.5}, {"id": "c2", "why": "No end."}]},
        ["  1. So far. (0.50)", "  2. No end."],
    ),
    "a quotation stands in marks before what is said of it": (
        {"errors": [{"quote": "fire is cold", "fault": "It is not."}], "defence": "Touch it."},
        ["  “fire is cold”: It is not.", "  Defence: Touch it."],
    ),
    "words and numbers alone come last": (
        {"winner": "SUPPORT", "label": "CO2", "sure": 0.8, "percent": 35, "why": "It is so."},
        ["  It is so.", "  Winner: SUPPORT · Label: CO2 · Sure: 0.80 · Percent sure: 35"],
    ),
    "a ruling of one word is shown": ({"label": "B"}, ["  Label: B"]),
    "only a yes is shown": ({"concedes": True, "stop": False}, ["  Concedes: yes"]),
    "the side that is defended is not said twice": (
        {"answer": "a warm fire", "argument": "It is so."},
        ["  It is so."],
    ),
    "ids of evidence are not shown": (
        {"text": "It is so.", "evidence": ["a:1", "b:2"]},
        ["  It is so."],
    ),
    "a reply of ids alone is left out": (
        {"claim": "b1", "segments": [{"id": "a:1", "supports": "no"}]},
        [],
    ),
    "a text without spaces is a text": ({"text": "火は" * 20}, [f"  {'火は' * 19}火", "  は"]),
}


@pytest.mark.parametrize(("fields", "shown"), REPLIES.values(), ids=REPLIES.keys())
def test_people_read_texts_and_figures_and_no_ids(
    fields: dict[str, JsonValue], shown: list[str]
) -> None:
    turn = {"role": "agent", "speaker": "B", "phase": "opening_words", "step": 0, "round": 2}
    turn |= {"fields": fields, "side": "a warm fire"}
    record, written = recorded("tsd"), io.StringIO()
    view = Paragraphs(Console(file=written, width=80), record, {"opening_words": 3})
    view.watch(Event(t="", run_id="", node="0", kind="spoke", data=turn))
    heading, *lines = [
        line.rstrip() for line in written.getvalue().splitlines() if line.strip()
    ] or [""]
    if not shown:
        assert heading == ""
        return
    assert heading == f"0  {record.tree.nodes['0'].text}"
    assert lines == ["Agent B · Opening words, round 2 of 3 · defends a warm fire", *shown]
