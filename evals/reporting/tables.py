"""The tables of a report on each row by itself: accuracy, marks, calibration, raters, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dialectree.evals.calibration import auc, brier, ece, f1
from dialectree.evals.comparisons import difference
from dialectree.evals.intervals import Figure, Proportion, kappa, share_of, shared
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.formatting import Columns, Table, Value, table
from dialectree.evals.reporting.measures import Marks
from dialectree.evals.reporting.row_names import models
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.reporting.tables_compared import compared_tables
from dialectree.evals.results import Row
from dialectree.evals.scorers import labelled
from dialectree.evals.standing import Spent
from dialectree.evals.tasks import is_baseline

PARTS = (0.25, 0.5, 0.75)
"""How much of the questions the table of risk takes, the surest answers first."""
MARKS = (*RUBRIC, "overall")
GRADES = (0, 25, 50, 75, 100)
SCALES = {"truthful": None, "breadth": GRADES, "contextualisation": GRADES}
"""The marks whose agreement kappa measures, with the scale where they have an order."""


def tables(analysis: Analysis) -> list[Table]:
    """Return every table that the results have something for, in the order of the page."""
    study = analysis.study
    made = [
        _accuracy(analysis),
        _rubric(analysis),
        _controls(study),
        _people(study),
        *compared_tables(analysis),
        _calibration(study),
        _risk(study),
        _categories(analysis),
        agreement_table(study),
        _cost(analysis),
    ]
    return [one for one in made if one is not None]


def _row_columns(study: Study) -> Columns[Row]:
    """Return the name of a row, and its models where they are several and not in the names."""
    columns: Columns[Row] = [("row", "text", lambda row: row.name)]
    several = len({models(row) for row in study.rows}) > 1
    if several and not all(models(row) in row.name for row in study.rows):
        columns.append(("models", "text", models))
    return columns


def _accuracy(analysis: Analysis) -> Table | None:
    study, counts = analysis.study, analysis.counts
    if not analysis.judged:
        return None

    columns: Columns[Row] = _row_columns(study)
    columns.extend(
        [
            ("accuracy", "share", lambda row: counts[row.name].share),
            ("right", "count", lambda row: counts[row.name].right),
            ("n", "count", lambda row: counts[row.name].n),
            ("questions", "count", lambda row: len({r.question for r in study.of(row.name)})),
            ("withheld", "count", lambda row: counts[row.name].unanswered),
            ("unparsed", "count", lambda row: counts[row.name].unparsed),
            ("failed", "count", lambda row: counts[row.name].failed),
            ("degraded", "count", lambda row: counts[row.name].degraded),
        ]
    )
    notes = [
        "Accuracy is of the n answers that a judgement was read of. Intervals are Wilson's, 95%. A "
        "run that failed is in no share."
    ]
    if study.clustered:
        clusters = len(set(study.groups(study.items)))
        notes.append(f"They heed that {len(study.items)} questions come in {clusters} clusters.")
    if any(one.unanswered for one in counts.values()):
        columns.extend(
            [
                ("answered", "share", lambda row: counts[row.name].answered),
                ("right of all asked", "share", lambda row: counts[row.name].share_of_asked),
            ]
        )
        notes.append("The papers count a withheld answer as not right: the column of all asked.")
    if any(_informative(study, row).n for row in study.rows):
        columns.append(("says something", "share", lambda row: _informative(study, row)))
        notes.append("An answer that says nothing counts as truthful.")
    return table("accuracy", "Accuracy", study.rows, columns, " ".join(notes))


def _informative(study: Study, row: Row) -> Proportion:
    """Return the share of answers that say something."""
    known = [
        (number == 1, result.group)
        for result in study.of(row.name)
        if (number := measures.number(result, "informative")) is not None
    ]
    return share_of([says for says, _ in known], [group for _, group in known])


def _rubric(analysis: Analysis) -> Table | None:
    study = analysis.study
    marks = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    results = [result for row in study.rows for result in study.of(row.name)]
    if not any(score.key in RUBRIC for result in results for score in result.scores):
        return None
    failed = {name: counts.failed for name, counts in analysis.counts.items()}
    ended = {name: len(study.of(name)) - failed[name] for name in marks}

    def mean(key: str) -> Callable[[Row], Figure]:
        return lambda row: marks[row.name][key].mean

    def count(key: str) -> Callable[[Row], int]:
        return lambda row: len(marks[row.name][key].values)

    columns = _row_columns(study)
    for key in MARKS:
        columns.append((key, "marks", mean(key)))
    columns.extend(
        [
            ("summaries", "count", lambda row: ended[row.name]),
            ("failed", "count", lambda row: failed[row.name]),
        ]
    )
    for key in MARKS:
        if any(count(key)(row) < ended[row.name] for row in study.rows):
            columns.append((f"with {key}", "count", count(key)))
    return table(
        "rubric",
        "Summaries",
        study.rows,
        columns,
        "0 to 100, by a model; in the paper people gave the marks. Overall: the mean where all "
        "three are there. Intervals: bootstrap over the pairs of papers.",
    )


def _controls(study: Study) -> Table | None:
    return table(
        "controls",
        "The judge on known answers",
        measures.controlled(study),
        [
            ("score", "text", lambda one: one.key),
            ("right answers called right", "share", lambda one: one.right),
            ("wrong answers called wrong", "share", lambda one: one.wrong),
            ("informedness", "number", lambda one: one.informedness),
            ("no ruling", "count", lambda one: one.unread),
            ("questions", "count", lambda one: one.questions),
            ("held back", "count", lambda one: one.held_back),
        ],
        "Informedness: 1 is a judge that sees every one, 0 a judge that does not heed the answer. "
        "Held back: questions of which the judge did not read the two known answers among its "
        "references; of the others it did.",
    )


class _Rated(NamedTuple):
    """What people say of a row: by what was rated and by question, the mean of their marks."""

    row: str
    marks: Mapping[str, Mapping[str, float]]


def _people(study: Study) -> Table | None:
    """Show the share that people call right, or the means of their grades."""
    latest = {
        (rated.row, score.key, rated.item, rated.rater): score.score
        for rated in study.ratings
        if rated.item in study.results[rated.row]
        for score in rated.scores
        if score.score is not None
    }
    by_item: dict[str, dict[str, dict[str, list[float]]]] = {row.name: {} for row in study.rows}
    for (row, key, item, _), mark in latest.items():
        by_item[row].setdefault(key, {}).setdefault(item, []).append(mark)
    rated = [
        _Rated(
            row, {key: {i: sum(m) / len(m) for i, m in own.items()} for key, own in keys.items()}
        )
        for row, keys in by_item.items()
        if keys
    ]
    raters = ", ".join(sorted({one.rater for one in study.ratings}))
    note = f"Raters: {raters}. They did not know whose answer they rated."
    if study.task == "compare":
        return _graded(study, rated, note)
    return _called_right(study, rated, note)


def _called_right(study: Study, rated: list[_Rated], note: str) -> Table | None:
    def truthful(one: _Rated) -> Mapping[str, float]:
        return one.marks["truthful"]

    def right(one: _Rated) -> Proportion:
        clear = {item: share > 0.5 for item, share in truthful(one).items() if share != 0.5}
        return share_of([*clear.values()], study.groups(clear))

    return table(
        "people",
        "What people say is right",
        [one for one in rated if "truthful" in one.marks],
        [
            ("row", "text", lambda one: one.row),
            ("right, by people", "share", right),
            ("right", "count", lambda one: right(one).right),
            ("n", "count", lambda one: right(one).n),
            ("as many for as against", "count", lambda one: len(truthful(one)) - right(one).n),
        ],
        f"{note} Of several raters most decide.",
    )


def _graded(study: Study, rated: list[_Rated], note: str) -> Table | None:
    def mean(key: str) -> Callable[[_Rated], Figure]:
        def of(one: _Rated) -> Figure:
            marks = [one.marks.get(own, {}) for own in (RUBRIC if key == "overall" else (key,))]
            items = sorted(set.intersection(*map(set, marks)))
            means = [sum(own[item] for own in marks) / len(marks) for item in items]
            return Marks(means, study.groups(items)).mean

        return of

    return table(
        "people",
        "Summaries, by people",
        rated,
        [
            ("row", "text", lambda one: one.row),
            *((key, "marks", mean(key)) for key in MARKS),
            ("summaries", "count", lambda one: len(set().union(*one.marks.values()))),
        ],
        f"{note} 0 to 100; of several raters their mean.",
    )


def _calibration(study: Study) -> Table | None:
    claims = study.task == "verify"
    what = "P(claim)" if claims else "confidence"
    sure = {row.name: measures.calibrated(study, row.name) for row in study.rows}

    def figure(measure: Callable[..., Figure], **options: bool) -> Callable[[str], Figure]:
        def of(row: str) -> Figure:
            own, again = sure[row], measures.resamples(len(sure[row].answers))
            clusters = [answer.cluster for answer in own.answers]
            return measure(own.confidences, own.true, resamples=again, clusters=clusters, **options)

        return of

    columns: Columns[str] = [
        ("row", "text", lambda row: row),
        (f"with {what}", "count", lambda row: len(sure[row].answers)),
        ("without", "count", lambda row: sure[row].missing),
        ("Brier", "figure", figure(brier)),
        ("ECE, equal width", "figure", figure(ece)),
        ("ECE, equal size", "figure", figure(ece, adaptive=True)),
        ("AUC", "figure", figure(auc)),
        (f"mean of {what}", "number", lambda row: float(np.mean(sure[row].confidences))),
        (f"variance of {what}", "figure", lambda row: _variance(sure[row].confidences)),
    ]
    if claims:
        columns.append(("F1 of the label", "number", lambda row: _f1(study, row)))
    if any(own.unmeasured for own in sure.values()):
        columns.append(("could not be judged", "count", lambda row: sure[row].unmeasured))
    of = "the truth of the claim" if claims else "being right"
    return table(
        "calibration",
        "Whether confidence means anything",
        [row for row, own in sure.items() if own.answers],
        columns,
        f"Against {of}. Brier: 0 is perfect, always saying 50% gives 0.25. ECE: 0 is perfect, and "
        "few answers alone raise it. AUC: 0.5 is chance. Intervals: bootstrap over the questions.",
    )


def _variance(values: list[float]) -> Figure:
    return Figure(float(np.var(values)), None, None, len(values))


def _f1(study: Study, row: str) -> float | None:
    pairs = [
        (label, true)
        for result in study.of(row)
        if (label := labelled(result.verdict)) is not None
        and (true := measures.truth(study, result)) is not None
    ]
    return f1([label for label, _ in pairs], [true for _, true in pairs])


def _risk(study: Study) -> Table | None:
    surest = {row.name: measures.surest(study, row.name) for row in study.rows}
    own = {
        row.name: surest[row.name].curve.points[-1].coverage
        for row in study.rows
        if surest[row.name].curve.points and not is_baseline(row.method)
    }

    def at(part: float) -> Callable[[str], Proportion | None]:
        return lambda row: surest[row].at(part)

    as_many: Columns[str] = [
        (f"right among as many as {name} answers, {100 * part:.1f}%", "share", at(part))
        for name, part in own.items()
        if part < 1
    ]
    return table(
        "risk-coverage",
        "If only the surest answers were given",
        [row for row, own in surest.items() if own.curve.points],
        [
            ("row", "text", lambda row: row),
            ("questions", "count", lambda row: surest[row].asked),
            ("answered", "number", lambda row: surest[row].curve.points[-1].coverage),
            ("area", "number", lambda row: surest[row].curve.area),
            *((f"right among the surest {100 * part:.0f}%", "share", at(part)) for part in PARTS),
            *as_many,
            ("right among all", "share", at(1.0)),
        ],
        "Parts are of the questions, withheld ones included: a column compares rows that answer as "
        "many. Area: the mean share of wrong answers over all numbers of answers given.",
    )


def _categories(analysis: Analysis) -> Table | None:
    study = analysis.study
    category = {item: study.category(item) or "" for item in study.items}
    if len(set(category.values())) < 2:
        return None
    counted = Counter(category.values())
    by_row = {row.name: _by_category(analysis, row, category) for row in study.rows}

    def cell(row: Row) -> Callable[[str], Value]:
        return lambda name: by_row[row.name].get(name)

    columns: Columns[str] = [
        ("category", "text", lambda name: name or "none"),
        ("questions", "count", lambda name: counted[name]),
    ]
    for row in study.rows:
        columns.append((row.name, "share" if analysis.judged else "marks", cell(row)))
    names = sorted(set().union(*by_row.values()))
    note = "Many categories of few questions: some differ by chance alone."
    return table("categories", "By category", names, columns, note, *analysis.unread)


def _by_category(analysis: Analysis, row: Row, category: Mapping[str, str]) -> dict[str, Value]:
    """Return a row's share of right answers, or its mean mark, in each category."""
    study, results = analysis.study, analysis.study.of(row.name)
    values = measures.scored(results) if analysis.judged else measures.overall(results)
    parts: dict[str, dict[str, float]] = {}
    for item, value in values.items():
        parts.setdefault(category[item], {})[item] = value
    if analysis.judged:
        return {
            name: share_of([bool(value) for value in own.values()], study.groups(own))
            for name, own in parts.items()
        }
    return {name: Marks([*own.values()], study.groups(own)).mean for name, own in parts.items()}


class _Agreement(NamedTuple):
    """How far a rater and another one, or the judge, agree on the answers of both."""

    what: str
    rater: str
    other: str
    n: int
    same: Proportion | None = None
    alike: Figure = Figure(None, None, None, 0)
    apart: Figure | None = None


def agreement_table(study: Study) -> Table | None:
    """Compare people with the judge, and with one another."""
    return table(
        "agreement",
        "People and the judge",
        _agreements(study),
        [
            ("what", "text", lambda one: one.what),
            ("rater", "text", lambda one: one.rater),
            ("and", "text", lambda one: one.other),
            ("answers of both", "count", lambda one: one.n),
            ("say the same", "share", lambda one: one.same),
            ("Cohen's kappa", "figure", lambda one: one.alike),
            ("mean difference", "marks", lambda one: one.apart),
        ],
        "Kappa: 1 is full agreement, 0 what chance alone would give; for grades, distances weigh "
        "by their square. There is none where one of the two gave one mark throughout.",
    )


def _agreements(study: Study) -> Iterator[_Agreement]:
    marks: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for rated in study.ratings:
        for score in rated.scores:
            if score.score is not None:
                own = marks.setdefault((rated.rater, score.key), {})
                own[rated.row, rated.item] = score.score
    for (rater, key), mine in sorted(marks.items()):
        others = [("the judge", _judged(study, key))]
        others += [(o, one) for (o, k), one in sorted(marks.items()) if k == key and o > rater]
        for other, theirs in others:
            both = [where for where in mine if where in theirs]
            if not both:
                continue
            first, second = [mine[where] for where in both], [theirs[where] for where in both]
            groups = [f"{row} {study.groups([item])[0]}" for row, item in both]
            made = _Agreement(
                key, rater, other, len(both), alike=Figure(None, None, None, len(both))
            )
            if key not in SCALES:
                yield made._replace(apart=difference(first, second, clusters=groups))
                continue
            same = share_of([a == b for a, b in zip(first, second, strict=True)], groups)
            alike = kappa(first, second, SCALES[key])
            if shared(groups):
                alike = alike._replace(low=None, high=None)
            yield made._replace(same=same, alike=alike)


def _judged(study: Study, key: str) -> dict[tuple[str, str], float]:
    """Return the judge's scores by row and question."""
    scores: dict[tuple[str, str], float] = {}
    for row in study.rows:
        results = study.of(row.name)
        own = (measures.right_key(results) or key) if key == "truthful" else key
        for result in results:
            if (mark := measures.number(result, own)) is not None:
                scores[row.name, result.item] = mark
    return scores


class _Spending(NamedTuple):
    """What a row took."""

    row: str
    whole: Spent
    judging: Spent
    mean: measures.Cost
    """Of a question."""


def _cost(analysis: Analysis) -> Table | None:
    study = analysis.study
    unknown = measures.Cost(len(study.items), *[None] * 7)
    over = [_Spending("all", *measures.totals(study, study.rows), unknown)]
    for row in study.rows:
        spending = measures.totals(study, [row])
        over.append(_Spending(row.name, *spending, analysis.costs[row.name]))
    return table(
        "cost",
        "What it took",
        over,
        [
            ("row", "text", lambda one: one.row),
            ("calls in all", "count", lambda one: one.whole.calls),
            ("tokens in all", "count", lambda one: one.whole.tokens),
            ("cost in all", "number", lambda one: one.whole.cost),
            ("of it judging", "number", lambda one: one.judging.cost),
            ("questions", "count", lambda one: one.mean.n),
            ("calls", "mean", lambda one: one.mean.calls),
            ("tokens", "mean", lambda one: one.mean.tokens),
            ("cost", "mean", lambda one: one.mean.cost),
            ("longest chain of calls", "mean", lambda one: one.mean.path),
            ("seconds", "mean", lambda one: one.mean.seconds),
            ("tokens of the scoring", "mean", lambda one: one.mean.judging),
            ("cost of the scoring", "mean", lambda one: one.mean.judging_cost),
        ],
        "In all: debates, the votes before them, and judging with its controls. The means of a "
        "question leave out failed runs, votes and controls. A cost needs a price for every call.",
    )
