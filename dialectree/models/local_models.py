"""Declare the part ``local_models``, which runs models on this machine."""

from __future__ import annotations

from typing import Any, Protocol

from dialectree.models.asking import Form
from dialectree.system.parts import PlugPoint


class LocalModels(Protocol):
    """The part that runs the models of specs such as ``local:smollm2`` and ``local:PATH.gguf``.

    ``model`` is always the text after ``local:``.
    """

    def require(self, model: str) -> None:
        """Raise MissingPackage or SettingsError, with what to do, if the model cannot run."""
        ...

    async def serve(self, model: str) -> tuple[str, str]:
        """Return address and key of the model's server; start it if it does not run."""
        ...

    def request_fields(self, form: Form, *, full_prompt: bool, by_schema: bool) -> dict[str, Any]:
        """Return the fields of a request that control how the server decodes a reply.

        ``full_prompt``: the model is asked with whole prompts. ``by_schema``: the schema of ``form``
        constrains the reply.
        """
        ...

    def count_parameters(self, model: str) -> int | None:
        """Return the number of the model's parameters, or None."""
        ...

    def waits_for(self, model: str) -> str | None:
        """Return ``model`` with its size, if its server has to start first; None if the server runs."""
        ...


LOCAL_MODELS: PlugPoint[LocalModels] = PlugPoint("local_models", "a model of this machine")
