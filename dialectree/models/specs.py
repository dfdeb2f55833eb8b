"""Resolve a speaker, ``provider:model@URL`` or a live chat model, to a model to call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableWithFallbacks
from pydantic import SecretStr

from dialectree.errors import KeyRefused, ModelUnavailable, SettingsError
from dialectree.models.limits import Limiter, limiter
from dialectree.protocols.settings import ProtocolSettings
from dialectree.protocols.sources import endpoint_from_environment
from dialectree.protocols.trust import OPENAI, endpoint, key
from dialectree.system.addresses import (
    is_loopback,
    mark,
    place_in,
    public,
    require_spec,
    restore_credentials,
    secrets,
)
from dialectree.text import find_nearest, line

_KEY_NAMES = {"google_genai": "GOOGLE", "mistralai": "MISTRAL", "perplexity": "PPLX"}
"""How variables name the providers that they do not name as a spec does."""
NO_KEY = re.compile(r"api.?key|authentication|credentials", re.I)
"""Matches the error of a library that has no key."""


@dataclass(frozen=True)
class Spec:
    """One model at one address. ``live`` is the model object if the caller's program made it."""

    provider: str
    """``openai``, ``local``, ``live``, or the name of another provider of LangChain."""
    model: str
    url: str | None = None
    """The address without its secrets, to show and to record."""
    whole_url: str | None = field(default=None, repr=False)
    """The address with its user, password and query."""
    live: Runnable[Any, Any] | None = None
    keyless: bool = False
    """True if the environment's key is not sent."""

    @property
    def openai_compatible(self) -> bool:
        """Return whether the model answers OpenAI's API."""
        return self.provider in ("openai", "local")

    def limiter(self) -> Limiter:
        """Return the limiter of the requests at the model's address."""
        place = self.whole_url or (f"live {id(self.live)}" if self.live else self.provider)
        return limiter(place, local=self.provider == "local")

    @property
    def is_local(self) -> bool:
        """Return whether the model runs on this machine: its file or its server tells its size."""
        if self.provider == "local":
            return True
        return self.provider == "openai" and is_loopback(self.whole_url or "")

    @property
    def name(self) -> str:
        """Return the model as a record names it: ``openai:NAME``, without the address."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """Return the model's name with its address or file, to tell models of the same name apart."""
        if self.provider == "local" and self.model.endswith(".gguf"):
            return f"local:{Path(self.model).expanduser().absolute()}"
        return f"{self.name}@{self.url}" if self.url else self.name

    @property
    def mark(self) -> str:
        """Return a mark of the hidden parts of the address; "" if nothing is hidden."""
        return mark(self.whole_url or "")

    @property
    def where(self) -> str:
        """Return the address, or else the name, for messages."""
        return self.url or self.name

    def secrets(self) -> list[str]:
        """Return the texts that messages must hide: keys, password, token, values of the query."""
        keys: list[str] = []
        if self.live is not None:
            fields = [value for model in models(self.live) for value in vars(model).values()]
            keys = [value.get_secret_value() for value in fields if isinstance(value, SecretStr)]
        elif not self.openai_compatible:
            keys = [value for name, value in os.environ.items() if name.endswith("_API_KEY")]
        return secrets(self.whole_url or "", endpoint_from_environment()[0] or "", *keys)

    def discreet(self, text: str) -> str:
        """Return ``text`` without the key, user, password and query that open the endpoint."""
        for secret in self.secrets():
            text = text.replace(secret, "***")
        return text


def resolve(speaker: str | Runnable[Any, Any], context: ProtocolSettings) -> Spec:
    """Return the spec of a speaker of ``context``.

    Raises SettingsError if ``context.trust`` refuses the speaker's address or file, or if the package
    of the provider is missing.
    """
    if isinstance(speaker, Runnable):
        return Spec("live", _name_of(speaker), live=speaker)
    parts = require_spec(restore_credentials(speaker))
    provider, model, url = parts["provider"], parts["model"], parts["url"]
    if provider == "local":
        context.trust.require_file(place_in(restore_credentials(speaker)))
        return Spec(provider, model)
    if provider != "openai":
        if url:
            context.trust.require_provider(provider, url)
        spec = Spec(provider, model, public(url) if url else None, url)
        with suppress(KeyRefused):  # describe_missing_key says so before the first call
            require(spec)  # its package finds the key by itself
        return spec
    url = endpoint(url, context.base_url)
    access = context.trust.access(url)
    if access.refusal:
        raise SettingsError(access.refusal)
    return Spec(provider, model, public(url), url, keyless=access.keyless)


def _name_of(live: Runnable[Any, Any]) -> str:
    """Return class and name of the first model of ``live``."""
    model = next(models(live), None)
    if model is None:
        raise SettingsError(
            f"a {type(live).__name__} is no chat model: give one of LangChain's, or one with "
            ".bind() or .with_fallbacks()"
        )
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    kind = type(model).__name__
    return f"{kind}/{name}" if isinstance(name, str) and name else kind


def chat_model(spec: Spec) -> BaseChatModel:
    """Return the model of ``spec`` without retries of its own; the provider's package finds the key.

    Raises SettingsError for an unknown provider or a missing package, and KeyRefused for a missing key.
    """
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"base_url": spec.whole_url} if spec.whole_url else {}
    try:
        if spec.provider == "ollama" and not _can_import("langchain_ollama"):
            raise ImportError("pip install langchain-ollama")  # LangChain would take an older package
        model: BaseChatModel = init_chat_model(
            spec.model, model_provider=spec.provider, max_retries=0, **options
        )
    except ImportError as error:
        package = re.search(r"pip install [\w.-]+", str(error))
        hint = package[0] if package else str(error)
        raise SettingsError(f"{spec.name} needs a package that is not installed: {hint}") from None
    except Exception as error:  # of any library: usually a missing key
        if isinstance(error, ValueError) and "provider" in str(error).partition("\n")[0]:
            raise SettingsError(
                f"there is no provider {spec.provider!r}{_suggest_provider(spec, str(error))}"
            ) from None
        text = line(spec.discreet(str(error)), 300)
        if NO_KEY.search(text):
            raise KeyRefused(_ask_for_key(spec)) from None
        raise ModelUnavailable(f"{spec.name} cannot be used: {text}") from None
    return model


def _can_import(module: str) -> bool:
    """Return whether a module is imported already or can be."""
    return module in sys.modules or find_spec(module) is not None


def _suggest_provider(spec: Spec, refusal: str) -> str:
    """Return the spec with the most similar provider, or else how to write a spec.

    ``refusal`` is LangChain's message, which lists its providers.
    """
    providers = refusal.partition("providers are: ")[2]
    names = ("openai", "local", *providers.split(", "))
    if near := find_nearest(spec.provider, names):
        address = f"@{spec.url}" if spec.url else ""
        return f"; did you mean {near}:{spec.model}{address}?"
    others = providers or "see LangChain's documents"
    return f": write openai:NAME, local:smollm2, local:PATH.gguf, or one of {others}"


@lru_cache(maxsize=64)
def require(spec: Spec) -> None:
    """Raise the errors of ``chat_model``; check each spec only until it works once."""
    chat_model(spec)


def require_keys(specs: Iterable[Spec]) -> None:
    """Raise KeyRefused, which names every missing key, if the key of a model is not set."""
    if missing := [*dict.fromkeys(text for spec in specs if (text := describe_missing_key(spec)))]:
        raise KeyRefused("; ".join(missing))


def describe_missing_key(spec: Spec) -> str:
    """Return which key the model of ``spec`` lacks; "" if it has its key or needs none."""
    if spec.live is not None:
        return ""
    if spec.openai_compatible:
        lacks_key = spec.url == OPENAI and not (spec.keyless or key())
        return f"{OPENAI} needs a key: set OPENAI_API_KEY, or name an endpoint by `base_url`" * lacks_key
    try:
        require(spec)
    except KeyRefused as error:
        return str(error)
    return ""


def _ask_for_key(spec: Spec) -> str:
    """Return the message that asks for the key of a model of another library."""
    name = _KEY_NAMES.get(spec.provider, spec.provider.upper())
    return f"{spec.where} needs a key: set {name}_API_KEY"


def models(chat: Runnable[Any, Any]) -> Iterator[BaseChatModel]:
    """Yield the chat models inside ``chat``."""
    if isinstance(chat, BaseChatModel):
        yield chat
    elif isinstance(chat, RunnableBinding):
        yield from models(chat.bound)
    elif isinstance(chat, RunnableWithFallbacks):
        for runnable in chat.runnables:
            yield from models(runnable)
