"""Make flags from declared fields: settings, and the input of a protocol.

A flag that is not given stays None, so that the environment and dialectree.toml can set it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from itertools import chain, zip_longest
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel

from dialectree.errors import SettingsError
from dialectree.interfaces.cli import streams
from dialectree.interfaces.cli.help_groups import RARE
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import load_protocols
from dialectree.protocols.settings import SHARED, ProtocolSettings
from dialectree.protocols.sources import RUNS

if TYPE_CHECKING:
    from dialectree.records.estimate import Estimate

Command = Callable[..., None]
Runs = Annotated[Path, typer.Option(help="Folder of the runs.", metavar="DIR", envvar=RUNS)]
Json = Annotated[bool, typer.Option("--json", help="Print the record as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the estimate, and make no call.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before many calls.")]


def print_estimate(expected: Estimate, *, json: bool) -> None:
    """Print the estimate of a dry run."""
    print(expected.model_dump_json(indent=1) if json else expected)


_OF_ITS_RUN = ("Draws and replays", "Calibration")
MODELS_AND_LIMITS = tuple(
    name for name in SHARED if get_option_details(ProtocolSettings, name)["group"] not in _OF_ITS_RUN
)
NAMED_AGAIN: tuple[tuple[type[BaseModel], str], ...] = (
    *((ProtocolSettings, name) for name in MODELS_AND_LIMITS),
    (GroundedSettings, "retriever"),
    (GroundedSettings, "rerank"),
    (GroundedSettings, "reader"),
)
"""The settings to give again when a run goes on. Code that only the record names is not run."""


def parameter(kind: type[BaseModel], name: str, help_text: str = "", heading: str = "") -> inspect.Parameter:
    """Return the command's parameter for one field: an argument or a flag.

    ``help_text`` replaces the field's own description. ``heading`` is the heading in the help of
    settings that only some protocols have.
    """
    field, declared = kind.model_fields[name], get_option_details(kind, name)
    value, required = _value(field.annotation), field.is_required()
    text, metavar = help_text or help_of(kind, name), declared.get("metavar")
    parameter_info: Any
    if declared.get("positional"):
        parameter_info = typer.Argument(help=text, metavar=metavar or name.upper())
    else:
        flag = _flag(kind, name)
        if field.default is True:
            flag = f"{flag}/--no-{flag.removeprefix('--')}"
        hidden, panel = bool(declared.get("hidden")), _heading(kind, name, heading)
        parameter_info = typer.Option(flag, help=text, metavar=metavar, hidden=hidden, rich_help_panel=panel)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[value if required else value | None, parameter_info],
    )


def _heading(kind: type[BaseModel], name: str, heading: str) -> str | None:
    """Return the heading of a flag in the help; None for the common flags, which come first."""
    declared = get_option_details(kind, name)
    if not issubclass(kind, ProtocolSettings):
        return RARE if declared.get("evaluation_only") else None
    if name not in SHARED:
        return heading or (f"Settings of {kind.protocol}" if kind.protocol else str(declared["group"]))
    return None if declared.get("common") else str(declared["group"])


def _flag(kind: type[BaseModel], name: str) -> str:
    return f"--{get_option_details(kind, name).get('alias') or name.replace('_', '-')}"


def in_flags(message: str) -> str:
    """Return ``message`` with the flag ``--max-depth`` in place of the field ``max_depth``.

    Messages of other modules name fields, in backticks.
    """
    kinds = [kind for protocol in load_protocols().values() for kind in (protocol.settings, protocol.input)]
    declared = {name: _flag(kind, name) for kind in kinds for name in kind.model_fields}

    def format_flag(field: re.Match[str]) -> str:
        flag = declared.get(field[1], f"--{field[1].replace('_', '-')}")
        return flag.replace("--", "--no-") if field[2] else flag

    # Foreign words, such as an endpoint's, are between “ and ”.
    parts = re.split(r"(“[^”]*”)", message)
    ours = (re.sub(r"`([a-z_]+)(=False)?`", format_flag, part) for part in parts[::2])
    return "".join(chain.from_iterable(zip_longest(ours, parts[1::2], fillvalue="")))


def notice(message: str) -> None:
    """Print a line for the person on stderr; see :func:`in_flags`."""
    streams.notice(in_flags(message))


def _value(annotation: Any) -> Any:
    """Return the type that the command line reads for a field, without the None of an unset field."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return annotation
    if origin in (dict, list):
        return list[str]  # NAME=VALUE of a table, can be repeated
    if origin is Annotated:
        return _value(parts[0])
    kinds = [part for part in parts if part is not NoneType]
    if len(kinds) == 1:
        return _value(kinds[0])
    return annotation if annotation in (int, float, bool) else str


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
    heading: str = "",
) -> Callable[[Command], Command]:
    """Give a command a flag for each field; the parameter ``given_as`` gets the fields that are set.

    ``more`` are further parameters of the command, ``help_texts`` replace the descriptions
    of fields, by name, and ``heading`` is the heading of settings that only some protocols have.
    """
    texts = help_texts or {}
    made_of = (parameter(kind, name, texts.get(name, ""), heading) for kind, name in fields)
    more = [*more]
    added = [*more, *made_of]
    reserved_names = {given_as, *(new_parameter.name for new_parameter in more)}

    def decorate(command: Command) -> Command:
        command_parameters = inspect.signature(command, eval_str=True).parameters.values()

        @wraps(command)
        def run(**values: Any) -> None:
            set_here = {}
            for kind, name in fields:
                value = values.pop(name)
                if value is not None and value != []:
                    set_here[name] = _read(kind, name, value)
            command(**values, **{given_as: set_here})

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                *added,
                *(
                    command_parameter.replace(kind=command_parameter.KEYWORD_ONLY)
                    for command_parameter in command_parameters
                    if command_parameter.name not in reserved_names
                    and command_parameter.kind is not command_parameter.VAR_KEYWORD
                ),
            ]
        )
        return run

    return decorate


def settings(*names: str) -> Callable[[Command], Command]:
    """Give a command the flags of shared settings; the parameter ``settings`` gets those that are set."""
    return with_fields(*((ProtocolSettings, name) for name in names))


def format_flag(kind: type[BaseModel], name: str, value: Any) -> list[str]:
    """Return the words of a flag that sets a field to ``value``, as :func:`with_fields` reads it."""
    flag = _flag(kind, name)
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    if isinstance(value, Mapping):
        entries = {key: entry if isinstance(entry, tuple) else (entry,) for key, entry in value.items()}
        texts = [f"{key}={','.join(map(str, entry))}" for key, entry in entries.items()]
    else:
        texts = [*map(str, value)] if isinstance(value, list) else [str(value)]
    return [word for text in texts for word in (flag, text)]


def _read(kind: type[BaseModel], name: str, value: Any) -> Any:
    """Return the value of a field from its flag; ``NAME=VALUE`` becomes a table."""
    if get_origin(kind.model_fields[name].annotation) is not dict:
        return value
    flag, read = _flag(kind, name), _price if name == "prices" else _pair
    table: dict[str, Any] = {}
    for text in value:
        key, entry = read(flag, text)
        if table.setdefault(key, entry) != entry:
            raise SettingsError(f"{flag} {key}: two values; give one")
    return table


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and name.strip() and value.strip()):
        raise SettingsError(f"{flag} {text!r}: write NAME=VALUE")
    return name.strip(), value.strip()


def _price(flag: str, text: str) -> tuple[str, tuple[float, ...]]:
    name, _, value = text.rpartition("=")
    try:
        numbers = tuple(float(part) for part in value.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or len(numbers) not in (2, 3) or min(numbers) < 0:
        raise SettingsError(f"{flag} {text!r}: write SPEC=PROMPT,COMPLETION[,CACHED]: openai:x=0.5,2,0.1")
    return name.strip(), numbers
