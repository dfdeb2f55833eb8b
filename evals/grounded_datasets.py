"""Turn public data sets of questions about documents into rows with sources and gold evidence.

These data sets are neither shipped nor fetched: the user downloads them and names the file
(``--data``). Each function takes the file's text and folder, and yields rows with our column names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

Fields = Mapping[str, Any]
LABELS = {"SUPPORT": True, "SUPPORTS": True, "CONTRADICT": False, "REFUTES": False}
"""The truth of a claim by its label in SciFact and FEVER; other labels mean unknown."""


def as_it_is(row: Fields) -> Fields:
    """Return a row unchanged: its columns already have our names."""
    return row


def scifact(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the claims of claims_dev.jsonl, with the abstracts in corpus.jsonl that they cite."""
    corpus = {str(paper["doc_id"]): paper for paper in _objects((folder / "corpus.jsonl").read_text())}
    for row in _objects(text):
        evidence: Mapping[str, list[Fields]] = row.get("evidence", {})
        labels = [rationale["label"] for rationales in evidence.values() for rationale in rationales]
        gold = [
            corpus[id]["abstract"][number]
            for id, rationales in evidence.items()
            for rationale in rationales
            for number in rationale["sentences"]
        ]
        cited = [corpus[str(id)] for id in row["cited_doc_ids"]]
        sources = [_source(paper["title"], " ".join(paper["abstract"])) for paper in cited]
        fields = {"claim": row["claim"], "sources": sources, "evidence": gold}
        yield {"id": row["id"], **_make_label_fields(labels), **fields}


def fever(text: str, folder: Path) -> Iterator[Fields]:
    """Yield claims of FEVER; pages.jsonl has the lines of wiki-pages that the claims' evidence names."""
    pages = {
        wiki_page["id"]: wiki_page for wiki_page in _objects((folder / "pages.jsonl").read_text("utf-8"))
    }
    sentences = {id: _sentences(page["lines"]) for id, page in pages.items()}
    for row in _objects(text):
        places = [place[2:] for evidence_set in row["evidence"] for place in evidence_set if place[2]]
        gold = dict.fromkeys(sentences[id][number] for id, number in places)
        sources = [
            _source(id, " ".join(sentences[id].values())) for id in dict.fromkeys(p[0] for p in places)
        ]
        fields = {"claim": row["claim"], "sources": sources, "evidence": [*gold]}
        yield {"id": row["id"], **_make_label_fields([row["label"]]), **fields}


def qasper(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the questions of qasper-dev-v0.3.json, each about a paper; some questions have no answer."""
    for id, paper in json.loads(text).items():
        parts = [[f"## {section['section_name']}", *section["paragraphs"]] for section in paper["full_text"]]
        body = [paper["abstract"], *(text for part in parts for text in part)]
        source = {"name": f"{id}.md", "text": "\n\n".join([f"# {paper['title']}", *body])}
        for question in paper["qas"]:
            answers = [annotation["answer"] for annotation in question["answers"]]
            evidence = dict.fromkeys(text for answer in answers for text in answer["evidence"])
            yield {
                "id": question["question_id"],
                "question": question["question"],
                "true": [*dict.fromkeys(filter(None, map(_answer, answers)))],
                "sources": [source],
                "evidence": [passage for passage in evidence if not passage.startswith("FLOAT SELECTED")],
            }


def quality(text: str, folder: Path) -> Iterator[Fields]:
    """Yield the questions of QuALITY.v1.0.1.htmlstripped.dev, each about a long article."""
    for row in _objects(text):
        ending = "html" if "</p>" in row["article"] else "txt"
        source = {"name": f"{row['article_id']}.{ending}", "text": row["article"]}
        for question in row["questions"]:
            place = question.get("gold_label")
            yield {
                "id": question["question_unique_id"],
                "category": "hard" if question["difficult"] else "easy",
                "question": question["question"],
                "options": question["options"],
                "gold": ascii_uppercase[place - 1] if place else None,
                "sources": [source],
            }


def _objects(text: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in text.split("\n") if line.strip())


def _make_label_fields(labels: Iterable[str]) -> dict[str, Any]:
    """Return a claim's label and category from the first of ``labels``."""
    label = next(iter(labels), "NOT ENOUGH INFO")
    return {"label": LABELS.get(label), "category": label}


def _source(title: str, text: str) -> dict[str, str]:
    return {"name": f"{title}.md", "text": f"# {title}\n\n{text}"}


def _sentences(lines: str) -> dict[int, str]:
    """Return the sentences of a page of FEVER by their numbers."""
    parts = (line.split("\t") for line in lines.split("\n"))
    return {
        int(columns[0]): columns[1]
        for columns in parts
        if len(columns) > 1 and columns[0].isdigit() and columns[1]
    }


def _answer(answer: Fields) -> str | None:
    """Return an answer of Qasper as a text; None if the annotator found no answer."""
    if answer["yes_no"] is not None:
        return "Yes" if answer["yes_no"] else "No"
    return answer["free_form_answer"] or ", ".join(answer["extractive_spans"]) or None
