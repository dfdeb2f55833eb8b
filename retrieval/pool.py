"""Choose the texts that debaters see: all of small sources, else the results of a search.

Importing this module needs no package that reads, indexes or finds documents.
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
"""Most segments and sentences of a pool."""
MOST_SHOWN_WHOLE = len(MORE_SENTENCES)
"""Most sentences of sources that are shown whole."""
WHOLE = "whole"
"""The name of a search that shows the sources whole."""


class Search(NamedTuple):
    """A search of the sources, or the showing of whole sources."""

    of: str
    query: str
    """The query; empty if the sources are shown whole."""
    found_ids: Sequence[str]
    """Ids of segments, best first."""
    shown_ids: Sequence[str]
    """Ids of the segments that the search added to the pool: found segments and their neighbours."""


def choose_shown(
    material: Material, pool: Sequence[str], found_ids: Sequence[Sequence[str]], reach: int
) -> list[list[str]]:
    """Return the segments that each search adds to ``pool``, in the order shown.

    A segment comes with its neighbours, up to ``reach`` on each side. Neighbours are added only
    if room is left after all found segments.
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
    """Return ``pool`` and the new segments of ``ids``; a segment that does not fit whole is not added."""
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
    """Return the searches for ``queries``, with the segments that they add to ``pool``.

    Sources of at most ``settings.whole`` tokens are shown whole; then queries are searched only if
    there is a retriever. A search is labelled by ``name`` and a number, which continues after
    ``earlier_count`` queries. Raises the errors of ``material.search``.
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
