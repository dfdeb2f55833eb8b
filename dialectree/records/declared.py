"""Keep with a run the declarations of the protocols that take part.

Reports, the terminal and contests read these declarations, so an old run looks the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import JsonValue, SerializerFunctionWrapHandler, field_serializer, model_serializer

from dialectree.protocols.look import PLAIN, Look
from dialectree.protocols.phases import PhaseOrder
from dialectree.protocols.protocol import CHECK, CHECKER, Method, Outcome, Phase, Protocol, taking_part
from dialectree.records.place import Strict


class Short(Strict):
    """Omit fields that are empty or false."""

    @model_serializer(mode="wrap")
    def _without_what_is_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = handler(self)
        return {name: value for name, value in fields.items() if value}


class DeclaredPhase(Short):
    """The declaration of one role in one phase."""

    role: str
    phase: str = ""
    """The phase; "" means all phases in which the role speaks."""
    captions: dict[str, str] = {}
    """The name of each field of the reply, for a reader."""
    editable: list[str] = []
    """The fields that a person may replace; the first is the main text of the turn."""
    switches: list[str] = []
    """The fields that a person may set to yes or no."""
    optional: bool = False
    """True if the debate can go on without the turn."""
    rules: Literal["", "text", "label"] = ""
    """For a ruling: whether the reply gives a text, or the label of an option."""
    weighs: bool = False
    """True if the reply scores or compares."""
    settles: bool = False
    """True if the turn may settle its node without a ruling."""


class DeclaredOrder(Short):
    """The order of the phases within one node; see ``PhaseOrder``."""

    phases: list[str] = []
    closing: list[str] = []
    beside_all: list[str] = []
    beside_children: list[str] = []
    beside: dict[str, str] = {}

    def order(self, inside: Mapping[str, PhaseOrder]) -> PhaseOrder:
        """Return the order, with the orders of the protocols that debate ``inside``."""
        fields: dict[str, Any] = {
            name: value if isinstance(value, dict) else tuple(value) for name, value in self
        }
        return PhaseOrder(**fields, inside=inside)


class Declared(Short):
    """The declaration of a protocol that takes part in a run."""

    title: str
    method: str = ""
    """The method's name in reports, if the method is not the protocol itself."""
    summary: str = ""
    source: str = ""
    """The paper."""
    view: str = "rounds"
    """The view of its debates; see ``Protocol.view``."""
    unit: str = "part"
    """The noun for a node of its tree."""
    outcome: Outcome = "answer"
    roles: dict[str, str] = {}
    """The roles, each with its family."""
    phases: list[DeclaredPhase] = []
    order: DeclaredOrder = DeclaredOrder()
    scores: list[str] = []
    """The names of the scores that a node can have."""
    look: Look = PLAIN
    """Further details of how reports show its debates."""

    @field_serializer("look")
    def _as_declared(self, look: Look) -> dict[str, JsonValue]:
        return look.model_dump(mode="json", exclude_unset=True)

    def phase(self, role: str, name: str) -> DeclaredPhase | None:
        """Return the phase ``name`` of ``role``, or else the declaration for all phases of ``role``."""
        of_role = {phase.phase: phase for phase in reversed(self.phases) if phase.role == role}
        return of_role.get(name) or of_role.get("")


def declarations(chosen: Method, settings: Mapping[str, Any]) -> dict[str, Declared]:
    """Return the declarations of the protocols of a run, the run's own protocol first.

    Args:
        chosen: The method of the run.
        settings: The settings of the run, as a record keeps them.
    """
    main_protocol = chosen.protocol
    protocols = {protocol.name: protocol for protocol in taking_part(main_protocol.name, settings)} | {
        main_protocol.name: main_protocol
    }
    inner = {
        name: values for outer_settings in [settings] for name, values in _list_inner_debates(outer_settings)
    }
    with chosen.packages():
        declared = {
            name: _build_declaration(protocol, inner.get(name, settings), checked=chosen.grounded)
            for name, protocol in protocols.items()
        }
    if chosen.name != main_protocol.name:
        declared[main_protocol.name].method = chosen.variant.title or chosen.name.replace("_", " ")
    return declared


def _list_inner_debates(settings: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the protocols that debate inside one with ``settings``, each with its settings."""
    debates = [*(settings.get("inner") or {}).items()]
    return [*(deeper for _, values in debates for deeper in _list_inner_debates(values)), *debates]


def _build_declaration(protocol: Protocol, settings: Mapping[str, Any], *, checked: bool) -> Declared:
    """Return the declaration of a protocol; omit the checker unless the run is ``checked``."""
    order = protocol.order
    look: Look = protocol.look_of(settings)
    scored = [phase.scored for phase in protocol.phases if phase.score is not None]
    return Declared(
        title=protocol.title,
        summary=protocol.summary,
        source=protocol.source,
        view=protocol.view,
        unit=protocol.unit,
        outcome=protocol.outcome,
        roles={role: family for role, family in protocol.roles.items() if checked or role != CHECKER},
        phases=[
            _phase(role_phase) for role_phase in protocol.phases if checked or role_phase.role != CHECKER
        ],
        order=DeclaredOrder(
            phases=[phase for phase in order.phases if checked or phase != CHECK],
            closing=[*order.closing],
            beside_all=[*order.beside_all],
            beside_children=[*order.beside_children],
            beside={
                side_phase: main_phase
                for side_phase, main_phase in order.beside.items()
                if checked or side_phase != CHECK
            },
        ),
        scores=[*dict.fromkeys([*look.scores, *scored])],
        look=look,
    )


def _phase(phase: Phase) -> DeclaredPhase:
    return DeclaredPhase(
        role=phase.role,
        phase=phase.name,
        captions=phase.captions,
        editable=[*phase.editable],
        switches=[*phase.switches],
        optional=phase.optional,
        rules="label" if phase.labels else "text" if phase.ruling else "",
        weighs=phase.score is not None or phase.winner is not None,
        settles=phase.settles,
    )
