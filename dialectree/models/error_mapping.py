"""Decide what an error of a model means: wait, try again, ask in another way, or give up."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import aiohttp
import openai

from dialectree.errors import KeyRefused, ModelUnavailable, RequestError
from dialectree.models.specs import Spec
from dialectree.protocols.trust import NAME_IT
from dialectree.system import clock
from dialectree.system.streams import program
from dialectree.text import line

OPTIONAL = ("temperature", "seed", "top_p", "max_tokens", "max_completion_tokens", "stream_options")
"""Parameters that a request can do without."""
LONGEST_WAIT_S = 300.0
"""Longest wait that the Retry-After of an endpoint is granted."""

_FORMAT = re.compile(r"response.?format|json|schema|structured|grammar|tool|function.?call", re.I)
_TOO_LONG = re.compile(r"context.?(length|window|size)|too (long|many (input )?tokens)", re.I)
_FILTERED = re.compile(r"content.?(filter|(management )?policy)", re.I)
_NO_KEY = re.compile(r"api.?key|authentication|credentials", re.I)
_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.I)


class Garbled(Exception):
    """The endpoint sent something that is not a chat completion."""


class Oversized(Exception):
    """The body of a reply is too large, or compressed in a way that hides its size."""


class Failed(Exception):
    """A chat model of another library raised the error that is the cause of this one."""


class MappedError(NamedTuple):
    """Meaning of an error for a call.

    ``again``: the failure may pass. ``page``: the same, but the address may be wrong. ``wait``: the
    endpoint asks for patience. ``down``: the server fails (5xx). ``lost``: no connection.
    ``broken``: the connection broke. ``format``, ``parameter``: the endpoint refuses a part of the
    request. ``hopeless``: this call fails for good, others may not.
    """

    kind: Literal[
        "again", "page", "wait", "down", "lost", "broken", "format", "parameter", "hopeless"
    ]
    text: str
    wait_s: float | None = None
    """Seconds that the endpoint asks to wait."""
    parameter: str = ""
    """The refused parameter."""


def map_error(error: Exception, spec: Spec, dropped: Container[str]) -> MappedError:
    """Return what ``error`` means for the call; ``dropped`` are parameters already left out.

    Raises KeyRefused, RequestError or ModelUnavailable if no other call could succeed either.
    """
    causes = [*_causes(error)]
    text = line(spec.discreet(_message(causes)), 300)
    for cause in causes:
        if isinstance(cause, Oversized):
            return MappedError("again", str(cause))
    if status := _status(causes[0]):
        return _map_status(status, causes[0], spec, text, dropped)
    if any(isinstance(cause, aiohttp.ClientConnectorCertificateError) for cause in causes):
        hint = "if it should be, name the file of its signer in SSL_CERT_FILE"
        raise ModelUnavailable(
            f"{spec.where} shows a certificate that is not trusted here: {hint}: {text}"
        ) from error
    if any(isinstance(cause, aiohttp.ClientSSLError) for cause in causes):
        text = f"no https there: is http:// meant?: {text}"
    if _never_connected(causes):
        return MappedError("lost", text)
    if isinstance(error, Garbled):
        kind: Literal["page", "again"] = "page" if _PAGE.search(text) else "again"
        return MappedError(kind, f"that is not a chat completion: {text}")
    if _is_broken(causes):
        return MappedError("broken", "the connection broke")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return MappedError("again", "it timed out")
    if isinstance(error, Failed) and _NO_KEY.search(text):
        raise KeyRefused(f"{spec.where} has no key that it accepts: {text}") from error
    return MappedError("again", f"{type(causes[0]).__name__}: {text}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error of a library and its causes."""
    if isinstance(error, Failed):
        error = error.__cause__
    while error is not None:
        yield error
        error = error.__cause__


def _message(causes: list[BaseException]) -> str:
    """Return the message that says most: openai wraps it in all-purpose sentences."""
    if isinstance(causes[0], openai.APIConnectionError):
        causes = [each for each in causes if isinstance(each, aiohttp.ClientError)] or causes[-1:]
    first = causes[0]
    return str(getattr(first, "message", "") or first) or type(first).__name__


def _status(error: Any) -> int:
    """Return the status of an answer that any library reports; 0 if there was none."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and status >= 400:
                return status
    return 0


def _map_status(
    status: int, error: BaseException, spec: Spec, text: str, dropped: Container[str]
) -> MappedError:
    """Return what an answer with an error status means; ``error`` is the library's."""
    where = spec.where
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    code = " ".join(str(getattr(error, name, "")) for name in ("code", "type", "param"))
    if status in (401, 403):
        what = "wants a key" if spec.keyless else "refuses the key"
        raise KeyRefused(f"{where} {what} ({status}): {_key_hint(spec)}: {text}") from error
    if status == 402 or (status == 429 and "quota" in code):
        raise ModelUnavailable(f"{where} wants to be paid first ({status}): {text}") from error
    if status == 429:
        return MappedError("wait", "rate limit", wait_s=_wait(headers))
    if status in (408, 409, 425) or status >= 500:
        kind: Literal["down", "again"] = "down" if status >= 500 else "again"
        return MappedError(kind, f"status {status}: {text}", wait_s=_wait(headers))
    if status == 404:
        flags = "`model` (or `embeddings`) and `base_url`"
        hint = f"check {flags}; `{program()} doctor` lists what an endpoint has"
        if spec.live is not None:
            hint = "check the live model's name and address"
        raise RequestError(f"{where} does not know {spec.name} (404): {hint}: {text}") from error
    reason, refused = f"{code} {text}", f"{where} refuses the request ({status}): {text}"
    if _FILTERED.search(reason):
        return MappedError("hopeless", f"a content filter stopped the messages: {refused}")
    if _TOO_LONG.search(reason):
        return MappedError("hopeless", f"the messages are too long for the model: {refused}")
    for name in OPTIONAL:
        if re.search(rf"\b{name}\b", reason) and name not in dropped:
            return MappedError("parameter", refused, parameter=name)
    if _FORMAT.search(reason):
        return MappedError("format", refused)
    raise RequestError(refused) from error


def _key_hint(spec: Spec) -> str:
    """Return what to do about a key that is missing or refused."""
    if spec.keyless:
        asked = "OPENAI_API_KEY was not sent, since the address comes from the run's folder"
        return f"{asked}; if it may have the key, {NAME_IT}"
    if not spec.openai_compatible:
        place = "the live model" if spec.live is not None else spec.provider
        return f"give {place} one that it accepts"
    return (
        "set OPENAI_API_KEY to one that it accepts, or give the address with its user and password"
        " (a record never keeps them)"
    )


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks to wait, or None if it asks for none."""
    seconds = 0.0
    with suppress(KeyError, ValueError, TypeError):
        until = email.utils.parsedate_to_datetime(headers["retry-after"])
        seconds = (until - clock.now()).total_seconds()
    for name, unit in (("retry-after", 1.0), ("retry-after-ms", 0.001)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit
    return min(seconds, LONGEST_WAIT_S) if seconds > 0 else None


def _never_connected(causes: list[BaseException]) -> bool:
    """Return whether the address took no connection; a connection may also break later.

    The errors of aiohttp tell the two apart; those of another library are known by their names.
    """
    ours = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)]
    if ours:
        refused = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        return any(isinstance(cause, refused) for cause in ours)
    names = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError")
    return any(type(cause).__name__ in names for cause in causes)


def _is_broken(causes: list[BaseException]) -> bool:
    """Return whether somebody at the address hung up, or another fault cut the connection."""
    ours = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError)
    names = ("ReadError", "WriteError", "RemoteProtocolError")
    return any(isinstance(cause, ours) or type(cause).__name__ in names for cause in causes)
