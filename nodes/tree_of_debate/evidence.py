"""Evidence: the segments of a paper that speak to a topic or to a claim."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from langgraph.runtime import Runtime

from dialectree import clock
from dialectree.context import settings
from dialectree.events import tell
from dialectree.models.run import run_of
from dialectree.models.specs import require_embeddings
from dialectree.nodes.tree_of_debate.state import Settings
from dialectree.nodes.tree_of_debate.topics import (
    LETTERS,
    Author,
    Letter,
    Pool,
    Pooled,
    Topic,
    wording,
)
from dialectree.retrieval import library
from dialectree.retrieval.library import Source


class Quotable(NamedTuple):
    """A segment as a prompt shows it."""

    id: str
    text: str


async def retrieval(state: Topic, runtime: Runtime[Settings]) -> Pooled:
    """Retrieve the best segments of either paper on the topic."""

    async def look(letter: Letter) -> Pool:
        author, wanted = state["authors"][letter], {"topic": wording(state)}
        found = await retrieved(runtime, state["id"], letter, author, wanted)
        return {"paper": letter, "segments": found["topic"]}

    return {"pooled": [*await asyncio.gather(*map(look, LETTERS))]}


def pool_of(pools: Sequence[Pool], letter: Letter) -> list[str]:
    """Return the ids of the segments retrieved from one paper."""
    return [name for pool in pools if pool["paper"] == letter for name in pool["segments"]]


async def retrieved(
    runtime: Runtime[Settings], node: str, letter: Letter, author: Author, wanted: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the ids of the best segments of one paper for each query, by the query's name."""
    context = settings(runtime, Settings)
    timing = library.Timing()
    found = await library.find(
        author["source"],
        context.embeddings,
        [*wanted.values()],
        context.segments,
        base_url=context.base_url,
        timing=timing,
    )
    run = run_of(runtime)
    run.embedding_s += timing.seconds
    for (of, query), hits in zip(wanted.items(), found, strict=True):
        told = {
            "paper": letter,
            "of": of,
            "query": query,
            "found": [{"id": f"{letter}:{h.number}", "score": round(h.score, 6)} for h in hits],
            "segments": [
                {
                    "id": f"{letter}:{hit.number}",
                    "text": hit.text,
                    "page": hit.page,
                    "offset": hit.offset,
                    "heading": hit.heading,
                    "contested": run.overrides.found(f"{letter}:{hit.number}"),
                }
                for hit in hits
            ],
        }
        tell(runtime, node, "retrieved", told)
    ids = [[f"{letter}:{hit.number}" for hit in hits] for hits in found]
    return dict(zip(wanted, ids, strict=True))


def quotable(
    runtime: Runtime[Settings], authors: Mapping[Letter, Author], ids: Sequence[str]
) -> list[Quotable]:
    """Return the segments of ``ids``, each once, in the order of the papers."""
    context = settings(runtime, Settings)
    shown: list[Quotable] = []
    for letter, author in sorted(authors.items()):
        numbers = {int(name[2:]) for name in ids if name.startswith(f"{letter}:")}
        if numbers:
            texts = library.texts(
                author["source"], context.embeddings, sorted(numbers), context.base_url
            )
            shown += [Quotable(f"{letter}:{number}", text) for number, text in texts.items()]
    return shown


def contested(runtime: Runtime[Settings], sources: Mapping[Letter, Source]) -> dict[Letter, Source]:
    """Return the papers with the segments that a person changed in this run."""
    changed = run_of(runtime).overrides.evidence()
    return {
        letter: source.model_copy(
            update={
                "amended": {
                    int(name[2:]): text
                    for name, text in changed.items()
                    if name.startswith(f"{letter}:")
                }
            }
        )
        for letter, source in sources.items()
    }


@asynccontextmanager
async def at_hand(
    runtime: Runtime[Settings], sources: Mapping[Letter, Source], *, searched: bool
) -> AsyncIterator[None]:
    """Keep both papers at hand as they are contested, to search and to look up.

    Where nothing is ``searched`` nobody quotes by segment, and nothing is embedded.
    """
    if not searched:
        yield
        return
    context, began = settings(runtime, Settings), clock.seconds()
    require_embeddings(context)
    async with library.shelved(
        [*contested(runtime, sources).values()],
        context.embeddings,
        base_url=context.base_url,
    ):
        run_of(runtime).embedding_s += clock.seconds() - began
        yield
