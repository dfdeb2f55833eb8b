"""What a debate of two papers is given: the input, the settings, and the debate while it lasts."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from dialectree.context import RetrievalSettings, option
from dialectree.nodes.tree_of_debate.topics import (
    Author,
    Claim,
    Compared,
    Debated,
    Deliberated,
    Letter,
    Spoken,
    Topic,
)
from dialectree.protocol import ProtocolInput
from dialectree.state import Debate, Question


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

    max_depth: int = option(3, ge=1, le=8, group="Tree", common=True)
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


class PaperGiven(TypedDict):
    """A paper as plain data; ``dialectree.retrieval.papers.read`` makes one out of a file."""

    title: str
    abstract: str
    introduction: NotRequired[str]
    name: NotRequired[str]
    body: NotRequired[str]
    """Its text, with headings as in Markdown; or ``passages``, where it was read before."""
    passages: NotRequired[list[dict[str, Any]]]
    notices: NotRequired[list[str]]
    """What is missing in its file, where it was read before."""
    key: NotRequired[str]
    """What BibTeX knows it by."""


class Papers(Question):
    """Two papers, and the topic to compare them on as the question."""

    papers: list[PaperGiven]


class TreeOfDebate(Debate, Papers):
    """Two papers and the debates of their personas."""

    authors: dict[Letter, Author]
    debates: list[Debated]
    failed: bool
    """True when the summary failed for good."""


class Meeting(TypedDict):
    """A claim and the segments of the other paper that may speak to it."""

    claim: Claim
    segments: list[str]


class Subtopic(TypedDict):
    """One part of a topic."""

    title: str
    description: str
    claims: list[Claim]
    raised_by: list[str]


class Progress(TypedDict):
    """The moderator's opinion of a debate."""

    progression_of_arguments: bool
    meaningful_questions: bool
    clear_winner: bool


class TopicDebate(Topic, Spoken, Deliberated, Compared):
    """One topic while it is debated."""

    judged: Progress
    meetings: list[Meeting]
    subtopics: list[Subtopic]
    children: list[Topic]
    failed: bool
    """True when the moderator failed for good."""


class PaperSummary(TypedDict):
    """A summary of one paper."""

    paper: Letter
    text: str


class Comparison(Debate, Papers):
    """Two papers, and a summary of each."""

    authors: dict[Letter, Author]
    summaries: Annotated[list[PaperSummary], operator.add]
    failed: bool
    """True when the comparison failed for good."""
