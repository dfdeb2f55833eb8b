"""Define the strict base class of a record's parts, and the place of a reply.

``ask``, journal, turns and contests all use this one class.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from dialectree.system import chance


class Strict(BaseModel):
    """Refuse unknown fields."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


Spot = tuple[str, str, str, int, int, str]
"""The key of a place, unique in a run."""


class Place(Strict):
    """The place of one reply in a debate. Replies side by side share phase and step."""

    node: str
    """The id of the tree node."""
    phase: str
    role: str
    speaker: str = ""
    """The name of the speaker: ``A``, ``concise``; the role itself if only one speaker plays it."""
    round: int = 0
    step: int = 0
    """The position in the phase, or, if the protocol declares no order of phases, in the whole
    transcript: by default the step of the graph. It only orders replies, and is not part of the
    key."""
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""

    @model_validator(mode="after")
    def _name_the_speaker(self) -> Self:
        self.speaker = self.speaker or self.role
        return self

    @property
    def name(self) -> str:
        """Return the speaker's own name, or "" if the role is the speaker's name."""
        return "" if self.speaker == self.role else self.speaker

    def spot(self) -> Spot:
        """Return the key of this place, unique in its run."""
        return self.node, self.phase, self.role, self.round, self.take, self.speaker

    def place(self) -> dict[str, Any]:
        """Return only the fields of the place, also for a subclass."""
        return {name: getattr(self, name) for name in Place.model_fields}

    def random_seed(self, run_seed: int) -> int:
        """Return the seed of a call, made from the run's seed, node, role, name and sample."""
        return chance.seed(run_seed, self.node, self.role, self.name, self.take)
