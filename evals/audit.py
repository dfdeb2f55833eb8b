"""Audit a debate: compare it with a fixed matrix of alternatives, over one data set.

A protocol declares which of its methods plays which part in an audit (``Evaluation.audit``). The rows
run in two stages. Rows of samples come second: only finished debates show how many samples spend as
many tokens as a debate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from dialectree.errors import InputError
from dialectree.evals import answer_scoring, running, tasks
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.estimates import inputs
from dialectree.evals.matrix import Matrix, MatrixEntry
from dialectree.evals.options import EvaluationOptions
from dialectree.evals.plan import Plan, choose_items, load_questions, merge_evaluation, prepare, task_of
from dialectree.evals.results import Result, strip_address
from dialectree.evals.rows import Ready, ready
from dialectree.evals.running import Watch
from dialectree.evals.standing import Spending, Standing
from dialectree.protocols.evaluation import Part
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.protocol import method as named_method
from dialectree.records.folder import RunFolder
from dialectree.report.progress import show
from dialectree.running.estimates import pace_of, rehearse_debates
from dialectree.running.recorded_settings import speakers

MOST_SAMPLES = 100
"""The largest value of the setting ``samples``."""
REHEARSED, REHEARSED_CALLS = 2, 20
"""Questions to rehearse for an estimate of tokens, and the approximate calls for each question."""


@dataclass
class Layout:
    """The names of an audit's rows, by part."""

    alone: dict[str, str] = field(default_factory=dict[str, str])
    """By model, the row in which the model answers alone; the judge's model comes first."""
    samples: dict[str, str] = field(default_factory=dict[str, str])
    """By model, the row of the model's samples."""
    critique: str | None = None
    consultancy: str | None = None
    one_model: str | None = None
    """The debate in which one model plays every role."""
    unlike: str | None = None
    """The debate between different models."""
    left_out: list[str] = field(default_factory=list[str])
    """A sentence on each part that the audit lacks."""

    @property
    def debates(self) -> list[str]:
        """The rows of debates."""
        return [name for name in (self.one_model, self.unlike) if name]


@dataclass(frozen=True)
class Pool:
    """The models of an audit."""

    judge: str
    """The model of every role that does not argue; an empty text means the model in the settings."""
    arguing: Sequence[str]
    """The models that take the arguing roles in turn."""

    @property
    def models(self) -> list[str]:
        """Every model, the judge first."""
        return [*dict.fromkeys([self.judge, *self.arguing])]

    def assign_models(self, roles: Sequence[str]) -> dict[str, str]:
        """Return a method's models by role; ``roles`` are its roles that argue."""
        turns = {role: self.arguing[n % len(self.arguing)] for n, role in enumerate(roles)}
        return {"model": self.judge, **turns}


def pool_of(models: Sequence[str], judge: str | None = None) -> Pool:
    """Return the pool of ``models``. Without a ``judge`` the first model judges, and argues last.

    Of models A, B and C, A judges, and the arguing roles take B, C, A, B ... Raises InputError if a
    model is named at two addresses.
    """
    model_specs = [*dict.fromkeys(models)]
    names = [strip_address(spec) for spec in dict.fromkeys([*model_specs, *filter(None, [judge])])]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--model {twice[0]}: it is named at two addresses; name each model once")
    if judge:
        return Pool(judge, model_specs or [judge])
    return Pool(model_specs[0], [*model_specs[1:], model_specs[0]]) if model_specs else Pool("", [""])


@dataclass(frozen=True)
class Audit:
    """An audit, ready to run."""

    dataset: str | Path
    options: EvaluationOptions
    settings: Mapping[str, Any]
    layout: Layout
    rows: Sequence[MatrixEntry]
    """Rows of the first stage: all except the samples."""
    sampling: Mapping[str, MatrixEntry]
    """By model, the row of the model's samples; their number is not set yet."""
    plan: Plan
    """The plan of the first stage."""
    _rehearsed: dict[str, float] = field(default_factory=dict[str, float])
    """Tokens of earlier rehearsals, by method, settings and length of texts; the model does not matter."""

    async def samples(self, *, measured: bool) -> dict[str, int]:
        """Return, by model, the number of samples that spend as many tokens as a debate.

        A row that has begun keeps its number of samples. With ``measured``, tokens are taken from
        results if there are any. Otherwise they are taken from rehearsals.
        """
        evaluation = self.plan.folder.evaluation()
        before = {row.name: row.settings for row in evaluation.rows} if evaluation else {}
        results = [*self.plan.folder.results()] if measured else []
        rows = {ready_row.row.name: ready_row for ready_row in self.plan.rows}
        counts: dict[str, int] = {}
        for model, entry in self.sampling.items():
            earlier_count = before.get(entry.name, {}).get("samples")
            if isinstance(earlier_count, int):
                counts[model] = earlier_count
                continue
            alone = rows[self.layout.alone[model]]
            scale = await self._tokens(alone, results) / await self._tokens(alone)
            debates = [await self._tokens(rows[name], results) for name in self.layout.debates]
            two, six = [await self._tokens(self._ready(set_sample_count(entry, n))) for n in (2, 6)]
            sample_tokens = (six - two) / 4  # if a picker chooses, it also reads each sample
            count = (fmean(debates) / scale - (two - 2 * sample_tokens)) / sample_tokens
            counts[model] = max(1, min(MOST_SAMPLES, round(count)))
        return counts

    def make_full_plan(self, samples: Mapping[str, int]) -> Plan:
        """Return the plan of all rows, with ``samples`` samples of each model."""
        more = [set_sample_count(entry, samples[model]) for model, entry in self.sampling.items()]
        return _plan(self.dataset, self.options, self.settings, [*self.rows, *more], self.layout)

    async def conduct(
        self, *, progress: bool | None = False, watch: Watch = lambda standing: None
    ) -> Standing:
        """Run both stages on one budget; questions with a result are not asked again."""
        spending, display = Spending(self.plan.shared), running.ProgressLine(self.plan.loaded.name)
        with self.plan.folder.hold_lock():
            if self.sampling and self.plan.folder.evaluation() is not None:
                merge_evaluation(self.make_full_plan(await self.samples(measured=True)))  # before any call
            async with show(display.text, progress):
                first = await running.ask_questions(self.plan, spending, display, watch)
                if not self.sampling:
                    return first
                full_plan = self.make_full_plan(await self.samples(measured=True))
                standing = await running.ask_questions(full_plan, spending, display, watch)
        standing.started = first.started
        standing.before, standing.done = standing.before - first.done, standing.done + first.done
        return standing

    def _ready(self, entry: MatrixEntry) -> Ready:
        return _ready(entry, self.plan.task, self.settings, self.plan.items)

    async def _tokens(self, row: Ready, results: Sequence[Result] = ()) -> float:
        """Return the tokens of a question: the mean over the row's results, else over rehearsals."""
        ended = [
            result.usage for result in results if result.row == row.row.name and result.status != "failed"
        ]
        spent = [usage.prompt_tokens + usage.completion_tokens for usage in ended]
        if any(spent):
            return fmean(spent)
        names = {spec.name for spec in speakers(row.method, row.context).values()}
        pace = pace_of(RunFolder.all(self.plan.folder.runs), names)
        key = f"{row.method.name} {row.row.settings} {pace.words}"
        if key not in self._rehearsed:
            graph_inputs = islice(inputs(row, row.method, row.context, self.plan.items), REHEARSED)
            sizes = [
                size.tokens
                for graph_input in graph_inputs
                for size in await rehearse_debates(
                    row.method, graph_input, row.context, pace.words, REHEARSED_CALLS
                )
            ]
            self._rehearsed[key] = max(1.0, fmean(sizes or [1.0]))
        return self._rehearsed[key]


def audit(
    dataset: str | Path,
    options: EvaluationOptions,
    settings: Mapping[str, Any],
    models: Sequence[str] = (),
    debate: str | None = None,
) -> Audit:
    """Return an audit of ``debate``, or of the task's protocol; InputError if it is impossible.

    Args:
        dataset: A name from ``dialectree eval list``, or a file.
        options: The options of an evaluation; an audit makes its own rows.
        settings: Settings of the methods, models and limits.
        models: The pool: specs of models; the first one judges. Empty: the settings' model.
        debate: The method to audit.
    """
    roles = dict(settings.get("roles", {}))
    judge = roles.pop("judge", None)
    if roles:
        raise InputError(
            f"--role {next(iter(roles))}: an audit assigns the models itself; use only judge=SPEC"
        )
    pool = pool_of(models, judge)
    row_settings = {name: value for name, value in settings.items() if name not in ("roles", "samples")}
    if pool.judge:
        row_settings["model"] = pool.judge
    loaded = load_questions(dataset, options, settings)
    task = task_of(loaded)
    items = choose_items(loaded.items, options, int(row_settings.get("seed") or 0))
    right = tasks.TASKS[task].right
    if right and not any(answer_scoring.applies(right, item) for item in items):
        references = " or ".join(tasks.TASKS[task].references)
        raise InputError(
            f"{loaded.path}: an audit compares right answers, and no row says what is right ({references}): "
            f"name the column with --columns {tasks.TASKS[task].references[0]}=COLUMN"
        )
    layout, rows, sampling = _laid_out(_parts(task, debate), task, pool, row_settings, items)
    plan = _plan(dataset, options, row_settings, rows, layout)
    return Audit(dataset, options, row_settings, layout, rows, sampling, plan)


def set_sample_count(entry: MatrixEntry, samples: int) -> MatrixEntry:
    """Return a copy of a row of samples, with ``samples`` as their number."""
    return entry.model_copy(update={"settings": {**entry.settings, "samples": samples}})


def _plan(
    dataset: str | Path,
    options: EvaluationOptions,
    settings: Mapping[str, Any],
    rows: Sequence[MatrixEntry],
    layout: Layout,
) -> Plan:
    matrix = Matrix(title="Audit", missing=layout.left_out, rows=[*rows])
    return prepare(dataset, options, settings, matrix)


def _parts(task: Task, debate: str | None) -> dict[Part, str]:
    """Return methods by part; parts that the debate's protocol lacks come from the task's usual one."""
    usual = tasks.usual_method(task)
    if (name := debate or usual) not in tasks.methods(task) or tasks.is_baseline(name):
        debates = [method_name for method_name in tasks.methods(task) if not tasks.is_baseline(method_name)]
        items = tasks.TASKS[task].items
        raise InputError(f"--debate {name}: the debates for {items} are {', '.join(debates)}")
    debate_parts = tasks.require_declared_evaluation(named_method(name)).audit
    parts: dict[Part, str] = {}
    for declared in (debate_parts, tasks.require_declared_evaluation(named_method(usual)).audit):
        parts = {**declared, **parts}
    if "alone" not in parts:
        raise InputError(f"--debate {name}: no installed method answers alone, so nothing to audit")
    return {**parts, "debate": name}


def _laid_out(
    parts: Mapping[Part, str], task: Task, pool: Pool, settings: Mapping[str, Any], items: Sequence[Item]
) -> tuple[Layout, list[MatrixEntry], dict[str, MatrixEntry]]:
    """Return row names by part, the rows of the first stage, and rows of samples by model."""
    layout, rows, sampling = Layout(), list[MatrixEntry](), dict[str, MatrixEntry]()
    several_models = len(pool.models) > 1

    def row(name: str, part: Part, models: Mapping[str, str]) -> MatrixEntry:
        role_models = {role: spec for role, spec in models.items() if spec}
        return MatrixEntry(name=name, method=parts[part], models=role_models)

    for model in pool.models:
        end = f", {strip_address(model)}" if several_models else ""
        layout.alone[model] = f"alone{end}"
        rows.append(row(layout.alone[model], "alone", {"model": model}))
        if "samples" in parts:
            layout.samples[model] = f"samples{end}"
            sampling[model] = row(layout.samples[model], "samples", {"model": model})
    question_kind = tasks.TASKS[task].items
    once: list[tuple[Part, str]] = [("critique", "one critique"), ("consultancy", "consultancy")]
    for part, title in once:
        if part not in parts:
            layout.left_out.append(f"{title}: no method for {question_kind} has it")
            continue
        try:
            ready_row = _ready(row(title, part, {}), task, settings, items)
            for item in items:
                tasks.graph_input(ready_row.method, item, ready_row.gold(item), ready_row.context)
        except InputError as error:
            layout.left_out.append(f"{title}: {error}")
            continue
        rows.append(row(title, part, pool.assign_models(_arguing(ready_row))))
        setattr(layout, part, title)
    if "samples" not in parts:
        layout.left_out.append(f"equal-token samples: no method for {question_kind} has them")
    layout.one_model = "debate, one model" if several_models else "debate"
    rows.append(row(layout.one_model, "debate", {"model": pool.judge}))
    if several_models:
        layout.unlike = "debate, unlike models"
        debate = _ready(row(layout.unlike, "debate", {}), task, settings, items)
        rows.append(row(layout.unlike, "debate", pool.assign_models(_arguing(debate))))
    return layout, rows, sampling


def _arguing(ready_row: Ready) -> list[str]:
    """Return the arguing roles of a row, in order, including the roles of debates inside its method."""
    protocol = ready_row.method.protocol
    other_protocols = (
        declaration for declaration in load_protocols().values() if declaration is not protocol
    )
    declared = [
        declaration.evaluation for declaration in (protocol, *other_protocols) if declaration.evaluation
    ]
    names = dict.fromkeys(role for evaluation in declared for role in evaluation.argue)
    roles = ready_row.method.roles(ready_row.context)
    return [role for role in names if role in roles]


def _ready(entry: MatrixEntry, task: Task, settings: Mapping[str, Any], items: Sequence[Item]) -> Ready:
    """Return a row, completed with the settings that it reads."""
    setting_names = frozenset[str]().union(
        *(declaration.own_settings() for declaration in load_protocols().values())
    )
    read = named_method(entry.method).reads()
    flags = {n: value for n, value in settings.items() if n not in setting_names or n in read}
    sources = any(item.inputs.sources for item in items) or "retriever" in settings
    (ready_row,) = ready([entry], task, flags, "an audit", sources=sources)
    return ready_row
