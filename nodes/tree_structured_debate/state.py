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
"""Samples of ``best_of_n`` where the settings name no number, as many as in the paper."""


class Input(GroundedInput):
    """A question to settle."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""


class Settings(GroundedSettings):
    """The settings of a debate tree."""

    depth_profile: Literal["adaptive", "fixed", "safety"] = option("adaptive", group="Tree", common=True)
    """Stop where the questions are easy, split every branch to ``max_depth``, or stop where they
    are easy but never above ``min_depth``."""
    max_depth: int | None = option(None, ge=0, le=8, group="Tree", common=True)
    """Depth at which every question is a leaf; none: 3, or 2 if ``depth_profile`` is fixed."""
    min_depth: int = option(1, ge=0, le=8, group="Tree")
    """Depth above which the safety profile does not stop; the other profiles have no such floor."""
    max_nodes: int = option(85, ge=1, le=10_000, group="Tree")
    """Questions in the tree, the root included."""
    max_children: int = option(4, ge=2, le=8, group="Tree")
    """Questions that one question is split into."""
    stop_threshold: Unit = option(0.75, group="Tree")
    """A question whose parts are all less difficult than this is a leaf."""
    leaf_rounds: int = option(3, ge=1, le=20, group="Debates", common=True)
    """Rounds of a leaf debate."""
    synthesis_rounds: int = option(2, ge=1, le=20, group="Debates")
    """Rounds of a synthesis debate."""
    second_pass_below: Unit | None = option(None, group="Debates")
    """Visit the least certain leaves again when the final confidence is lower; none: never."""
    second_pass_leaves: int = option(1, ge=1, le=100, group="Debates")
    """Leaves that a second pass visits."""
    leaf_protocol: str = option("debate", group="Debates")
    """How a leaf is settled: by TSD's own debate (debate), or by another installed protocol that
    answers a question, such as rsd, or verifies a claim, such as art. Where it needs a claim or
    options, it settles yes-or-no questions only; others are debated."""
    jury: Jury = option(default_factory=list, group="Debates", metavar="SPEC", jury_of="leaf_judge")
    """A model that judges a leaf's debate beside others; the majority of all of them rules."""
    ask: bool = option(False, group="Tree", person=True)
    """Ask the person when a question lacks something essential."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``best_of_n`` (none: 5)."""

    @model_validator(mode="after")
    def _check_leaf(self) -> Self:
        """Refuse a protocol for leaves that cannot answer a question."""
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
        """Return the depth above which expansion does not stop by itself."""
        return max(1, self.min_depth) if self.depth_profile == "safety" else 0

    def find_unused_settings(self) -> Mapping[str, str]:
        """Return the settings that others leave without a meaning, and why."""
        unused: dict[str, str] = {}
        if self.depth_profile == "fixed":
            fixed = "nobody rates the parts with `depth_profile` fixed"
            unused |= {"stop_threshold": fixed, "ask": fixed}
        if self.depth_profile != "safety":
            unused["min_depth"] = "only `depth_profile` safety reads it"
        if self.second_pass_below is None:
            unused["second_pass_leaves"] = "there is no second pass without `second_pass_below`"
        if self.leaf_protocol == "rsd":
            unused["jury"] = "the judge of `leaf_protocol` rsd rules at the leaves"
        return unused


Fault = Literal["failed", "contradicted"]
"""Why a ruling is missing: the call failed for good, or the reply contradicted itself."""
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
    """The answer of one question of the tree; None where it has none."""

    id: str
    question: str
    answer: str | None
    rationale: str
    confidence: float | None
    """The aggregate, 0 to 1; None where no judge gave one."""
    leaves: list[str]
    """Ids of the leaves that the answer rests on."""
    unclear: list[str]
    """What the question and those below it leave open."""
    take: int
    """The pass that it comes from: 1, or 2."""
    side: Side | None
    """The side that won; None where no model ruled on one."""


class Judged(TypedDict):
    """The outcome of a debate about one question of the tree."""

    finding: Finding


class Debated(TypedDict):
    """State what a debate at a leaf or above it is about."""

    id: str
    question: str
    path: list[str]
    """The questions from the root down to its parent."""
    depth: int
    take: int
    """1, or 2 in a second pass."""
    facts: list[str]
    """What other leaves settled; only in a second pass."""
    unclear: list[str]
    """What the question leaves open."""


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
    """Hand the outcome of a subtree upward."""

    findings: Annotated[list[Finding], merge_findings]
    """Those of its children."""
    certified: Annotated[list[Finding], merge_findings]
    """Those of all its descendants; only where a second pass may need them."""


class TreeStructuredDebate(Question, shared.Ruling):
    """The debate at its root."""

    finding: Annotated[Finding, standing]
    """The outcome of the whole tree."""
    findings: Annotated[list[Finding], merge_findings]
    certified: Annotated[list[Finding], merge_findings]
    leaves: list[str]
    """The leaves that a second pass visits."""
    fault: Fault | None
    """Why there is no text of the answer writer."""


class Subtree(Question, Findings):
    """One question of the tree and all below it."""

    take: int
    """1: the first pass."""
    facts: list[str]
    """None in the first pass."""
    attempt: int
    """1, or 2 once the person was asked what the question means."""
    canonical: str
    drafted: list[str]
    """The proposed sub-questions."""
    atomic: bool
    """True where the decomposer says that the question needs no split."""
    difficulty: list[float]
    """Of each drafted child; empty where nobody rated them."""
    unclear: list[str]
    """What the question leaves open."""
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
    """A leaf debate while it lasts."""

    transcript: Annotated[list[Statement], operator.add]
    failed: bool
    """True when a debater or the judge failed for good."""


class SynthesisDebate(Debated, Judged):
    """A synthesis debate while it lasts."""

    findings: list[Finding]
    """Those of the children, in the order of the tree."""
    round: Annotated[int, operator.add]
    candidates: Annotated[dict[Style, dict[str, str]], operator.or_]
    """By style the last reply of its debater, with the style in it."""
    gone: Annotated[list[Style], operator.add]
    """Debaters who failed for good."""
    fault: Fault | None
    """Why there is no ruling of the judge."""


class SecondPass(Debated, Findings):
    """One question of the tree while it is visited again.

    It rests on a leaf to be visited, or is one. ``certified`` holds all findings of the first pass.
    """

    leaves: list[str]
    """The leaves to visit."""
