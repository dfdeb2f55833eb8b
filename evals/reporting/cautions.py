"""The warnings that a reader needs before the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialectree.evals.datasets import describe_repeats
from dialectree.evals.reporting.analysis import Analysis, ChoiceLeaning
from dialectree.evals.reporting.answers import FIRST_OPTION, Answers, per_row
from dialectree.evals.reporting.findings import format_right_of_total
from dialectree.evals.reporting.formatting import probability
from dialectree.evals.reporting.study import Study, tails
from dialectree.evals.reporting.tables import count_control_rulings
from dialectree.evals.results import Result, score_of, strip_address
from dialectree.protocols.protocol import method
from dialectree.text import count, format_list

ENOUGH = 5
"""The number of answers from which a warning is given if all are identical."""
NAMED = 5
"""The most failed questions of a row that a sentence names."""


FEW = 30
"""A report with fewer questions than this gets a warning."""
CONTROLS_PASSED = 0.8
"""The smallest share of right rulings on controls for a judge to be trusted."""


def cautions(analysis: Analysis) -> list[str]:
    """Return the warnings for a reader, a sentence each."""
    study = analysis.study
    parts = (
        _data(study),
        _describe_failed_runs(study),
        _describe_excluded_answers(study),
        _judge(study),
        _rows(analysis),
    )
    return [text for part in parts for text in part]


def _data(study: Study) -> Iterator[str]:
    """Warn of a demonstration, of missing or repeated questions, and of few questions."""
    if study.demonstration:
        yield (
            "A model below 1 billion parameters took part, which answers at chance: these figures "
            "say nothing about any method."
        )
    for tail, evaluation in zip(tails(study.folders), study.evaluations, strict=True):
        if evaluation.ended is None:
            yield f"{tail} has not ended: the missing questions are in no figure."
    if study.strangers:
        yield f"{count(study.strangers, 'result')} of unknown methods or questions are left out."
    rows = study.rows.values()
    if len({frozenset(row.results) for row in rows}) > 1:
        numbers = format_list(f"{row.name} {len(row.results)}" for row in rows)
        yield (
            f"The methods did not answer the same questions: {numbers} of {len(study.items)}. Pairs "
            "use the questions of both, other figures use each method's own."
        )
    total = sum(e.data.count for e in study.evaluations[:1] if not (e.limit or e.sample))
    if study.questions < total:
        yield f"Only {study.questions} of {count(total, 'question')} are here."
    items = [item for i in study.items if (item := study.texts.get(i)) and not item.repeat]
    again = describe_repeats(items, count(len(study.items), "question"))
    if again and not any(evaluation.cluster for evaluation in study.evaluations):
        yield f"{again}: intervals are too narrow and p values too small."
    unit = "cluster" if study.clustered else "question"
    if 0 < (n := len(set(study.groups(study.items)))) < FEW:
        yield f"With {count(n, unit)} only, read the intervals and not the figures."


def _describe_failed_runs(study: Study) -> Iterator[str]:
    """Count and name the failed runs, with the bounds that they set to each row's accuracy."""
    texts: list[str] = []
    for row in study.rows.values():
        items = row.list_questions_with_outcome("failed")
        if not items:
            continue
        more = [count(len(items) - NAMED, "more", "more")] if len(items) > NAMED else []
        low, high = (100 * end for end in row.bounds)
        texts.append(
            f"{row.name} {len(items)} of {len(row.results)} ({format_list([*items[:NAMED], *more])}"
            f"; accuracy {low:.1f}% if all were wrong, {high:.1f}% if all were right)"
        )
    if texts:
        yield f"Failed runs are in no share; --retry-failed asks them again: {'; '.join(texts)}."


def _describe_excluded_answers(study: Study) -> Iterator[str]:
    """Count the answers of finished runs that are left out of the shares."""
    rows = study.rows.values()

    def list_finished_results(row: Answers) -> list[Result]:
        return [result for result in row.results.values() if result.status != "failed"]

    heading = "Withheld answers count as not right, but not as changed to wrong by a debate"
    yield from per_row(heading, rows, lambda row: row.counts["unanswered"])
    if study.task != "compare":
        heading = "Answers to questions without a right answer in the data are in no share"
        yield from per_row(
            heading, rows, lambda row: sum(not score_of(r, row.key) for r in list_finished_results(row))
        )
    heading = "Answers have a judgement that could not be read, or was not given"
    yield from per_row(heading, rows, lambda row: sum(map(_unread, list_finished_results(row))))


def _unread(result: Result) -> bool:
    return any(score.value in ("unparsed", "failed") for score in result.scores)


def _judge(study: Study) -> Iterator[str]:
    """Warn of a judge that fails controls, rules the same on all answers, or judges its own answers."""
    scores = [score for result in study.results for score in result.scores]
    rulings = Counter(
        answer_score.score
        for answer_score in scores
        if (answer_score.key, answer_score.value) == ("truthful", "scored")
    )
    if rulings.total() >= ENOUGH and len(rulings) == 1:
        word = "TRUE" if rulings[1.0] else "FALSE"
        yield f"The judge said {word} to all {rulings.total()} answers: it may not have read them."
    for line in count_control_rulings(study):
        right, wrong = line["right answers called right"], line["wrong answers called wrong"]
        shares = [proportion.share for proportion in (right, wrong) if proportion.share is not None]
        if any(share < CONTROLS_PASSED for share in shares):
            yield (
                f"The judge failed its controls of {line['score']}: it called "
                f"{format_right_of_total(right)} known right answers right and "
                f"{format_right_of_total(wrong)} known wrong ones wrong."
            )
    for judge in sorted({strip_address(e.judge) for e in study.evaluations if e.judge}):
        row_names = [row.name for row in study.rows.values() if judge in row.row.models.values()]
        if row_names:
            yield f"The scores' judge, {judge}, is also the model of {format_list(row_names)}."


def _describe(leaning: ChoiceLeaning) -> str:
    """Describe choices of the first option, of True or of yes that chance does not explain."""
    choices = leaning.choices
    says = choices.option_name != FIRST_OPTION
    chose = f"said {choices.option_name} to" if says else f"chose {choices.option_name} in"
    few = "only " if choices.chosen < choices.expected else ""
    than = "less" if few else "more"
    return (
        f"{chose} {few}{choices.chosen} of {choices.n}; it is right in {choices.right}, so that is "
        f"{than} than chance explains (exact binomial p = {probability(leaning.holm)} after Holm)."
    )


def _rows(analysis: Analysis) -> Iterator[str]:
    """Warn of rows that favour a label, choose between two options, or lack the full text of papers."""
    study = analysis.study
    rows = study.rows.values()
    shown = [leaning for leaning in analysis.choice_leanings if leaning.significant]
    yield from (f"{leaning.row} {_describe(leaning)}" for leaning in shown)
    for row in rows:
        if row.name in {leaning.row for leaning in shown}:
            continue
        verdicts = (result.verdict for result in row.results.values())
        labels = Counter(verdict.label for verdict in verdicts if verdict and verdict.label)
        if labels.total() >= ENOUGH and len(labels) == 1:
            yield f"{row.name} says {next(iter(labels))} to all {labels.total()} questions."
    names = [row.name for row in rows if row.handed]
    first = [row.name for row in rows if row.handed == "oracle"]
    if names:
        side = f" In {format_list(first)} the first debater always holds the right answer."
        yield (
            f"Chance is 50% in {format_list(names)}: they choose between the right answer and one "
            f"wrong option.{side if first else ''}"
        )
    retrieving = any("embeddings" in method(row.row.method).reads() for row in rows)
    papers = [p for i in study.items if i in study.texts for p in study.texts[i].inputs.papers]
    if retrieving and papers and not any(paper.body for paper in papers):
        yield (
            "The papers have no full text, so retrieval has little to choose from: these figures "
            "do not tell what it is worth."
        )
