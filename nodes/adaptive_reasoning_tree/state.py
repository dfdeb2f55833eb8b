"""What an argument tree is given: the input, the settings, and the tree while it grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dialectree.context import ProtocolSettings, Unit, option
from dialectree.protocol import ProtocolInput


class Input(ProtocolInput):
    """A claim to verify."""

    claim: str = option(positional=True)
    """A statement that is true or false, not a question; - reads it from standard input."""


class Settings(ProtocolSettings):
    """The settings of an argument tree."""

    breadth: int = option(1, ge=1, le=100, group="Tree", common=True)
    """Supporters, and attackers, of one argument."""
    depth: int = option(1, ge=1, le=50, group="Tree", common=True)
    """Levels of arguments below the claim."""
    blend: Unit = option(0.5, group="Strengths")
    """Weight of the tournament against the intrinsic strengths (lambda): 1 is the tournament alone,
    0 has none."""
    strength_rule: Literal["win_rate", "bradley_terry"] = option("win_rate", group="Strengths")
    """What an argument's comparisons make of it: its mean win rate against the other side, or a
    Bradley-Terry fit of 100 steps, which is the paper's. ``win_rate`` counts a tie half for each
    side, whatever ``ties`` says."""
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = option("dfquad", group="Strengths")
    """How strengths carry upward."""
    root_strength: Literal["neutral", "estimated"] = option("neutral", group="Strengths")
    """The claim's own strength: 0.5, or what the scorer says."""
    ties: Literal["ignore", "half"] = option("ignore", group="Strengths")
    """A tie counts for nobody, or half for each. Only ``strength_rule`` bradley_terry reads it."""
    judge_orders: Literal["one", "both"] = option("one", group="Strengths")
    """Compare each pair once, or in either order."""
    prune_below: Unit | None = option(None, group="Strengths")
    """Arguments weaker than this take no part, nor does what hangs below them; none: all do."""
    trees: int = option(1, ge=1, le=25, group="Tree")
    """Independent trees; the claim's strength is the mean of theirs."""

    def tie_rule(self) -> Literal["ignore", "half"]:
        """Return how ties count under the strength rule."""
        return "half" if self.strength_rule == "win_rate" else self.ties

    def unused(self) -> Mapping[str, str]:
        """Return the settings that others leave without a meaning, and why."""
        if self.strength_rule == "win_rate":
            return {"ties": "--strength-rule win_rate counts a tie half always"}
        return {}
