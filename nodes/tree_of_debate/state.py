"""What a debate of two papers is given: the input, the settings, and the debate while it lasts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dialectree.context import RetrievalSettings, option
from dialectree.protocol import ProtocolInput


class Input(ProtocolInput):
    """Two papers and a topic."""

    paper_a: str | Path | Mapping[str, Any] = option(positional=True, metavar="PAPER")
    """A file (PDF, .txt, .md, .tex, .json) or an arXiv id such as 2502.14767."""
    paper_b: str | Path | Mapping[str, Any] = option(positional=True, metavar="PAPER")
    """The other paper, given in the same ways."""
    topic: str = option(metavar="TEXT")
    """What to compare them on."""
    title_a: str | None = option(None, hidden=True)
    """Title of paper a, where its file does not show it."""
    title_b: str | None = option(None, hidden=True)
    """Title of paper b, where its file does not show it."""
    abstract_a: str | None = option(None, hidden=True)
    """Abstract of paper a; without one its opening stands in its place."""
    abstract_b: str | None = option(None, hidden=True)
    """Abstract of paper b; without one its opening stands in its place."""
    key_a: str | None = option(None, hidden=True)
    """BibTeX key of paper a."""
    key_b: str | None = option(None, hidden=True)
    """BibTeX key of paper b."""


class Settings(RetrievalSettings):
    """The settings of a debate of two papers."""

    max_depth: int = option(3, ge=0, le=8, group="Tree", common=True)
    """Depth at which no topic is split any more."""
    max_subtopics: int = option(3, ge=1, le=8, group="Tree", common=True)
    """Subtopics of one topic (k)."""
    max_claims: int = option(3, ge=1, le=8, group="Tree")
    """Claims of one paper about one topic."""
    segments: int = option(5, ge=1, le=50, group="Evidence")
    """Segments of a paper that are retrieved at once (delta)."""
    expansion_rule: Literal["reference", "paper"] = option("reference", group="Tree")
    """When a topic is split. ``reference``, as the authors' program: the arguments progressed or a
    question is open, and there is no clear winner. ``paper``: any of the three, nearly always."""
    filter: Literal["per_claim", "per_segment"] = option("per_claim", group="Evidence")
    """Whether one call weighs all the segments that may answer a claim, or one call each."""
    turns: Literal["parallel", "alternating"] = option("parallel", group="Debate")
    """Whether paper b's persona sees what a's said in the same stage (alternating)."""
