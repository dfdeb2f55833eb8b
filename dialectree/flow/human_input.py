"""Ask a person, from a step of any graph.

:func:`ask_person` stops the graph with a ``HITLRequest`` of LangChain, which chat applications and
inboxes show. A host resumes the graph with the answer. In a run of our own :func:`answer_requests`
gets the answer and keeps it in the run's journal, under a digest of what the person was shown. So a
resumed or a contested run asks again only if the person would be shown something new.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import blake2b
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeGuard

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from dialectree.errors import InputError
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Call, Override, path_key
from dialectree.records.journal import Journal
from dialectree.system import clock
from dialectree.trace.events import tell

if TYPE_CHECKING:
    from langchain.agents.middleware.human_in_the_loop import HITLRequest

Payload = Mapping[str, str]
"""The request that a person sees: node, kind, question and request; for some requests also a
transcript, and the labels of the possible answers."""
Ask = Callable[[Payload], Awaitable[str] | str]
"""Asks the person and returns the answer; a plain or an asynchronous function."""


async def ask_person(
    runtime: Runtime[Any],
    *,
    node: str,
    kind: str,
    question: str,
    request: str,
    transcript: str = "",
    labels: Sequence[str] = (),
) -> str:
    """Return a person's answer to ``request``, on one line; "" if the person gives none.

    Call it once in a step, and do nothing before it: the step runs again from its start when the
    answer comes. ``kind`` says what the answer is for ("judge"). With ``labels`` (no commas) the
    answer must be a label, in upper or lower case, or empty; else the person is asked again.
    """
    if any("," in label for label in labels):
        raise ValueError(f"a label with a comma: {labels}")
    payload = {"node": node, "kind": kind, "question": question}
    if transcript:
        payload["transcript"] = transcript
    payload["request"] = request
    if labels:
        payload["labels"] = ", ".join(labels)
    answer = interrupt_for_answer(payload)
    if labels:
        note = f"the person ruled {answer}" if answer else "the person gave no ruling"
        tell(runtime, node, "answered", {"of": kind, "note": note, "answer": answer})
    else:
        note = f"the person answered: {answer}" if answer else "the person gave no answer"
        tell(runtime, node, "answered", {"note": note, "answer": answer})
    return answer


def interrupt_for_answer(payload: Payload) -> str:
    """Stop the graph until a person gives a valid answer, and return it."""
    current_payload = payload
    while (answer := _parse_answer(payload, reply := interrupt(hitl_request(current_payload)))) is None:
        current_payload = _again(payload, reply)
    return answer


def hitl_request(payload: Payload) -> HITLRequest:
    """Return ``payload`` as a request that agent-chat-ui and agent-inbox show.

    The request's action is named after the kind. The arguments are ``payload`` and an empty ``answer``, which
    the person edits; if there are labels, the schema allows only labels.
    """
    request = payload["request"]
    answer: dict[str, Any] = {"type": "string", "title": "Answer", "description": request}
    if "labels" in payload:
        answer["enum"] = [*payload["labels"].split(", "), ""]
    return {
        "action_requests": [
            {
                "name": payload["kind"],
                "args": {"answer": "", **payload},
                "description": f"{request}\n\nAbout: {payload['question']}",
            }
        ],
        "review_configs": [
            {
                "action_name": payload["kind"],
                "allowed_decisions": ["respond", "edit", "reject"],
                "args_schema": {"type": "object", "properties": {"answer": answer}},
            }
        ],
    }


def interrupt_summary(payload: Payload) -> dict[str, str]:
    """Return the data of the event for a request."""
    return {"of": payload["kind"], "note": f"a person is asked: {payload['request']}"}


def is_request(value: object) -> TypeGuard[HITLRequest]:
    """Return whether an interrupt is a request to a person, and not a stop of the host's own."""
    return isinstance(value, dict) and "action_requests" in value


def payload_of(request: HITLRequest) -> Payload:
    """Return the payload from which :func:`hitl_request` made ``request``."""
    args = request["action_requests"][0]["args"]
    return {name: text for name, text in args.items() if name != "answer"}


def _text(reply: object) -> object:
    """Return the answer in a reply of agent-chat-ui or agent-inbox; return other replies as they are.

    An approval accepts the proposed arguments, in which the answer is empty.
    """
    match reply:
        case {"decisions": [{"type": "approve" | "reject"}]} | [{"type": "accept" | "ignore"}]:
            return ""
        case (
            {"decisions": [{"type": "respond", "message": text}]}
            | {"decisions": [{"type": "edit", "edited_action": {"args": {"answer": text}}}]}
            | [{"type": "response", "args": text}]
            | [{"type": "edit", "args": {"args": {"answer": text}}}]
            | {"label": text}
        ):
            return text
    return reply


def _parse_answer(payload: Payload, reply: object) -> str | None:
    """Return the answer in ``reply``; None if it is not text, or not one of the labels."""
    reply = _text(reply) or ""
    if isinstance(reply, Mapping | list):
        return None
    answer = " ".join(str(reply).split())
    if "labels" not in payload or not answer:
        return answer
    labels = {label.casefold(): label for label in payload["labels"].split(", ")}
    return labels.get(answer.casefold())


def _again(payload: Payload, reply: object) -> dict[str, str]:
    """Return ``payload`` with a request that says why ``reply`` is not accepted."""
    why = "is no such label" if "labels" in payload else "holds no answer"
    return {**payload, "request": f"{str(_text(reply)).strip()[:80]!r} {why}. {payload['request']}"}


# Answers in a run of our own


def require_person(settings: ProtocolSettings, ask: Ask | None) -> None:
    """Raise InputError if a person has to take part but ``ask`` is missing."""
    optional = _optional(settings)
    for name in settings.asks() if ask is None else ():
        if name not in optional:
            raise InputError(f"`{name}` me: this needs a person; name a model")


def without_person(settings: ProtocolSettings) -> ProtocolSettings:
    """Return ``settings`` without questions to a person that are optional."""
    return settings.model_copy(update=dict.fromkeys(_optional(settings), False))


def _optional(settings: ProtocolSettings) -> list[str]:
    return [name for name in settings.asks() if getattr(settings, name, None) is True]


async def answer_requests(
    requests: Mapping[str, Payload],
    journal: Journal,
    ask: Ask | None,
    overrides: Sequence[Override] = (),
    report_request: Callable[[Payload], None] = lambda payload: None,
) -> dict[str, str]:
    """Return the answer to each request, by the request's id; ask in the order of the tree.

    ``report_request`` gets each request that a person has to answer.

    A contest's ruling answers first, then the journal, then ``ask``. Each new answer is written to the
    journal at once, so a run that breaks off at the next request keeps the answer.
    """
    answers: dict[str, str] = {}
    for i, payload in sorted(requests.items(), key=lambda item: path_key(item[1]["node"])):
        answer = _override(payload, overrides)
        if answer is None:
            answer = journal.answers.get(_key(payload))
            if answer is not None or ask is not None:
                report_request(payload)
        if answer is None:
            answer = _silence(payload) if ask is None else await _new(payload, journal, ask)
        answers[i] = answer
    return answers


def _override(payload: Payload, overrides: Sequence[Override]) -> str | None:
    """Return the ruling with which a contest replaced the person's ruling, if it did."""
    for change in overrides:
        nodes = [spot.node for spot in change.spots if not spot.phase]
        if "labels" in payload and change.what == "ruled" and payload["node"] in nodes:
            return _parse_answer(payload, change.after)
    return None


def _silence(payload: Payload) -> str:
    """Return an empty answer, because no person is there; raise InputError if a ruling is needed."""
    if "labels" in payload:
        raise InputError(f"`{payload['kind']}` me: this needs a person; name a model")
    return ""


async def _new(payload: Payload, journal: Journal, ask: Ask) -> str:
    """Ask until the answer is valid, and keep it in the journal."""
    started, current_payload = clock.stamp(), payload
    while (answer := _parse_answer(payload, reply := await _reply(current_payload, ask))) is None:
        current_payload = _again(payload, reply)
    journal.append(
        Call(
            key=_key(payload),
            node=payload["node"],
            role="person",
            phase=payload["kind"],
            step=0,
            prompt="",
            model="",
            seed=0,
            started=started,
            ended=clock.stamp(),
            reply=answer,
            source="person",
        )
    )
    return answer


async def _reply(payload: Payload, ask: Ask) -> str:
    """Return the reply of ``ask``; raise InputError if it is not text, such as None."""
    reply: object = ask(payload)
    if isawaitable(reply):
        reply = await reply
    if not isinstance(reply, str):
        raise InputError(f"ask: it returned {reply!r:.80}, not text; return '' to give no answer")
    return reply


def _key(payload: Payload) -> str:
    """Return a digest of what the person is shown: the journal's key of the answer."""
    return blake2b(json.dumps(payload, sort_keys=True).encode(), digest_size=16).hexdigest()
