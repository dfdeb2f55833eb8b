"""Reads the public data sets: their rows as items, and the files that their authors publish.

Each set has a documented form, JSONL with the fields that its function reads here, and the form in
which it is published. A published file is first turned into rows of the documented form, so that
both give the same items under the same ids.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from dialectree.errors import InputError
from dialectree.evals.items import Inputs, Item, Paper, Reference, letter_of
from dialectree.evals.tables import Row, cells


def _item(row: Row, inputs: Inputs, reference: Reference) -> Item:
    category = row.optional("category")
    return Item(id=row.text("id"), category=category, inputs=inputs, reference=reference)


# The documented form


def truthfulqa(row: Row) -> Item:
    """Return a question of TruthfulQA, to be answered freely."""
    reference = Reference(
        true=row.texts("correct_answers"),
        false=row.texts("incorrect_answers"),
        best=row.text("best_answer"),
        best_false=row.text("best_incorrect_answer"),
    )
    return _item(row, Inputs(question=row.text("question")), reference)


def truthfulqa_binary(row: Row) -> Item:
    """Return the same question with two options; ``binary_order`` AB shows the right one as A."""
    order = row.text("binary_order")
    if order not in ("AB", "BA"):
        raise ValueError(f"'binary_order' is AB or BA, not {order!r}")
    pair = (row.text("best_answer"), row.text("best_incorrect_answer"))
    options = pair if order == "AB" else pair[::-1]
    inputs = Inputs(question=row.text("question"), options=options)
    return _item(row, inputs, Reference(gold=order[0]))


def openbookqa(row: Row) -> Item:
    """Return a question of OpenBookQA; ``answer`` is the right one's place among ``choices``."""
    options, answer = row.texts("choices"), row.text("answer")
    if not answer.isdecimal():
        raise ValueError(f"'answer' is the place of the right choice from 0, not {answer!r}")
    inputs = Inputs(question=row.text("question"), options=options)
    return _item(row, inputs, Reference(gold=letter_of(int(answer), options)))


def strategyqa(row: Row) -> Item:
    """Return a question of StrategyQA as the claim that its answer is yes.

    The question's grammar stays, so that the claim says the same. Facts and steps that lead to the
    answer are left out, because they would give it away.
    """
    claim = f"The answer to the question “{row.text('question')}” is yes."
    return _item(row, Inputs(claim=claim), Reference(label=row.truth("answer")))


def claims(row: Row) -> Item:
    """Return a claim of any set, such as those made of MedQA."""
    return _item(row, Inputs(claim=row.text("claim")), Reference(label=row.truth("label")))


def tree_of_debate(row: Row) -> Item:
    """Return two papers and a topic; the category says what they share and whether one cites.

    ``method_or_task`` is ``method`` where the task is the same and the method another.
    """
    kind, cites = row.text("method_or_task"), row.truth("cites")
    papers = (_paper(row, "paper_a"), _paper(row, "paper_b"))
    return Item(
        id=row.text("id"),
        category=f"{kind}, {'cited' if cites else 'not cited'}",
        inputs=Inputs(topic=row.text("topic"), papers=papers),
    )


def _paper(row: Row, name: str) -> Paper:
    value = row.value(name)
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not an object with title, abstract and introduction")
    paper = Row(row.path, row.line, value)
    rest = {part: paper.optional(part) or "" for part in ("abstract", "introduction", "body")}
    return Paper(title=paper.text("title"), **rest)


# The published form


def truthfulqa_file(path: Path, text: str) -> Iterator[Row]:
    """Yield the rows of TruthfulQA.csv. Ids are places in the file.

    Which option is shown first is part of the documented form: one draw a row from seed 7 of
    Python's generator, repeated here to the same end.
    """
    order = random.Random(7)
    for place, row in enumerate(cells(path, text, ",")):
        values: dict[str, JsonValue] = {
            "id": f"tqa-{place:03}",
            "question": row.text("Question"),
            "category": row.text("Category"),
            "best_answer": row.text("Best Answer"),
            "best_incorrect_answer": row.text("Best Incorrect Answer"),
            "correct_answers": [*row.texts("Correct Answers")],
            "incorrect_answers": [*row.texts("Incorrect Answers")],
            "binary_order": order.choice(["AB", "BA"]),
        }
        yield Row(path, row.line, values)


_ASKED = re.compile(
    r"Please choose the correct answer to the question: (?P<question>.*?)\s*\n\s*"
    r"Answer1: (?P<a>.*?) Answer2: (?P<b>.*?) Answer3: (?P<c>.*?) Answer4: (?P<d>.*?)\s*\n\s*"
    r"Answer format:.*",
    re.DOTALL,
)


def openbookqa_file(path: Path, text: str) -> Iterator[Row]:
    """Yield the rows of LLM-Adapters' test.json, which has instructions. Ids are places."""
    for place, row in enumerate(_objects(path, text)):
        asked = _ASKED.fullmatch(row.text("instruction"))
        right = re.fullmatch(r"answer([1-4])", row.text("answer"))
        if not (asked and right):
            raise row.fault(f"entry {place + 1} is no question with four answers")
        values: dict[str, JsonValue] = {
            "id": f"obqa-test-{place:03}",
            "question": asked["question"],
            "choices": [asked[letter].strip() for letter in "abcd"],
            "answer": int(right[1]) - 1,
        }
        yield Row(path, row.line, values)


def strategyqa_file(path: Path, text: str) -> Iterator[Row]:
    """Yield the rows of dev.json; ids are the authors' ``qid``."""
    for row in _objects(path, text):
        values = {"question": row.value("question"), "answer": row.value("answer")}
        yield Row(path, row.line, {"id": row.text("qid"), **values})


_TOD_COLUMNS = (
    *("topic", "url_a", "title_a", "abstract_a", "introduction_a"),
    *("url_b", "title_b", "abstract_b", "introduction_b", "task", "cites"),
)


def tree_of_debate_file(path: Path, text: str) -> Iterator[Row]:
    """Yield the rows of tree_of_debate_dataset.tsv: a pair a line, eleven cells, nothing quoted.

    Lines broken by a stray tab or line break are left out; an id is a place among all lines.
    """
    for place, line in enumerate(text.split("\n")[1:]):
        cell = [part.strip() for part in line.rstrip("\r").split("\t")]
        if len(cell) != len(_TOD_COLUMNS) or not {cell[-2], cell[-1]} <= {"0", "1"}:
            continue
        pair = dict(zip(_TOD_COLUMNS, cell, strict=True))
        values: dict[str, JsonValue] = {
            "id": f"tod-{place:03}",
            "topic": pair["topic"],
            "method_or_task": "task" if pair["task"] == "1" else "method",
            "cites": pair["cites"] == "1",
        }
        for side in "ab":
            parts = ("title", "abstract", "introduction")
            values[f"paper_{side}"] = {part: pair[f"{part}_{side}"] for part in parts}
        yield Row(path, place + 2, values)


def _objects(path: Path, text: str) -> Iterator[Row]:
    """Yield the objects of one JSON list; a row's line is unknown, so it is its place, from 1."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {str(error)[:200]}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path} is not a JSON list of objects")
    for place, entry in enumerate(cast("list[dict[str, JsonValue]]", entries), 1):
        yield Row(path, place, entry)
