"""What an endpoint can do: asked of the endpoint itself, by the smallest call there is."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from dialectree import clock
from dialectree.context import Context
from dialectree.models import replies
from dialectree.models.endpoints import Decoding, FormatRefused, Message, Rung, endpoint
from dialectree.models.replies import Fault
from dialectree.models.specs import resolve


class ProbeReply(BaseModel):
    """A reply that any model should manage."""

    answer: Annotated[str, Field(min_length=1, max_length=40)]


class Probed(NamedTuple):
    """What one small call showed."""

    rung: Rung
    """The way of asking for a structured reply that the endpoint takes."""
    valid: bool
    fault: str
    """Why the reply did not count; empty if it did."""
    seconds: float
    attempts: int


async def probe(context: Context) -> Probed:
    """One call to the model that would be used, on the highest rung that its endpoint takes.

    Raises ModelUnavailable or RequestError as a debate would.
    """
    asked = endpoint(resolve(context.model, context))
    form = replies.form(ProbeReply, {})
    system = f"Reply with one JSON object that fits this JSON Schema:\n{form.text}"
    messages = [Message("system", system), Message("user", "What colour is a clear sky by day?")]
    decoding = Decoding(0.0, 100, context.seed)
    while True:
        rung, began = asked.rung, clock.seconds()
        try:
            deadline_s = min(60.0, context.call_deadline)
            done = await asked.complete(messages, form, rung, decoding, deadline_s, {})
        except FormatRefused:
            if asked.step_down(rung) is None:
                raise
            continue
        seconds = clock.seconds() - began
        try:
            replies.read(ProbeReply, {}, done.text, done.finish, done.refusal)
        except Fault as fault:
            return Probed(rung, False, str(fault), seconds, done.attempts)
        return Probed(rung, True, "", seconds, done.attempts)
