"""What is kept of a debate: events as they happen, calls as they are paid, and the record of both.

The record is folded from the events (:func:`fold`) and the calls (:func:`usage`). Events have
stable ids, so folding one twice changes nothing, and a run that was broken off shows its tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

SCHEMA = "dialectree.run/1"

RunStatus = Literal["running", "answered", "partial", "degraded", "unresolved"]
NodeStatus = Literal["open", "answered", "missing"]
NodeKind = Literal["open", "branch", "leaf"]
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

    def place(self) -> tuple[str, int, int, str]:
        """What makes this turn the one it is, within its node."""
        return self.role, self.round, self.take, self.who


class Failure(Strict):
    """One part that failed for good."""

    role: str
    who: str = ""
    """The speaker's name where two play one role."""
    fault: str


class Node(Strict):
    """One question or claim of a debate tree."""

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


class Tree(Strict):
    """A debate tree: the id of its root, and its nodes by id."""

    root: str = "0"
    nodes: dict[str, Node] = {}


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
    source: Literal["model", "cache"] = "model"


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
    verdict: Verdict | None = None
    for event in events:
        if event.kind == "concluded":
            verdict = Verdict.model_validate(event.data)
        elif event.kind == "opened":
            _open(nodes, event)
        elif event.node in nodes:
            _add(nodes[event.node], event)
    return Tree(nodes=_hung(nodes)), verdict


def path_key(node_id: str) -> tuple[int, ...]:
    """Sorts ids such as ``0.10`` after ``0.2``."""
    return tuple(int(part) if part.isdigit() else -1 for part in node_id.split("."))


def _open(nodes: dict[str, Node], event: Event) -> None:
    new = Node.model_validate({"id": event.node, **event.data})
    node = nodes.setdefault(event.node, new)
    node.text, node.parent, node.depth = new.text, new.parent, new.depth


def _hung(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """The nodes in the order of the tree.

    A child that was not opened yet is left out, and so is a node that its parent disowned: a run
    that is resumed with other settings may split a question anew.
    """
    hung: dict[str, Node] = {}
    for node in sorted(nodes.values(), key=lambda node: path_key(node.id)):
        node.children = [child for child in node.children if child in nodes]
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
            node.kind, node.stopped, node.children = "leaf", str(data["why"]), []
        case "branched":
            node.kind, node.stopped = "branch", None
            node.children = [str(child) for child in _list(data["children"])]
        case "failed":
            failure = Failure.model_validate(data)
            others = [f for f in node.failures if f != failure]
            node.failures = sorted([*others, failure], key=lambda f: (f.role, f.who, f.fault))
        case "settled":
            _settle(node, data)
        case _:
            raise ValueError(f"an event of the unknown kind {event.kind!r}")


def _order(turn: Turn) -> tuple[int, int, str]:
    """Within a node: by pass, then by place in it (expansion first), then by name."""
    return turn.take, STAGES.index(turn.stage) * 1000 + turn.step, turn.who


STAGES = ("expansion", "debate", "synthesis", "answer")
"""The stages of a node's transcript, in the order in which they follow one another."""


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


def chains(calls: Iterable[Call]) -> dict[tuple[str, int], int]:
    """For each node and pass, the node's own calls that had to follow one another.

    Calls made side by side share stage and step; their repairs follow the call that they mend.
    """
    steps: dict[tuple[str, int, str, int], dict[tuple[str, str], int]] = {}
    for call in calls:
        step = steps.setdefault((call.node, call.take, call.stage, call.step), {})
        step[call.role, call.who] = step.get((call.role, call.who), 0) + 1
    chain: dict[tuple[str, int], int] = {}
    for (node, take, *_), speakers in steps.items():
        chain[node, take] = chain.get((node, take), 0) + max(speakers.values())
    return chain


def critical_path(tree: Tree, calls: Iterable[Call]) -> int:
    """The longest chain of calls from the root down and back up, repairs included.

    A second pass follows the first, so their chains add up.
    """
    chain = chains(calls)

    def below(node_id: str, take: int) -> int:
        node = tree.nodes.get(node_id)
        children = [below(child, take) for child in node.children] if node else []
        return chain.get((node_id, take), 0) + max(children, default=0)

    return sum(below(tree.root, take) for take in {take for _, take in chain})
