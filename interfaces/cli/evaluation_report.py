"""``dialectree eval report``, ``rate`` and ``score``: the commands after an evaluation's run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dialectree.interfaces.cli import flags, streams

if TYPE_CHECKING:
    from dialectree.evals.reporting.formatting import Table
    from dialectree.evals.reporting.writing import WrittenReport

_OF_DEBATES = ("model", "roles", "prompts")
"""Shared settings that the judge of an evaluation does not use."""
Folder = Annotated[Path, typer.Argument(help="An evaluation's folder.", metavar="DIR")]


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Evaluations' folders, of the same data set.", metavar="DIR...")
    ],
    out: Annotated[Path | None, typer.Option(help="Write there (the first DIR).", metavar="DIR")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The method to compare with (the plainest).", metavar="METHOD")
    ] = None,
    table: Annotated[
        Literal["md", "csv", "latex"] | None,
        typer.Option(help="Print the one table that a paper needs, and write nothing."),
    ] = None,
    quiet: flags.Quiet = False,
) -> None:
    """Report on evaluations: tables, plots, every question, and whether debating helped.

    Shards of one data set, or models side by side, make one report: report.html, report.md,
    report.csv, and report/ with tables, plots and questions as files.
    """
    from dialectree.evals.reporting.writing import print_paper_table
    from dialectree.evals.reporting.writing import report as write

    if table is not None:
        streams.print_file(print_paper_table(folders, table, baseline=baseline))
        return
    new_report = write(folders, out=out, baseline=baseline)
    if not quiet:
        for line in summary_lines(new_report):
            streams.say(line)
    print(new_report.page)


def summary_lines(new_report: WrittenReport) -> list[str]:
    """Return the lines of a report for a person at the terminal: figures, then sentences."""
    from dialectree import text as words

    lines = [*_figures(new_report.figures), *new_report.sentences.opening]
    lines += [f"! {text}" for text in new_report.sentences.cautions]
    lines += [f"- {text}" for text in new_report.sentences.findings]
    if new_report.missing:
        lines.append(
            f"{words.count(new_report.missing, 'run')} without a page: dialectree view opens them "
            "from the report"
        )
    return [words.line(line, 600) for line in lines]


def _figures(table: Table | None) -> Iterator[str]:
    """Yield a line for each row with its shares or marks: ``tsd: accuracy 61.3% [52.0, 70.2]``."""
    from dialectree.evals.intervals import Figure, Proportion
    from dialectree.evals.reporting.formatting import format_table_rows, in_brackets

    if table is None:
        return
    frame = table.frame
    for (_, line), texts in zip(frame.iterrows(), format_table_rows(table), strict=True):
        cells = zip(frame, line, texts, strict=True)
        figures = [
            f"{name} {in_brackets(*text)}"
            for name, value, text in cells
            if isinstance(value, Proportion | Figure)
        ]
        yield f"{texts[0][0]}: {', '.join(figures)}"


def report_after_run(folder: Path) -> list[str]:
    """Write the report of an evaluation that has just run and return lines for stderr."""
    from dialectree.evals.reporting.writing import report as write

    new_report = write([folder])
    return [*summary_lines(new_report), f"report: {new_report.page}"]


def upload_after_run(folder: Path, project: str) -> str:
    """Upload an evaluation to LangSmith and return one line on what LangSmith has."""
    from dialectree.evals.langsmith_upload import upload
    from dialectree.evals.results_file import Folder

    results_folder = Folder(folder)
    last = {(result.row, result.item): result for result in results_folder.results()}
    return upload(results_folder.require_evaluation(), last.values(), results_folder.items(), project)


def rate(
    folder: Folder,
    read: Annotated[Path | None, typer.Option(help="A filled-in sheet to read.", metavar="FILE.csv")] = None,
    rater: Annotated[
        str | None, typer.Option(help="The name of the rater (the file's name).", metavar="NAME")
    ] = None,
    limit: Annotated[int, typer.Option(help="Answers on the sheet, at most.", min=1)] = 50,
    seed: Annotated[int, typer.Option(help="Draws the answers and their order.")] = 0,
) -> None:
    """Let people rate answers blindly: rating-sheet.html and .csv, methods hidden behind codes.

    With --read the marks of a filled-in sheet become scores next to the judge's, and the report
    shows how far the two agree. rating-key.json decodes the methods: keep it from the raters.
    """
    from dialectree import text as words
    from dialectree.evals import rating
    from dialectree.evals.reporting.study import study

    joined = study([folder])
    if read is None:
        page, answer_count = rating.write(folder, joined, seed, limit)
        streams.say(f"{words.count(answer_count, 'answer')}; fill in {page} or {page.with_suffix('.csv')}")
        print(page)
        return
    rated = rating.read(folder, joined, read, rater or read.stem)
    has_name = bool(rater) or not rating.UNNAMED.fullmatch(read.stem)
    path = rating.keep(folder, rated, has_name)
    for line in rating.describe_agreement(study([folder])):
        streams.say(line)
    print(path)


@flags.settings(*(name for name in (*flags.MODELS_AND_LIMITS, "replay") if name not in _OF_DEBATES))
def score(
    folder: Folder,
    settings: dict[str, Any],
    judge: Annotated[
        list[str], typer.Option(help="A model that scores; repeat it for more.", metavar="SPEC")
    ],
    quiet: flags.Quiet = False,
    dry_run: flags.DryRun = False,
) -> None:
    """Score the answers of an evaluation again, by other judges; no debate is held.

    The report then shows the judges side by side, and how far they agree with one another, with
    the evaluation's own judge and with people. The same command goes on after an interruption.
    """
    from dialectree.evals import rating
    from dialectree.evals.reporting.study import study
    from dialectree.evals.reporting.tables import judges_table
    from dialectree.evals.reporting.writing import report as write
    from dialectree.evals.rescoring import conduct, prepare
    from dialectree.interfaces.cli.process import collect_garbage_seldom
    from dialectree.interfaces.cli.progress import await_with_notice
    from dialectree.system import loop

    rescoring = prepare(folder, judge, settings)
    if dry_run:
        print(rescoring.at_least())
        return
    collect_garbage_seldom()
    work = conduct(rescoring, progress=not quiet)
    loop.run(await_with_notice(work))
    new_report = write([folder])
    if not quiet:
        joined = study([folder])
        cautions = [f"! {text}" for text in new_report.sentences.cautions]
        for line in (*_figures(judges_table(joined)), *rating.describe_agreement(joined), *cautions):
            streams.say(line)
    print(new_report.page)
