"""Declare a setting, or a field of the input: its type, its bounds, its place in the help."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

from dialectree.protocols.plugins import list_roles
from dialectree.protocols.trust import ADDRESS
from dialectree.system.addresses import public, require_spec
from dialectree.text import suggest_nearest


def _speaker(speaker: object) -> object:
    """Return a spec without blanks, or a live model; refuse everything else."""
    if isinstance(speaker, str):
        if speaker.startswith("live:"):
            raise ValueError("the run did not keep its live model; give a model")
        return require_spec(speaker)[0]
    core = sys.modules.get("langchain_core.runnables")
    if core is None or not isinstance(speaker, core.Runnable):
        raise ValueError("a model is a text such as openai:NAME, or a live model")
    return speaker


def _jurors(models: object) -> object:
    if isinstance(models, str) and "://" in models:
        raise ValueError("several models with addresses are given as a list, not as one text")
    model_names = models.split(",") if isinstance(models, str) else models
    if isinstance(model_names, list) and "me" in model_names:
        raise ValueError("a person cannot be one of several judges; a person judges alone")
    return model_names


_LISTED = 20
"""Most roles that a message lists, the most similar first."""


def require_role(name: str) -> str:
    """Return ``name`` if an installed protocol has a role of that name; else raise ValueError."""
    roles = list_roles()
    if name not in roles:
        near = get_close_matches(name, roles, n=len(roles))
        listed = [*dict.fromkeys([*near, *roles])]
        role_names = ", ".join(listed[:_LISTED])
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        suggestion = suggest_nearest(name, roles) or ";"
        raise ValueError(f"no method has such a role{suggestion} known: {role_names}{more}")
    return name


Speaker = Annotated[Any, AfterValidator(_speaker), ADDRESS, WithJsonSchema({"type": "string"})]
"""A spec such as ``openai:NAME@URL``, or a live LangChain chat model, also with ``.bind()`` or
``.with_fallbacks()``. A live model keeps its own decoding. Switch off its retries: dialectree
retries, too."""
Jury = Annotated[list[Speaker], BeforeValidator(_jurors)]
"""Models that judge side by side; a text separates them with commas."""


def _read_options(values: object) -> object:
    """Return fields of a request; texts that are JSON are parsed, other texts stay as they are."""
    if not isinstance(values, Mapping):
        return values
    fields: dict[str, Any] = {}
    for name, value in values.items():
        if not _FIELD.fullmatch(str(name)):
            raise ValueError(f"{str(name)[:40]!r} is not a field name")
        if name in _OUR_FIELDS:
            raise ValueError(f"{name}: the program sets it itself")
        if isinstance(value, str):
            with suppress(ValueError):
                value = json.loads(value)
        fields[str(name)] = value
    return fields


_FIELD = re.compile(r"[A-Za-z_]\w{0,63}")
_OUR_FIELDS = frozenset(
    ("model", "messages", "stream", "stream_options", "n", "seed", "response_format", "tools")
)
ModelOptions = Annotated[dict[str, JsonValue], BeforeValidator(_read_options)]
"""Fields of every request to a model, by the provider's names for them."""
PromptForm = Literal["auto", "small", "medium", "full"]
Unit = Annotated[float, Field(ge=0, le=1)]
Price = Annotated[tuple[float, ...], Field(min_length=2, max_length=3)]


def prices_by_model(prices: Mapping[str, Price]) -> dict[str, Price]:
    """Return prices by model, without the models' addresses; raise ValueError if a model gets two prices."""
    by_model: dict[str, Price] = {}
    for name, price in prices.items():
        model = public(name.partition("@http")[0])
        if by_model.setdefault(model, price) != price:
            raise ValueError(f"{model} has two prices; give one price a model, for all its addresses")
    return by_model


def option(
    default: Any = ...,
    *,
    group: str = "",
    common: bool = False,
    positional: bool = False,
    alias: str = "",
    metavar: str = "",
    hidden: bool = False,
    evaluation_only: bool = False,
    operator: bool = False,
    code: bool = False,
    person: bool = False,
    jury_of: str = "",
    choices: Mapping[str, str] | None = None,
    before: Any = None,
    **constraints: Any,
) -> Any:
    """Declare a setting or a field of the input; write its docstring below it.

    ``constraints`` are those of ``pydantic.Field`` (ge, le, min_length ...). ``group`` is the
    setting's heading in the help, and ``common`` puts the setting among the first. ``alias`` is its
    flag, if the flag differs from the name, and ``metavar`` the placeholder of its value. ``hidden``
    keeps it out of the help; ``evaluation_only`` (the right answer) also out of forms and tools.
    ``operator`` marks a setting for the person who runs the program: a server's form does not show
    it. ``code`` marks an operator's setting that names code or a model to load: dialectree.toml and
    recorded runs cannot set it. ``person`` marks a setting that lets a person take part, and
    ``jury_of`` a list of models that play the named role side by side. ``choices`` says in words
    what each value means, for forms; ``title`` is the setting's name there. ``before`` is the value
    for runs that were recorded before the setting existed.
    """
    about = {
        "group": group,
        "common": common,
        "positional": positional,
        "alias": alias,
        "metavar": metavar,
        "hidden": hidden,
        "evaluation_only": evaluation_only,
        "operator": operator,
        "code": code,
        "person": person,
        "jury_of": jury_of,
        "choices": choices,
    }
    extra: dict[str, Any] = {name: value for name, value in about.items() if value}
    if before is not None:
        extra["before"] = before
    if "default_factory" in constraints:
        return Field(json_schema_extra=extra, **constraints)
    return Field(default, json_schema_extra=extra, **constraints)


def get_option_details(settings: type[BaseModel], name: str) -> Mapping[str, Any]:
    """Return what :func:`option` declared of a field, without type and constraints."""
    extra = settings.model_fields[name].json_schema_extra
    return extra if isinstance(extra, Mapping) else {}


@lru_cache(maxsize=256)
def juries(kind: type[BaseModel]) -> dict[str, str]:
    """Return the settings that list the models of a jury, by the jury's role."""
    played = {name: get_option_details(kind, name).get("jury_of") for name in kind.model_fields}
    return {role: name for name, role in played.items() if role}


class ProtocolInput(BaseModel):
    """Declare the user's input: a question and its details. Each field needs a docstring."""

    model_config = ConfigDict(
        extra="forbid",
        use_attribute_docstrings=True,
        arbitrary_types_allowed=True,
        coerce_numbers_to_str=True,
        defer_build=True,
    )
    grounded: ClassVar[bool] = False
    """True if the input has sources that debaters argue from."""
