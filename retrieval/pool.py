"""Choose what debaters are shown of the sources: all of small ones, else what a search finds.

Importing this module takes none of the packages that read, index or find documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

from dialectree.models.asking import MORE_SENTENCES, SENTENCES

if TYPE_CHECKING:
    from dialectree.protocols.grounded import GroundedSettings
    from dialectree.retrieval.corpus import Material

MOST_SEGMENTS, MOST = 32, len(SENTENCES)
"""Segments and sentences of a pool, at most."""
MOST_SHOWN_WHOLE = len(MORE_SENTENCES)
"""Sentences of sources that are shown whole, at most."""
WHOLE = "whole"
"""The name of a search that shows the sources whole."""


class Search(NamedTuple):
    """A search of the sources, or their being shown whole."""

    of: str
    query: str
    """Empty, where the sources are shown whole."""
    found_ids: Sequence[str]
    """Ids of segments, the best first."""
    shown_ids: Sequence[str]
    """Ids of the segments that came into the pool by it: of found ones, and of those around."""


def choose_shown(
    material: Material, pool: Sequence[str], found_ids: Sequence[Sequence[str]], reach: int
) -> list[list[str]]:
    """Return for each search the segments that come into ``pool`` by it, in the order shown.

    A segment stands among its neighbours, up to ``reach`` on either side. All that was found comes
    before any neighbour, as far as there is room.
    """
    hits = fitting(material, pool, chain.from_iterable(found_ids))
    new = hits[len(pool) :]
    around = {id: material.neighbours(id, reach) for id in new} if reach else {}
    allowed = {*fitting(material, hits, chain.from_iterable(around.values()))} - {*pool}
    shown_ids: list[list[str]] = []
    for row in found_ids:
        groups = (sorted([id, *around.get(id, [])], key=_place) for id in row if id in allowed)
        ids = [id for id in dict.fromkeys(chain.from_iterable(groups)) if id in allowed]
        allowed -= {*ids}
        shown_ids.append(ids)
    return shown_ids


def _place(id: str) -> tuple[int, int]:
    source, _, number = id.removeprefix("s").partition(":")
    return int(source), int(number)


def fitting(material: Material, pool: Sequence[str], ids: Iterable[str]) -> list[str]:
    """Return ``pool`` with those of ``ids`` that are new to it and fit into it, each whole."""
    new_pool = [*pool]
    size = sum(len(material.segment(id).sentences) for id in new_pool)
    for id in ids:
        more = len(material.segment(id).sentences)
        if id not in new_pool and len(new_pool) < MOST_SEGMENTS and size + more <= MOST:
            new_pool.append(id)
            size += more
    return new_pool


async def search_sources(
    material: Material,
    queries: Sequence[str],
    pool: Sequence[str],
    settings: GroundedSettings,
    name: str = "search",
    earlier_count: int = 0,
) -> list[Search]:
    """Return what debaters are shown for ``queries`` beside what is in their ``pool``.

    Sources of at most ``settings.whole`` tokens are shown whole, and searched no more unless a
    retriever may find something else. ``name`` and the number of queries ``earlier_count`` before make the
    names of the searches. Raises as the search of ``material``.
    """
    searches: list[Search] = []
    everything = material.find_whole(settings.whole, MOST_SHOWN_WHOLE) if queries else []
    if everything and not pool:
        searches.append(Search(WHOLE, "", everything, everything))
        pool = everything
    if queries and (material.retrieves() or not everything):
        rows = await material.search(queries, settings.segments)
        found_ids = [[segment.id for segment in row] for row in rows]
        shown_ids = choose_shown(material, pool, found_ids, settings.neighbours)
        labels = (f"{name} {number}" for number in count(earlier_count + 1))
        searches += map(Search, labels, queries, found_ids, shown_ids)
    return searches
