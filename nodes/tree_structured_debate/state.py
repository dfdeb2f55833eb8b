"""What a debate tree is given: the input, the settings, and the tree while it grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from dialectree.context import ProtocolSettings, Unit, option, within
from dialectree.errors import InputError, SettingsError
from dialectree.protocol import Method, ProtocolInput, protocol


class Question(ProtocolInput):
    """A question to settle."""

    question: str = option(positional=True)
    """One question, in full; - reads it from standard input."""


class Settings(ProtocolSettings):
    """The settings of a debate tree."""

    depth_profile: Literal["adaptive", "fixed", "safety"] = option(
        "adaptive", group="Tree", common=True
    )
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
    leaf_rounds: int = option(3, ge=1, le=20, group="Debates", common=True, rounds_of="debate")
    """Rounds of a leaf debate."""
    synthesis_rounds: int = option(2, ge=1, le=20, group="Debates", rounds_of="synthesis")
    """Rounds of a synthesis debate."""
    second_pass_below: Unit | None = option(None, group="Debates")
    """Visit the least certain leaves again when the final confidence is lower; none: never."""
    second_pass_leaves: int = option(1, ge=1, le=100, group="Debates")
    """Leaves that a second pass visits."""
    leaf_protocol: str = option("debate", group="Debates")
    """How a leaf is settled: by TSD's own debate (debate), or by another protocol: rsd, a
    role-switching debate; art, an argument tree (yes-or-no questions only; others are debated)."""
    leaf: dict[str, Any] = option(
        default_factory=dict, group="Debates", alias="set", metavar="PROTOCOL.SETTING=VALUE"
    )
    """A setting of the protocol that settles the leaves, such as rsd.judge_orders=both."""
    ask: bool = option(False, group="Tree", person=True)
    """Ask the person when a question lacks something essential."""
    samples: int | None = option(None, ge=1, le=100, group="Baselines")
    """Samples of ``best_of_n`` (none: 5)."""

    @model_validator(mode="after")
    def _check_leaf(self) -> Self:
        """Refuse an unknown protocol for leaves, and settings that it does not read there."""
        try:
            self.leaf_settings()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def leaf_settings(self) -> ProtocolSettings | None:
        """Return the settings of the protocol that settles the leaves; None for TSD's own debate.

        They have the models and limits of this debate.
        """
        if self.leaf_protocol == "debate":
            if self.leaf:
                raise SettingsError("--set: --leaf-protocol names no other protocol")
            return None
        other = protocol(self.leaf_protocol)
        if other.leaf is None:
            raise SettingsError(f"--leaf-protocol {other.name}: it cannot settle a leaf")
        values = {name.removeprefix(f"{other.name}."): value for name, value in self.leaf.items()}
        reads = Method(other, other.leaf).reads()
        for name in values:
            if name not in reads:
                raise SettingsError(f"--set {name}: {other.name} reads no such setting at a leaf")
        return within(self, other.settings, values)

    def depth_limit(self) -> int:
        """Return the depth at which every question is a leaf."""
        if self.max_depth is not None:
            return self.max_depth
        return 2 if self.depth_profile == "fixed" else 3

    def depth_floor(self) -> int:
        """Return the depth above which expansion does not stop by itself."""
        return max(1, self.min_depth) if self.depth_profile == "safety" else 0

    def asks(self) -> list[str]:
        """Return the names of the settings by which a person takes part now."""
        leaf = self.leaf_settings()
        return [*super().asks(), *(leaf.asks() if leaf else [])]

    def unused(self) -> Mapping[str, str]:
        """Return the settings that others leave without a meaning, and why."""
        unused: dict[str, str] = {}
        if self.depth_profile == "fixed":
            fixed = "nobody rates the parts with --depth-profile fixed"
            unused |= {"stop_threshold": fixed, "ask": fixed}
        if self.depth_profile != "safety":
            unused["min_depth"] = "only --depth-profile safety reads it"
        if self.second_pass_below is None:
            unused["second_pass_leaves"] = "there is no second pass without --second-pass-below"
        return unused
