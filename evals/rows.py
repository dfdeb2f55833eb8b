"""A row that can be run: its method, its settings made whole, and what it must not differ in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialectree import chance
from dialectree.conduct import speakers
from dialectree.context import EMBEDDED, Context, build
from dialectree.errors import InputError, SettingsError
from dialectree.evals.items import Item, Task
from dialectree.evals.matrix import Models, Written, over
from dialectree.evals.results import Row, bare
from dialectree.graphs import METHODS, Method
from dialectree.own_settings import PERSONS, own_roles, require_read, with_leaves
from dialectree.roles import FAMILIES, ROLES

PROTOCOLS: Mapping[Task, str] = {
    "answer": "tsd",
    "decide": "rsd",
    "verify": "art",
    "compare": "tod",
}
_ITEMS: Mapping[Task, str] = {
    "answer": "questions without options",
    "decide": "questions with options",
    "verify": "claims",
    "compare": "pairs of papers",
}
BUDGETS = ("max_calls", "max_tokens", "max_seconds", "max_cost")


@dataclass(frozen=True)
class Ready:
    """A row of the matrix, ready to be asked questions."""

    row: Row
    method: Method
    context: Context
    """Without budgets: these are the evaluation's, not a question's."""
    slots: int
    """Requests that its models take at once."""
    demonstration: bool

    def of_repeat(self, repeat: int) -> Ready:
        """Return the row as it asks a repeat: the first by the run's seed, others by their own."""
        if not repeat:
            return self
        seed = chance.seed(self.context.seed, "repeat", repeat)
        return replace(self, context=self.context.model_copy(update={"seed": seed}))

    def gold(self, item: Item) -> str | None:
        """The gold answer, for the one kind of debater that is given it."""
        return item.reference.gold if needs_gold(self.method, self.context) else None


def needs_gold(method: Method, context: Context) -> bool:
    """True where a debater holds the gold answer, and where it is one of only two options."""
    return method.protocol == "rsd" and context.candidates in ("oracle", "balanced")


def ready(
    rows: Sequence[Written], task: Task, given: Mapping[str, Any], where: str = "--methods"
) -> list[Ready]:
    """Rows made whole with what the command line gives; InputError where one fits not."""
    _require_roles(rows, given, where)
    made = [_ready(row, task, given, where) for row in rows]
    readers: dict[str, frozenset[str]] = {}
    for one in made:  # rows of one method may differ in what settles their leaves
        before = readers.get(one.method.name, frozenset())
        readers[one.method.name] = before | _own(one.method, one.context)
    require_read(given, readers)
    seen: dict[str, str] = {}
    for one in made:
        same = one.row.model_copy(update={"name": ""}).model_dump_json()
        if same in seen:
            raise InputError(f"{where}: {seen[same]!r} and {one.row.name!r} are the same")
        seen[same] = one.row.name
    return made


def _ready(written: Written, task: Task, given: Mapping[str, Any], where: str) -> Ready:
    method = METHODS[written.method]
    if method.protocol != PROTOCOLS[task]:
        fitting = ", ".join(m.name for m in METHODS.values() if m.protocol == PROTOCOLS[task])
        raise InputError(
            f"{where}: {method.name} does not {task}; the methods for {_ITEMS[task]}: {fitting}"
        )
    called = f"{where}: row {written.name!r}"
    try:
        whole = _lent(build(**_merged(written, method, given)), written, method)
        _require_own(written, method, whole, called)
        specs = speakers(method, whole)  # and every model has a price where --max-cost is given
    except SettingsError as error:
        raise SettingsError(f"{called}: {error}") from None
    kept = whole.model_dump(mode="json", include=whole.model_fields_set)
    own = _own(method, whole)
    row = Row(
        name=written.name,
        method=method.name,
        settings={name: value for name, value in sorted(kept.items()) if name in own},
        models={role: spec.address for role, spec in specs.items()},
    )
    local = all(spec.provider == "local" for spec in specs.values())
    return Ready(
        row,
        method,
        whole.model_copy(update=dict.fromkeys(BUDGETS)),
        min(whole.concurrency, 2) if local else whole.concurrency,
        any(spec.name == EMBEDDED for spec in specs.values()),
    )


def _own(method: Method, context: Context) -> frozenset[str]:
    """The settings that mean something to ``method``."""
    return with_leaves(method, context) - PERSONS


def _require_own(written: Written, method: Method, context: Context, called: str) -> None:
    own = _own(method, context)
    if other := sorted(set(written.settings) - own):
        known = ", ".join(sorted(own))
        raise InputError(f"{called}: {other[0]} is no setting of {method.name}; known: {known}")
    alone = method.name in ("self_consistency", "judge_alone")
    if alone and needs_gold(method, context) and context.distractor == "model":
        raise InputError(
            f"{called}: distractor=model: only a debate asks a model for it; use first or random"
        )
    if context.judge == "me":
        raise InputError(f"{called}: judge=me: in an evaluation nobody is there to rule")


def _merged(written: Written, method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says goes before what the command line gives to all of them."""
    models: dict[str, Any] = {"model": given["model"]} if "model" in given else {}
    models |= over(_own_models(written), given.get("roles", {}))
    known = {*method.roles, *(FAMILIES[role] for role in method.roles if role in FAMILIES)}
    known |= {name for name in models if name.rpartition("_")[0] in known}  # one speaker of two
    lenders = set(_lenders(written, method).values())
    known |= lenders | {FAMILIES[role] for role in lenders if role in FAMILIES}
    others = {name for name in models if name in ROLES} - known
    roles = {name: spec for name, spec in models.items() if name not in others | {"model"}}
    settings = {**given, **written.settings, "roles": roles}
    return {**settings, "model": models["model"]} if "model" in models else settings


def _own_models(written: Written) -> Models:
    """The models that a row names itself: the others it takes from another role."""
    return {role: spec for role, spec in written.models.items() if spec not in ROLES}


def _lenders(written: Written, method: Method) -> Models:
    """By role, the role whose model it takes where nothing gives it one of its own."""
    models = written.models
    return {role: models[role] for role in method.roles if models.get(role) in ROLES}


def _lent(context: Context, written: Written, method: Method) -> Context:
    """With the models that roles take from other roles, and without those who only lend them."""
    lenders = _lenders(written, method)
    if not lenders:
        return context
    taken = {role: context.speaker(lender) for role, lender in lenders.items()}
    own = {role: spec for role, spec in context.roles.items() if role in own_roles(method, context)}
    return context.model_copy(update={"roles": {**taken, **own}})


def _require_roles(rows: Iterable[Written], given: Mapping[str, Any], where: str) -> None:
    """A role that no method knows is a misspelt one."""

    def wrong(models: Models) -> list[str]:
        return sorted(n for n in models if n != "model" and n not in ROLES)

    for row in rows:
        if unknown := wrong(row.models):
            raise InputError(f"{where}: row {row.name!r}: there is no role {unknown[0]!r}")
    if unknown := wrong(given.get("roles", {})):
        raise InputError(f"--role {unknown[0]}: no method has such a role")


def require_gold(rows: Iterable[Ready], items: Iterable[Item]) -> None:
    """InputError where a debater should hold the gold answer and an item has none."""
    without = next((item.id for item in items if item.reference.gold is None), None)
    for row in rows:
        if without is not None and needs_gold(row.method, row.context):
            raise InputError(
                f"row {row.row.name!r}: candidates {row.context.candidates} need the gold answer, "
                f"and item {without!r} has none"
            )


def require_same_rows(where: object, before: Iterable[Row], now: Iterable[Row]) -> None:
    """InputError where a row would go on with other settings or models than it was begun with."""
    known = {row.name: row for row in before}
    for row in now:
        old = known.get(row.name)
        if old is None:
            continue
        for what, first, second in (
            ("method", old.method, row.method),
            ("settings", old.settings, row.settings),
            ("models", _names(old.models), _names(row.models)),
        ):
            if first != second:
                raise InputError(
                    f"{where}: row {row.name!r} was begun with {what} {first} and has {second} "
                    "now: give it another name in a matrix, or begin another folder (--out)"
                )


def _names(models: Mapping[str, str]) -> dict[str, str]:
    return {role: bare(spec) for role, spec in models.items()}
