"""What was evaluated, in words: the heads and the foot of a report."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dialectree.evals.reporting.naming import models, tails
from dialectree.evals.reporting.study import Study
from dialectree.report import words
from dialectree.report.words import count, listed

QUESTION = "Did debating help?"
_ASKED = {
    "answer": ("question", "open questions"),
    "decide": ("question", "questions with options"),
    "verify": ("claim", "claims to verify"),
    "compare": ("pair of papers", "pairs of papers to compare"),
}


def title(study: Study) -> str:
    """The matrices' titles, the name of the data set, and how much was done."""
    one = _ASKED[study.task][0]
    many = "pairs of papers" if study.task == "compare" else None
    name = words.line(study.evaluations[0].data.name, 80)
    rows = count(len(study.rows), "method" if len(_models(study)) < 2 else "row")
    titles = dict.fromkeys(words.line(e.title, 120) for e in study.evaluations if e.title)
    own = "".join(f"{title} · " for title in titles)
    return f"{own}{name}: {rows} on {count(study.questions, one, many)}"


def _models(study: Study) -> set[str]:
    return {models(row) for row in study.rows}


def kicker(study: Study) -> str:
    """When, and on what kind of question."""
    begun = min(evaluation.started for evaluation in study.evaluations)
    return f"Evaluation · {_ASKED[study.task][1]} · {words.moment(begun)}"


def one_model(study: Study) -> str:
    """The model of all rows, where it is one."""
    found = _models(study)
    return next(iter(found)) if len(found) == 1 else ""


def pairs(study: Study) -> Iterator[tuple[str, str]]:
    """What was run over what."""
    first = study.evaluations[0]
    yield "Data set", first.data.name
    yield "SHA-256 of the data", first.data.sha256
    yield "Questions", f"{study.questions:,} of {first.data.count:,}"
    for text in dict.fromkeys(text for e in study.evaluations for text in e.missing):
        yield "Not in this table", words.line(text, 300)
    for tail, evaluation in zip(tails(study.folders), study.evaluations, strict=True):
        several = f" of {tail}" if len(study.folders) > 1 else ""
        if evaluation.shard:
            yield f"Shard{several}", evaluation.shard
        yield f"Seed{several}", str(evaluation.seed)
        if evaluation.sample:
            yield f"Questions drawn by the seed{several}", str(evaluation.sample)
        if evaluation.cluster:
            yield f"Clusters of questions by{several}", evaluation.cluster
        if evaluation.repeats > 1:
            yield f"Times that each question was asked{several}", str(evaluation.repeats)
        yield f"Time{several}", _time(evaluation.started, evaluation.ended)
        if evaluation.judge:
            yield f"Judge of the answers{several}", evaluation.judge
        if evaluation.scorers:
            yield f"Scorers{several}", listed(evaluation.scorers)
        if evaluation.vote_first:
            yield f"Answers for the vote before a debate{several}", str(evaluation.vote_first)
        if evaluation.versions:
            versions = (f"{name} {version}" for name, version in evaluation.versions.items())
            yield f"Versions{several}", ", ".join(versions)
    for row in study.rows:
        said = [row.method, listed(dict.fromkeys(map(models, study.asked[row.name])))]
        said += [f"{name} {_value(value)}" for name, value in row.settings.items()]
        yield f"Row {row.name}", ", ".join(part for part in said if part)


def _time(started: str, ended: str | None) -> str:
    if ended is None:
        return f"{words.moment(started)}, not ended"
    return f"{words.moment(started)} to {words.moment(ended)}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
