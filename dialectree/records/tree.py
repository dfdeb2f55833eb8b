"""Define the tree of a debate: nodes with turns, verdicts, scores, comparisons and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    computed_field,
    model_serializer,
    model_validator,
)

from dialectree.records.place import Place, Strict

NodeStatus = Literal["open", "answered", "missing"]
Stance = Literal["support", "attack"]
Order = Literal["support_first", "attack_first"]
PROBABILITY = ("probability", "P(claim)")
"""Confidence sources that mean the probability of a claim."""


class Sparse(Strict):
    """Omit rarely used fields when writing."""

    few: ClassVar[Mapping[str, JsonValue]] = {}
    """The rarely used fields, each with the value that is omitted."""

    @model_serializer(mode="wrap")
    def _without_what_few_have(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)  # Any: tuples are not a JsonValue
        for name, usual in self.few.items():
            if fields.get(name) == usual:
                fields.pop(name, None)
        return fields


class Ground(Strict):
    """A sentence of a source that supports a verdict."""

    id: str
    """The id of the sentence: ``s2:17.3``."""
    source: str
    """The name of the source."""
    page: int | None = None
    """The page on which the sentence's segment begins, from 1; None if the source has no pages."""


class Calibrated(Strict):
    """A confidence, calibrated by an evaluation."""

    confidence: float = Field(ge=0, le=1)
    """The share of right answers, or of true claims, among answers with this confidence."""
    n: int = Field(ge=1)
    """Number of answers that the calibration was fitted to."""
    brier_before: float
    """The Brier score of these answers with the confidences as stated, 0 to 1."""
    brier_after: float
    """The Brier score of these answers with calibrated confidences, each by a fit to other answers."""


class Verdict(Sparse):
    """The ruling on a question, a claim or a comparison."""

    few = {
        **dict.fromkeys(("probability", "agreement", "local_confidence", "winner", "calibrated")),
        **{"dissent": {}, "grounds": [], "take": 1},
    }
    answer: str | None = None
    """The answer; None if the debate reached none."""
    label: str | None = None
    """The answer from a closed set: an option's letter, or ``True`` or ``False``."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """The protocol's confidence; for a node, the number that its parent uses."""
    confidence_source: str | None = None
    """The source of the confidence, such as ``judge`` or ``product of judges``; ``person`` if a
    person ruled, who may give no confidence."""
    rationale: str | None = None
    notes: list[str] = []
    """Further remarks for a reader, such as what the question leaves open."""
    agreement: float | None = Field(default=None, ge=0, le=1)
    """The share of a jury's rulings that name the most frequent label; None without a jury."""
    dissent: dict[str, str] = {}
    """The rulings of a jury's minority, by the judges' names: ``{"2": "B"}``."""
    local_confidence: float | None = Field(default=None, ge=0, le=1)
    """The judge's confidence in this node alone; only for the verdict on a node."""
    winner: str | None = None
    """The speaker or the label that won the debate; only for the verdict on a node."""
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""
    grounds: list[Ground] = []
    """The sentences of the user's sources that support the answer."""
    calibrated: Calibrated | None = None
    """The calibrated confidence; None without a calibration. ``confidence`` stays as stated."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def probability(self) -> float | None:
        """Return the probability of the claim, 0 to 1, or None for another outcome."""
        return self.confidence if self.probable else None

    @property
    def probable(self) -> bool:
        """Return whether the confidence is the probability of a claim."""
        return self.confidence_source in PROBABILITY

    @model_validator(mode="before")
    @classmethod
    def _without_what_follows(cls, fields: object) -> object:
        """Omit the probability, which follows from the other fields."""
        if not isinstance(fields, Mapping):
            return fields
        return {name: value for name, value in fields.items() if name != "probability"}


class Point(Sparse):
    """A point that a speaker draws from the sources, in its own words, and the sentences behind it."""

    few = {"item": 0}
    id: str
    """The id of the point, unique in the run."""
    point: str
    sentences: list[str]
    """Ids of sentences: ``s2:17.3``. Their texts are in the segments of the tree."""
    item: int = 0
    """The item of the reply's list to which the point belongs, from 1; 0: the whole reply."""


Mark = Literal["copied", "cut"]
"""``copied``: a turn that repeats its opponent's words; ``cut``: a turn whose text was cut at a limit."""


class Turn(Place, Sparse):
    """One reply in the transcript of a node, with its place. Without ``fields``, a reply is still to come."""

    few = {"evidence": [], "rests_on": [], "marks": []}
    side: str | None = None
    """The text that the speaker has to defend, if one is assigned."""
    label: str | None = None
    """The label of the text to defend, if it has one; ``side`` shortens long texts."""
    called: str = Field(default="", exclude=True)
    """The speaker's name in traces and failures, such as the label it defends; not recorded."""
    names: str | None = None
    """The label that the reply names; "" if it names no label, None if the turn asks for none."""
    protocol: str = ""
    """The protocol of the turn; "" for the run's own."""
    fields: dict[str, JsonValue] = {}
    evidence: list[Point] = []
    """The points that the speaker draws from the sources."""
    rests_on: list[str] = []
    """Ids of the sentences that support a ruling."""
    marks: list[Mark] = []
    """Faults of the turn that its repair did not remove."""

    @classmethod
    def at(cls, place: Place) -> Turn:
        """Return a turn without fields at ``place``."""
        return place if isinstance(place, Turn) else cls(**place.place())

    def speaking(self) -> str:
        """Return the speaker in words: ``leaf judge``."""
        return f"{self.role} {self.called or self.name}".strip().replace("_", " ")


class Failure(Strict):
    """One part that failed for good."""

    role: str
    speaker: str = ""
    """The speaker's name if two speakers play one role."""
    fault: str


class Comparison(Strict):
    """A judge's comparison of a supporter and an attacker of one claim."""

    supporter: str
    attacker: str
    winner: str
    """The winner in the judge's word: one of ``Phase.winners``, or another word for a tie."""
    order: Order = "support_first"
    """The order in which the judge read the two."""
    reason: str = ""
    """The judge's reason; "" for a void comparison."""
    contested: Literal["flipped", "voided"] | None = None
    """A person's change; a voided comparison does not count."""

    def pair(self) -> tuple[str, str, Order]:
        """Return the key of this comparison: both ids and the order."""
        return self.supporter, self.attacker, self.order


class Segment(Sparse):
    """A quotable piece of a paper or of a source, with its place."""

    few = {"source": "", "sentences": [], "place": ""}
    id: str
    """The paper's letter or the source's id, and the segment's number: ``a:12``, ``s2:17``."""
    text: str
    page: int | None = None
    """The page, from 1; None if the source has no pages."""
    place: str = ""
    """The place in a source without pages, counted from 1: ``paragraph 12``, ``row 5``."""
    offset: int = 0
    """The start of the segment in the paper's text, in characters."""
    heading: str | None = None
    contested: bool = False
    """True if a person wrote the segment in place of the paper's own text."""
    source: str = ""
    """The name of the source; "" for a paper."""
    sentences: list[tuple[int, int]] = []
    """The start and end of each sentence in a source's segment, in characters of the text."""


class Found(Strict):
    """One segment that a retrieval found."""

    id: str
    score: float | None = None
    """The inner product of normalised vectors, or the score of a lexical index; None if ranks were
    fused."""


class Retrieval(Sparse):
    """A query to one paper or to all sources, and the segments that it found."""

    few = {"shown": [], "sentences": 0}
    paper: str = ""
    """The paper's letter; "" for all sources."""
    of: str
    """What the query is for: ``topic``, or the id of the other paper's claim. For sources, the retrieving
    step and a number, or ``whole``."""
    query: str
    """The text of the query; empty if sources are shown whole."""
    found: list[Found]
    shown: list[str] = []
    """For sources: the ids of the segments that debaters see from here on, in their order."""
    sentences: int = 0
    """For sources: the number of sentences in all of them, shown or not."""


class Node(Strict):
    """One question, claim, argument or topic of a debate tree."""

    id: str
    parent: str | None = None
    children: list[str] = []
    kind: str = "open"
    """``open``, ``branch``, ``leaf``, or the protocol's own noun: ``claim``, ``topic``."""
    in_turn: bool = False
    """True if its children are debated one after another."""
    protocol: str = ""
    """The protocol that debates it; "" for the run's own."""
    round: int = 0
    """The round in which the node is debated, together with the round's other nodes. Rounds follow one
    another."""
    text: str
    stance: Stance | None = None
    """For or against its parent; only for an argument."""
    depth: int = Field(ge=0)
    status: NodeStatus = "open"
    stopped: str | None = None
    """The reason why expansion stopped here."""
    verdict: Verdict | None = None
    earlier: list[Verdict] = []
    """Verdicts that a later pass replaced."""
    provenance: list[str] = []
    """The ids of the leaves that support the verdict."""
    scores: dict[str, float] = {}
    """Numbers by name, such as ``strength``: 0 to 1."""
    transcript: list[Turn] = []
    comparisons: list[Comparison] = []
    """The comparisons of its children."""
    retrievals: list[Retrieval] = []
    notes: list[str] = []
    failures: list[Failure] = []
    data: dict[str, JsonValue] = {}
    """Further data that the protocol keeps on a node."""
    dropped: bool = False
    """True if a person removed the node and all below it."""
    added: bool = False
    """True if a person added the node."""

    def score(self, name: str) -> float | None:
        """Return the score called ``name``; None if it is missing."""
        return self.scores.get(name)


class Tree(Strict):
    """A debate tree: the id of its root, its nodes by id, and the retrieved segments."""

    root: str = "0"
    nodes: dict[str, Node] = {}
    segments: dict[str, Segment] = {}

    @model_validator(mode="after")
    def _require_no_circle(self) -> Self:
        """Refuse a damaged tree with a circle, because a walk in it would not end."""
        above = TopologicalSorter[str]()
        for name, node in self.nodes.items():
            above.add(name, *([node.parent] if node.parent is not None else []))
            for child in node.children:
                above.add(child, name)
        try:
            above.prepare()
        except CycleError as error:
            raise ValueError(f"nodes in a circle: {', '.join(error.args[1])}") from None
        return self
