"""Measure the texts of the debate of ``make debate``: one leaf, debated by the embedded model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dialectree
from benchmarks.figures import Figure
from dialectree import prompts
from dialectree.models.small_models import GROUP_SIZE, group_words
from dialectree.records import Call, RunRecord
from dialectree.records.folder import RunFolder

QUESTIONS = (
    "What is the best way to cross a busy street?",
    "Is it better to drink milk cold or warm?",
    "How can a class learn about the stars?",
    "Why do leaves change colour in autumn?",
    "Which is the better tool for cutting bread, a knife or a machine?",
    "Should a village repair its church or its bridge first?",
    "What should a cook do first when the soup is too salty?",
    "How can a worker rest well during a break?",
    "Is it better to keep a garden or a balcony with plants?",
    "What makes a story interesting?",
    "Which is the better job for a shy person, baker or librarian?",
    "How should a cyclist dress in winter?",
    "Why do some people sleep badly in summer?",
    "What is the best time to visit a museum?",
    "Should a school teach cooking or sewing first?",
    "How can a driver use less fuel?",
    "Which is the better roof, tiles or straw?",
    "What should one check first before a long walk?",
    "Is it better to heat a house with wood or with electricity?",
    "How can a choir find more singers?",
)
SEEDS = (0, 1, 2)
_WRITER = "tree_structured_debate/answer_writer"
_SENTENCE = re.compile(r"[.!?][)’”'\]]*$")
PART = f"{len(QUESTIONS)} questions with seeds {min(SEEDS)} to {max(SEEDS)}, settings of make debate"


def first_debate(folder: Path, repeats: int) -> Iterator[Figure]:
    """Debate every question with every seed, one debate after the other: a quarter of an hour."""
    records = [
        dialectree.run("tsd", question, max_depth=0, leaf_rounds=1, seed=seed, cache=False, runs=folder)
        for question in QUESTIONS
        for seed in SEEDS
    ]
    yield from figures_of(records)


def figures_of(records: Sequence[RunRecord]) -> Iterator[Figure]:
    """Yield figures on the answers and the texts of debates."""
    count = len(records)
    answered = sum(record.status == "answered" for record in records)
    yield Figure(PART, "debates that end with status 0", answered, least=0.8 * count)
    answers = [str((record.verdict and record.verdict.answer) or "") for record in records]
    short = sum(len(re.findall(r"\w+", answer)) < 3 for answer in answers)
    yield Figure(PART, "answers of fewer than three words", short, limit=count / 15)
    repeated, groups = _repeated(answers)
    yield Figure(PART, "three-word groups of the answers that repeat", repeated, "%", limit=8)
    fixed = {*group_words(re.sub(r"{[{%].*?[%}]}", " ", prompts.load(_WRITER).body), GROUP_SIZE)}
    copied = sum(group in fixed for group in groups)
    share = 100 * copied / max(1, len(groups))
    yield Figure(PART, "those that stand in the instructions", share, "%", limit=5)
    texts = [text for record in records for text in _texts(record)]
    within = sum(_ends_within_a_word(raw, shown) for raw, shown in texts)
    yield Figure(PART, "texts that end in the middle of a word", within, limit=0)
    cut = sum(raw != shown and not _SENTENCE.search(shown) for raw, shown in texts)
    share = 100 * cut / max(1, len(texts))
    yield Figure(PART, "texts without a whole sentence that were cut off", share, "%", limit=5)
    pairs = [pair for record in records if len(pair := _claims(record)) == 2]
    same = sum(_repeats(*pair) for pair in pairs)
    note = f"of {len(pairs)} debates with two claims"
    yield Figure(PART, "second claims that mostly repeat the first", same, note=note)


def _repeated(texts: Iterable[str]) -> tuple[float, list[tuple[str, ...]]]:
    """Return the percentage of groups that occur before in their text, and all groups."""
    several = [group_words(text, GROUP_SIZE) for text in texts]
    repeated = sum(len(groups) - len({*groups}) for groups in several)
    whole = [group for groups in several for group in groups]
    return 100 * repeated / max(1, len(whole)), whole


def _texts(record: RunRecord) -> Iterator[tuple[str, str]]:
    """Yield each text of a record's turns as the model wrote it and as it is shown."""
    assert record.path is not None
    last: dict[tuple[Any, ...], Call] = {call.spot(): call for call in RunFolder(record.path).ledger()}
    for node in record.tree.nodes.values():
        for turn in node.transcript:
            call = last[node.id, turn.phase, turn.role, turn.round, turn.take, turn.speaker]
            raw = _reply(call)
            for name, shown in turn.fields.items():
                if isinstance(shown, str) and len(shown) > 1:  # A and B are sides
                    yield str(raw.get(name, shown)), shown


def _reply(call: Call) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(call.reply or "{}")
    return reply


def _ends_within_a_word(raw: str, shown: str) -> bool:
    """Return whether the shown text ends in the middle of a word of the model."""
    behind = raw.removeprefix(shown)
    return behind != raw and shown[-1:].isalnum() and behind[:1].isalnum()


def _claims(record: RunRecord) -> list[str]:
    turns = [turn for node in record.tree.nodes.values() for turn in node.transcript]
    return [str(turn.fields["claim"]) for turn in turns if turn.role == "leaf_debater"]


def _repeats(first: str, second: str) -> bool:
    """Return whether more than half of the groups of ``second`` occur in ``first``."""
    known, groups = group_words(first, GROUP_SIZE), group_words(second, GROUP_SIZE)
    return 2 * sum(group in known for group in groups) > len(groups)
