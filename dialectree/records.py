"""What is kept of a debate: events as they happen, calls as they are paid, and the record of both.

The record is folded from the events (:func:`fold`) and the calls (:func:`usage`). Events have
stable ids, so folding one twice changes nothing, and a run that was broken off shows its tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

SCHEMA = "dialectree.run/1"

RunStatus = Literal["running", "answered", "partial", "degraded", "unresolved"]
NodeStatus = Literal["open", "answered", "missing"]
NodeKind = Literal["open", "branch", "leaf", "knockout", "claim", "argument", "topic"]
"""Of a knockout the debates below it are held one after another."""
Stance = Literal["support", "attack"]
Order = Literal["support_first", "attack_first"]
EventKind = Literal[
    "opened",  # a node came into being: text, parent, depth
    "spoke",  # a role replied: Turn
    "noted",  # the program remarks on a node: note
    "stopped",  # expansion stops here: why
    "branched",  # the node was split: children
    "asked",  # a person is asked: request
    "clarified",  # the person answered: text
    "failed",  # one part failed for good: role, fault
    "settled",  # the node has its verdict, or none: NodeVerdict or null, provenance
    "declined",  # a side has no honest argument: stance
    "scored",  # an argument's intrinsic strength: tau
    "compared",  # a supporter met an attacker: Comparison
    "weighed",  # what the maths makes of an argument: theta, blended, strength
    "retrieved",  # segments were found in a paper: Retrieval, and the segments
    "claimed",  # a persona's claims about a topic: paper, claims
    "countered",  # what the other paper has to say on a claim: claim, segments
    "debated",  # both sides' last word on a topic: positions
    "summarised",  # the comparison, sentence by sentence: sentences
    "contested",  # a person changed something here: change, and what it changes
    "concluded",  # the run has its verdict: Verdict
]


class Strict(BaseModel):
    """A record takes the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


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


Letter = Literal["a", "b"]
"""One of two papers, and the persona that speaks for it."""


class Segment(Strict):
    """A quotable piece of a paper, with its place."""

    id: str
    """The paper's letter and the segment's number: ``a:12``."""
    text: str
    page: int | None = None
    """Counted from 1; None where the source has no pages."""
    offset: int = 0
    """Characters into the paper's text."""
    heading: str | None = None
    contested: bool = False
    """True when a person wrote it in the place of what the paper says."""


class Found(Strict):
    """One segment that a retrieval found."""

    id: str
    score: float
    """Inner product of the normalised vectors, or what a lexical index gives."""


class Retrieval(Strict):
    """What was looked for in one paper, and what was found."""

    paper: Letter
    of: str
    """``topic``, or the id of the other paper's claim."""
    query: str
    found: list[Found]


class Claim(Strict):
    """What a paper claims to contribute to a topic."""

    id: str
    """The paper's letter and a number: ``a1``."""
    paper: Letter
    title: str
    description: str
    evidence: list[str]
    """Ids of the segments of its own paper that it rests on."""
    counter: list[str] = []
    """Ids of the segments of the other paper that speak to it."""
    addressed: bool | None = None
    """Whether the other paper speaks to it at all; None until somebody looked."""


class Position(Strict):
    """A persona's last word on a topic."""

    paper: Letter
    title: str
    description: str
    evidence: list[str] = []
    """Ids of the segments that it cites."""
    proposals: list[str] = []
    """What it suggests beyond either paper."""
    concedes: bool = False


class Sentence(Strict):
    """One sentence of a comparison, and what it rests on."""

    part: Literal["similarity", "difference", "proposal"]
    text: str
    nodes: list[str] = []
    segments: list[str] = []
    faults: list[str] = []
    """What the program found wrong with it: it rests on nothing, a quotation does not occur."""


_OF_TOPICS = (*("description", "claims", "relevant", "retrievals", "positions", "sentences"),)
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
    """Intrinsic strength: how well the scorer thinks that it supports or attacks its parent."""
    theta: Annotated[float, Field(ge=0, le=1)] | None = None
    """What its comparisons make of it (Bradley-Terry); none without a comparison that counts."""
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
    claims: list[Claim] = []
    """What both papers claim to contribute to it, made before it was split."""
    retrievals: list[Retrieval] = []
    positions: list[Position] = []
    """Both personas' last word on it."""
    sentences: list[Sentence] = []
    """The comparison; at the root."""

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


class Held(Strict):
    """What a person put in the place of a reply, or took out; it holds whenever a run is walked."""

    id: str
    """As a person names it: a turn, a node, a segment of evidence."""
    what: Literal["replaced", "ruled", "dropped"]
    spots: list[Spot]
    """The places where it holds. A node that was dropped is a spot without a stage."""
    reply: dict[str, JsonValue] | None = None
    """What is said there; None where nothing is."""
    before: str | None = None
    """The text that it took the place of."""
    after: str | None = None


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


class Usage(Strict):
    """The ledger's sums. A reply from the cache counts like the call that it stands for."""

    calls: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider read from its own cache."""
    cost: float | None = None
    """In the unit of the prices given; null where a price is missing."""
    wall_s: float = 0.0
    embedding_s: float = 0.0
    """Seconds of it that went into retrieval, of a comparison of papers: loading the model, cutting
    and embedding the papers, embedding queries or searching for their words."""
    critical_path_calls: int = 0
    """The longest chain of calls in which each needs the one before."""


class Call(Strict):
    """One line of calls.jsonl: one call to a model, or what the cache answered for it."""

    key: str
    node: str
    role: str
    who: str = ""
    """The speaker's name where two play one role."""
    round: int = 0
    take: int = 1
    stage: str
    step: int
    repair: int = 0
    """0 for the call itself, 1 and 2 for its repairs."""
    prompt: str
    """Name and version of the prompt: ``tree_structured_debate/leaf_judge@1``."""
    model: str
    seed: int
    attempts: int = 1
    started: str
    ended: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    finish: str | None = None
    reply: str | None = None
    error: str | None = None
    source: Literal["model", "cache", "person"] = "model"
    run: str | None = None
    """The run that it was made for, where that is another one which this one contests."""

    @model_serializer(mode="wrap")
    def _of_which_run(self, whole: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """A call of the run itself says nothing of runs."""
        kept: dict[str, JsonValue] = whole(self)
        if self.run is None:
            kept.pop("run")
        return kept

    def spot(self) -> tuple[str, str, str, int, int, str]:
        """Where its reply is given; its repairs are given there, too."""
        who = self.who or self.role
        return self.node, self.stage, self.role, self.round, self.take, who


class Event(Strict):
    """One line of events.jsonl."""

    t: str
    run_id: str
    node: str
    kind: EventKind
    data: dict[str, JsonValue] = {}

    def same(self, other: Event) -> bool:
        """True when both say the same thing of the same node, whenever they said it."""
        return (self.node, self.kind, self.data) == (other.node, other.kind, other.data)


class RunRecord(Strict):
    """run.json: a run from the question to the verdict."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    run_id: str
    protocol: str
    method: str
    status: RunStatus = "running"
    demonstration: bool = False
    """True when the embedded model took part: its answers are no better than chance."""
    input: dict[str, JsonValue]
    settings: dict[str, JsonValue] = {}
    models: dict[str, str] = {}
    prompts: dict[str, int] = {}
    contest: Contest | None = None
    """Of a run that contests another one."""
    verdict: Verdict | None = None
    tree: Tree = Tree()
    usage: Usage = Usage()
    notices: list[str] = []
    """What the program had to change or stop on the way, such as a budget that was reached."""
    started: str
    ended: str | None = None
    versions: dict[str, str] = {}

    model_config = ConfigDict(
        extra="forbid", populate_by_name=True, serialize_by_alias=True, ser_json_inf_nan="strings"
    )

    @classmethod
    def read(cls, text: str) -> Self:
        """A record from the text of a run.json."""
        return cls.model_validate_json(text)

    def degraded(self) -> list[tuple[str, Failure]]:
        """Every part that failed for good, with the id of its node."""
        return [(n.id, failure) for n in self.tree.nodes.values() for failure in n.failures]


def fold(events: Iterable[Event]) -> tuple[Tree, Verdict | None]:
    """The tree and the verdict that the events tell of.

    A later event of the same id replaces the earlier one. Children follow their parents, and a
    transcript is ordered by its place in the debate, not by who happened to reply first. Every
    child is a node of the tree, and every node a child of its parent, however the events break off.
    """
    nodes: dict[str, Node] = {}
    segments: dict[str, Segment] = {}
    verdict: Verdict | None = None
    for event in events:
        if event.kind == "concluded":
            verdict = Verdict.model_validate(event.data)
        elif event.kind == "opened":
            _open(nodes, event)
        elif event.node in nodes:
            if event.kind == "retrieved":
                found = [Segment.model_validate(one) for one in _list(event.data["segments"])]
                segments |= {segment.id: segment for segment in found}
            _add(nodes[event.node], event)
    return Tree(nodes=_hung(nodes), segments=_on_the_shelf(segments)), verdict


def path_key(node_id: str) -> tuple[int, ...]:
    """Sorts ids such as ``0.10`` after ``0.2``."""
    return tuple(int(part) if part.isdigit() else -1 for part in node_id.split("."))


def _on_the_shelf(segments: Mapping[str, Segment]) -> dict[str, Segment]:
    """In the order of the papers."""
    return {name: segments[name] for name in sorted(segments, key=segment_key)}


def segment_key(segment_id: str) -> tuple[str, int]:
    """Sorts ids such as ``a:10`` after ``a:2``."""
    paper, _, number = segment_id.partition(":")
    return paper, int(number) if number.isdigit() else -1


def _open(nodes: dict[str, Node], event: Event) -> None:
    new = Node.model_validate({"id": event.node, **event.data})
    node = nodes.setdefault(event.node, new)
    node.text, node.parent, node.depth = new.text, new.parent, new.depth
    node.stance = new.stance
    node.description, node.relevant = new.description, new.relevant


def _hung(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """The nodes in the order of the tree.

    A child that was not opened yet is left out, and so is a node that its parent disowned: a run
    that is resumed with other settings may split a question anew. Only a supporter and an attacker
    among the children have been compared.
    """
    hung: dict[str, Node] = {}
    for node in sorted(nodes.values(), key=lambda node: path_key(node.id)):
        node.children = [child for child in node.children if child in nodes]
        stances = {child: nodes[child].stance for child in node.children}
        node.comparisons = [
            met
            for met in node.comparisons
            if (stances.get(met.supporter), stances.get(met.attacker)) == ("support", "attack")
        ]
        parent = nodes.get(node.parent or "")
        if parent is None or (
            parent.id in hung and (parent.kind == "open" or node.id in parent.children)
        ):
            hung[node.id] = node
    return hung


def _add(node: Node, event: Event) -> None:
    """Apply one event to its node; applying it again changes nothing."""
    data = event.data
    match event.kind:
        case "spoke":
            turn = Turn.model_validate(data)
            kept = [t for t in node.transcript if t.place() != turn.place()]
            node.transcript = sorted([*kept, turn], key=_order)
        case "noted" | "asked" | "clarified":
            note = str(data["note"])
            node.notes = node.notes if note in node.notes else [*node.notes, note]
        case "stopped":
            node.kind = "topic" if node.kind == "topic" else "leaf"
            node.stopped, node.children = str(data["why"]), []
        case "branched":
            node.kind = _kind(data)
            node.stopped = None if node.kind == "branch" else node.stopped
            node.children = [str(child) for child in _list(data["children"])]
        case "failed":
            failure = Failure.model_validate(data)
            others = [f for f in node.failures if f != failure]
            node.failures = sorted([*others, failure], key=lambda f: (f.role, f.who, f.fault))
        case "settled":
            _settle(node, data)
        case "declined" | "scored" | "compared" | "weighed":
            _argue(node, event.kind, data)
        case "retrieved" | "claimed" | "countered" | "debated" | "summarised":
            _compare(node, event.kind, data)
        case "contested":
            _contest(node, data)
        case _:
            raise ValueError(f"an event of the unknown kind {event.kind!r}")


def _kind(data: Mapping[str, JsonValue]) -> NodeKind:
    """What a node with children is: a split question unless the event says otherwise."""
    match data.get("kind"):
        case "knockout" | "claim" | "argument" | "topic" as kind:
            return kind
        case _:
            return "branch"


def _order(turn: Turn) -> tuple[int, int, str, int]:
    """Within a node: by pass, then by place in it (expansion first), by name, by round."""
    return turn.take, STAGES.index(turn.stage) * 1000 + turn.step, turn.who, turn.round


STAGES = (
    "expansion",
    "direct",
    "proposals",
    "cross_examination",
    "role_switch",
    "uncertainty",
    "judgment",
    "strength",
    "generation",
    "tournament",
    "present",
    "respond",
    "revise",
    "progress",
    "claims",
    "relevance",
    "subtopics",
    "debate",
    "synthesis",
    "summary",
    "answer",
)
"""The stages of a node's transcript, in the order in which they follow one another.

No protocol has them all. Of an argument's ``strength`` nobody waits, and of the ``tournament``
among its children only the maths: the next level grows meanwhile.
"""


def _settle(node: Node, data: Mapping[str, JsonValue]) -> None:
    if data.get("verdict") is None:
        node.status = "missing" if node.verdict is None else node.status
        return
    verdict = NodeVerdict.model_validate(data["verdict"])
    seen = {v.take: v for v in [*node.earlier, *([node.verdict] if node.verdict else [])]}
    seen[verdict.take] = verdict
    *node.earlier, node.verdict = [seen[take] for take in sorted(seen)]
    node.status = "answered"
    if node.verdict is verdict:
        node.provenance = [str(leaf) for leaf in _list(data.get("provenance", []))]


def _argue(node: Node, kind: EventKind, data: Mapping[str, JsonValue]) -> None:
    """What is known of an argument, or of the arguments below a claim."""
    if kind == "declined":
        sides = {*node.declined, "support" if data["stance"] == "support" else "attack"}
        node.declined = [side for side in ("support", "attack") if side in sides]
    elif kind == "compared":
        new = Comparison.model_validate(data)
        kept = [c for c in node.comparisons if c.pair() != new.pair()]
        node.comparisons = sorted([*kept, new], key=_pair_order)
    else:
        figures = ("tau",) if kind == "scored" else ("theta", "blended", "strength")
        for name in figures:
            setattr(node, name, _figure(data.get(name)))
        if kind == "weighed":
            node.status = "missing" if node.strength is None else "answered"


def _compare(node: Node, kind: EventKind, data: Mapping[str, JsonValue]) -> None:
    """What two papers have to say on a topic."""
    match kind:
        case "retrieved":
            new = Retrieval.model_validate({k: v for k, v in data.items() if k != "segments"})
            others = [r for r in node.retrievals if (r.paper, r.of) != (new.paper, new.of)]
            node.retrievals = sorted([*others, new], key=lambda r: (r.of != "topic", r.of, r.paper))
        case "claimed":
            claims = [Claim.model_validate(claim) for claim in _list(data["claims"])]
            kept = [claim for claim in node.claims if claim.paper != data["paper"]]
            node.claims = sorted([*kept, *claims], key=lambda claim: claim.id)
        case "countered":
            counter = [str(name) for name in _list(data["segments"])]
            for claim in node.claims:
                if claim.id == data["claim"]:
                    claim.counter, claim.addressed = counter, bool(counter)
        case "debated":
            node.positions = [Position.model_validate(one) for one in _list(data["positions"])]
            node.status = "answered" if node.positions else "missing"
        case _:
            node.sentences = [Sentence.model_validate(one) for one in _list(data["sentences"])]
            node.status = "answered"


def _pair_order(comparison: Comparison) -> tuple[object, ...]:
    return path_key(comparison.supporter), path_key(comparison.attacker), comparison.order


def _figure(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _contest(node: Node, data: Mapping[str, JsonValue]) -> None:
    """A person's change: of a strength, of a comparison among the children, of a whole argument."""
    note = str(data["change"])
    node.notes = node.notes if note in node.notes else [*node.notes, note]
    if "dropped" in data:
        node.dropped = bool(data["dropped"])
    if "added" in data:
        node.added = bool(data["added"])


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise ValueError(f"a list was expected, not {value!r}")
    return value


def usage(calls: Iterable[Call]) -> Usage:
    """The sums of a ledger. ``cost`` is null as soon as one call has none."""
    calls = list(calls)
    costs = [call.cost for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        calls=len(calls),
        attempts=sum(call.attempts for call in calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        cost=round(sum(known), 9) if calls and len(known) == len(costs) else None,
    )


def chains(calls: Iterable[Call]) -> dict[tuple[str, int, str], int]:
    """For each node, pass and stage, the calls that had to follow one another.

    Calls made side by side share stage and step; their repairs follow the call that they mend.
    """
    steps: dict[tuple[str, int, str, int], dict[tuple[str, str, int], int]] = {}
    for call in calls:
        step = steps.setdefault((call.node, call.take, call.stage, call.step), {})
        speaker = (call.role, call.who, call.round)
        step[speaker] = step.get(speaker, 0) + 1
    chain: dict[tuple[str, int, str], int] = {}
    for (node, take, stage, _), speakers in steps.items():
        before = chain.get((node, take, stage), 0)
        chain[node, take, stage] = before + max(speakers.values())
    return chain


def critical_path(tree: Tree, calls: Iterable[Call]) -> int:
    """The longest chain of calls from the root down and back up, repairs included.

    The parts of a split are debated side by side, the debates of a knockout one after another. A
    tournament goes on while the arguments in it grow arguments of their own, and an argument's
    strength is asked for meanwhile. A second pass follows the first, so their chains add up.
    """
    chain = chains(calls)
    stages = {(node, take): set[str]() for node, take, _ in chain}
    for node, take, stage in chain:
        stages[node, take].add(stage)

    def below(node_id: str, take: int) -> int:
        node = tree.nodes.get(node_id)
        children = [below(child, take) for child in node.children] if node else []
        lengths = {stage: chain[node_id, take, stage] for stage in stages.get((node_id, take), ())}
        alone, tournament = lengths.pop("strength", 0), lengths.pop("tournament", 0)
        one_by_one = node is not None and node.kind == "knockout"
        longest = sum(children) if one_by_one else max([tournament, *children])
        return max(alone, sum(lengths.values()) + longest)

    return sum(below(tree.root, take) for take in {take for _, take, _ in chain})
