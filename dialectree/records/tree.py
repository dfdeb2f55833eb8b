"""The tree of a debate: its nodes, with their turns, verdicts, scores, comparisons and evidence."""

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
"""Sources of a figure that is the probability of a claim."""


class Sparse(Strict):
    """Leaves fields that most records lack out of what is written."""

    few: ClassVar[Mapping[str, JsonValue]] = {}
    """Those fields, each with the value by which it is left out."""

    @model_serializer(mode="wrap")
    def _without_what_few_have(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)  # tuples too: they are no JsonValue
        for name, usual in self.few.items():
            if fields.get(name) == usual:
                fields.pop(name, None)
        return fields


class Ground(Strict):
    """A sentence of a source that a verdict rests on."""

    id: str
    """Of the sentence: ``s2:17.3``."""
    source: str
    """The name of the source."""
    page: int | None = None
    """The page on which its segment begins, from 1; None where the source has no pages."""


class Calibrated(Strict):
    """A confidence by what such confidences have been worth in an evaluation."""

    confidence: float = Field(ge=0, le=1)
    """The share of right answers, or of true claims, among those of this confidence."""
    n: int = Field(ge=1)
    """The answers that it was fitted to."""
    brier_before: float
    """Their Brier score as the confidences were said, 0 to 1."""
    brier_after: float
    """The same, calibrated, each answer by a fit to others."""


class Verdict(Sparse):
    """The ruling on a question, a claim or a comparison."""

    few = {
        **dict.fromkeys(("probability", "agreement", "local_confidence", "winner", "calibrated")),
        **{"dissent": {}, "grounds": [], "take": 1},
    }
    answer: str | None = None
    """None if the debate could not be resolved."""
    label: str | None = None
    """The answer out of a closed set: an option's letter, or ``True`` or ``False``."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How sure the protocol is; of one node the figure that counts upward."""
    confidence_source: str | None = None
    """Whose figure the confidence is, such as ``judge`` or ``product of judges``; ``person`` where
    a person ruled, who may give none."""
    rationale: str | None = None
    notes: list[str] = []
    """What a reader should know beside it, such as what the question leaves open."""
    agreement: float | None = Field(default=None, ge=0, le=1)
    """The share of a jury's rulings that name the most frequent label; None without a jury."""
    dissent: dict[str, str] = {}
    """What those judges of a jury ruled who ruled otherwise, by their names: ``{"2": "B"}``."""
    local_confidence: float | None = Field(default=None, ge=0, le=1)
    """The judge's confidence in this node alone; of the verdict on one node."""
    winner: str | None = None
    """The speaker or the label that won the debate; of the verdict on one node."""
    take: int = 1
    """1 for the first pass over the tree, 2 for a second one."""
    grounds: list[Ground] = []
    """The sentences of the user's sources that it rests on."""
    calibrated: Calibrated | None = None
    """The confidence by the run's calibration; None without one. ``confidence`` stays as said."""

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
        """Leave out the probability, which follows from the other fields."""
        if not isinstance(fields, Mapping):
            return fields
        return {name: value for name, value in fields.items() if name != "probability"}


class Point(Sparse):
    """What a speaker draws from the sources, in its own words, and the sentences behind it."""

    few = {"item": 0}
    id: str
    """Unique in the run."""
    point: str
    sentences: list[str]
    """Ids of sentences: ``s2:17.3``. Their words stand in the segments of the tree."""
    item: int = 0
    """The item of the reply's list that it belongs to, from 1; 0: the reply as a whole."""


Mark = Literal["copied", "cut"]
"""A turn that repeats its opponent's words, or of which a limit cut a text."""


class Turn(Place, Sparse):
    """One reply in the transcript of a node, at its place; without ``fields`` one to come."""

    few = {"evidence": [], "rests_on": [], "marks": []}
    side: str | None = None
    """The text that the speaker has to defend, if one is assigned."""
    label: str | None = None
    """The label of that text, if it has one: a long text is shortened in ``side``."""
    called: str = Field(default="", exclude=True)
    """The speaker's name in traces and failures, such as the label it defends. No record has it."""
    names: str | None = None
    """The label that the reply names, "" if it names none; None if it is not asked to name one."""
    protocol: str = ""
    """The protocol that speaks; "" for the run's own."""
    fields: dict[str, JsonValue] = {}
    evidence: list[Point] = []
    """What the speaker draws from the sources."""
    rests_on: list[str] = []
    """Ids of the sentences that a ruling rests on."""
    marks: list[Mark] = []
    """What is wrong with the turn although it was asked for again."""

    @classmethod
    def at(cls, place: Place) -> Turn:
        """Return the turn to come at ``place``."""
        return place if isinstance(place, Turn) else cls(**place.place())

    def speaking(self) -> str:
        """Return who speaks, in words: ``leaf judge``."""
        return f"{self.role} {self.called or self.name}".strip().replace("_", " ")


class Failure(Strict):
    """One part that failed for good."""

    role: str
    speaker: str = ""
    """The speaker's name where two play one role."""
    fault: str


class Comparison(Strict):
    """A supporter and an attacker of one claim before a judge."""

    supporter: str
    attacker: str
    winner: str
    """Who won, in the judge's own word: one of ``Phase.winners``, or another one for a tie."""
    order: Order = "support_first"
    """Which of the two the judge read first."""
    reason: str = ""
    """The judge's; of a void comparison nothing."""
    contested: Literal["flipped", "voided"] | None = None
    """How a person changed it; a voided one counts for nobody."""

    def pair(self) -> tuple[str, str, Order]:
        """Return the key of this comparison."""
        return self.supporter, self.attacker, self.order


class Segment(Sparse):
    """A quotable piece of a paper or of a source, with its place."""

    few = {"source": "", "sentences": []}
    id: str
    """The paper's letter or the source's id, and the segment's number: ``a:12``, ``s2:17``."""
    text: str
    page: int | None = None
    """Counted from 1; None where the source has no pages."""
    offset: int = 0
    """Characters into the paper's text."""
    heading: str | None = None
    contested: bool = False
    """True if a person wrote it in place of the paper's own text."""
    source: str = ""
    """The name of the source; "" for a paper."""
    sentences: list[tuple[int, int]] = []
    """Where each sentence of a source's segment begins and ends, in characters of the text."""


class Found(Strict):
    """One segment that a retrieval found."""

    id: str
    score: float | None = None
    """The inner product of normalised vectors, or the score of a lexical index; None where ranks
    were fused."""


class Retrieval(Sparse):
    """A query to one paper or to all sources, and the segments that it found."""

    few = {"shown": [], "sentences": 0}
    paper: str = ""
    """The paper's letter; "" for all sources."""
    of: str
    """``topic``, or the id of the other paper's claim; of sources the step that retrieves, and a
    number, or ``whole``."""
    query: str
    """Empty, where sources are shown whole."""
    found: list[Found]
    shown: list[str] = []
    """Of sources: the ids of the segments that debaters are shown since, in their order."""
    sentences: int = 0
    """Of sources: how many sentences all of them have, shown or not."""


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
    """The round in which it is debated, side by side with others; rounds follow one another."""
    text: str
    stance: Stance | None = None
    """For or against its parent; of an argument."""
    depth: int = Field(ge=0)
    status: NodeStatus = "open"
    stopped: str | None = None
    """Why expansion stopped here."""
    verdict: Verdict | None = None
    earlier: list[Verdict] = []
    """Verdicts that a later pass replaced."""
    provenance: list[str] = []
    """The ids of the leaves that the verdict rests on."""
    scores: dict[str, float] = {}
    """Numbers by name, such as ``strength``: 0 to 1."""
    transcript: list[Turn] = []
    comparisons: list[Comparison] = []
    """Those among its children."""
    retrievals: list[Retrieval] = []
    notes: list[str] = []
    failures: list[Failure] = []
    data: dict[str, JsonValue] = {}
    """More that the protocol keeps of a node."""
    dropped: bool = False
    """True if a person removed it, and all below it."""
    added: bool = False
    """True if a person added it."""

    def score(self, name: str) -> float | None:
        """Return the score called ``name``; None without one."""
        return self.scores.get(name)


class Tree(Strict):
    """A debate tree: the id of its root, its nodes by id, and the segments that were retrieved."""

    root: str = "0"
    nodes: dict[str, Node] = {}
    segments: dict[str, Segment] = {}

    @model_validator(mode="after")
    def _require_no_circle(self) -> Self:
        """Refuse a damaged tree: a walk up or down it would have no end."""
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
