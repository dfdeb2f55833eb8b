"""Complete the rows of a matrix: each gets its method, all its settings and its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialectree.errors import InputError, SettingsError
from dialectree.evals import tasks
from dialectree.evals.dataset_items import Item, Task
from dialectree.evals.matrix import MatrixEntry, over
from dialectree.evals.results import Row
from dialectree.models.sizes import at_chance
from dialectree.protocols.options import juries
from dialectree.protocols.plugins import list_roles
from dialectree.protocols.protocol import Method, families, follow_routes, load_protocols
from dialectree.protocols.protocol import method as named_method
from dialectree.protocols.settings import SHARED, ProtocolSettings, build_settings
from dialectree.running.recorded_settings import names, speakers
from dialectree.system import chance

BUDGETS = ("max_calls", "max_tokens", "max_seconds", "max_cost")


@dataclass(frozen=True)
class Ready:
    """A row that can be asked questions."""

    row: Row
    method: Method
    context: ProtocolSettings
    """Settings without budgets, since all questions of the evaluation share the budgets."""
    slots: int
    """Requests that the row's models take at once."""
    demonstration: bool

    def of_repeat(self, repeat: int) -> Ready:
        """Return the row with the seed of a repeat; repeat 0 has the evaluation's seed."""
        if not repeat:
            return self
        seed = chance.seed(self.context.seed, "repeat", repeat)
        return replace(self, context=self.context.model_copy(update={"seed": seed}))

    def gold(self, item: Item) -> str | None:
        """Return the gold answer if a debater is given it, else None."""
        return item.reference.gold if self.needs_gold else None

    @property
    def needs_gold(self) -> bool:
        """True if these settings give a debater the gold answer."""
        return tasks.require_declared_evaluation(self.method).given_gold(self.context)


def ready(
    rows: Sequence[MatrixEntry],
    task: Task,
    flags: Mapping[str, Any],
    where: str = "--methods",
    *,
    sources: bool = False,
) -> list[Ready]:
    """Complete rows with the settings of the command line; InputError for a row that does not fit.

    Without ``sources`` in the data, methods have neither a checker nor settings on evidence.
    """
    roles = {*list_roles()}
    for row in rows:
        if unknown := sorted(row.models.keys() - {"model", *roles}):
            raise InputError(f"{where}: row {row.name!r}: there is no role {unknown[0]!r}")
    if unknown := sorted(flags.get("roles", {}).keys() - roles):
        raise InputError(f"--role {unknown[0]}: no method has such a role")
    ready_rows = [_ready(row, task, flags, where, sources) for row in rows]
    _require_read(flags, {ready_row.method.name: ready_row.method for ready_row in ready_rows})
    names: dict[str, str] = {}
    for ready_row in ready_rows:
        same = ready_row.row.model_copy(update={"name": ""}).model_dump_json()
        if same in names:
            raise InputError(f"{where}: {names[same]!r} and {ready_row.row.name!r} are the same")
        names[same] = ready_row.row.name
    return ready_rows


def _ready(entry: MatrixEntry, task: Task, flags: Mapping[str, Any], where: str, sources: bool) -> Ready:
    method = named_method(entry.method).on({"sources": []} if sources else {})
    if method.name not in tasks.methods(task):
        raise InputError(
            f"{where}: {method.name} does not {task}; the methods for {tasks.TASKS[task].items}: "
            f"{', '.join(tasks.methods(task))}"
        )
    place = f"{where}: row {entry.name!r}"
    try:
        _require_own(entry, method, place)
        context = _context(entry, method, flags)
        for name in context.asks():
            raise InputError(f"{place}: {name}: this needs a person; evaluations run without one")
        specs = speakers(method, context)  # and every model has a price where --max-cost is given
    except SettingsError as error:
        raise SettingsError(f"{place}: {error}") from None
    usable_settings = _list_usable_settings(method)
    jurors = {name for name in juries(type(context)).values() if name in context.model_fields_set}
    settings = context.model_dump(mode="json", exclude_unset=True, include={*usable_settings} - jurors)
    settings |= {name: names(getattr(context, name)) for name in jurors}
    row = Row(
        name=entry.name,
        method=method.name,
        settings={name: value for name, value in sorted(settings.items()) if name in usable_settings},
        models={role: spec.address for role, spec in specs.items()},
    )
    local = all(spec.provider == "local" for spec in specs.values())
    return Ready(
        row,
        method,
        context.model_copy(update=dict.fromkeys((*BUDGETS, "calibration"))),
        min(context.concurrency, 2) if local else context.concurrency,
        any(map(at_chance, specs.values())),
    )


def _require_read(flags: Mapping[str, Any], methods: Mapping[str, Method]) -> None:
    """Raise InputError for a setting on the command line that none of the methods reads."""
    protocol_settings = frozenset[str]().union(
        *(protocol.own_settings() for protocol in load_protocols().values())
    )
    read = frozenset[str]().union(*map(_list_usable_settings, methods.values()))
    for name in sorted(protocol_settings.intersection(flags) - read):
        raise InputError(f"--{name.replace('_', '-')}: that is no setting of {', '.join(methods)}")


def _list_usable_settings(method: Method) -> frozenset[str]:
    """Return the settings that mean something to ``method`` in an evaluation."""
    return method.reads() - method.persons()


def _require_own(entry: MatrixEntry, method: Method, place: str) -> None:
    usable_settings = _list_usable_settings(method)
    if unread_settings := sorted(entry.settings.keys() - method.reads()):
        setting_names = ", ".join(sorted(usable_settings))
        raise InputError(
            f"{place}: {unread_settings[0]} is no setting of {method.name}; known: {setting_names}"
        )


def _context(entry: MatrixEntry, method: Method, flags: Mapping[str, Any]) -> ProtocolSettings:
    """Return the settings of a row; a row's own settings override the command line's.

    A row may give a role the name of another role in place of a model. The other role then lends
    its model, unless the command line gives the first role a model. Only models of roles that speak
    or lend are kept.
    """
    lenders = {role: entry.models.get(role, "") for role in method.own_roles()}
    all_roles, of_family = {*list_roles()}, families()
    lenders = {role: lender for role, lender in lenders.items() if lender in all_roles}
    nearer = {role: spec for role, spec in entry.models.items() if spec not in all_roles}
    models: dict[str, Any] = {"model": flags["model"]} if "model" in flags else {}
    models |= over(nearer, flags.get("roles", {}))
    speaking = {*method.own_roles(), *lenders.values()}
    speaking |= {of_family[role] for role in speaking if role in of_family}
    idle = {n for n in models if n in all_roles and not {n, n.rpartition("_")[0]} & speaking}
    roles = {name: spec for name, spec in models.items() if name not in idle | {"model"}}
    everywhere = {"model": models["model"]} if "model" in models else {}
    kind, usable_settings = method.protocol.settings, _list_usable_settings(method)
    read = {name: flags[name] for name in flags if name in usable_settings or name in SHARED}
    context = build_settings(kind, **{**read, **entry.settings, "roles": roles, **everywhere})
    if not lenders:
        return follow_routes(context)
    lent = {role: context.speaker(lender) for role, lender in lenders.items()}
    speaks = method.role_names(context)
    own_models = {role: spec for role, spec in context.roles.items() if role in speaks}
    return follow_routes(context.model_copy(update={"roles": {**lent, **own_models}}))


def require_input(rows: Iterable[Ready], items: Sequence[Item]) -> None:
    """Raise InputError if a row takes none of the items, or lacks a gold answer that it needs.

    If a row takes only some of the items, the questions of the other items fail.
    """
    without = next((item.id for item in items if item.reference.gold is None), None)
    for row in rows:
        if without is not None and row.needs_gold:
            raise InputError(
                f"row {row.row.name!r}: its settings need the gold answer, and item {without!r} has none"
            )
        faults: list[InputError] = []
        for item in items:
            try:
                tasks.graph_input(row.method, item, row.gold(item), row.context)
                break
            except InputError as error:
                faults.append(error)
        else:
            raise InputError(f"row {row.row.name!r}: {faults[0]}")
