"""Tables of what people's ratings say of each row."""

from __future__ import annotations

from collections.abc import Mapping

from dialectree.evals.proportions import share_of
from dialectree.evals.reporting import measures
from dialectree.evals.reporting.study import RUBRIC, Study
from dialectree.evals.reporting.tabled import Column, Table, Value

Marks = Mapping[str, Mapping[str, float]]
"""The mean of all raters' marks, by what was rated and by question."""


def people_table(study: Study) -> Table | None:
    """The share that people call right, or the means of their grades; None without a rating."""
    marks = {row.name: _marks(study, row.name) for row in study.rows}
    if not any(marks.values()):
        return None
    raters = sorted({rated.rater for rated in study.ratings})
    notes = [f"Raters: {', '.join(raters)}. They did not know whose answer they rated."]
    return (
        _summaries(study, marks, notes) if study.task == "compare" else _right(study, marks, notes)
    )


def _marks(study: Study, row: str) -> Marks:
    """A rater counts once for an answer, by the last mark."""
    said: dict[str, dict[str, dict[str, float]]] = {}
    for rated in study.ratings:
        if rated.row != row or rated.item not in study.results[row]:
            continue
        for score in rated.scores:
            if score.score is not None:
                own = said.setdefault(score.key, {}).setdefault(rated.item, {})
                own[rated.rater] = score.score
    return {
        key: {item: sum(own.values()) / len(own) for item, own in items.items()}
        for key, items in said.items()
    }


def _right(study: Study, marks: Mapping[str, Marks], notes: list[str]) -> Table:
    """An answer is right where most raters say so."""
    rows: list[list[Value]] = []
    for row, found in marks.items():
        shares = found.get("truthful", {})
        if not shares:
            continue
        clear = {item: share > 0.5 for item, share in shares.items() if share != 0.5}
        right = share_of([*clear.values()], study.groups(clear))
        rows.append([row, right, right.right, right.n, len(shares) - right.n])
    columns = [
        Column("row"),
        Column("right, by people", "share"),
        Column("right", "count"),
        Column("n", "count"),
        Column("as many for as against", "count"),
    ]
    notes.append(
        "Wilson's intervals, 95%. Of several raters most decide; an answer that as many call right "
        "as wrong is in no share. Rated are the answers on the sheet, which are few of all."
    )
    return Table("people", "What people say is right", columns, rows, notes)


def _summaries(study: Study, marks: Mapping[str, Marks], notes: list[str]) -> Table:
    rows: list[list[Value]] = []
    for row, found in marks.items():
        if not found:
            continue
        by_key = {key: found.get(key, {}) for key in RUBRIC}
        whole = set.intersection(*(set(items) for items in by_key.values()))
        overall = {
            item: sum(own[item] for own in by_key.values()) / len(RUBRIC) for item in sorted(whole)
        }
        line: list[Value] = [row]
        line += [
            measures.mean([*own.values()], study.groups(own)) for own in (*by_key.values(), overall)
        ]
        rows.append([*line, len(set().union(*by_key.values()))])
    columns = [Column("row"), *(Column(key, "marks") for key in (*RUBRIC, "overall"))]
    columns.append(Column("summaries", "count"))
    notes.append(
        "0 to 100, as a model's marks are; of several raters their mean. Intervals: bootstrap over "
        "the pairs of papers; none where all marks are alike. Rated are the summaries on the sheet."
    )
    return Table("people", "Summaries, by people", columns, rows, notes)
