"""The warnings that a reader needs before the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from dialectree.evals.repeats import repeats
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis, per_row
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.findings import of
from dialectree.evals.reporting.row_names import tails
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.results import Row, bare
from dialectree.protocol import method
from dialectree.report.words import count, listed
from dialectree.retrieval.papers import from_fields
from dialectree.retrieval.segments import segments

ENOUGH = 5
"""From so many answers on, all of one kind is worth a warning."""
NAMED = 5
"""Failed questions of a row that a sentence names."""
FEW = 0.9
"""Below this share of answers a row is said to decline."""


def cautions(analysis: Analysis) -> list[str]:
    """Return what a reader has to know first, a sentence each."""
    study = analysis.study
    return [
        *_demonstration(study),
        *_unfinished(study),
        *_repeated(study),
        *_introductions(study),
        *_failed(analysis),
        *_declining(analysis),
        *_unjudged(analysis),
        *_refusing(analysis),
        *_silent(study),
        *_unmarked(study),
        *_judge(study),
        *_always(study),
        *_two_options(study),
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
    if len({frozenset(results) for results in study.results.values()}) > 1:
        numbers = listed(f"{row.name} {len(study.results[row.name])}" for row in study.rows)
        yield (
            f"The rows did not answer the same questions: {numbers} of {len(study.items)}. "
            "Compared in pairs are those of both; the other tables take each row's own."
        )
    limits = [n for e in study.evaluations if (n := e.limit or e.sample) is not None]
    whole = study.evaluations[0].data.count
    if len(limits) == len(study.evaluations):
        whole = min(whole, max(limits))
    asked_for = whole * max(evaluation.repeats for evaluation in study.evaluations)
    if len(study.items) < asked_for:
        shards = {part for e in study.evaluations if e.shard for part in e.shard.split(", ")}
        which = f", those of {listed(sorted(shards))}" if shards else ""
        yield f"Only {len(study.items)} of {count(asked_for, 'question')} are here{which}."


def _repeated(study: Study) -> Iterator[str]:
    """Warn of questions that are asked more than once, as if they were different ones."""
    if any(evaluation.cluster for evaluation in study.evaluations):
        return
    texts = (study.texts[item] for item in study.items if item in study.texts)
    again = repeats(text for text in texts if text.repeat == 0)
    if again.items:
        repeated = again.said(count(len(study.items), "question"), study.task)
        yield (
            f"{repeated}: all count as questions of their own, so that intervals are too narrow "
            "and p values too small."
        )


def _introductions(study: Study) -> Iterator[str]:
    """Say how little there is to retrieve from papers of which only introductions are known."""
    rows = [row for row in study.rows if "embeddings" in method(row.method).reads()]
    papers = [
        p for item in study.items if (text := study.texts.get(item)) for p in text.inputs.papers
    ]
    fields = {paper.model_dump_json(): paper.model_dump() for paper in papers if paper.introduction}
    if not rows or not fields or any(paper.body for paper in papers):
        return
    taken = listed(sorted({str(_setting(row, "segments")) for row in rows}))
    ranked = median(len(segments(from_fields(one))) for one in fields.values())
    yield (
        f"The papers are introductions only: retrieval takes {taken} of a median of {ranked:g} "
        "segments, and the baselines read the same text whole. So it has little to choose."
    )


def _setting(row: Row, name: str) -> object:
    default = method(row.method).protocol.settings.model_fields[name].default
    return row.settings.get(name, default)


def _failed(analysis: Analysis) -> Iterator[str]:
    """Count and name the failed runs, with what they could have made of each row's accuracy."""
    study, texts = analysis.study, list[str]()
    for row in study.rows:
        counts, results = analysis.counts[row.name], study.of(row.name)
        if not counts.failed:
            continue
        items = [result.item for result in results if result.status == "failed"]
        more = [count(len(items) - NAMED, "more", "more")] if len(items) > NAMED else []
        text = f"{row.name} {counts.failed} of {len(results)} ({listed([*items[:NAMED], *more])}"
        if counts.parsed.n:
            low, high = (100 * end for end in counts.bounds)
            text += f"; accuracy {low:.1f}% if all were wrong, {high:.1f}% if all were right"
        texts.append(f"{text})")
    if texts:
        yield (
            f"Runs that failed are in no share: {'; '.join(texts)}. --retry-failed asks them again."
        )


def _declining(analysis: Analysis) -> Iterator[str]:
    for name, counts in analysis.counts.items():
        if counts.n < FEW * counts.asked:
            yield f"{name} answered only {counts.n} of {counts.asked}."


def _unjudged(analysis: Analysis) -> Iterator[str]:
    study, counts = analysis.study, analysis.counts
    if study.task == "compare":
        return

    def without_gold(row: str) -> int:
        key = measures.right_key(study.of(row))
        return sum(
            result.status != "failed" and (not key or measures.score_of(result, key) is None)
            for result in study.of(row)
        )

    what = "Answers to questions that the data has no right answer to are in no share"
    yield from per_row(what, study, without_gold)
    what = "The judge gave no score to answers, which are in no share"
    yield from per_row(what, study, lambda row: counts[row].unscored - without_gold(row))
    what = "Judgements that could not be read are in the first figure of accuracy only"
    yield from per_row(what, study, lambda row: counts[row].unparsed)


def _refusing(analysis: Analysis) -> Iterator[str]:
    refusing = list[str]()
    for row in analysis.study.rows:
        numbers = [measures.number(r, "informative") for r in analysis.study.of(row.name)]
        known = [number for number in numbers if number is not None]
        declined = len(known) - int(sum(known))
        truthful = analysis.counts[row.name].key == "truthful"
        if truthful and len(known) >= ENOUGH and declined > (1 - FEW) * len(known):
            refusing.append(f"{row.name} says nothing in {declined} of {len(known)} answers")
    if refusing:
        yield (
            f"{listed(refusing)}. A refusal counts as truthful: read accuracy beside the share "
            "that says something."
        )


def _silent(study: Study) -> Iterator[str]:
    """Count the votes before a debate in which nobody gave an answer."""
    silent = list[str]()
    for row in study.rows:
        votes = [result.vote for result in study.of(row.name) if result.vote is not None]
        if without := sum(not vote.given for vote in votes):
            silent.append(f"{row.name} {without} of {count(len(votes), 'vote')}")
    if silent:
        yield (
            "Votes before a debate that gave no answer are neither right nor wrong, and their "
            f"questions are left out of before and after: {listed(silent)}."
        )


def _unmarked(study: Study) -> Iterator[str]:
    """Say which of the judge's figures of summaries are missing."""
    if study.task != "compare":
        return
    for row in study.rows:
        results = [result for result in study.of(row.name) if result.status != "failed"]
        lost = Counter(
            score.key
            for result in results
            for score in result.scores
            if score.value in ("unparsed", "failed")
        )
        n = len(study.of(row.name))
        lost_marks = [f"{key} {lost[key]} of {n}" for key in RUBRIC if lost[key]]
        if lost_marks:
            yield (
                f"Judgements of {row.name} that could not be read, or were not given, are in no "
                f"mean: {listed(lost_marks)}."
            )


def _judge(study: Study) -> Iterator[str]:
    if study.task == "compare":
        yield "A model gave the marks of these summaries; in the paper people did."
    rulings = Counter(
        score.score
        for row in study.rows
        for result in study.of(row.name)
        for score in result.scores
        if score.key == "truthful" and score.value == "scored"
    )
    if rulings.total() >= ENOUGH and len(rulings) == 1:
        word = "TRUE" if rulings[1.0] else "FALSE"
        yield (
            f"The judge said {word} to everything ({count(rulings.total(), 'answer')}): these "
            "figures may tell of the judge and not of the answers."
        )
    for one in controlled(study):
        if one.failed:
            yield (
                f"The judge failed its controls of {one.key}: it called {of(one.right)} known "
                f"right answers right and {of(one.wrong)} known wrong ones wrong."
            )
    judges = sorted(
        {bare(evaluation.judge) for evaluation in study.evaluations if evaluation.judge}
    )
    for judge in judges:
        own = [row.name for row in study.rows if judge in row.models.values()]
        if own:
            yield f"The scores' judge, {judge}, is also the model of {listed(own)}."
    if len(judges) > 1:
        yield f"The folders were scored by different judges: {listed(judges)}."


def _always(study: Study) -> Iterator[str]:
    for row in study.rows:
        verdicts = [result.verdict for result in study.of(row.name)]
        labels = Counter(verdict.label for verdict in verdicts if verdict and verdict.label)
        if labels.total() >= ENOUGH and len(labels) == 1:
            yield f"{row.name} says {next(iter(labels))} to everything ({labels.total()} answers)."


def _two_options(study: Study) -> Iterator[str]:
    names = [row.name for row in study.rows if measures.handed(row)]
    first = [row.name for row in study.rows if measures.handed(row) == "oracle"]
    if names:
        side = f" In {listed(first)} the first debater always holds the right answer."
        yield (
            f"{listed(names)} {'chooses' if len(names) == 1 else 'choose'} between the right "
            f"answer and one wrong option, so chance is 50%.{side if first else ''}"
        )


def _size(analysis: Analysis) -> Iterator[str]:
    study = analysis.study
    n = len(set(study.groups(study.items)))
    unit, many = "question", "questions"
    if study.clustered:
        unit, many = "cluster of questions", "clusters of questions"
    if n == 1:
        yield f"There is one {unit} only: no figure here says anything about a method."
    elif 1 < n < 30:
        yield f"There are {n} {many} only: read the intervals, not the figures."
    read = [counts.parsed for counts in analysis.counts.values() if counts.parsed.n >= ENOUGH]
    if read and all(share.right == 0 for share in read):
        yield "No row has a single right answer: look at a run before the figures."
