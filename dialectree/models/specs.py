"""Resolve a speaker, ``provider:model@URL`` or a live chat model, to a model to call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableWithFallbacks
from pydantic import SecretStr

from dialectree.errors import ModelUnavailable, SettingsError
from dialectree.models.limits import Limiter, limiter
from dialectree.protocols.settings import ProtocolSettings
from dialectree.protocols.sources import endpoint_from_environment
from dialectree.protocols.trust import endpoint
from dialectree.system.addresses import (
    is_loopback,
    mark,
    place_in,
    public,
    require_spec,
    restore_credentials,
    secrets,
)
from dialectree.text import line


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

    Raises SettingsError for an unknown provider or a missing package.
    """
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"base_url": spec.whole_url} if spec.whole_url else {}
    try:
        model: BaseChatModel = init_chat_model(
            spec.model, model_provider=spec.provider, max_retries=0, **options
        )
    except ImportError as error:
        package = re.search(r"pip install [\w.-]+", str(error))
        hint = package[0] if package else str(error)
        raise SettingsError(f"{spec.name} needs a package that is not installed: {hint}") from None
    except Exception as error:  # of any library: usually a missing key
        if isinstance(error, ValueError) and "provider" in str(error).partition("\n")[0]:
            providers = str(error).partition("providers are: ")[2] or "see LangChain's documents"
            raise SettingsError(
                f"there is no provider {spec.provider!r}: write openai:NAME, local:smollm2, "
                f"local:PATH.gguf, or one of {providers}"
            ) from None
        text = line(spec.discreet(str(error)), 300)
        raise ModelUnavailable(f"{spec.name} cannot be used: {text}") from None
    return model


@lru_cache(maxsize=64)
def require(spec: Spec) -> None:
    """Raise the errors of ``chat_model``; check each spec only until it works once."""
    chat_model(spec)


def models(chat: Runnable[Any, Any]) -> Iterator[BaseChatModel]:
    """Yield the chat models inside ``chat``."""
    if isinstance(chat, BaseChatModel):
        yield chat
    elif isinstance(chat, RunnableBinding):
        yield from models(chat.bound)
    elif isinstance(chat, RunnableWithFallbacks):
        for runnable in chat.runnables:
            yield from models(runnable)
