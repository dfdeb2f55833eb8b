"""Find out what an endpoint can do, by the smallest call there is."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from dialectree.errors import CallError
from dialectree.models import replies
from dialectree.models.asking import messages
from dialectree.models.endpoints import Decoding, Request, Rung, endpoint
from dialectree.models.forms import form
from dialectree.models.replies import Fault
from dialectree.models.specs import resolve
from dialectree.protocols.settings import ProtocolSettings
from dialectree.system import clock


class ProbeReply(BaseModel):
    """A reply that any model should manage."""

    answer: Annotated[str, Field(min_length=1, max_length=40)]


class Probed(NamedTuple):
    """The outcome of the call."""

    rung: Rung
    """The way of asking for a structured reply that the endpoint takes."""
    seconds: float
    fault: str = ""
    """Why the reply was not valid; empty if it was."""


async def probe(context: ProtocolSettings) -> Probed:
    """Make one call to the model that would be used, on the highest rung that its endpoint takes.

    Raises ModelUnavailable, RequestError or CallError as a debate would.
    """
    asked, wanted = endpoint(resolve(context.model, context)), form(ProbeReply, {})
    request = Request(
        messages(f"Reply with {wanted.words}", "What colour is a clear sky by day?"),
        wanted,
        Decoding(0.0, 100, context.seed),
        min(60.0, context.call_deadline),
        None,
        {},
    )
    began = clock.seconds()
    done = await asked.complete(request)
    seconds = clock.seconds() - began
    if done.error is not None:
        raise CallError(done.error)
    try:
        replies.read(ProbeReply, {}, done.text, done.finish, done.refusal)
    except Fault as fault:
        return Probed(asked.rung, seconds, str(fault))
    return Probed(asked.rung, seconds)
