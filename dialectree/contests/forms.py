"""The replies that a contest may change, as the forms in which they must come."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from dialectree.errors import InputError
from dialectree.protocol import phase_of
from dialectree.records import Node, RunRecord, Turn
from dialectree.report import exchange


def form(protocol: str, turn: Turn) -> type[BaseModel] | None:
    """Return the class of the reply that ``turn`` was; None where none is declared."""
    phase = phase_of(protocol, turn.role, turn.stage)
    known = phase.replies() if phase is not None else []
    return next((kind for kind in known if kind.model_fields.keys() == turn.fields.keys()), None)


def changed(
    protocol: str, turn: Turn, change: Mapping[str, object], flag: str
) -> dict[str, JsonValue]:
    """Return the reply of ``turn`` with ``change``; InputError where no model could say so."""
    kind = form(protocol, turn)
    assert kind is not None  # whoever changes a turn has looked
    try:
        said = kind.model_validate({**turn.fields, **change})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        what = str(fault["msg"]).lower().replace("string should have", "it may have")
        raise InputError(f"{flag}: {'.'.join(map(str, fault['loc']))}: {what}") from None
    reply: dict[str, JsonValue] = said.model_dump(mode="json")
    return reply


def labels(record: RunRecord, node: Node) -> dict[str, str]:
    """The answers that were debated last at ``node``, by the labels that its judge knows."""
    debates = exchange.exchanges(record, node)
    sides = debates[-1].sides if debates else []
    return {side.letter: side.answer for side in sides if side.letter}
