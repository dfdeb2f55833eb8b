"""Resolve who plays a role, ``provider:model@URL`` or a live chat model, to a model to call."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import Runnable
from pydantic import SecretStr

from dialectree.errors import SettingsError
from dialectree.protocols import sources
from dialectree.protocols.settings import (
    CLIENT,
    ProtocolSettings,
    RetrievalSettings,
    endpoint_from_environment,
)
from dialectree.protocols.sources import ALLOW_MODELS, ALLOW_URLS, PREFIX
from dialectree.system.addresses import (
    mark,
    place_in,
    public,
    require_address,
    require_spec,
    secrets,
    veiled,
    whole,
)
from dialectree.system.platform_internals import on_a_server

OPENAI = "https://api.openai.com/v1"
NAME_IT = "name it yourself: --base-url URL, --role ROLE=openai:NAME@URL or OPENAI_BASE_URL"


class Access(NamedTuple):
    """What is sent to an address."""

    keyless: bool = False
    """True where the key of the environment is not sent."""
    refusal: str = ""
    """Why nothing is sent; empty where something is."""


WITH_KEY = Access()


@dataclass(frozen=True)
class Spec:
    """One model at one address. ``live`` is the model itself if the caller's program made it."""

    provider: str
    """``openai``, ``local``, ``live``, or the name of another provider of LangChain."""
    model: str
    url: str | None = None
    """The address, as it may be shown and recorded."""
    whole_url: str | None = field(default=None, repr=False)
    """The address with its user, password and query."""
    live: Runnable[Any, Any] | None = None
    keyless: bool = False
    """True where the key of the environment is not sent."""

    @property
    def openai_compatible(self) -> bool:
        """Return whether the model answers OpenAI's API."""
        return self.provider in ("openai", "local")

    @property
    def name(self) -> str:
        """Return the model as a record names it: ``openai:NAME``, without the address."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """Return the model and where it is: what tells two models of one name apart."""
        if self.provider == "local" and self.model.endswith(".gguf"):
            return f"local:{Path(self.model).expanduser().absolute()}"
        return f"{self.name}@{self.url}" if self.url else self.name

    @property
    def mark(self) -> str:
        """Return what tells apart two endpoints at one shown address; "" if nothing is hidden."""
        return mark(self.whole_url or "")

    @property
    def where(self) -> str:
        """Return the place, for people."""
        return self.url or self.name

    def secrets(self) -> list[str]:
        """Return what no message may show: keys, password, token, and values of the query."""
        keys: list[str] = []
        if self.live is not None:
            from dialectree.models.providers import models

            fields = [value for model in models(self.live) for value in vars(model).values()]
            keys = [value.get_secret_value() for value in fields if isinstance(value, SecretStr)]
        elif not self.openai_compatible:
            keys = [value for name, value in os.environ.items() if name.endswith("_API_KEY")]
        return secrets(self.whole_url or "", endpoint_from_environment()[0] or "", *keys)


def resolve(speaker: str | Runnable[Any, Any], context: ProtocolSettings) -> Spec:
    """Return the spec of a speaker of ``context``.

    Raises SettingsError if a key of the environment would go to an address that a stranger named,
    if a client of a server names an address or a file that it may not, or if the package of the
    provider is missing.
    """
    if isinstance(speaker, Runnable):
        return Spec("live", _name_of(speaker), live=speaker)
    parts = require_spec(whole(speaker))
    provider, model, url = parts["provider"], parts["model"], parts["url"]
    if provider == "local":
        if (file := place_in(whole(speaker))) and context.stranger(file) == CLIENT:
            _require_allowed(file)
        return Spec(provider, model)
    if provider != "openai":
        from dialectree.models.providers import require

        if url and (refusal := _refusal(f"the key of {provider}", url, context)):
            raise SettingsError(refusal)
        spec = Spec(provider, model, public(url) if url else None, url)
        require(spec)  # its package finds the key by itself
        return spec
    url = url or whole(context.base_url or "") or _conventional()
    access = _access(url, context)
    if access.refusal:
        raise SettingsError(access.refusal)
    return Spec(provider, model, public(url), url, keyless=access.keyless)


def _access(url: str, context: ProtocolSettings) -> Access:
    """Return whether ``url`` gets the key of the environment, is used without it, or is refused."""
    stranger, secret = context.stranger(url), key()  # a key that cannot be sent is an error
    if url.rstrip("/") in _own() or stranger is None:
        return WITH_KEY
    if stranger == CLIENT:
        _require_allowed(url)
        return Access(keyless=True)
    if not secret:
        return WITH_KEY
    if context.keyless(url):
        return Access(keyless=True)
    return Access(refusal=_refusal("OPENAI_API_KEY", url, context))


def embeddings_access(context: RetrievalSettings) -> Access:
    """Return what is sent to the endpoint that embeds, if there is one."""
    name = whole(context.embeddings)
    if not name.startswith("openai:"):
        if (file := place_in(name)) and context.stranger(file) == CLIENT:
            _require_allowed(file)
        return WITH_KEY
    url = require_spec(name)["url"] or whole(context.base_url or "") or _conventional()
    return _access(url, context)


def require_embeddings(context: RetrievalSettings) -> None:
    """Check the endpoint or the file that embeds as ``resolve`` does."""
    if refusal := embeddings_access(context).refusal:
        raise SettingsError(refusal)


def require_named(context: ProtocolSettings) -> None:
    """Check every address of ``context`` as ``resolve`` does, before another process gets them."""
    for speaker in (context.model, *context.roles.values()):
        resolve(speaker, context)
    if isinstance(context, RetrievalSettings):
        require_embeddings(context)


def require_permitted(context: ProtocolSettings) -> None:
    """Raise SettingsError where a client of a server chose what only its operator may choose."""
    reserved, places = context.clients_own()
    for name in reserved:
        variable = f"{PREFIX}{name}".upper()
        raise SettingsError(f"{name}: the server's operator sets it, by {variable}; leave it out")
    for place in sorted(places - _own()):
        _require_allowed(place)


def _own() -> frozenset[str]:
    """Return the address of the OpenAI convention, whole and as it is shown."""
    own = (endpoint_from_environment()[1] or OPENAI).rstrip("/")
    return frozenset({own, public(own)})


def _require_allowed(place: str) -> None:
    """Raise SettingsError unless a server's operator lets clients name the address or file.

    Never looks whether there is such a file: a client must not learn it.
    """
    url = place.startswith(("http://", "https://"))
    what, variable = ("address", ALLOW_URLS) if url else ("file of a model", ALLOW_MODELS)
    may = sources.allowed(variable)
    if place.rstrip("/").removeprefix("local:") in may:
        return
    named = f"only {', '.join(map(public, may))}" if may else f"no {what}"
    hint = "" if on_a_server() else ", or name it yourself: --base-url URL, --model SPEC"
    raise SettingsError(
        f"{public(place)}: clients of a server may name {named} here; its operator allows more by "
        f"{variable}{hint}"
    )


def key() -> str | None:
    """Return the key of the environment; raise SettingsError for one that cannot be sent."""
    secret = endpoint_from_environment()[0]
    if secret and not (secret.isascii() and secret.isprintable()):
        raise SettingsError(
            "OPENAI_API_KEY holds a line break or another character that no key has: set it again"
        )
    return secret


def _refusal(what: str, url: str, context: ProtocolSettings) -> str:
    """Say why ``url`` is refused if it is one that nobody vouches for, of a file or a client."""
    if (stranger := context.stranger(url)) is None:
        return ""
    return (
        f"{what} is not sent to {public(url)}: that address comes from {stranger}. If it "
        f"may have the key, {NAME_IT}"
    )


def _conventional() -> str:
    """Return the address of the OpenAI convention: the environment's, else OpenAI's own."""
    url = endpoint_from_environment()[1] or OPENAI
    try:
        return require_address(url)
    except ValueError as error:
        raise SettingsError(f"OPENAI_BASE_URL: {error}, not {veiled(url)!r}") from None


def _name_of(live: Runnable[Any, Any]) -> str:
    """Return the name of the first model of ``live``, after the class that holds it."""
    from dialectree.models.providers import models

    model = next(models(live), None)
    if model is None:
        raise SettingsError(
            f"a {type(live).__name__} is no chat model: give one of LangChain's, or one with "
            ".bind() or .with_fallbacks()"
        )
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    kind = type(model).__name__
    return f"{kind}/{name}" if isinstance(name, str) and name else kind
