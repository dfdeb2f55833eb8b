"""Runs an evaluation from Python, and prepares one for the command as well."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dialectree.errors import InputError
from dialectree.evals import datasets, plan, preferences, ray_engine, running, scoring, tasks
from dialectree.evals.data_checks import notices
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.matrix import Matrix, of_methods, read_matrix
from dialectree.evals.plan import Plan
from dialectree.evals.reporting import measures, questions, writing
from dialectree.evals.reporting.formatting import text_of
from dialectree.evals.reporting.study import study
from dialectree.evals.results_file import Folder
from dialectree.evals.rows import BUDGETS, Ready
from dialectree.evals.rows import ready as complete_rows
from dialectree.evals.running import Watch
from dialectree.evals.standing import Spending, Standing
from dialectree.models import embedded
from dialectree.models.limits import require_prices
from dialectree.models.specs import resolve
from dialectree.protocols.protocol import installed
from dialectree.protocols.settings import ProtocolSettings, build
from dialectree.records.folder import private
from dialectree.report import progress as showing
from dialectree.report import words
from dialectree.service.api import in_python, naming_parameters
from dialectree.system import loop
from dialectree.system.packages import needed

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from pandas import DataFrame

Rows = Iterable[Mapping[str, Any]]


class Prepared(NamedTuple):
    """An evaluation that can begin."""

    folder: Folder
    plan: Plan
    shared: ProtocolSettings
    """With the budgets of the whole evaluation."""
    against: str | None
    """The row beside whose summaries the others are judged."""
    ray: bool

    async def run(self, watch: Watch) -> Standing:
        """Ask every question that has no result, in the folder, which is locked."""
        engine = ray_engine.ray_engine if self.ray else running.here
        spending = Spending(self.shared)
        standing = await running.run(self.folder, self.plan, spending, watch, engine)
        if self.against is not None:
            watch(standing)
            await preferences.prefer(
                self.folder, self.plan, self.against, spending, standing.judged
            )
        return standing


def prepare(
    dataset: str | Path,
    settings: Mapping[str, Any],
    *,
    methods: Sequence[str] | None = None,
    matrix: str | Path | None = None,
    data: str | Path | None = None,
    columns: str | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    repeats: int = 1,
    shard: str | None = None,
    judge: str | BaseChatModel | None = None,
    vote_first: int = 0,
    against: str | None = None,
    out: str | Path | None = None,
    engine: Literal["local", "ray"] = "local",
    retry_failed: bool = False,
) -> Prepared:
    """Return what is to be asked; InputError where it cannot be. The options are the command's."""
    if limit is not None and sample is not None:
        raise InputError("--limit and --sample exclude one another")
    if methods is not None and matrix is not None:
        raise InputError("--methods and --matrix exclude one another")
    if methods is not None and not any(methods):
        raise InputError("--methods names no method")
    loaded = datasets.load(dataset, data, columns, cluster=cluster)
    task = plan.task_of(loaded)
    of_protocols = {name for one in installed().values() for name in one.own_settings()}
    if matrix is not None:
        rows = read_matrix(matrix)
    else:
        own = {name: value for name, value in settings.items() if name in of_protocols}
        rows = Matrix("", [], of_methods(methods or [tasks.usual_method(task)], own))
    where = f"--matrix {matrix}" if matrix else "--methods"
    ready = complete_rows(rows.rows, task, settings, where)
    common = {n: v for n, v in settings.items() if n not in of_protocols and n != "roles"}
    shared = build(ProtocolSettings, **common)
    if vote_first:
        _require_votes(ready)
    planned = plan.make_plan(
        loaded,
        ready,
        _judge(judge, scoring.judged(task, loaded.items), common),
        seed=shared.seed,
        vote_first=vote_first,
        cluster=cluster,
        limit=limit,
        sample=sample,
        shard=shard,
        repeats=repeats,
        data=str(data) if data else None,
        title=rows.title,
        missing=rows.missing,
        retry_failed=retry_failed,
    )
    folder = Folder(Path(out or Path("evaluations") / loaded.name))
    ray = engine == "ray"
    beside = None if against is None else _against(against, planned, folder, ray=ray)
    return Prepared(folder, planned, shared, beside, ray)


def _require_votes(rows: list[Ready]) -> None:
    """Raise InputError where no row can have a vote before it."""
    debates = tasks.debates()
    if not any(row.method.name in debates for row in rows):
        raise InputError(f"--vote-first: a vote comes before a debate: {', '.join(debates)}")


def _judge(
    judge: str | BaseChatModel | None, scores: list[str], settings: dict[str, Any]
) -> ProtocolSettings | None:
    """Return the settings of the judge that scores, without budgets; None where none is needed."""
    if not scores:
        if judge:
            raise InputError(f"--judge {judge}: no score of this data set needs a judge")
        return None
    context = build(ProtocolSettings, **{**settings, **({"model": judge} if judge else {})})
    spec = resolve(context.model, context)
    require_prices(context, [spec.name])
    if spec.provider == "local" and not context.replay:
        embedded.require(spec.model)
    return context.model_copy(update=dict.fromkeys(BUDGETS))


def _against(wanted: str, planned: Plan, folder: Folder, *, ray: bool) -> str:
    """Return the row whose summaries the others are judged beside."""
    if planned.task != "compare":
        raise InputError(f"--against {wanted}: only summaries of papers are judged side by side")
    if ray:
        raise InputError("--against: in a command of its own, without --engine ray")
    begun = folder.evaluation()
    rows = {row.name: row for row in begun.rows} if begun else {}
    rows |= {one.row.name: one.row for one in planned.rows}
    return preferences.baseline(wanted, rows.values())


async def aevaluate(
    dataset: str | Path | Rows,
    methods: str | Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    matrix: str | Path | None = None,
    data: str | Path | None = None,
    columns: str | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    repeats: int = 1,
    shard: str | None = None,
    judge: str | BaseChatModel | None = None,
    vote_first: int = 0,
    against: str | None = None,
    engine: Literal["local", "ray"] = "local",
    retry_failed: bool = False,
    progress: bool | None = None,
    **settings: Any,
) -> EvaluationResults:
    """Ask every item by every method, once, and return the results, as ``dialectree eval`` does.

    The same call goes on after whatever broke it off. The folder gets a report, too.

    Args:
        dataset: A name of ``dialectree eval list``, a file, a list of rows, or a DataFrame. A row
            is a mapping such as ``{"claim": ..., "label": True}``.
        methods: Names of methods, a list or with commas between. None: the protocol of the task.
        out: The evaluation's folder. None: ``evaluations/`` and the data set's name.
        matrix: Rows of methods, settings and models from a YAML or TOML file, or a protocol's own.
        data: A file to read instead of fetching the named data set.
        columns: Which column holds what: ``question=Q,options=a|b,gold=key``.
        cluster: The column that says which items belong together.
        limit: The number of items, from the first one on.
        sample: The number of items that the seed draws, each category with its share.
        repeats: How often each item is asked, with other seeds.
        shard: One part of the items: ``1/4``.
        judge: The model that scores, where one does. None: ``model``.
        vote_first: Direct answers before each debate, counted apart.
        against: The row beside whose summaries the others are judged, in both orders.
        engine: This machine, or a Ray cluster.
        retry_failed: Ask failed questions once more.
        progress: Whether to show what goes on. None: in notebooks only.
        settings: Settings of the methods, models and limits. Budgets count over all questions.

    Raises:
        InputError: An argument, or a row of the data, is wrong.
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up; the same call goes on.
    """
    names = {name.replace("_", "-"): name for name in inspect.signature(aevaluate).parameters}
    with naming_parameters(names):
        if not isinstance(dataset, str | Path):
            dataset, out = _write_rows(dataset, out)
        prepared = prepare(
            dataset,
            settings,
            methods=methods.replace(" ", "").split(",") if isinstance(methods, str) else methods,
            matrix=matrix,
            data=data,
            columns=columns,
            cluster=cluster,
            limit=limit,
            sample=sample,
            repeats=repeats,
            shard=shard,
            judge=judge,
            vote_first=vote_first,
            against=against,
            out=out,
            engine=engine,
            retry_failed=retry_failed,
        )
        planned = prepared.plan
        for notice in notices(planned.loaded, planned.task, planned.items):
            warnings.warn(in_python(notice, names), stacklevel=2)
        standing = Standing(len(planned.questions), 0, Spending(prepared.shared))

        def watch(now: Standing) -> None:
            nonlocal standing
            standing = now

        def line() -> str:
            asked = f"{standing.total - standing.left} of {standing.total} questions"
            failed = f", {standing.failed} failed" if standing.failed else ""
            return f"{planned.loaded.name} · {asked}{failed} · {standing.spent.calls:,} calls"

        with prepared.folder.locked():
            async with showing.show(line, progress):
                await prepared.run(watch)
            await asyncio.to_thread(writing.report, [prepared.folder.path])
        return EvaluationResults(prepared.folder.path)


def evaluate(
    dataset: str | Path | Rows,
    methods: str | Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    matrix: str | Path | None = None,
    data: str | Path | None = None,
    columns: str | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    repeats: int = 1,
    shard: str | None = None,
    judge: str | BaseChatModel | None = None,
    vote_first: int = 0,
    against: str | None = None,
    engine: Literal["local", "ray"] = "local",
    retry_failed: bool = False,
    progress: bool | None = None,
    **settings: Any,
) -> EvaluationResults:
    arguments = locals()
    return loop.wait_for(aevaluate(**arguments.pop("settings"), **arguments))


evaluate.__doc__ = aevaluate.__doc__


def _write_rows(rows: Any, out: str | Path | None) -> tuple[Path, Path]:
    """Write rows into the evaluation's folder, named by their digest; return file and folder."""
    if hasattr(rows, "to_dict"):  # a DataFrame, whose empty cells are not equal to themselves
        rows = [{k: v for k, v in row.items() if v == v} for row in rows.to_dict("records")]
    lines = (json.dumps(dict(row), ensure_ascii=False, default=str) + "\n" for row in rows)
    text = "".join(lines).encode()
    name = f"rows-{hashlib.sha256(text).hexdigest()[:8]}"
    folder = Path(out or Path("evaluations") / name)
    folder.mkdir(0o700, parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    with open(path, "wb", opener=private) as file:
        file.write(text)
    return path, folder


class EvaluationResults:
    """What came of an evaluation: its folder, the accuracies, and a line for each question."""

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

        It is of the answers that a judgement was read of, as in the report. Empty where summaries
        are marked instead.
        """
        if self._study.task == "compare":
            return {}
        rows = self._study.rows
        return {row.name: measures.outcomes(self._study.of(row.name)).share for row in rows}

    @property
    def marks(self) -> dict[str, Figure]:
        """The mean mark of each row's summaries, 0 to 100, with its 95 % interval."""
        if self._study.task != "compare":
            return {}
        rows = self._study.rows
        return {row.name: measures.rubric(self._study.of(row.name))["overall"].mean for row in rows}

    def to_dicts(self) -> list[dict[str, object]]:
        """Return a line for each question and row, as ``report/questions.csv`` has them.

        ``right`` is true or false where the accuracy counts the answer, else None.
        """
        return [*questions.lines(self._study)]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a line for each question and row."""
        with needed("to_pandas()", "pandas"):
            import pandas
        return pandas.DataFrame(self.to_dicts())

    def _lines(self) -> list[tuple[str, str, str]]:
        """Return each row's name, its figure with the interval, and how many were asked."""
        figures = {name: (text_of("share", one), one.n) for name, one in self.accuracies.items()}
        figures |= {name: (text_of("marks", one), one.n) for name, one in self.marks.items()}
        lines: list[tuple[str, str, str]] = []
        for name, (figure, n) in figures.items():
            results = self._study.of(name)
            counts = measures.outcomes(results)
            questions = len({result.question for result in results})
            parts = [words.count(questions, "question")]
            if n != questions:
                ends = {
                    "failed": counts.failed,
                    "withheld": counts.unanswered,
                    "unread": len(measures.unread(results)),
                }
                parts += [f"{number} {end}" for end, number in ends.items() if number]
                parts.append(f"{n} judged")
            lines.append((name, figure, ", ".join(parts)))
        return lines

    def _title(self) -> str:
        what = "mark" if self._study.task == "compare" else "accuracy"
        at_chance = "; a model below 1 billion parameters: no better than chance"
        return f"{self.path.name}: {what} [95%]{at_chance * self._study.demonstration}"

    def __repr__(self) -> str:
        """Say each row's figure and its interval, a line each."""
        lines = self._lines()
        widths = [max(len(line[n]) for line in lines) for n in (0, 1)]
        table = (f"  {n:{widths[0]}}  {f:{widths[1]}}  {asked}" for n, f, asked in lines)
        return "\n".join([f"<EvaluationResults {self._title()}", *table]) + ">"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        rows = (
            "".join(f"<td style='text-align: left'>{escape(cell)}</td>" for cell in line)
            for line in self._lines()
        )
        title = f"<caption>{escape(words.clean(self._title()))}</caption>"
        return f"<table>{title}{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
