"""Declare a protocol whose debaters argue from the user's own documents.

Its input is derived from :class:`GroundedInput` and its settings from :class:`GroundedSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dialectree.protocols.options import option
from dialectree.protocols.protocol import ProtocolInput
from dialectree.protocols.settings import ProtocolSettings, RetrievalSettings

Memory = Literal["allowed", "forbidden"]
Seen = Literal["none", "cited", "pool"]


class GroundedInput(ProtocolInput):
    """Add the documents that the debaters argue from."""

    sources: list[str] | None = option(None, metavar="PATH")
    """Documents that the debaters argue from: files, and folders with all below them."""


class GroundedSettings(RetrievalSettings):
    """Add what is retrieved from the sources, who reads it, and what it is checked for."""

    segments: int = option(8, ge=1, le=32, group="Evidence")
    """Segments of the sources that a query retrieves."""
    memory: Memory = option("allowed", group="Evidence", common=True)
    """Whether a debater may argue from what it knows besides. Forbidden: a point without evidence
    is withdrawn, and a verdict that rests on none is unresolved."""
    judge_sees: Seen = option("cited", group="Evidence", common=True)
    """What judges read of the sources: nothing, the sentences that debaters cite, or all that was
    retrieved."""
    check: Literal["none", "points"] = option("points", group="Evidence", common=True)
    """Whether a checker says of each point if its sentences bear it out."""
    rerank: str | None = option(None, operator=True, group="Evidence", metavar="NAME")
    """A cross-encoder of sentence-transformers, by name or folder, that orders what was found."""
    retriever: str | None = option(
        None, operator=True, group="Evidence", metavar="MODULE:ATTRIBUTE"
    )
    """A LangChain retriever that finds in place of the sources' own index. It runs code: only a
    flag, a variable or a program names it."""

    def handed_down(self, kind: type[ProtocolSettings]) -> Mapping[str, Any]:
        """Let a debate inside argue from the same sources in the same way."""
        if not issubclass(kind, GroundedSettings):
            return {}
        names = GroundedSettings.model_fields.keys() - ProtocolSettings.model_fields.keys()
        return {name: getattr(self, name) for name in names}
