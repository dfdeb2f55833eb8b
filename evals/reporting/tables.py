"""The tables of a report, in the order of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dialectree.evals.agreement import krippendorff_alpha
from dialectree.evals.comparisons import difference
from dialectree.evals.confidence_measures import auc, brier, ece, f1
from dialectree.evals.intervals import Figure, Proportion, kappa, share_of, shared
from dialectree.evals.reporting import answers
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.answers import MARKS, RUBRIC, Answers, mean_of, number, totals
from dialectree.evals.reporting.evidence import evidence_table
from dialectree.evals.reporting.formatting import Kind, Line, Table, table
from dialectree.evals.reporting.study import Study, models
from dialectree.evals.reporting.tables_compared import make_comparison_tables
from dialectree.evals.results import ControlScore
from dialectree.evals.scorers import parse_claim_label
from dialectree.text import format_list

PARTS = (0.25, 0.5, 0.75)
"""The coverages in the table of risk: shares of the questions, whose surest answers alone count."""
GRADES = (0, 25, 50, 75, 100)
SCALES = {"truthful": None, "breadth": GRADES, "contextualisation": GRADES}
"""The scores whose agreement kappa measures. A score whose values have an order has a scale."""
MARKED: Mapping[str, Kind] = dict.fromkeys(MARKS, "marks")


def tables(analysis: Analysis) -> list[Table]:
    """Return every table that has content, in the order of the page."""
    study = analysis.study
    page_tables = [
        _accuracy(analysis),
        evidence_table(study),
        _rubric(study),
        _controls(study),
        _people(study),
        *make_comparison_tables(analysis),
        _calibration(study),
        _risk(study),
        _categories(analysis),
        judges_table(study),
        agreement_table(study),
        _cost(analysis),
    ]
    return [page_table for page_table in page_tables if page_table is not None]


# Single rows


def _make_name_cells(row: Answers, study: Study) -> Line:
    """Return a row's name; also its models, if rows differ in models and names do not show them."""
    rows = [study_row.row for study_row in study.rows.values()]
    models_differ = len({models(study_row) for study_row in rows}) > 1
    models_in_names = not models_differ or all(models(study_row) in study_row.name for study_row in rows)
    return {"method": row.name, **({} if models_in_names else {"models": models(row.row)})}


def _accuracy(analysis: Analysis) -> Table | None:
    study = analysis.study
    if not study.judged:
        return None
    rows = [*study.rows.values()]
    withheld = any(row.counts["unanswered"] for row in rows)
    shown = dict.fromkeys(test.choices.option_name for test in analysis.choice_leanings if test.significant)
    informative = {row.name: row.marks("informative") for row in rows}

    def line(row: Answers) -> Line:
        cells = _make_name_cells(row, study) | {
            "accuracy": row.accuracy,
            "right": row.counts["right"],
            "n": row.n,
            "questions": len({result.question for result in row.results.values()}),
            "withheld": row.counts["unanswered"],
            "unparsed": row.counts["unparsed"],
            "failed": row.counts["failed"],
            "degraded": sum(outcome.status == "degraded" for outcome in row.results.values()),
        }
        cells |= {f"chose {name}": row.share(row.chose_first(name)) for name in shown}
        if withheld:
            cells |= {"answered": row.answered, "right of those answered": row.accuracy_of_answered}
        if any(informative.values()):
            says = {item: mark == 1 for item, mark in informative[row.name].items()}
            cells["says something"] = row.share(says)
        return cells

    notes = [
        "Accuracy is the share of right answers of the n questions asked; a withheld answer is not "
        "right. Intervals are Wilson's, 95%. Failed runs and unread judgements are in no share."
    ]
    if shown:
        notes.append(f"{format_list(shown).capitalize()}: among questions with a known answer.")
    if study.clustered:
        clusters = len(set(study.groups(study.items)))
        notes.append(f"Intervals allow for {len(study.items)} questions in {clusters} clusters.")
    if any(informative.values()):
        notes.append("An answer that says nothing counts as truthful.")
    return table("accuracy", "Accuracy", map(line, rows), " ".join(notes))


def _rubric(study: Study) -> Table | None:
    rows = [*study.rows.values()]
    if not any(score.key in RUBRIC for result in study.results for score in result.scores):
        return None
    fewer = [key for key in MARKS if any(len(row.marks(key)) < row.ended_well for row in rows)]

    def line(row: Answers) -> Line:
        return {
            **_make_name_cells(row, study),
            **{key: row.mark(key) for key in MARKS},
            "summaries": row.ended_well,
            "failed": row.counts["failed"],
            **{f"with {key}": len(row.marks(key)) for key in fewer},
        }

    return table(
        "rubric",
        "Summaries",
        map(line, rows),
        "0 to 100, by a model; in the paper people gave the marks. Overall: the mean where all "
        "three are there. Intervals: bootstrap over the pairs of papers.",
        kinds=MARKED,
    )


def count_control_rulings(study: Study) -> list[dict[str, Any]]:
    """Count the judge's rulings on known right and known wrong answers, by score."""
    controls_by_score: dict[str, list[tuple[ControlScore, str]]] = {}
    held_back: dict[str, list[bool | None]] = {}
    for result in study.results:
        for control in result.controls:
            controls_by_score.setdefault(control.key, []).append((control, result.group))
        for key, apart in {control.key: control.held_back for control in result.controls}.items():
            held_back.setdefault(key, []).append(apart)

    def share(key: str, truthful: bool) -> Proportion:
        rulings = [(c.passed, g) for c, g in controls_by_score[key] if c.truthful is truthful]
        read = [(passed, group) for passed, group in rulings if passed is not None]
        return share_of([passed for passed, _ in read], [group for _, group in read])

    lines: list[dict[str, Any]] = []
    for key, flags in held_back.items():
        right, wrong = share(key, True), share(key, False)
        has_both_shares = right.share is not None and wrong.share is not None
        lines.append(
            {
                "score": key,
                "right answers called right": right,
                "wrong answers called wrong": wrong,
                "informedness": right.share + wrong.share - 1 if has_both_shares else None,  # type: ignore[operator]
                "no ruling": sum(control.passed is None for control, _ in controls_by_score[key]),
                "questions": len(flags),
                "held back": None if None in flags else flags.count(True),
            }
        )
    return lines


def _controls(study: Study) -> Table | None:
    return table(
        "controls",
        "The judge on known answers",
        count_control_rulings(study),
        "Informedness: 1 is a judge that is always right, 0 a judge that ignores the answer. Held "
        "back: questions whose two known answers were not among the judge's references; for the "
        "others they were.",
    )


def _people(study: Study) -> Table | None:
    """Return the table of people's ratings: the share that they call right, or their mean grades."""
    latest = {
        (rated.row, score.key, rated.item, rated.rater): score.score
        for rated in study.ratings
        if not rated.judge and rated.item in study.rows[rated.row].results
        for score in rated.scores
        if score.score is not None
    }
    by_row: dict[str, dict[str, dict[str, list[float]]]] = {row: {} for row in study.rows}
    for (row, key, item, _), mark in latest.items():
        by_row[row].setdefault(key, {}).setdefault(item, []).append(mark)
    rated = {
        row: {key: {i: sum(m) / len(m) for i, m in item_marks.items()} for key, item_marks in keys.items()}
        for row, keys in by_row.items()
        if keys
    }
    raters = ", ".join(sorted({rating.rater for rating in study.ratings if not rating.judge}))
    note = f"Raters: {raters}. They did not know whose answer they rated."
    if study.task == "compare":
        return table(
            "people",
            "Summaries, by people",
            [_make_grades_line(study, row, marks) for row, marks in rated.items()],
            f"{note} 0 to 100; the mean of several raters.",
            kinds=MARKED,
        )
    return table(
        "people",
        "What people say is right",
        [
            _make_truthful_line(study, row, marks["truthful"])
            for row, marks in rated.items()
            if "truthful" in marks
        ],
        f"{note} The majority of several raters decides.",
    )


def _make_truthful_line(study: Study, row: str, marks: Mapping[str, float]) -> Line:
    clear = {item: share > 0.5 for item, share in marks.items() if share != 0.5}
    right = share_of([*clear.values()], study.groups(clear))
    split = len(marks) - right.n
    cells: Line = {
        "method": study.rows[row].name,
        "right, by people": right,
        "right": right.right,
        "n": right.n,
    }
    return cells | {"as many for as against": split}


def _make_grades_line(study: Study, row: str, marks: Mapping[str, Mapping[str, float]]) -> Line:
    def mean(key: str) -> Figure:
        key_marks = [marks.get(rubric_key, {}) for rubric_key in (RUBRIC if key == "overall" else (key,))]
        items = sorted(set.intersection(*map(set, key_marks)))
        return mean_of(
            [sum(mark[item] for mark in key_marks) / len(key_marks) for item in items], study.groups(items)
        )

    summaries = len(set[str]().union(*marks.values()))
    return {"method": study.rows[row].name, **{key: mean(key) for key in MARKS}, "summaries": summaries}


# Confidence


def _calibration(study: Study) -> Table | None:
    claims = study.task == "verify"
    confidence_name = "P(claim)" if claims else "confidence"
    rows = [row for row in study.rows.values() if len(row.calibrated)]
    unmeasured = any(row.unmeasured for row in study.rows.values())

    def line(row: Answers) -> Line:
        frame = row.calibrated
        sure, true = [*frame.confidence], [*frame.true]

        def figure(measure: Callable[..., Figure], **options: bool) -> Figure:
            again, clusters = answers.resamples(len(frame)), [*frame.group]
            return measure(sure, true, resamples=again, clusters=clusters, **options)

        return {
            "method": row.name,
            f"with {confidence_name}": len(frame),
            "without": row.without_confidence,
            "Brier": figure(brier),
            "ECE, equal width": figure(ece),
            "ECE, equal size": figure(ece, adaptive=True),
            "AUC": figure(auc),
            f"mean of {confidence_name}": float(np.mean(sure)),
            f"variance of {confidence_name}": float(np.var(sure)),
            **({"F1 of the label": _f1(row)} if claims else {}),
            **({"could not be judged": row.unmeasured} if unmeasured else {}),
        }

    of = "the truth of the claim" if claims else "being right"
    return table(
        "calibration",
        "Whether confidence means anything",
        map(line, rows),
        f"Against {of}. Brier: 0 is perfect, always saying 50% gives 0.25. ECE: 0 is perfect, and "
        "few answers alone raise it. AUC: 0.5 is chance. Intervals: bootstrap over the questions.",
    )


def _f1(row: Answers) -> float | None:
    says = {item: parse_claim_label(result.verdict) for item, result in row.results.items()}
    truth = row.frame.truth.to_dict()
    item_ids = [i for i, label in says.items() if label is not None and truth[i] is not None]
    return f1([says[i] is True for i in item_ids], [truth[i] is True for i in item_ids])


def _risk(study: Study) -> Table | None:
    rows = {row.name: row for row in study.rows.values() if len(row.surest.curve)}
    surest = {name: row.surest for name, row in rows.items()}
    covered = {name: float(surest_answers.curve.coverage.iloc[-1]) for name, surest_answers in surest.items()}
    as_many = {name: part for name, part in covered.items() if part < 1 and not rows[name].baseline}
    lines = [
        {
            "method": name,
            "questions": surest_answers.question_count,
            "answered": covered[name],
            "area": surest_answers.area,
            **{f"right among the surest {100 * part:.0f}%": surest_answers.at(part) for part in PARTS},
            **{
                f"right at the coverage of {debate}, {100 * part:.1f}%": surest_answers.at(part)
                for debate, part in as_many.items()
            },
            "right among all": surest_answers.at(1.0),
        }
        for name, surest_answers in surest.items()
    ]
    return table(
        "risk-coverage",
        "If only the surest answers were given",
        lines,
        "Percentages are of all questions, with withheld ones: a column compares methods at equal "
        "coverage. Area: the mean share of wrong answers over all numbers of answers given.",
    )


# Categories, people and costs


def _categories(analysis: Analysis) -> Table | None:
    study = analysis.study
    category = {item: study.category(item) or "" for item in study.items}
    counted = Counter(category.values())
    if len(counted) < 2:
        return None
    lines: dict[str, Line] = {
        name: {"category": name or "none", "questions": counted[name]} for name in sorted(counted)
    }
    for row in study.rows.values():
        judged = study.judged
        values = row.right(*answers.ASKED) if judged else row.marks("overall")
        parts: dict[str, dict[str, Any]] = {}
        for item, value in values.items():
            parts.setdefault(category[item], {})[item] = value
        for name, part in parts.items():
            groups = study.groups(part)
            cell = share_of([*part.values()], groups) if judged else mean_of([*part.values()], groups)
            lines[name][row.name] = cell
    return table(
        "categories",
        "By category",
        [line for line in lines.values() if len(line) > 2],
        "Many categories of few questions: some differ by chance alone.",
        *analysis.unread,
        kinds={} if study.judged else dict.fromkeys([row.name for row in study.rows.values()], "marks"),
    )


def agreement_table(study: Study) -> Table | None:
    """Return the table of agreement between people and judges."""
    return table(
        "agreement",
        "Agreement of people and judges",
        _agreements(study),
        "Kappa: 1 is full agreement, 0 what chance alone would give; for grades, distances weigh "
        "by their square. It is missing if one of the two always gave the same mark.",
        kinds={"mean difference": "marks"},
    )


def _marks(study: Study) -> dict[tuple[str, str], dict[tuple[str, str], float]]:
    """Return the marks that people and further judges gave.

    They are keyed by rater and score, then by row and question.
    """
    marks: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for rated in study.ratings:
        for score in rated.scores:
            if score.score is not None:
                rater_marks = marks.setdefault((rated.rater, score.key), {})
                rater_marks[rated.row, rated.item] = score.score
    return dict(sorted(marks.items()))


def _agreements(study: Study) -> Iterator[Line]:
    marks = _marks(study)
    for (rater, key), mine in marks.items():
        other_raters = [("the judge", _collect_judge_scores(study, key))]
        other_raters += [(o, other_marks) for (o, k), other_marks in marks.items() if k == key and o > rater]
        for other_rater, theirs in other_raters:
            both = [where for where in mine if where in theirs]
            if not both:
                continue
            first, second = [mine[where] for where in both], [theirs[where] for where in both]
            groups = [f"{row} {study.groups([item])[0]}" for row, item in both]
            line: Line = {"what": key, "rater": rater, "and": other_rater, "answers of both": len(both)}
            if key not in SCALES:
                yield line | {"mean difference": difference(first, second, clusters=groups)}
                continue
            same = share_of([a == b for a, b in zip(first, second, strict=True)], groups)
            alike = kappa(first, second, SCALES[key])
            if shared(groups):
                alike = alike._replace(low=None, high=None)
            yield line | {"say the same": same, "Cohen's kappa": alike}


def judges_table(study: Study) -> Table | None:
    """Return the table of several judges' scores for each row's answers."""
    models = sorted({rated.rater for rated in study.ratings if rated.judge})
    marks = _marks(study)
    keys = sorted({key for rater, key in marks if rater in models})

    def figure(key: str, marks_by_item: Mapping[str, float]) -> Proportion | Figure:
        values, groups = [*marks_by_item.values()], study.groups(marks_by_item)
        if key == "truthful":
            return share_of([mark == 1 for mark in values], groups)
        return mean_of(values, groups)

    def line(key: str, row: str) -> Line:
        marks_by_judge = {"the judge": _collect_judge_scores(study, key)}
        marks_by_judge |= {model: marks.get((model, key), {}) for model in models}
        row_marks = {
            judge: {item: mark for (by, item), mark in judge_marks.items() if by == row}
            for judge, judge_marks in marks_by_judge.items()
        }
        items = sorted(set[str]().union(*row_marks.values()))
        units = [[item_marks.get(item) for item_marks in row_marks.values()] for item in items]
        cells: Line = {"method": study.rows[row].name, "score": key, "answers": len(items)}
        cells |= {judge: figure(key, item_marks) for judge, item_marks in row_marks.items() if item_marks}
        alpha = krippendorff_alpha(units) if key == "truthful" else None
        return cells | {"Krippendorff's alpha": alpha}

    lines = [line(key, row) for key in keys for row in study.rows]
    return table(
        "judges",
        "Several judges",
        [table_line for table_line in lines if table_line["answers"]],
        "The judge is the evaluation's own; the others scored the same answers afterwards. Alpha: "
        "1 where they always agree, 0 where they agree as by chance. Agreement is not accuracy: "
        "judges who share an error agree, too.",
        kinds=dict.fromkeys(["the judge", *models], "marks"),
    )


def _collect_judge_scores(study: Study, key: str) -> dict[tuple[str, str], float]:
    """Return the judge's scores by row and question."""
    scores: dict[tuple[str, str], float] = {}
    for row in study.rows.values():
        score_key = (row.key or key) if key == "truthful" else key
        for item, result in row.results.items():
            if (mark := number(result, score_key)) is not None:
                scores[row.id, item] = mark
    return scores


def _cost(analysis: Analysis) -> Table | None:
    study = analysis.study
    beaten = {
        priced_row.row.name: priced_row.beaten_by or "no: on the front" for priced_row in analysis.priced
    }

    def line(name: str, *rows: Answers) -> Line:
        total, judging = totals(rows)
        return {
            "method": name,
            "calls in all": total.calls,
            "tokens in all": total.tokens,
            "cost in all": total.cost,
            "of which judging": judging.cost,
        }

    means = {
        "calls": "calls",
        "tokens": "tokens",
        "cost": "cost",
        "longest chain of calls": "chain",
        "seconds": "seconds",
        "tokens of the scoring": "judging_tokens",
        "cost of the scoring": "judging_cost",
    }
    lines = [line("all", *study.rows.values()) | {"questions": len(study.items)}]
    for row in study.rows.values():
        kind = "baseline" if row.baseline else "debate"
        lines.append(
            line(row.name, row)
            | {"questions": row.ended_well}
            | {name: row.mean(column) for name, column in means.items()}
            | {"kind": f"{kind}, handed the right answer" if row.handed else kind}
            | {"a cheaper one is as good": beaten.get(row.name)}
        )
    by = "money" if analysis.in_money else "tokens, as not every method has a price"
    return table(
        "cost",
        "What it took",
        lines,
        "In all: debates, the votes before them, and judging with its controls. The means of a "
        "question leave out failed runs, votes and controls. A cost needs a price for every call. "
        f"A cheaper one is as good by the point figures and by {by}; where intervals overlap "
        "chance may order them.",
        *analysis.unread,
        kinds=dict.fromkeys(means, "mean"),
    )
