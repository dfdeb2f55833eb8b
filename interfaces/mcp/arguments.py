"""Describe the arguments of each tool, in models whose JSON schemas clients read."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from dialectree.contests.wishes import Change
from dialectree.errors import InputError, fault_line
from dialectree.interfaces.fields import arguments, description
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol
from dialectree.protocols.sources import no_such
from dialectree.protocols.trust import list_address_settings


class Arguments(BaseModel):
    """The arguments of a tool. Unknown names are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def select_set_arguments(self) -> dict[str, Any]:
        """Return the arguments that the client set, without defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class ProtocolArguments(Arguments):
    """The arguments of a protocol's tool; the fields have descriptions."""

    model_config = ConfigDict(use_attribute_docstrings=False)  # else pydantic reads our sources


class RunArguments(Arguments):
    """One run."""

    model_config = ConfigDict(title="Run")

    run_id: str = Field(pattern=r"^\w[\w.-]*$")
    """The run's id, the beginning of it, or `last`."""


class Show(RunArguments):
    """One run, or one node of its tree."""

    model_config = ConfigDict(title="Show")

    node: str | None = None
    """The id of a node, such as 0.1, for its whole transcript."""


class Runs(Arguments):
    """The number of runs."""

    limit: int = Field(20, ge=1, le=200)
    """The most runs to list, the newest first."""


class DebateArguments(Arguments):
    """A call of a tool that debates."""

    model_config = ConfigDict(title="Call")

    tool: str
    """The name of the tool."""
    arguments: dict[str, Any]
    """The arguments of that tool."""


class ContestArguments(RunArguments):
    """Changes to a finished run. The ids are those that the tool `show` prints."""

    model_config = ConfigDict(title="Contest")

    changes: list[Change] = Field(min_length=1)
    """The changes, applied in order."""


def of_protocol(protocol: Protocol) -> type[ProtocolArguments]:
    """Return the arguments of a protocol's tool: its input, method and common settings.

    The server's owner chooses the models, and a person cannot take part.
    """
    input_fields = arguments(protocol.input).model_fields
    settings = {
        name: kind.model_fields[name]
        for kind, name in protocol.list_declared_settings()
        if _is_open_to_clients(get_option_details(kind, name))
        and name not in {*input_fields, *list_address_settings(protocol.settings)}
    }
    fields: dict[str, Any] = {
        name: (field.annotation, _make_client_field(field))
        for name, field in {**input_fields, **settings}.items()
    }
    if protocol.variants:
        text = "The protocol itself, or a baseline or an ablation of it."
        field = Field(protocol.name, description=text)
        fields["method"] = (Literal[tuple(protocol.methods())], field)
    base = ProtocolArguments
    return create_model(protocol.name, __doc__=protocol.summary, __base__=base, **fields)


def _is_open_to_clients(declared: Any) -> bool:
    """Return whether a client may choose a setting with this declaration."""
    return bool(declared.get("common") and declared.get("group") != "Models" and not declared.get("person"))


def _make_client_field(field: FieldInfo) -> FieldInfo:
    """Return a field as a client reads it."""
    client_field = copy(field)
    client_field.description, client_field.json_schema_extra = description(field), None
    return client_field


class _Untitled(GenerateJsonSchema):
    """Makes schemas without titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments or result."""
    return kind.model_json_schema(schema_generator=_Untitled)


def validate_arguments(kind: type[Arguments], values: dict[str, Any]) -> Any:
    """Return ``values`` as ``kind``; raise InputError, in one line, if they do not fit."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        if error.errors()[0]["type"] == "extra_forbidden" and len(where) == 1:
            name = str(where[0])
            raise InputError(f"{name}: {no_such(name, kind.model_fields)}") from None
        raise InputError(fault_line(error)) from None
