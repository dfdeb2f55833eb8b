"""Change what was said: a turn, a part of the question, a segment of evidence."""

from __future__ import annotations

import re

from pydantic import JsonValue

from dialectree.contests import arguments
from dialectree.contests.draft import Draft
from dialectree.errors import InputError
from dialectree.protocols.user_input import tidy
from dialectree.records import Node, Override, Turn, turns
from dialectree.report.words import outcome_of
from dialectree.system.streams import program

_YES_OR_NO = ("no", "yes")
_NODE = re.compile(r"[0-9]+([.][0-9]+)*")
_SEGMENT = re.compile(r"[a-z]:[0-9]+")


def replace(draft: Draft, wished: str, text: str) -> None:
    """Let a turn, or a segment of evidence, say ``text``."""
    flag = f"--replace {wished}"
    if _segment_text(draft, wished) is not None:
        _change_segment(draft, flag, wished, tidy(text, "text"))
        return
    name, field = wished, ""
    if name not in draft.turns and name.rpartition("/")[0] in draft.turns:
        name, _, field = name.rpartition("/")
    _require_known(draft, "--replace", name)
    turn, phase = draft.turn("--replace", name)
    field = field or phase.editable[0]
    fields = [one for one in (*phase.editable, *phase.switches) if one in turn.fields]
    if field not in fields:
        known = ", ".join(fields)
        raise InputError(f"--replace {name}/{field}: it has no such text; it has {known}")
    switch, text = field in phase.switches, tidy(text, "text")
    before = _YES_OR_NO[turn.fields[field] is True] if switch else str(turn.fields[field])
    if switch and text not in _YES_OR_NO:
        raise InputError(f"--replace {name}/{field} {text[:80]!r}: say yes or no")
    if before == text:
        raise InputError(f"--replace {name}: nothing to change, it says that already")
    value: JsonValue = text == "yes" if switch else text
    override = Override(
        id=name,
        what="replaced",
        field="" if field == phase.editable[0] else field,
        spots=[draft.spot(turn)],
        reply=draft.changed(f"--replace {name}", turn, {field: value}),
        before=before,
        after=text,
    )
    (spot,) = override.spots
    earlier = [
        other
        for other in draft.overrides.values()
        if field in (other.reply or {}) and spot.spot() in [s.spot() for s in other.spots]
    ]
    if value == spot.fields.get(field) and [one.key() for one in earlier] == [override.key()]:
        draft.take_back(earlier[0], f"{wished} restored")
        return
    concedes = not switch and turn.fields.get("concedes") is True
    draft.hold(override, f", which still concedes (--replace {name}/concedes no)" * concedes)


def drop(draft: Draft, name: str) -> None:
    """Let a turn, a part of the question, an argument or a segment count for nobody."""
    flag = f"--drop {name}"
    inserted = draft.find(name, "added")
    if name in draft.record.tree.nodes:
        _drop_node(draft, flag, draft.record.tree.nodes[name])
    elif inserted is not None and draft.find(name, "out") is not None:
        raise InputError(f"{flag}: it is dropped already")
    elif inserted is not None:
        draft.hold(arguments.dropped(name, inserted.after or ""))
    elif _segment_text(draft, name) is not None:
        _change_segment(draft, flag, name, None)
    else:
        _drop_turn(draft, name)


def _drop_turn(draft: Draft, name: str) -> None:
    flag = f"--drop {name}"
    _require_known(draft, "--drop", name)
    turn, phase = draft.turn("--drop", name)
    if not phase.optional and phase.withdrawn is None:
        raise InputError(f"{flag}: the debate cannot do without it; --replace it")
    reply: dict[str, JsonValue] | None = None
    if phase.withdrawn is not None:
        fitting = {field: v for field, v in phase.withdrawn.items() if field in turn.fields}
        reply = draft.changed(flag, turn, fitting)
    before, spots = str(turn.fields.get(phase.editable[0]) or ""), [draft.spot(turn)]
    draft.hold(Override(id=name, what="dropped", spots=spots, reply=reply, before=before))


def _drop_node(draft: Draft, flag: str, node: Node) -> None:
    """Let the question be answered without a part of it."""
    if node.dropped or draft.find(node.id, "out") is not None:
        raise InputError(f"{flag}: it is dropped already")
    if node.kind == "argument":
        draft.hold(arguments.dropped(node.id, node.text))
        return
    if node.parent is None:
        whole = f"{node.id} is the claim, not an argument"
        part = "it is the whole debate, not a part of it"
        raise InputError(f"{flag}: {whole if node.kind == 'claim' else part}")
    above = draft.record.tree.nodes[node.parent]
    if node.kind == above.kind == "claim":
        raise InputError(f"{flag}: it is a whole tree of arguments; name one of them")
    if above.kind == "knockout":
        raise InputError(f"{flag}: the debate cannot do without it; name a turn of it")
    before = node.verdict.answer if node.verdict else ""
    spots = [Turn(node=node.id, phase="", role="")]
    draft.hold(Override(id=node.id, what="dropped", spots=spots, before=before))


def restore(draft: Draft, name: str) -> None:
    """Take a change back: what is out first, then the text that a turn is known by, then others."""
    there = [
        override
        for override in reversed(draft.overrides.values())
        if override.what != "added" and name in _names(draft, override)
    ]
    if not there:
        raise InputError(f"--restore {name}: nothing was changed there")
    override = max(there, key=lambda one: (one.out(), not one.field))
    if override.what == "ruled" and override.id in draft.rulings:
        draft.new_rulings[override.id] = override.before or ""
    draft.take_back(override, f"{name} restored")


def _names(draft: Draft, override: Override) -> list[str]:
    """Return what a person may call an override: the turn, or the very text that was replaced."""
    field = override.field
    if not field and override.what == "replaced" and override.id in draft.turns:
        phase = turns.editable(draft.record, draft.turns[override.id][1])
        field = phase.editable[0] if phase is not None else ""
    return [override.id, f"{override.id}/{field}"] if field else [override.id]


def _require_known(draft: Draft, flag: str, name: str) -> None:
    """Raise InputError for the id of a node or a segment where a turn is wanted."""
    nodes = draft.record.tree.nodes
    if name in nodes and nodes[name].kind == "argument":
        why = "an argument was judged by its words; give another one (--add), or drop it"
        raise InputError(f"{flag} {name}: {why}")
    if outcome_of(draft.record) == "comparison" and _SEGMENT.fullmatch(name):
        draft.require_not_dropped(f"{flag} {name}", name)
        raise InputError(f"{flag} {name}: no segment of that number was retrieved in the run")
    if _NODE.fullmatch(name) and name not in nodes:
        root = nodes.get(draft.record.tree.root)
        what = "argument" if root is not None and root.kind == "claim" else "node"
        hint = f"{program()} show prints their ids"
        raise InputError(f"{flag} {name}: the run has no such {what}; {hint}")


def _segment_text(draft: Draft, name: str) -> str | None:
    """Return the text of a segment that was retrieved or that a person wrote; None for others."""
    if name in draft.record.tree.segments:
        return draft.record.tree.segments[name].text
    written = draft.find(name, "replaced")
    return written.after if written is not None and not written.spots else None


def _change_segment(draft: Draft, flag: str, name: str, text: str | None) -> None:
    """Give a segment another text, or none.

    ``before`` of one that was replaced more than once is the paper's own text.
    """
    draft.require_not_dropped(flag, name)
    before, earlier = _segment_text(draft, name), draft.find(name, "replaced")
    if text == before:
        raise InputError(f"{flag}: nothing to change, it says that already")
    if earlier is not None and text is not None:
        before = earlier.before
    if earlier is not None and text == before:
        draft.take_back(earlier, f"{name} restored")
    elif text is None:
        draft.hold(Override(id=name, what="dropped", spots=[], before=before))
    else:
        draft.hold(Override(id=name, what="replaced", spots=[], before=before, after=text))
