"""Who plays a role: ``provider:model@URL`` or a live chat model, resolved to something to call."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from dialectree.addresses import (
    mark,
    public,
    require_address,
    require_spec,
    secrets,
    veiled,
    whole,
)
from dialectree.context import ProtocolSettings, RetrievalSettings, endpoint_from_environment
from dialectree.errors import SettingsError

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Spec:
    """One model at one address. ``live`` is the model itself where the caller brought it."""

    provider: Literal["openai", "local", "live"]
    model: str
    url: str | None = None
    """The address, as it may be shown and recorded."""
    whole_url: str | None = field(default=None, repr=False)
    """The address with the user, password and query that it was given with."""
    live: BaseChatModel | None = None

    @property
    def name(self) -> str:
        """The model as a record names it: ``openai:NAME``, without the address."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The model and where it is: what tells two models of one name apart."""
        if self.provider == "local" and self.model.endswith(".gguf"):
            return f"local:{Path(self.model).expanduser().absolute()}"
        return f"{self.name}@{self.url}" if self.url else self.name

    @property
    def mark(self) -> str:
        """Tell apart two endpoints at one shown address; "" where nothing is hidden of it."""
        return mark(self.whole_url or "")

    @property
    def where(self) -> str:
        """The place, for people."""
        return self.url or self.name

    def secrets(self) -> list[str]:
        """What must not be told of the way in: keys, password, token, and values of the query."""
        held = vars(self.live).values() if self.live is not None else ()
        keys = [value.get_secret_value() for value in held if isinstance(value, SecretStr)]
        return secrets(self.whole_url or "", endpoint_from_environment()[0] or "", *keys)


def resolve(speaker: str | BaseChatModel, context: ProtocolSettings) -> Spec:
    """The spec of a speaker of ``context``.

    SettingsError where the key of the environment would go to an address of somebody else.
    """
    if isinstance(speaker, BaseChatModel):
        return Spec("live", _name_of(speaker), live=speaker)
    spec = require_spec(whole(speaker))
    if spec["provider"] == "local":
        return Spec("local", spec["model"])
    url = spec["url"] or whole(context.base_url or "") or _conventional()
    _require_named(url, context)
    return Spec("openai", spec["model"], public(url), url)


def require_embeddings(context: RetrievalSettings) -> None:
    """As ``resolve``, for the endpoint that embeds, where there is one."""
    if context.embeddings.startswith("openai:"):
        resolve(context.embeddings, context)


def require_named(context: ProtocolSettings) -> None:
    """As ``resolve``, for every address of ``context``, before another process is given them."""
    for speaker in (context.model, *context.roles.values()):
        resolve(speaker, context)
    if isinstance(context, RetrievalSettings):
        require_embeddings(context)


def key() -> str | None:
    """Return the key of the environment; SettingsError for one that cannot be sent."""
    found = endpoint_from_environment()[0]
    if found and not (found.isascii() and found.isprintable()):
        raise SettingsError(
            "OPENAI_API_KEY holds a line break or another character that no key has: set it again"
        )
    return found


def _require_named(url: str, context: ProtocolSettings) -> None:
    own = (endpoint_from_environment()[1] or OPENAI).rstrip("/")
    stranger = context.stranger(url)
    if not key() or stranger is None or url.rstrip("/") in (own, public(own)):
        return
    raise SettingsError(
        f"OPENAI_API_KEY is not sent to {public(url)}: that address comes from {stranger}. If it "
        "may have the key, name it yourself: --base-url URL, --role ROLE=openai:NAME@URL or "
        "OPENAI_BASE_URL"
    )


def _conventional() -> str:
    """The address of the OpenAI convention: the environment's, else OpenAI's own."""
    url = endpoint_from_environment()[1] or OPENAI
    try:
        return require_address(url)
    except ValueError as error:
        raise SettingsError(f"OPENAI_BASE_URL: {error}, not {veiled(url)!r}") from None


def _name_of(model: BaseChatModel) -> str:
    for name in ("model_name", "model"):
        value = getattr(model, name, None)
        if isinstance(value, str) and value:
            return f"{type(model).__name__}/{value}"
    return type(model).__name__
