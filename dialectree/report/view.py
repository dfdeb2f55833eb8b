"""Put the parts of a record into reading order, for every report.

Fields of a reply are shown by their names and shapes, so any protocol's replies can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from dialectree.records import Call, Node, RunRecord, Turn, Verdict
from dialectree.report import words
from dialectree.report.figures import format_share
from dialectree.text import figure, label, line

_SHARES = ("confidence", "difficulty", "strength", "score", "probability", "uncertainty")
_NAMES = ("qid", "id", "n", "name", "title")
_LEVELS = 6


class ReplyLine(NamedTuple):
    """One line of a reply: a name, and a text or a share of 1."""

    level: int
    label: str
    text: str = ""
    share: float | None = None
    node: str | None = None
    """The id of the tree node that the text of this line became."""


class ReplyNames(NamedTuple):
    """The words for names in a reply."""

    parts: Mapping[str, str]
    """The texts of c1, c2, ...: the parts of the last accepted split."""
    captions: Mapping[str, str]
    """The names of fields for a reader."""


class Round(NamedTuple):
    """Replies at one place of a debate: by one speaker, or by several who face each other."""

    number: int
    speakers: list[str]
    """The speakers who face each other, each in a column; empty if one speaks to all."""
    turns: list[Turn]

    def turn(self, speaker: str) -> Turn | None:
        """Return the turn of ``speaker`` in this round."""
        return next((turn for turn in self.turns if turn.speaker == speaker), None)


class Stage(NamedTuple):
    """One phase of a node's transcript, in one pass."""

    name: str
    take: int
    rounds: list[Round]
    caption: str

    @property
    def title(self) -> str:
        """Return ``Debate``, ``Second pass: debate``."""
        if self.take == 1:
            return self.caption
        ordinal = "Second" if self.take == 2 else f"{self.take}th"
        return f"{ordinal} pass: {self.caption[:1].lower()}{self.caption[1:]}"


def stages(record: RunRecord | None, node: Node) -> list[Stage]:
    """Return the transcript of ``node`` by pass, phase and round."""
    look, weighers = words.look(record), words.weighers(record)
    parts: dict[tuple[int, str], list[Turn]] = {}
    for turn in node.transcript:
        phase = look.together[0] if turn.phase in look.together else turn.phase
        parts.setdefault((turn.take, phase), []).append(turn)
    for (_, phase), turns in parts.items():
        if phase in look.together:
            turns.sort(key=lambda turn: (turn.round, look.together.index(turn.phase), turn.step))
    return [
        Stage(name, take, _rounds(turns, look.facing, weighers), words.caption(record, name))
        for (take, name), turns in parts.items()
    ]


def _rounds(turns: list[Turn], facing: Collection[str], weighers: Collection[str]) -> list[Round]:
    """Group the turns of speakers who share a role or who face each other, round by round."""
    spoke = {turn.speaker for turn in turns}
    declared = [who for who in facing if who in spoke]
    sharing: dict[str, list[str]] = {}
    for turn in turns:
        sharing[turn.role] = sorted({turn.speaker, *sharing.get(turn.role, [])})
    rounds: list[Round] = []
    for turn in turns:
        speakers = declared if turn.speaker in declared else sharing[turn.role]
        if len(speakers) == 1 or turn.role in weighers:
            speakers = []
        last = rounds[-1] if rounds else None
        joins = (
            last is not None
            and speakers == last.speakers != []
            and last.number == turn.round
            and last.turn(turn.speaker) is None
        )
        if last is not None and joins:
            last.turns.append(turn)
        else:
            rounds.append(Round(turn.round, speakers, [turn]))
    return rounds


def verdict(node: Node, take: int) -> Verdict | None:
    """Return the verdict on ``node`` in pass ``take``."""
    ruled = [*node.earlier, *([node.verdict] if node.verdict else [])]
    return next((v for v in ruled if v.take == take), None)


def won(node: Node, take: int, speaker: str) -> bool:
    """Return whether ``speaker`` won in pass ``take``. ``A (concise)`` names a label and its speaker."""
    ruled = verdict(node, take)
    winner = (ruled.winner if ruled else None) or ""
    return winner == speaker or winner.endswith(f"({speaker})")


def entries(
    turn: Turn,
    node: Node,
    texts: Mapping[str, Sequence[str]],
    without: Collection[str] = (),
    record: RunRecord | None = None,
) -> list[ReplyLine]:
    """Return the fields of a reply as lines, except those named in ``without``.

    ``texts`` holds the ids of the node's children by their texts. ``record`` declares the captions.
    """
    names = ReplyNames(_parts(turn, node), words.look(record).captions)
    ruled = verdict(node, turn.take)
    lines: list[ReplyLine] = []
    for name, value in turn.fields.items():
        if value == "" or name in without or (turn.role, name) == ("checker", "marks"):
            continue
        if name == "winner" and ruled and ruled.winner and ruled.winner.startswith(f"{value} "):
            value = ruled.winner
        if isinstance(value, float) and _share(name, value) is None:
            value = figure(value)
        lines += _link_parts_to_nodes(_flat(0, name, value, names), texts)
    return lines


def _link_parts_to_nodes(
    lines: Iterable[ReplyLine], texts: Mapping[str, Sequence[str]]
) -> Iterator[ReplyLine]:
    """Add to each line with the text of a child node that node's id. Equal texts are matched in order."""
    ids_by_text = {text: list(ids) for text, ids in texts.items()}
    for entry in lines:
        ids = ids_by_text.get(entry.text) if entry.level else None
        yield entry._replace(node=ids.pop(0) if len(ids) > 1 else ids[0]) if ids else entry


def children(record: RunRecord, node: Node) -> dict[str, list[str]]:
    """Return the ids of the children of ``node`` by their texts."""
    ids_by_text: dict[str, list[str]] = {}
    for child in node.children:
        if child in record.tree.nodes:
            ids_by_text.setdefault(record.tree.nodes[child].text, []).append(child)
    return ids_by_text


def _parts(turn: Turn, node: Node) -> dict[str, str]:
    """Return the texts of c1, c2, ... at ``turn``: the parts of the last accepted split."""
    agreed: list[str] = []
    for earlier_turn in node.transcript:
        if earlier_turn is turn:
            break
        if earlier_turn.fields.get("decision") != "approve" and earlier_turn.take == turn.take:
            agreed = _texts(earlier_turn.fields.get("children")) or agreed
    return {f"c{n}": text for n, text in enumerate(agreed, 1)}


def _texts(value: JsonValue) -> list[str]:
    items = value if isinstance(value, list) else []
    return [str(item["text"]) for item in items if isinstance(item, dict) and "text" in item]


def _flat(level: int, name: str, value: JsonValue, names: ReplyNames) -> Iterator[ReplyLine]:
    """Yield a field and its contents as lines, one level deeper for each nesting."""
    title = names.captions.get(name) or label(name)
    if level >= _LEVELS:
        yield ReplyLine(level, title, json.dumps(value, ensure_ascii=False))
    elif isinstance(value, dict):
        yield ReplyLine(level, title)
        for key, item in value.items():
            yield from _flat(level + 1, key, item, names)
    elif isinstance(value, list) and value:
        yield ReplyLine(level, title)
        for number, item in enumerate(value, 1):
            yield from _item(level + 1, number, item, names)
    else:
        yield ReplyLine(level, title, *_scalar(name, value))


def _item(level: int, number: int, item: JsonValue, names: ReplyNames) -> Iterator[ReplyLine]:
    """Yield one item of a list: on one line if it is an id with a text or a share."""
    if not isinstance(item, dict):
        if isinstance(item, list):
            yield from _flat(level, str(number), item, names)
        else:
            yield ReplyLine(level, str(number), *_scalar("", item))
        return
    key = next((k for k in _NAMES if isinstance(item.get(k), str | int)), None)
    name = str(number) if key is None else str(item[key])
    rest = {k: v for k, v in item.items() if k != key}
    text, share = "", None
    for k, v in list(rest.items()):
        if not text and isinstance(v, str):
            text = str(rest.pop(k))
        elif share is None and (fraction := _share(k, v)) is not None:
            share = fraction
            del rest[k]
    yield ReplyLine(level, name, text or names.parts.get(name, ""), share)
    for k, v in rest.items():
        yield from _flat(level + 1, k, v, names)


def _share(name: str, value: JsonValue) -> float | None:
    is_share_name = any(name == share or name.endswith(f"_{share}") for share in _SHARES)
    if not is_share_name or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _scalar(name: str, value: JsonValue) -> tuple[str, float | None]:
    if (share := _share(name, value)) is not None:
        return "", share
    if isinstance(value, bool):
        return ("yes" if value else "no"), None
    if isinstance(value, str):
        return value, None
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else str(value), None
    return ("none" if not value else json.dumps(value)), None


class TreeRow(NamedTuple):
    """One node of the tree and its depth."""

    level: int
    node: Node


def rows(record: RunRecord) -> list[TreeRow]:
    """Return every node once, each after its parent; a node without a parent comes last."""
    nodes, visited_ids, tree_rows = record.tree.nodes, set[str](), list[TreeRow]()
    waiting = [(0, node) for node in reversed(nodes)] + [(0, record.tree.root)]
    while waiting:
        level, name = waiting.pop()
        if name in visited_ids or name not in nodes:
            continue
        visited_ids.add(name)
        tree_rows.append(TreeRow(level, nodes[name]))
        waiting += [(level + 1, child) for child in reversed(nodes[name].children)]
    return tree_rows


CARRYING = 6


def carrying(record: RunRecord) -> list[Node]:
    """Return up to six nodes that the verdict rests on: leaves, arguments or topics."""
    nodes = record.tree.nodes
    root = nodes.get(record.tree.root)
    if root is None:
        return []
    places = root.provenance if root.provenance not in ([], [root.id]) else root.children
    return [nodes[place] for place in places if place in nodes][:CARRYING]


def format_node_list(nodes: Mapping[str, Node], ids: Iterable[str]) -> str:
    """Return ids with the texts of their nodes: ``0.1 Bees live in hives; 0.2 They swarm``."""
    texts = {name: line(nodes[name].text, 60) if name in nodes else "" for name in ids}
    return "; ".join(f"{name} {text}".rstrip() for name, text in texts.items())


def path(record: RunRecord, node: Node) -> list[str]:
    """Return the ids from the root down to the parent of ``node``."""
    up: list[str] = []
    parent = node.parent
    while parent in record.tree.nodes and parent is not None and parent not in up:
        up.append(parent)
        parent = record.tree.nodes[parent].parent
    return up[::-1]


def product(record: RunRecord, node: Node) -> str:
    """Return the factors of the confidence of ``node`` if it is a product; else empty."""
    ruled, nodes = node.verdict, record.tree.nodes
    if ruled is None or ruled.confidence is None or ruled.local_confidence is None:
        return ""
    verdicts = ((i, nodes[i].verdict) for i in node.children if i in nodes)
    sure = [(v.confidence, i) for i, v in verdicts if v is not None and v.confidence is not None]
    lowest, weakest = min(sure, default=(-1.0, ""))
    if abs(ruled.local_confidence * lowest - ruled.confidence) >= 1e-6:
        return ""
    local_share = f"{format_share(ruled.local_confidence)} by the judge of this question"
    return f"{local_share} × {format_share(lowest)} of its weakest part, {weakest}."


def list_unused_calls(record: RunRecord, calls: Sequence[Call]) -> list[Call]:
    """Return the calls whose reply never entered the debate: refused, invalid or lost."""
    spots = {turn.spot() for node in record.tree.nodes.values() for turn in node.transcript}
    last = {call.spot(): call.repair for call in sorted(calls, key=lambda call: call.repair)}
    return [c for c in calls if c.spot() not in spots or c.repair < last[c.spot()]]


_UNSET = {
    "base_url": "each model's own",
    "prices": "none",
    "prune_below": "nothing is pruned",
    "roles": "none",
    "second_pass_below": "no second pass",
}


def settings(record: RunRecord) -> dict[str, str]:
    """Return the settings by name; an unset setting has its default in words."""
    return {name: _setting(name, value) for name, value in _by_path(record.settings)}


def _by_path(settings: Mapping[str, JsonValue], path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield the settings of a run, then those of the debates inside the run, such as ``rsd.judge``."""
    yield from ((f"{path}{name}", value) for name, value in settings.items() if name != "inner")
    inner = settings.get("inner")
    for name, values in inner.items() if isinstance(inner, dict) else ():
        if isinstance(values, dict):
            yield from _by_path(values, f"{path}{name}.")


def _setting(name: str, value: JsonValue) -> str:
    if value not in (None, {}):
        return plain(value)
    last = name.rpartition(".")[2]
    limited = last.startswith("max_") or last.endswith("_per_minute")
    return _UNSET.get(last, "no limit" if limited else "by default")


def plain(value: JsonValue) -> str:
    """Return a setting or an input as one text."""
    if value is None or value == {} or value == []:
        return "–"
    if isinstance(value, bool | int | float | str):
        return _scalar("", value)[0]
    return json.dumps(value, ensure_ascii=False)
