"""What an endpoint's errors mean: to wait, to try again, to ask otherwise, or that it is no use."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

import aiohttp
import openai

from dialectree import clock
from dialectree.errors import KeyRefused, ModelUnavailable, RequestError
from dialectree.models.specs import Spec

OPTIONAL = ("temperature", "seed", "top_p", "max_tokens", "max_completion_tokens")
"""Parameters that a request can do without."""
LONGEST_WAIT_S = 300.0
"""Longest wait that an endpoint is granted, whatever its Retry-After asks."""

_FORMAT = re.compile(
    r"response_?format|json_?schema|json_?object|json.?mode|schema|structured|grammar|guided",
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


class TooLarge(openai.OpenAIError):
    """A reply takes more bytes than any reply needs; the rest of it was not read."""


class Garbled(Exception):
    """What came back is not a chat completion."""


@contextmanager
def reading() -> Iterator[None]:
    """Garbled where what came back cannot be read."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise Garbled(str(error)) from error


class Failed(Exception):
    """A live model raised an error of a library of its own, which is the cause of this one."""


Kind = Literal["again", "page", "wait", "lost", "format", "parameter", "hopeless"]


class Trouble(NamedTuple):
    """What to make of an error.

    ``again``: a failure that may pass. ``page``: the same, of an address that may be the wrong one.
    ``wait``: the endpoint asks for patience, which is no failure. ``lost``: nobody answers.
    ``format``, ``parameter``: a part of the request is refused. ``hopeless``: this call fails for
    good, others need not.
    """

    kind: Kind
    text: str
    wait_s: float | None = None
    """Seconds that the endpoint asks to wait."""
    parameter: str = ""
    """The refused parameter."""


def trouble(error: Exception, spec: Spec, dropped: Container[str]) -> Trouble:
    """What ``error`` means. ``dropped`` are parameters that the request did without already.

    Raises what ends a run, because no other call could do better: KeyRefused, RequestError and
    ModelUnavailable.
    """
    text = one_line(discreet(_words(error), spec))
    if isinstance(error, TooLarge):
        return Trouble("hopeless", f"{spec.where} sent too much: {text}")
    if (status := _status(error)) is not None:
        return _answered(status, error, spec, text, dropped)
    if _met(error, aiohttp.ClientConnectorCertificateError):
        hint = "if it should be, name the file of who signed it in SSL_CERT_FILE"
        raise ModelUnavailable(
            f"{spec.where} shows a certificate that is not trusted here: {hint}: {text}"
        ) from error
    if _never_connected(error):
        return Trouble("lost", _why_lost(error, text))
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return Trouble("again", "it timed out")
    if isinstance(error, openai.APIConnectionError):
        return Trouble("again", "the connection broke")
    if isinstance(error, Failed):
        return Trouble("again", f"{type(error.__cause__).__name__}: {text}")
    page = re.search(r"<(!doctype|html|head|body)\b", text, re.IGNORECASE)
    return Trouble("page" if page else "again", f"that is not a chat completion: {text}")


def _why_lost(error: Exception, text: str) -> str:
    if _met(error, aiohttp.ConnectionTimeoutError):
        return "the connection timed out"
    if _met(error, aiohttp.ClientSSLError):
        return f"no https there: is http:// meant?: {text}"
    return text


def _words(error: Exception) -> str:
    """The innermost words: the client library wraps them in an all-purpose sentence."""
    cause = error.__cause__
    if isinstance(error, Failed | openai.APIConnectionError) and cause and str(cause):
        return str(cause)
    return str(getattr(error, "message", "") or error) or type(error).__name__


class _Status(NamedTuple):
    """An answer with an error status, whichever library tells of it."""

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
        status = getattr(holder, "status_code", None)
        if isinstance(status, int) and status >= 400:
            told = headers if isinstance(headers, Mapping) else {}
            return _Status(status, told, str(getattr(cause, "code", "")), "")
    return None


def _answered(
    answer: _Status, error: Exception, spec: Spec, text: str, dropped: Container[str]
) -> Trouble:
    """The endpoint answered with an error status."""
    (status, headers, code, parameter), where = answer, spec.where
    if status in (401, 403):
        hint = "set OPENAI_API_KEY to one that it accepts"
        if spec.live is not None:
            hint = "give the live model one that it accepts"
        elif spec.whole_url == spec.url:
            hint += ", or give the address with its user and password (a record never keeps them)"
        raise KeyRefused(f"{where} refuses the key ({status}): {hint}: {text}") from error
    if status == 402 or (status == 429 and "quota" in code):
        raise ModelUnavailable(f"{where} wants to be paid first ({status}): {text}") from error
    if status == 429:
        return Trouble("wait", "rate limit", wait_s=_wait(headers))
    if status in (408, 409, 425) or status >= 500:
        return Trouble("again", f"status {status}: {text}", wait_s=_wait(headers))
    if status == 404:
        hint = "check --model and --base-url; `dialectree doctor` lists what an endpoint has"
        if spec.live is not None:
            hint = "check the live model's name and address"
        raise RequestError(f"{where} does not know {spec.name} (404): {hint}: {text}") from error
    said = f"{where} refuses the request ({status}): {text}"
    if _FILTERED.search(f"{code} {text}"):
        return Trouble("hopeless", f"a content filter stopped the messages: {said}")
    if "context_length" in code or _TOO_LONG.search(text):
        return Trouble("hopeless", f"the messages are too long for the model: {said}")
    named = f"{parameter} {text}"
    for name in OPTIONAL:
        if re.search(rf"\b{name}\b", named) and name not in dropped:
            return Trouble("parameter", said, parameter=name)
    if _FORMAT.search(named):
        return Trouble("format", said)
    raise RequestError(said) from error


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


def _met(error: Exception, kind: type[Exception]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(error))


def _never_connected(error: Exception) -> bool:
    """Nobody is there, as against somebody who hangs up.

    aiohttp's errors tell the two apart; those of another transport, in a live model, are known by
    their names.
    """
    causes = list(_causes(error))
    ours = [cause for cause in causes if isinstance(cause, aiohttp.ClientError)]
    if ours:
        nobody = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        return any(isinstance(cause, nobody) for cause in ours)
    names = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError")
    return any(type(cause).__name__ in names for cause in causes)


def discreet(text: str, spec: Spec) -> str:
    """``text`` without the key, user, password and query that open the endpoint."""
    for secret in spec.secrets():
        text = text.replace(secret, "***")
    return text


def one_line(text: str, limit: int = 300) -> str:
    """``text`` on one line, without control characters, at most ``limit`` characters of it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
