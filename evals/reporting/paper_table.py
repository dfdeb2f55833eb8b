"""The one table of a report that a paper prints, as Markdown, CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pandas import DataFrame

from dialectree import text as words
from dialectree.evals.comparisons import RowComparison
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.reporting.analysis import Analysis
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.formatting import (
    Line,
    Table,
    as_csv,
    first_value,
    format_table_rows,
    in_brackets,
    table,
)
from dialectree.report.markdown_text import escape_markdown

DIGITS = 4
"""Decimals of a number in the CSV; significant digits of a p value."""
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"$<$", ">": r"$>$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$"},
    }
)
_POWER = re.compile(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def make_paper_table(analysis: Analysis) -> Table | None:
    """Return the table with a line for each method; None without a figure.

    Accuracy has Wilson's interval and the paired difference Tango's. The p value is that of the exact
    test of McNemar, corrected by Holm over all tests of the report. The effect size is Cohen's h, as in
    the TSD paper. Summaries have a mean mark of 100 in place of accuracy, and no h.
    """
    rows = [*analysis.study.rows.values()]
    marks = analysis.study.task == "compare"
    if not any(row.n or (marks and row.marks("overall")) for row in rows):
        return None
    kind = "marks" if marks else "row"
    comparisons = {
        comparison.row: comparison
        for comparison in analysis.comparisons
        if comparison.kind == kind and comparison.main and comparison.first
    }
    rivals = dict.fromkeys(comparison.rival for comparison in comparisons.values())
    difference = f"paired difference, {'of 100' if marks else 'points'} [95%]"
    accuracy = "mark [95%]" if marks else "accuracy [95%]"

    def line(row: Answers) -> Line:
        comparison = comparisons.get(row.name)
        figure = row.mark("overall") if marks else row.accuracy
        cells: Line = {"method": row.name, "n": figure.n, accuracy: figure}
        if len(rivals) > 1:
            cells["baseline"] = comparison and comparison.rival
        return cells | {
            difference: comparison and comparison.difference,
            "p (Holm)": comparison and comparison.holm,
            "Cohen's h": comparison and comparison.effect_size,
            "tokens": row.mean("tokens"),
            "calls": row.mean("calls"),
            "withheld": row.counts["unanswered"],
        }

    return table(
        "paper",
        "All methods in one table",
        map(line, rows),
        " ".join(_explain(analysis, [*comparisons.values()], [*rivals])),
        kinds={
            difference: "marks" if marks else "points",
            "mark [95%]": "marks",
            "p (Holm)": "p",
            "tokens": "mean",
            "calls": "mean",
        },
    )


def _explain(analysis: Analysis, comparisons: list[RowComparison], rivals: list[str]) -> Iterator[str]:
    """Yield the sentences of the caption."""
    marks = analysis.study.task == "compare"
    if marks:
        yield "Mark: the mean of 100, with a 95% interval by bootstrap over the pairs of papers."
    else:
        yield (
            "Accuracy: right answers of the n questions asked, withheld answers counted as not right, with "
            "Wilson's 95% interval."
        )
    if comparisons:
        to = f" to {rivals[0]}" if len(rivals) == 1 else " to the baseline"
        interval = "a 95% interval by bootstrap" if marks else "Tango's 95% interval"
        tests = " or ".join(dict.fromkeys(comparison.test for comparison in comparisons))
        yield f"Paired difference{to} on the questions that both were asked, with {interval}."
        yield f"p: {tests} test, corrected by Holm over {words.count(analysis.family, 'test')} of the report."
    yield "Tokens and calls: means per question."


def write_paper_table(paper_table: Table, form: str) -> str:
    """Return the table as ``md``, ``csv`` or ``latex``; it ends with a line break."""
    return FORMS[form](paper_table)


def _as_markdown(paper_table: Table) -> str:
    """Return a table in Markdown, with its caption below."""
    is_text = _text_columns(paper_table)
    lines = [[*map(str, paper_table.frame)]]
    for line in _texts(paper_table):  # only names can hold markup
        cells = zip(line, is_text, strict=True)
        lines.append([escape_markdown(text) if name else text for text, name in cells])
    lines.insert(1, ["---" if name else "---:" for name in is_text])
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *paper_table.notes, ""])


def _as_plain_csv(paper_table: Table) -> str:
    """Return a table in CSV: shares and differences from -1 to 1, rounded to ``DIGITS``."""
    columns: dict[str, list[object]] = {}
    for heading, column in paper_table.frame.items():
        name = re.split(r",| \[", str(heading))[0].lower()
        name = re.sub(r"\W+", "_", name.replace("'", "")).strip("_")
        cells = [_numbers(value) for value in column]
        for part in dict.fromkeys(part for cell in cells for part in cell):
            columns[f"{name}{part}"] = [_round(cell.get(part), name) for cell in cells]
    return as_csv(DataFrame(columns, dtype=object))


def _numbers(value: Any) -> dict[str, object]:
    """Return the columns of a cell, by the ending of the column's name."""
    if isinstance(value, Proportion | Figure):
        main = value.share if isinstance(value, Proportion) else value.value
        return {"": main, "_low": value.low, "_high": value.high}
    return {} if value is None else {"": value}


def _round(value: object, name: str) -> object:
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if name.startswith("p_") else round(value, DIGITS)


def _as_latex(paper_table: Table) -> str:
    """Return a table in LaTeX, with the rules of the package booktabs."""
    head = [re.sub(r"^[np]\b", r"$\g<0>$", _escape_latex(str(name))) for name in paper_table.frame]
    lines = [" & ".join(map(_escape_latex, line)) + r" \\" for line in _texts(paper_table)]
    align = "".join("l" if is_text else "r" for is_text in _text_columns(paper_table))
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{_escape_latex(' '.join(paper_table.notes))}}}",
            rf"  \begin{{tabular}}{{{align}}}",
            r"    \toprule",
            f"    {' & '.join(head)} \\\\",
            r"    \midrule",
            *(f"    {line}" for line in lines),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _escape_latex(text: str) -> str:
    """Return a text in which no character is a command of LaTeX."""
    escaped = words.line(text, 2000).translate(_LATEX)
    return _POWER.sub(lambda match: f"$10^{{{match[1].translate(_LOWERED)}}}$", escaped)


def _text_columns(paper_table: Table) -> list[bool]:
    """Return for each column whether it holds texts."""
    return [isinstance(first_value(column), str) for _, column in paper_table.frame.items()]


def _texts(paper_table: Table) -> Iterator[list[str]]:
    """Yield the cells of each line as texts."""
    for cells in format_table_rows(paper_table):
        yield [in_brackets(*cell) for cell in cells]


FORMS: Mapping[str, Callable[[Table], str]] = {"md": _as_markdown, "csv": _as_plain_csv, "latex": _as_latex}
"""The functions that write the table, by the name of the form."""
