"""What a role-switching debate is given: the input, the settings, and the debate while it lasts."""

from __future__ import annotations

from typing import Literal

from dialectree.context import ProtocolSettings, option
from dialectree.protocol import ProtocolInput


class Input(ProtocolInput):
    """A question, and what may be known of its answers."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""
    options: list[str] | None = option(None, alias="option", metavar="TEXT")
    """The answers to choose from, 2 to 26, or none where the question is open."""
    gold: str | None = option(None, evaluation_only=True, metavar="LABEL")
    """The right option's letter; for evaluations only."""


class Settings(ProtocolSettings):
    """The settings of a role-switching debate."""

    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = option(
        "proposed", group="Candidates"
    )
    """Where the two candidates come from. ``oracle`` and ``balanced`` put the gold answer against a
    distractor; both are for evaluations."""
    distractor: Literal["first", "random", "model"] = option("first", group="Candidates")
    """The wrong option that stands against the gold one: the first, one drawn from the seed, or the
    one that the debaters' model finds most plausible."""
    cross_examination: Literal["in_turn", "simultaneous"] = option("in_turn", group="Debate")
    """Whether the second debater reads the first one's rebuttal before it writes its own."""
    judge_orders: Literal["one", "both"] = option("one", group="Debate", common=True)
    """Ask the judge once, or with both sides in either order."""
    gate: int = option(0, ge=0, le=25, group="Candidates", common=True)
    """Direct answers that are asked for first; if all agree there is no debate. 0: none. The paper
    gives no number; 3 is a good one."""
    allow_uncertain: bool = option(False, group="Debate")
    """Let the judge rule that neither side convinced."""
    judge: Literal["model", "me"] = option("model", group="Debate", person=True)
    """Who judges: a model, or the person who asks."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``self_consistency`` (none: 9, the calls of one debate)."""

    def given_gold(self) -> bool:
        """Return whether a debater is given the gold answer."""
        return self.candidates in ("oracle", "balanced")
