"""Read a refusal of any shape, and find its meaning for the request.

Servers report an error as an object, a list, a text or a web page, sometimes with status 200.
Shapes and words are from public reports; tests/endpoint/quirks.py names the source of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from typing import Any, Literal, NamedTuple

Meaning = Literal[
    "generation", "flagged", "too_long", "key", "unpaid", "system", "needs", "parameter",
    "keyword", "schema", "format", "wait", "again", "model", "other",
]  # fmt: skip
"""The cause of a refusal.

``generation``: the model's reply failed the server's check; the request is correct.
``flagged``: a filter rejects this prompt. ``too_long``: this prompt does not fit. ``key``: the key.
``unpaid``: the account lacks credit. ``system``: the role of the system message, or the order of
the roles. ``needs``: a parameter is missing. ``parameter``: a parameter, or its value.
``keyword``: a keyword of the schema. ``schema``: this schema as a whole. ``format``: this way to
ask for JSON. ``wait``: a limit that time lifts. ``again``: a server fault that may pass.
``model``: the model does not exist. ``other``: any other cause.
"""

OPTIONAL = ("temperature", "seed", "top_p", "max_tokens", "max_completion_tokens", "stream_options")
"""Parameters that a request can lack."""
KEYWORDS = frozenset(
    re.findall(
        r"\S+",
        "$defs $ref additionalItems additionalProperties allOf anyOf const default description "
        "enum exclusiveMaximum exclusiveMinimum format items maxItems maxLength maxProperties "
        "maximum "
        "minItems minLength minProperties minimum multipleOf not nullable oneOf pattern "
        "patternProperties prefixItems propertyNames title unevaluatedProperties uniqueItems",
    )
)
"""Keywords of JSON Schema that a server may not know."""

_WORDS = ("message", "msg", "error", "detail", "error_message", "errorMessage", "description", "raw")
"""Fields whose texts explain a refusal, in the order of reading."""
_INSIDE = (*_WORDS, "errors", "details", "metadata", "body", "data", "response", "fault")
"""Fields to search, in this order."""
_CODES = ("code", "type", "param", "status", "error_type", "errorCode", "error_code", "reason")
_DEEPEST, _LONGEST = 8, 2000
_PAGE = re.compile(r"<(!doctype|html|head|body)\b", re.I)
_HIDDEN = re.compile(r"<(script|style|svg)\b.*?</\1>|<!--.*?-->", re.I | re.S)


class Refusal(NamedTuple):
    """A server's answer to a request that it refuses."""

    status: int
    """HTTP status of the answer, or of the error inside a 200; 0: unknown."""
    codes: str
    """Codes, types and names of parameters, in one text."""
    words: str
    """The message for people, in one line."""
    params: tuple[str, ...] = ()
    """Parts of the request that a field of the answer names."""
    wait_s: float | None = None
    """Seconds to wait, if a field of the body says so."""
    page: bool = False
    """True if the answer is a web page."""
    failed: str = ""
    """The model's own reply that failed the server's check."""


def read_refusal(status: int, body: str) -> Refusal:
    """Return the refusal in an answer with this status and body."""
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        if _PAGE.search(body[:_LONGEST]):
            return Refusal(status, "", f"a web page: {_text_of(body)}", page=True)
        return Refusal(status, "", _line(body))
    return read_refusal_value(value, status)


def read_refusal_value(value: object, status: int = 0) -> Refusal:
    """Return the refusal in the JSON ``value`` of an error."""
    findings = _ErrorParts()
    findings.look(value, 0)
    body_status = next((n for n in findings.statuses if 400 <= n < 600), 0)
    words = dict.fromkeys(filter(None, map(_line, findings.words)))
    message = ": ".join(words) or _line(json.dumps(value, ensure_ascii=False))
    codes = " ".join(dict.fromkeys(findings.codes))
    return Refusal(
        body_status if status < 400 and body_status else status,
        codes,
        message[:_LONGEST],
        tuple(findings.params),
        findings.wait_s,
        failed=findings.failed,
    )


class _ErrorParts:
    """Collect the parts of an error of any shape."""

    def __init__(self) -> None:
        self.words, self.codes, self.params = list[str](), list[str](), list[str]()
        self.statuses, self.failed = list[int](), ""
        self.wait_s: float | None = None

    def look(self, value: object, depth: int) -> None:
        """Search ``value``: an object, a list of objects, or a text that may be JSON."""
        if depth > _DEEPEST:
            return
        if isinstance(value, str):
            inner: object = None
            if value.lstrip()[:1] in ("{", "["):
                with suppress(ValueError, RecursionError):
                    inner = json.loads(value, strict=False)
            if isinstance(inner, dict | list):
                self.look(inner, depth + 1)
            else:
                self.words.append(_text_of(value) if _PAGE.search(value) else value)
        elif isinstance(value, list):
            for part in value[:8]:
                self.look(part, depth + 1)
        elif isinstance(value, Mapping):
            self._fields(value, depth)

    def _fields(self, value: Mapping[str, Any], depth: int) -> None:
        for name in _CODES:
            code = value.get(name)
            if isinstance(code, bool):
                continue
            if isinstance(code, int):
                self.statuses.append(code)
            elif isinstance(code, str) and code.isdecimal() and len(code) == 3:
                self.statuses.append(int(code))
            elif isinstance(code, str):
                self.codes.append(code[:200])
        if isinstance(param := value.get("param"), str):
            self.params.append(param)
        if isinstance(place := value.get("loc"), list):  # FastAPI's form
            self.params += [str(part) for part in place if part != "body"]
        if isinstance(failed := value.get("failed_generation"), str):
            self.failed = failed
        if (delay := value.get("retryDelay") or value.get("retry_after")) is not None:
            self.wait_s = seconds(delay)
        for name in _INSIDE:
            if name in value:
                self.look(value[name], depth + 1)


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def _text_of(page: str) -> str:
    """Return the visible text of a web page, its title first."""
    return _line(unescape(re.sub(r"<[^>]*>", " ", _HIDDEN.sub(" ", page))))[:300]


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)[a-z]*\s*", re.I)
_RETRY = re.compile(
    r"(?:try again|retry|retry.?after|wait|available|resets?)\s+(?:in|after|for|within)?:?\s*"
    r"(?:about\s+)?((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d)"
    r"\b\s*|\d+(?:\.\d+)?[smhd](?=\d))+)",
    re.I,
)


def seconds(duration: object) -> float | None:
    """Return a duration in seconds: ``6``, ``6s``, ``9m38.016s``, ``500ms``; None for other values."""
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        return float(duration)
    if not isinstance(duration, str):
        return None
    with suppress(ValueError):
        return float(duration)
    parts = [*_DURATION.finditer(duration.strip())]
    if not parts or "".join(part[0] for part in parts) != duration.strip():
        return None
    return sum(float(part[1]) * _UNITS[part[2].lower()] for part in parts)


def find_wait(refusal: Refusal) -> float | None:
    """Return the seconds that a refusal asks to wait, in a field of its own or in its words."""
    if refusal.wait_s is not None:
        return refusal.wait_s
    match = _RETRY.search(refusal.words)
    return seconds(match[1].strip()) if match else None


# The meaning of a refusal


def _any(*parts: str) -> Callable[[str], bool]:
    pattern = re.compile("|".join(parts), re.I)
    return lambda text: pattern.search(text) is not None


_GENERATION = _any(
    r"json_validate_failed",
    r"tool_use_failed",
    r"failed_generation",
    r"failed to generate json",
    r"generated (json|output|text) (is|was|does|did) not",
    r"(output|generation) .{0,40}not valid json",
    r"(could|can) ?not parse (the )?(model|generated|output)",
    r"output_parse_failed",
)
_FLAGGED = _any(
    r"content.?(filter|(management )?polic)",
    r"usage polic",
    r"polic(y|ies).{0,40}violat",
    r"violat\w* .{0,60}(polic|terms|guideline|safety|rule)",
    r"flagged",
    r"\bmoderat",
    r"exists? risk",
    r"invalid_prompt",
    r"data.?inspection",
    r"inappropriate",
    r"sensitive (content|word|info)",
    r"responsible ?ai",
    r"safety (system|filter|polic|check|guard|setting.? block)",
    r"prohibited",
    r"guardrail",
    r"risk control",
    r"censor",
    r"unsafe (content|input|prompt)",
    r"blocked by .{0,40}safety",
    r"prompt (was|has been|is) blocked",
    r"blockreason",
    r"harmful|harassment|self.harm",
)
_TOO_LONG = _any(
    r"context.?(length|window|size)",
    r"\bn_ctx\b",
    r"too (long|many (input |prompt )?tokens)",
    r"(token count|(input|prompt) (length|tokens)|number of (input )?tokens|total tokens)"
    r".{0,80}(exceed|larger than|greater than|more than|over the|maximum|must be <=|at most|limit)",
    r"exceeds? .{0,60}(tokens|characters|length|context)",
    r"reduce (your|the) (message|prompt|input|length)",
    r"(request|prompt|input|message|payload) (is )?too large",
    r"\binputs?` ?tokens",
    r"string_above_max_length",
    r"max_num_tokens|max_input|max_model_len|max_seq",
    r"range of input length",
    r"longer than the (model|maximum|max)",
    r"tokens per minute.{0,60}requested",
)
_UNPAID = _any(
    r"insufficient.?(quota|credit|balance|fund)",
    r"(out of|not enough|no|add more|purchase|buy) credits?",
    r"billing.?(hard|not|limit|issue|detail)",
    r"payment required",
    r"account.{0,30}(suspend|deactivat|arrear|overdue)",
    r"exceeded your current quota",
    r"balance (is )?(too low|not enough|exhausted|insufficient)",
    r"arrearage",
    r"(credit|spend|spending|usage) (balance|limit).{0,30}(low|reached|exceeded|exhausted)",
)
_KEY = _any(
    r"(api|access|secret|auth\w*).?(key|token)s?\b.{0,40}"
    r"(not valid|invalid|incorrect|wrong|missing|required|expired|revoked|not found)",
    r"(invalid|incorrect|wrong|missing|no|expired|revoked|unknown|bad).{0,20}(api|access|auth\w*|bearer).?(key|token|header)",
    r"api_key_invalid",
    r"unauthori[sz]ed|unauthenticated",
    r"authentication.?(error|fail|required)",
    r"invalid.?(authentication|credentials)",
    r"credentials .{0,30}(not|invalid|missing)",
)
_SYSTEM = _any(
    r"system.{0,30}(role|message|instruction|prompt).{0,40}(not|n't|unsupported|un?expected|invalid)",
    r"(not|n't|unsupported|unexpected|invalid|unknown).{0,40}\bsystem\b.{0,20}(role|message|instruction|prompt)?",
    r"role.{0,20}['\"]?system",
    r"(developer|system) instruction is not enabled",
    r"valid role: user",
    r"roles? must alternate",
    r"(must|should) (start|begin) with (a |the )?['\"]?user",
    r"first message.{0,30}(must|should) be.{0,20}user",
    r"only (the )?(user|['\"]?user['\"]?) and (the )?['\"]?(assistant|model)['\"]? roles",
    r"alternat\w+ .{0,30}(user|assistant|roles)",
    r"messages\[\d+\]\.role",
)
_NEEDS = _any(r"(field |is |are )?required", r"missing", r"must be (set|given|provided|specified)")
_SCHEMA_AT_ALL = _any(
    r"schema",
    r"response.?format",
    r"structured",
    r"grammar",
    r"guided",
    r"xgrammar|outlines|guidance",
    r"generation_?config",
    r"samplers?",
    r"regex",
    r"json",
)
_COMPILES_NOT = _any(
    r"compil",
    r"grammar",
    r"samplers?",
    r"invalid.{0,20}schema",
    r"schema.{0,40}(invalid|too (large|complex|deep|many))",
    r"features? not supported",
    r"(conversion|parsing) failed|unrecogni[sz]ed schema",
    r"too (complex|many (states|properties|repetitions|enum))",
    r"(xgrammar|outlines|guidance|lm-format-enforcer).{0,60}(support|fail)",
    r"schema produces a constraint",
)
_GRAMMAR = _any(r"compil", r"(?<!x)grammar", r"samplers?")
_FORMAT = _any(
    r"response.?format",
    r"json.?(schema|object|mode|output)",
    r"structured.?output",
    r"guided.?(json|decoding)",
    r"tool|function.?call",
    r"generation_?config.?response",
    r"\bjson\b",
    r"schema|grammar",
)
_AGAIN = _any(
    r"crash",
    r"(failed|unable|still|while) (to )?load",
    r"loading",
    r"no models? (is |are )?(currently )?loaded",
    r"unload",
    r"timed? ?out",
    r"temporar",
    r"try again|retry",
    r"overload|busy|capacity|unavailable",
    r"internal (server )?error",
    r"cuda|out of memory",
    r"upstream|provider returned|bad gateway",
    r"reloading|warming",
)
_NO_MODEL = _any(
    r"model.{0,80}(not found|does(n't| not) exist|not (a )?valid|unknown|not available|no longer)",
    r"model.{0,80}(deprecat|decommission|not supported for)",
    r"(unknown|invalid|no such|unrecogni[sz]ed|unsupported|incorrect) model",
    r"model_not_found|model_not_exist|invalid_model",
    r"pull(ing)? (the model|it) first",
    r"access to (the )?model",
)
_LIMITED = _any(
    r"rate.?limit",
    r"too many (concurrent )?requests",
    r"throttl",
    r"resource.?exhausted",
    r"requests? per (min|sec|day)|\b[rt]p[md]\b",
)
_NO_WAY = _any(r"no endpoints? found.{0,80}(support|handle)", r"support.{0,40}requested parameters")


class RefusalMeaning(NamedTuple):
    """The meaning of a refusal, and the part of the request that it concerns."""

    meaning: Meaning
    name: str = ""
    """The parameter or the keyword; ``grammar``: the schema cannot be compiled to a grammar."""


def read_meaning(refusal: Refusal) -> RefusalMeaning:
    """Return the meaning of a refusal, by the first rule that fits its status, codes or words."""
    for rule in (_of_status, _of_words, _of_the_request):
        if (meaning := rule(refusal)) is not None:
            return meaning
    return RefusalMeaning("other")


def _of_status(refusal: Refusal) -> RefusalMeaning | None:
    """Return the meaning of a refusal whose status tells it, with little help from the words."""
    status, text = refusal.status, f"{refusal.codes} {refusal.words}"
    if status in (401, 407):
        return RefusalMeaning("key")
    if status == 402:
        return RefusalMeaning("unpaid")
    if status == 403:
        return RefusalMeaning("other" if refusal.page else "flagged" if _FLAGGED(text) else "key")
    if status == 404:
        return RefusalMeaning("format" if _NO_WAY(text) else "model")
    if status == 413:
        return RefusalMeaning("too_long")
    if status == 429:
        unpaid = _UNPAID(text) and find_wait(refusal) is None and not _LIMITED(text)
        return RefusalMeaning("unpaid" if unpaid or "insufficient_quota" in refusal.codes else "wait")
    if status >= 500 and _GRAMMAR(text) and _SCHEMA_AT_ALL(text):
        return RefusalMeaning("schema", "grammar")  # llama.cpp's words
    if status in (408, 409, 425) or status >= 500:
        return RefusalMeaning("again")
    return None


def _of_words(refusal: Refusal) -> RefusalMeaning | None:
    """Return, from the words, a meaning that concerns the call, the account or the roles of messages."""
    text, names = f"{refusal.codes} {refusal.words}", [*_parameters(refusal)]
    if _GENERATION(text) or refusal.failed:
        return RefusalMeaning("generation")
    if _FLAGGED(text):
        return RefusalMeaning("flagged")
    if _UNPAID(text):
        return RefusalMeaning("unpaid")
    if _KEY(text):
        return RefusalMeaning("key")
    if _SYSTEM(text) and "response_format" not in refusal.params:
        return RefusalMeaning("system")
    if names and _NEEDS(text) and not _any(r"not (permitted|supported|allowed)", r"use '")(text):
        return RefusalMeaning("needs", names[0])
    if _TOO_LONG(text) and not (names and _starts_with(refusal.words, names[0])):
        return RefusalMeaning("too_long")
    return None


def _of_the_request(refusal: Refusal) -> RefusalMeaning | None:
    """Return the refused part of the request, or a fault of the server."""
    text = f"{refusal.codes} {' '.join(refusal.params)} {refusal.words}"
    about_schema = _SCHEMA_AT_ALL(text)
    if about_schema and (keyword := next(_keywords(refusal.words), "")):
        return RefusalMeaning("keyword", keyword)
    if name := next(_parameters(refusal), ""):
        return RefusalMeaning("parameter", name)
    if _NO_MODEL(text):
        return RefusalMeaning("model")
    if about_schema and _COMPILES_NOT(text):
        return RefusalMeaning("schema", "grammar" if _GRAMMAR(text) else "")
    if _FORMAT(text):
        return RefusalMeaning("format")
    if _LIMITED(text):
        return RefusalMeaning("wait")
    return RefusalMeaning("again") if _AGAIN(text) else None


def _parameters(refusal: Refusal) -> Iterator[str]:
    """Yield the optional parameters that a refusal names: in a field, then in its words."""
    yield from (name for name in refusal.params if name in OPTIONAL)
    text = f"{refusal.words} {refusal.codes}"
    places = {name: re.search(rf"(?<![\w.]){name}\b", text) for name in OPTIONAL}
    positions = {name: place.start() for name, place in places.items() if place}
    yield from sorted(positions, key=positions.__getitem__)


def _starts_with(words: str, name: str) -> bool:
    """Return whether ``words`` begin with a parameter: then the parameter is too large, not the prompt."""
    start = rf"\W*(invalid|unsupported)?\W*(value|parameter)?\W*{name}\b"
    return re.match(start, words, re.I) is not None


def _keywords(words: str) -> Iterator[str]:
    """Yield keywords of JSON Schema that stand in quotation marks or are in camel case."""
    words = re.sub(r"\([^()]*\)", " ", words)  # drop the place: context=('properties', 'title')
    for match in re.finditer(r"[\"'`“]([$\w]+)[\"'`”]|\b([a-z]+[A-Z]\w+)\b", words):
        name = match[1] or match[2]
        if name in KEYWORDS:
            yield name
