"""Ask a model: every question to a model goes through :func:`ask`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from pydantic import JsonValue

from dialectree import prompts
from dialectree.errors import Contradiction, PartFailed, ReplyError
from dialectree.models import replies
from dialectree.models.asking import Asking, messages
from dialectree.models.endpoints import Decoding, Request, endpoint, wellformed
from dialectree.models.forms import Ids, form
from dialectree.models.replies import Fault, Reply
from dialectree.models.run import Run, run_of
from dialectree.models.specs import resolve
from dialectree.prompts import Prompt
from dialectree.protocols.settings import settings
from dialectree.records import Call, Place, Turn
from dialectree.trace.events import tell

__all__ = ["Place", "Run", "ask"]

REPAIRS = 2


async def ask(
    runtime: Runtime[Any],
    place: Place,
    prompt: str,
    reply: type[Reply],
    *,
    ids: Ids | None = None,
    suggested: Ids | None = None,
    at_most: Mapping[str, int] | None = None,
    check: Callable[[Reply], str | None] | None = None,
    conflict: Callable[[Reply], str | None] | None = None,
    told: Callable[[Reply], Mapping[str, JsonValue]] | None = None,
    names: Callable[[Reply], str | None] | None = None,
    max_tokens: int | None = None,
    **values: object,
) -> Reply:
    """Ask the model that plays ``place.role`` and return its valid reply.

    ``prompt`` names a file of prompts/, rendered with ``values``. ``ids`` are the closed sets that
    the reply may point into. Those ``suggested`` stand in the schema only, and ``at_most`` limits
    the items of a list there. ``check`` returns what is wrong with a reply that fits the schema. An
    invalid reply is asked for again up to two times, with its fault. Raises ReplyError if it stays
    invalid and CallError if none comes. ``conflict`` returns how a model's reply contradicts
    itself, which is asked for again once before Contradiction is raised. ``told`` returns what the
    record keeps in place of the reply, and ``names`` the label that the reply names.
    """
    context, run, words = settings(runtime), run_of(runtime), prompts.load(prompt)
    turn = Turn.at(place).model_copy()
    turn.protocol = "" if context.protocol == run.protocol else context.protocol
    ids = ids or {}
    asked = endpoint(resolve(context.speaker(place.role, place.name), context))
    # OpenAI's API caches prompts by itself.
    shared = "" if asked.spec.openai_compatible else words.shared(values)
    request = Request(
        messages(*words.render(values)),
        form(reply, {**ids, **(suggested or {})}, at_most),
        Decoding(words.temperature, max_tokens, place.random_seed(context.seed), words.top_p),
        context.call_deadline,
        context.requests_per_minute,
        _trace(turn, words.label, reply.__name__),
        len(wellformed(shared)),
    )
    read = partial(_read, words, reply, ids, check, conflict)
    small = await run.asks_small(context, asked.spec)
    asking = Asking(context, turn, words.label, asked, request, read=read, small=small)
    try:
        valid = await _valid_reply(run, asking, read)
    except PartFailed as error:
        error.role, error.speaker = turn.role, turn.called or turn.name
        raise
    fields = dict(told(valid)) if told else valid.model_dump(mode="json")
    named = None if names is None else names(valid) or ""
    spoke = {**turn.model_dump(exclude={"node"}), "fields": fields, "names": named}
    tell(runtime, turn.node, "spoke", spoke)
    return valid


def _read(
    words: Prompt,
    reply: type[Reply],
    ids: Ids,
    check: Callable[[Reply], str | None] | None,
    conflict: Callable[[Reply], str | None] | None,
    call: Call,
) -> Reply:
    """Return the reply of ``call``; raise a Fault where it cannot be used."""
    refusal = call.reply if call.finish == "refusal" else None
    text = "" if refusal else call.reply or ""
    small = words if call.prompt_form == "small" else None
    valid = replies.read(reply, ids, text, call.finish, refusal, small)
    if check is not None and (wrong := check(valid)):
        raise Fault("invalid", wrong)
    if conflict is not None and call.source != "person" and (wrong := conflict(valid)):
        raise Fault("conflict", wrong)
    return valid


async def _valid_reply(run: Run, asking: Asking, read: Callable[[Call], Reply]) -> Reply:
    conflicts = 0
    while True:
        call = await run.call(asking)
        try:
            valid = read(call)
        except Fault as fault:
            if call.source == "person":
                run.overrides.disregard(asking.place)
                continue
            conflicts += fault.kind == "conflict"
            if asking.repair == REPAIRS or conflicts > 1:
                failure = Contradiction if fault.kind == "conflict" else ReplyError
                raise failure(asking.prompt, asking.place.node, str(fault)) from None
            asking.mend(call, fault)
        else:
            if call.source != "person":
                asking.learn_the_rung()
            return valid


def _trace(turn: Turn, prompt: str, reply: str) -> RunnableConfig:
    """Return name and metadata of a call in a trace; no chat of a host shows its words."""
    name = turn.speaking()
    if turn.name and turn.phase not in turn.role:  # a debater's phase is the debate
        name = f"{name}, {turn.phase.replace('_', ' ')}"
    if (turn.name and turn.round) or turn.round > 1:
        name = f"{name}, round {turn.round}"
    return {
        "run_name": name if turn.take == 1 else f"{name}, second pass",
        "tags": ["nostream"],
        "metadata": {
            "tree_node": turn.node,
            "role": turn.role,
            "speaker": turn.called or turn.speaker,
            "phase": turn.phase,
            "round": turn.round,
            "take": turn.take,
            "prompt": prompt,
            "reply": reply,
        },
    }
