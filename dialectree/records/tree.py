"""The tree of a debate: its nodes, their turns, verdicts, strengths and comparisons."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from dialectree.records.strict import Strict
from dialectree.records.topics import Claim, Position, Retrieval, Segment, Sentence

NodeStatus = Literal["open", "answered", "missing"]
NodeKind = Literal["open", "branch", "leaf", "knockout", "claim", "argument", "topic"]
"""Of a knockout the debates below it are held one after another."""
Stance = Literal["support", "attack"]
Order = Literal["support_first", "attack_first"]


class Verdict(Strict):
    """What a run says in the end."""

    answer: str | None = None
    label: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    confidence_source: str | None = None
    """Whose figure the confidence is, such as ``judge`` or ``product of judges``."""
    explanation: str | None = None
    notes: list[str] = []


class NodeVerdict(Strict):
    """What the judge of one node of a tree ruled."""

    answer: str
    rationale: str
    confidence: float | None = Field(default=None, ge=0, le=1)
    """The node's aggregate confidence, the one that counts upward."""
    local_confidence: float | None = Field(default=None, ge=0, le=1)
    """What the judge said of this node alone."""
    winner: str | None = None
    take: int = 1


class Turn(Strict):
    """One reply in the transcript of a node."""

    role: str
    who: str
    stage: str
    step: int
    """Its place within the stage; replies made side by side share stage and step."""
    round: int = 0
    take: int = 1
    """1 for the first pass, 2 for a second one."""
    side: str | None = None
    """What the speaker had to defend, where that was laid down."""
    label: str | None = None
    """The label of that, where it has one: a long text is shortened in ``side``."""
    names: str | None = None
    """The label that the reply was read to name; empty where it named none. None: nobody looked."""
    fields: dict[str, JsonValue]

    def place(self) -> tuple[str, str, int, int, str]:
        """What makes this turn the one it is, within its node."""
        return self.stage, self.role, self.round, self.take, self.who


class Failure(Strict):
    """One part that failed for good."""

    role: str
    who: str = ""
    """The speaker's name where two play one role."""
    fault: str


class Comparison(Strict):
    """A supporter and an attacker of one claim before the pairwise judge."""

    supporter: str
    attacker: str
    winner: Literal["SUPPORT", "ATTACK", "TIE"]
    order: Order = "support_first"
    """Which of the two the judge was shown first."""
    contested: Literal["flipped", "voided"] | None = None
    """What a person made of it; a voided one counts for nobody."""

    def pair(self) -> tuple[str, str, Order]:
        """What makes this comparison the one it is."""
        return self.supporter, self.attacker, self.order


_OF_TOPICS = (
    *("description", "claims", "relevant", "raised_by", "retrievals", "positions", "sentences"),
)
_OF_ARGUMENTS = (
    "stance",
    "tau",
    "theta",
    "blended",
    "strength",
    "comparisons",
    "declined",
    "dropped",
    "added",
)


class Node(Strict):
    """One question, claim or argument of a debate tree."""

    id: str
    parent: str | None = None
    children: list[str] = []
    kind: NodeKind = "open"
    text: str
    depth: int = Field(ge=0)
    status: NodeStatus = "open"
    stopped: str | None = None
    """Why expansion stopped here."""
    verdict: NodeVerdict | None = None
    earlier: list[NodeVerdict] = []
    """Verdicts that a later pass replaced."""
    transcript: list[Turn] = []
    provenance: list[str] = []
    """The ids of the leaves that the verdict rests on."""
    notes: list[str] = []
    failures: list[Failure] = []

    stance: Stance | None = None
    """For or against its parent; of an argument."""
    tau: Annotated[float, Field(ge=0, le=1)] | None = None
    """Intrinsic strength, as scored: an argument's truth times its weight, a claim's truth."""
    theta: Annotated[float, Field(ge=0, le=1)] | None = None
    """What its comparisons make of it, by the strength rule; none without one that counts."""
    blended: Annotated[float, Field(ge=0, le=1)] | None = None
    """tau and theta together: its strength before the arguments below it count."""
    strength: Annotated[float, Field(ge=0, le=1)] | None = None
    """Its strength with all below it; at the claim the probability that it is true."""
    comparisons: list[Comparison] = []
    """Those among its children."""
    declined: list[Stance] = []
    """The sides for which the generator has (further) arguments that it would stand by: none."""
    dropped: bool = False
    """True when a person took it, and what hangs below it, out of the reckoning."""
    added: bool = False
    """True when a person added it."""

    description: str = ""
    """What is to be debated there; of a topic."""
    relevant: list[str] = []
    """The ids of its parent's claims that a topic is about."""
    raised_by: list[str] = []
    """Questions that the debate of its parent left open and that led to this topic."""
    claims: list[Claim] = []
    """What both papers claim to contribute to it, made before it was split."""
    retrievals: list[Retrieval] = []
    positions: list[Position] = []
    """Both personas' last word on it."""
    sentences: list[Sentence] = []
    """The comparison; at the root."""

    def taken_back(self) -> bool:
        """Whether a person added it and dropped it again: it is as if it had never been there."""
        return self.added and self.dropped

    @model_serializer(mode="wrap")
    def _only_what_it_can_have(self, whole: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """A question has no strengths; leave out what only arguments or only topics have."""
        kept: dict[str, JsonValue] = whole(self)
        others: tuple[str, ...] = ()
        if self.kind not in ("claim", "argument") and self.strength is None:
            others = _OF_ARGUMENTS
        if self.kind != "topic":
            others += _OF_TOPICS
        if self.dropped:
            others = tuple(name for name in others if name != "dropped")
        return {name: value for name, value in kept.items() if name not in others}


class Tree(Strict):
    """A debate tree: the id of its root, and its nodes by id."""

    root: str = "0"
    nodes: dict[str, Node] = {}
    segments: dict[str, Segment] = {}
    """The segments of both papers that were retrieved, by id."""

    @model_serializer(mode="wrap")
    def _without_empty_shelves(self, whole: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        kept: dict[str, JsonValue] = whole(self)
        return kept if self.segments else {n: v for n, v in kept.items() if n != "segments"}
