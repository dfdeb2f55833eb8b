"""Read settings from the environment and dialectree.toml, and say where a wrong value came from.

A setting has the first value that is found: the value given, the environment, ``dialectree.toml`` in
the working folder, the default. In the environment and the file, a name can set every protocol that
has the setting (``DIALECTREE_MAX_DEPTH``, ``max_depth``). A name for one protocol
(``DIALECTREE_TSD_MAX_DEPTH``, ``max_depth`` in the table ``[tsd]``) goes first. Only this module reads
the environment.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_origin

from platformdirs import user_cache_path
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from dialectree.errors import SettingsError
from dialectree.protocols.plugins import setting_names
from dialectree.text import add_value, suggest_nearest

PREFIX = "DIALECTREE_"
FILE = "dialectree.toml"
CACHE_DIR = f"{PREFIX}CACHE_DIR"
CACHE_URL = f"{PREFIX}CACHE_URL"
CACHE_HINT = f"use `cache=False`, or point {CACHE_URL} at a database that answers"
"""Advice for when the database of the reply cache fails."""
_TABLES = ("roles", "prices", "model_options")
"""Settings that are tables of named values."""
RUNS = f"{PREFIX}RUNS"
CHECKPOINTS = f"{PREFIX}CHECKPOINTS"
SERVER_KEYS = f"{PREFIX}SERVER_KEYS"
SERVER_KEYS_FILE = f"{PREFIX}SERVER_KEYS_FILE"
MCP_KEY = f"{PREFIX}MCP_KEY"
TRACE = f"{PREFIX}TRACE"
ALLOW_URLS = f"{PREFIX}ALLOW_URLS"
ALLOW_MODELS = f"{PREFIX}ALLOW_MODELS"
_SERVER = (RUNS, CHECKPOINTS, SERVER_KEYS, SERVER_KEYS_FILE, MCP_KEY, ALLOW_URLS, ALLOW_MODELS)
_NO_SETTINGS = (CACHE_DIR, CACHE_URL, TRACE, *_SERVER)
"""Variables that are not settings, so that a server's clients cannot set them."""


def read_configuration(protocol: str, fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return the values of ``fields`` in environment and file, for the ``protocol``."""
    return over(from_environment(protocol, fields), _from_file(protocol, fields))


def over(nearer: Mapping[str, Any], farther: Mapping[str, Any]) -> dict[str, Any]:
    """Return both mappings merged: ``nearer`` goes first, and two tables of one name are merged."""
    both = {**farther, **nearer}
    for name in farther.keys() & nearer.keys():
        if isinstance(farther[name], Mapping) and isinstance(nearer[name], Mapping):
            both[name] = {**farther[name], **nearer[name]}
    return both


def from_environment(protocol: str, fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return the settings that ``DIALECTREE_...`` variables give."""
    values: dict[str, Any] = {}
    unknown = []
    for variable, text in sorted(_variables().items(), key=lambda item: -len(item[0])):
        name = variable[len(PREFIX) :].lower()
        setting_name = name.removeprefix(f"{protocol}_")
        if setting_name in fields:  # sorted by length, so that a name with the protocol goes first
            values.setdefault(setting_name, _parse_variable(variable, text, fields[setting_name]))
        elif variable not in _NO_SETTINGS:
            unknown.append(variable)
    if unknown:
        _require_known(unknown)
    return values


def _variables() -> dict[str, str]:
    upper = ((name.upper(), text) for name, text in os.environ.items())
    return {name: text for name, text in upper if name.startswith(PREFIX)}


def _parse_variable(variable: str, text: str, field: FieldInfo) -> object:
    """Return the value of a variable; several values are written in JSON."""
    if get_origin(field.annotation) not in (dict, list, tuple):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise SettingsError(f"{variable} cannot be read: write its value as JSON") from None


def _from_file(protocol: str, fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    try:
        text = Path(FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{FILE} cannot be read: {error}") from None
    try:
        configuration = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{FILE} cannot be read: {error}") from None
    table = configuration.pop(protocol, {}) if protocol not in fields else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{FILE}, {protocol}: this must be a table of settings")
    if unknown_names := [name for name in configuration if name not in fields]:
        _require_known_in_file(configuration, unknown_names)
    for name in table:
        if name not in fields:
            raise SettingsError(f"{FILE}, {protocol}.{name}: {no_such(name, fields)}")
    values = {**{name: value for name, value in configuration.items() if name in fields}, **table}
    for name in values:
        if isinstance(extra := fields[name].json_schema_extra, dict) and extra.get("code"):
            only = f"a flag, {PREFIX}{name.upper()} or a program"
            raise SettingsError(f"{FILE}, {name}: only {only} may name code to run; take it out")
    return values


def _require_known(variables: Iterable[str]) -> None:
    """Raise SettingsError for an unknown variable: a misspelt limit must not go unnoticed."""
    names = [name.removeprefix(PREFIX) for name in _NO_SETTINGS]
    for protocol, settings in setting_names().items():
        names += [name.upper() for name in settings]
        names += [f"{protocol}_{name}".upper() for name in settings]
    for variable in variables:
        name = variable[len(PREFIX) :]
        if name not in names:
            raise SettingsError(f"{variable}: {no_such(name, names, PREFIX)}")


def _require_known_in_file(configuration: Mapping[str, object], names: Iterable[str]) -> None:
    """Raise SettingsError for a name that is neither a setting nor a table of any protocol."""
    protocols, settings = setting_names(), list_all_setting_names()
    for name in names:
        if name in protocols and isinstance(configuration[name], dict):
            continue  # the settings of another protocol
        if name not in settings:
            raise SettingsError(f"{FILE}, {name}: {no_such(name, [*settings, *protocols])}")


def list_all_setting_names() -> set[str]:
    """Return the names of all settings of the installed protocols."""
    return {name for names in setting_names().values() for name in names}


def no_such(name: str, valid_names: Iterable[str], prefix: str = "") -> str:
    """Return the message that refuses the setting ``name``, with the most similar name."""
    return f"there is no such setting{suggest_nearest(name, valid_names, prefix)}"


def lines(
    error: ValidationError, explicit_names: Container[str], protocol: str, valid_names: Iterable[str] = ()
) -> Iterator[str]:
    """Yield one line for each wrong setting: where it was set, and the fault."""
    reported_names: set[str] = set()
    for fault in error.errors(include_url=False, include_context=False):
        if not fault["loc"]:  # raised by a validator of the whole model
            yield fault["msg"].removeprefix("Value error, ")
            continue
        top, *rest = map(str, fault["loc"])
        if fault["type"] == "extra_forbidden":
            yield f"{top}: {no_such(top, valid_names)}"
        elif top not in reported_names:
            message = fault["msg"].removeprefix("Value error, ")
            if "[key]" not in rest:
                message = add_value(message, f"{fault['input']!r:.80}")
            where = source(top, rest, explicit_names, protocol)
            yield f"{where}: {message[:1].lower()}{message[1:]}"
        reported_names.add(top)


def source(name: str, rest: list[str], explicit_names: Container[str], protocol: str) -> str:
    """Return the source of a setting's value: the first place, in order of precedence, that sets it."""
    entry = rest[0] if name in _TABLES and rest else None
    if name in explicit_names:
        return f"`{name}`" if entry is None else f"`{name}` {entry}"
    variables = _variables()
    for variable in (f"{PREFIX}{protocol}_{name}".upper(), f"{PREFIX}{name}".upper()):
        if variable in variables:
            return variable if entry is None else f"{variable}, {entry}"
    return f"{FILE}, {name}" if entry is None else f"{FILE}, {name}.{entry}"


def by_protocol(values: object) -> object:
    """Return settings of debates inside by protocol; a key may be written ``rsd.judge``."""
    if not isinstance(values, Mapping):
        return values
    nested: dict[str, Any] = {}
    for path, value in values.items():
        name, dot, setting = str(path).partition(".")
        protocol_settings = nested.setdefault(name, {})
        inner = {setting: value} if dot else value
        if not isinstance(protocol_settings, dict) or not isinstance(inner, Mapping):
            raise ValueError(f"{path}: write PROTOCOL.SETTING=VALUE")
        for key, entry in inner.items():
            first, dot, _ = str(key).partition(".")
            if dot:  # a setting of a debate inside that debate
                protocol_settings.setdefault("inner", {})[key] = entry
            else:
                protocol_settings[first] = entry
    return nested


def stamp() -> object:
    """Return a value that changes with environment or file; it is cheap, because nodes call it often."""
    try:
        file = os.stat(FILE)
    except OSError:
        return _variables(), None
    return _variables(), (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns)


def cache_folder() -> Path:
    """Return the folder of the reply cache: DIALECTREE_CACHE_DIR, or the user's cache folder.

    The folder is not a setting, because a server's clients can send settings.
    """
    folder = os.environ.get(CACHE_DIR)
    return Path(folder) if folder else user_cache_path("dialectree")


def cache_url() -> str | None:
    """Return the address of the database that holds the reply cache, or None for a file.

    The address is not a setting either, and it is never recorded: it may contain a password.
    """
    return os.environ.get(CACHE_URL) or None


def runs_folder() -> Path | None:
    """Return the folder of runs that DIALECTREE_RUNS names, or None."""
    folder = os.environ.get(RUNS)
    return Path(folder) if folder else None


class DefaultRuns(str):
    """The default of ``runs``. Its type shows that the caller did not name the folder."""


DEFAULT_RUNS = DefaultRuns("runs")


def runs_home(runs: str | Path = DEFAULT_RUNS) -> Path:
    """Return the folder of all runs: the caller's, DIALECTREE_RUNS, or ``runs``."""
    return (isinstance(runs, DefaultRuns) and runs_folder()) or Path(runs)


def threads_file() -> Path:
    """Return the file of a server's threads: DIALECTREE_CHECKPOINTS, or one next to LangGraph's own."""
    return Path(os.environ.get(CHECKPOINTS) or ".langgraph_api/checkpoints.sqlite")


def server_keys() -> tuple[str | None, str | None]:
    """Return the keys of a server's clients, and the file with more keys."""
    return os.environ.get(SERVER_KEYS), os.environ.get(SERVER_KEYS_FILE)


def read_allow_list(variable: str) -> list[str]:
    """Return the entries of ALLOW_URLS or ALLOW_MODELS: what a server's clients may name."""
    entries = (entry.strip().rstrip("/") for entry in os.environ.get(variable, "").split(","))
    return [entry.removeprefix("local:") for entry in entries if entry]


def trace_redacted() -> bool:
    """Return whether DIALECTREE_TRACE keeps texts out of traces."""
    mode = os.environ.get(TRACE) or "full"
    if mode not in ("full", "redacted"):
        raise SettingsError(f"{TRACE} must be full or redacted, not {mode}")
    return mode == "redacted"


def endpoint_from_environment() -> tuple[str | None, str | None]:
    """Return the key and the address in the environment, by the OpenAI convention."""
    return os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
