"""Retrieve, read, check and cite the user's documents in the steps of a debate.

This module is the part ``evidence`` that :mod:`dialectree.flow.grounding` declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from dialectree.evidence.reader import Slot, StepEvidence, pool_of, resting
from dialectree.flow.grounding import Sources
from dialectree.models.asking import MORE_SENTENCES
from dialectree.models.door import ask
from dialectree.models.reading import NO_EVIDENCE, WITHOUT, Evidence, Mode, NodeEvidence, reading
from dialectree.models.run import run_of
from dialectree.protocols.grounded import GroundedSettings
from dialectree.protocols.inside import root
from dialectree.quotations import QuotationSearch
from dialectree.records import Place
from dialectree.records.folding import path_key
from dialectree.retrieval.material import material_of
from dialectree.retrieval.pool import MOST_SEGMENTS, MOST_SHOWN_WHOLE, Search, fitting, search_sources
from dialectree.system.platform_internals import read_state
from dialectree.trace.events import tell

if TYPE_CHECKING:
    from dialectree.retrieval.corpus import CorpusSegment, Material

MARK_TOKENS = 110
"""Tokens of the checker's reply for each point."""


# A step, with its evidence and its updates


async def read(
    state: Any, runtime: Runtime[Any], context: GroundedSettings, sources: Sources, mode: Mode | None, of: str
) -> StepEvidence:
    """Return the evidence that a step reads; see :class:`dialectree.flow.grounding.Evidence`."""
    evidence: Evidence = read_state("evidence") or {}
    node = pool_of(evidence, str(_field(state, "id") or root()))
    run = run_of(runtime)
    changed = run.overrides.evidence()
    dropped_ids = {id for id, text in changed.items() if text is None}
    here = StepEvidence(node, evidence.get(node, {}), sources, evidence, dropped_ids)
    if mode is None or (mode == "cited" and context.judge_sees == "none"):
        return here
    if mode == "pool" and not here.ground.get("pool"):
        return here  # the search found nothing, or did not run
    material = await material_of(sources, context, run)
    here.mode, here.of = "cited" if mode == "pool" else mode, of
    here.slots = [*slots(material, here.ground.get("pool", []), changed)]
    here.whole_pool = mode == "pool" or (mode == "cited" and context.judge_sees == "pool")
    here.forbidden = context.memory == "forbidden"
    everything = material.find_whole(context.whole, MOST_SHOWN_WHOLE)
    here.complete = bool(everything) and not material.retrieves()

    async def look_up(words: str) -> str | None:
        """Return the source that contains ``words``, among the best segments."""
        segments = await material.near(words, MOST_SEGMENTS)
        holding = (segment for segment in segments if QuotationSearch([segment.text]).holds(words))
        source = next(holding, None)
        return None if source is None else material.sources[source.source].name

    here.look_up = look_up
    return here


def _field(state: Any, name: str) -> Any:
    return state.get(name) if isinstance(state, Mapping) else None


def slots(material: Material, pool: Sequence[str], changed: Mapping[str, str | None]) -> Iterable[Slot]:
    """Yield the sentences of a pool with their names, after the changes of people in ``changed``.

    A dropped sentence keeps its name, without a text. The new text of a segment replaces its first
    sentence.
    """
    names = iter(MORE_SENTENCES)
    for id in pool:
        segment = material.segment(id)
        source = material.sources[segment.source]
        is_dropped = segment.source in changed or (id in changed and changed[id] is None)
        where = source.title if segment.page is None else f"{source.title}, p. {segment.page}"
        for number, sentence in enumerate(segment.ids(), 1):
            text: str | None = segment.sentence(number)
            if new := changed.get(id):
                text = new if number == 1 else None
            yield Slot(next(names), sentence, None if is_dropped else text, where)


# Steps of a flow


async def retrieve(
    state: Any,
    runtime: Runtime[Any],
    context: GroundedSettings,
    sources: Sources,
    name: str,
    query_texts: Iterable[str] | None,
) -> dict[str, Any]:
    """Retrieve segments for ``query_texts`` and the queries of speakers, without asking a model.

    Without ``query_texts``, the grounds of the child nodes become the pool.
    """
    evidence, run = read_state("evidence") or {}, run_of(runtime)
    node = str(_field(state, "id") or root())
    ground: NodeEvidence = evidence.get(node, {})
    material = await material_of(sources, context, run)
    if query_texts is None:
        grounds = _grounds_below(evidence, node)
        return {"evidence": {node: {"pool": fitting(material, ground.get("pool", []), grounds)}}}
    texts = [" ".join(text.split()) for text in (*query_texts, *ground.get("look_for", []))]
    earlier_queries = ground.get("asked", [])
    texts = [text for text in dict.fromkeys(texts) if text and text not in earlier_queries]
    searches = await search_sources(
        material, texts, ground.get("pool", []), context, name, len(earlier_queries)
    )
    pool = [id for search in searches for id in search.shown_ids]
    for search in searches:
        for id in dict.fromkeys([*search.found_ids, *search.shown_ids]):
            run.overrides.match_segment(id)
        tell(runtime, node, "retrieved", _describe(search, material, run.overrides.evidence()))
    return {"evidence": {node: {"pool": pool, "asked": texts}}}


def _describe(search: Search, material: Material, changed: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the data of a ``retrieved`` event."""
    ids = dict.fromkeys([*search.found_ids, *search.shown_ids])
    return {
        "of": search.of,
        "query": search.query,
        "found": [{"id": id} for id in search.found_ids],
        "shown": [*search.shown_ids],
        "sentences": material.count_sentences(),
        "segments": [_describe_segment(material.segment(id), material, changed) for id in ids],
    }


def _describe_segment(
    segment: CorpusSegment, material: Material, changed: Mapping[str, str | None]
) -> dict[str, Any]:
    new = changed.get(segment.id)
    text = new or segment.text
    return {
        "id": segment.id,
        "text": text,
        "page": segment.page,
        "heading": segment.heading,
        **({"place": segment.place} if segment.place else {}),
        "contested": segment.id in changed or segment.source in changed,
        "source": material.sources[segment.source].name,
        "sentences": [[0, len(text)]] if new else [[*span] for span in segment.sentences],
    }


def _grounds_below(evidence: Evidence, node: str) -> list[str]:
    """Return the segments that the verdicts of the children of ``node`` rest on."""
    children = [other_node for other_node in evidence if other_node.rpartition(".")[0] == node]
    grounds = [id for child in sorted(children, key=path_key) for id in resting(evidence[child])]
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


async def check_points(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Mark all unmarked points of a debate, with one call at most."""
    here = reading.get()
    assert isinstance(here, StepEvidence)  # the step reads the sources
    marked, slot_names = here.ground.get("marks", {}), {slot.id: slot.name for slot in here.slots}
    all_points = [
        cited_point for statement in here.ground.get("drawn", []) for cited_point in here.points(statement)
    ]
    points = {
        f"p{n}": unmarked_point
        for n, unmarked_point in enumerate((p for p in all_points if p.id not in marked), 1)
    }
    if not points:
        return {}
    lasting = {name: unmarked_point.id for name, unmarked_point in points.items()}

    def make_record_fields(reply: CheckReply) -> dict[str, Any]:
        marks = [{**mark.model_dump(), "point": lasting[mark.point]} for mark in reply.marks]
        return {"marks": marks}

    rows = [
        {
            "name": name,
            "text": unmarked_point.point,
            "sentences": [slot_names[id] for id in unmarked_point.sentences],
        }
        for name, unmarked_point in points.items()
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
        told=make_record_fields,
        max_tokens=MARK_TOKENS * len(points) + 60,
        points=rows,
    )
    for mark in reply.marks:
        if mark.verdict == "contradicts":
            point = points[mark.point]
            words = " ".join(slot.text or "" for slot in here.slots if slot.id in point.sentences)
            note = f"contradicted by the sources: “{point.point}” ({words})"
            tell(runtime, here.node, "noted", {"note": note})
    here.leave(here.node, {"marks": {lasting[mark.point]: mark.verdict for mark in reply.marks}})
    return {}


# The verdict


async def add_grounds(
    verdict: dict[str, Any], runtime: Runtime[Any], context: GroundedSettings, sources: Sources
) -> dict[str, Any]:
    """Return ``verdict`` with the sentences that it rests on.

    Without such a sentence it becomes unresolved, unless the settings allow arguing from memory.
    """
    run, ground = run_of(runtime), (read_state("evidence") or {}).get(root(), {})
    material, changed = await material_of(sources, context, run), run.overrides.evidence()
    grounds = [*_grounds(resting(ground), material, changed)]
    if grounds:
        return {**verdict, "grounds": grounds}
    if context.memory == "allowed":
        return {**verdict, "notes": [*verdict["notes"], f"the ruling {WITHOUT}"]}
    nothing = {"answer": None, "label": None, "confidence": None, "confidence_source": None}
    return {**verdict, **nothing, "notes": [*verdict["notes"], NO_EVIDENCE]}


def _grounds(
    ids: Iterable[str], material: Material, changed: Mapping[str, str | None]
) -> Iterable[dict[str, Any]]:
    dropped_ids = {id for id, text in changed.items() if text is None}
    for id in ids:
        segment = material.segment(id.rpartition(".")[0])
        if dropped_ids.isdisjoint((segment.id, segment.source)):
            name = material.sources[segment.source].name
            yield {"id": id, "source": name, "page": segment.page}
