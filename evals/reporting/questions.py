"""All questions of a report, one by one: as data for the page, and as a CSV file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from dialectree import text as words
from dialectree.evals.dataset_items import Item
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import PAGE, Result

RECORD = "run.json"
_TEXTS = 3_000_000
"""About as many characters of questions, and of answers, as a page is to hold."""


def asked(item: Item | None) -> str:
    """Return what an item asks, in one text."""
    if item is None:
        return ""
    inputs = item.inputs
    if inputs.topic is not None:
        return f"{inputs.topic}: {' / '.join(paper.title for paper in inputs.papers)}"
    return inputs.claim or inputs.question or ""


def options(item: Item) -> list[str]:
    """Return the options, with their letters."""
    return [f"{chr(65 + n)} {option}" for n, option in enumerate(item.inputs.options)]


def gold(item: Item | None) -> str:
    """Return what would be right, as far as the data set says it in a few words."""
    if item is None:
        return ""
    reference = item.reference
    if reference.gold is not None:
        return options(item)[ord(reference.gold) - 65]
    if reference.label is not None:
        return "true" if reference.label else "false"
    return reference.best or next(iter(reference.true), "")


def answer(result: Result) -> str:
    """Return a row's answer, in one text."""
    if result.status == "failed":
        return result.fault or "failed"
    verdict = result.verdict
    parts = [part for part in (verdict.label, verdict.answer) if part] if verdict else []
    return " ".join(dict.fromkeys(parts)) or "no answer"


def link(study: Study, out: Path, row: str, item: str) -> str:
    """Return the address of a question's run, as seen from the report's folder; empty for none."""
    run = study.run(row, item)
    for name in (PAGE, RECORD):
        if run and (run / name).is_file():
            return quote(Path(os.path.relpath(run / name, out)).as_posix())
    return ""


def data(study: Study, out: Path) -> dict[str, object]:
    """Return what the page's script shows, shortened where there are very many questions."""
    answers = sum(map(len, study.results.values()))
    long = max(24, min(320, _TEXTS // max(len(study.items), 1)))
    short = max(24, min(200, _TEXTS // max(answers, 1)))
    ends = {row.name: measures.endings(study.of(row.name)) for row in study.rows}

    def cell(row: str, item: str) -> list[object] | None:
        result = study.results[row].get(item)
        if result is None:
            return None
        sure = result.verdict.confidence if result.verdict else None
        mark = measures.overall([result]).get(item) if study.task == "compare" else None
        return [
            ends[row][item],
            words.line(answer(result), short),
            None if sure is None else round(sure, 3),
            None if mark is None else round(mark, 1),
            link(study, out, row, item),
        ]

    return {
        "rows": [words.line(row.name, 60) for row in study.rows],
        "questions": [
            [
                words.line(item, 80),
                words.line(study.category(item) or "none", 80),
                words.line(asked(study.texts.get(item)), long),
                words.line(gold(study.texts.get(item)), short),
                [cell(row.name, item) for row in study.rows],
            ]
            for item in study.items
        ],
    }


def lines(study: Study) -> Iterator[dict[str, object]]:
    """Return the lines of the CSV file, one for each question and row."""
    results = [result for row in study.rows for result in study.of(row.name)]
    scorers = sorted({score.key for result in results for score in result.scores})
    ends = {row.name: measures.endings(study.of(row.name)) for row in study.rows}
    for item in study.items:
        text = study.texts.get(item)
        for row in study.rows:
            result = study.results[row.name].get(item)
            if result is None:
                continue
            verdict, vote, sides = result.verdict, result.vote, result.sides
            line: dict[str, object] = {
                "question": result.question,
                "repeat": result.repeat,
                "category": study.category(item) or "",
                "text": asked(text),
                "right answer": gold(text),
                "row": row.name,
                "outcome": ends[row.name][item],
                "right": {"right": True, "wrong": False}.get(ends[row.name][item]),
                "status": result.status,
                "label": verdict and verdict.label,
                "answer": verdict and verdict.answer,
                "confidence": verdict and verdict.confidence,
                "source of the confidence": verdict and verdict.confidence_source,
            }
            for key in scorers:
                score = measures.score_of(result, key)
                line |= {key: score and score.score, f"{key}, outcome": score and score.value}
            yield line | {
                "calls": result.usage.calls,
                "tokens": measures.tokens(result.usage),
                "cost": result.usage.cost,
                "seconds": round(result.seconds, 3),
                "vote": vote and vote.label,
                "vote right": vote and vote.right,
                "gold side": sides and sides.gold_side,
                "gold position": sides and sides.gold_position,
                "flipped": sides and sides.flipped,
                "run": result.run,
            }
