"""Show the fields of input to agents and clients."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any

from pydantic import ConfigDict, create_model
from pydantic.fields import FieldInfo

from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import ProtocolInput


def description(field: FieldInfo) -> str:
    """Return a field's docstring in one line, without its remark for the command line."""
    text = " ".join((field.description or "").split())
    return text.replace("; - reads it from standard input", "")


class _AgentInput(ProtocolInput):
    """The input that an agent may give; its fields have descriptions."""

    model_config = ConfigDict(use_attribute_docstrings=False)  # else pydantic reads our sources


@cache
def arguments(input_type: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and hidden fields."""
    input_type.model_rebuild()
    fields: dict[str, Any] = {
        name: (field.annotation, _add_description(field))
        for name, field in input_type.model_fields.items()
        if not (
            get_option_details(input_type, name).get("evaluation_only")
            or get_option_details(input_type, name).get("hidden")
        )
    }
    return create_model(input_type.__name__, __doc__=input_type.__doc__, __base__=_AgentInput, **fields)


def _add_description(field: FieldInfo) -> FieldInfo:
    """Return ``field`` with its :func:`description`."""
    field_copy = copy(field)
    field_copy.description = description(field)
    return field_copy
