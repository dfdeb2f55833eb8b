"""The heads and the foot of a report: what was evaluated, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from dialectree import text as words
from dialectree.evals.reporting.row_names import models, tails
from dialectree.evals.reporting.study import Study
from dialectree.evals.tasks import TASKS
from dialectree.text import count, listed


class Sentences(NamedTuple):
    """A report's sentences."""

    opening: list[str]
    """The answer, its price, what is missing."""
    findings: list[str]
    cautions: list[str]


def title(study: Study) -> str:
    """Return the matrices' titles, the name of the data set, and how much was done."""
    items = count(study.questions, TASKS[study.task].one, TASKS[study.task].many)
    name = words.line(study.evaluations[0].data.name, 80)
    rows = count(len(study.rows), "method" if one_model(study) else "row")
    titles = dict.fromkeys(words.line(e.title, 120) for e in study.evaluations if e.title)
    own = "".join(f"{title} · " for title in titles)
    return f"{own}{name}: {rows} on {items}"


def kicker(study: Study) -> str:
    """Return when, and on what kind of question."""
    begun = min(evaluation.started for evaluation in study.evaluations)
    return f"Evaluation · {TASKS[study.task].items} · {words.moment(begun)}"


def one_model(study: Study) -> str:
    """Return the model of all rows, where it is one."""
    distinct = {models(row) for row in study.rows}
    return distinct.pop() if len(distinct) == 1 else ""


def pairs(study: Study) -> Iterator[tuple[str, str]]:
    """Return what was run over what, as names and values."""
    first = study.evaluations[0]
    yield "Data set", first.data.name
    yield "SHA-256 of the data", first.data.sha256
    yield "Questions", f"{study.questions:,} of {first.data.count:,}"
    for text in dict.fromkeys(text for e in study.evaluations for text in e.missing):
        yield "Not in this table", words.line(text, 300)
    for tail, one in zip(tails(study.folders), study.evaluations, strict=True):
        values = {
            "Shard": one.shard,
            "Seed": str(one.seed),
            "Questions drawn by the seed": one.sample,
            "Clusters of questions by": one.cluster,
            "Times that each question was asked": one.repeats if one.repeats > 1 else None,
            "Begun": words.moment(one.started),
            "Ended": words.moment(one.ended),
            "Judge of the answers": one.judge,
            "Scorers": listed(one.scorers),
            "Answers for the vote before a debate": one.vote_first,
            "Versions": ", ".join(f"{name} {version}" for name, version in one.versions.items()),
        }
        for name, value in values.items():
            if value:
                yield f"{name} of {tail}" if len(study.folders) > 1 else name, str(value)
    for row in study.rows:
        parts = [row.method, listed(dict.fromkeys(map(models, study.asked[row.name])))]
        parts += [f"{name} {_value(value)}" for name, value in row.settings.items()]
        yield f"Row {row.name}", ", ".join(part for part in parts if part)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
