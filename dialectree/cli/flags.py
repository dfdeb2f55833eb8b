"""Flags, made of the fields that are declared: settings, and the input of a protocol.

A flag that is not given stays None, so that the environment and dialectree.toml can speak.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from pydantic import BaseModel

from dialectree.context import ProtocolSettings, about
from dialectree.errors import SettingsError

Value = TypeVar("Value")
Command = Callable[..., None]
Runs = Annotated[Path, typer.Option(help="Folder of the runs.", metavar="DIR")]
Json = Annotated[bool, typer.Option("--json", help="Print the record as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
SHARED = tuple(ProtocolSettings.model_fields)
MODELS_AND_LIMITS = tuple(
    name for name in SHARED if about(ProtocolSettings, name)["group"] in ("Models", "Limits")
)


def parameter(kind: type[BaseModel], name: str, help_text: str = "") -> inspect.Parameter:
    """Return the command's parameter for one field: an argument or a flag.

    ``help_text`` takes the place of the field's own description.
    """
    field, declared = kind.model_fields[name], about(kind, name)
    flag = declared.get("alias") or name.replace("_", "-")
    value, more = _value(field.annotation, name)
    text = help_text or help_of(kind, name)
    options = {"help": text, "metavar": declared.get("metavar"), "hidden": declared.get("hidden")}
    required = field.is_required()
    if declared.get("positional"):
        shown = typer.Argument(help=text, metavar=declared.get("metavar") or name.upper())
    else:
        shown = typer.Option(*_names(value, flag, default=field.default), **{**options, **more})
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[value if required else value | None, shown],
    )


def _names(value: object, flag: str, default: object) -> list[str]:
    """Return how a flag is written; one that is on by default is given to turn it off."""
    if value is bool and default is True:
        return [f"--{flag}/--no-{flag}"]
    return [f"--{flag}"]


def _value(annotation: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Return the type that the command line reads for a field, and what else its flag needs."""
    if get_origin(annotation) is Annotated:
        return _value(get_args(annotation)[0], name)
    if get_origin(annotation) is Literal:
        return _choice(name, *get_args(annotation)), {}
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (dict, Mapping):
        return list[str], {}  # NAME=VALUE, as often as wanted
    if origin is list:
        return list[str], {}
    kinds = [part for part in parts if part is not NoneType]
    if len(kinds) == 1:
        return _value(kinds[0], name)
    return (annotation if annotation in (int, float, bool) else str), {}


def _choice(name: str, *values: str) -> type[StrEnum]:
    return StrEnum(name, list(values))  # type: ignore[return-value]


def help_of(kind: type[BaseModel], name: str) -> str:
    """Return the first sentence of a field's docstring, with the default."""
    text, default = kind.model_fields[name].description or "", kind.model_fields[name].default
    sentence = re.split(r"(?<=\.)\s", " ".join(text.replace("``", "").split()), maxsplit=1)[0]
    sentence = sentence.rstrip(".")
    if isinstance(default, str | int | float) and not isinstance(default, bool):
        return f"{sentence} ({default})."
    return f"{sentence}."


def with_fields(
    *fields: tuple[type[BaseModel], str],
    given_as: str = "settings",
    more: Iterable[inspect.Parameter] = (),
    help_texts: Mapping[str, str] | None = None,
) -> Callable[[Command], Command]:
    """Give a command a flag for each field; it takes those given as the mapping ``given_as``.

    ``more`` are parameters of the command that are made elsewhere, ``help_texts`` take the place
    of descriptions, by name.
    """
    texts = help_texts or {}
    added = [*(parameter(kind, name, texts.get(name, "")) for kind, name in fields), *more]
    made = {given_as, *(one.name for one in more)}
    kinds = {name: kind for kind, name in fields}

    def decorate(command: Command) -> Command:
        own = [
            one
            for one in inspect.signature(command, eval_str=True).parameters.values()
            if one.name not in made
        ]

        @wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in kinds}
            read = {
                name: _read(kinds[name], name, value)
                for name, value in given.items()
                if value is not None and value != []
            }
            command(**values, **{given_as: read})

        positional = [one for one in [*added, *own] if _is_argument(one)]
        rest = [one for one in [*added, *own] if not _is_argument(one)]
        signature = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*positional, *rest)
        ]
        run.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
        return run

    return decorate


def settings(*names: str) -> Callable[[Command], Command]:
    """Give a command the flags of shared settings; it takes those given as ``settings``."""
    return with_fields(*((ProtocolSettings, name) for name in names))


def _is_argument(one: inspect.Parameter) -> bool:
    return any(
        isinstance(part, typer.models.ArgumentInfo)
        for part in getattr(one.annotation, "__metadata__", ())
    )


def _read(kind: type[BaseModel], name: str, value: Any) -> Any:
    """Return the value of a field as its flag gave it; ``NAME=VALUE`` becomes a table."""
    if isinstance(value, StrEnum):
        return str(value)
    if name == "prices":
        return _once("--price", map(_price, value))
    if get_origin(kind.model_fields[name].annotation) is dict:
        flag = f"--{about(kind, name).get('alias') or name.replace('_', '-')}"
        return _once(flag, (_pair(flag, text) for text in value))
    return value


def _once(flag: str, pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Return the pairs by name; SettingsError where a name has two values."""
    values: dict[str, Value] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise SettingsError(f"{flag} {name}: two values; give one")
    return values


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise SettingsError(f"{flag} {text!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _price(text: str) -> tuple[str, tuple[float, ...]]:
    name, _, value = text.rpartition("=")
    try:
        numbers = tuple(float(part) for part in value.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or len(numbers) not in (2, 3) or min(numbers) < 0:
        raise SettingsError(
            f"--price {text!r}: write SPEC=PROMPT,COMPLETION[,CACHED]: openai:x=0.5,2,0.1"
        )
    return name.strip(), numbers
