"""Parse addresses, and hide user names and passwords when showing them."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from typing import Self, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from dialectree.text import line

T = TypeVar("T")

_URL = re.compile(r"(?P<scheme>\w+://)(?:[^/?#\s]*@)?(?P<place>[^?#\s]*)(?:[?#]\S*)?")
_NAMED = re.compile(r"(?:\w+:(?!//)[^@?#]+@(?=https?://)|(?:openai|local):[^@?#]+@)?(?:\w+://)?")
"""The harmless beginning of a refused text: a model's name, the scheme of an address."""
_HIDDEN = re.compile(r"\A.*[?#].*@.*|\A[^?#]*@|[?#].*", re.DOTALL)
"""The parts of a refused text, after its harmless beginning, that may be user, password or query."""
_SPEC = re.compile(r"(?P<provider>[a-z][a-z0-9_]*):(?!//)(?P<model>.+?)(?:@(?P<url>https?://.*))?", re.DOTALL)
_NO_SCHEME = re.compile(r"@(localhost|\d+(?:\.\d+){3}|[\w.-]+:\d+)(/|\Z)|@.*(@|://)", re.DOTALL)
"""Characters in a model's name that show that a part of it was meant as an address."""
_BARE_MODEL = re.compile(r"(?:(?P<provider>[A-Za-z]\w*)[:/])?(?P<model>[\w.-]+)")
"""A model without its provider, or with the provider in another notation; never an address."""
_BARE_ADDRESS = re.compile(r"[\w.-]+(?::\d+)?(?:/[\w./-]*)?")
"""An address without its scheme, and without user, password and query."""
_FAMILIES = {"claude": "anthropic", "gemini": "google_genai", "smollm2": "local"}
"""Providers of models that are not called ``openai:``, by the beginning of the model's name."""
_FETCHED = re.compile(r"(https?|ftp):/+", re.IGNORECASE)
_ENDING = re.compile(r"\.\w{1,8}\Z")
_SHORTEST_SECRET = 4  # a shorter secret protects nothing, and hiding it would hide words


@lru_cache(maxsize=256)
def public(text: str) -> str:
    """Return ``text``, in which addresses have no user, password, query and fragment."""
    return _URL.sub(lambda url: url["scheme"] + url["place"].rstrip("/"), text)


def redact_passwords(text: str) -> str:
    """Return a refused ``text`` without any part that may be a password.

    The parts of a wrong address have no certain end. So everything before an @ is removed, except a
    model's name, and everything after a ? or #.
    """
    name_match = _NAMED.match(text)
    end = name_match.end() if name_match else 0
    return text[:end] + _HIDDEN.sub("…", text[end:])


def require_address(url: str) -> str:
    """Return ``url``; raise ValueError if it is not an address.

    The error quotes ``url`` only if nothing in it can be a password.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("this cannot be read as an address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        suggestion = f"; did you mean http://{url}?" if _BARE_ADDRESS.fullmatch(url) else ""
        raise ValueError(f"an address begins with http:// or https://{suggestion}")
    if " " in url or not url.isprintable():  # ``public`` would show a password after it
        raise ValueError("an address must not contain a blank or a line break")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("port must be a number from 0 to 65535") from None
    return url


@lru_cache(maxsize=256)
def require_spec(text: str) -> re.Match[str]:
    """Return provider, model and url of a model written ``provider:NAME@URL``.

    Raises ValueError for other texts, and for a wrong address: it could otherwise be taken as a part
    of the name, and be sent to another server.
    """
    spec = _SPEC.fullmatch(text.strip())
    if not spec:
        spec_forms = "openai:NAME, openai:NAME@URL, PROVIDER:NAME, local:smollm2 or local:PATH.gguf"
        raise ValueError(f"a model is written {spec_forms}{_suggest_spec(text.strip())}")
    if _NO_SCHEME.search(spec["model"]):
        model, _, url = spec["model"].rpartition("@")
        suggestion = ""
        if "@" not in model and _BARE_ADDRESS.fullmatch(url):
            suggestion = f"; did you mean {spec['provider']}:{model}@http://{url}?"
        raise ValueError(f"an address begins with http:// or https://{suggestion}")
    if spec["url"]:
        require_address(spec["url"])
    return spec


def _suggest_spec(text: str) -> str:
    """Return ``; did you mean openai:NAME?`` for a model ``text`` without a provider; "" for other texts."""
    model = _BARE_MODEL.fullmatch(text)
    if model is None:
        return ""
    family = next((_FAMILIES[name] for name in _FAMILIES if model["model"].startswith(name)), "openai")
    provider = "local" if text.endswith(".gguf") else (model["provider"] or family).lower()
    return f"; did you mean {provider}:{model['model']}?"


def describe_missing_file(name: str, problem: str) -> str:
    """Return the message for a file that does not exist: ``problem``, or that ``name`` is something else.

    An address or a text is often given in place of a file. A path has one slash less than the address.
    """
    if address := _FETCHED.match(name):
        url = public(f"{address[1]}://{name[address.end() :]}")
        return f"{url}: addresses are not fetched; save the page as a file and name the file"
    if " " in name and not _ENDING.search(name):
        return f"{line(name, 60)!r} is a text, not a file; save it as a file and name the file"
    return f"{name}: {problem}"


def address_in(text: str) -> str:
    """Return the address of a spec, "" for a spec without one, and any other ``text`` unchanged."""
    spec = _SPEC.fullmatch(text.strip())
    return ((spec["url"] or "") if spec else text).rstrip("/")


def place_in(text: str) -> str:
    """Return the address, or the file of a model (``local:PATH``), that a setting names.

    Return "" for a setting that names neither. A name of embeddings may be a folder, so it counts as
    a file, except the names that ``embeddings`` chooses itself.
    """
    spec = _SPEC.fullmatch(text.strip())
    if spec and spec["provider"] == "local":
        return "" if spec["model"] == "smollm2" else f"local:{spec['model']}"
    return "" if text in ("auto", "bm25", "BAAI/bge-small-en-v1.5") else address_in(text)


def is_loopback(url: str) -> bool:
    """Return whether ``url`` is on this machine itself."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


@lru_cache(maxsize=256)
def mark(url: str) -> str:
    """Return a one-way hash of the user, password and query of ``url``; "" if it has none.

    In the keys of calls the hash distinguishes two endpoints with the same public address. It is slow
    to compute, so that nobody can find a short password by trying all passwords.
    """
    parts = urlsplit(url)
    user, query = parts.netloc.rpartition("@")[0], parts.query
    if not user and not query:
        return ""
    opens = f"{user}@?{query}".encode()
    return hashlib.scrypt(opens, salt=b"dialectree", n=2**14, r=8, p=1, dklen=8).hex()


def basic(url: str) -> str | None:
    """Return the token of a Basic authorization with the user and password of ``url``, or None."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return base64.b64encode(user.encode()).decode()


def secrets(url: str, *keys: str) -> list[str]:
    """Return the secrets in ``url`` and the ``keys``, longest first.

    They are the keys, the password (or a user without a password), the Basic token, and the values
    of the query, each plain and percent-encoded.
    """
    parts = urlsplit(url)
    password, token = parts.password or parts.username or "", (basic(url) or "").rstrip("=")
    values = [value for _, value in parse_qsl(parts.query)]
    plain = [*keys, unquote(password), token, *values]
    spelt = [spell(text) for text in plain for spell in (quote_plus, lambda text: quote(text, ""))]
    candidates = {*plain, *spelt, password}
    return sorted((text for text in candidates if len(text) >= _SHORTEST_SECRET), key=len, reverse=True)


class MaskedAddress(str):
    """A spec or an address as ``public`` returns it; an attribute keeps the full text."""

    full_text: str

    def __new__(cls, text: str) -> Self:
        """Take the secrets out of ``text``."""
        public_text = super().__new__(cls, public(text))
        public_text.full_text = restore_credentials(text)
        return public_text


def restore_credentials(text: T) -> T:
    """Return the full ``text``, with user, password and query."""
    return text.full_text if isinstance(text, MaskedAddress) else text  # type: ignore[return-value]


def hide_credentials(text: object) -> object:
    """Return a text as ``public`` does; return other objects, such as a live model, unchanged."""
    return MaskedAddress(text) if isinstance(text, str) else text


def harmless(error: ValidationError) -> ValidationError:
    """Return ``error`` without secrets in its values and keys."""
    faults: list[InitErrorDetails] = [
        {
            "type": fault["type"],
            "loc": tuple(redact_passwords(part) if isinstance(part, str) else part for part in fault["loc"]),
            "input": _redact_value(fault["input"]),
            "ctx": fault.get("ctx", {}),
        }
        for fault in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data(error.title, faults, hide_input=True)


def _redact_value(value: object) -> object:
    text = value if isinstance(value, str) else repr(value)
    safe = redact_passwords(text)
    return value if safe == text else safe
