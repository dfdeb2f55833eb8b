"""Hold a debate by another protocol inside a debate, and grow the tree around it."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from dialectree.models.reading import reading
from dialectree.models.run import run_of
from dialectree.protocols.forms import validate_input
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.inside import Inside, inside
from dialectree.protocols.protocol import CHECKER, inner_settings, protocol
from dialectree.protocols.settings import ProtocolSettings, settings
from dialectree.records import Verdict
from dialectree.system.platform_internals import build_nested_config
from dialectree.trace.events import tell


async def debate(
    runtime: Runtime[Any],
    name: str,
    *,
    node: str,
    text: str | None = None,
    take: int = 1,
    **input_fields: object,
) -> Verdict:
    """Let another protocol debate at a node of this debate, and return its verdict.

    The inner debate shares the run: one budget, one journal, one record, one trace. It has the
    models and limits of this debate, and its own settings from ``inner``. The declaration of this
    debate's protocol has to name the inner protocol (``Protocol.inner``).

    A step that calls this function should do nothing else: when the inner debate stops for a person,
    the step later runs again from its start. Use ``Flow.fan`` for several debates side by side.

    Example:
        >>> verdict = await debate(runtime, "art", node="0.1", claim="Water boils at 100 degrees.")

    Args:
        runtime: the runtime that LangGraph gives the step.
        name: the other protocol.
        node: the root of the inner debate: a node of this debate, such as a new part of its root.
        text: the text that the tree shows at ``node``; by default the inner question.
        take: 2 in a second pass over the tree.
        input_fields: the declared input of the other protocol.

    Raises InputError for input that the other protocol cannot debate, and ValueError for a node
    outside this debate, for an undeclared protocol, and for a protocol that has a role and phase
    in common with this debate: the turns of both at ``node`` would be mixed up.
    """
    here, outer = inside.get(), settings(runtime)
    if not here.holds(node):
        raise ValueError(f"debate at node {node}, which lies outside the debate at {here.node}")
    if name not in outer.declaration.holds(outer):
        raise ValueError(f"{outer.protocol} does not declare a debate by {name} inside it (inner)")

    outer_phases = {(phase.role, phase.name) for phase in outer.declaration.phases if phase.role != CHECKER}
    also = [phase for phase in protocol(name).phases if (phase.role, phase.name) in outer_phases]
    if node == here.node and also:
        raise ValueError(
            f"{outer.protocol} and {name} both have the role {also[0].role} in the phase "
            f"{also[0].name!r}: their turns at {node} would be mixed up; debate at a part (open_part)"
        )

    def prepare_inner_debate() -> tuple[Any, ProtocolSettings, dict[str, Any]]:
        """Prepare in a thread: a server's event loop refuses to wait for files."""
        chosen = protocol(name).methods()[name]
        settings_of_inner = inner_settings(outer, chosen)
        return (
            chosen.graph(),
            settings_of_inner,
            chosen.prepare(validate_input(chosen.protocol.input, input_fields), settings_of_inner),
        )

    graph, settings_of_inner, graph_input = await asyncio.to_thread(prepare_inner_debate)
    protocols = (*(here.protocols or (outer.protocol,)), name)
    options = tuple(map(str, graph_input.get("options") or ()))
    around = reading.get()
    if around is not None and isinstance(settings_of_inner, GroundedSettings):
        graph_input["sources"] = around.sources
    elif around is not None:
        tell(runtime, node, "noted", {"note": f"{name} argues without the sources"})
    token = inside.set(Inside(node, protocols, max(take, here.take), text, options))
    apart = reading.set(None)
    try:
        ended = await graph.ainvoke(
            graph_input, build_nested_config(f"debate:{node}"), context=settings_of_inner
        )
    finally:
        inside.reset(token)
        reading.reset(apart)
    verdict = Verdict.model_validate(ended["verdict"])
    if around is not None:
        grounds = [ground.id for ground in verdict.grounds]
        around.leave(node, {"grounds": {str(max(take, here.take)): grounds}})
    if run_of(runtime).overrides.find_drop_override(node) is None:
        again = "second pass: " if take > 1 else ""
        for note in verdict.notes:
            tell(runtime, node, "noted", {"note": f"{again}{note}"})
    return verdict


async def open_part(runtime: Runtime[Any], id: str, text: str, *, kind: str = "leaf") -> None:
    """Open a part of this debate, as a new node of the tree; its id says below which open node it lies.

    Args:
        runtime: the runtime that LangGraph gives the step.
        id: the path of the node, such as ``0.1``.
        text: the text that the tree shows at the node.
        kind: ``leaf``, ``branch``, or a noun of the protocol's own.
    """
    tell(runtime, id, "opened", {"text": text, "kind": kind, "part": True})


async def set_score(runtime: Runtime[Any], id: str, **scores: float | None) -> None:
    """Set numbers of a node by name, such as ``weight=0.4``; None removes a number."""
    tell(runtime, id, "scored", {"scores": scores})
