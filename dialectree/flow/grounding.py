"""Let the debaters of a protocol argue from the user's documents, by the part ``evidence``.

A flow whose settings derive from :class:`GroundedSettings` keeps the pool of retrieved segments and
the points drawn from it in two channels of its state. In a debate without sources its evidence
steps do nothing, and the part is not loaded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Protocol, get_type_hints

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from dialectree.flow.state import Hosted
from dialectree.flow.steps import conclusion
from dialectree.models.reading import EvidenceReader, Mode, merge_evidence, reading
from dialectree.models.run import run_of
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.settings import settings
from dialectree.system.parts import PlugPoint
from dialectree.system.platform_internals import read_state

Queries = Callable[..., Iterable[str]]
"""Returns queries; takes the state, and the settings if it has a parameter of that name."""
Sources = Sequence[Mapping[str, Any]]
"""The documents of a debate, as its graph takes them."""
_typed_dict: Any = TypedDict


class Evidence(Protocol):
    """The part that retrieves sentences, lets speakers point at them and checks their points."""

    async def read(
        self,
        state: Any,
        runtime: Runtime[Any],
        context: GroundedSettings,
        sources: Sources,
        mode: Mode | None,
        of: str,
    ) -> EvidenceReader:
        """Return the part of the sources that a step reads."""
        ...

    async def retrieve(
        self,
        state: Any,
        runtime: Runtime[Any],
        context: GroundedSettings,
        sources: Sources,
        name: str,
        query_texts: Iterable[str] | None,
    ) -> dict[str, Any]:
        """Return the update of the step ``name``, which searches for ``query_texts``; no model is called."""
        ...

    async def check_points(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Mark the points of a debate that have no mark yet, in at most one call."""
        ...

    async def add_grounds(
        self, verdict: dict[str, Any], runtime: Runtime[Any], context: GroundedSettings, sources: Sources
    ) -> dict[str, Any]:
        """Return a verdict with the sentences behind it."""
        ...


EVIDENCE: PlugPoint[Evidence] = PlugPoint("evidence", "arguing from sources")


# The channels


def add_channels(schema: type[Any], *, sources: bool = True) -> type[Any]:
    """Return a TypedDict with the channels of the evidence, and, if asked, of the sources."""
    evidence = {"evidence": Annotated[dict[str, Any], merge_evidence]}
    return _with(schema, {**evidence, **_SOURCES} if sources else evidence)


def with_sources(schema: type[Any]) -> type[Any]:
    """Return ``schema``, the input of a whole protocol, with a field for the documents to argue from."""
    return _with(schema, _SOURCES)


_SOURCES: Mapping[str, Any] = {"sources": NotRequired[list[Any]]}


def _with(schema: type[Any], channels: Mapping[str, Any]) -> type[Any]:
    """Return a TypedDict with further channels."""
    hints = get_type_hints(schema, include_extras=True)
    extended_schema: type[Any] = _typed_dict(schema.__name__, {**hints, **channels})
    extended_schema.__doc__, extended_schema.__module__ = schema.__doc__, schema.__module__
    return extended_schema


class PartGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A part of a grounded protocol.

    The calling step passes its sources, and keeps the evidence that the part returns.
    """

    async def ainvoke(self, input: Any, *args: Any, **options: Any) -> Any:
        """Run the graph."""
        here = reading.get()
        if here is None:
            return await super().ainvoke(input, *args, **options)
        if isinstance(input, Mapping):
            input = {**input, "sources": here.sources, "evidence": here.evidence}
        apart = reading.set(None)  # its steps read the sources themselves
        try:
            ended: Any = await super().ainvoke(input, *args, **options)
        finally:
            reading.reset(apart)
        here.updates = merge_evidence(here.updates, ended.get("evidence"))
        return ended


# The steps


def find_sources(runtime: Runtime[Any], context: GroundedSettings) -> Sources | None:
    """Return the given documents; None if there are none and no retriever is set."""
    sources: Sources = read_state("sources") or ()
    retrieves = context.retriever is not None or run_of(runtime).retrievals.by
    return sources if sources or retrieves else None


async def take_step(
    step: Callable[[], Awaitable[Any]],
    state: Any,
    runtime: Runtime[Any],
    context: GroundedSettings,
    mode: Mode | None,
    of: str,
) -> Any:
    """Let a step read the sources as ``mode`` says; return its update, with the evidence that it adds."""
    sources, here = find_sources(runtime, context), None
    if sources is not None:
        here = await EVIDENCE.require().read(state, runtime, context, sources, mode, of)
    token = reading.set(here)
    try:
        update = await step()
    finally:
        reading.reset(token)
    evidence_update = {} if here is None else here.update()
    if not evidence_update or not isinstance(update, Mapping | None):
        return update
    step_update: dict[str, Any] = dict(update or {})
    return {**step_update, "evidence": merge_evidence(step_update.get("evidence"), evidence_update)}


def retrieving(
    name: str, queries: Queries | None, takes_settings: bool, current: Callable[[], GroundedSettings]
) -> Callable[..., Any]:
    """Return a step that retrieves for ``queries`` and for speakers' requests; no model is called.

    Without ``queries`` the pool is the sentences behind the children's verdicts.
    """

    async def retrieve(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context = current()
        if (sources := find_sources(runtime, context)) is None:
            return {}
        query_texts: Iterable[str] | None = None
        if queries is not None:
            query_texts = queries(state, context) if takes_settings else queries(state)
        return await EVIDENCE.require().retrieve(state, runtime, context, sources, name, query_texts)

    return retrieve


async def checker(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Mark the points of a debate that have no mark yet, in at most one call."""
    if reading.get() is None or getattr(runtime.context, "check", "none") == "none":
        return {}
    return await EVIDENCE.require().check_points(state, runtime)


async def concluding(state: Hosted, runtime: Runtime[Any]) -> dict[str, Any]:
    """Conclude a debate, with the sentences behind its verdict."""
    context, verdict = settings(runtime, GroundedSettings), state["verdict"]
    sources = find_sources(runtime, context)
    if sources is not None and verdict["answer"] is not None:
        verdict = await EVIDENCE.require().add_grounds(verdict, runtime, context, sources)
    return await conclusion({**state, "verdict": verdict}, runtime)
