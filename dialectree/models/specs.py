"""Who plays a role: ``provider:model@URL`` or a live chat model, resolved to something to call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from dialectree.context import Context, endpoint_from_environment
from dialectree.errors import SettingsError

OPENAI = "https://api.openai.com/v1"
_SPEC = re.compile(r"(?P<provider>[a-z]+):(?P<model>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """One model at one address. ``live`` is the model itself where the caller brought it."""

    provider: Literal["openai", "local", "live"]
    model: str
    url: str | None = None
    live: BaseChatModel | None = None

    @property
    def name(self) -> str:
        """The model as a record names it: ``openai:NAME``, without the address."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The model and where it is: what tells two models of one name apart."""
        return f"{self.name}@{self.url}" if self.url else self.name


def resolve(speaker: str | BaseChatModel, context: Context) -> Spec:
    """The spec of a speaker; a text that is none is a SettingsError that shows the form."""
    if isinstance(speaker, BaseChatModel):
        return Spec("live", _name_of(speaker), live=speaker)
    match = _SPEC.fullmatch(speaker.strip())
    if not match or match["provider"] not in ("openai", "local"):
        raise SettingsError(
            f"--model {speaker!r}: a model is written openai:NAME, openai:NAME@URL, local:smollm2 "
            "or local:PATH.gguf"
        )
    if match["provider"] == "local":
        return Spec("local", match["model"])
    url = match["url"] or context.base_url or endpoint_from_environment()[1] or OPENAI
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"--base-url {url!r}: an address begins with http:// or https://")
    return Spec("openai", match["model"], url.rstrip("/"))


def _name_of(model: BaseChatModel) -> str:
    for field in ("model_name", "model"):
        name = getattr(model, field, None)
        if isinstance(name, str) and name:
            return f"{type(model).__name__}/{name}"
    return type(model).__name__
