"""All questions of a report, one by one: as data for the page, and as a CSV file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from dialectree.evals.items import Item
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import PAGE, Result
from dialectree.report import words

RECORD = "run.json"
LETTERS = {
    "right": "r",
    "wrong": "w",
    "unanswered": "n",
    "unparsed": "u",
    "failed": "f",
    "unscored": "s",
}
_TEXTS = 3_000_000
"""About as many characters of questions, and of answers, as a page is to hold."""

Cell = list[object]


def asked(item: Item | None) -> str:
    """What an item asks, in one text."""
    if item is None:
        return ""
    inputs = item.inputs
    if inputs.topic is not None:
        papers = " / ".join(paper.title for paper in inputs.papers)
        return f"{inputs.topic}: {papers}"
    return inputs.claim or inputs.question or ""


def options(item: Item | None) -> list[str]:
    """The options, with their letters."""
    return [] if item is None else [f"{chr(65 + n)} {o}" for n, o in enumerate(item.inputs.options)]


def gold(item: Item | None) -> str:
    """What would be right, as far as the data set says it in a few words."""
    if item is None:
        return ""
    reference = item.reference
    if reference.gold is not None:
        return options(item)[ord(reference.gold) - 65]
    if reference.label is not None:
        return "true" if reference.label else "false"
    return reference.best or next(iter(reference.true), "")


def answer(result: Result) -> str:
    """What a row said, in one text."""
    if result.status == "failed":
        return result.fault or "failed"
    verdict = result.verdict
    if verdict is None or (verdict.answer is None and verdict.label is None):
        return "no answer"
    parts = (verdict.label, verdict.answer)
    return " ".join(dict.fromkeys(part for part in parts if part))


def link(study: Study, out: Path, row: str, item: str) -> str:
    """The address of a question's run, as seen from the report's folder; empty where none is."""
    home = study.run(row, item)
    if home is None:
        return ""
    for name in (PAGE, RECORD):
        if os.path.isfile(os.path.join(home.run, name)):
            return quote(f"{_from(home.evaluation, out)}runs/{home.run.name}/{name}")
    return ""


@lru_cache(maxsize=256)
def _from(evaluation: Path, out: Path) -> str:
    """The way from the report's folder to an evaluation's."""
    way = Path(os.path.relpath(evaluation, out)).as_posix()
    return "" if way == "." else f"{way}/"


def data(study: Study, out: Path) -> dict[str, object]:
    """What the page's script shows: short names, for there may be many questions."""
    results = sum(map(len, study.results.values()))
    long, short = (
        max(24, min(most, _TEXTS // max(n, 1)))
        for most, n in ((320, len(study.items)), (200, results))
    )
    keys = {row.name: measures.right_key(study.of(row.name)) for row in study.rows}
    categories = sorted({study.category(item) or "" for item in study.items})
    place = {name: number for number, name in enumerate(categories)}
    questions: list[object] = []
    for item in study.items:
        text = study.texts.get(item)
        cells = [_cell(study, out, row.name, item, keys[row.name], short) for row in study.rows]
        line: list[object] = [
            words.line(item, 80),
            place[study.category(item) or ""],
            words.line(asked(text), long),
            words.line(gold(text), short),
            cells,
        ]
        questions.append(line)
    return {
        "rows": [words.line(row.name, 60) for row in study.rows],
        "categories": [words.line(name, 80) or "none" for name in categories],
        "questions": questions,
    }


def _cell(study: Study, out: Path, row: str, item: str, key: str | None, limit: int) -> Cell | int:
    result = study.results[row].get(item)
    if result is None:
        return 0
    verdict = result.verdict
    sure = None if verdict is None or verdict.confidence is None else round(verdict.confidence, 3)
    marks = measures.rubric([result])["overall"].values if study.task == "compare" else []
    ended = LETTERS[measures.outcome(result, key)]
    said: object = words.line(answer(result), limit)
    mark = round(marks[0], 1) if marks else None
    return [ended, said, sure, mark, link(study, out, row, item)]


def headings(study: Study) -> list[str]:
    """The columns of the CSV file: a line for each question and row."""
    scorers = sorted(
        {score.key for row in study.rows for r in study.of(row.name) for score in r.scores}
    )
    return [
        *("question", "category", "text", "right answer", "row", "outcome", "status", "label"),
        *("answer", "confidence", "source of the confidence"),
        *(name for key in scorers for name in (key, f"{key}, outcome")),
        *("calls", "tokens", "cost", "seconds", "vote", "vote right", "gold side"),
        *("gold position", "flipped", "run"),
    ]


def lines(study: Study) -> Iterator[Sequence[object]]:
    """The lines of the CSV file under :func:`headings`."""
    columns = headings(study)
    scorers = columns[11 : columns.index("calls") : 2]
    keys = {row.name: measures.right_key(study.of(row.name)) for row in study.rows}
    for item in study.items:
        text = study.texts.get(item)
        about = [item, study.category(item) or "", asked(text), gold(text)]
        for row in study.rows:
            result = study.results[row.name].get(item)
            if result is None:
                continue
            verdict, vote, sides = result.verdict, result.vote, result.sides
            marks = {score.key: (score.score, score.value) for score in result.scores}
            yield [
                *about,
                row.name,
                measures.outcome(result, keys[row.name]),
                result.status,
                verdict and verdict.label,
                verdict and verdict.answer,
                None if verdict is None else verdict.confidence,
                verdict and verdict.confidence_source,
                *(mark for key in scorers for mark in marks.get(key, (None, None))),
                result.usage.calls,
                measures.tokens(result),
                result.usage.cost,
                round(result.seconds, 3),
                vote and vote.label,
                None if vote is None else vote.right,
                sides and sides.gold_side,
                sides and sides.gold_position,
                None if sides is None else sides.flipped,
                result.run,
            ]
