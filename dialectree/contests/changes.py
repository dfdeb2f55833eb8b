"""Collect people's changes to a run: to its turns, its parts and its segments.

A phase of the protocol declares the fields of a turn that may be changed, and their new values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, JsonValue, ValidationError

from dialectree.contests.wishes import Change
from dialectree.errors import InputError, fault_line
from dialectree.protocols.forms import tidy
from dialectree.protocols.grounded import find_reader
from dialectree.protocols.protocol import Method, Phase, Protocol
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import ARGUMENT, Node, Override, RunRecord, Turn, turns
from dialectree.running.plug_points import DOCUMENTS
from dialectree.system.streams import program

_YES_OR_NO = ("no", "yes")


class Draft:
    """The changes of people to one run, applied in order."""

    def __init__(
        self,
        record: RunRecord,
        method: Method,
        settings: ProtocolSettings,
        rulings: Mapping[str, str],
        texts: Path,
    ) -> None:
        self.record = record
        self.sources = {source["id"]: source for source in record.sources}
        """The sources of the debate by id, including added ones."""
        self.reader = find_reader(settings)
        """The reader that the settings name for added sources, in place of ours."""
        self._texts = texts
        """The folder with the texts of the sources."""
        self.nodes = record.tree.nodes
        self.rulings = rulings
        """Rulings of the person who judges, by node; empty for no ruling."""
        earlier = record.contest.overrides if record.contest is not None else []
        self.overrides = {override.key(): override for override in earlier}
        """Overrides by key: a node may be dropped and also have another verdict."""
        self.changes: list[str] = []
        """The changes of this contest, in words."""
        self.new_rulings: dict[str, str] = {}
        """New rulings of the person who judges, by node."""
        self.turns = {
            turns.name(node, turn): turn for node in self.nodes.values() for turn in node.transcript
        }
        inside = [
            (inner_method.name, inner_method.protocol, inner_settings)
            for inner_method, inner_settings in method.list_inner_methods(settings)
        ]
        everybody = [("", method.protocol, settings), *inside]
        self._settings = {name: protocol_settings for name, _, protocol_settings in everybody}
        self._protocols = {name: protocol for name, protocol, _ in everybody}
        """Protocols by their name in turns and nodes: "" is the run's own."""
        self.phases = [phase for _, protocol, _ in everybody for phase in protocol.phases]
        """The phases of the run, including those of the debates inside it."""
        self._taken_up: dict[tuple[str, str, str], Override] = {}

    # Overrides

    def hold(self, override: Override, remark: str = "") -> None:
        """Apply ``override``, and add it to the changes."""
        self._once(override)
        self.overrides[override.key()] = override
        self.changes.append(override.words() + remark)

    def take_back(self, override: Override, words: str) -> None:
        """Undo ``override``; if it is a person's ruling, undo the changes of its texts, too."""
        self._once(override)
        del self.overrides[override.key()]
        self.changes.append(words)
        if override.what == "ruled":
            unsaid = [turn.spot() for turn in override.spots if turn.phase and not turn.fields]
            for key, other_override in [*self.overrides.items()]:
                if any(turn.spot() in unsaid for turn in other_override.spots):
                    del self.overrides[key]

    def _once(self, override: Override) -> None:
        if override.key() in self._taken_up:
            raise InputError(f"{override.id}: two changes of one thing; give one")
        self._taken_up[override.key()] = override

    def find(self, name: str, kind: str) -> Override | None:
        """Return the override of ``name`` as a whole, or None; the ``kind`` of a drop is ``out``."""
        return self.overrides.get((name, "", kind))

    def list_changed_nodes(self) -> set[str]:
        """Return the nodes at which this contest changes something; a changed source changes all rulings."""
        nodes = {turn.node for override in self._taken_up.values() for turn in override.spots}
        return nodes | {*self.rulings} if self._changes_sources() else nodes

    def _changes_sources(self) -> bool:
        return any(not override.spots for override in self._taken_up.values())

    def may_be_settled(self) -> bool:
        """Return whether each changed turn may settle its node without a ruling."""
        changed = [turn for override in self._taken_up.values() for turn in override.spots]
        phases = [self.phase_of(turn) for turn in changed]
        return not self._changes_sources() and all(phase is not None and phase.settles for phase in phases)

    # Replace and drop

    def replace(self, change: Change) -> None:
        """Replace the text of a turn or of a segment of evidence."""
        text = tidy(change.text, "text")
        if self._segment(change.id) is not None:
            self._say_segment(change, text)
            return
        name, field = change.id, ""
        if name not in self.turns and name.rpartition("/")[0] in self.turns:
            name, _, field = name.rpartition("/")
        turn, phase = self._turn(change, name)
        usual = phase.editable[0]
        field = field or usual
        fields = [
            field_name for field_name in (*phase.editable, *phase.switches) if field_name in turn.fields
        ]
        if field not in fields:
            raise InputError(f"{change.flag}: it has no such text; it has {', '.join(fields)}")
        switch = field in phase.switches
        before = _YES_OR_NO[turn.fields[field] is True] if switch else str(turn.fields[field])
        if switch and text not in _YES_OR_NO:
            raise InputError(f"{change.flag} {text[:80]!r}: say yes or no")
        if before == text:
            raise InputError(f"{change.flag}: nothing to change, it says that already")
        value: JsonValue = text == "yes" if switch else text
        original_turn = self.own_words(turn)
        override = Override(
            id=name,
            what="replaced",
            field="" if field == usual else field,
            spots=[original_turn],
            reply=self.reply(change, turn, {field: value}),
            before=before,
            after=text,
        )
        earlier = [
            other_override
            for other_override in self.overrides.values()
            if field in (other_override.reply or {})
            and turn.spot() in [t.spot() for t in other_override.spots]
        ]
        if value == original_turn.fields.get(field) and [
            earlier_override.key() for earlier_override in earlier
        ] == [override.key()]:
            self.take_back(earlier[0], f"{change.id} restored")
            return
        concedes = not switch and turn.fields.get("concedes") is True
        self.hold(override, f", which still concedes (`replace` {name}/concedes no)" * concedes)

    def drop(self, change: Change) -> None:
        """Drop a turn, a part of the question, an argument or a segment."""
        name, inserted = change.id, self.find(change.id, "added")
        if self.find(name, "out") is not None or (name in self.nodes and self.nodes[name].dropped):
            raise InputError(f"{change.flag}: it is dropped already")
        if inserted is not None and name not in self.nodes:
            self._drop_part(name, ARGUMENT, inserted.after)
        elif name in self.nodes:
            self._drop_node(change, self.nodes[name])
        elif self._segment(name) is not None:
            self._say_segment(change, None)
        else:
            self._drop_turn(change)

    def _drop_turn(self, change: Change) -> None:
        jury_turn = self.turns.get(change.id)
        if jury_turn and (its := self.phase_of(jury_turn)) and len(self.judges(jury_turn.protocol, its)) > 1:
            spots, before = [self.own_words(jury_turn)], turns.text(self.record, jury_turn)
            self.hold(Override(id=change.id, what="dropped", spots=spots, before=before))
            return
        turn, phase = self._turn(change, change.id)
        if not phase.optional and phase.withdrawn is None:
            raise InputError(f"{change.flag}: the debate cannot do without it; `replace` it")
        reply = None
        if phase.withdrawn is not None:
            fields = {field: v for field, v in phase.withdrawn.items() if field in turn.fields}
            reply = self.reply(change, turn, fields)
        before, spots = str(turn.fields.get(phase.editable[0]) or ""), [self.own_words(turn)]
        self.hold(Override(id=change.id, what="dropped", spots=spots, reply=reply, before=before))

    def _drop_node(self, change: Change, node: Node) -> None:
        """Drop a part of the question."""
        if node.kind == "argument":
            self._drop_part(node.id, ARGUMENT, node.text)
            return
        if node.parent is None:
            description = "the claim, not an argument" if node.kind == "claim" else "the whole debate"
            raise InputError(f"{change.flag}: {node.id} is {description}")
        above = self.nodes[node.parent]
        if node.kind == above.kind == "claim" and node.protocol == above.protocol:
            raise InputError(f"{change.flag}: it is a whole tree of arguments; name one of them")
        if node.round:
            raise InputError(f"{change.flag}: the debate cannot do without it; name a turn of it")
        self._drop_part(node.id, "", node.verdict.answer if node.verdict else "")

    def _drop_part(self, node: str, role: str, before: str | None) -> None:
        spots = [Turn(node=node, phase="", role=role)]
        self.hold(Override(id=node, what="dropped", spots=spots, before=before))

    def _segment(self, name: str) -> str | None:
        """Return the text of a segment that was retrieved or that a person wrote, or None."""
        if name in self.record.tree.segments:
            return self.record.tree.segments[name].text
        override = self.find(name, "replaced")
        if override is not None and not override.spots:
            return override.after
        source, _, number = name.partition(":")
        if source in self.sources and number.isdecimal():
            return DOCUMENTS.require().find_segment(self.sources[source], int(number), self._texts)
        return None

    def _say_segment(self, change: Change, text: str | None) -> None:
        """Give a segment another text, or drop it.

        If a segment is replaced again, ``before`` in the override stays the paper's own text.
        """
        name = change.id
        self.require_not_dropped(change, name)
        before, earlier = self._segment(name), self.find(name, "replaced")
        if text == before:
            raise InputError(f"{change.flag}: nothing to change, it says that already")
        if earlier is not None and text is not None:
            before = earlier.before
        if earlier is not None and text == before:
            self.take_back(earlier, f"{name} restored")
        else:
            kind: Literal["dropped", "replaced"] = "dropped" if text is None else "replaced"
            self.hold(Override(id=name, what=kind, spots=[], before=before, after=text))

    # Restore

    def restore(self, change: Change) -> None:
        """Undo a change: a drop first, then a change of a turn's main text."""
        name = change.id
        matches = [
            override
            for override in reversed(self.overrides.values())
            if not (override.what in ("added", "flipped") and override.spots)
            and name in self._names(override)
        ]
        if not matches:
            raise InputError(f"{change.flag}: no change of the run to take back")
        override = max(matches, key=lambda candidate: (candidate.out(), not candidate.field))
        if override.what == "ruled" and override.id in self.rulings:
            self.new_rulings[override.id] = override.before or ""
        self.take_back(override, f"{name} restored")

    def _names(self, override: Override) -> list[str]:
        """Return the names by which a person may restore an override: the turn's, or the replaced text's."""
        if override.what == "voided":
            argument, _, other_argument = override.id.partition(":")
            return [override.id, f"{other_argument}:{argument}"]
        field = override.field
        if not field and override.what == "replaced" and override.id in self.turns:
            phase = turns.editable(self.record, self.turns[override.id])
            field = phase.editable[0] if phase is not None else ""
        return [override.id, f"{override.id}/{field}"] if field else [override.id]

    # Turns and phases

    def require_not_dropped(self, change: Change, name: str) -> None:
        """Raise InputError for a turn or a segment that a person dropped."""
        if self.find(name, "out") is not None:
            raise InputError(f"{change.flag}: it is dropped; `restore` brings it back")

    def _turn(self, change: Change, name: str) -> tuple[Turn, Phase]:
        """Return the turn called ``name``, and the phase that declares its changes."""
        self.require_not_dropped(change, name)
        if name in self.nodes and self.nodes[name].kind == "argument":
            why = "an argument was judged by its words; give another one (`add`), or drop it"
            raise InputError(f"{change.flag}: {why}")
        if name not in self.turns:
            node = name.partition("/")[0]
            can = [name for name, turn in self.turns.items() if turns.editable(self.record, turn)]
            near = [name for name in can if self.turns[name].node == node] or can[:1]
            examples = f", such as {', '.join(near)}" if near else ""
            raise InputError(
                f"{change.flag}: the run has no such turn, node or segment; "
                f"{program()} show --node prints their ids{examples}"
            )
        turn = self.turns[name]
        phase = self.phase_of(turn) if turns.editable(self.record, turn) else None
        if phase is None or _form(phase, turn) is None:
            raise InputError(f"{change.flag}: this turn has no text to replace")
        return turn, phase

    def settings_of(self, protocol: str) -> ProtocolSettings:
        """Return the settings of a protocol that takes part; "" is the run's own."""
        return self._settings[protocol]

    def protocol_of(self, node: Node) -> Protocol:
        """Return the protocol that debates ``node``."""
        return self._protocols[node.protocol]

    def counts(self, node: Node) -> bool:
        """Return whether the program computes the verdict of ``node``, as from a vote."""
        declared = self._protocols.get(node.protocol)
        return (
            node.verdict is not None
            and declared is not None
            and declared.outcome in ("choice", "answer")
            and not any(phase.labels or phase.ruling for phase in declared.phases)
        )

    def phases_at(self, node: Node, field: str) -> list[tuple[str, Phase]]:
        """Return the protocols at ``node``, and their phases that have a ``field``.

        The protocol that debates the node comes first, then others that speak there.
        """
        names = dict.fromkeys([node.protocol, *(turn.protocol for turn in node.transcript)])
        return [
            (name, phase)
            for name in names
            if name in self._protocols
            for phase in self._protocols[name].phases
            if getattr(phase, field)
        ]

    def phase_of(self, turn: Turn) -> Phase | None:
        """Return the phase that the turn's protocol declares for ``turn``."""
        protocol = self._protocols.get(turn.protocol)
        return protocol.phase(turn.role, turn.phase) if protocol is not None else None

    def judges(self, protocol: str, phase: Phase) -> list[str]:
        """Return the names of the judges of ``phase``; without a jury there is one judge."""
        speaker_lists = [[""]] if phase.judges is None else phase.judges(self.settings_of(protocol))
        return [name or phase.role for names in speaker_lists for name in names]

    def own_words(self, turn: Turn) -> Turn:
        """Return ``turn`` with its reply before any person changed it."""
        for override in self.overrides.values():
            for old_turn in override.spots:
                if old_turn.spot() == turn.spot():
                    return turn.model_copy(update={"fields": old_turn.fields})
        return turn

    def reply(self, change: Change, turn: Turn, new_fields: Mapping[str, object]) -> dict[str, JsonValue]:
        """Return ``new_fields`` as fields of a reply; raise InputError if a reply cannot have them."""
        phase = self.phase_of(turn)
        form = _form(phase, turn) if phase is not None else None
        assert form is not None  # turns of other forms were refused
        try:
            reply = form.model_validate({**turn.fields, **new_fields})
        except ValidationError as error:
            raise InputError(f"{change.flag}: {fault_line(error)}") from None
        fields: dict[str, JsonValue] = reply.model_dump(mode="json", include={*new_fields})
        return fields


def _form(phase: Phase, turn: Turn) -> type[BaseModel] | None:
    """Return the class of the reply of ``turn``, or None."""
    forms = phase.replies()
    return next((form for form in forms if form.model_fields.keys() == turn.fields.keys()), None)


_NEEDS = {
    "replace": ("editable",),
    "verdict": ("labels", "ruling"),
    "set": ("score",),
    "flip": ("winner",),
    "void": ("winner",),
    "add": ("inserts",),
}
"""The fields of a phase that make a change possible, by change; one of the fields is enough."""


def _has_phase_for(change: str, phases: Iterable[Phase]) -> bool:
    return any(getattr(phase, field) for phase in phases for field in _NEEDS[change])


def fits(change: Change, phases: Iterable[Phase]) -> bool:
    """Return whether a protocol with ``phases`` supports ``change``."""
    name = "flip" if change.pair is not None else change.change
    return name not in ("set", "flip", "void", "add") or _has_phase_for(name, phases)


def flags(phases: Sequence[Phase], last: str) -> str:
    """Return the changes that a run of these phases supports, for a message."""
    change_names = [*(name for name in _NEEDS if _has_phase_for(name, phases)), "drop"]
    return f"{', '.join(f'`{name}`' for name in change_names)} {last} `restore`"
