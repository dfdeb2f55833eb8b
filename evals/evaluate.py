"""Evaluate from Python, as ``dialectree eval`` does."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialectree.errors import DialectreeError
from dialectree.evals.datasets import notices
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.options import EvaluationOptions, read_options
from dialectree.evals.plan import Plan, prepare
from dialectree.evals.reporting import writing
from dialectree.evals.reporting.formatting import cell, in_brackets
from dialectree.evals.reporting.study import study
from dialectree.evals.running import conduct
from dialectree.records.journal import private
from dialectree.system import loop
from dialectree.text import clean, count

if TYPE_CHECKING:
    from pandas import DataFrame

Rows = Iterable[Mapping[str, Any]]
_OPTIONS = EvaluationOptions.model_fields


def _by_name(message: str) -> str:
    """Replace flags in ``message`` by option names, such as ``--retry-failed`` by ``retry_failed``."""
    flags = {f"--{name.replace('_', '-')}": name for name in _OPTIONS}
    return re.sub(r"(?<![\w-])--[a-z-]+", lambda match: flags.get(match[0], match[0]), message)


@contextmanager
def _naming_options() -> Iterator[None]:
    """Replace flags by option names in the message of an error from inside the block."""
    try:
        yield
    except DialectreeError as error:
        error.args = (_by_name(str(error)), *error.args[1:])
        raise


def evaluate(
    dataset: str | Path | Rows,
    methods: str | Sequence[str] | None = None,
    *,
    progress: bool | None = None,
    **options: Any,
) -> EvaluationResults:
    """Ask every item by every method and return the results, as ``dialectree eval`` does.

    After an interruption, the same call goes on. A report is written into the evaluation's folder.

    Args:
        dataset: A name from ``dialectree eval list``, a file, a list of rows, or a DataFrame. A row
            is a mapping such as ``{"claim": ..., "label": True}``.
        methods: Names of methods, as a list or separated by commas. None: the protocol of the task.
        progress: True to show the progress. None: in notebooks only.
        options: The options of ``dialectree eval`` (see :class:`EvaluationOptions`), and settings
            of the methods, models and limits. Budgets apply to all questions together. ``data``
            may be rows or a DataFrame in the form of the named data set.

    Raises:
        InputError: An argument, or a row of the data, is wrong.
        ModelUnavailable: No model can be reached.
        Halted: A budget is used up; the same call goes on.

    Example:
        >>> claims = [{"claim": "Cows eat grass.", "label": True}]
        >>> results = dialectree.evaluate(claims, ["direct", "cot"], max_calls=50)
        >>> table = results.to_pandas()
    """
    with _naming_options():
        plan = _prepare_plan(dataset, {**options, "methods": methods})
        return loop.wait_for(_run(plan, progress))


async def aevaluate(
    dataset: str | Path | Rows,
    methods: str | Sequence[str] | None = None,
    *,
    progress: bool | None = None,
    **options: Any,
) -> EvaluationResults:
    with _naming_options():
        return await _run(_prepare_plan(dataset, {**options, "methods": methods}), progress)


aevaluate.__doc__ = evaluate.__doc__
_signature = inspect.signature(evaluate)
evaluate.__signature__ = aevaluate.__signature__ = _signature.replace(  # type: ignore[attr-defined]
    parameters=[
        *[_signature.parameters[name] for name in ("dataset", "methods", "progress")],
        *[
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
            for name, field in _OPTIONS.items()
            if name != "methods"
        ],
        inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD, annotation=Any),
    ]
)


def _prepare_plan(dataset: str | Path | Rows, values: Mapping[str, Any]) -> Plan:
    """Return a plan; warn about odd data, at the line of the user's call."""
    options = {name: value for name, value in values.items() if name in _OPTIONS}
    settings = {name: value for name, value in values.items() if name not in _OPTIONS}
    if not isinstance(dataset, str | Path):
        dataset, options["out"] = _write_rows(dataset, options.get("out"))
    elif not isinstance(data := options.get("data"), str | Path | None):
        out = options.get("out") or Path("evaluations") / dataset
        options["data"], options["out"] = _write_rows(data, out)
    plan = prepare(dataset, read_options(options), settings)
    methods = [row.method for row in plan.rows]
    for notice in notices(plan.loaded, plan.task, plan.items, methods):
        warnings.warn(_by_name(notice), stacklevel=3)
    return plan


def _write_rows(rows: Any, out: str | Path | None) -> tuple[Path, Path]:
    """Write rows to a file named by their digest, in the evaluation's folder; return file and folder."""
    if hasattr(rows, "to_dict"):
        rows = [_without_empty(record) for record in rows.to_dict("records")]
    lines = (
        json.dumps(_make_sources_absolute(row), ensure_ascii=False, default=_plain) + "\n" for row in rows
    )
    text = "".join(lines).encode()
    name = f"rows-{hashlib.sha256(text).hexdigest()[:8]}"
    folder = Path(out or Path("evaluations") / name)
    folder.mkdir(0o700, parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    with open(path, "wb", opener=private) as file:
        file.write(text)
    return path, folder


def _make_sources_absolute(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with absolute paths of sources, since the row's file goes into another folder."""
    sources = row.get("sources")
    if sources is None or (isinstance(sources, str) and sources.lstrip().startswith("[")):
        return dict(row)
    paths = sources if isinstance(sources, list | tuple) else [sources]
    located = [os.path.abspath(path) if isinstance(path, str | Path) else path for path in paths]
    return {**row, "sources": located}


def _without_empty(record: Mapping[str, Any]) -> dict[str, Any]:
    from pandas import isna
    from pandas.api.types import is_scalar

    return {name: cell for name, cell in record.items() if not (is_scalar(cell) and isna(cell))}


def _plain(cell: Any) -> Any:
    """Return a cell of a DataFrame, such as an array, in the form of JSON."""
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)


async def _run(plan: Plan, progress: bool | None) -> EvaluationResults:
    await conduct(plan, progress=progress)
    await asyncio.to_thread(writing.report, [plan.folder.path])
    return EvaluationResults(plan.folder.path)


class EvaluationResults:
    """The results of an evaluation: its folder, its accuracies, and a line for each question."""

    def __init__(self, folder: str | Path) -> None:
        """Read the results in an evaluation's folder."""
        self.path = Path(folder).absolute()
        self._study = study([self.path])

    @property
    def report(self) -> Path:
        """The report's page."""
        return self.path / "report.html"

    @property
    def accuracies(self) -> dict[str, Proportion]:
        """The share of right answers of each row, with its 95 % interval.

        The share is of all questions asked, as in the report: a withheld answer is not right. Failed
        runs and unreadable judgements are in no share. Empty for pairs of papers: their summaries have
        marks instead.
        """
        if self._study.task == "compare":
            return {}
        return {name: row.accuracy for name, row in self._study.rows.items()}

    @property
    def marks(self) -> dict[str, Figure]:
        """The mean mark of each row's summaries, 0 to 100, with its 95 % interval."""
        if self._study.task != "compare":
            return {}
        return {name: row.mark("overall") for name, row in self._study.rows.items()}

    def to_dicts(self) -> list[dict[str, object]]:
        """Return a line for each question and row, as in ``report/questions.csv``.

        ``right`` is true or false if the accuracy counts the answer, else None. It is false for a
        withheld answer.
        """
        lines: list[dict[str, object]] = self._study.frame().to_dict("records")
        return lines

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a line for each question and row."""
        return self._study.frame().infer_objects()

    def _table(self) -> tuple[str, DataFrame]:
        """Return a title, and each row's figure with its interval and number of questions."""
        import pandas

        figures = {name: (cell(figure), figure.n) for name, figure in self.accuracies.items()}
        figures |= {name: (cell(figure, "marks"), figure.n) for name, figure in self.marks.items()}
        format_counts = self._format_question_counts
        lines = [(in_brackets(*text), format_counts(name, n)) for name, (text, n) in figures.items()]
        figure_name = "mark" if self._study.task == "compare" else "accuracy"
        at_chance = "; a model below 1 billion parameters: no better than chance"
        title = f"{self.path.name}: {figure_name} [95%]{at_chance * self._study.demonstration}"
        return clean(title), pandas.DataFrame(lines, [*figures])

    def _format_question_counts(self, name: str, counted: int) -> str:
        row = self._study.rows[name]
        number = len({result.question for result in row.results.values()})
        ends = {
            "withheld": row.counts["unanswered"],
            "failed": row.counts["failed"],
            "unread": len(row.unread),
        }
        some = [f"{number} {end}" for end, number in ends.items() if number]
        shares = [f"{counted} counted"] if counted != number else []
        return ", ".join([count(number, "question"), *some, *shares])

    def __repr__(self) -> str:
        """Return one line for each row: its figure and interval."""
        title, table = self._table()
        return f"<EvaluationResults {title}\n{table.to_string(header=False)}>"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        import pandas

        title, table = self._table()
        with pandas.option_context("display.max_colwidth", None):
            return f"<p>{escape(title)}</p>{table.to_html(header=False, border=0)}"
