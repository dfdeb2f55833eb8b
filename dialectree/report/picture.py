"""What is known of a run while it lasts: a small picture that events change, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from dialectree.records import Event, Stance
from dialectree.report import exchange, topics, words

KEPT = 300
"""Characters of a text that are kept for drawing."""


def remark(event: Event) -> str | None:
    """An event that a person should not miss, in one line; None for any other."""
    said = {"failed": _text(event.data, "fault"), "asked": _text(event.data, "note")}
    if event.kind not in said:
        return None
    role = f"{_speaker(event.data)} failed: " if event.kind == "failed" else ""
    return words.line(f"{event.node}: {role}{said[event.kind]}", KEPT)


def _speaker(data: Mapping[str, JsonValue]) -> str:
    """``Judge``; ``Persona a`` where two play one role."""
    role, who = _text(data, "role"), _text(data, "who")
    name = f" {who}" if who not in ("", role) else ""
    return f"{words.label(role)}{name}"


def _text(data: Mapping[str, JsonValue], name: str) -> str:
    value = data.get(name)
    return value[: 8 * KEPT] if isinstance(value, str) else ""


def _number(data: Mapping[str, JsonValue], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and 0 < value < 10_000 else 0


@dataclass
class Growing:
    """One node of the tree as far as it has come."""

    id: str
    text: str
    depth: int
    doing: str = "splitting"
    kind: str = "open"
    stance: Stance | None = None
    children: list[str] = field(default_factory=list)
    tau: float | None = None
    strength: float | None = None
    """What an argument weighs in the end; a node with one shows no confidence."""
    declined: set[str] = field(default_factory=set)
    met: int = 0
    """Comparisons among its children."""
    settled: bool = False
    missing: bool = False
    confidence: float | None = None
    failures: int = 0
    outcome: str = ""
    """What a topic came to, or a comparison; a node with one shows no confidence."""

    def __post_init__(self) -> None:
        self.place = tuple((len(part), part) for part in self.id.split("."))

    @property
    def running(self) -> bool:
        """True while it is worked on itself; what waits for its parts or the maths is not."""
        waits = bool(self.children) or self.tau is not None
        return not self.settled and not (waits and not self.doing)


class Picture:
    """What is known of a run so far. Takes any event, however odd, and draws no conclusion from it
    that it does not hold."""

    def __init__(self, rounds: Mapping[str, int] | None = None) -> None:
        self.nodes: dict[str, Growing] = {}
        self.concluded = False
        self._rounds = rounds or {}
        self._spoken: dict[tuple[str, str, int], set[str]] = {}
        self._phases: dict[tuple[str, str], set[str]] = {}
        """Who spoke in the phases of a role-switching debate, by node and phase."""
        self._labels: dict[tuple[str, str], str] = {}
        """The label that a debater of a role-switching debate defends, by node and speaker."""

    def take(self, event: Event) -> None:
        """Put ``event`` into the picture."""
        data, node = event.data, self.nodes.get(event.node)
        if event.kind == "concluded":
            self.concluded = True
            self._over()
        elif node is None:
            if event.kind == "opened":
                self.nodes[event.node] = _opened(event)
        elif node.kind == "topic":
            self._compare(node, event)
        elif event.kind == "spoke":
            self._spoke(node, data)
        elif event.kind == "branched" and "why" in data:
            node.doing = "debating"
        elif event.kind == "branched":
            children = data.get("children")
            node.children = list(map(str, children)) if isinstance(children, list) else []
            node.kind = _text(data, "kind") or "branch"
            node.doing = ""
        elif event.kind == "failed":
            node.failures += 1
        elif event.kind == "asked":
            node.doing = "lacks something"
        elif event.kind == "answered":
            debated = any(spot == node.id for spot, _ in self._phases)
            node.doing = "judgment" if debated else "splitting"
        elif event.kind == "settled":
            _settle(node, data)
        else:
            _argue(node, event)

    def _spoke(self, node: Growing, data: Mapping[str, JsonValue]) -> None:
        """Say where the debate at ``node`` stands after a reply."""
        stage, number, who = _text(data, "stage"), _number(data, "round"), _text(data, "who")
        if _text(data, "role") == "comparer":
            node.outcome = "compared"
        if stage in ("answer", "strength", "tournament"):
            return
        if stage in exchange.STAGES:
            self._in_phase(node, stage, who, data)
            return
        if stage == "generation":
            node.doing = "arguing"
            return
        if stage == "expansion" or not number:
            role = words.line(words.label(_text(data, "role")), 40)
            node.doing = "splitting" if stage == "expansion" else f"{role} spoke"
            return
        second = "again, " if _number(data, "take") > 1 else ""
        node.settled = False
        speakers = self._spoken.setdefault((node.id, f"{stage} {second}", number), set())
        speakers.add(who)
        last = self._rounds.get(stage)
        if last == number and len(speakers) > 1:
            node.doing = f"{second}with the judge"
        else:
            verb = "merging" if stage == "synthesis" else "round"
            of = f" of {last}" if last else ""
            name = f"{words.label(_text(data, 'role'))} {who}" if who.isdigit() else who
            node.doing = f"{second}{verb} {number}{of}, {words.line(name, 20)}"

    def _compare(self, node: Growing, event: Event) -> None:
        """What is known of a topic that two papers debate."""
        data = event.data
        if event.kind == "spoke":
            who, stage = _text(data, "who"), _text(data, "stage")
            persona = f", {who}" if who in ("a", "b") and stage in topics.EXCHANGE else ""
            node.doing = f"{_DOING.get(stage, words.line(stage, 12))}{persona}"
        elif event.kind == "branched" and "why" in data:
            self._close(node)
        elif event.kind == "branched":
            children = data.get("children")
            node.children = list(map(str, children)) if isinstance(children, list) else []
            node.doing = ""
        elif event.kind == "failed":
            node.failures += 1
        elif event.kind == "settled":
            self._come_to(node, data)

    def _come_to(self, node: Growing, data: Mapping[str, JsonValue]) -> None:
        """Say what a topic came to: its positions, the whole comparison, or nothing."""
        more = data.get("data")
        positions = more.get("positions") if isinstance(more, dict) else None
        if positions is not None:
            node.outcome, node.doing = _conceded(positions), "with the moderator"
        elif isinstance(more, dict) and "sentences" in more:
            node.outcome = "compared"
            self._close(node)
        elif data.get("verdict") is None:
            node.outcome = ""
            self._close(node)

    def _close(self, node: Growing) -> None:
        """A topic is over when all below it are; the whole one when there is a summary."""
        node.settled, node.missing = True, not node.outcome
        above = self.nodes.get(node.id.rpartition(".")[0])
        if above is None or above.kind != "topic":
            return
        below = [self.nodes.get(child) for child in above.children]
        if all(child is not None and child.settled for child in below):
            if "." in above.id:
                self._close(above)
            else:
                above.doing = "summary"

    def _over(self) -> None:
        """Where topics are not split nobody says that they stop."""
        for node in self.nodes.values():
            if node.kind == "topic" and node.outcome and not node.settled:
                self._close(node)

    def _in_phase(self, node: Growing, stage: str, who: str, data: Mapping[str, JsonValue]) -> None:
        """Say which phase a role-switching debate is in, and who spoke last."""
        again = "again, " if _number(data, "take") > 1 else ""
        spoken = self._phases.setdefault((node.id, f"{again}{stage}"), set())
        spoken.add(who)
        node.settled = node.settled and not again
        if stage == "judgment":
            swapped = ", swapped" if who == "swapped" else ""
            node.doing = f"{again}judgment{swapped}"
        elif stage == "direct":
            node.doing = words.count(len(spoken), "direct answer")
        elif stage == "uncertainty" and len(spoken) > 1:
            node.doing = f"{again}with the judge"
        else:
            name = words.label(stage).lower().removesuffix(" reports")
            if stage != "role_switch":  # there it speaks for the other's label
                label = _text(data, "label") or _text(data, "names")
                self._labels[node.id, who] = label or self._labels.get((node.id, who), who)
            speaker = self._labels.get((node.id, who), who) if who in ("a", "b") else ""
            node.doing = f"{again}{name}" + (f", {words.line(speaker, 12)}" if speaker else "")

    def waits_for(self, node: Growing) -> str:
        """How much of what is below a node is there: its parts, debates, trees or arguments."""
        below = [self.nodes[child] for child in node.children if child in self.nodes]
        settled, many = sum(child.settled for child in below), len(node.children)
        if node.kind in ("claim", "argument") and all(n.kind == "argument" for n in below):
            scored = sum(child.tau is not None for child in below)
            return f"{scored} of {many} scored" + (f", {node.met} met" if node.met else "")
        if node.kind == "knockout":
            return f"{words.count(settled, 'debate')} over"
        if node.kind == "topic":
            return f"{settled} of {words.count(many, 'topic')}"
        if settled == many:
            return "merging"
        return f"{settled} of {words.count(many, 'tree' if node.kind == 'claim' else 'part')}"

    def settled(self) -> int:
        """How many nodes have their verdict, or none for good."""
        return sum(node.settled for node in self.nodes.values())


_BEGINS = {"leaf": "answering", "claim": "arguing", "argument": "being scored", "knockout": ""}
_BEGINS |= {"topic": "deliberating"}
_DOING = {
    "claims": "deliberating",
    "relevance": "deliberating",
    "subtopics": "splitting",
    "present": "presenting",
    "respond": "responding",
    "revise": "revising",
    "progress": "with the moderator",
}


def _conceded(positions: JsonValue) -> str:
    """Return who concedes; nothing where nobody has a word."""
    held = (
        [one for one in positions if isinstance(one, dict)] if isinstance(positions, list) else []
    )
    gave = [who for who in ("a", "b") for p in held if p.get("paper") == who and p.get("concedes")]
    if len(gave) > 1:
        return "both concede"
    return (f"{gave[0]} concedes" if gave else "neither concedes") if held else ""


def _opened(event: Event) -> Growing:
    """A node as it comes into being."""
    text, kind = words.line(_text(event.data, "text"), KEPT), _text(event.data, "kind")
    doing = _BEGINS.get(kind, "splitting")
    doing = "debating" if kind == "topic" and "." in event.node else doing
    stance = event.data.get("stance")
    return Growing(
        event.node,
        text,
        event.node.count("."),
        doing,
        kind or "open",
        "support" if stance == "support" else "attack" if stance == "attack" else None,
    )


def _settle(node: Growing, data: Mapping[str, JsonValue]) -> None:
    verdict = data.get("verdict")
    node.confidence = _share(verdict, "confidence") if isinstance(verdict, dict) else None
    answered = isinstance(verdict, dict) or data.get("status") == "answered"
    node.settled, node.missing = True, not answered


def _argue(node: Growing, event: Event) -> None:
    """What is known of an argument, or of those below it."""
    data = event.data
    scores, more = data.get("scores"), data.get("data")
    if event.kind == "scored" and isinstance(scores, dict):
        if "strength" in scores:
            node.strength = _share(scores, "strength")
            node.settled, node.missing = True, node.strength is None
        else:
            node.tau = _share(scores, "tau")
            node.doing = "" if node.doing == "being scored" else node.doing
    elif event.kind == "compared":
        node.met += 1
    elif event.kind == "noted" and isinstance(more, dict):
        sides = more.get("declined")
        for side in sides if isinstance(sides, dict) else ():
            node.declined.add("supporter" if side == "support" else "attacker")


def _share(data: Mapping[str, JsonValue], name: str) -> float | None:
    value = data.get(name)
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and isinstance(value, int | float) and 0 <= value <= 1 else None


def shown(nodes: Mapping[str, Growing], room: int) -> list[Growing]:
    """The nodes worth their line where there is room for ``room``, in the order of the tree.

    Those that are worked on come first, each with its ancestors; then whatever is nearest the root.
    """
    if len(nodes) <= room:
        return sorted(nodes.values(), key=lambda node: node.place)
    wanted = sorted(nodes.values(), key=lambda n: (not n.running, n.depth, n.place))
    kept: dict[str, Growing] = {}
    for node in wanted:
        names = node.id.split(".")
        line = [".".join(names[: n + 1]) for n in range(len(names))]
        new = {i: nodes[i] for i in line if i in nodes and i not in kept}
        if len(kept) + len(new) <= room:
            kept |= new
    return sorted(kept.values(), key=lambda node: node.place)
