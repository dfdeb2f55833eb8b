"""What the numbers bear out, in plain sentences, and what has to be known before they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dialectree.evals.proportions import Proportion
from dialectree.evals.reporting import cautions, measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.findings_compared import against, summaries
from dialectree.evals.reporting.findings_worth import added, missing
from dialectree.evals.reporting.naming import tails
from dialectree.evals.reporting.opening import opening
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.results import Row, bare
from dialectree.report.words import count, listed

ENOUGH = 5
"""From so many answers on, all of one kind is worth a warning."""
NAMED = 5
"""Failed questions of a row that a sentence names."""
FEW = 0.9
"""Below this share of answers a row is said to decline."""


class Said(NamedTuple):
    """A report's sentences."""

    study: Study
    opening: list[str]
    """The answer, its price, what is missing."""
    findings: list[str]
    warnings: list[str]


def said(analysis: Analysis) -> Said:
    """Everything that a report says in sentences."""
    return Said(analysis.study, opening(analysis), findings(analysis), warnings(analysis))


def findings(analysis: Analysis) -> list[str]:
    """One sentence a comparison: what can be said, and what not."""
    if not analysis.study.results or not any(analysis.study.results.values()):
        return ["There is not a single result yet."]
    found = [*against(analysis), *_handed(analysis), *added(analysis), *summaries(analysis)]
    return [*(found or [_alone(analysis)]), *missing(analysis)]


def _alone(analysis: Analysis) -> str:
    if len(analysis.study.rows) < 2:
        return "There is one row only: nothing to compare it with."
    if analysis.study.task == "compare":
        return (
            f"No two rows have marks for {listed(RUBRIC)} on the same pair of papers: their "
            "summaries are not compared as a whole."
        )
    if analysis.left_out and not any(counts.parsed.n for counts in analysis.counts.values()):
        return "Not one judgement could be read: whether debating helped cannot be said."
    return "No two rows have right or wrong answers to the same questions: nothing is compared."


def _handed(analysis: Analysis) -> Iterator[str]:
    """Name the debates on two options that nothing on the same two options stands beside."""
    beside = {one.row.name for one in analysis.compared}
    beside |= {one.row.name for one in analysis.turned if one.alike}
    beside |= {one.debate.name for one in analysis.sampled}
    debates = [row for row in analysis.study.rows if row.method not in measures.BASELINES]
    names = [row.name for row in debates if measures.handed(row) and row.name not in beside]
    if names:
        one = len(names) == 1
        yield (
            f"{listed(names)} {'does' if one else 'do'} not tell whether debating helped: "
            f"{'it chooses' if one else 'they choose'} between the right answer and one wrong "
            "option, and no baseline does. Add judge_alone with the same candidates."
        )


def warnings(analysis: Analysis) -> list[str]:
    """What a reader has to know first."""
    return [
        *_demonstration(analysis.study),
        *_unfinished(analysis.study),
        *cautions.repeated(analysis.study),
        *cautions.introductions(analysis.study),
        *_declining(analysis),
        *cautions.silent(analysis.study),
        *_unmarked(analysis.study),
        *_judge(analysis),
        *_always(analysis.study),
        *_set_up(analysis.study),
        *_size(analysis),
    ]


def _demonstration(study: Study) -> Iterator[str]:
    if study.demonstration:
        yield (
            "The model is the embedded demonstration model, which answers at chance: this shows "
            "how the program works, and says nothing about any method."
        )


def _unfinished(study: Study) -> Iterator[str]:
    for tail, evaluation in zip(tails(study.folders), study.evaluations, strict=True):
        if evaluation.ended is None:
            yield f"{tail} has not come to its end: what is missing is in no figure."
    if study.strangers:
        yield (
            f"{count(study.strangers, 'result')} of rows or questions that evaluation.json does "
            "not name are left out."
        )
    asked = {row.name: frozenset(study.results[row.name]) for row in study.rows}
    if len(set(asked.values())) > 1:
        numbers = listed(f"{name} {len(items)}" for name, items in asked.items())
        yield (
            f"The rows did not answer the same questions: {numbers} of {len(study.items)}. "
            "Compared in pairs are those of both; the other tables take each row's own."
        )
    asked_for = _asked_for(study) * max(e.repeats for e in study.evaluations)
    if len(study.items) < asked_for:
        shards = {part for e in study.evaluations if e.shard for part in e.shard.split(", ")}
        which = f", those of {listed(sorted(shards))}" if shards else ""
        yield f"Only {len(study.items)} of {count(asked_for, 'question')} are here{which}."


def _asked_for(study: Study) -> int:
    """How many questions there are, or were to be taken."""
    limits = [n for one in study.evaluations if (n := one.limit or one.sample) is not None]
    whole = study.evaluations[0].data.count
    return min(whole, max(limits)) if len(limits) == len(study.evaluations) else whole


def _declining(analysis: Analysis) -> Iterator[str]:
    rows, counts = analysis.study.rows, analysis.counts
    failed = [_failed(analysis, row) for row in rows if counts[row.name].failed]
    if failed:
        yield (
            f"Runs that failed are in no share: {'; '.join(failed)}. --retry-failed asks them "
            "again."
        )
    for row in rows:
        if counts[row.name].n < FEW * counts[row.name].asked:
            yield f"{row.name} answered only {counts[row.name].n} of {counts[row.name].asked}."
    yield from _unjudged(analysis)
    if declined := [text for row in rows if (text := _refusing(analysis, row))]:
        yield (
            f"{listed(declined)}. A refusal counts as truthful: read accuracy beside the share "
            "that says something."
        )


def _failed(analysis: Analysis, row: Row) -> str:
    """Count and name a row's failed runs, with what they could have made of its accuracy."""
    results, counts = analysis.study.of(row.name), analysis.counts[row.name]
    items = sorted(measures.failed(results), key=analysis.study.items.index)
    more = [count(len(items) - NAMED, "more", "more")] if len(items) > NAMED else []
    said = f"{row.name} {counts.failed} of {len(results)} ({listed([*items[:NAMED], *more])}"
    if counts.parsed.n:
        low, high = (100 * end for end in counts.bounds)
        said += f"; accuracy {low:.1f}% if all were wrong, {high:.1f}% if all were right"
    return f"{said})"


def _unjudged(analysis: Analysis) -> Iterator[str]:
    if analysis.study.task == "compare":
        return
    numbers: dict[str, list[str]] = {
        "Answers to questions that the data has no right answer to are in no share": [],
        "The judge gave no score to answers, which are in no share": [],
        "Judgements that could not be read are in the first figure of accuracy only": [],
    }
    for row in analysis.study.rows:
        results, counts = analysis.study.of(row.name), analysis.counts[row.name]
        open_ones = measures.unasked(results)
        each = (open_ones, counts.unscored - open_ones, counts.unparsed)
        for found, number in zip(numbers.values(), each, strict=True):
            found += [f"{row.name} {number} of {len(results)}"] * (number > 0)
    for what, found in numbers.items():
        if found:
            yield f"{what}: {listed(found)}."


def _unmarked(study: Study) -> Iterator[str]:
    """Of summaries: which figures of the judge are missing."""
    if study.task != "compare":
        return
    for row in study.rows:
        results = study.of(row.name)
        found = [
            f"{key} {n} of {len(results)}" for key in RUBRIC if (n := measures.lost(results, key))
        ]
        if found:
            yield (
                f"Judgements of {row.name} that could not be read, or were not given, are in no "
                f"mean: {listed(found)}."
            )


def _refusing(analysis: Analysis, row: Row) -> str | None:
    said = [
        number
        for result in analysis.study.of(row.name)
        if (number := measures.number(result, "informative")) is not None
    ]
    declined = len(said) - int(sum(said))
    truthful = analysis.counts[row.name].key == "truthful"
    many = truthful and len(said) >= ENOUGH and declined > (1 - FEW) * len(said)
    return f"{row.name} says nothing in {declined} of {len(said)} answers" if many else None


def _judge(analysis: Analysis) -> Iterator[str]:
    study = analysis.study
    if study.task == "compare":
        yield "A model gave the marks of these summaries; in the paper people did."
    words = Counter(
        score.score
        for row in study.rows
        for result in study.of(row.name)
        for score in result.scores
        if score.key == "truthful" and score.value == "scored"
    )
    if sum(words.values()) >= ENOUGH and len(words) == 1:
        word = "TRUE" if words[1.0] else "FALSE"
        yield (
            f"The judge said {word} to everything ({count(sum(words.values()), 'answer')}): "
            "these figures may tell of the judge and not of the answers."
        )
    for one in controlled(study):
        if one.failed:
            yield (
                f"The judge failed its controls of {one.key}: it called {_of(one.right)} known "
                f"right answers right and {_of(one.wrong)} known wrong ones wrong."
            )
    judges = {bare(evaluation.judge) for evaluation in study.evaluations if evaluation.judge}
    for judge in sorted(judges):
        own = [row.name for row in study.rows if judge in row.models.values()]
        if own:
            yield f"The scores' judge, {judge}, is also the model of {listed(own)}."
    if len(judges) > 1:
        yield f"The folders were scored by different judges: {listed(sorted(judges))}."


def _of(share: Proportion) -> str:
    return f"{share.right} of {share.n}"


def _always(study: Study) -> Iterator[str]:
    for row in study.rows:
        labels = Counter(
            result.verdict.label
            for result in study.of(row.name)
            if result.verdict is not None and result.verdict.label is not None
        )
        if sum(labels.values()) >= ENOUGH and len(labels) == 1:
            yield f"{row.name} says {next(iter(labels))} to everything ({labels.total()} answers)."


def _set_up(study: Study) -> Iterator[str]:
    names = [row.name for row in study.rows if measures.handed(row)]
    first = [row.name for row in study.rows if measures.handed(row) == "oracle"]
    if names:
        chooses = "chooses" if len(names) == 1 else "choose"
        side = (
            f" In {listed(first)} the first debater always holds the right answer." if first else ""
        )
        yield (
            f"{listed(names)} {chooses} between the right answer and one wrong option, so chance "
            f"is 50%.{side}"
        )


def _size(analysis: Analysis) -> Iterator[str]:
    study = analysis.study
    n = len(set(study.groups(study.items)))
    unit = "cluster of questions" if study.clustered else "question"
    if n == 1:
        yield f"There is one {unit} only: no figure here says anything about a method."
    elif 1 < n < 30:
        many = "clusters of questions" if study.clustered else "questions"
        yield f"There are {n} {many} only: read the intervals, not the figures."
    read = [counts.parsed for counts in analysis.counts.values() if counts.parsed.n >= ENOUGH]
    if read and all(share.right == 0 for share in read):
        yield "No row has a single right answer: look at a run before the figures."
