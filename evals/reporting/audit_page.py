"""Write an audit's two pages, audit.html and audit.md, and give its figures as lines or as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialectree import text as words
from dialectree.evals.comparisons import ALPHA
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.reporting.analysis import analyse_study
from dialectree.evals.reporting.answers import Answers
from dialectree.evals.reporting.audit_result import SAMPLES, SINGLE, AuditResult, RivalComparison
from dialectree.evals.reporting.cautions import cautions
from dialectree.evals.reporting.formatting import (
    NOTHING,
    Line,
    Table,
    format_signed,
    format_table_rows,
    in_brackets,
    probability,
    table,
)
from dialectree.evals.reporting.page import ReportPage, as_sentence, kicker, title, write_page
from dialectree.evals.reporting.study import models
from dialectree.evals.results import strip_address


def write(audit: AuditResult, out: Path) -> Path:
    """Write the pages into a folder, and return the path of the web page."""
    study = audit.study
    page = ReportPage(
        name="audit",
        answer=as_sentence(audit.sentence),
        title=f"Is a debate worth it? {title(study)}",
        kicker=f"Audit · {kicker(study)}",
        details=gains(audit),
        demonstration=study.demonstration,
        cautions=cautions(analyse_study(study)),
        tables=[made for made in (method_table(audit), gain_table(audit)) if made is not None],
        notes=rules(audit),
    )
    return write_page(page, out)


def lines(audit: AuditResult) -> list[str]:
    """Return the lines for a terminal: each method's figures, the gains and the answer."""
    sentences: list[str] = []
    if (methods := method_table(audit)) is not None:
        sentences += [f"{name}: {figures}" for name, figures in _figures(methods)]
    if audit.study.demonstration:
        sentences.append(
            "! A model below 1 billion parameters took part, which answers at chance: these "
            "figures say nothing about any method."
        )
    return [*sentences, *gains(audit), audit.sentence]


def _figures(methods: Table) -> list[tuple[str, str]]:
    names = [*map(str, methods.frame)]
    method_lines: list[tuple[str, str]] = []
    for cells in format_table_rows(methods):
        title, *figures = (in_brackets(*cell) for cell in cells)
        pairs = zip(names[1:], figures, strict=True)
        parts = [f"{name} {figure}" for name, figure in pairs if figure != NOTHING]
        method_lines.append((title, ", ".join(parts)))
    return method_lines


def data(audit: AuditResult) -> dict[str, Any]:
    """Return the audit as plain data, for ``--json``: shares and gains are up to 1, marks up to 100."""
    methods = method_table(audit)
    return {
        "answer": audit.answer,
        "sentence": audit.sentence,
        "questions": audit.asked,
        "questions_needed": audit.needed if audit.answer == "cannot be told" else None,
        "points": audit.points,
        "at_chance": audit.study.demonstration,
        "methods": [] if methods is None else [*map(_plain, methods.frame.to_dict("records"))],
        "comparisons": [
            {
                "debate": comparison.debate,
                "beside": comparison.rival,
                "gain": comparison.intervals[0]._asdict(),
                "gain_among_as_many": comparison.intervals[1]._asdict() if comparison.intervals[1:] else None,
                "holm": comparison.test.holm,
                "better": comparison.better,
                "no_gain": comparison.no_gain(audit.least),
                "tokens_ratio": comparison.test.ratio,
            }
            for comparison in audit.comparisons
        ],
        "left_out": audit.layout.left_out,
    }


def _plain(line: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the cells of a line, with each share or figure as a mapping of its parts."""
    parts = (Figure, Proportion)
    return {str(name): cell._asdict() if isinstance(cell, parts) else cell for name, cell in line.items()}


# Sentences and tables


def method_table(audit: AuditResult) -> Table | None:
    """Return the table of methods: the right answers, and the cost of a question."""
    rows = audit.study.rows
    lines: list[tuple[str, Answers]] = []
    many_models = len(audit.layout.alone) > 1
    for place, (model, name) in enumerate(audit.layout.alone.items()):
        if name in rows:
            judge = "judge alone" if not place else "alone"
            lines.append((f"{judge}: {strip_address(model)}" if many_models else judge, rows[name]))
    for name, rival in audit.rivals.items():
        if name == SINGLE and not many_models:
            continue
        lines.append((_format_rival_title(audit, name), rival))
    lines += [(row.name, row) for row in audit.debates]
    score_column = "mark of 100" if audit.marks else "right"
    return table(
        "methods",
        "What each method got right, and what it took",
        [
            {
                "method": title,
                score_column: row.mark("overall") if audit.marks else row.accuracy,
                "tokens of a question": row.mean("tokens"),
                "calls": row.mean("calls"),
                "cost": row.mean("cost"),
                "withheld": row.counts["unanswered"] or None,
                "failed": row.counts["failed"] or None,
            }
            for title, row in lines
            if row.results
        ],
        *_choices(audit),
        kinds={"tokens of a question": "mean", "calls": "mean"},
    )


def _format_rival_title(audit: AuditResult, name: str) -> str:
    if name != SAMPLES:
        return name
    names = [row for row in audit.layout.samples.values() if row in audit.study.rows]
    numbers = {str(audit.study.rows[row].row.settings.get("samples")) for row in names}
    return f"{name}, {' or '.join(sorted(numbers))} a question"


def _choices(audit: AuditResult) -> Iterator[str]:
    yield (
        "Below a figure stands its 95% interval. A withheld answer is not right; a failed question "
        "is left out."
    )
    if len(audit.layout.alone) > 1:
        choices: list[str] = []
        for name, model_counts in audit.chosen.items():
            parts = (f"{model} for {words.count(n, 'question')}" for model, n in model_counts.items())
            choices.append(f"{name}: {words.format_list(parts)}")
        yield (
            "The best model for each half of the questions is chosen on the other half, so that it "
            f"is no better by luck. {'; '.join(choices)}. A debate must also be better than the best "
            "in hindsight."
        )
        speak = [f"{row.name}: {models(row.row)}" for row in audit.debates]
        yield f"Who speaks. {'; '.join(speak)}."


def gain_table(audit: AuditResult) -> Table | None:
    """Return the table of the gain of debates over each rival."""
    unit = "marks" if audit.marks else "points"

    def line(comparison: RivalComparison) -> Line:
        value, low, high, n = comparison.intervals[0]
        return {
            "debate": comparison.debate,
            "compared with": comparison.rival,
            "questions": n,
            f"paired difference, {unit}": Figure(value, low, high, n),
            "at equal coverage": comparison.intervals[1] if len(comparison.intervals) > 1 else None,
            "p after Holm": comparison.test.holm,
            "tokens, samples by debate": comparison.test.ratio,
            "shows": _shows(audit, comparison),
        }

    level = f"{100 * (1 - ALPHA / max(1, len(audit.comparisons))):.2f}".rstrip("0").rstrip(".")
    kinds: dict[str, Any] = {"p after Holm": "p"}
    kinds |= dict.fromkeys((f"paired difference, {unit}", "at equal coverage"), unit)
    return table(
        "gains",
        "What debating gained",
        map(line, audit.comparisons),
        f"All {words.count(len(audit.comparisons), 'comparison')} share one chance of 5% to err: p is "
        f"corrected by Holm, and each interval is one of {level}%.",
        kinds=kinds,
    )


def _shows(audit: AuditResult, comparison: RivalComparison) -> str:
    if comparison.test.verdict == "better":
        return "better" if comparison.enough else "better, at fewer tokens than a debate's"
    if comparison.test.direction < 0:
        return "worse" if comparison.test.verdict == "worse" else "fewer right, as it withheld some"
    if comparison.no_gain(audit.least):
        return f"no gain of {audit.points:g}"
    return "nothing yet"


def gains(audit: AuditResult) -> list[str]:
    """Return a sentence on each debate, compared with the best of the other methods."""
    sentences: list[str] = []
    unit = "marks of 100" if audit.marks else "points"
    for debate in audit.debates:
        tests = [
            comparison
            for comparison in audit.comparisons_for(debate.name)
            if comparison.intervals[0].value is not None
        ]
        if not tests:
            sentences.append(f"{debate.name}: no question in common with another method.")
            continue
        best = min(tests, key=lambda comparison: comparison.intervals[0].value or 0.0)
        value, low, high, n = best.intervals[0]
        scale = 1 if audit.marks else 100
        gained, ends = format_signed(scale * (value or 0.0), 1, "+"), ""
        if low is not None and high is not None:
            low_end, high_end = (format_signed(scale * end, 1, "+") for end in (low, high))
            ends = f", between {low_end} and {high_end}"
        pairs = words.count(n, "question")
        sentences.append(
            f"{debate.name}: {gained} {unit} compared with the best of the others, {best.rival} "
            f"({pairs}{ends}; p = {probability(best.test.holm)} after Holm)."
        )
    return sentences


def rules(audit: AuditResult) -> list[str]:
    """Return the sentences that explain the answer and name the gaps of the audit."""
    unit = "marks of 100" if audit.marks else "points"
    sentences = [
        "A debate is worth it if it is shown to be better than every method above without a debate. "
        f"It is not worth it if a gain of {audit.points:g} {unit} over one of them is ruled out."
    ]
    if audit.answer == "cannot be told":
        sentences.append(
            "With the number of questions named above, four of five audits would decide, at a 5% "
            "chance of error, if the differences seen here are the true ones."
        )
    for comparison in audit.comparisons:
        if comparison.rival == SAMPLES and comparison.test.ratio is None:
            sentences.append(
                f"The endpoint reports no tokens for {comparison.debate!r} or for the samples, so their "
                "budgets cannot be compared."
            )
        elif comparison.rival == SAMPLES and not (comparison.enough and comparison.no_more):
            outcome = "a loss to" if comparison.enough else "a win over"
            sentences.append(
                f"The samples spent {comparison.test.ratio:.2f} times the tokens of "
                f"{comparison.debate!r}, which is not about as many: {outcome} them says nothing."
            )
    if SAMPLES not in audit.rivals:
        sentences.append("Without equal-token samples no debate can be shown to be worth it.")
    if audit.layout.left_out:
        sentences.append(f"Left out: {'; '.join(audit.layout.left_out)}.")
    return sentences
