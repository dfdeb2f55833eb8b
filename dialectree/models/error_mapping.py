"""Decide how to react to an error of a model: wait, try again, ask in another way, or give up.

:mod:`dialectree.models.refusals` reads the answers of servers.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import openai
from aiohttp.http_exceptions import HttpProcessingError

from dialectree.errors import KeyRefused, ModelUnavailable, RequestError
from dialectree.models.refusals import (
    Refusal,
    RefusalMeaning,
    find_wait,
    read_meaning,
    read_refusal,
    read_refusal_value,
    seconds,
)
from dialectree.models.specs import NO_KEY, Spec
from dialectree.protocols.trust import NAME_IT
from dialectree.system import clock
from dialectree.system.streams import program
from dialectree.text import line

LONGEST_WAIT_S = 300.0
"""Longest wait that an endpoint may ask for, in seconds."""

SERVERS = {
    11434: ("Ollama", "ollama serve"),
    1234: ("LM Studio", "lms server start"),
    8000: ("vLLM", "vllm serve NAME"),
    8080: ("llama.cpp", "llama-server -m FILE.gguf"),
}
"""The usual ports of model servers, each with the server's name and the command that starts it."""

_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.I)


class UnreadableReply(Exception):
    """The endpoint sent something that is not a chat completion."""


class ErrorReply(Exception):
    """The endpoint answered with status 200, but the body is an error."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.words)
        self.refusal = refusal


class OversizedBody(Exception):
    """The body of a reply is too large, or compressed in a way that hides its size."""


class ForeignFailure(Exception):
    """A chat model of another library raised an error, which is the cause of this exception."""


Kind = Literal[
    "again", "late", "page", "wait", "down", "lost", "broken", "foreign", "part", "unusable",
    "hopeless",
]  # fmt: skip


class MappedError(NamedTuple):
    """Meaning of an error for a call.

    ``again``: the failure may pass. ``late``: no reply came in time. ``page``: a web page came; the
    failure may pass, or the address may be wrong. ``wait``: the endpoint asks for patience.
    ``down``: the server fails (5xx). ``lost``: no connection. ``broken``: the connection broke.
    ``foreign``: the answer is not HTTP. ``part``: a part of the request is refused. ``unusable``:
    the endpoint threw the model's reply away; the next reply may be valid. ``hopeless``: this call
    fails for good, others may succeed.
    """

    kind: Kind
    text: str
    wait_s: float | None = None
    """Seconds that the endpoint asks to wait."""
    part: RefusalMeaning = RefusalMeaning("other")
    """The part of the request that is refused."""
    reply: str = ""
    """The reply that was thrown away, if the endpoint shows it."""


def map_error(error: Exception, spec: Spec) -> MappedError:
    """Return the meaning of ``error`` for the call.

    Raises KeyRefused, RequestError or ModelUnavailable if no other call could succeed either.
    """
    causes = [*_causes(error)]
    for cause in causes:
        if isinstance(cause, OversizedBody):
            return MappedError("again", str(cause))
    if any(_is_foreign(cause) for cause in causes):
        fault = line(str(getattr(causes[-1], "message", "")), 200)
        return MappedError("foreign", f"the answer is not HTTP: {quote_foreign_text(fault)}")
    if (refusal := _refusal(error, causes)) is not None:
        return _map_refusal(refusal, error, causes[0], spec)
    text = line(spec.discreet(_message(causes)), 300)
    if any(isinstance(cause, aiohttp.ClientConnectorCertificateError) for cause in causes):
        hint = "if it should be, name the file of its signer in SSL_CERT_FILE"
        raise ModelUnavailable(
            f"{spec.where} shows a certificate that is not trusted here: {hint}: {text}"
        ) from error
    if any(isinstance(cause, aiohttp.ClientSSLError) for cause in causes):
        text = f"no https there: is http:// meant?: {text}"
    if _never_connected(causes):
        return MappedError("lost", text)
    if isinstance(error, UnreadableReply):
        kind: Literal["page", "again"] = "page" if _PAGE.search(text) else "again"
        return MappedError(kind, f"that is not a chat completion: {text}")
    if _is_broken(causes):
        return MappedError("broken", "the connection broke")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return MappedError("late", "it timed out")
    if isinstance(error, ForeignFailure) and NO_KEY.search(text):
        raise KeyRefused(f"{spec.where} lacks a valid key: {text}") from error
    return MappedError("again", f"{type(causes[0]).__name__}: {text}")


def describe_silence(spec: Spec, text: str) -> str:
    """Return the message for an address that takes no connection.

    Asks whether the model server that usually has the address's port is running.
    """
    port = urlsplit(spec.url).port if spec.url else 11434 if spec.provider == "ollama" else None
    name, command = SERVERS.get(port or 0, ("", ""))
    question = f"is {name} running (`{command}`)? " if name else ""
    return f"nobody answers at {spec.where}: {question}{text}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error of a library and its causes."""
    if isinstance(error, ForeignFailure):
        error = error.__cause__
    while error is not None:
        yield error
        error = error.__cause__


def _message(causes: list[BaseException]) -> str:
    """Return the most specific message: the package openai wraps this message in general sentences."""
    if isinstance(causes[0], openai.APIConnectionError):
        causes = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)] or causes[-1:]
    first = causes[0]
    return str(getattr(first, "message", "") or first) or type(first).__name__


def _status(error: Any) -> int:
    """Return the status of an answer that any library reports; 0 if there was none."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and status >= 400:
                return status
    return 0


def _refusal(error: Exception, causes: list[BaseException]) -> Refusal | None:
    """Return the server's refusal, if the error is an answer of the server."""
    if isinstance(error, ErrorReply):
        return error.refusal
    first: Any = causes[0]
    if not (status := _status(first)):
        return None
    body: object = None
    with suppress(Exception):  # another library's response may be a stream, or closed
        body = first.response.text
    if isinstance(body, str) and body.strip():
        return read_refusal(status, body)
    if isinstance(body := getattr(first, "body", None), Mapping | list):
        return read_refusal_value(body, status)
    return read_refusal(status, _message(causes))


def _map_refusal(refusal: Refusal, error: Exception, first: Any, spec: Spec) -> MappedError:
    """Return the meaning of a refusal; ``first`` is the library's error."""
    headers = getattr(getattr(first, "response", None), "headers", None) or {}
    status, where = refusal.status, spec.where
    text = quote_foreign_text(spec.discreet(refusal.words))
    status_note = f" ({status})" if status else ""
    refused = f"{where} refuses the request{status_note}: {text}"
    read = read_meaning(refusal)
    match read.meaning:
        case "key":
            complaint = "wants a key" if spec.keyless else "refuses the key"
            raise KeyRefused(f"{where} {complaint}{status_note}: {_key_hint(spec)}: {text}") from error
        case "unpaid":
            raise ModelUnavailable(f"{where} wants to be paid first{status_note}: {text}") from error
        case "model":
            raise RequestError(f"{where} {_no_model(spec, status_note)}: {text}") from error
        case "other":
            raise RequestError(refused) from error
        case "wait":
            wait_s = _wait(headers)
            told_s = find_wait(refusal) if wait_s is None else wait_s
            wait_s = None if told_s is None else min(told_s, LONGEST_WAIT_S)
            return MappedError("wait", f"rate limit: {text}", wait_s=wait_s)
        case "again":
            down = status >= 500 and not isinstance(error, ErrorReply)
            kind: Literal["down", "again"] = "down" if down else "again"
            return MappedError(kind, f"status {status}: {text}", wait_s=_wait(headers))
        case "generation":
            explanation = f"the endpoint threw the model's reply away{status_note}: {text}"
            return MappedError("unusable", explanation, reply=refusal.failed)
        case "flagged":
            return MappedError("hopeless", f"a content filter stopped the messages: {refused}")
        case "too_long":
            return MappedError("hopeless", f"the messages are too long for the model: {refused}")
        case _:
            return MappedError("part", refused, part=read)


def quote_foreign_text(words: str) -> str:
    """Return ``words`` of a server or a library on one line, in quotation marks, to tell them from ours."""
    plain = words.replace("“", '"').replace("”", '"')
    return f"“{line(plain, 300)}”"


def _no_model(spec: Spec, status_note: str) -> str:
    flags = "`model` (or `embeddings`) and `base_url`"
    hint = f"check {flags}; `{program()} doctor` lists what an endpoint has"
    if spec.live is not None:
        hint = "check the live model's name and address"
    return f"does not know {spec.name}{status_note}: {hint}"


def _key_hint(spec: Spec) -> str:
    """Return what to do about a key that is missing or refused."""
    if spec.keyless:
        reason = "OPENAI_API_KEY was not sent, since the address comes from the run's folder"
        return f"{reason}; if it may have the key, {NAME_IT}"
    if not spec.openai_compatible:
        place = "the live model" if spec.live is not None else spec.provider
        return f"give {place} one that it accepts"
    return (
        "set OPENAI_API_KEY to one that it accepts, or give the address with its user and password"
        " (a record never keeps them)"
    )


_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")
"""Headers that say when a limit is lifted: a duration, or a time in seconds since 1970."""


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the headers ask to wait, or None if they ask for none."""
    delays = list[float]()
    with suppress(KeyError, ValueError, TypeError):
        until = email.utils.parsedate_to_datetime(headers["retry-after"])
        delays.append((until - clock.read_utc_time()).total_seconds())
    for name, unit in (("retry-after", 1.0), ("retry-after-ms", 0.001)):
        with suppress(KeyError, ValueError):
            delays.append(float(headers[name]) * unit)
    if not delays:
        resets = (seconds(headers.get(name)) for name in _RESETS)
        delays += [_from_now(reset) for reset in resets if reset is not None]
    longest = max(delays, default=0.0)
    return min(longest, LONGEST_WAIT_S) if longest > 0 else None


def _from_now(told_s: float) -> float:
    """Return a duration; a large number is a time since 1970, in seconds or milliseconds."""
    if told_s < 10**8:
        return told_s
    return (told_s / 1000 if told_s > 10**11 else told_s) - clock.read_utc_time().timestamp()


def _is_foreign(error: BaseException) -> bool:
    """Return whether the answer was not HTTP; for a bad status, aiohttp raises the same class."""
    cause = error.__cause__
    return isinstance(error, aiohttp.ClientResponseError) and isinstance(cause, HttpProcessingError)


def _never_connected(causes: list[BaseException]) -> bool:
    """Return whether no connection was made; a connection may also break later.

    aiohttp has separate errors for both; errors of other libraries are recognised by name.
    """
    ours = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)]
    if ours:
        refused = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        return any(isinstance(cause, refused) for cause in ours)
    names = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError")
    return any(type(cause).__name__ in names for cause in causes)


def _is_broken(causes: list[BaseException]) -> bool:
    """Return whether the server or a fault closed an open connection."""
    ours = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError)
    names = ("ReadError", "WriteError", "RemoteProtocolError")
    return any(isinstance(cause, ours) or type(cause).__name__ in names for cause in causes)
