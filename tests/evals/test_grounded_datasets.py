"""Public sets of questions about documents, in the forms in which they are downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.evals.dataset_items import Item
from dialectree.evals.datasets import load


def lines(name: str, *rows: object) -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def texts(item: Item) -> list[str]:
    return [source.name for source in item.inputs.sources]


def test_scifact_has_its_abstracts_beside_it() -> None:
    sentences = ["Cows eat grass.", "They chew.", "No cow eats meat."]
    other = {"doc_id": 8, "title": "Clay", "abstract": ["Clay is no food."]}
    lines("corpus.jsonl", {"doc_id": 7, "title": "Cows", "abstract": sentences}, other)
    found = {"7": [{"sentences": [0, 2], "label": "CONTRADICT"}]}
    data = lines(
        "claims_dev.jsonl",
        {"id": 1, "claim": "Cows eat meat.", "evidence": found, "cited_doc_ids": [7, 8]},
        {"id": 2, "claim": "Cows sing.", "evidence": {}, "cited_doc_ids": [8]},
    )
    one, two = load("scifact", data).items
    assert (one.reference.label, one.category, texts(one)) == (False, "CONTRADICT", ["Cows.md", "Clay.md"])
    assert one.reference.evidence == ("Cows eat grass.", "No cow eats meat.")
    assert two.reference.label is None and two.reference.evidence == ()


def test_fever_has_the_pages_that_it_names_beside_it() -> None:
    page = {"id": "Cow", "text": "x", "lines": "0\tCows eat grass.\tgrass\n1\t\n2\tThey chew.\tx"}
    lines("pages.jsonl", page)
    data = lines(
        "dev.jsonl",
        {"id": 1, "label": "SUPPORTS", "claim": "They chew.", "evidence": [[[5, 6, "Cow", 2]]]},
        {"id": 2, "label": "NOT ENOUGH INFO", "claim": "They sing.", "evidence": [[[7, None, None, None]]]},
    )
    one, two = load("fever", data).items
    assert one.reference.label is True and one.reference.evidence == ("They chew.",)
    assert texts(one) == ["Cow.md"] and texts(two) == [] and two.reference.label is None


def answered(**more: Any) -> dict[str, Any]:
    empty = {"unanswerable": False, "extractive_spans": [], "yes_no": None}
    return {"answer": {**empty, "free_form_answer": "", "evidence": [], **more}}


def test_qasper_asks_about_a_whole_paper() -> None:
    asked = {
        "question_id": "q",
        "question": "What do they eat?",
        "answers": [
            answered(extractive_spans=["grass", "hay"], evidence=["They eat grass.", "FLOAT SELECTED: x"]),
            answered(yes_no=False),
            answered(unanswerable=True),
        ],
    }
    sections = [{"section_name": "Food", "paragraphs": ["They eat grass.", "And hay."]}]
    paper = {"title": "Cows", "abstract": "We feed.", "full_text": sections, "qas": [asked]}
    Path("qasper-dev-v0.3.json").write_text(json.dumps({"1234.5": paper}))
    (item,) = load("qasper", "qasper-dev-v0.3.json").items
    assert item.reference.true == ("grass, hay", "No")
    assert item.reference.evidence == ("They eat grass.",) and texts(item) == ["1234.5.md"]
    assert item.inputs.sources[0].title == "Cows"


def test_quality_asks_about_a_long_article() -> None:
    common = {"difficult": 1, "options": ["grass", "hay", "meat", "clay"]}
    asked = {"question": "What?", "question_unique_id": "5_1", "gold_label": 2, **common}
    data = lines(
        "QuALITY.v1.0.1.htmlstripped.dev",
        {"article_id": "5", "article": "Cows.\n\nThey eat hay.", "questions": [asked]},
        {
            "article_id": "6",
            "article": f"<html><body><p>{'Cows stand there. ' * 3}</p></body></html>",
            "questions": [{**asked, "question_unique_id": "6_1", "gold_label": None}],
        },
    )
    one, two = load("quality", data).items
    assert (one.reference.gold, one.category, texts(one)) == ("B", "hard", ["5.txt"])
    assert two.reference.gold is None and texts(two) == ["6.html"]


@pytest.mark.parametrize("name", ["scifact", "fever", "qasper", "quality"])
def test_another_file_is_named(name: str) -> None:
    data = lines("other.jsonl", {"id": 1, "claim": "x"})
    with pytest.raises(InputError, match=r"other.jsonl is not the published file"):
        load(name, data)
    with pytest.raises(InputError, match="--data FILE with"):
        load(name)
