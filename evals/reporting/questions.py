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
    home = study.run(row, item)
    if home is None:
        return ""
    for name in (PAGE, RECORD):
        if os.path.isfile(os.path.join(home.run, name)):
            return quote(f"{_way(home.evaluation, out)}runs/{home.run.name}/{name}")
    return ""


@lru_cache(maxsize=256)
def _way(evaluation: Path, out: Path) -> str:
    """Return the way from the report's folder to an evaluation's."""
    way = Path(os.path.relpath(evaluation, out)).as_posix()
    return "" if way == "." else f"{way}/"


def data(study: Study, out: Path) -> dict[str, object]:
    """Return what the page's script shows: short names, for there may be many questions."""
    answers = sum(map(len, study.results.values()))
    long = max(24, min(320, _TEXTS // max(len(study.items), 1)))
    short = max(24, min(200, _TEXTS // max(answers, 1)))
    keys = {row.name: measures.right_key(study.of(row.name)) for row in study.rows}
    categories = sorted({study.category(item) or "" for item in study.items})
    place = {name: number for number, name in enumerate(categories)}

    def cell(row: str, item: str) -> object:
        result = study.results[row].get(item)
        if result is None:
            return 0
        sure = result.verdict.confidence if result.verdict else None
        mark = measures.overall([result]).get(item) if study.task == "compare" else None
        return [
            LETTERS[measures.outcome(result, keys[row])],
            words.line(answer(result), short),
            None if sure is None else round(sure, 3),
            None if mark is None else round(mark, 1),
            link(study, out, row, item),
        ]

    return {
        "rows": [words.line(row.name, 60) for row in study.rows],
        "categories": [words.line(name, 80) or "none" for name in categories],
        "questions": [
            [
                words.line(item, 80),
                place[study.category(item) or ""],
                words.line(asked(study.texts.get(item)), long),
                words.line(gold(study.texts.get(item)), short),
                [cell(row.name, item) for row in study.rows],
            ]
            for item in study.items
        ],
    }


def _scorers(study: Study) -> list[str]:
    results = (result for row in study.rows for result in study.of(row.name))
    return sorted({score.key for result in results for score in result.scores})


def headings(study: Study) -> list[str]:
    """Return the columns of the CSV file: a line for each question and row."""
    return [
        *("question", "category", "text", "right answer", "row", "outcome", "status", "label"),
        *("answer", "confidence", "source of the confidence"),
        *(name for key in _scorers(study) for name in (key, f"{key}, outcome")),
        *("calls", "tokens", "cost", "seconds", "vote", "vote right", "gold side"),
        *("gold position", "flipped", "run"),
    ]


def lines(study: Study) -> Iterator[Sequence[object]]:
    """Return the lines of the CSV file under :func:`headings`."""
    scorers = _scorers(study)
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
                verdict and verdict.confidence,
                verdict and verdict.confidence_source,
                *(mark for key in scorers for mark in marks.get(key, (None, None))),
                result.usage.calls,
                measures.tokens(result.usage),
                result.usage.cost,
                round(result.seconds, 3),
                vote and vote.label,
                vote and vote.right,
                sides and sides.gold_side,
                sides and sides.gold_position,
                sides and sides.flipped,
                result.run,
            ]
