"""``dialectree sources``: show the text that a debate would read from files, without any cost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.flags import notice
from dialectree.protocols.grounded import GroundedSettings

if TYPE_CHECKING:
    from dialectree.retrieval.corpus import CorpusSegment
    from dialectree.retrieval.sources import Document

_MARKS = {"heading": "# ", "item": "- ", "names": "| ", "row": "| ", "note": "* "}
_LONGEST = 100
"""The most characters of a left-out text that the terminal shows."""


@flags.with_fields(
    (GroundedSettings, "embeddings"),
    (GroundedSettings, "segments"),
    (GroundedSettings, "whole"),
    (GroundedSettings, "neighbours"),
    (GroundedSettings, "ranking"),
    (GroundedSettings, "reader"),
)
def sources(
    paths: Annotated[list[str], typer.Argument(help="Documents, and folders of them.", metavar="PATH...")],
    settings: dict[str, Any],
    find: Annotated[
        str | None, typer.Option(help="Show the sentences that a debate on TEXT is shown.", metavar="TEXT")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the text read from documents: their blocks, what is left out, and why.

    No model is asked, except for the embeddings of ``--find``.
    """
    from dialectree.protocols.settings import build_settings
    from dialectree.retrieval.sources import read_sources

    search = build_settings(GroundedSettings, **settings)
    sources_read = read_sources([Path(path) for path in paths], reader=search.find_reader())
    evidence = None
    if find is not None:
        evidence = asyncio.run(_find(find, sources_read.documents, search))
    if as_json:
        report: dict[str, Any] = {
            "documents": [_as_json(document, sources_read.notices) for document in sources_read.documents],
            "notices": [*sources_read.notices],
        }
        if evidence is not None:
            report |= evidence.as_json(sources_read.documents)
        print(json.dumps(report, ensure_ascii=False, indent=2))
        return
    if evidence is None:
        for number, document in enumerate(sources_read.documents, 1):
            _print_document(number, document)
    else:
        _print_found(evidence, sources_read.documents)
    for line in sources_read.notices:
        notice(line)


class ShownEvidence(NamedTuple):
    """The evidence segments that debaters see in a debate on a given text."""

    matches: list[CorpusSegment]
    """The best segments for the text, the best first."""
    beside: list[CorpusSegment]
    """The segments around ``matches``, or the rest of the sources if these are shown whole, in order."""
    visible_sentences: int
    """The number of sentences shown."""
    sentences: int
    """The number of sentences in all sources."""

    def as_json(self, documents: tuple[Document, ...]) -> dict[str, Any]:
        """Return the fields that ``--json`` prints for the evidence."""
        listed = [(segment, True) for segment in self.matches]
        listed += [(segment, False) for segment in self.beside]
        return {
            "find": [
                {**_segment_as_json(segment, documents), "found": is_match} for segment, is_match in listed
            ],
            "shown": self.visible_sentences,
            "sentences": self.sentences,
        }


async def _find(text: str, documents: tuple[Document, ...], settings: GroundedSettings) -> ShownEvidence:
    from dialectree.retrieval.corpus import Corpus
    from dialectree.retrieval.pool import search_sources

    corpus = await asyncio.to_thread(
        Corpus, documents, settings.embeddings, settings.base_url, ranking=settings.ranking
    )
    [matches] = await corpus.search([text], settings.segments)
    searches = await search_sources(corpus, [text], [], settings)
    segments = [corpus.segment(id) for search in searches for id in search.shown_ids]
    ids = {segment.id for segment in matches}
    return ShownEvidence(
        matches,
        [segment for segment in segments if segment.id not in ids],
        sum(len(segment.sentences) for segment in segments),
        corpus.count_sentences(),
    )


def _as_json(document: Document, notices: tuple[str, ...]) -> dict[str, Any]:
    from dialectree.evidence.documents import describe_blocks, notices_about

    return {
        "name": document.name,
        "title": document.title,
        "digest": document.digest,
        "blocks": describe_blocks(document),
        "left_out": [part._asdict() for part in document.left_out],
        "notices": notices_about(document.name, notices),
    }


def _segment_as_json(segment: CorpusSegment, documents: tuple[Document, ...]) -> dict[str, Any]:
    return {
        "id": segment.id,
        "document": documents[int(segment.source[1:]) - 1].name,
        "page": segment.page,
        "heading": segment.heading,
        "text": segment.text,
        "sentences": [
            {"id": id, "text": segment.sentence(number)} for number, id in enumerate(segment.ids(), 1)
        ],
    }


def _print_document(number: int, document: Document) -> None:
    from dialectree.text import clean

    print(f"s{number}  {clean(document.name)}: {clean(document.title)}")
    page = None
    for block in document.passages:
        if block.page != page:
            page = block.page
            print(f"  page {page}")
        print(f"  {_MARKS.get(block.kind, '')}{clean(block.text)}")
    for part in document.left_out:
        text = part.text if len(part.text) <= _LONGEST else f"{part.text[:_LONGEST]} …"
        where = f", page {part.page}" if part.page is not None else ""
        print(f"  left out ({part.reason}{where}): {clean(text)}")
    print()


def _print_found(evidence: ShownEvidence, documents: tuple[Document, ...]) -> None:
    _print_segments(evidence.matches, documents)
    if not evidence.matches:
        print("no segment shares a word with it")
        print()
    if evidence.beside:
        shows_all = evidence.visible_sentences == evidence.sentences
        print("Shown as well, as the sources are small:" if shows_all else "Shown as well:")
        _print_segments(evidence.beside, documents)
    print(f"{evidence.visible_sentences:,} of {evidence.sentences:,} sentences shown")


def _print_segments(segments: list[CorpusSegment], documents: tuple[Document, ...]) -> None:
    from dialectree.text import clean

    for segment in segments:
        name = documents[int(segment.source[1:]) - 1].name
        where = f", page {segment.page}" if segment.page is not None else ""
        print(f"{segment.id}  {clean(name)}{where}")
        for number, id in enumerate(segment.ids(), 1):
            print(f"  {id.rpartition(':')[2]}  {clean(segment.sentence(number))}")
        print()
