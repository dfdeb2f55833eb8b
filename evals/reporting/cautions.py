"""The warnings that a reader needs before the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialectree.evals.datasets import repeated
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, per_row
from dialectree.evals.reporting.findings import FEW, of
from dialectree.evals.reporting.row_names import tails
from dialectree.evals.reporting.study import Study
from dialectree.evals.results import Result, bare
from dialectree.protocols.protocol import method
from dialectree.text import count, listed

ENOUGH = 5
"""From so many answers on, all of one kind is worth a warning."""
NAMED = 5
"""Failed questions of a row that a sentence names."""


def cautions(analysis: Analysis) -> list[str]:
    """Return what a reader has to know first, a sentence each."""
    study = analysis.study
    parts = (_data(study), _failed(analysis), _left_out(analysis), _judge(study), _rows(study))
    return [text for part in parts for text in part]


def _data(study: Study) -> Iterator[str]:
    """Warn of a demonstration, of missing and repeated questions, and of a small number."""
    if study.demonstration:
        yield (
            "A model below 1 billion parameters took part, which answers at chance: these figures "
            "say nothing about any method."
        )
    for tail, evaluation in zip(tails(study.folders), study.evaluations, strict=True):
        if evaluation.ended is None:
            yield f"{tail} has not come to its end: what is missing is in no figure."
    if study.strangers:
        yield f"{count(study.strangers, 'result')} of unknown rows or questions are left out."
    if len({frozenset(results) for results in study.results.values()}) > 1:
        numbers = listed(f"{row.name} {len(study.results[row.name])}" for row in study.rows)
        yield (
            f"The rows did not answer the same questions: {numbers} of {len(study.items)}. Pairs "
            "are of the questions of both, other figures of each row's own."
        )
    whole = sum(e.data.count for e in study.evaluations[:1] if not (e.limit or e.sample))
    if study.questions < whole:
        yield f"Only {study.questions} of {count(whole, 'question')} are here."
    asked = [one for i in study.items if (one := study.texts.get(i)) and not one.repeat]
    again = repeated(asked, count(len(study.items), "question"))
    if again and not any(evaluation.cluster for evaluation in study.evaluations):
        yield f"{again}: intervals are too narrow and p values too small."
    unit = "cluster" if study.clustered else "question"
    if 0 < (n := len(set(study.groups(study.items)))) < FEW:
        yield f"With {count(n, unit)} only, read the intervals and not the figures."


def _failed(analysis: Analysis) -> Iterator[str]:
    """Count and name the failed runs, with what they could have made of each row's accuracy."""
    texts: list[str] = []
    for row in analysis.study.rows:
        counts, results = analysis.counts[row.name], analysis.study.of(row.name)
        items = [result.item for result in results if result.status == "failed"]
        if not items:
            continue
        more = [count(len(items) - NAMED, "more", "more")] if len(items) > NAMED else []
        low, high = (100 * end for end in counts.bounds)
        texts.append(
            f"{row.name} {len(items)} of {len(results)} ({listed([*items[:NAMED], *more])}; "
            f"accuracy {low:.1f}% if all were wrong, {high:.1f}% if all were right)"
        )
    if texts:
        yield f"Failed runs are in no share; --retry-failed asks them again: {'; '.join(texts)}."


def _left_out(analysis: Analysis) -> Iterator[str]:
    """Count the answers that are in no share although their runs came to an end."""
    study = analysis.study

    def without_gold(row: str) -> int:
        results = study.of(row)
        key = measures.right_key(results)
        ended = [result for result in results if result.status != "failed"]
        return sum(not measures.score_of(result, key) for result in ended)

    def unread(row: str) -> int:
        return sum(r.status != "failed" and _unread(r) for r in study.of(row))

    withheld = {name: counts.unanswered for name, counts in analysis.counts.items()}
    what = "Withheld answers are not right, and no answer that a debate spoilt"
    yield from per_row(what, study, withheld.__getitem__)
    if study.task != "compare":
        what = "Answers to questions that the data has no right answer to are in no share"
        yield from per_row(what, study, without_gold)
    what = "Answers have a judgement that could not be read, or was not given"
    yield from per_row(what, study, unread)


def _unread(result: Result) -> bool:
    return any(score.value in ("unparsed", "failed") for score in result.scores)


def _judge(study: Study) -> Iterator[str]:
    """Warn of a judge that its controls or its rulings speak against."""
    results = [result for row in study.rows for result in study.of(row.name)]
    scores = [score for result in results for score in result.scores]
    rulings = Counter(one.score for one in scores if (one.key, one.value) == ("truthful", "scored"))
    if rulings.total() >= ENOUGH and len(rulings) == 1:
        word = "TRUE" if rulings[1.0] else "FALSE"
        yield f"The judge said {word} to all {rulings.total()} answers: it may not have read them."
    for one in measures.controlled(study):
        if one.failed:
            yield (
                f"The judge failed its controls of {one.key}: it called {of(one.right)} known "
                f"right answers right and {of(one.wrong)} known wrong ones wrong."
            )
    for judge in sorted({bare(e.judge) for e in study.evaluations if e.judge}):
        own = [row.name for row in study.rows if judge in row.models.values()]
        if own:
            yield f"The scores' judge, {judge}, is also the model of {listed(own)}."


def _rows(study: Study) -> Iterator[str]:
    """Warn of rows that chance, one label for everything, or short papers explain."""
    for row in study.rows:
        verdicts = [result.verdict for result in study.of(row.name)]
        labels = Counter(verdict.label for verdict in verdicts if verdict and verdict.label)
        if labels.total() >= ENOUGH and len(labels) == 1:
            yield f"{row.name} says {next(iter(labels))} to all {labels.total()} questions."
    names = [row.name for row in study.rows if measures.handed(row)]
    first = [row.name for row in study.rows if measures.handed(row) == "oracle"]
    if names:
        side = f" In {listed(first)} the first debater always holds the right answer."
        yield (
            f"Chance is 50% in {listed(names)}: they choose between the right answer and one wrong "
            f"option.{side if first else ''}"
        )
    retrieving = any("embeddings" in method(row.method).reads() for row in study.rows)
    papers = [p for i in study.items if i in study.texts for p in study.texts[i].inputs.papers]
    if retrieving and papers and not any(paper.body for paper in papers):
        yield (
            "The papers have no full text, so retrieval has little to choose from: these figures "
            "do not tell what it is worth."
        )
