"""Decide what an error of a model means: wait, try again, ask in another way, or give up."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Container, Iterator, Mapping
from typing import Literal, NamedTuple, NoReturn

import aiohttp
import openai

from dialectree import clock
from dialectree.errors import KeyRefused, ModelUnavailable, RequestError
from dialectree.models.specs import Spec

OPTIONAL = ("temperature", "seed", "top_p", "max_tokens", "max_completion_tokens", "stream_options")
"""Parameters that a request can do without."""
LONGEST_WAIT_S = 300.0
"""Longest wait that an endpoint is granted, whatever its Retry-After asks."""

_FORMAT = re.compile(
    r"response_?format|json_?schema|json_?object|json.?mode|schema|structured|grammar|guided"
    r"|tool_choice|\btools?\b|function.?call",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|too many (input )?tokens"
    r"|(prompt|input|request) (is|exceeds).{0,20}(too long|context)",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content.?(filter|policy|management policy)|data.?inspection.?failed", re.IGNORECASE
)
_NO_KEY = re.compile(r"api.?key|authentication|credentials", re.IGNORECASE)
_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.IGNORECASE)


class Garbled(Exception):
    """The endpoint sent something that is not a chat completion."""


class Failed(Exception):
    """A chat model of another library raised the error that is the cause of this one."""


Kind = Literal["again", "page", "wait", "lost", "format", "parameter", "hopeless"]


class MappedError(NamedTuple):
    """What an error means.

    ``again``: the failure may pass. ``page``: the same, but the address may be wrong. ``wait``: the
    endpoint asks for patience. ``lost``: nobody answers. ``format``, ``parameter``: the endpoint
    refuses a part of the request. ``hopeless``: this call fails for good, others may not.
    """

    kind: Kind
    text: str
    wait_s: float | None = None
    """Seconds that the endpoint asks to wait."""
    parameter: str = ""
    """The refused parameter."""


def map_error(error: Exception, spec: Spec, dropped: Container[str]) -> MappedError:
    """Return what ``error`` means for the call; ``dropped`` are parameters already left out.

    Raises KeyRefused, RequestError or ModelUnavailable if no other call could succeed either.
    """
    text = one_line(discreet(_message(error), spec))
    if (answer := _status(error)) is not None:
        return _map_status(answer, error, spec, text, dropped)
    if _caused_by(error, aiohttp.ClientConnectorCertificateError):
        hint = "if it should be, name the file of its signer in SSL_CERT_FILE"
        raise ModelUnavailable(
            f"{spec.where} shows a certificate that is not trusted here: {hint}: {text}"
        ) from error
    if _never_connected(error):
        return MappedError("lost", _why_lost(error, text))
    if _caused_by(error, Garbled):
        kind: Kind = "page" if _PAGE.search(text) else "again"
        return MappedError(kind, f"that is not a chat completion: {text}")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return MappedError("again", "it timed out")
    if isinstance(error, openai.APIConnectionError):
        return MappedError("again", "the connection broke")
    if isinstance(error, Failed):
        if _NO_KEY.search(text):
            raise KeyRefused(f"{spec.where} has no key that it accepts: {text}") from error
        return MappedError("again", f"{type(error.__cause__).__name__}: {text}")
    return MappedError("again", text)


def _message(error: Exception) -> str:
    """Return the message that says most: libraries wrap it in all-purpose sentences."""
    causes = list(_causes(error))
    if isinstance(error, openai.APIConnectionError):
        causes = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)] or causes[1:]
    elif isinstance(error, Failed):
        causes = causes[1:]
    if causes and str(causes[0]) and causes[0] is not error:
        return str(causes[0])
    return str(getattr(error, "message", "") or error) or type(error).__name__


class _Status(NamedTuple):
    """An answer with an error status, from any library."""

    status: int
    headers: Mapping[str, str]
    code: str
    parameter: str


def _status(error: Exception) -> _Status | None:
    if isinstance(error, openai.APIStatusError):
        code = f"{error.code or ''} {error.type or ''}"
        return _Status(error.status_code, error.response.headers, code, error.param or "")
    cause = error.__cause__ if isinstance(error, Failed) else None
    response = getattr(cause, "response", None)
    headers = getattr(response, "headers", None)
    for holder in (cause, response):
        for name in ("status_code", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and status >= 400:
                known = headers if isinstance(headers, Mapping) else {}
                return _Status(status, known, str(getattr(cause, "code", "")), "")
    return None


def _map_status(
    answer: _Status, error: Exception, spec: Spec, text: str, dropped: Container[str]
) -> MappedError:
    (status, headers, code, parameter), where = answer, spec.where
    if status in (401, 403):
        _raise_key_refused(status, error, spec, text)
    if status == 402 or (status == 429 and "quota" in code):
        raise ModelUnavailable(f"{where} wants to be paid first ({status}): {text}") from error
    if status == 429:
        return MappedError("wait", "rate limit", wait_s=_wait(headers))
    if status in (408, 409, 425) or status >= 500:
        return MappedError("again", f"status {status}: {text}", wait_s=_wait(headers))
    if status == 404:
        hint = "check --model and --base-url; `dialectree doctor` lists what an endpoint has"
        if spec.live is not None:
            hint = "check the live model's name and address"
        raise RequestError(f"{where} does not know {spec.name} (404): {hint}: {text}") from error
    refused = f"{where} refuses the request ({status}): {text}"
    if _FILTERED.search(f"{code} {text}"):
        return MappedError("hopeless", f"a content filter stopped the messages: {refused}")
    if "context_length" in code or _TOO_LONG.search(text):
        return MappedError("hopeless", f"the messages are too long for the model: {refused}")
    mentions = f"{parameter} {text}"
    for name in OPTIONAL:
        if re.search(rf"\b{name}\b", mentions) and name not in dropped:
            return MappedError("parameter", refused, parameter=name)
    if _FORMAT.search(mentions):
        return MappedError("format", refused)
    raise RequestError(refused) from error


def _raise_key_refused(status: int, error: Exception, spec: Spec, text: str) -> NoReturn:
    hint = "set OPENAI_API_KEY to one that it accepts"
    if spec.live is not None:
        hint = "give the live model one that it accepts"
    elif not spec.openai_compatible:
        hint = f"set the one that {spec.provider} accepts"
    elif spec.whole_url == spec.url:
        hint += ", or give the address with its user and password (a record never keeps them)"
    raise KeyRefused(f"{spec.where} refuses the key ({status}): {hint}: {text}") from error


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks to wait, or None if it asks for none.

    Longer waits than :data:`LONGEST_WAIT_S` are cut to it.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except KeyError:
            continue
        except ValueError:
            seconds = _seconds_until(headers[name])
        if seconds >= 0:
            return min(seconds, LONGEST_WAIT_S)
    return None


def _seconds_until(date: str) -> float:
    try:
        return (email.utils.parsedate_to_datetime(date) - clock.now()).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return -1.0


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _caused_by(error: Exception, kind: type[Exception]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(error))


def _why_lost(error: Exception, text: str) -> str:
    if _caused_by(error, aiohttp.ConnectionTimeoutError):
        return "the connection timed out"
    if _caused_by(error, aiohttp.ClientSSLError):
        return f"no https there: is http:// meant?: {text}"
    return text


def _never_connected(error: Exception) -> bool:
    """Return whether nobody is at the address, rather than somebody who hangs up.

    The errors of aiohttp tell the two apart; those of another library are known by their names.
    """
    causes = list(_causes(error))
    ours = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)]
    if ours:
        nobody = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        return any(isinstance(cause, nobody) for cause in ours)
    names = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError")
    return any(type(cause).__name__ in names for cause in causes)


def discreet(text: str, spec: Spec) -> str:
    """Return ``text`` without the key, user, password and query that open the endpoint."""
    for secret in spec.secrets():
        text = text.replace(secret, "***")
    return text


def one_line(text: str, limit: int = 300) -> str:
    """Return ``text`` on one line, without control characters, cut to ``limit`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
