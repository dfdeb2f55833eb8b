"""The overrides of a run while the wishes of a new contest are taken up, one after another."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.protocols.protocol import Method, Phase
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Override, RunRecord, Turn, turns
from dialectree.system.streams import program


class Draft:
    """What persons changed in a run, and what it can have changed."""

    def __init__(
        self,
        record: RunRecord,
        method: Method,
        settings: ProtocolSettings,
        rulings: Mapping[str, str],
    ) -> None:
        self.record = record
        self.rulings = rulings
        """What the person who judges ruled, by node; empty for no ruling."""
        earlier = record.contest.overrides if record.contest is not None else []
        self.overrides = {one.key(): one for one in earlier}
        """By key: a node may be dropped and have another verdict."""
        self.changes: list[str] = []
        """What this contest changes, in words."""
        self.touched: set[str] = set()
        """The nodes at which it changes something."""
        self.direct_answers_alone = True
        """Whether it changes nothing but direct answers: then a gate may need no judge."""
        self.new_rulings: dict[str, str] = {}
        """What the person who judges rules instead, by node."""
        self.turns = {
            turns.name(node, turn): (node, turn)
            for node in record.tree.nodes.values()
            for turn in node.transcript
        }
        self._taken_up: set[tuple[str, str, str]] = set()
        leaf, inner = method.leaf(settings), method.leaf_settings(settings)
        self._own, self._settings, self._leaf_settings = method.protocol, settings, inner
        self.phases = [*method.protocol.phases, *(leaf.protocol.phases if leaf else ())]
        """What the roles of the run say, those of the protocol at its leaves included."""

    # What holds

    def hold(self, override: Override, remark: str = "") -> None:
        """Let ``override`` hold from here on."""
        self._take_up(override)
        self.overrides[override.key()] = override
        self.changes.append(override.words() + remark)

    def take_back(self, override: Override, words: str) -> None:
        """Let ``override`` hold no more, nor words put into a ruling that only a person gave."""
        self._take_up(override)
        del self.overrides[override.key()]
        self.changes.append(words)
        if override.what == "ruled":
            unsaid = [spot.spot() for spot in override.spots if spot.phase and not spot.fields]
            for key, other in [*self.overrides.items()]:
                if any(spot.spot() in unsaid for spot in other.spots):
                    del self.overrides[key]

    def _take_up(self, override: Override) -> None:
        if override.key() in self._taken_up:
            raise InputError(f"{override.id}: two changes of one thing; give one")
        self._taken_up.add(override.key())
        self.touched |= {spot.node for spot in override.spots}
        self.direct_answers_alone &= all(spot.phase == "direct" for spot in override.spots)

    def find(self, name: str, what: str) -> Override | None:
        """Return the override of ``name`` as a whole; ``what`` is its kind, or ``out``."""
        return self.overrides.get((name, "", what))

    def require_not_dropped(self, flag: str, name: str) -> None:
        """Raise InputError for a turn or a segment that a person dropped."""
        if self.find(name, "out") is not None:
            raise InputError(f"{flag}: it is dropped; --restore brings it back")

    # What was said

    def turn(self, flag: str, name: str) -> tuple[Turn, Phase]:
        """Return the turn called ``name``, and what may be changed of it."""
        self.require_not_dropped(f"{flag} {name}", name)
        if name not in self.turns:
            hint = self._hint(name.partition("/")[0])
            raise InputError(f"{flag} {name}: the run has no such turn; {hint}")
        _, turn = self.turns[name]
        phase = turns.editable(self.record, turn)
        if phase is None or self._form(turn) is None:
            raise InputError(f"{flag} {name}: its reply is no text that could be changed")
        return turn, phase

    def _hint(self, node: str) -> str:
        names = [
            name
            for name, (at, turn) in self.turns.items()
            if at.id == node and turns.editable(self.record, turn) is not None
        ]
        if names:
            return f"at that node there are {', '.join(names)}"
        editable = (
            name
            for name, (_, turn) in self.turns.items()
            if turns.editable(self.record, turn) is not None
        )
        example = next(editable, "")
        return f"{program()} show --node prints their ids" + (
            f", such as {example}" * bool(example)
        )

    def phase(self, turn: Turn) -> Phase | None:
        """Return what is declared of the role and the phase of ``turn``."""
        return turns.declared(self.record, turn)

    def settings_of(self, phase: Phase) -> ProtocolSettings:
        """Return the settings of the protocol that declares ``phase``."""
        leaf = self._leaf_settings
        return self._settings if phase in self._own.phases or leaf is None else leaf

    def spot(self, turn: Turn) -> Turn:
        """Return ``turn`` with its reply before any person changed it."""
        for override in self.overrides.values():
            for other in override.spots:
                if other.spot() == turn.spot():
                    return turn.model_copy(update={"fields": other.fields})
        return turn

    def changed(self, flag: str, turn: Turn, change: Mapping[str, object]) -> dict[str, JsonValue]:
        """Return ``change`` as fields of a reply; InputError if no model could have said so."""
        form = self._form(turn)
        assert form is not None  # turns of other forms were refused
        try:
            reply = form.model_validate({**turn.fields, **change})
        except ValidationError as error:
            raise InputError(f"{flag}: {fault_line(error)}") from None
        fields: dict[str, JsonValue] = reply.model_dump(mode="json", include={*change})
        return fields

    def _form(self, turn: Turn) -> type[BaseModel] | None:
        """Return the class of the reply that ``turn`` was; None where none is declared."""
        phase = self.phase(turn)
        forms = phase.replies() if phase is not None else []
        return next((one for one in forms if one.model_fields.keys() == turn.fields.keys()), None)
