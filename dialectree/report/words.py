"""The words of a report: texts made safe to show, numbers made readable, names made plain."""

from __future__ import annotations

import re
import unicodedata

from dialectree.records import Call, Failure, RunRecord, Turn

NOT_DETERMINED = "not determined"

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, moves of the cursor
    r"|(?:\x1b[]P^_X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_BREAKS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of the text after them, beyond the text that holds them."""


def clean(text: str) -> str:
    """``text`` without what a terminal or a page would obey: escapes, control characters."""
    if text.isascii() and text.isprintable():
        return text
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text)).replace("\t", "    ")
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char == "\n":
        return char
    kind = unicodedata.category(char)
    if kind == "Cs":
        return "\ufffd"
    return "" if kind == "Cc" or char in _TURNS else char


def line(text: str, limit: int) -> str:
    """``text`` as one line of at most ``limit`` characters, shortened with an ellipsis."""
    flat = " ".join(clean(text[: 8 * limit + 64]).split())
    cut = len(flat) > limit or len(text) > 8 * limit + 64
    return f"{flat[: limit - 1].rstrip()}…" if cut else flat


def percent(share: float | None) -> str:
    """A confidence as a percentage. Only certainty itself is shown as 100% or 0%."""
    if share is None:
        return NOT_DETERMINED
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    if share > 0.99:
        return f"{min(share, 0.999):.1%}"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 call``, ``1,204 calls``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def duration(seconds: float) -> str:
    """``0.9 s``, ``4 min 05 s``, ``2 h 03 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def moment(stamp: str | None) -> str:
    """``2026-01-31 12:00:00 UTC`` for a stamp of the record."""
    if not stamp:
        return "not yet"
    found = re.match(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$", stamp)
    return f"{found[1]} {found[2]} UTC" if found else stamp


_LABELS = {
    "canonical_parent": "The question, made explicit",
    "coverage_justification": "Why these parts cover it",
    "stop": "Nothing to split",
    "clarification_request": "What should be clarified",
    "scores": "Difficulty",
    "children": "Parts",
    "final_answer": "Answer",
    "final_confidence": "The writer's own confidence",
    "qid": "Part",
    "url": "URL",
}


def label(name: str) -> str:
    """The name of a field, a role or a stage, for a reader."""
    if name in _LABELS:
        return _LABELS[name]
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


_PROTOCOLS = {
    "tsd": "Tree-Structured Debate",
    "tod": "Tree-of-Debate",
    "art": "Adaptive Reasoning Tree",
    "rsd": "Role-Switching Debate",
}


def method(record: RunRecord) -> str:
    """The protocol in full, and the method where it is another one."""
    protocol = _PROTOCOLS.get(record.protocol, record.protocol)
    if record.method == record.protocol:
        return protocol
    return f"{label(record.method)} (a method beside {protocol})"


def unit(record: RunRecord) -> str:
    """What one place of the tree holds."""
    return "question" if record.protocol == "tsd" else "part"


_WHYS = {
    "max_depth": "the depth limit was reached",
    "node_budget": "the budget of nodes was used up",
    "decomposer_stop": "the decomposer found nothing to split",
    "too_few_children": "the split had fewer than two parts",
    "below_threshold": "every part was rated easy",
    "clarify": "the question lacks something essential",
    "failed": "the split failed",
}


def why(stopped: str) -> str:
    """Why expansion stopped at a node."""
    return _WHYS.get(stopped, stopped.replace("_", " "))


def speaker(speaking: Turn | Call) -> str:
    """``Leaf debater A``, ``Leaf judge``."""
    role = label(speaking.role)
    return role if speaking.who in ("", speaking.role) else f"{role} {speaking.who}"


def question(record: RunRecord) -> str:
    """What the run was asked, in the user's own words."""
    for name in ("question", "claim", "topic"):
        if isinstance(text := record.input.get(name), str):
            return text
    root = record.tree.nodes.get(record.tree.root)
    return root.text if root else record.run_id


def failed(failure: Failure) -> str:
    """One failure in words."""
    who = f" {failure.who}" if failure.who not in ("", failure.role) else ""
    return f"{label(failure.role)}{who} failed: {failure.fault}"


def state(record: RunRecord) -> str:
    """The state of a run in one plain sentence."""
    broken = len(record.degraded())
    match record.status:
        case "answered":
            return "No part of the debate failed."
        case "degraded":
            return f"There is an answer, but {count(broken, 'part')} of the debate failed for good."
        case "unresolved":
            return "The debate ended without an answer."
        case "partial":
            return f"Broken off before the end. It goes on with: dialectree resume {record.run_id}"
        case "running":
            return "Still under way, or stopped without notice; this is what was known."


def waiting(record: RunRecord) -> list[str]:
    """The ids of the nodes that have no verdict yet."""
    return [node.id for node in record.tree.nodes.values() if node.status == "open"]


def unanswered(record: RunRecord) -> list[str]:
    """The ids of the nodes that were given up without a verdict."""
    return [node.id for node in record.tree.nodes.values() if node.status == "missing"]


_SIDES = {"SPAN": "the answer that it finds best", "OTHER": "the strongest other answer"}


def side(name: str) -> str:
    """What a speaker has to defend, in words."""
    return _SIDES.get(name, name)
