"""Tree-of-Debate's input, settings and state: two papers, and the debate of a topic."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from dialectree.flow.state import Debate
from dialectree.flow.state import Question as Asked
from dialectree.protocols.options import option
from dialectree.protocols.protocol import ProtocolInput
from dialectree.protocols.settings import RetrievalSettings

Letter = Literal["a", "b"]
"""One of two papers, and the persona that speaks for it."""
LETTERS: tuple[Letter, Letter] = ("a", "b")
SAMPLES = 20
"""The default number of comparisons of ``best_comparison``."""
Stage = Literal["present", "respond", "revise"]


def opponent(letter: Letter) -> Letter:
    """Return the other paper."""
    return "b" if letter == "a" else "a"


class Input(ProtocolInput):
    """Two papers and a topic."""

    paper_a: str | Path | Mapping[str, Any] = option(positional=True, metavar="PAPER")
    """A file (PDF, .txt, .md, .tex, .json) or an arXiv id such as 2502.14767."""
    paper_b: str | Path | Mapping[str, Any] = option(positional=True, metavar="PAPER")
    """The other paper, given in the same ways."""
    topic: str = option(metavar="TEXT")
    """The topic to compare them on."""
    title_a: str | None = option(None, hidden=True)
    """Title of paper a, if its file does not show it."""
    title_b: str | None = option(None, hidden=True)
    """Title of paper b, if its file does not show it."""
    abstract_a: str | None = option(None, hidden=True)
    """Abstract of paper a; without one, the paper's opening is used."""
    abstract_b: str | None = option(None, hidden=True)
    """Abstract of paper b; without one, the paper's opening is used."""
    key_a: str | None = option(None, hidden=True)
    """BibTeX key of paper a."""
    key_b: str | None = option(None, hidden=True)
    """BibTeX key of paper b."""


class Settings(RetrievalSettings):
    """The settings of a debate of two papers."""

    max_depth: int = option(3, ge=1, le=8, group="Tree", common=True, title="Levels of topics")
    """Depth from which topics are not split."""
    max_subtopics: int = option(3, ge=1, le=8, group="Tree", common=True, title="Subtopics of a topic")
    """Subtopics of one topic (k)."""
    max_claims: int = option(3, ge=1, le=8, group="Tree", title="Claims of a paper")
    """Claims of one paper about one topic."""
    segments: int = option(5, ge=1, le=50, group="Evidence", title="Segments of a search")
    """Segments of a paper that are retrieved at once (delta)."""
    expansion_rule: Literal["reference", "paper"] = option(
        "reference",
        group="Tree",
        title="When a topic is split",
        choices={"reference": "after progress, without a clear winner", "paper": "nearly always"},
    )
    """Condition for a split. ``reference``, as in the authors' program: the arguments progressed or
    a question is open, and there is no clear winner. ``paper``: any of the three."""
    filter: Literal["per_claim", "per_segment"] = option(
        "per_claim",
        group="Evidence",
        title="How segments are weighed",
        choices={"per_claim": "all of a claim at once", "per_segment": "one by one"},
    )
    """Weigh the segments that may answer a claim in one call, or in one call each."""
    turns: Literal["parallel", "alternating"] = option(
        "parallel",
        group="Debate",
        title="Order of speaking",
        choices={"parallel": "both at once", "alternating": "one after the other"},
    )
    """Let both personas speak at once, or let b's read a's turn of the same stage (``alternating``)."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``best_comparison`` (none: 20)."""


class PaperGiven(TypedDict):
    """A paper as plain data; ``dialectree.retrieval.papers.read`` makes one out of a file."""

    title: str
    abstract: str
    introduction: NotRequired[str]
    name: NotRequired[str]
    body: NotRequired[str]
    """Its text with Markdown headings; a paper that was read before has ``passages`` instead."""
    passages: NotRequired[list[dict[str, Any]]]
    notices: NotRequired[list[str]]
    """The parts that the paper's file lacks, if the file was read before."""
    key: NotRequired[str]
    """Its BibTeX key."""


class Papers(Asked):
    """Two papers, and the topic to compare them on as the question."""

    papers: Annotated[list[PaperGiven], Field(description="Two papers, as text.")]


class Author(TypedDict):
    """A paper in the form for both personas and the moderator."""

    title: str
    abstract: str
    introduction: str
    """Empty if evidence is retrieved instead."""
    source: str
    """The name of the paper in a search; empty without retrieval."""


class Claim(TypedDict):
    """A contribution that a paper claims on a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of segments of its own paper."""
    counter: list[str] | None
    """Ids of segments of the other paper that speak to the claim; None if they are not known."""


class Turn(TypedDict):
    """One turn of a persona."""

    paper: Letter
    stage: Stage
    title: str
    """Empty in a response."""
    description: str
    evidence: list[str]
    questions: list[str]
    """The questions of a response to the other persona."""
    proposals: list[str]
    """Suggestions beyond both papers."""
    concedes: bool


class Question(TypedDict):
    """A question that one persona asked the other in a debate."""

    id: str
    """Its number in the debate: ``q1``."""
    paper: Letter
    """The persona that asked it."""
    text: str


class Topic(TypedDict):
    """A topic that two papers debate."""

    id: str
    question: str
    """The topic of the whole comparison."""
    title: str
    description: str
    depth: int
    authors: dict[Letter, Author]
    claims: list[Claim]
    """The parent topic's claims that this topic is about."""
    pools: dict[Letter, list[str]]
    """Ids of the segments retrieved for the parent topic, later for this topic itself."""
    raised_by: list[str]
    """Questions of the debate above that led to this topic."""
    open_questions: list[Question]
    """Questions that its own debate left open; empty until the moderator names them."""


class DebatedTopic(TypedDict):
    """A topic and both personas' last arguments on it."""

    id: str
    title: str
    description: str
    positions: list[Turn]


class Compared(TypedDict):
    """The outcome of a topic and of all topics below it."""

    debates: Annotated[list[DebatedTopic], operator.add]


Weighed = dict[str, dict[str, bool]]
"""By claim and segment of the other paper, True if the segment speaks to the claim."""


def merge_weighed(old: Weighed, new: Weighed) -> Weighed:
    """Merge both, claim by claim."""
    return old | {claim: old.get(claim, {}) | segments for claim, segments in new.items()}


class TopicDebate(Topic, Compared):
    """One topic during its debate and split."""

    said: Annotated[list[Turn], operator.add]
    progression_of_arguments: bool
    meaningful_questions: bool
    """True if the moderator named an open question."""
    clear_winner: bool
    own: Annotated[list[Claim], operator.add]
    """The claims that both papers make on the topic."""
    met: dict[str, list[str]]
    """By claim, the segments of the other paper that may speak to it."""
    weighed: Annotated[Weighed, merge_weighed]
    place: int
    """The number of a call among the calls about one claim, from 0."""
    children: list[Topic]
    failed: bool
    """True when the moderator failed for good."""


class TreeOfDebate(Debate, Papers):
    """Two papers, and the debates of their personas or a summary of each."""

    authors: dict[Letter, Author]
    debates: list[DebatedTopic]
    summaries: Annotated[dict[Letter, str], operator.or_]
    failed: bool
    """True when the comparison failed for good."""
