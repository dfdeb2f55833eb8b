"""Plans an evaluation: which items, by which rows, and whether a folder can go on with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dialectree.errors import InputError
from dialectree.evals import scoring, votes
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.datasets import Loaded
from dialectree.evals.results import DataUsed, Evaluation, bare
from dialectree.evals.results_file import Done, Folder
from dialectree.evals.rows import Ready, require_input
from dialectree.evals.tasks import TASKS
from dialectree.models.sizes import at_chance
from dialectree.models.specs import resolve
from dialectree.protocols.settings import ProtocolSettings
from dialectree.running.recorded_settings import versions
from dialectree.system import chance, clock

CONTROLS = 50
"""Questions beside which the judge that scores is tried on answers whose score is known."""
AHEAD = 2.5
"""Questions under way for each slot: while one writes its record another one's call is waiting."""


@dataclass(frozen=True)
class Plan:
    """What one command runs over what."""

    loaded: Loaded
    items: Sequence[Item]
    rows: Sequence[Ready]
    judge: ProtocolSettings | None
    """The settings of the judge that scores, where one does."""
    evaluation: Evaluation
    """What a folder has by this command alone."""
    retry_failed: bool = False
    """Ask questions that failed, or lost a call, once more."""

    @cached_property
    def questions(self) -> frozenset[Done]:
        """Every item by every row."""
        return frozenset((row.row.name, item.id) for row in self.rows for item in self.items)

    @property
    def task(self) -> Task:
        """The task of all items."""
        return self.evaluation.task

    @property
    def at_once(self) -> int:
        """The number of questions under way at once."""
        return max(2, round(AHEAD * max(row.slots for row in self.rows)))


def make_plan(
    loaded: Loaded,
    rows: Sequence[Ready],
    judge: ProtocolSettings | None,
    *,
    seed: int = 0,
    vote_first: int = 0,
    limit: int | None = None,
    sample: int | None = None,
    shard: str | None = None,
    repeats: int = 1,
    cluster: str | None = None,
    data: str | None = None,
    title: str = "",
    missing: Iterable[str] = (),
    retry_failed: bool = False,
) -> Plan:
    """Return a plan of the items that the options choose; InputError where they choose none."""
    task = task_of(loaded)
    items = taken(loaded.items, limit, shard, sample=sample, seed=seed, repeats=repeats)
    require_input(rows, items)
    votes.require_input(rows, items[:1], vote_first)
    spec = resolve(judge.model, judge) if judge else None
    scorers = scoring.names(task, loaded.items)
    evaluation = Evaluation(
        title=title,
        missing=[*dict.fromkeys(missing)],
        data=DataUsed(
            name=loaded.name,
            path=data,
            sha256=loaded.sha256,
            items_sha256=loaded.items_sha256,
            count=len(loaded.items),
        ),
        task=task,
        items=[item.id for item in items],
        limit=limit,
        sample=sample,
        shard=shard,
        cluster=cluster,
        repeats=repeats,
        seed=seed,
        rows=[row.row for row in rows],
        scorers=[name for name in scorers if judge or name not in TASKS[task].judged],
        judge=spec.address if spec else None,
        vote_first=vote_first,
        demonstration=(spec is not None and at_chance(spec))
        or any(row.demonstration for row in rows),
        started=clock.stamp(),
        versions={**versions()},
    )
    return Plan(loaded, items, rows, judge, evaluation, retry_failed)


def task_of(loaded: Loaded) -> Task:
    """Return the task of all items; InputError where they differ."""
    task = loaded.items[0].inputs.task
    for item in loaded.items:
        if item.inputs.task != task:
            raise InputError(
                f"{loaded.path}: row {item.id!r} is to {item.inputs.task}, and the first one to "
                f"{task}: one kind of question in a file, please"
            )
    return task


def sampled(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """Draw ``count`` items so that every category and right answer has its share, in their order.

    The items of one stratum are spread evenly over 0 to 1, in a drawn order and from a drawn
    start, and those with the least places are taken. A larger sample contains the smaller one.
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
    drawn = set(sorted(places, key=lambda item: (places[item], item))[:count])
    return [item for item in items if item.id in drawn]


def repeated(items: Sequence[Item], repeats: int) -> list[Item]:
    """Return every item, and again as an item of its own for each further repeat."""
    every = [*items]
    for repeat in range(1, repeats):
        changes = ({"id": f"{item.id}#{repeat}", "repeat": repeat} for item in items)
        every += [item.model_copy(update=c) for item, c in zip(items, changes, strict=True)]
    if len({item.id for item in every}) < len(every):
        raise InputError("--repeats: an item's id ends in # and a number: give it another id")
    return every


def taken(
    items: Sequence[Item],
    limit: int | None,
    shard: str | None,
    *,
    sample: int | None = None,
    seed: int = 0,
    repeats: int = 1,
) -> list[Item]:
    """Return the items that a command takes, each as often as it is repeated.

    They are the first ``limit`` ones, or ``sample`` drawn ones, and of those every n-th from the
    i-th on where a shard is i/n.
    """
    chosen = [*items[:limit]] if sample is None else sampled(items, sample, seed)
    if shard is None:
        return repeated(chosen, repeats)
    first, _, count = shard.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise InputError(f"--shard {shard}: write i/n, from 1/n to n/n")
    if not (part := chosen[int(first) - 1 :: int(count)]):
        raise InputError(f"--shard {shard}: there are only {len(chosen)} items to share out")
    return repeated(part, repeats)


def controls(folder: Folder, plan: Plan) -> frozenset[Done]:
    """Draw the questions of the first row beside which the judge is tried on known answers.

    Those beside which it was tried before are left out, unless they are asked again.
    """
    asked = [item for item in plan.items if not item.repeat and plan.judge]
    known = [item for item in asked if scoring.controls(plan.evaluation.scorers, item)]
    if not known:
        return frozenset()
    known.sort(key=lambda item: chance.seed(plan.evaluation.seed, "control", item.id))
    tried = {(one.row, one.item): one for one in folder.results() if one.controls}
    before = {item for _, item in tried}
    again = {done for done, one in tried.items() if plan.retry_failed and one.incomplete}
    row = plan.rows[0].row.name
    return frozenset({(row, item.id) for item in known[:CONTROLS] if item.id not in before} | again)


def begun(folder: Folder, plan: Plan) -> Evaluation:
    """Return what the folder has and ``plan`` adds to it; InputError where they do not agree."""
    before, now = folder.evaluation(), plan.evaluation
    if before is None:
        return now.model_copy()
    _require_same(folder.path, before, now)
    known = {row.name for row in before.rows}
    repeats = max(now.repeats, before.repeats)
    ids = {*now.items, *before.items}
    items = [item.id for item in repeated(plan.loaded.items, repeats) if item.id in ids]
    limits: dict[str, object] = {"limit": None, "sample": None, "shard": None}
    for one in (before, now):  # a command that took all of them says how
        if {*items} == {*one.items}:
            limits = {"limit": one.limit, "sample": one.sample, "shard": one.shard}
    return before.model_copy(
        update={
            **limits,
            "title": now.title or before.title,
            "missing": [*dict.fromkeys([*before.missing, *now.missing])],
            "data": now.data,
            "items": items,
            "repeats": repeats,
            "rows": [*before.rows, *(row for row in now.rows if row.name not in known)],
            "demonstration": before.demonstration or now.demonstration,
            "ended": None,
        }
    )


def _require_same(where: Path, before: Evaluation, now: Evaluation) -> None:
    """InputError where answers would mix that cannot be compared."""
    this = _compared(now)
    for what, value in _compared(before).items():
        if what in this and value != this[what]:
            was, new = ("none" if one is None else one for one in (value, this[what]))
            raise InputError(
                f"{where} was begun with {what} {was}, and this is {new}: give a row another name "
                "in a matrix, or begin another folder (--out)"
            )


def _compared(evaluation: Evaluation) -> dict[str, object]:
    """Return what stays the same in a folder; an address may change."""
    data, judge = evaluation.data, evaluation.judge
    items = "--columns that give items of sha256"
    return {
        "data of sha256": data.sha256,
        "data set": data.name,
        "--cluster": evaluation.cluster,
        "--seed": evaluation.seed,
        "--vote-first": evaluation.vote_first,
        "--judge": judge and bare(judge),
        **({items: data.items_sha256} if data.items_sha256 else {}),  # older folders have none
        **{
            f"row {row.name!r}, its {what}": value
            for row in evaluation.rows
            for what, value in (
                ("method", row.method),
                ("settings", row.settings),
                ("models", {role: bare(spec) for role, spec in row.models.items()}),
            )
        },
    }
