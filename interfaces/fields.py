"""Show the fields of input to agents and clients."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any

from pydantic import ConfigDict, create_model
from pydantic.fields import FieldInfo

from dialectree.protocols.options import about
from dialectree.protocols.protocol import ProtocolInput


def description(field: FieldInfo) -> str:
    """Return a field's docstring in one line, without what the command line alone does."""
    text = " ".join((field.description or "").split())
    return text.replace("; - reads it from standard input", "")


class _Shown(ProtocolInput):
    """The input that an agent may give, whose fields come with their descriptions."""

    model_config = ConfigDict(use_attribute_docstrings=False)  # else pydantic reads our sources


@cache
def arguments(given: type[ProtocolInput]) -> type[ProtocolInput]:
    """Return the input that an agent may give: without the right answer and rare parts."""
    given.model_rebuild()
    shown: dict[str, Any] = {
        name: (field.annotation, _described(field))
        for name, field in given.model_fields.items()
        if not (about(given, name).get("evaluation_only") or about(given, name).get("hidden"))
    }
    return create_model(given.__name__, __doc__=given.__doc__, __base__=_Shown, **shown)


def _described(field: FieldInfo) -> FieldInfo:
    """Return ``field`` with its :func:`description`."""
    shown = copy(field)
    shown.description = description(field)
    return shown
