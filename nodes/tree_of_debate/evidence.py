"""Evidence: the segments of a paper that speak to a topic or to a claim.

ToD, section 3.3. Pre-emption searches each paper for segments that speak to the other's claims.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel

from dialectree.models.door import ask
from dialectree.models.run import run_of
from dialectree.nodes.quotations import find_unsupported_quotations
from dialectree.nodes.tree_of_debate.papers import sources
from dialectree.nodes.tree_of_debate.state import (
    LETTERS,
    Author,
    Letter,
    Settings,
    Topic,
    TopicDebate,
    TreeOfDebate,
    Weighed,
    opponent,
)
from dialectree.records import Place
from dialectree.retrieval import library
from dialectree.retrieval.embedders import Timing
from dialectree.retrieval.papers import AmendedPaper
from dialectree.system import clock
from dialectree.trace.events import tell


async def retrieval(state: Topic, runtime: Runtime[Settings]) -> dict[str, dict[Letter, list[str]]]:
    """Retrieve the best segments of either paper on the topic."""
    queries = {"topic": query(state)}
    a, b = await asyncio.gather(*(retrieve(state, runtime, letter, queries) for letter in LETTERS))
    return {"pools": {"a": a["topic"], "b": b["topic"]}}


async def retrieve(
    topic: Topic, runtime: Runtime[Settings], letter: Letter, queries: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the ids of the best segments of one paper for each query, by the query's name."""
    context, run, timing = runtime.context, run_of(runtime), Timing()
    began = clock.seconds()
    rows = await library.search_paper(
        topic["authors"][letter]["source"],
        context.embeddings,
        [*queries.values()],
        context.segments,
        base_url=context.base_url,
        timing=timing,
        access=context.embeddings_access(),
    )
    took_s = clock.seconds() - began
    run.embedding_s += timing.seconds
    ids: dict[str, list[str]] = {}
    for (name, text), hits in zip(queries.items(), rows, strict=True):
        ids[name] = [f"{letter}:{hit.number}" for hit in hits]
        hits_with_ids = [*zip(ids[name], hits, strict=True)]
        data = {
            "paper": letter,
            "of": name,
            "query": text,
            "found": [{"id": id_, "score": round(hit.score or 0.0, 6)} for id_, hit in hits_with_ids],
            "segments": [
                {
                    "id": id_,
                    "text": hit.text,
                    "page": hit.page,
                    "offset": hit.offset,
                    "heading": hit.heading,
                    **({"place": hit.place} if hit.place else {}),
                    "contested": run.overrides.match_segment(id_),
                }
                for id_, hit in hits_with_ids
            ],
        }
        tell(runtime, topic["id"], "retrieved", data, took_s=took_s)
    return ids


def query(topic: Topic) -> str:
    """Return "title : description" of a topic; the root has no description."""
    return " : ".join(filter(None, (topic["title"], topic["description"])))


def quotable(
    runtime: Runtime[Settings], authors: Mapping[Letter, Author], ids: Iterable[str]
) -> dict[str, str]:
    """Return the texts of the segments ``ids``, in the order of the papers."""
    context, segment_ids = runtime.context, set(ids)
    texts_by_id: dict[str, str] = {}
    for letter, author in sorted(authors.items()):
        numbers = sorted(int(name[2:]) for name in segment_ids if name.startswith(f"{letter}:"))
        if numbers:
            texts = library.segment_texts(
                author["source"], context.embeddings, numbers, context.base_url, context.embeddings_access()
            )
            texts_by_id |= {f"{letter}:{number}": text for number, text in texts.items()}
    return texts_by_id


def among(ids: Iterable[str], offered: Sequence[str]) -> list[str]:
    """Return the ids that were offered, each once."""
    return [name for name in dict.fromkeys(ids) if name in offered]


def note_misquotes(
    state: Topic,
    runtime: Runtime[Settings],
    where: str,
    texts: Iterable[str],
    read: Iterable[str],
    papers: Iterable[Letter] = LETTERS,
) -> None:
    """Note each quotation in ``texts`` that does not occur in the texts known to its speaker.

    The speaker knows the texts ``read``, the topic, and the opening parts of ``papers``.
    """
    sources = [*read, state["question"], state["title"], state["description"]]
    sources += [*state["raised_by"], *(question["text"] for question in state["open_questions"])]
    for letter in papers:
        sources += list_introductory_parts(state["authors"][letter])
    for quote in dict.fromkeys(
        quote for text in texts for quote in find_unsupported_quotations(text, sources)
    ):
        note = f"{where}: quotes what no evidence says: “{quote}”"
        tell(runtime, state["id"], "noted", {"note": note})


def list_introductory_parts(author: Author) -> list[str]:
    """Return the parts of a paper that its readers know without a search."""
    return [author["title"], author["abstract"], author["introduction"]]


def apply_evidence_overrides(
    runtime: Runtime[Settings], papers: Mapping[Letter, AmendedPaper]
) -> dict[Letter, AmendedPaper]:
    """Return the papers with the segments that a person changed in this run."""
    changed = run_of(runtime).overrides.evidence()
    return {
        letter: source.model_copy(
            update={"amended": {int(n[2:]): text for n, text in changed.items() if n[0] == letter}}
        )
        for letter, source in papers.items()
    }


@asynccontextmanager
async def at_hand(state: TreeOfDebate, runtime: Runtime[Settings]) -> AsyncIterator[None]:
    """Keep both papers ready to search and to quote, with a person's changes.

    A method without retrieval embeds nothing.
    """
    if not all(author["source"] for author in state["authors"].values()):
        yield
        return
    context, began = runtime.context, clock.seconds()
    access = context.embeddings_access()
    if not context.replay:  # a replay may find all vectors in the cache
        context.require_embeddings()
    papers = apply_evidence_overrides(runtime, sources(state["papers"])).values()
    async with library.keep_open([*papers], context.embeddings, context.base_url, access):
        run_of(runtime).embedding_s += clock.seconds() - began
        yield


_Answer = Literal["yes", "no"]


class Relevance(BaseModel):
    """What one segment does to a claim."""

    id: str
    supports: _Answer
    refutes: _Answer
    clarifies: _Answer
    irrelevant: _Answer


class RelevanceReply(BaseModel):
    """What every segment does to a claim."""

    segments: list[Relevance]


async def pre_emption(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, dict[str, list[str]]]:
    """Look in each paper for segments that may speak to the other's claims."""

    async def look(letter: Letter) -> dict[str, list[str]]:
        other_claims = [claim for claim in state["own"] if claim["paper"] != letter]
        queries = {claim["id"]: f"{claim['title']}: {claim['description']}" for claim in other_claims}
        return await retrieve(state, runtime, letter, queries)

    a, b = await asyncio.gather(*map(look, LETTERS))
    return {"met": {**a, **b}}


async def relevance(state: TopicDebate, runtime: Runtime[Settings]) -> dict[str, Weighed]:
    """Let the other paper's persona say which segments speak to a claim.

    The state has one claim and the segments for one call.
    """
    (claim,) = state["own"]
    segments = state["met"][claim["id"]]
    number = int(claim["id"][1:]) + 100 * state["place"]
    reply = await ask(
        runtime,
        Place(
            node=state["id"],
            phase="relevance",
            role="persona",
            speaker=opponent(claim["paper"]),
            round=number,
        ),
        "tree_of_debate/relevance",
        RelevanceReply,
        ids={"segments.id": segments},
        told=lambda reply: {"claim": claim["id"], **reply.model_dump(mode="json")},
        max_tokens=100 + 90 * len(segments),
        claim=claim,
        evidence=quotable(runtime, state["authors"], segments),
    )
    speaking = {
        segment.id
        for segment in reply.segments
        if "yes" in (segment.supports, segment.refutes, segment.clarifies)
    }
    return {"weighed": {claim["id"]: {name: name in speaking for name in segments}}}
