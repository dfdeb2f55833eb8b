"""Tree-Structured Debate: the input, the settings, and the tree while it grows."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import model_validator
from typing_extensions import TypedDict

from dialectree.errors import InputError
from dialectree.flow import state as shared
from dialectree.nodes.tree_structured_debate.sides import Side
from dialectree.protocols.grounded import GroundedInput, GroundedSettings
from dialectree.protocols.options import Jury, Unit, option
from dialectree.protocols.questions import question_for

SAMPLES = 5
"""The default number of samples of ``best_of_n``, as in the paper."""


class Input(GroundedInput):
    """A question to settle."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""


class Settings(GroundedSettings):
    """The settings of a debate tree."""

    depth_profile: Literal["adaptive", "fixed", "safety"] = option(
        "adaptive",
        group="Tree",
        common=True,
        title="Where splitting stops",
        choices={
            "adaptive": "at easy questions",
            "fixed": "at the full depth, always",
            "safety": "at easy questions, but not before the least depth",
        },
    )
    """Stop at easy questions, split every branch to ``max_depth``, or stop at easy questions but
    never above ``min_depth``."""
    max_depth: int | None = option(None, ge=0, le=8, group="Tree", common=True, title="Levels of questions")
    """Depth at which every question is a leaf; none: 3, or 2 if ``depth_profile`` is ``fixed``."""
    min_depth: int = option(1, ge=0, le=8, group="Tree", title="Least levels of questions")
    """Smallest depth at which ``depth_profile`` ``safety`` stops; other profiles have no limit."""
    max_nodes: int = option(85, ge=1, le=10_000, group="Tree", title="Most questions in all")
    """Questions in the tree, the root included."""
    max_children: int = option(4, ge=2, le=8, group="Tree", title="Most parts of a question")
    """Questions that one question is split into."""
    stop_threshold: Unit = option(0.75, group="Tree", title="Difficulty that is worth a split")
    """A question whose parts are all less difficult than this is a leaf."""
    leaf_rounds: int = option(3, ge=1, le=20, group="Debates", common=True, title="Rounds of a debate")
    """Rounds of a leaf debate."""
    synthesis_rounds: int = option(2, ge=1, le=20, group="Debates", title="Rounds where answers are merged")
    """Rounds of a synthesis debate."""
    second_pass_below: Unit | None = option(None, group="Debates", title="Second look below a confidence of")
    """Visit the least certain leaves again if the final confidence is below this; none: never."""
    second_pass_leaves: int = option(1, ge=1, le=100, group="Debates", title="Questions in a second look")
    """Leaves that a second pass visits."""
    leaf_protocol: str = option("debate", group="Debates", title="Protocol of the smallest questions")
    """Settle a leaf by TSD's own debate (``debate``), or by another installed protocol that answers a
    question, such as ``rsd``, or verifies a claim, such as ``art``. If the protocol needs a claim or
    options, it settles yes-or-no questions only; TSD debates the others."""
    jury: Jury = option(
        default_factory=list, group="Debates", title="Judges of a jury", metavar="SPEC", jury_of="leaf_judge"
    )
    """A model that judges a leaf's debate together with others; the majority of them rules."""
    ask: bool = option(False, group="Tree", person=True, title="Ask me when something is missing")
    """Ask the person when a question lacks something essential."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``best_of_n`` (none: 5)."""

    @model_validator(mode="after")
    def _check_leaf(self) -> Self:
        """Refuse a ``leaf_protocol`` that cannot answer a question."""
        for name in self.debates_inside():
            try:
                question_for(name, "Is it so?", options=("Yes", "No"))
            except InputError as error:
                raise ValueError(f"`leaf_protocol` {name}: {error}") from None
        return self

    def debates_inside(self) -> tuple[str, ...]:
        """Return the name of the other protocol that settles the leaves, if there is one."""
        return () if self.leaf_protocol == "debate" else (self.leaf_protocol,)

    def depth_limit(self) -> int:
        """Return the depth at which every question is a leaf."""
        if self.max_depth is not None:
            return self.max_depth
        return 2 if self.depth_profile == "fixed" else 3

    def depth_floor(self) -> int:
        """Return the smallest depth at which expansion stops by itself."""
        return max(1, self.min_depth) if self.depth_profile == "safety" else 0

    def find_unused_settings(self) -> Mapping[str, str]:
        """Return the settings that other settings leave without effect, and the reasons."""
        unused: dict[str, str] = {}
        if self.depth_profile == "fixed":
            fixed = "the parts are not rated with `depth_profile` fixed"
            unused |= {"stop_threshold": fixed, "ask": fixed}
        if self.depth_profile != "safety":
            unused["min_depth"] = "only `depth_profile` safety reads it"
        if self.second_pass_below is None:
            unused["second_pass_leaves"] = "there is no second pass without `second_pass_below`"
        if self.leaf_protocol == "rsd":
            unused["jury"] = "the judge of `leaf_protocol` rsd rules at the leaves"
        return unused


Fault = Literal["failed", "contradicted"]
"""The reason for a missing ruling: the call failed for good, or the reply contradicted itself."""
Style = Literal["concise", "full"]
STYLES: tuple[Style, Style] = ("concise", "full")


class Question(shared.Question):
    """One question of the tree."""

    id: str
    """Its path: ``0``, ``0.2``, ``0.2.1``."""
    path: list[str]
    """The questions from the root down to its parent."""
    depth: int
    budget: int
    """Nodes that the subtree may have, this one included."""


class Finding(TypedDict):
    """The result of one question of the tree; ``answer`` may be missing."""

    id: str
    question: str
    answer: str | None
    rationale: str
    confidence: float | None
    """The confidence over the whole subtree, 0 to 1; None if a judge's confidence is missing."""
    leaves: list[str]
    """Ids of the leaves that the answer rests on."""
    unclear: list[str]
    """The gaps that the question and the questions below it leave open."""
    take: int
    """The pass that made the finding: 1, or 2."""
    side: Side | None
    """The side that won; None if no model ruled on a side."""


class Judged(TypedDict):
    """The outcome of a debate about one question of the tree."""

    finding: Finding


class Debated(TypedDict):
    """The subject of a debate at a leaf or above it."""

    id: str
    question: str
    path: list[str]
    """The questions from the root down to its parent."""
    depth: int
    take: int
    """1, or 2 in a second pass."""
    facts: list[str]
    """The findings of other leaves; only in a second pass."""
    unclear: list[str]
    """The gaps that the question leaves open."""


def standing(first: Finding, second: Finding) -> Finding:
    """Return the newer finding unless it would replace an answer with None."""
    answered = first.get("answer") is not None  # an empty channel has no key
    return first if answered and second["answer"] is None else second


def merge_findings(old: list[Finding], new: list[Finding]) -> list[Finding]:
    """Return the standing finding of each question, in the order of the tree."""
    merged = {finding["id"]: finding for finding in old}
    for finding in new:
        merged[finding["id"]] = standing(merged.get(finding["id"], finding), finding)
    return [merged[i] for i in sorted(merged, key=lambda i: [int(n) for n in i.split(".")])]


class Findings(Judged):
    """The outcome of a subtree, for its parent."""

    findings: Annotated[list[Finding], merge_findings]
    """The findings of its children."""
    certified: Annotated[list[Finding], merge_findings]
    """The findings of all its descendants; only if a second pass may need them."""


class TreeStructuredDebate(Question, shared.Ruling):
    """A tree-structured debate, seen from its root."""

    finding: Annotated[Finding, standing]
    """The outcome of the whole tree."""
    findings: Annotated[list[Finding], merge_findings]
    certified: Annotated[list[Finding], merge_findings]
    leaves: list[str]
    """The leaves that a second pass visits."""
    fault: Fault | None
    """The reason for a missing text of the answer writer."""


class Subtree(Question, Findings):
    """One question of the tree and all questions below it."""

    take: int
    """1: the first pass."""
    facts: list[str]
    """Empty in the first pass."""
    attempt: int
    """1, or 2 after the person was asked about the question."""
    canonical: str
    drafted: list[str]
    """The proposed sub-questions."""
    atomic: bool
    """True if the decomposer says that the question needs no split."""
    difficulty: list[float]
    """The difficulty of each drafted child; empty without ratings."""
    unclear: list[str]
    """The gaps that the question leaves open."""
    children: list[Question]
    failed: bool
    """True when a role of the expansion failed for good."""


class Statement(TypedDict):
    """One turn in the transcript of a leaf."""

    debater: str
    """A or B."""
    round: int
    claim: str
    support: str
    rebuttal: str


class LeafDebate(Debated, Judged):
    """A leaf debate in progress."""

    transcript: Annotated[list[Statement], operator.add]
    failed: bool
    """True when a debater or the judge failed for good."""


class SynthesisDebate(Debated, Judged):
    """A synthesis debate in progress."""

    findings: list[Finding]
    """The findings of the children, in the order of the tree."""
    round: Annotated[int, operator.add]
    candidates: Annotated[dict[Style, dict[str, str]], operator.or_]
    """By style, the last reply of its debater, with the style as a field."""
    gone: Annotated[list[Style], operator.add]
    """Debaters who failed for good."""
    fault: Fault | None
    """The reason for a missing ruling of the judge."""


class SecondPass(Debated, Findings):
    """One question of the tree in the second pass.

    The question is a leaf to visit, or its answer rests on such a leaf. ``certified`` has all findings
    of the first pass.
    """

    leaves: list[str]
    """The leaves to visit."""
