"""Make the forms of a server's clients, and check the input of a debate.

A form is the JSON schema of a protocol's settings or of its input, made from its declaration. It
has the protocol's own settings and a few shared ones, each with its heading, and the roles by name.
Settings that only evaluations use are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import TypedDict, get_type_hints

from dialectree.errors import ArgumentError, InputError, fault_line
from dialectree.protocols.sources import list_all_setting_names
from dialectree.text import suggest_nearest

JsonSchema = dict[str, Any]

_SETTING = ("common", "positional", "alias", "metavar", "person", "jury_of")
"""Keys of a field's declaration that only the command line reads."""
_OF_INPUT = ("title", "description", "minItems", "maxItems", "minLength")
MAX_LENGTH = 200_000
"""Most characters of a question, a claim or an option."""


class FormFields(dict[str, Any]):
    """Hold the fields of a form by name; ``in`` is also true for other settings and misspelt names.

    ``langgraph dev`` silently drops from a context all names that are not ``in`` the form. A misspelt name
    has to pass, so that dialectree can refuse it. A setting of another protocol has to pass, so that
    the record names it. A name unlike any setting (``thread_id``) may be a host's.
    """

    def __init__(self, fields: Mapping[str, Any], names: Collection[str]) -> None:
        super().__init__(fields)
        self._known = names

    def __contains__(self, name: object) -> bool:
        return name in list_all_setting_names() or bool(get_close_matches(str(name), self._known, n=1))


def settings_form(declared: Any, schema: JsonSchema) -> JsonSchema:
    """Return ``schema``, which describes the settings of the protocol ``declared``, as clients read it."""
    declared_settings = [*declared.list_declared_settings()] if declared else []
    fields: dict[str, JsonSchema] = schema["properties"]
    order = ["model", "roles", *(name for kind, name in declared_settings if kind is declared.settings)]
    order += [field_name for field_name in fields if field_name not in order and field_name != "inner"]
    baselines = set(declared.only_variants) if declared else set[str]()
    offered_fields = {
        field_name: _strip_setting_keys(fields[field_name])
        for field_name in order
        if field_name in fields and field_name not in baselines and not _is_hidden(fields[field_name])
    }
    if "model" in offered_fields:
        offered_fields["model"].pop("default", None)  # the server's own model is the default
    if declared and "roles" in offered_fields:
        offered_fields["roles"] |= {"properties": _roles(declared)}
    return {**schema, "properties": FormFields(offered_fields, [*fields])}


def _is_hidden(field: JsonSchema) -> bool:
    """Return whether a form leaves out the field."""
    return any(field.get(mark) for mark in ("hidden", "evaluation_only", "operator"))


def _strip_setting_keys(field: JsonSchema) -> JsonSchema:
    """Return a field without the keys that only the command line needs."""
    client_field = {name: value for name, value in field.items() if name not in _SETTING}
    if "description" in client_field:
        client_field["description"] = plain(client_field["description"])
    return client_field


def _roles(declared: Any) -> dict[str, JsonSchema]:
    """Return a field for each role, or family of roles, that can have its own model."""
    names = dict.fromkeys([*declared.roles, *filter(None, declared.roles.values())])
    return {name: {"type": "string", "title": name.replace("_", " ").capitalize()} for name in names}


def plain(text: str) -> str:
    """Return a docstring's text in one line, without markup."""
    text = " ".join(text.replace("``", "").split())
    return text.replace("; - reads it from standard input", "")  # only the command does


def annotate_input(input_type: type[Any], settings: type[BaseModel]) -> type[Any]:
    """Return the input of a graph with the titles and descriptions of the declared input."""
    fields = get_type_hints(input_type, include_extras=True)
    annotated_type = TypedDict(input_type.__name__, fields)  # type: ignore[misc]
    annotated_type.__doc__, annotated_type.__module__ = input_type.__doc__, input_type.__module__
    config = ConfigDict(json_schema_extra=partial(_describe, settings))
    setattr(annotated_type, "__pydantic_config__", config)  # noqa: B010
    return annotated_type


def _describe(settings: Any, schema: JsonSchema) -> None:
    """Fill the form of a graph's input from the declaration of the protocol of ``settings``."""
    declared = settings.declaration
    if declared is None:
        return
    schema |= {"title": declared.title, "description": declared.summary}
    fields: dict[str, JsonSchema] = declared.input.model_json_schema()["properties"]
    for name in [*schema["properties"]]:
        field = fields.get(subject(declared.input) or name if name == "question" else name)
        if field is None:
            continue
        if field.get("evaluation_only"):
            del schema["properties"][name]
        else:
            about = {key: field[key] for key in _OF_INPUT if key in field}
            about["description"] = plain(about.get("description", ""))
            schema["properties"][name] |= about


def subject(kind: type[BaseModel]) -> str | None:
    """Return the name of the field to debate: ``question``, or the first required text.

    A graph always calls it the question; the input may call it a claim or a topic.
    """
    needed = (n for n, field in kind.model_fields.items() if field.is_required() and field.annotation is str)
    return "question" if "question" in kind.model_fields else next(needed, None)


def validate_input(kind: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the input without outer blanks; raise InputError if it does not fit ``kind``."""
    fields = kind.model_fields
    for name in values:
        if name not in fields:
            suggestion = suggest_nearest(name, fields) or ";"
            raise ArgumentError(f"{name}: unknown input{suggestion} known: {', '.join(fields)}")
    tidy_values = {
        name: _tidy_value(values.get(name), name)
        for name, field in fields.items()
        if field.is_required() or values.get(name) is not None
    }
    try:
        return kind.model_validate(tidy_values).model_dump(exclude_none=True)
    except ValidationError as error:
        raise InputError(fault_line(error)) from None


def tidy(text: str, name: str) -> str:
    """Return ``text`` without outer blanks; raise InputError if it is empty or too long."""
    text = text.encode("utf-8", "replace").decode().strip()
    if not text:
        raise InputError(f"the {name} is empty")
    if len(text) > MAX_LENGTH:
        raise InputError(f"the {name} is longer than {MAX_LENGTH:,} characters")
    return text


def _tidy_value(value: object, name: str) -> object:
    if value is None:
        raise ArgumentError(f"the {name} is missing")
    if isinstance(value, str):
        return tidy(value, name)
    if isinstance(value, list | tuple):
        return [_tidy_value(part, f"{name.removesuffix('s')} {n}") for n, part in enumerate(value, 1)]
    return value
