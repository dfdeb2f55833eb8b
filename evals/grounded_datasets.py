"""Turn public data sets of questions about documents into rows with sources and gold evidence.

Nothing of them is shipped or fetched: the user downloads them and names the file (``--data``). Each
function takes the text of that file and its folder, and yields rows whose columns bear our names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

Fields = Mapping[str, Any]
LABELS = {"SUPPORT": True, "SUPPORTS": True, "CONTRADICT": False, "REFUTES": False}
"""What the labels of SciFact and FEVER say of a claim; others say that nobody knows."""


def as_it_is(row: Fields) -> Fields:
    """Return a row, whose columns bear our names already."""
    return row


def scifact(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the claims of claims_dev.jsonl; the abstracts that they cite are in corpus.jsonl."""
    corpus = {str(one["doc_id"]): one for one in _objects((folder / "corpus.jsonl").read_text())}
    for row in _objects(text):
        found: Mapping[str, list[Fields]] = row.get("evidence", {})
        labels = [one["label"] for every in found.values() for one in every]
        gold = [
            corpus[id]["abstract"][number]
            for id, every in found.items()
            for one in every
            for number in one["sentences"]
        ]
        cited = [corpus[str(id)] for id in row["cited_doc_ids"]]
        sources = [_source(one["title"], " ".join(one["abstract"])) for one in cited]
        own = {"claim": row["claim"], "sources": sources, "evidence": gold}
        yield {"id": row["id"], **_labelled(labels), **own}


def fever(text: str, folder: Path) -> Iterator[Fields]:
    """Yield claims of FEVER; pages.jsonl has the lines of wiki-pages on what they name."""
    pages = {one["id"]: one for one in _objects((folder / "pages.jsonl").read_text("utf-8"))}
    sentences = {id: _sentences(page["lines"]) for id, page in pages.items()}
    for row in _objects(text):
        places = [place[2:] for every in row["evidence"] for place in every if place[2]]
        gold = dict.fromkeys(sentences[id][number] for id, number in places)
        sources = [
            _source(id, " ".join(sentences[id].values()))
            for id in dict.fromkeys(p[0] for p in places)
        ]
        own = {"claim": row["claim"], "sources": sources, "evidence": [*gold]}
        yield {"id": row["id"], **_labelled([row["label"]]), **own}


def qasper(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the questions of qasper-dev-v0.3.json about a paper each; unanswerable ones lack an
    answer.
    """
    for id, paper in json.loads(text).items():
        parts = [[f"## {one['section_name']}", *one["paragraphs"]] for one in paper["full_text"]]
        body = [paper["abstract"], *(text for part in parts for text in part)]
        source = {"name": f"{id}.md", "text": "\n\n".join([f"# {paper['title']}", *body])}
        for asked in paper["qas"]:
            answers = [one["answer"] for one in asked["answers"]]
            shown = dict.fromkeys(text for one in answers for text in one["evidence"])
            yield {
                "id": asked["question_id"],
                "question": asked["question"],
                "true": [*dict.fromkeys(filter(None, map(_answer, answers)))],
                "sources": [source],
                "evidence": [one for one in shown if not one.startswith("FLOAT SELECTED")],
            }


def quality(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the questions of QuALITY.v1.0.1.htmlstripped.dev about a long article each."""
    for row in _objects(text):
        ending = "html" if "</p>" in row["article"] else "txt"
        source = {"name": f"{row['article_id']}.{ending}", "text": row["article"]}
        for asked in row["questions"]:
            place = asked.get("gold_label")
            yield {
                "id": asked["question_unique_id"],
                "category": "hard" if asked["difficult"] else "easy",
                "question": asked["question"],
                "options": asked["options"],
                "gold": ascii_uppercase[place - 1] if place else None,
                "sources": [source],
            }


def _objects(text: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in text.split("\n") if line.strip())


def _labelled(labels: Iterable[str]) -> dict[str, Any]:
    """Return label and category of a claim by the first of ``labels``."""
    label = next(iter(labels), "NOT ENOUGH INFO")
    return {"label": LABELS.get(label), "category": label}


def _source(title: str, text: str) -> dict[str, str]:
    return {"name": f"{title}.md", "text": f"# {title}\n\n{text}"}


def _sentences(lines: str) -> dict[int, str]:
    """Return the sentences of a page of FEVER by their numbers."""
    parts = (line.split("\t") for line in lines.split("\n"))
    return {int(one[0]): one[1] for one in parts if len(one) > 1 and one[0].isdigit() and one[1]}


def _answer(given: Fields) -> str | None:
    """Return an answer of Qasper as a text; None where its annotator found none."""
    if given["yes_no"] is not None:
        return "Yes" if given["yes_no"] else "No"
    return given["free_form_answer"] or ", ".join(given["extractive_spans"]) or None
