"""Let the debaters of a protocol argue from the user's documents.

A flow whose settings derive from :class:`GroundedSettings` keeps the pool of retrieved segments and
what was drawn from it in two channels of its state. A debate without sources is as it is without
them: its evidence steps are places where ways meet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    get_type_hints,
)

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dialectree.flow.state import Hosted
from dialectree.flow.steps import conclusion
from dialectree.models.asking import MORE_SENTENCES
from dialectree.models.door import ask
from dialectree.models.evidence import (
    MOST_SEGMENTS,
    MOST_SHOWN_WHOLE,
    Drawn,
    Evidence,
    Ground,
    Mode,
    Reading,
    Slot,
    merged,
    reading,
    resting,
)
from dialectree.models.run import run_of
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.inside import inside, root
from dialectree.protocols.settings import settings
from dialectree.quotations import Read
from dialectree.records import Place
from dialectree.records.folding import path_key
from dialectree.retrieval.material import material_of
from dialectree.retrieval.pool import Search, fitting, search_sources
from dialectree.system.platform_internals import read_state
from dialectree.trace.events import tell

if TYPE_CHECKING:
    from dialectree.retrieval.corpus import Material, Segment

Queries = Callable[..., Iterable[str]]
"""Returns what to look for, of the state, and of the settings if it has that parameter."""
MARK_TOKENS = 110
"""Tokens of the checker's reply for each point."""
NO_EVIDENCE = "no evidence: the verdict rests on nothing in the sources"
WITHOUT = "rests on no evidence of the sources"
_typed_dict: Any = TypedDict


# The channels


def grounded(schema: type[Any], *, sources: bool = True) -> type[Any]:
    """Return a TypedDict with the channels of the evidence, and of the sources if it takes them."""
    evidence = {"evidence": Annotated[dict[str, Any], merged]}
    return _with(schema, {**evidence, **_SOURCES} if sources else evidence)


def with_sources(schema: type[Any]) -> type[Any]:
    """Return the input of a whole protocol with the documents to argue from."""
    return _with(schema, _SOURCES)


_SOURCES: Mapping[str, Any] = {"sources": NotRequired[list[Any]]}


def _with(schema: type[Any], channels: Mapping[str, Any]) -> type[Any]:
    """Return a TypedDict with further channels."""
    hints = get_type_hints(schema, include_extras=True)
    made: type[Any] = _typed_dict(schema.__name__, {**hints, **channels})
    made.__doc__, made.__module__ = schema.__doc__, schema.__module__
    return made


class PartGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A part of a grounded protocol.

    The step that calls it hands its sources down, and keeps the evidence that the part leaves.
    """

    async def ainvoke(self, input: Any, *args: Any, **options: Any) -> Any:
        """Walk the graph."""
        here = reading.get()
        if here is None:
            return await super().ainvoke(input, *args, **options)
        if isinstance(input, Mapping):
            input = {**input, "sources": here.sources, "evidence": here.evidence}
        apart = reading.set(None)  # its own steps read for themselves
        try:
            ended: Any = await super().ainvoke(input, *args, **options)
        finally:
            reading.reset(apart)
        here.left = merged(here.left, ended.get("evidence"))
        return ended


# A step, with what it reads and what it leaves


@asynccontextmanager
async def reading_of(
    state: Any, runtime: Runtime[Any], context: Any, mode: Mode | None, of: str
) -> AsyncIterator[Reading | None]:
    """Let the step under way read the sources; None in a debate without them."""
    token = reading.set(await _read(state, runtime, context, mode, of))
    try:
        yield reading.get()
    finally:
        reading.reset(token)


def left_by(here: Reading | None, update: Any) -> Any:
    """Return the ``update`` of a step with the evidence that it leaves."""
    left = {} if here is None else here.update()
    if not left or not isinstance(update, Mapping | None):
        return update
    own = dict(update or {})
    return {**own, "evidence": merged(own.get("evidence"), left)}


async def _read(
    state: Any, runtime: Runtime[Any], context: GroundedSettings, mode: Mode | None, of: str
) -> Reading | None:
    if (sources := _sources(runtime, context)) is None:
        return None
    every: Evidence = read_state("evidence") or {}
    node = _pool_of(every, str(_field(state, "id") or root()))
    run = run_of(runtime)
    changed = run.overrides.evidence()
    gone = {id for id, text in changed.items() if text is None}
    here = Reading(node, every.get(node, {}), sources, every, gone)
    if mode is None or (mode == "cited" and context.judge_sees == "none"):
        return here
    if mode == "pool" and not here.ground.get("pool"):
        return here  # nothing was looked for, or found
    material = await material_of(sources, context, run)
    here.mode, here.of = "cited" if mode == "pool" else mode, of
    here.slots = [*slots(material, here.ground.get("pool", []), changed)]
    here.whole_pool = mode == "pool" or (mode == "cited" and context.judge_sees == "pool")
    here.forbidden = context.memory == "forbidden"
    everything = material.find_whole(context.whole, MOST_SHOWN_WHOLE)
    here.complete = bool(everything) and not material.retrieves()

    async def look_up(words: str) -> str | None:
        """Look among the best segments for the words."""
        found = await material.near(words, MOST_SEGMENTS)
        holding = (one for one in found if Read([one.text]).holds(words))
        source = next(holding, None)
        return None if source is None else material.sources[source.source].name

    here.look_up = look_up
    return here


def _sources(
    runtime: Runtime[Any], context: GroundedSettings
) -> Sequence[Mapping[str, Any]] | None:
    """Return the documents that were given; None where nothing is retrieved from either."""
    sources: Sequence[Mapping[str, Any]] = read_state("sources") or ()
    retrieves = context.retriever is not None or run_of(runtime).retrievals.by
    return sources if sources or retrieves else None


def _field(state: Any, name: str) -> Any:
    return state.get(name) if isinstance(state, Mapping) else None


def _pool_of(every: Evidence, node: str) -> str:
    """Return the node at or above ``node`` that has a pool; ``node`` itself where none has."""
    above = node
    while above and "pool" not in every.get(above, {}):
        above = above.rpartition(".")[0]
    return above or node


def slots(
    material: Material, pool: Sequence[str], changed: Mapping[str, str | None]
) -> Iterable[Slot]:
    """Yield the sentences of a pool under their names, with what persons ``changed``.

    A dropped sentence keeps its name, without a text. Another text of a segment takes the place of
    its first sentence.
    """
    names = iter(MORE_SENTENCES)
    for id in pool:
        segment = material.segment(id)
        source = material.sources[segment.source]
        gone = segment.source in changed or (id in changed and changed[id] is None)
        where = source.title if segment.page is None else f"{source.title}, p. {segment.page}"
        for number, sentence in enumerate(segment.ids(), 1):
            text: str | None = segment.sentence(number)
            if new := changed.get(id):
                text = new if number == 1 else None
            yield Slot(next(names), sentence, None if gone else text, where)


# Steps of a flow


def retrieving(
    name: str,
    queries: Queries | None,
    takes_settings: bool,
    current: Callable[[], GroundedSettings],
) -> Callable[..., Any]:
    """Return a step that retrieves for ``queries`` and what speakers asked for; no model is asked.

    Without ``queries`` the grounds of the children are the pool.
    """

    async def retrieve(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context = current()
        if (sources := _sources(runtime, context)) is None:
            return {}
        every, run = read_state("evidence") or {}, run_of(runtime)
        node = str(_field(state, "id") or root())
        ground: Ground = every.get(node, {})
        material = await material_of(sources, context, run)
        if queries is None:
            found = _grounds_below(every, node)
            pool = fitting(material, ground.get("pool", []), found)
            return {"evidence": {node: {"pool": pool}}}
        wanted = queries(state, context) if takes_settings else queries(state)
        texts = [" ".join(text.split()) for text in (*wanted, *ground.get("look_for", []))]
        asked = ground.get("asked", [])
        texts = [text for text in dict.fromkeys(texts) if text and text not in asked]
        searches = await search_sources(
            material, texts, ground.get("pool", []), context, name, len(asked)
        )
        pool = [id for search in searches for id in search.shown]
        for search in searches:
            for id in dict.fromkeys([*search.found, *search.shown]):
                run.overrides.found(id)
            tell(runtime, node, "retrieved", _describe(search, material, run.overrides.evidence()))
        return {"evidence": {node: {"pool": pool, "asked": texts}}}

    return retrieve


def _describe(
    search: Search, material: Material, changed: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return the data of a ``retrieved`` event."""
    ids = dict.fromkeys([*search.found, *search.shown])
    return {
        "of": search.of,
        "query": search.query,
        "found": [{"id": id} for id in search.found],
        "shown": [*search.shown],
        "sentences": material.count_sentences(),
        "segments": [_describe_segment(material.segment(id), material, changed) for id in ids],
    }


def _describe_segment(
    segment: Segment, material: Material, changed: Mapping[str, str | None]
) -> dict[str, Any]:
    new = changed.get(segment.id)
    text = new or segment.text
    return {
        "id": segment.id,
        "text": text,
        "page": segment.page,
        "heading": segment.heading,
        "contested": segment.id in changed or segment.source in changed,
        "source": material.sources[segment.source].name,
        "sentences": [[0, len(text)]] if new else [[*span] for span in segment.sentences],
    }


def _grounds_below(every: Evidence, node: str) -> list[str]:
    """Return the segments that the verdicts of the children of ``node`` rest on."""
    children = [one for one in every if one.rpartition(".")[0] == node]
    grounds = [id for one in sorted(children, key=path_key) for id in resting(every[one])]
    return [*dict.fromkeys(id.rpartition(".")[0] for id in grounds)]


# The checker


class Mark(BaseModel):
    """Whether the sentences of one point bear it out."""

    point: str
    reason: str = Field(max_length=400)
    verdict: Literal["yes", "no", "contradicts"]


class CheckReply(BaseModel):
    """What the checker finds of every point."""

    marks: list[Mark]


async def checker(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Mark all points of a debate that nobody marked; one call, or none."""
    here = reading.get()
    if here is None or getattr(runtime.context, "check", "none") == "none":
        return {}
    marked, held = here.ground.get("marks", {}), {slot.id: slot.name for slot in here.slots}
    every = [one for drawn in here.ground.get("drawn", []) for one in here.points(drawn)]
    points = {f"p{n}": one for n, one in enumerate((p for p in every if p.id not in marked), 1)}
    if not points:
        return {}
    lasting = {name: one.id for name, one in points.items()}

    def told(reply: CheckReply) -> dict[str, Any]:
        marks = [{**one.model_dump(), "point": lasting[one.point]} for one in reply.marks]
        return {"marks": marks}

    rows = [
        {"name": name, "text": one.point, "sentences": [held[id] for id in one.sentences]}
        for name, one in points.items()
    ]
    reply = await ask(
        runtime,
        Place(
            node=str(_field(state, "id") or root()),
            phase="check",
            role="checker",
            round=_field(state, "round") or 0,
            take=_field(state, "take") or 1,
        ),
        "evidence/check",
        CheckReply,
        ids={"marks.point": [*points]},
        told=told,
        max_tokens=MARK_TOKENS * len(points) + 60,
        points=rows,
    )
    for one in reply.marks:
        if one.verdict == "contradicts":
            point = points[one.point]
            words = " ".join(slot.text or "" for slot in here.slots if slot.id in point.sentences)
            note = f"contradicted by the sources: “{point.point}” ({words})"
            tell(runtime, here.node, "noted", {"note": note})
    here.leave(here.node, {"marks": {lasting[one.point]: one.verdict for one in reply.marks}})
    return {}


# The verdict


def rest_on(*nodes: str) -> None:
    """Let the verdict of the debate rest on what the rulings at its parts ``nodes`` rest on."""
    if (here := reading.get()) is not None:
        ids = [id for node in nodes for id in here.rests_on(node)]
        here.leave(root(), {"grounds": {str(inside.get().take): [*dict.fromkeys(ids)]}})


def unsupported(node: str, text: str) -> bool:
    """Return whether a speaker at ``node`` said ``text`` without evidence that is left.

    It is False in a debate without sources, and for the text of a person.
    """
    said = any(drawn["text"] == text for drawn in _find_texts(node))
    return said and not find_cited_sentences(node, text)


def _find_texts(node: str) -> Sequence[Drawn]:
    """Return the texts that were said at ``node``, with their points; none without sources."""
    if (here := reading.get()) is None:
        return ()
    return here.evidence.get(_pool_of(here.evidence, node), {}).get("drawn", [])


def is_grounded() -> bool:
    """Return whether the debate under way has sources."""
    return reading.get() is not None


def find_cited_sentences(node: str, text: str) -> list[str]:
    """Return the ids of the sentences that ``text``, said at ``node``, cites and nobody dropped."""
    here = reading.get()
    points = (
        point for drawn in _find_texts(node) if drawn["text"] == text for point in drawn["points"]
    )
    sentences = dict.fromkeys(sentence for point in points for sentence in point["sentences"])
    return [sentence for sentence in sentences if here is not None and not here.dropped(sentence)]


def without_evidence(*nodes: str) -> list[str]:
    """Return those of ``nodes`` whose ruling rests on no evidence, in a debate with sources."""
    here = reading.get()
    return [] if here is None else [node for node in nodes if not here.rests_on(node)]


async def concluding(state: Hosted, runtime: Runtime[Any]) -> dict[str, Any]:
    """Conclude a debate with the grounds of its verdict."""
    context = settings(runtime, GroundedSettings)
    verdict = await _with_grounds(state["verdict"], runtime, context)
    return await conclusion({**state, "verdict": verdict}, runtime)


async def _with_grounds(
    verdict: dict[str, Any], runtime: Runtime[Any], context: GroundedSettings
) -> dict[str, Any]:
    """Return a verdict with the sentences that it rests on; without any it may be unresolved."""
    sources = _sources(runtime, context)
    if sources is None or verdict["answer"] is None:
        return verdict
    run, ground = run_of(runtime), (read_state("evidence") or {}).get(root(), {})
    material, changed = await material_of(sources, context, run), run.overrides.evidence()
    grounds = [*_grounds(resting(ground), material, changed)]
    if grounds:
        return {**verdict, "grounds": grounds}
    if context.memory == "allowed":
        return {**verdict, "notes": [*verdict["notes"], WITHOUT]}
    nothing = {"answer": None, "label": None, "confidence": None, "confidence_source": None}
    return {**verdict, **nothing, "notes": [*verdict["notes"], NO_EVIDENCE]}


def _grounds(
    ids: Iterable[str], material: Material, changed: Mapping[str, str | None]
) -> Iterable[dict[str, Any]]:
    gone = {id for id, text in changed.items() if text is None}
    for id in ids:
        segment = material.segment(id.rpartition(".")[0])
        if gone.isdisjoint((segment.id, segment.source)):
            name = material.sources[segment.source].name
            yield {"id": id, "source": name, "page": segment.page}
