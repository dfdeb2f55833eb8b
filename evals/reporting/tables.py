"""The tables of a report, as the papers have them."""

from __future__ import annotations

from collections.abc import Sequence

from dialectree.evals.proportions import by_category, share_of
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.controls import controls_table
from dialectree.evals.reporting.measures import total
from dialectree.evals.reporting.naming import models
from dialectree.evals.reporting.opening import totals
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.reporting.tabled import Column, Table, Value
from dialectree.evals.reporting.tables_compared import (
    apart_table,
    paired_table,
    rubric_paired_table,
)
from dialectree.evals.reporting.tables_people import people_table
from dialectree.evals.reporting.tables_preferred import preferred_table
from dialectree.evals.reporting.tables_raters import agreement_table, calibration_table
from dialectree.evals.reporting.tables_risk import risk_table
from dialectree.evals.reporting.tables_worth import (
    placed_table,
    sampled_table,
    spent_table,
    turned_table,
)
from dialectree.evals.results import Row


def tables(analysis: Analysis) -> list[Table]:
    """Every table that the results have something for, in the order of the page."""
    study = analysis.study
    made = [
        _accuracy(analysis),
        _matrix(analysis),
        _rubric(analysis),
        controls_table(study),
        people_table(analysis.study),
        paired_table(analysis),
        apart_table(analysis),
        rubric_paired_table(analysis),
        preferred_table(analysis.study),
        turned_table(analysis),
        sampled_table(analysis),
        placed_table(analysis),
        spent_table(analysis),
        _with_notes(calibration_table(analysis), measures.unmeasured(study)),
        risk_table(analysis),
        _categories(analysis),
        agreement_table(study),
        _cost(analysis),
    ]
    return [table for table in made if table is not None]


def _with_notes(table: Table | None, notes: Sequence[str]) -> Table | None:
    return table and table._replace(notes=[*table.notes, *notes])


def _accuracy(analysis: Analysis) -> Table | None:
    study = analysis.study
    if not analysis.judged:
        return None
    informative = {
        row.name: [
            (number == 1, result.group)
            for result in study.of(row.name)
            if (number := measures.number(result, "informative")) is not None
        ]
        for row in study.rows
    }
    every = analysis.counts.values()
    unparsed, held = any(c.unparsed for c in every), any(c.unanswered for c in every)
    named = _named(study)
    columns = [
        Column("row"),
        *([Column("models")] if named else []),
        Column("accuracy", "share"),
        Column("right", "count"),
        Column("n", "count"),
        Column("withheld", "count"),
        Column("unparsed", "count"),
        Column("failed", "count"),
        Column("degraded", "count"),
    ]
    if unparsed:
        columns.append(Column("accuracy without the unparsed", "share"))
    if held:
        columns += [Column("answered", "share"), Column("right of all asked", "share")]
    if any(informative.values()):
        columns.append(Column("says something", "share"))
    rows: list[list[Value]] = []
    for row in study.rows:
        counts = analysis.counts[row.name]
        line: list[Value] = [row.name, *([models(row)] if named else [])]
        line += [counts.share, counts.right, counts.n]
        line += [counts.unanswered, counts.unparsed]
        line += [counts.failed, counts.degraded]
        if unparsed:
            line.append(counts.parsed)
        if held:
            line += [counts.coverage, counts.of_all]
        if any(informative.values()):
            said = informative[row.name]
            line.append(share_of([told for told, _ in said], [group for _, group in said]))
        rows.append(line)
    notes = [f"Intervals are Wilson's, 95%{_heeding(study)}."]
    if held:
        notes.append(
            "A withheld answer is neither right nor wrong. The papers count it as not right: that "
            "is the column of all asked."
        )
    if unparsed:
        notes.append(
            "A judgement that could not be read counts as not right, as in the TSD paper; the "
            "figure without the unparsed leaves it out, as all other tables do."
        )
    if any(counts.failed for counts in analysis.counts.values()):
        notes.append("A run that failed is in no share.")
    return Table("accuracy", "Accuracy", columns, rows, notes)


def _heeding(study: Study) -> str:
    """What intervals heed where questions come in clusters."""
    if not study.clustered:
        return ""
    groups = len(set(study.groups(study.items)))
    return f", and heed that {len(study.items)} questions come in {groups} clusters"


def _named(study: Study) -> bool:
    """Whether models have to stand beside the rows: several, and not in the rows' names."""
    several = len({models(row) for row in study.rows}) > 1
    return several and not all(models(row) in row.name for row in study.rows)


def _matrix(analysis: Analysis) -> Table | None:
    study = analysis.study
    named = list(dict.fromkeys(models(row) for row in study.rows))
    cells = dict[tuple[str, str], list[Value]]()
    for row in study.rows:
        cells.setdefault((_plain(row), models(row)), []).append(analysis.counts[row.name].parsed)
    methods = list(dict.fromkeys(_plain(row) for row in study.rows))
    if not analysis.judged or len(named) < 2 or len(methods) < 2:
        return None
    if any(len(found) > 1 for found in cells.values()):
        return None
    columns = [Column("method"), *(Column(name or "no model", "share") for name in named)]
    rows = [[name, *(cells.get((name, model), [None])[0] for model in named)] for name in methods]
    return Table("models", "Methods by models", columns, rows, analysis.left_out)


def _plain(row: Row) -> str:
    """A method with its settings, whatever its models."""
    said = ", ".join(f"{name} {value}" for name, value in row.settings.items())
    return f"{row.method} ({said})" if said else row.method


def _rubric(analysis: Analysis) -> Table | None:
    study = analysis.study
    marks = {row.name: measures.rubric(study.of(row.name)) for row in study.rows}
    if not any(one.values for found in marks.values() for one in found.values()):
        return None
    keys = (*RUBRIC, "overall")
    named = _named(study)
    columns = [Column("row"), *([Column("models")] if named else [])]
    columns += [Column(key, "marks") for key in keys]
    columns += [Column("summaries", "count"), Column("failed", "count")]
    ended = {
        row.name: len(study.of(row.name)) - analysis.counts[row.name].failed for row in study.rows
    }
    partial = [
        key for key in keys if any(len(marks[name][key].values) < n for name, n in ended.items())
    ]
    columns += [Column(f"with {key}", "count") for key in partial]
    rows: list[list[Value]] = []
    for row in study.rows:
        line: list[Value] = [row.name, *([models(row)] if named else [])]
        line += [marks[row.name][key].mean for key in keys]
        line += [ended[row.name], analysis.counts[row.name].failed]
        rows.append([*line, *(len(marks[row.name][key].values) for key in partial)])
    notes = [
        "0 to 100. Factuality: the share of sentences that the papers bear out; breadth and "
        "contextualisation: grades of 0 to 4; overall: their mean where all three are there. "
        "Intervals: bootstrap over the pairs of papers; none where all marks are alike.",
        "In the paper people gave the marks; these are a model's, and people's stand apart.",
    ]
    return Table("rubric", "Summaries", columns, rows, notes)


def _categories(analysis: Analysis) -> Table | None:
    study = analysis.study
    category = {item: study.category(item) for item in study.items}
    if len(set(category.values())) < 2:
        return None
    cells: dict[str, dict[str, Value]] = {}
    for row in study.rows:
        if analysis.judged:
            right = measures.scored(study.of(row.name))
            outcomes = [(category[item], is_right) for item, is_right in right.items()]
            for found in by_category(outcomes, clusters=study.groups(right)):
                cells.setdefault(found.name, {})[row.name] = found.proportion
        else:
            by_name = dict[str, dict[str, float]]()
            for item, mark in measures.overall(study.of(row.name)).items():
                by_name.setdefault(category[item] or "", {})[item] = mark
            for name, marks in by_name.items():
                mean = measures.mean([*marks.values()], study.groups(marks))
                cells.setdefault(name, {})[row.name] = mean
    if not cells:
        return None
    kind = "share" if analysis.judged else "marks"
    columns = [Column("category"), Column("questions", "count")]
    columns += [Column(row.name, kind) for row in study.rows]  # type: ignore[arg-type]
    counted = {name: sum((c or "") == name for c in category.values()) for name in cells}
    rows: list[list[Value]] = [
        [name or "none", counted[name], *(cells[name].get(row.name) for row in study.rows)]
        for name in sorted(cells)
    ]
    notes = ["Many categories of few questions: some differ by chance alone.", *analysis.left_out]
    return Table("categories", "By category", columns, rows, notes)


def _cost(analysis: Analysis) -> Table | None:
    study = analysis.study
    rows: list[list[Value]] = [_whole("all", analysis, study.rows)]
    rows += [_whole(row.name, analysis, [row]) for row in study.rows]
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
    notes = [
        "In all: debates, the votes before them, and judging with its controls. The means of a "
        "question leave out failed runs, votes and controls. A cost needs a price for every call."
    ]
    return Table("cost", "What it took", columns, rows, notes)


def _whole(name: str, analysis: Analysis, over: Sequence[Row]) -> list[Value]:
    """A line of the table of costs: the sums over rows, and the means of one row's questions."""
    debates, judges = totals(analysis, over)
    whole, judging = total([*debates, *judges]), total(judges)
    line: list[Value] = [name, whole.calls, whole.tokens, whole.cost, judging.cost]
    if name == "all":
        return [*line, len(analysis.study.items), *[None] * 7]
    took = analysis.costs[name]
    return [*line, took.n, *took[1:]]
