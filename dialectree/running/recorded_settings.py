"""Write a run's settings and models into its record, and read them back."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic import JsonValue

from dialectree.errors import InputError, SettingsError
from dialectree.models import specs
from dialectree.models.limits import require_prices
from dialectree.models.local_models import LOCAL_MODELS
from dialectree.models.specs import Spec, resolve
from dialectree.protocols.calibrated_figure import CALIBRATIONS, Calibration
from dialectree.protocols.options import juries
from dialectree.protocols.protocol import Method, inner_settings, load_protocols, protocol
from dialectree.protocols.settings import (
    EMBEDDED,
    SHARED,
    ProtocolSettings,
    RetrievalSettings,
    build_settings,
    read_settings,
)
from dialectree.protocols.sources import list_all_setting_names
from dialectree.protocols.trust import CLIENT, find_marked_fields
from dialectree.records import Call, RunRecord

BUDGETS = ("max_calls", "max_tokens", "max_seconds", "max_cost")
_PACKAGES = ("dialectree", "langgraph", "langchain-core", "langchain-openai", "pydantic")


def dump_settings(context: ProtocolSettings, chosen: Method) -> dict[str, JsonValue]:
    """Return the settings as a record keeps them, with today's defaults.

    Omits settings that the method does not read, and models of other roles.
    """
    recorded = chosen.reads().union(SHARED)
    jurors = recorded.intersection(juries(type(context)).values())
    values: dict[str, JsonValue] = context.model_dump(
        mode="json", include={*recorded} - {"model", "roles", "inner", "replay", "calibration", *jurors}
    )
    if (inside := _inner(context, chosen)) or "inner" in recorded:
        values["inner"] = inside
    roles = chosen.role_names(context)
    values |= {name: names(getattr(context, name)) for name in sorted(jurors)}
    if not values.get("model_options"):
        values.pop("model_options", None)
    if values.get("reader") is None:
        values.pop("reader", None)
    values["model"] = names(context.model)
    values["roles"] = names({name: context.roles[name] for name in roles if name in context.roles})
    return values


def _inner(context: ProtocolSettings, chosen: Method) -> dict[str, JsonValue]:
    """Return the settings of the protocols that debate inside ``chosen``, by protocol."""
    inside: dict[str, JsonValue] = {}
    for name in [] if chosen.variant.baseline else chosen.protocol.holds(context):
        inner_method = protocol(name).methods()[name]
        settings = inner_settings(context, inner_method)
        inner_method = inner_method if chosen.grounded else inner_method.on({})
        everything = dump_settings(settings, inner_method)
        values = {n: everything[n] for n in everything if n in {*inner_method.reads(), "inner"}}
        inside[name] = values
    return inside


def names(speaker: object) -> JsonValue:
    """Return the recorded name of a model, or of each model in a table or a list."""
    if isinstance(speaker, dict):
        return {role: names(value) for role, value in speaker.items()}
    if isinstance(speaker, list):
        return [names(value) for value in speaker]
    return str(speaker) if isinstance(speaker, str) else f"live:{type(speaker).__name__}"


def read_run_settings(
    record: RunRecord, new_settings: Mapping[str, Any], *, in_runs_folder: bool = False
) -> ProtocolSettings:
    """Return the settings of a run with ``new_settings``, and without its budgets.

    ``in_runs_folder`` says if the run is in the current folder of runs.
    """
    kind = protocol(record.protocol).settings
    values = {name: value for name, value in record.settings.items() if name not in BUDGETS}
    if new_settings.get("replay"):
        values.pop("cache", None)  # a run without the cache is replayed from its journal
    lender = f"{record.run_id}/run.json" if record.owner is None else CLIENT
    try:
        return read_settings(kind, values, lender, new_settings, own_run=in_runs_folder)
    except SettingsError as error:
        build_settings(kind, **new_settings)  # raises if the fault is not in the record
        raise SettingsError(f"{record.run_id}/run.json, settings: {error}") from None


def require_models_and_limits(
    settings: Mapping[str, Any], action: str = "a contest keeps the settings of its run"
) -> None:
    """Raise InputError for a setting that would make a different debate."""
    models = {
        name for declaration in load_protocols().values() for name in juries(declaration.settings).values()
    }
    debate_settings = list_all_setting_names() - {*SHARED} - models - _code() | {"seed", "calibration"}
    if refused_settings := sorted(settings.keys() & debate_settings):
        raise InputError(f"`{refused_settings[0]}`: {action} the recorded settings; leave it out")


def _code() -> set[str]:
    """Return the names of the settings that name code, which a record never sets."""
    kinds = [declaration.settings for declaration in load_protocols().values()]
    return {name for kind in kinds for name in find_marked_fields(kind, kind.model_fields, "code")}


def without_models(record: RunRecord, new_settings: Mapping[str, Any]) -> ProtocolSettings:
    """Return settings for a run without models, because its journal has every reply."""
    nobody = make_placeholder_models(protocol(record.protocol).settings, record.settings)
    return read_run_settings(record, {**nobody, **new_settings, "cache": True, "replay": True})


def make_placeholder_models(kind: type[ProtocolSettings], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return placeholders for the models in ``recorded`` settings, for a run that calls no model.

    A jury keeps its number of judges.
    """
    jurors = {name: [EMBEDDED] * len(recorded.get(name, ())) for name in juries(kind).values()}
    inner = {
        name: {**settings_of_inner, **make_placeholder_models(protocol(name).settings, settings_of_inner)}
        for name, settings_of_inner in recorded.get("inner", {}).items()
    }
    for settings_of_inner in inner.values():
        del settings_of_inner["model"], settings_of_inner["roles"]
    return {"model": EMBEDDED, "roles": {}, **jurors, **({"inner": inner} if inner else {})}


def speakers(chosen: Method, context: ProtocolSettings) -> dict[str, Spec]:
    """Return the spec of every role; check specs, prices and addresses.

    Raises MissingPackage for a local model whose packages are not installed, and SettingsError for
    a model file that cannot be used.
    """
    if "embeddings" in chosen.reads() and isinstance(context, RetrievalSettings):
        context.require_embeddings()
    specs = {role: resolve(speaker, context) for role, speaker in chosen.models(context).items()}
    require_prices(context, (spec.name for spec in specs.values()))
    for model in {spec.model for spec in specs.values() if spec.provider == "local"}:
        if not context.replay:  # a replay calls no model
            LOCAL_MODELS.require().require(model)
    return specs


def require_keys(chosen: Method, context: ProtocolSettings) -> None:
    """Raise KeyRefused, which names every missing key, unless each role's model has its key.

    A replay calls no model, so it needs no key.
    """
    if not context.replay:
        specs.require_keys(speakers(chosen, context).values())


def list_role_models(specs: Mapping[str, Spec], before: Mapping[str, str]) -> dict[str, str]:
    """Return the models of every role: those that spoke ``before``, then the current one."""
    models = {role: model.split(", ") for role, model in before.items()}
    return {
        role: ", ".join(dict.fromkeys([*models.get(role, []), spec.address])) for role, spec in specs.items()
    }


def restrict_to_called_roles(models: Mapping[str, str], calls: Iterable[Call]) -> dict[str, str]:
    """Return the entries of ``models`` whose roles made one of ``calls``."""
    called_roles = {name for call in calls for name in (call.role, f"{call.role}_{call.speaker}".lower())}
    return {role: model for role, model in models.items() if role in called_roles}


def calibration(chosen: Method, context: ProtocolSettings, models: Mapping[str, str]) -> list[Calibration]:
    """Return the calibrations for a run from the file in ``context``; empty without a file.

    The record keeps the calibrations, not the path, so that a resumed run reads no file. Raises
    InputError for a file that is not for this run.
    """
    if context.calibration is None:
        return []
    name = chosen.protocol.name
    path = context.calibration.expanduser()
    return CALIBRATIONS.require().calibrations_for(path, name, chosen.name, models)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run depends on."""
    return {"python": platform.python_version(), **{p: version(p) for p in _PACKAGES}}
