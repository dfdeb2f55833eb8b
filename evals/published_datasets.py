"""List the public data sets, and convert their rows into rows with our column names.

Each set is declared in published_datasets.toml. Its documented form is JSONL with the fields that
its function here reads. A published file is first converted into rows of the documented form, so
that both forms give the same items with the same ids. A missing field raises KeyError, and a value
that makes no sense ValueError. The caller adds the id and category of a row.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from dialectree.protocols.protocol import Dataset

Fields = Mapping[str, Any]


def truthfulqa(row: Fields) -> Fields:
    """Return a question of TruthfulQA for a free answer."""
    return {
        "question": row["question"],
        "true": row["correct_answers"],
        "false": row["incorrect_answers"],
        "best": row["best_answer"],
        "best_false": row["best_incorrect_answer"],
    }


def truthfulqa_binary(row: Fields) -> Fields:
    """Return a question of TruthfulQA with two options; if ``binary_order`` is AB, A is right."""
    order = row["binary_order"]
    if order not in ("AB", "BA"):
        raise ValueError(f"'binary_order' is AB or BA, not {order!r}")
    pair = [row["best_answer"], row["best_incorrect_answer"]]
    return {"question": row["question"], "options": pair if order == "AB" else pair[::-1], "gold": order[0]}


def truthfulqa_claim(row: Fields) -> Fields:
    """Return the claim that an answer to a question of TruthfulQA is right.

    The claim quotes question and answer, so it keeps their meaning.
    """
    question, answer = row["question"].strip(), row["answer"].strip()
    return {"claim": f"The answer to the question “{question}” is: “{answer}”", "label": row["label"]}


def openbookqa(row: Fields) -> Fields:
    """Return a question of OpenBookQA; ``answer`` is the right one's place among ``choices``."""
    choices, place = row["choices"], int(row["answer"])
    if not 0 <= place < len(choices):
        raise ValueError(f"there is no option {place} among {len(choices)}, counted from 0")
    gold = ascii_uppercase[place]
    return {"question": row["question"], "options": choices, "gold": gold}


def strategyqa(row: Fields) -> Fields:
    """Return a question of StrategyQA as the claim that its answer is yes.

    The claim quotes the question, so it keeps the meaning. Facts and steps that lead to the answer
    are left out, because they would give it away.
    """
    claim = f"The answer to the question “{row['question'].strip()}” is yes."
    return {"claim": claim, "label": row["answer"]}


def claims(row: Fields) -> Fields:
    """Return a claim of any set, such as the claims made from MedQA."""
    return {"claim": row["claim"], "label": row["label"]}


_PRINTED = ("Question", "Category", "Best Answer", "Best Incorrect Answer")
_LISTED = ("Correct Answers", "Incorrect Answers")


def truthfulqa_rows(rows: Iterable[Fields]) -> Iterator[Fields]:
    """Yield rows of TruthfulQA.csv in the documented form. Ids are places in the file.

    The documented form has an order for the two options of each row. It was drawn once per row by
    Python's generator with seed 7, and the draws are repeated here.
    """
    order = random.Random(7)
    for place, row in enumerate(rows):
        yield {
            "id": f"tqa-{place:03}",
            **{_ours(name): row[name] for name in _PRINTED},
            **{
                _ours(name): [answer for answer in row[name].split(";") if answer.strip()] for name in _LISTED
            },
            "binary_order": order.choice(["AB", "BA"]),
        }


def _ours(name: str) -> str:
    return name.lower().replace(" ", "_")


def find_row_converter(columns: Iterable[str]) -> Callable[[Iterable[Fields]], Iterable[Fields]] | None:
    """Return the function that converts rows with TruthfulQA's columns into the documented form.

    The columns are those of the published file, or already those of the documented form.
    """
    column_names, printed = {*columns}, {*_PRINTED, *_LISTED}
    if printed <= column_names:
        return truthfulqa_rows
    return iter if {*map(_ours, printed)} - {"category"} <= column_names else None


def truthfulqa_file(text: str) -> Iterator[Fields]:
    """Yield the rows of TruthfulQA.csv."""
    return truthfulqa_rows(csv.DictReader(io.StringIO(text, newline="")))


def truthfulqa_claims_file(text: str) -> Iterator[Fields]:
    """Yield two rows for each question of TruthfulQA.csv: one with its best answer, one with a wrong one."""
    for row in truthfulqa_file(text):
        same = {name: row[name] for name in ("question", "category")}
        for end, label in (("", True), ("_incorrect", False)):
            answer = row[f"best{end}_answer"]
            yield {**same, "id": f"{row['id']}-{'tf'[not label]}", "answer": answer, "label": label}


_ASKED = re.compile(
    r"Please choose the correct answer to the question: (?P<question>.*?)\s*\n\s*"
    r"Answer1: (?P<a>.*?) Answer2: (?P<b>.*?) Answer3: (?P<c>.*?) Answer4: (?P<d>.*?)\s*\n\s*"
    r"Answer format:.*",
    re.DOTALL,
)


def openbookqa_file(text: str) -> Iterator[Fields]:
    """Yield the rows of LLM-Adapters' test.json, parsed from instructions. Ids are places in the file."""
    for place, row in enumerate(json.loads(text)):
        match = _ASKED.fullmatch(row["instruction"])
        if match is None:
            raise ValueError(f"entry {place + 1} is no question with four answers")
        yield {
            "id": f"obqa-test-{place:03}",
            "question": match["question"],
            "choices": [match[letter].strip() for letter in "abcd"],
            "answer": int(row["answer"].removeprefix("answer")) - 1,
        }


def strategyqa_file(text: str) -> Iterator[Fields]:
    """Yield the rows of dev.json; ids are the authors' ``qid``."""
    for row in json.loads(text):
        yield {"id": row["qid"], "question": row["question"], "answer": row["answer"]}


def public() -> list[Dataset]:
    """Return the data sets of published_datasets.toml."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    sets: list[Dataset] = []
    for name, declared in tomllib.loads(text).items():
        code = {key: declared[key] for key in ("row", "published") if key in declared}
        paths = {n: code[n] if ":" in code[n] else f"{__name__}:{code[n]}" for n in code}
        sets.append(Dataset(name=name, **{**declared, **paths}))
    return sets
