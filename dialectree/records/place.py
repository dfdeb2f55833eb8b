"""Define the strict base of a record's parts, and the place of a reply.

A place is one class from ``ask`` to journal, turn and contest.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from dialectree.system import chance


class Strict(BaseModel):
    """A record takes the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


Spot = tuple[str, str, str, int, int, str]
"""What tells one place of a run from every other."""


class Place(Strict):
    """The place of one reply in a debate. Replies side by side share phase and step."""

    node: str
    """The id of the tree node."""
    phase: str
    role: str
    speaker: str = ""
    """Who plays the role: ``A``, ``concise``; the role itself where one alone plays it."""
    round: int = 0
    step: int = 0
    """The position within the phase. Where the protocol declares no order of phases it is that in
    the whole transcript: the step of the graph, unless another one is given. It orders replies, and
    tells no two places apart."""
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""

    @model_validator(mode="after")
    def _name_the_speaker(self) -> Self:
        self.speaker = self.speaker or self.role
        return self

    @property
    def name(self) -> str:
        """Return the speaker's own name, or "" where the role speaks for itself."""
        return "" if self.speaker == self.role else self.speaker

    def spot(self) -> Spot:
        """Return what tells this place from every other of its run."""
        return self.node, self.phase, self.role, self.round, self.take, self.speaker

    def place(self) -> dict[str, Any]:
        """Return the place alone, as fields of what else stands there."""
        return {name: getattr(self, name) for name in Place.model_fields}

    def random_seed(self, run_seed: int) -> int:
        """Return the seed of a call, made from the run's seed, node, role, name and sample."""
        return chance.seed(run_seed, self.node, self.role, self.name, self.take)
