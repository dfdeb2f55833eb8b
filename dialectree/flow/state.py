"""Define the state that protocols share: a question goes in, a ruling comes out.

The state is plain data only, so that a saved run always loads. A protocol extends :class:`Debate`
with its own fields, in ``nodes/<protocol>/state.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class Question(TypedDict):
    """The question to a protocol."""

    question: str
    """The question in the user's own words."""


class _VerdictSchema:
    """Writes the schema of a verdict only on request: declaring a state does not need it."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema, with the schemas of the verdict's parts inline."""
        from dialectree.records import Verdict

        verdict_schema = Verdict.model_json_schema()
        parts, fields = verdict_schema.pop("$defs"), verdict_schema["properties"]
        fields["grounds"]["items"] = parts["Ground"]
        fields["calibrated"]["anyOf"][0] = parts["Calibrated"]
        return verdict_schema


VerdictFields = Annotated[dict[str, Any], _VerdictSchema()]
"""A :class:`dialectree.records.Verdict` as plain data, its ``model_dump()``."""


class Ruling(TypedDict):
    """The verdict that a protocol returns."""

    verdict: VerdictFields
    run_id: NotRequired[str]
    """The id of the run, by which its record is shown and contested."""


class Hosted(Ruling):
    """The fields of a run in a host's thread; a run of our own has a folder instead."""

    run: dict[str, Any] | None
    """The ``id`` of the run, its ``settings`` as in a record, without secrets, and the names of the
    host's settings that are ``ignored``."""
    record: dict[str, Any] | None
    """The finished record, as in run.json."""


class Debate(Question, Ruling):
    """The fields that all protocols share, from question to ruling."""


class Answering(Debate):
    """The state of a baseline whose answer is one reply."""

    failed: bool
    """True when that reply failed for good."""
