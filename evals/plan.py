"""Plan an evaluation: choose its items and rows, and check that they fit its folder's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dialectree.errors import InputError
from dialectree.evals import answer_scoring, datasets, votes
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.datasets import LoadedDataset
from dialectree.evals.matrix import Matrix, of_methods, read_matrix
from dialectree.evals.options import EvaluationOptions
from dialectree.evals.results import DataUsed, EvaluationFile, strip_address
from dialectree.evals.results_file import Done, Folder
from dialectree.evals.rows import BUDGETS, Ready, ready, require_input
from dialectree.evals.tasks import debates, usual_method
from dialectree.models.limits import require_prices
from dialectree.models.local_models import LOCAL_MODELS
from dialectree.models.sizes import at_chance
from dialectree.models.specs import resolve
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.running.recorded_settings import versions
from dialectree.system import chance, clock

CONTROLS = 50
"""The most questions with controls: answers of known score that test the judge."""
_ITEMS = "--columns that give items of sha256"
AHEAD = 2.5
"""Questions under way per slot: while one question writes its record, another has a call ready."""


@dataclass(frozen=True)
class Plan:
    """The items and rows that one command runs, and the folder of their results."""

    options: EvaluationOptions
    shared: ProtocolSettings
    """Settings with the budgets of the whole evaluation."""
    loaded: LoadedDataset
    items: Sequence[Item]
    rows: Sequence[Ready]
    judge: ProtocolSettings | None
    """The settings of the judge that scores; None without one."""
    evaluation: EvaluationFile
    """The evaluation of this command, without the folder's earlier one."""
    folder: Folder

    @cached_property
    def questions(self) -> frozenset[Done]:
        """All pairs of row and item."""
        return frozenset((row.row.name, item.id) for row in self.rows for item in self.items)

    @property
    def task(self) -> Task:
        """The task of all items."""
        return self.evaluation.task

    @property
    def retry_failed(self) -> bool:
        """True if questions that failed, or lost a call, are asked once more."""
        return self.options.retry_failed

    @property
    def at_once(self) -> int:
        """The number of questions under way at once."""
        return max(2, round(AHEAD * max(row.slots for row in self.rows)))


def prepare(
    dataset: str | Path, options: EvaluationOptions, settings: Mapping[str, Any], matrix: Matrix | None = None
) -> Plan:
    """Return the plan of an evaluation; InputError if it cannot run.

    ``settings`` are those of the methods, models and limits. The rows come from ``matrix``, or else
    from the options.
    """
    loaded = load_questions(dataset, options, settings)
    task = task_of(loaded)
    protocol_settings = {name for protocol in load_protocols().values() for name in protocol.own_settings()}
    common = {n: v for n, v in settings.items() if n not in protocol_settings and n != "roles"}
    shared = build_settings(ProtocolSettings, **common)
    if matrix is not None:
        where = "the matrix"
    elif options.matrix is not None:
        matrix, where = read_matrix(options.matrix), f"--matrix {options.matrix}"
    else:
        names, where = options.methods or [usual_method(task)], "--methods"
        matrix = of_methods(names, {n: v for n, v in settings.items() if n in protocol_settings})
    sources = any(item.inputs.sources for item in loaded.items) or "retriever" in settings
    rows = ready(matrix.rows, task, settings, where, sources=sources)
    items = choose_items(loaded.items, options, shared.seed)
    require_input(rows, items)
    if options.vote_first and not any(row.method.name in debates() for row in rows):
        raise InputError(f"--vote-first: no row debates; use one of {', '.join(debates())}")
    votes.require_input(rows, items[:1], options.vote_first)
    judge = judge_settings(options.judge, answer_scoring.list_judged_scorers(task, loaded.items), common)
    spec = resolve(judge.model, judge) if judge else None
    evaluation = EvaluationFile(
        title=matrix.title,
        missing=[*dict.fromkeys(matrix.missing)],
        data=DataUsed(
            name=loaded.name,
            path=str(options.data) if options.data else None,
            sha256=loaded.sha256,
            items_sha256=loaded.items_sha256,
            count=len(loaded.items),
        ),
        task=task,
        items=[item.id for item in items],
        **options.model_dump(include={"limit", "sample", "shard", "cluster", "repeats", "vote_first"}),
        seed=shared.seed,
        rows=[row.row for row in rows],
        scorers=answer_scoring.names(task, loaded.items),
        judge=spec.address if spec else None,
        demonstration=(spec is not None and at_chance(spec)) or any(row.demonstration for row in rows),
        started=clock.stamp(),
        versions={**versions()},
    )
    folder = Folder(Path(options.out or Path("evaluations") / loaded.name))
    return Plan(options, shared, loaded, items, rows, judge, evaluation, folder)


def load_questions(
    dataset: str | Path, options: EvaluationOptions, settings: Mapping[str, Any]
) -> datasets.LoadedDataset:
    """Return the questions of a data set; the reader in ``settings`` reads their documents.

    Raises InputError for a wrong name, file or row.
    """
    reader_settings = {name: value for name, value in settings.items() if name == "reader"}
    reader = build_settings(GroundedSettings, **reader_settings).find_reader()
    return datasets.load(dataset, options.data, options.columns, cluster=options.cluster, reader=reader)


def judge_settings(judge: Any, scores: Sequence[str], settings: Mapping[str, Any]) -> ProtocolSettings | None:
    """Return the settings of the judge, without budgets, or None if no score needs a judge."""
    if not scores:
        if judge:
            raise InputError("--judge: no score of this data set needs a judge")
        return None
    context = build_settings(ProtocolSettings, **{**settings, **({"model": judge} if judge else {})})
    spec = resolve(context.model, context)
    require_prices(context, [spec.name])
    if spec.provider == "local" and not context.replay:
        LOCAL_MODELS.require().require(spec.model)
    return context.model_copy(update=dict.fromkeys(BUDGETS))


def task_of(loaded: LoadedDataset) -> Task:
    """Return the task of all items; InputError if tasks differ."""
    task = loaded.items[0].inputs.task
    for item in loaded.items:
        if item.inputs.task != task:
            raise InputError(
                f"{loaded.path}: row {item.id!r} is to {item.inputs.task}, and the first one to "
                f"{task}: put each kind of question into its own file"
            )
    return task


# Choosing items


def draw_sample(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """Draw ``count`` items in proportion to categories and right answers; keep their order.

    Items of equal category and right answer form a stratum. The items of a stratum get places spread
    evenly over 0 to 1, in a random order and from a random start. The items with the lowest places
    are taken. A larger sample contains a smaller one.
    """
    strata: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        right = item.reference.gold, item.reference.label
        strata.setdefault((item.category, *right), []).append(item)
    places: dict[str, float] = {}
    for stratum, members in strata.items():
        start = chance.seed(seed, "sample", *map(str, stratum)) / 2**31
        members.sort(key=lambda item: chance.seed(seed, "sample", item.id))
        places |= {m.id: (n + start) / len(members) for n, m in enumerate(members)}
    chosen_ids = set(sorted(places, key=lambda item: (places[item], item))[:count])
    return [item for item in items if item.id in chosen_ids]


def repeat_items(items: Sequence[Item], repeats: int) -> list[Item]:
    """Return every item, plus a copy with its own id for each further repeat."""
    all_items = [*items]
    for repeat in range(1, repeats):
        changes = ({"id": f"{item.id}#{repeat}", "repeat": repeat} for item in items)
        all_items += [item.model_copy(update=c) for item, c in zip(items, changes, strict=True)]
    if len({item.id for item in all_items}) < len(all_items):
        raise InputError("--repeats: an item's id ends in # and a number: give it another id")
    return all_items


def choose_items(items: Sequence[Item], options: EvaluationOptions, seed: int) -> list[Item]:
    """Return the items that the options choose, each with its repeats.

    The choice is the first ``limit`` items, or ``sample`` drawn items. A shard i/n takes every n-th
    of the chosen items, from the i-th on.
    """
    sample = options.sample
    chosen = [*items[: options.limit]] if sample is None else draw_sample(items, sample, seed)
    first, count = map(int, (options.shard or "1/1").split("/"))
    if not (part := chosen[first - 1 :: count]):
        raise InputError(f"--shard {options.shard}: only {len(chosen)} items to share out")
    return repeat_items(part, options.repeats)


# Continuing in a folder


def controls(plan: Plan) -> frozenset[Done]:
    """Draw questions of the first row for a test of the judge, by answers whose score is known.

    Questions that already had this test are left out, unless they are asked again.
    """
    candidates = [item for item in plan.items if not item.repeat and plan.judge]
    control_items = [item for item in candidates if answer_scoring.controls(plan.evaluation.scorers, item)]
    if not control_items:
        return frozenset()
    control_items.sort(key=lambda item: chance.seed(plan.evaluation.seed, "control", item.id))
    tried = {(result.row, result.item): result for result in plan.folder.results() if result.controls}
    before = {item for _, item in tried}
    again = {done for done, result in tried.items() if plan.retry_failed and result.incomplete}
    row = plan.rows[0].row.name
    return frozenset({(row, item.id) for item in control_items[:CONTROLS] if item.id not in before} | again)


def merge_evaluation(plan: Plan) -> EvaluationFile:
    """Return the folder's evaluation with the plan's additions; InputError if they conflict."""
    before, now = plan.folder.evaluation(), plan.evaluation
    if before is None:
        return now.model_copy()
    _require_same(plan.folder.path, before, now)
    row_names = {row.name for row in before.rows}
    repeats = max(now.repeats, before.repeats)
    ids = {*now.items, *before.items}
    items = [item.id for item in repeat_items(plan.loaded.items, repeats) if item.id in ids]
    limits: dict[str, object] = {"limit": None, "sample": None, "shard": None}
    for evaluation in (before, now):  # a command that chose all these items knows how
        if {*items} == {*evaluation.items}:
            limits = {name: getattr(evaluation, name) for name in limits}
    return before.model_copy(
        update={
            **limits,
            "title": now.title or before.title,
            "missing": [*dict.fromkeys([*before.missing, *now.missing])],
            "data": now.data,
            "items": items,
            "repeats": repeats,
            "rows": [*before.rows, *(row for row in now.rows if row.name not in row_names)],
            "demonstration": before.demonstration or now.demonstration,
            "ended": None,
        }
    )


def _require_same(where: Path, before: EvaluationFile, now: EvaluationFile) -> None:
    """Raise InputError if the folder would mix answers that cannot be compared."""
    this = _list_fixed_values(now)
    for field_name, value in _list_fixed_values(before).items():
        if field_name in this and value != this[field_name]:
            was, new = ("none" if setting is None else setting for setting in (value, this[field_name]))
            remedy = "give a row another name in a matrix"
            if field_name == _ITEMS:
                remedy = "leave out a column that was not read then (--columns ignore=COLUMN)"
            raise InputError(
                f"{where} was begun with {field_name} {was}, and this is {new}: {remedy}, or begin another "
                "folder (--out)"
            )


def _list_fixed_values(evaluation: EvaluationFile) -> dict[str, object]:
    """Return the values that must stay the same within a folder; a model's address may change."""
    data, judge = evaluation.data, evaluation.judge
    return {
        "data of sha256": data.sha256,
        "data set": data.name,
        "--cluster": evaluation.cluster,
        **({_ITEMS: data.items_sha256} if data.items_sha256 else {}),  # older folders have none
        "--seed": evaluation.seed,
        "--vote-first": evaluation.vote_first,
        "--judge": judge and strip_address(judge),
        **{
            f"row {row.name!r}, its {field_name}": value
            for row in evaluation.rows
            for field_name, value in (
                ("method", row.method),
                ("settings", row.settings),
                ("models", {role: strip_address(spec) for role, spec in row.models.items()}),
            )
        },
    }
