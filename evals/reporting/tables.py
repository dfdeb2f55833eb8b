"""The tables of a report on each row by itself: accuracy, marks, calibration, raters, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dialectree.evals.agreement import kappa
from dialectree.evals.bootstrap import Figure
from dialectree.evals.calibration import brier, ece
from dialectree.evals.clustered import shared
from dialectree.evals.paired import difference
from dialectree.evals.proportions import Proportion, share_of
from dialectree.evals.ranking import auc, f1
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.controls import controlled
from dialectree.evals.reporting.formatting import Column, Columns, Kind, Table, Value, table
from dialectree.evals.reporting.measures import Calibrated, Marks, Surest, total
from dialectree.evals.reporting.row_names import models
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.reporting.tables_compared import compared_tables
from dialectree.evals.results import Row
from dialectree.report.words import listed

PARTS = (0.25, 0.5, 0.75)
"""How much of the questions the table of risk takes, the surest answers first."""
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
    columns = _row_columns(study)
    columns.extend(
        [
            ("accuracy", "share", lambda row: counts[row.name].share),
            ("right", "count", lambda row: counts[row.name].right),
            ("n", "count", lambda row: counts[row.name].n),
            ("withheld", "count", lambda row: counts[row.name].unanswered),
            ("unparsed", "count", lambda row: counts[row.name].unparsed),
            ("failed", "count", lambda row: counts[row.name].failed),
            ("degraded", "count", lambda row: counts[row.name].degraded),
        ]
    )
    clusters = len(set(study.groups(study.items)))
    heeded = f", and heed that {len(study.items)} questions come in {clusters} clusters"
    notes = [f"Intervals are Wilson's, 95%{heeded if study.clustered else ''}."]
    if any(one.unparsed for one in counts.values()):
        columns.append(
            ("accuracy without the unparsed", "share", lambda row: counts[row.name].parsed)
        )
        notes.append(
            "A judgement that could not be read counts as not right, as in the TSD paper; the "
            "figure without the unparsed leaves it out, as all other tables do."
        )
    if any(one.unanswered for one in counts.values()):
        columns.extend(
            [
                ("answered", "share", lambda row: counts[row.name].coverage),
                ("right of all asked", "share", lambda row: counts[row.name].of_all),
            ]
        )
        notes.append(
            "A withheld answer is neither right nor wrong. The papers count it as not right: that "
            "is the column of all asked."
        )
    if any(_informative(study, row).n for row in study.rows):
        columns.append(("says something", "share", lambda row: _informative(study, row)))
    if any(one.failed for one in counts.values()):
        notes.append("A run that failed is in no share.")
    return table("accuracy", "Accuracy", study.rows, columns, notes)


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
    keys = (*RUBRIC, "overall")
    marks = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    if not any(one.values for own in marks.values() for one in own.values()):
        return None
    ended = {
        row.name: len(study.of(row.name)) - analysis.counts[row.name].failed for row in study.rows
    }

    def mean(key: str) -> Callable[[Row], Figure]:
        return lambda row: marks[row.name][key].mean

    def count(key: str) -> Callable[[Row], int]:
        return lambda row: len(marks[row.name][key].values)

    columns = _row_columns(study)
    columns.extend((key, "marks", mean(key)) for key in keys)
    columns.extend(
        [
            ("summaries", "count", lambda row: ended[row.name]),
            ("failed", "count", lambda row: analysis.counts[row.name].failed),
        ]
    )
    for key in keys:
        if any(count(key)(row) < ended[row.name] for row in study.rows):
            columns.append((f"with {key}", "count", count(key)))
    notes = [
        "0 to 100. Factuality: the share of sentences that the papers bear out; breadth and "
        "contextualisation: grades of 0 to 4; overall: their mean where all three are there. "
        "Intervals: bootstrap over the pairs of papers; none where all marks are alike.",
        "In the paper people gave the marks; these are a model's, and people's stand apart.",
    ]
    return table("rubric", "Summaries", study.rows, columns, notes)


def _controls(study: Study) -> Table | None:
    return table(
        "controls",
        "The judge on known answers",
        controlled(study),
        [
            ("score", "text", lambda one: one.key),
            ("right answers called right", "share", lambda one: one.right),
            ("wrong answers called wrong", "share", lambda one: one.wrong),
            ("informedness", "number", lambda one: one.informedness),
            ("no ruling", "count", lambda one: one.unread),
        ],
        [
            "The judge also ruled on answers that the data set calls right or wrong. Informedness: "
            "1 is a judge that sees every one, 0 a judge that pays no heed to the answer."
        ],
    )


def _people(study: Study) -> Table | None:
    """Show the share that people call right, or the means of their grades."""
    latest = {
        (rated.row, score.key, rated.item, rated.rater): score.score
        for rated in study.ratings
        if rated.item in study.results[rated.row]
        for score in rated.scores
        if score.score is not None
    }
    by_item: dict[str, dict[str, dict[str, list[float]]]] = {}
    for (row, key, item, _), mark in latest.items():
        by_item.setdefault(row, {}).setdefault(key, {}).setdefault(item, []).append(mark)
    means = [
        (row.name, {k: {i: sum(m) / len(m) for i, m in own.items()} for k, own in keys.items()})
        for row in study.rows
        if (keys := by_item.get(row.name))
    ]
    raters = ", ".join(sorted({rated.rater for rated in study.ratings}))
    notes = [f"Raters: {raters}. They did not know whose answer they rated."]
    if study.task == "compare":
        return _graded(study, means, notes)
    return _called_right(study, means, notes)


People = Sequence[tuple[str, Mapping[str, Mapping[str, float]]]]
"""By row, by what was rated and by question: the mean of all raters' last marks."""


def _called_right(study: Study, means: People, notes: list[str]) -> Table | None:
    def right(shares: Mapping[str, float]) -> Proportion:
        clear = {item: share > 0.5 for item, share in shares.items() if share != 0.5}
        return share_of([*clear.values()], study.groups(clear))

    rated = [(row, marks["truthful"]) for row, marks in means if "truthful" in marks]
    return table(
        "people",
        "What people say is right",
        [(row, right(shares), len(shares)) for row, shares in rated],
        [
            ("row", "text", lambda one: one[0]),
            ("right, by people", "share", lambda one: one[1]),
            ("right", "count", lambda one: one[1].right),
            ("n", "count", lambda one: one[1].n),
            ("as many for as against", "count", lambda one: one[2] - one[1].n),
        ],
        [
            *notes,
            "Wilson's intervals, 95%. Of several raters most decide; an answer that as many call "
            "right as wrong is in no share. Rated are the answers on the sheet, which are few of "
            "all.",
        ],
    )


def _graded(study: Study, means: People, notes: list[str]) -> Table | None:
    graded: list[tuple[str, dict[str, Mapping[str, float]]]] = []
    for row, marks in means:
        keys = {key: marks.get(key, {}) for key in RUBRIC}
        whole = sorted(set.intersection(*(set(own) for own in keys.values())))
        overall = {item: sum(own[item] for own in keys.values()) / len(RUBRIC) for item in whole}
        graded.append((row, {**keys, "overall": overall}))

    def mean(key: str) -> Callable[[tuple[str, Mapping[str, Mapping[str, float]]]], Figure]:
        return lambda one: Marks([*one[1][key].values()], study.groups(one[1][key])).mean

    return table(
        "people",
        "Summaries, by people",
        graded,
        [
            ("row", "text", lambda one: one[0]),
            *((key, "marks", mean(key)) for key in (*RUBRIC, "overall")),
            ("summaries", "count", lambda one: len(set().union(*one[1].values()))),
        ],
        [
            *notes,
            "0 to 100, as a model's marks are; of several raters their mean. Intervals: bootstrap "
            "over the pairs of papers; none where all marks are alike. Rated are the summaries on "
            "the sheet.",
        ],
    )


def _calibration(study: Study) -> Table | None:
    claims = study.task == "verify"
    what = "P(claim)" if claims else "confidence"
    every = [(row.name, measures.calibrated(study, row.name)) for row in study.rows]

    def figure(measure: Callable[..., Figure], **options: bool) -> Callable[..., Figure]:
        def of(one: tuple[str, Calibrated]) -> Figure:
            sure, again = one[1].confidences, measures.resamples(len(one[1].answers))
            return measure(sure, one[1].true, resamples=again, clusters=one[1].clusters, **options)

        return of

    columns: Columns[tuple[str, Calibrated]] = [
        ("row", "text", lambda one: one[0]),
        (f"with {what}", "count", lambda one: len(one[1].answers)),
        ("without", "count", lambda one: one[1].missing),
        ("Brier", "figure", figure(brier)),
        ("ECE, equal width", "figure", figure(ece)),
        ("ECE, equal size", "figure", figure(ece, adaptive=True)),
        ("AUC", "figure", figure(auc)),
        (f"mean of {what}", "number", lambda one: float(np.mean(one[1].confidences))),
        (f"variance of {what}", "figure", lambda one: _variance(one[1].confidences)),
    ]
    if claims:
        columns.append(("F1 of the label", "number", lambda one: _f1(study, one[0])))
    notes = [
        "Brier: 0 is perfect, always saying 50% gives 0.25. ECE: 0 is perfect, and few answers "
        "alone raise it. AUC: 0.5 is chance. Intervals: bootstrap over the questions; none where "
        "every draw gives the same.",
        "P(claim) is measured against the truth of the claim."
        if claims
        else "The confidence of an answer is measured against its being right.",
    ]
    unmeasured = [f"{name} {one.unmeasured}" for name, one in every if one.unmeasured]
    if unmeasured:
        notes.append(
            "Left out, with a confidence but without a right answer or a judgement that could be "
            f"read: {listed(unmeasured)}."
        )
    measured = [one for one in every if one[1].answers]
    return table("calibration", "Whether confidence means anything", measured, columns, notes)


def _variance(values: Sequence[float]) -> Figure:
    return Figure(float(np.var(values)), None, None, len(values))


def _f1(study: Study, row: str) -> float | None:
    pairs = [
        (label, true)
        for result in study.of(row)
        if (label := measures.label_of(result)) is not None
        and (true := measures.truth(study, result)) is not None
    ]
    return f1([label for label, _ in pairs], [true for _, true in pairs])


def _risk(study: Study) -> Table | None:
    def at(part: float) -> Callable[[tuple[str, Surest]], Proportion | None]:
        return lambda one: one[1].at(part)

    every = [(row.name, measures.surest(study, row.name)) for row in study.rows]
    return table(
        "risk-coverage",
        "If only the surest answers were given",
        [one for one in every if one[1].curve.points],
        [
            ("row", "text", lambda one: one[0]),
            ("questions", "count", lambda one: one[1].asked),
            ("answered", "number", lambda one: one[1].covers),
            ("area", "number", lambda one: one[1].curve.area),
            *((f"right among the surest {100 * part:.0f}%", "share", at(part)) for part in PARTS),
            ("right among all", "share", at(1.0)),
        ],
        [
            "Parts are of the questions, withheld ones included: a column compares rows that "
            "answer as many. A row that answers fewer has none. Equally sure answers stay "
            "together. Area: the share of wrong answers, on average over all numbers of answers "
            "given, the surest first."
        ],
    )


def _categories(analysis: Analysis) -> Table | None:
    study = analysis.study
    category = {item: study.category(item) or "" for item in study.items}
    if len(set(category.values())) < 2:
        return None

    def by_category(row: Row) -> dict[str, Value]:
        answers: Mapping[str, float] = (
            measures.scored(study.of(row.name))
            if analysis.judged
            else measures.overall(study.of(row.name))
        )
        own: dict[str, dict[str, float]] = {}
        for item, value in answers.items():
            own.setdefault(category[item], {})[item] = value
        return {name: _summary(analysis, values) for name, values in own.items()}

    cells = {row.name: by_category(row) for row in study.rows}

    def cell(row: Row) -> Callable[[str], Value]:
        return lambda name: cells[row.name].get(name)

    counted = Counter(category.values())
    columns: Columns[str] = [
        ("category", "text", lambda name: name or "none"),
        ("questions", "count", lambda name: counted[name]),
    ]
    kind: Kind = "share" if analysis.judged else "marks"
    columns.extend((row.name, kind, cell(row)) for row in study.rows)
    notes = ["Many categories of few questions: some differ by chance alone.", *analysis.left_out]
    names = sorted({name for own in cells.values() for name in own})
    return table("categories", "By category", names, columns, notes)


def _summary(analysis: Analysis, values: Mapping[str, float]) -> Value:
    """Return the share of right answers, or the mean of marks, with its interval."""
    groups = analysis.study.groups(values)
    if analysis.judged:
        return share_of([bool(value) for value in values.values()], groups)
    return Marks([*values.values()], groups).mean


def agreement_table(study: Study) -> Table | None:
    """Compare people with the judge, and with one another."""
    marks: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for rated in study.ratings:
        for score in rated.scores:
            if score.score is not None:
                own = marks.setdefault((rated.rater, score.key), {})
                own[rated.row, rated.item] = score.score
    lines: list[tuple[str, str, str, int, Value, Figure, Value]] = []
    for (rater, key), mine in sorted(marks.items()):
        others = [("the judge", _judged(study, key))]
        others += [(o, one) for (o, k), one in sorted(marks.items()) if k == key and o > rater]
        for other, theirs in others:
            both = [where for where in mine if where in theirs]
            if not both:
                continue
            first, second = [mine[where] for where in both], [theirs[where] for where in both]
            groups = [f"{row} {study.groups([item])[0]}" for row, item in both]
            same: Value = None
            apart: Value = None
            alike = Figure(None, None, None, len(both))
            if key in SCALES:
                same = share_of([a == b for a, b in zip(first, second, strict=True)], groups)
                alike = kappa(first, second, SCALES[key])
                if shared(groups):
                    alike = alike._replace(low=None, high=None)
            else:
                apart = difference(first, second, clusters=groups)
            lines.append((key, rater, other, len(both), same, alike, apart))
    return table(
        "agreement",
        "People and the judge",
        lines,
        [
            ("what", "text", lambda one: one[0]),
            ("rater", "text", lambda one: one[1]),
            ("and", "text", lambda one: one[2]),
            ("answers of both", "count", lambda one: one[3]),
            ("say the same", "share", lambda one: one[4]),
            ("Cohen's kappa", "figure", lambda one: one[5]),
            ("mean difference", "marks", lambda one: one[6]),
        ],
        [
            "Kappa: 1 is full agreement, 0 what chance alone would give; for grades, distances "
            "weigh by their square. There is none where one of the two gave one mark throughout, "
            "and no interval in full agreement or for questions in clusters. The interval of a "
            "mean difference: bootstrap over the answers; none below six, or where all are alike."
        ],
    )


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


def _cost(analysis: Analysis) -> Table | None:
    study = analysis.study
    notes = [
        "In all: debates, the votes before them, and judging with its controls. The means of a "
        "question leave out failed runs, votes and controls. A cost needs a price for every call."
    ]
    rows: list[list[Value]] = []
    for name, over in [("all", study.rows), *((row.name, [row]) for row in study.rows)]:
        debates, judges = measures.usages(study, over)
        whole, judging = total([*debates, *judges]), total(judges)
        line: list[Value] = [name, whole.calls, whole.tokens, whole.cost, judging.cost]
        means = [len(study.items), *[None] * 7] if name == "all" else [*analysis.costs[name]]
        rows.append([*line, *means])
    columns = [
        Column("row"),
        Column("calls in all", "count"),
        Column("tokens in all", "count"),
        Column("cost in all", "number"),
        Column("of it judging", "number"),
        Column("questions", "count"),
        Column("calls", "mean"),
        Column("tokens", "mean"),
        Column("cost", "mean"),
        Column("longest chain of calls", "mean"),
        Column("seconds", "mean"),
        Column("tokens of the scoring", "mean"),
        Column("cost of the scoring", "mean"),
    ]
    return Table("cost", "What it took", columns, rows, notes)
