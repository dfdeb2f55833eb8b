"""What a run that contests another one changed, and what that did."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue, SerializerFunctionWrapHandler, model_serializer

from dialectree.records.strict import Strict


class Change(Strict):
    """How one node's figures moved."""

    node: str
    before: float | None
    after: float | None


class Standing(Strict):
    """What a verdict says, as far as two of them are compared."""

    answer: str | None = None
    label: str | None = None
    confidence: float | None = None


class Moved(Strict):
    """How one node's verdict moved; None where there is none."""

    node: str
    before: Standing | None
    after: Standing | None


class Spot(Strict):
    """A place in a debate where one reply is given: what makes a turn the one it is."""

    node: str
    stage: str = ""
    role: str = ""
    round: int = 0
    take: int = 1
    who: str = ""
    """The speaker's name, or its role where it has none."""
    side: str | None = None
    """What the speaker has to defend there, where that is laid down."""
    label: str | None = None
    """The label of that, where it has one."""


class Held(Strict):
    """What a person put in the place of a reply, or took out; it holds whenever a run is walked."""

    id: str
    """As a person names it: a turn, a node, a segment of evidence, two arguments (``ID:ID``)."""
    what: Literal["replaced", "ruled", "dropped", "set", "flipped", "voided"]
    """The last three are of argument trees at leaves: a strength, and two of a comparison."""
    field: str = ""
    """Which text of a turn, where it is not the one that a turn is known by."""
    spots: list[Spot]
    """The places where it holds. A node that was dropped is a spot without a stage, and so is one
    where a person is asked for the ruling."""
    reply: dict[str, JsonValue] | None = None
    """What is said there; None where nothing is."""
    before: str | None = None
    """The text that it took the place of."""
    after: str | None = None

    own: dict[str, JsonValue] | None = None
    """What was said there before any person changed it; None where no text of it is kept."""
    owns: list[dict[str, JsonValue]] = []
    """The same for each of ``spots``, where several spoke."""
    changed: dict[str, JsonValue] = {}
    """The fields of ``reply`` that this change set; others may be of other changes there."""

    def out(self) -> bool:
        """Whether it takes something out: what is out may hold other changes, too."""
        return self.what in ("dropped", "voided")

    def key(self) -> tuple[str, str, str]:
        """What makes it the one it is: a turn may hold a change in each of its texts."""
        return self.id, self.field, "out" if self.out() else self.what


class Contest(Strict):
    """What a person changed in another run, and what that did to its verdict."""

    run: str
    """The id of the run that was contested."""
    changes: list[str]
    """What was changed, in words."""
    before: float | None
    """The verdict's confidence in the contested run; of ART the claim's strength."""
    after: float | None
    path: list[Change]
    """Every node whose strength moved, from the bottom up; of ART."""
    why: str
    """One line that says what moved the verdict, or why it stayed."""

    held: list[Held] = []
    """What persons put in the place of replies, this time and in the runs before."""
    verdict_before: Standing | None = None
    verdict_after: Standing | None = None
    moved: list[Moved] = []
    """Every node whose verdict moved, from the bottom up."""

    @model_serializer(mode="wrap")
    def _only_what_it_can_have(self, whole: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """In an argument tree strengths move, and no reply is changed."""
        kept: dict[str, JsonValue] = whole(self)
        if self.verdict_before is None and self.verdict_after is None:
            for name in ("held", "verdict_before", "verdict_after", "moved"):
                kept.pop(name, None)
        return kept
