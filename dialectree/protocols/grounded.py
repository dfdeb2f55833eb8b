"""Declare a protocol whose debaters argue from the user's own documents.

The protocol's input is derived from :class:`GroundedInput`, and its settings from
:class:`GroundedSettings`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, PlainSerializer, WithJsonSchema

from dialectree.protocols.options import ProtocolInput, option
from dialectree.protocols.settings import ProtocolSettings, RetrievalSettings, embeddings_name
from dialectree.protocols.trust import ADDRESS
from dialectree.system.packages import missing

Memory = Literal["allowed", "forbidden"]
Seen = Literal["none", "cited", "pool"]


EVIDENCE = "Evidence"
"""The heading of the settings that only a run with sources reads."""
WORDS = "bm25"
VECTORS = "BAAI/bge-small-en-v1.5"


@cache
def embeddings_at_hand() -> str:
    """Return what ``auto`` means on this machine: ``bm25`` (words only), or an embedding model.

    Looks for the packages, and for the model in the Hub's folder. Loads and downloads nothing.
    """
    try:
        from huggingface_hub import constants
    except ImportError:
        return WORDS
    model = Path(constants.HF_HUB_CACHE, f"models--{VECTORS.replace('/', '--')}", "snapshots")
    parts = ("modules.json", "model.safetensors")
    is_complete = any(all((snapshot / part).exists() for part in parts) for snapshot in model.glob("*"))
    return VECTORS if is_complete and not missing("dialectree[compare]") else WORDS


def _resolve_embeddings(name: str) -> str:
    return embeddings_at_hand() if name == "auto" else name


def find_reader(context: ProtocolSettings) -> object:
    """Return the reader of files that the person or the operator named, or None."""
    return context.find_reader() if isinstance(context, RetrievalSettings) else None


def has_retriever(context: ProtocolSettings) -> bool:
    """Return whether a retriever is set, so that a debate needs no sources of its own."""
    return getattr(context, "retriever", None) is not None


def retriever_name(retriever: object) -> str | None:
    """Return the name by which a record names a retriever."""
    if retriever is None or isinstance(retriever, str):
        return retriever
    return f"live:{type(retriever).__name__}"


def _retriever(retriever: object) -> object:
    """Return a name or a live retriever; refuse everything else."""
    if retriever is None:
        return None
    if isinstance(retriever, str):
        if not _NAME.fullmatch(retriever):
            raise ValueError("a retriever is written module:attribute")
        return retriever
    core = sys.modules.get("langchain_core.runnables")
    if core is None or not isinstance(retriever, core.Runnable):
        raise ValueError("a retriever is a text, module:attribute, or a LangChain BaseRetriever")
    return retriever


_NAME = re.compile(r"\w+(?:\.\w+)*:\w+(?:\.\w+)*")
Retriever = Annotated[
    Any,
    AfterValidator(_retriever),
    PlainSerializer(retriever_name),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]


class GroundedInput(ProtocolInput):
    """Add the documents that the debaters argue from."""

    grounded: ClassVar[bool] = True
    sources: list[str | Path | Mapping[str, Any]] | None = option(None, metavar="PATH")
    """A document that debaters argue from, or a folder with all files below it; may be repeated. A
    program may give texts instead: ``{"name": "notes.md", "text": "..."}``."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Move ``sources`` behind the protocol's own fields, which can be given by position."""
        super().__pydantic_init_subclass__(**options)
        cls.__pydantic_fields__["sources"] = cls.__pydantic_fields__.pop("sources")


class GroundedSettings(RetrievalSettings):
    """Add the settings on retrieval from sources, on who reads the sources, and on checks."""

    embeddings: Annotated[
        str, AfterValidator(_resolve_embeddings), AfterValidator(embeddings_name), ADDRESS
    ] = option("auto", min_length=1, operator=True, group=EVIDENCE, metavar="NAME", validate_default=True)
    """The embeddings to retrieve with, besides words: a sentence-transformers model by name, path or
    installed package, ``openai:NAME@URL``, or ``bm25`` (words only). ``auto``: BAAI/bge-small-en-v1.5
    if it and the extra ``compare`` are on this machine, else words only; the record says which."""
    segments: int = option(8, ge=1, le=32, group=EVIDENCE)
    """Number of source segments that a query retrieves."""
    whole: int = option(3000, ge=0, le=12_000, group=EVIDENCE, metavar="TOKENS", before=0)
    """Sources of at most so many tokens are shown whole, of larger ones only the segments found. 0:
    always only the segments found."""
    neighbours: int = option(1, ge=0, le=3, group=EVIDENCE, before=0)
    """Number of segments before and after each found one that are shown with it."""
    ranking: Literal["scores", "ranks"] = option("scores", group=EVIDENCE, before="ranks")
    """How words and embeddings are combined: by blended scores of words and of the nearest sentence,
    or by the ranks of segments in both."""
    memory: Memory = option("allowed", group=EVIDENCE, common=True)
    """Whether a debater may also argue from its own knowledge. Forbidden: a point without evidence is
    withdrawn, and a verdict without evidence is unresolved."""
    judge_sees: Seen = option("cited", group=EVIDENCE, common=True)
    """How much of the sources judges read: nothing, the sentences that debaters cite, or all segments
    that were retrieved."""
    check: Literal["none", "points"] = option("points", group=EVIDENCE, common=True)
    """Whether a checker says for each point if its sentences support it."""
    rerank: str | None = option(None, operator=True, code=True, group=EVIDENCE, metavar="NAME")
    """A cross-encoder of sentence-transformers, by name or folder, that orders the segments found.
    Only a flag, a variable or a program can set it."""
    retriever: Retriever = option(None, operator=True, code=True, group=EVIDENCE, metavar="MODULE:ATTRIBUTE")
    """A LangChain retriever, or a function that returns one, that searches in addition to the sources:
    the web, a vector database. It runs code: only a flag, a variable or a program can set it."""

    def make_inner_defaults(self, kind: type[ProtocolSettings]) -> Mapping[str, Any]:
        """Let a debate inside argue from the same sources in the same way."""
        if not issubclass(kind, GroundedSettings):
            return {}
        names = GroundedSettings.model_fields.keys() - ProtocolSettings.model_fields.keys()
        return {name: getattr(self, name) for name in names}
