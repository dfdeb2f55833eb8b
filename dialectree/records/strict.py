"""What every part of a record is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Shape = TypeVar("Shape", bound=BaseModel)


class Strict(BaseModel):
    """A record takes the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


def fitting(kind: type[Shape], fields: object) -> Shape:
    """Return ``fields`` as a ``kind``, all of whose fields have defaults.

    A field of another shape counts as absent: a protocol may use the same name otherwise.
    """
    given = fields if isinstance(fields, Mapping) else {}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        odd = {fault["loc"][0] for fault in error.errors()}
        return kind.model_validate({k: v for k, v in given.items() if k not in odd})
