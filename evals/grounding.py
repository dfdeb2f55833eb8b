"""Count how a debate used its sources, from its record."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialectree.evals.dataset_items import Item
from dialectree.evals.results import Grounding
from dialectree.models.reading import NO_EVIDENCE
from dialectree.protocols.protocol import CHECKER
from dialectree.records import RunRecord, Turn

FALSE, NOWHERE = "false quotation", "no source says so"
"""Words in notes by the program: on every false quotation, and on one that no source contains."""
SHORTEST = 12
"""The fewest characters of a sentence for it to count as the gold passage that contains it."""


def grounding(record: RunRecord, item: Item) -> Grounding | None:
    """Return counts of how a debate used its sources, or None without sources."""
    if record.input.get("sources") is None:
        return None
    nodes, verdict = [*record.tree.nodes.values()], record.verdict
    turns = [turn for node in nodes for turn in node.transcript]
    marks = dict(mark for turn in turns if turn.role == CHECKER for mark in _marks(turn))
    notes = [note for node in nodes for note in node.notes if f"{FALSE} (" in note]
    invented = sum(f"{FALSE} ({NOWHERE})" in note for note in notes)
    words = _sentences(record)
    pointed = {id for turn in turns for point in turn.evidence for id in point.sentences}
    pointed |= {id for turn in turns for id in turn.rests_on}
    pointed |= {ground.id for ground in verdict.grounds} if verdict else set()
    gold = [plain(text) for text in item.reference.evidence]
    return Grounding(
        texts=_texts(turns),
        marked=len(marks),
        borne_out=sum(mark == "yes" for mark in marks.values()),
        contradicted=sum(mark == "contradicts" for mark in marks.values()),
        invented=invented,
        misattributed=len(notes) - invented,
        gold=len(gold),
        retrieved=_count_matching_gold(gold, words.values()),
        cited=_count_matching_gold(gold, (text for id, text in words.items() if id in pointed)),
        without=verdict is not None and NO_EVIDENCE in verdict.notes,
    )


def _marks(turn: Turn) -> Iterator[tuple[str, str]]:
    marks: Any = turn.fields.get("marks", [])
    yield from ((mark["point"], mark["verdict"]) for mark in marks)


def _texts(turns: Iterable[Turn]) -> dict[str, tuple[int, int]]:
    """Count by role and phase the texts that point to evidence, and all texts."""
    turns_by_phase: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.role != CHECKER:
            turns_by_phase.setdefault(f"{turn.role} {turn.phase}", []).append(turn)
    counted: dict[str, tuple[int, int]] = {}
    for place, phase_turns in turns_by_phase.items():
        items = [{point.item for point in turn.evidence} for turn in phase_turns]
        listed = any(0 not in numbers for numbers in items if numbers)
        texts = sum(_entries(turn.fields) if listed else 1 for turn in phase_turns)
        counted[place] = sum(map(len, items)), texts
    return counted


def _entries(fields: Mapping[str, Any]) -> int:
    """Return the length of the longest list of a reply, which is its list of arguments."""
    return max((len(entries) for entries in fields.values() if isinstance(entries, list)), default=0)


def _sentences(record: RunRecord) -> dict[str, str]:
    """Return the words of each retrieved sentence, by the sentence's id."""
    return {
        f"{segment.id}.{number}": plain(segment.text[start:end])
        for segment in record.tree.segments.values()
        for number, (start, end) in enumerate(segment.sentences, 1)
    }


def _count_matching_gold(gold: Iterable[str], sentences: Iterable[str]) -> int:
    """Return the number of gold texts that contain one of the sentences, or are part of one."""
    unique_sentences = {*sentences}
    return sum(
        any(_in(gold_text, s) or (len(s) >= SHORTEST and _in(s, gold_text)) for s in unique_sentences)
        for gold_text in gold
    )


def _in(words: str, text: str) -> bool:
    return f" {words} " in f" {text} "


def plain(text: str) -> str:
    """Return only the words of a text: lower case, without punctuation and line breaks."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
